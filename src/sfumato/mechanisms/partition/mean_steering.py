"""Use up what is allowed in the mean: classes are put together, the cheapest first, until every mean is met, and divided while it stays so.

A mean risk of 1/4 does not need classes of four: classes of three and of five will do, each where it loses least. So classes are made as
small as each must be by itself. While a mean is above its limit, the pairs of neighbours are united whose union loses least for what
it takes off the mean, a few at a time, and the improvement pass moves rows in between. Then it divides classes again as far as the
limit allows, those first that gain most for what they add. Last, some classes more are united to make room for better divisions, and that is kept
where less is lost.

**What holds.** Uniting classes never raises such a mean, and one class of all rows meets what can be met; so this ends with every mean met, in a
fixed amount of work, the same way every time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field

import numpy as np

from ...core.column import FloatArray, IntArray
from ...core.mechanism import Progress
from ...core.noun import dataclass
from .improvement import WORK, Improvement, together

Added = Callable[[IntArray, IntArray, IntArray, int], FloatArray]
"""(unit, rows, class of each, number of classes) -> limits x classes: what each class adds to a mean."""

_PART = 12
"""Into how many parts, about, what is above a limit is taken away."""
_TRADES = 4
"""How often classes are united to make room."""
_ROUNDS = 40
"""Looks at a unit on an axis that the pass has in any case."""
_SHARE = 0.03
"""The share of the limit that this makes room for."""
_TINY = 1e-15


def nothing(*_: object) -> FloatArray:
    """No mean is limited."""
    return np.zeros((0, 0))


@dataclass(eq=False)
class MeanSteering(Improvement):
    """The improvement pass under limits on sums over the classes."""

    added: Added = nothing
    limits: FloatArray = field(default_factory=lambda: np.zeros(0))

    def __post_init__(self) -> None:
        self._now = np.zeros((len(self.limits), 0))
        self._sum = np.zeros(len(self.limits))

    def run(self, progress: Progress, most: int | None = None) -> None:
        """Meet every limit, then improve while they stay met."""
        most = most or max(WORK, _ROUNDS * len(self.unit) * len(self.loss.place))
        self._first()
        all_over = (self._total() - self.limits).clip(0)
        while (over := (self._total() - self.limits).clip(0)).any():
            if not self._relieve(np.minimum(over, np.maximum(over / 4, all_over / _PART))):
                self.member = np.zeros_like(self.member)
                return
            super().run(progress, self.work + 1)  # a round
            if self.stopped == "interrupt":  # there is nothing yet that could be released
                raise KeyboardInterrupt
        super().run(progress, self.work + most)
        for _ in range(_TRADES):
            if self.stopped == "interrupt":
                return
            lost, before = self._lost(), (self.unit, self.rows, self.member)
            try:
                roomy = self._relieve(self.limits * _SHARE)
            except KeyboardInterrupt:
                self.stopped, roomy = "interrupt", False
            if roomy:
                super().run(progress, self.work + most // _TRADES)
            if not roomy or self._lost() >= lost:
                self.unit, self.rows, self.member = before
                return

    def _first(self) -> IntArray:
        """Put the units of each class together, the classes numbered anew: where each begins."""
        order = np.argsort(self.member, kind="stable")
        self.unit, self.rows, self.member = self.unit[order], self.rows[order], self.member[order]
        first = np.flatnonzero(np.diff(self.member, prepend=-1))
        self.member = np.repeat(np.arange(len(first)), np.diff(np.append(first, len(self.unit))))
        return first

    def _each(self) -> FloatArray:
        return self.added(self.unit, self.rows, self.member, int(self.member.max()) + 1)

    def _total(self) -> FloatArray:
        total: FloatArray = self._each().sum(axis=1)
        return total

    def _lost(self) -> float:
        first = self._first()
        return float(self.loss.total(self.loss.summary(self.unit, self.rows, first)).sum())

    def _allowed(
        self,
        at: IntArray,
        pool: IntArray,
        one: IntArray,
        other: IntArray,
        now: FloatArray,
        side: IntArray,
        then: FloatArray,
    ) -> IntArray:
        """The cuts that add nothing to a mean, and of the others those that gain most for what they add, while there is room."""
        good = np.unique(pool[side >= 0])
        if not len(good):
            return side
        number = np.full(len(now), -1)
        number[good] = np.arange(len(good))
        inside = np.flatnonzero(number[pool] >= 0)
        sides = 2 * number[pool[inside]] + side[inside]
        unit, rows = self.unit[at[inside]], self.rows[at[inside]]
        after = self.added(unit, rows, sides, 2 * len(good)).reshape(len(self.limits), len(good), 2).sum(axis=2)
        a, b = one[good], other[good]
        more = after - self._now[:, a] - np.where(a == b, 0.0, self._now[:, b])
        room = self.limits - self._sum
        free = (more <= 0).all(axis=0)
        gain = now[good] - then[good]
        price = (more.clip(0) / self.limits[:, None].clip(_TINY)).max(axis=0)
        order = np.argsort(np.where(free, -np.inf, -gain / price.clip(_TINY)), kind="stable")
        taken = np.cumsum(more[:, order], axis=1)
        fits = free[order] | (taken <= room[:, None]).all(axis=0)
        fits &= free[order] | np.logical_and.accumulate(fits)  # the first that does not fit ends it
        chosen = np.zeros(len(good), dtype=bool)
        chosen[order[fits]] = True
        self._sum = self._sum + more[:, chosen].sum(axis=1)
        out = side.copy()
        out[np.isin(pool, good[~chosen])] = -1
        return out

    def _round(self, first: IntArray) -> bool:
        self._now = self._each()
        self._sum = self._now.sum(axis=1)
        return super()._round(first)

    def _relieve(self, need: FloatArray) -> bool:
        """Unite pairs of neighbours, those that lose least for what that takes off the means, until about so much is taken: whether any was."""
        axes = len(self.loss.place)
        for _ in range(2 * axes + 4):
            first = self._first()
            if len(first) < 2:
                return False
            self.version, self.tried = np.arange(len(first)), np.zeros(0, dtype=np.int64)
            classes = self.loss.summary(self.unit, self.rows, first)
            lost, each = self.loss.total(classes), self._each()
            one, other = self._pairs(classes, first, lost, uniting=True)
            self.turn += 1
            width = np.diff(np.append(first, len(self.unit)))
            at, pool = together(first, width, one, other)
            begin = np.flatnonzero(np.diff(pool, prepend=-1))
            unit, rows = self.unit[at], self.rows[at]
            self.work += len(at) * axes
            more = self.loss.total(self.loss.summary(unit, rows, begin)) - lost[one] - lost[other]
            less = each[:, one] + each[:, other] - self.added(unit, rows, pool, len(one))
            wanted = need > 0
            worth = (less[wanted] / need[wanted, None]).sum(axis=0)
            good = np.flatnonzero((worth > _TINY) & self.stands(unit, rows, pool, len(one)))
            if not len(good):
                continue
            order = good[np.argsort(more[good] / worth[good], kind="stable")]
            reach = np.cumsum(less[:, order], axis=1)
            count = int((reach < need[:, None]).any(axis=0).sum()) + 1
            to = np.arange(len(first))
            to[other[order[:count]]] = one[order[:count]]
            self.member = to[self.member]
            self._first()
            return True
        return False
