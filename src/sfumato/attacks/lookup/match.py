"""Which released tuples cover which known ones: a look-up where released values do not overlap, else divided until little is left.

Tuples of known values are points, released tuples boxes. Columns whose released values do not overlap put points and boxes into
blocks. Within a block both are halved along one column after the other (as in a k-d tree; Bentley 1975), and a box goes where it
reaches. Points and boxes are only compared where few of both are left, so all pairs are never made. Where only the rows behind a point's
boxes are asked for, a box that covers all points of a cell is added to it as a whole and goes no further.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np

from ...core.column import IntArray
from ...core.counts import Counts, exact, pack
from ...core.cover import BoolArray
from ...core.hierarchy import Hierarchy
from ...core.noun import dataclass
from ...core.runs import parts, spread
from .axis import Axis

_PAIRS = 4_000_000
"""Pairs compared at once."""
_REFERENCES = 8_000_000
"""Boxes and points that are divided at once; more are divided one part after the other."""
_FEW = 24
"""Comparisons for each point and box of a cell that cost no more than dividing it would."""


@dataclass(frozen=True, eq=False)
class Match:
    """Released tuples against known ones, by the same columns in the same order."""

    released: Counts
    known: Counts
    axes: tuple[Axis, ...]

    @classmethod
    def of(
        cls, released: Counts, known: Counts, hierarchies: Sequence[Hierarchy | None], *, literal: bool = False
    ) -> Match:
        """Each column's values are matched once."""
        axes = [
            Axis.of(ours, theirs, hierarchy, literal=literal)
            for ours, theirs, hierarchy in zip(released.columns, known.columns, hierarchies, strict=True)
        ]
        return cls(released, known, tuple(axes))

    def covers(self, released: IntArray, known: IntArray) -> BoolArray:
        """Whether released tuples cover known ones, one by one."""
        covering = np.ones(len(known), dtype=bool)
        for axis, label, code in zip(self.axes, self.released.codes, self.known.codes, strict=True):
            covering &= axis.covers(label[released], axis.place[code[known]])
        return covering

    @cached_property
    def look(self) -> IntArray:
        """For each known tuple its point: known tuples that look alike to every released one are one point."""
        return self._points[1]

    @cached_property
    def _points(self) -> tuple[list[IntArray], IntArray]:
        """For each column the place of each point, or the released value that covers it where there can be but one."""
        codes, sizes = [], []
        for axis, code in zip(self.axes, self.known.codes, strict=True):
            place = axis.place[code]
            codes.append(place if axis.home is None else axis.home[place] + 1)
            sizes.append((axis.size if axis.home is None else len(axis.low)) + 1)
        _, first, look = np.unique(pack(codes, sizes, len(self.known)), return_index=True, return_inverse=True)
        return [code[first] for code in codes], look.astype(np.int64)

    @cached_property
    def points(self) -> int:
        """How many points there are."""
        return len(self._points[0][0]) if self.axes else int(len(self.known) > 0)

    def candidates(self) -> IntArray:
        """For each point, the rows of all released tuples that cover it."""
        weights = self.released.n
        total = np.zeros(self.points, dtype=np.int64)
        for point, box in self._walk(weights, total):
            total += exact(np.bincount(point, weights=weights[box], minlength=self.points))
        return total

    def pairs(self) -> Iterator[tuple[IntArray, IntArray]]:
        """Every point with every released tuple that covers it, in parts; all pairs of a point stand in one part."""
        yield from self._walk(None, None)

    def _walk(self, weights: IntArray | None, total: IntArray | None) -> Iterator[tuple[IntArray, IntArray]]:
        """The pairs; with `total` those of boxes that cover whole cells are left out and their weight is added there."""
        places, _ = self._points
        fixed = [j for j, axis in enumerate(self.axes) if axis.home is not None]
        free = [j for j, axis in enumerate(self.axes) if axis.home is None]
        n, count = self.points, len(self.released)
        both = [np.append(places[j], self.released.codes[j] + 1) for j in fixed]
        key = pack(both, [len(self.axes[j].low) + 1 for j in fixed], n + count)
        _, block = np.unique(key, return_inverse=True)
        point, box = np.argsort(block[:n], kind="stable"), np.argsort(block[n:], kind="stable")
        if not free:  # one released tuple a block at most
            at = np.minimum(np.searchsorted(block[n:][box], block[:n][point]), count - 1)
            hit = block[n:][box][at] == block[:n][point]
            yield point[hit], box[at[hit]]
            return
        # the column that tells most apart is compared first
        free.sort(
            key=lambda j: (
                float((self.axes[j].high - self.axes[j].low)[self.released.codes[j]].mean()) / self.axes[j].size
            )
        )
        walk = _Walk(
            [self.axes[j] for j in free],
            [places[j].astype(np.int32) for j in free],
            [self.released.codes[j] for j in free],
            weights,
            total,
        )
        yield from walk.run(point, block[:n][point], box, block[n:][box])


