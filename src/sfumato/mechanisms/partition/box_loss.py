"""What classes lose by the labels that they release: the loss that `improvement` lowers for Mondrian and clustering."""

from __future__ import annotations

import numpy as np

from ...core.column import FloatArray, IntArray
from ...core.noun import dataclass
from .clusters import AxisLoss

_TABLE = 1_000
"""Codes of an axis up to which the loss of every range is looked up."""


@dataclass(frozen=True, eq=False)
class Boxes:
    """The ends and the number of different values of each class on each axis (axes x classes), and its rows."""

    low: IntArray
    high: IntArray
    values: IntArray
    rows: IntArray


class BoxLoss:
    """Of classes of units that stand at `code` (axes x units): their rows times what their labels lose."""

    def __init__(self, rulers: list[AxisLoss], code: IntArray) -> None:
        self.rulers, self.code = rulers, code
        scales = np.array([ruler.scale for ruler in rulers])
        self.place = code * scales[:, None]
        self._scales = scales
        self._tables: list[FloatArray | None] = [_table(ruler) for ruler in rulers]

    def _lost(self, j: int, low: IntArray, high: IntArray, values: IntArray) -> FloatArray:
        table = self._tables[j]
        return self.rulers[j].loss(low, high, values) if table is None else table[low * len(self.rulers[j]) + high]

    def running(self, unit: IntArray, rows: IntArray, pool: IntArray) -> FloatArray:
        """What the units of a pool lose as one class from its first up to each."""
        first = np.flatnonzero(np.diff(pool, prepend=-1))
        lost, ones = np.zeros(len(unit)), np.ones(len(unit), dtype=np.int64)
        for j, ruler in enumerate(self.rulers):
            code, shift = self.code[j][unit], pool * len(ruler)
            low = np.minimum.accumulate(code - shift) + shift
            high = np.maximum.accumulate(code + shift) - shift
            lost += self._lost(j, low, high, _so_far(code + shift, first, pool) if ruler.counts_values else ones)
        count = np.cumsum(rows)
        count -= (count[first] - rows[first])[pool]
        running: FloatArray = lost * count
        return running

    def summary(self, unit: IntArray, rows: IntArray, first: IntArray) -> Boxes:
        """The boxes of classes, whose units stand together from `first` on."""
        code = self.code[:, unit]
        low, high = np.minimum.reduceat(code, first, axis=1), np.maximum.reduceat(code, first, axis=1)
        values = np.ones_like(low)
        member = np.repeat(np.arange(len(first)), np.diff(np.append(first, len(unit))))
        for j, ruler in enumerate(self.rulers):
            if ruler.counts_values:
                pairs = np.unique(member * len(ruler) + code[j])
                values[j] = np.bincount(pairs // len(ruler), minlength=len(first))
        return Boxes(low, high, values, np.add.reduceat(rows, first))

    def _sum(self, low: IntArray, high: IntArray, values: IntArray) -> FloatArray:
        return np.array([self._lost(j, low[j], high[j], values[j]) for j in range(len(self.rulers))])

    def total(self, classes: Boxes) -> FloatArray:
        """What each class loses."""
        lost: FloatArray = self._sum(classes.low, classes.high, classes.values).sum(axis=0) * classes.rows
        return lost

    def centre(self, classes: Boxes) -> FloatArray:
        """Axes x classes: the middle of each box."""
        middle: FloatArray = (classes.low + classes.high) * self._scales[:, None]
        return middle

    def united(self, classes: Boxes, one: IntArray, other: IntArray) -> tuple[FloatArray, FloatArray]:
        """What pairs of classes would lose as one, sets taken for as small as they can be; and what they lose on each axis."""
        low = np.minimum(classes.low[:, one], classes.low[:, other])
        high = np.maximum(classes.high[:, one], classes.high[:, other])
        apart = (low < classes.low[:, one]) | (high > classes.high[:, one])
        values = np.maximum(classes.values[:, one] + apart, classes.values[:, other])
        lost = self._sum(low, high, values)
        return lost.sum(axis=0) * (classes.rows[one] + classes.rows[other]), lost

    def leaning(self, classes: Boxes, unit: IntArray, one: IntArray, other: IntArray) -> FloatArray:
        """How much more one class would lose with a unit than another would."""
        leaning = np.zeros(len(unit))
        for sign, at in ((1.0, one), (-1.0, other)):
            for j in range(len(self.rulers)):
                code, low, high = self.code[j][unit], classes.low[j][at], classes.high[j][at]
                values = classes.values[j][at] + ((code < low) | (code > high))
                leaning += sign * self._lost(j, np.minimum(low, code), np.maximum(high, code), values)
        return leaning


def _table(ruler: AxisLoss) -> FloatArray | None:
    """The loss of every range of codes; None where values are counted, or codes are too many."""
    size = len(ruler)
    if ruler.counts_values or size > _TABLE:
        return None
    low, high = (ends.ravel() for ends in np.indices((size, size)))
    return ruler.loss(np.minimum(low, high), np.maximum(low, high), np.ones_like(low))


def _so_far(key: IntArray, first: IntArray, pool: IntArray) -> IntArray:
    """How many different keys stand in a pool up to each place."""
    fresh = np.zeros(len(key), dtype=np.int64)
    fresh[np.unique(key, return_index=True)[1]] = 1
    seen = np.cumsum(fresh)
    seen -= (seen[first] - fresh[first])[pool]
    return seen
