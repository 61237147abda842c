"""Which classes a mean over the rows leaves out: those that cost most, as few as will do.

A mean is `sum of costs / rows` over the classes that stay. It is at most b exactly if the excesses `e_c = cost_c - b n_c` of
these sum to at most 0, so what is left out must take away the excess E of all: a covering knapsack,

    least sum of prices,  with  sum of e_c >= E  for each mean  and  sum of n_c <= the rows that may go.

**What is certain.** In fractions of classes it is solved by taking those of the largest excess for their rows (or price) first.
If even fractions need too many rows, no choice does. If the price found is that of fractions, or all choices among few classes
were gone through, it is the least; else only a bound is known, and that is said.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..core.column import FloatArray, IntArray
from ..core.cover import BoolArray
from ..core.noun import dataclass

FEW = 40
"""Classes among which all choices are gone through."""
STEPS = 4_000
"""Choices that are looked at there, at most."""
_TINY = 1e-12


@dataclass(frozen=True, eq=False)
class ClassSelection:
    """Which classes to leave out, none where no choice was found; whether that is certain; and the least that any choice costs."""

    out: BoolArray | None
    certain: bool
    bound: float


def fraction(excess: FloatArray, weight: FloatArray, need: float) -> float:
    """The least weight of fractions of classes whose excess is what is needed; infinite if all together have less."""
    some = np.flatnonzero(excess > 0)
    if need <= 0:
        return 0.0
    order = some[np.argsort(weight[some] / excess[some], kind="stable")]
    reach = np.cumsum(excess[order])
    at = int(np.searchsorted(reach, need * (1 - _TINY)))
    if at >= len(order):
        return np.inf
    before = float(reach[at - 1]) if at else 0.0
    part = max(need - before, 0.0) / float(excess[order[at]])
    return float(weight[order[:at]].sum() + min(part, 1.0) * weight[order[at]])


def leave_out(excesses: Sequence[FloatArray], size: IntArray, price: FloatArray, room: int) -> ClassSelection:
    """The cheapest classes without which every mean is met, with at most `room` rows."""
    rows = size.astype(np.float64)
    total = [float(excess.sum()) for excess in excesses]
    if any(fraction(e, rows, need) > room * (1 + _TINY) + _TINY for e, need in zip(excesses, total, strict=True)):
        return ClassSelection(None, True, np.inf)
    bound = max(fraction(e, price, need) for e, need in zip(excesses, total, strict=True))
    best, cost = None, np.inf
    for weight in (price, rows):
        out = _greedy(excesses, total, weight)
        if out is not None and size[out].sum() <= room and price[out].sum() < cost:
            best, cost = out, float(price[out].sum())
    if cost <= bound + _TINY * max(1.0, abs(bound)):
        return ClassSelection(best, True, bound)
    some = np.flatnonzero(np.max(excesses, axis=0) > 0)
    if len(some) > FEW:
        return ClassSelection(best, False, bound)
    search = _Every([e[some] for e in excesses], size[some], price[some], room, cost)
    search.run(0, total, 0.0, 0)
    if search.best is not None:
        best = np.zeros(len(size), dtype=bool)
        best[some[search.best]] = True
        cost = search.cost
    return ClassSelection(best, search.steps < STEPS, bound if search.steps >= STEPS else cost)


def _greedy(excesses: Sequence[FloatArray], total: Sequence[float], weight: FloatArray) -> BoolArray | None:
    """The largest excess for their weight first, then without those that turn out not to be needed."""
    out = np.zeros(len(weight), dtype=bool)
    for excess, need in zip(excesses, total, strict=True):
        left = need - float(excess[out].sum())
        if left <= _slack(need):
            continue
        some = np.flatnonzero((excess > 0) & ~out)
        order = some[np.argsort(weight[some] / excess[some], kind="stable")]
        at = int(np.searchsorted(np.cumsum(excess[order]), left - _slack(need)))
        if at >= len(order):
            return None
        out[order[: at + 1]] = True
    spare = [float(e[out].sum()) - need for e, need in zip(excesses, total, strict=True)]
    if any(s < -_slack(need) for s, need in zip(spare, total, strict=True)):
        return None  # what one mean left out made another worse
    for c in np.flatnonzero(out)[np.argsort(-weight[out], kind="stable")]:
        if all(s - e[c] >= -_slack(need) for s, e, need in zip(spare, excesses, total, strict=True)):
            out[c] = False
            spare = [s - float(e[c]) for s, e in zip(spare, excesses, strict=True)]
    return out


def _slack(need: float) -> float:
    return _TINY * max(1.0, abs(need))


class _Every:
    """All choices among few classes, without those that fractions show to be no better."""

    def __init__(
        self, excesses: Sequence[FloatArray], size: IntArray, price: FloatArray, room: int, cost: float
    ) -> None:
        order = np.argsort(price / np.maximum(np.max(excesses, axis=0), _TINY), kind="stable")
        self.order, self.size, self.price = order, size[order], price[order]
        self.excesses, self.room, self.cost = [e[order] for e in excesses], room, cost
        self.best: IntArray | None = None
        self.taken: list[int] = []
        self.steps = 0

    def run(self, at: int, need: Sequence[float], cost: float, rows: int) -> None:
        """From class `at` on, with so much still needed."""
        self.steps += 1
        if self.steps >= STEPS or rows > self.room:
            return
        if all(n <= _slack(n) for n in need):
            if cost < self.cost - _TINY:
                self.cost, self.best = cost, self.order[np.array(self.taken, dtype=np.int64)]
            return
        if at == len(self.order):
            return
        least = max(fraction(e[at:], self.price[at:], n) for e, n in zip(self.excesses, need, strict=True))
        fewest = max(
            fraction(e[at:], self.size[at:].astype(np.float64), n) for e, n in zip(self.excesses, need, strict=True)
        )
        if cost + least >= self.cost - _TINY or rows + fewest > self.room + 1e-9:
            return
        self.taken.append(at)
        with_it = [n - float(e[at]) for n, e in zip(need, self.excesses, strict=True)]
        self.run(at + 1, with_it, cost + float(self.price[at]), rows + int(self.size[at]))
        self.taken.pop()
        self.run(at + 1, need, cost, rows)
