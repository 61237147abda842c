"""How far the values of one column are from what was released of it: the table at the head of `space.py`, column by column."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...core.column import Column, FloatArray, IntArray
from ...core.cover import BoolArray, Domain
from ...mining.features import number_of

if TYPE_CHECKING:
    from .space import Space

_NARROW = 1e-6  # what a doubling of the values covered adds: less than any gap that counts
_OUTSIDE = 1e-3  # at least so far is a number between others that are covered, and not itself


class Scale:
    """How far values of one column are from each of its released labels."""

    def __init__(self, space: Space, column: Column, name: str) -> None:
        own, here = space.domain(name), Domain(column, space.taxonomy(name))
        released, known = space.released.columns[name], space.original.columns[name].numbers
        self.labels, self.size = len(released), len(column)
        self.number = np.full(self.labels, np.nan)
        self.low, self.high = self.number.copy(), self.number.copy()
        self.narrow = np.zeros(self.labels)
        self.one = np.full(self.labels, -1)  # the only value that a label covers
        many: list[int] = []
        masks: list[BoolArray] = []
        self.values: FloatArray | None = None
        self.plain: tuple[FloatArray, FloatArray] | None = None
        """Values and labels by the range, where all labels are numbers or missing: their differences, at most 1, are the distances."""
        if known is not None:
            self.values = np.array([np.nan if t is None else _number(t) for t in column.texts])
            self.spread = float(np.nanmax(known) - np.nanmin(known)) or 1.0
        if self.values is not None and released.numbers is not None and own.hierarchy is None:
            self.number = released.numbers
            self.plain = self._line(column.has_missing)
            if released.has_missing and column.has_missing:
                self.one[-1] = self.size - 1
        else:
            for i, text in enumerate(released.texts):
                node = own.hierarchy is not None and text is not None and own.hierarchy.leaves.get(text, 1) > 1
                if known is not None and text is not None and not node and (number := number_of(text)) is not None:
                    self.number[i] = number
                    continue
                covered = here.covered(text)
                if covered is not None and len(covered) == 1:
                    self.one[i] = covered[0]
                elif covered is not None and len(covered) > 1:
                    many.append(i)
                    masks.append(np.bincount(covered, minlength=self.size).astype(bool))
                inside = own.covered(text)
                if inside is None or not len(inside):
                    continue
                self.narrow[i] = _NARROW * np.log2(len(inside))
                if known is not None:
                    there = known[inside][~np.isnan(known[inside])]
                    if len(there):
                        self.low[i], self.high[i] = there.min(), there.max()
        self.many = np.array(many, dtype=np.int64)
        self.masks = np.array(masks, dtype=bool).reshape(len(many), self.size)

    def _line(self, missing: bool) -> tuple[FloatArray, FloatArray]:
        """Both sides on one line: what is missing stands 2 beyond all numbers, and a value that is no number another 2."""
        assert self.values is not None
        value, number = self.values / self.spread, self.number / self.spread
        beyond = np.nanmax(np.concatenate([value, number]), initial=0.0) + 2
        value = np.where(np.isnan(value), beyond + 2, value)
        if missing:
            value[-1] = beyond
        return value, np.where(np.isnan(number), beyond, number)

    def table(self, codes: IntArray) -> FloatArray:
        """The distance of each of these values from each label: `[value, label]`."""
        used, at = np.unique(codes, return_inverse=True)
        distances = np.ones((len(used), self.labels))
        if self.values is not None:
            value = self.values[used][:, None]
            away = np.abs(value - self.number)
            if len(self.many) or not np.isnan(self.low).all():
                gap = np.maximum(np.maximum(self.low - value, value - self.high), _OUTSIDE * self.spread)
                away = np.where(np.isnan(self.number), gap, away)
            distances = np.fmin(away / self.spread, 1.0)  # what is missing or cannot be read is 1 away
        place = np.full(self.size + 1, -1)
        place[used] = np.arange(len(used))
        hit = place[self.one]  # -1 is the last place, which nobody has
        distances[hit[hit >= 0], np.flatnonzero(hit >= 0)] = 0.0
        if len(self.many):
            distances[:, self.many] = np.where(self.masks[:, used].T, 0.0, distances[:, self.many])
        distances += self.narrow
        return distances[at]


def _number(text: str) -> float:
    number = number_of(text)
    return np.nan if number is None else number
