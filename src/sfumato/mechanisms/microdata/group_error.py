"""What groups of points lose by their own distances: the loss that `partition.improvement` lowers for microaggregation.

The sum over the pairs of a group's rows of their squared distances, over the rows: for coordinates the squared error from the mean, and
for a category `(N - sum of c^2 / N) / 2`, where c are the rows of each value. 0 where all rows of each group are alike.
"""

from __future__ import annotations

import numpy as np

from ...core.column import FloatArray, IntArray
from ...core.noun import dataclass
from .mdav import Points


@dataclass(frozen=True, eq=False)
class GroupSums:
    """Of each group its rows, the sum and the sum of squares of each coordinate (axes x groups), and what its categories lose."""

    rows: IntArray
    sums: FloatArray
    squares: FloatArray
    kinds: FloatArray


class GroupError:
    """Of groups of units that are copies of points."""

    def __init__(self, points: Points) -> None:
        self.points = points
        self.at = points.at - points.at.mean(axis=1, keepdims=True) if points.at.size else points.at
        kinds = [np.argsort(np.argsort(-np.bincount(codes), kind="stable"))[codes] for codes in points.kind]
        self.place = np.vstack([self.at, np.array(kinds, dtype=np.float64).reshape(len(kinds), len(points))])

    def running(self, unit: IntArray, rows: IntArray, pool: IntArray) -> FloatArray:
        """What the units of a pool lose as one group from its first up to each."""
        first = np.flatnonzero(np.diff(pool, prepend=-1))

        def so_far(values: FloatArray) -> FloatArray:
            total = np.cumsum(values)
            found: FloatArray = total - (total[first] - values[first])[pool]
            return found

        count = so_far(rows.astype(np.float64))
        lost = np.zeros(len(unit))
        for column in self.at:
            x = (
                column[unit] - column[unit[first]][pool]
            )  # from the pool's first: large numbers that are near keep their digits
            lost += so_far(rows * x * x) - so_far(rows * x) ** 2 / count
        for codes in self.points.kind:
            key = pool * (int(codes.max()) + 1) + codes[unit]
            order = np.argsort(key, kind="stable")
            seen = np.cumsum(rows[order]) - rows[order]
            start = np.flatnonzero(np.diff(key[order], prepend=-1))
            held = np.empty(len(unit))
            held[order] = seen - np.repeat(seen[start], np.diff(np.append(start, len(order))))
            lost += 0.5 * (count - so_far(rows * (2 * held + rows)) / count)
        return np.maximum(lost, 0.0)

    def summary(self, unit: IntArray, rows: IntArray, first: IntArray) -> GroupSums:
        """The sums of groups, whose units stand together from `first` on."""
        at, count = self.at[:, unit], np.add.reduceat(rows, first)
        sums, squares = (np.add.reduceat(rows * x, first, axis=1) for x in (at, at * at))
        member = np.repeat(np.arange(len(first)), np.diff(np.append(first, len(unit))))
        kinds = np.zeros(len(first))
        for codes in self.points.kind:
            wide = int(codes.max()) + 1
            key, where = np.unique(member * wide + codes[unit], return_inverse=True)
            held = np.bincount(where, weights=rows)
            kinds += 0.5 * (count - np.bincount(key // wide, weights=held * held, minlength=len(first)) / count)
        return GroupSums(count, sums, squares, kinds)

    def total(self, classes: GroupSums) -> FloatArray:
        """What each group loses."""
        lost: FloatArray = (classes.squares - classes.sums**2 / classes.rows).sum(axis=0) + classes.kinds
        return np.maximum(lost, 0.0)

    def centre(self, classes: GroupSums) -> FloatArray:
        """Axes x groups: the mean of each; of categories, which have none, nothing."""
        return np.vstack([classes.sums / classes.rows, np.zeros((len(self.points.kind), len(classes.rows)))])

    def united(self, classes: GroupSums, one: IntArray, other: IntArray) -> tuple[FloatArray, FloatArray]:
        """What pairs of groups would lose as one, categories taken for alike; and by how much they vary on each axis."""
        sums, squares = (part[:, one] + part[:, other] for part in (classes.sums, classes.squares))
        rows = classes.rows[one] + classes.rows[other]
        kinds = classes.kinds[one] + classes.kinds[other]
        wide = np.maximum(squares - sums**2 / rows, 0.0)
        return wide.sum(axis=0) + kinds, np.vstack([wide, np.tile(kinds, (len(self.points.kind), 1))])

    def leaning(self, classes: GroupSums, unit: IntArray, one: IntArray, other: IntArray) -> FloatArray:
        """How much further each unit is from the mean of one group than from that of another."""
        leaning = np.zeros(len(unit))
        for x, sums in zip(self.at, classes.sums, strict=True):
            leaning += (x[unit] - sums[one] / classes.rows[one]) ** 2 - (
                x[unit] - sums[other] / classes.rows[other]
            ) ** 2
        return leaning