@dataclass(eq=False)
class _Walk:
    axes: list[Axis]
    places: list[IntArray]
    labels: list[IntArray]
    weights: IntArray | None
    total: IntArray | None

    def __post_init__(self) -> None:
        self.low = [axis.low[label].astype(np.int32) for axis, label in zip(self.axes, self.labels, strict=True)]
        self.high = [axis.high[label].astype(np.int32) for axis, label in zip(self.axes, self.labels, strict=True)]
        self.solid = np.ones(len(self.labels[0]), dtype=bool)
        for axis, label in zip(self.axes, self.labels, strict=True):
            self.solid &= axis.hole[label] < 0

    def run(
        self, point: IntArray, point_cell: IntArray, box: IntArray, box_cell: IntArray
    ) -> Iterator[tuple[IntArray, IntArray]]:
        """Points and boxes by cell, both in the order of their cells."""
        waiting = [(point, point_cell, box, box_cell)]
        while waiting:
            state = waiting.pop()
            if len(state[0]) + len(state[2]) > _REFERENCES and state[1][0] != state[1][-1]:
                waiting += _halves(*state)
                continue
            done, state = self._divide(*state)
            if done is not None:
                yield from self._compare(*done)
            if len(state[0]):
                waiting.append(state)

    def _divide(self, point: IntArray, pc: IntArray, box: IntArray, bc: IntArray) -> tuple[_State | None, _State]:
        """The cells that are done, and the halves of the others."""
        point, pc, box, bc = _alive(point, pc, box, bc)
        if not len(point):
            return None, (point, pc, box, bc)
        starts = np.flatnonzero(np.diff(pc, prepend=-1))
        cells = len(starts)
        least = [np.minimum.reduceat(place[point], starts) for place in self.places]
        most = [np.maximum.reduceat(place[point], starts) + 1 for place in self.places]
        reach = np.ones(len(box), dtype=bool)
        whole = self.solid[box] if self.total is not None else np.zeros(len(box), dtype=bool)
        spans = []
        for low, high, a, b in zip(self.low, self.high, least, most, strict=True):
            a, b = a[bc], b[bc]
            span = np.minimum(high[box], b) - np.maximum(low[box], a)
            reach &= span > 0
            whole &= span == b - a
            spans.append(span)
        if self.total is not None and whole.any():
            assert self.weights is not None
            added = exact(np.bincount(bc[whole], weights=self.weights[box[whole]], minlength=cells))
            self.total[point] += added[pc]
        left = reach & ~whole
        box, bc = box[left], bc[left]
        boxes = np.bincount(bc, minlength=cells)
        people = np.diff(np.append(starts, len(point)))
        best, along = np.full(cells, 0.97), np.full(cells, -1, dtype=np.int64)
        for j, span in enumerate(spans):
            width = most[j] - least[j]
            ratio = np.bincount(bc, weights=span[left], minlength=cells) / np.maximum(boxes * width, 1)
            ratio[width < 2] = 2.0
            along[ratio < best] = j
            best = np.minimum(best, ratio)
        done = (along < 0) | (boxes * people <= _FEW * (boxes + people))
        finished = None
        if done.any():
            p, b = done[pc], done[bc]
            finished = point[p], pc[p], box[b], bc[b]
            point, pc, box, bc = point[~p], pc[~p], box[~b], bc[~b]
        # halves at the mean of the points, which leaves some on either side
        cut = np.zeros(cells, dtype=np.int64)
        side = np.zeros(len(point), dtype=np.int64)
        lower, upper = np.zeros(len(box), dtype=bool), np.zeros(len(box), dtype=bool)
        for j in range(len(self.axes)):
            mine = np.flatnonzero(along[pc] == j)
            if not len(mine):
                continue
            values = self.places[j][point[mine]]
            sums = np.bincount(pc[mine], weights=values, minlength=cells) / np.maximum(people, 1)
            cut = np.floor(sums).astype(np.int64) + 1
            side[mine] = values >= cut[pc[mine]]
            there = np.flatnonzero(along[bc] == j)
            lower[there] = self.low[j][box[there]] < cut[bc[there]]
            upper[there] = self.high[j][box[there]] > cut[bc[there]]
        cell = 2 * pc + side
        order = np.argsort(cell, kind="stable")
        both = np.concatenate([2 * bc[lower], 2 * bc[upper] + 1])
        turn = np.argsort(both, kind="stable")
        return finished, (point[order], cell[order], np.concatenate([box[lower], box[upper]])[turn], both[turn])

    def _compare(
        self, point: IntArray, pc: IntArray, box: IntArray, bc: IntArray
    ) -> Iterator[tuple[IntArray, IntArray]]:
        """All points of a cell with all its boxes."""
        first, last = np.searchsorted(bc, pc, side="left"), np.searchsorted(bc, pc, side="right")
        for part in parts(last - first, _PAIRS):
            at, run = spread(first[part], last[part])
            mine, theirs = point[part][run], box[at]
            for axis, place, label, low, high in zip(
                self.axes, self.places, self.labels, self.low, self.high, strict=True
            ):
                value = place[mine]
                covering = (low[theirs] <= value) & (value < high[theirs])
                if len(axis.bits):
                    covering = axis.refine(covering, label[theirs], value)
                mine, theirs = mine[covering], theirs[covering]
            if len(mine):
                yield mine, theirs


_State = tuple[IntArray, IntArray, IntArray, IntArray]


def _alive(point: IntArray, pc: IntArray, box: IntArray, bc: IntArray) -> _State:
    """Cells that hold both points and boxes, numbered anew."""
    cells = np.intersect1d(pc, bc)
    p, b = np.searchsorted(cells, pc), np.searchsorted(cells, bc)
    p, b = np.minimum(p, max(len(cells) - 1, 0)), np.minimum(b, max(len(cells) - 1, 0))
    if not len(cells):
        return point[:0], pc[:0], box[:0], bc[:0]
    keep, stay = cells[p] == pc, cells[b] == bc
    return point[keep], p[keep], box[stay], b[stay]


def _halves(point: IntArray, pc: IntArray, box: IntArray, bc: IntArray) -> list[_State]:
    """The first half of the cells, by points, and the second."""
    middle = pc[len(pc) // 2]
    if middle == pc[0]:
        middle = pc[np.searchsorted(pc, middle, side="right")]
    p, b = int(np.searchsorted(pc, middle)), int(np.searchsorted(bc, middle))
    return [(point[:p], pc[:p], box[:b], bc[:b]), (point[p:], pc[p:], box[b:], bc[b:])]
