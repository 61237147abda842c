"""People who are attacked by nearness, and the released rows that are nearest to them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ...core.column import FloatArray, IntArray
from ...core.cover import BoolArray
from ...core.noun import dataclass
from ...core.runs import spread
from ...mining.rows import Frame
from .scale import Scale
from .tiles import Tiles

if TYPE_CHECKING:
    from .space import Space

BLOCK = 10_000_000
"""Distances that are held at once."""
TIE = 1e-12
"""Distances nearer than this are the same, rounding aside."""
_PART = 4096  # combinations of columns whose distances are looked up together
_CHUNK = 100_000  # numbers that fit into the processor's cache

_Laid = list[tuple[tuple[str, ...], FloatArray | IntArray]]


@dataclass(frozen=True, eq=False)
class Targets:
    """People who are attacked, and how far they are from what was released."""

    space: Space
    frame: Frame
    _scales: dict[str, Scale] = field(default_factory=dict)
    _layouts: dict[tuple[str, ...], _Laid] = field(default_factory=dict)
    _tiles: dict[tuple[str, ...], tuple[int | None, Tiles, IntArray]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.frame)

    def blocks(self, width: int) -> Iterator[IntArray]:
        """The targets, as many at once as can each have so many numbers."""
        step = max(1, BLOCK // max(width, 1))
        for start in range(0, len(self), step):
            yield np.arange(start, min(start + step, len(self)))

    def distances(self, rows: IntArray, names: Sequence[str]) -> FloatArray:
        """The distance of each of these targets from each distinct released tuple over columns: `[target, tuple]`."""
        terms, plain = self._terms(rows, names)
        count = len(self.space.tuples(names))
        away = np.zeros((len(rows), count))
        step = max(1, _CHUNK // len(rows))
        for start in range(0, count, step):  # so few at once that they stay in the processor's cache
            here = slice(start, start + step)
            sums = away[:, here]
            for table, member in terms:
                sums += np.take(table, member[here], axis=1)
            for value, number in plain:
                far = value[:, None] - number[here]
                np.abs(far, out=far)
                sums += np.minimum(far, 1.0, out=far)
        away /= len(names)
        return away

    def nearest(self, rows: IntArray, names: Sequence[str], count: int = 1) -> NearRows:
        """The released tuples that hold the `count` nearest rows of each of these targets, without looking at all of them.

        Tuples are looked at by tiles: the same values in the part that tells most apart, and numbers near each other. Those tiles come
        first that are nearest; what is farther than the nearest rows found so far is not looked at.
        """
        n = self.space.tuples(names).n
        terms, plain = self._terms(rows, names)
        at_lead, tiles, held = self._tiled(names)
        lead = np.zeros((len(rows), len(tiles)))
        if at_lead is not None:
            lead += terms[at_lead][0][:, tiles.group]
        for j, (value, _) in enumerate(plain):
            lead += np.minimum(tiles.gap(j, value), 1.0)
        lead /= len(names)
        bound = _limit(lead, held, count)
        seen = 0
        for _ in range(2):
            target, tile = np.nonzero(lead <= bound[:, None] + TIE)
            if len(tile) == seen:  # nothing that was not looked at
                break
            seen = len(tile)
            place, run = spread(tiles.start[tile], tiles.start[tile + 1])
            target, at = target[run], tiles.order[place]
            away = np.zeros(len(at))
            for distances, whose in terms:
                away += distances[target, whose[at]]
            for value, number in plain:
                away += np.minimum(np.abs(value[target] - number[at]), 1.0)
            away /= len(names)
            nearest = _chosen(target, at, away, n, count, len(rows))
            bound = nearest.limit
        return nearest

    def _terms(
        self, rows: IntArray, names: Sequence[str]
    ) -> tuple[list[tuple[FloatArray, IntArray]], list[tuple[FloatArray, FloatArray]]]:
        """What distances are added up from: tables by combinations of values, and numbers on both sides by their range."""
        codes = self.space.released.codes
        terms, plain = [], []
        for part, member in self._laid(names):
            line = self._line(part)
            if line is not None:  # numbers need no table of all pairs
                plain.append((line[0][self.frame.codes[part[0]][rows]], cast(FloatArray, member)))
                continue
            among = self.space.tuples(part)  # several columns of few values are looked up at once
            table = np.zeros((len(rows), len(among)))
            for name in part:
                table += self._scale(name).table(self.frame.codes[name][rows])[:, codes[name][among.first]]
            terms.append((table, cast(IntArray, member)))
        return terms, plain

    def _laid(self, names: Sequence[str]) -> _Laid:
        """The parts of some columns, and for each tuple over all its combination in the part, or its number; found once."""
        key = tuple(names)
        if key not in self._layouts:
            space = self.space
            parts: _Laid = []
            first = space.tuples(names).first
            for part in self._parts(names):
                line = self._line(part)
                if line is not None:
                    parts.append((part, line[1][space.released.codes[part[0]][first]]))
                else:
                    parts.append((part, space.tuples(part).member[first]))
            self._layouts[key] = parts
        return self._layouts[key]

    def _tiled(self, names: Sequence[str]) -> tuple[int | None, Tiles, IntArray]:
        """The part of most combinations, as its number among those that have tables, and the tuples in tiles by it and by numbers, and
        the rows of each tile."""
        key = tuple(names)
        if key not in self._tiles:
            laid = [(self._line(part) is not None, part, member) for part, member in self._laid(names)]
            sizes = [len(self.space.tuples(part)) for line, part, _ in laid if not line]
            at = int(np.argmax(sizes)) if sizes else None
            n = self.space.tuples(names).n
            group = (
                np.zeros_like(n) if at is None else cast(IntArray, [member for line, _, member in laid if not line][at])
            )
            tiles = Tiles.of(group, [cast(FloatArray, member) for line, _, member in laid if line])
            self._tiles[key] = (at, tiles, np.add.reduceat(n[tiles.order], tiles.start[:-1]))
        return self._tiles[key]

    def _line(self, part: tuple[str, ...]) -> tuple[FloatArray, FloatArray] | None:
        return self._scale(part[0]).plain if len(part) == 1 else None

    def _parts(self, names: Sequence[str]) -> list[tuple[str, ...]]:
        labels = {name: len(self.space.released.columns[name]) for name in names}
        parts: list[tuple[str, ...]] = []
        room = 0
        for name in sorted(names, key=lambda name: (labels[name], name)):
            if parts and room * labels[name] <= _PART:
                parts[-1] += (name,)
                room *= labels[name]
            else:
                parts.append((name,))
                room = labels[name]
        return parts

    def _scale(self, name: str) -> Scale:
        if name not in self._scales:
            self._scales[name] = Scale(self.space, self.frame.columns[name], name)
        return self._scales[name]


@dataclass(frozen=True, eq=False)
class NearRows:
    """Targets and released tuples that hold their nearest rows, by target; `limit` is how far the last of these rows is.

    `tied` says which tuples are as near as the last row: of their rows some are among the nearest, of all others all.
    """

    target: IntArray
    tuple: IntArray
    tied: BoolArray
    limit: FloatArray


def _limit(away: FloatArray, n: Any, count: int) -> FloatArray:
    """How far the last of so many nearest rows is: `[target, tuple]`, each tuple of n rows."""
    if count == 1:
        least: FloatArray = away.min(axis=1)
        return least
    some = min(count, away.shape[1])
    order = np.argpartition(away, some - 1, axis=1)[:, :some]
    there = np.take_along_axis(away, order, axis=1)
    sort = np.argsort(there, axis=1, kind="stable")
    reached = np.cumsum(n[np.take_along_axis(order, sort, axis=1)], axis=1) >= count
    last = np.take_along_axis(sort, reached.argmax(axis=1)[:, None], axis=1)
    return np.take_along_axis(there, last, axis=1)[:, 0]


def _chosen(target: IntArray, at: IntArray, away: FloatArray, n: IntArray, count: int, size: int) -> NearRows:
    """Of pairs of targets and tuples those that hold the nearest rows; each target has so many rows at least."""
    if count == 1:
        limit = np.full(size, np.inf)
        np.minimum.at(limit, target, away)
    else:
        order = np.lexsort((away, target))
        until = np.cumsum(n[at[order]])
        first = np.searchsorted(target[order], np.arange(size))
        before = np.concatenate([[0], until])[first]
        limit = away[order[np.searchsorted(until, before + count)]]
    keep = np.flatnonzero(away <= limit[target] + TIE)
    keep = keep[np.lexsort((at[keep], target[keep]))]
    return NearRows(target[keep], at[keep], away[keep] >= limit[target[keep]] - TIE, limit)
