"""Points in tiles of a few hundred, by group and then by number: what is far away is passed over a tile at a time.

Sort-tile-recursive packing (Leutenegger, Lopez, Edgington 1997): the points of a group are sorted along one column and cut into slices
of as many points each, these along the next column, and so on. A tile keeps the least and the largest number of its points, so a
point is at least as far from all of a tile as from that box. One sort a column, and no tree.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...core.column import FloatArray, IntArray
from ...core.noun import dataclass


@dataclass(frozen=True, eq=False)
class Tiles:
    """Tile i holds the points `order[start[i] : start[i + 1]]`, all of group `group[i]`; tiles stand in the order of their groups."""

    order: IntArray
    start: IntArray
    group: IntArray
    low: list[FloatArray]
    """For each column of numbers the least in each tile; `high` the largest."""
    high: list[FloatArray]

    def __len__(self) -> int:
        return len(self.group)

    @classmethod
    def of(cls, group: IntArray, numbers: Sequence[FloatArray], size: int | None = None) -> Tiles:
        """`size` points a tile, by default so many that there are about as many tiles as points in four of them."""
        size = max(16, int(len(group) ** 0.5) // 2) if size is None else size
        order, cell = np.argsort(group, kind="stable"), np.sort(group, kind="stable")
        for left in range(len(numbers), 0, -1):
            order = order[np.lexsort((numbers[-left][order], cell))]
            first, count = _runs(cell)
            slices = np.ceil(np.ceil(count / size) ** (1 / left) - 1e-9)  # of 27 tiles, 3 along each of three columns
            length = np.ceil(count / slices).astype(np.int64)
            whose = np.repeat(np.arange(len(first)), count)
            inside = (np.arange(len(cell)) - first[whose]) // length[whose]
            cell = np.cumsum(np.diff(whose, prepend=0).astype(bool) | np.diff(inside, prepend=0).astype(bool))
        first, _ = _runs(cell)
        return cls(
            order,
            np.append(first, len(order)),
            group[order[first]],
            [np.minimum.reduceat(number[order], first) for number in numbers] if len(first) else [],
            [np.maximum.reduceat(number[order], first) for number in numbers] if len(first) else [],
        )

    def gap(self, column: int, value: FloatArray, tile: IntArray | slice = slice(None)) -> FloatArray:
        """How far values are from the stretch of tiles along a column, 0 inside; one by one, or `[value, tile]` of all."""
        low, high = self.low[column][tile], self.high[column][tile]
        if isinstance(tile, slice):
            value = value[:, None]
        return np.maximum(np.maximum(low - value, value - high), 0.0)


def _runs(cell: IntArray) -> tuple[IntArray, IntArray]:
    """Where equal neighbours begin, and how many they are."""
    first = np.flatnonzero(np.diff(cell, prepend=cell[:1] - 1))
    return first, np.diff(np.append(first, len(cell)))
