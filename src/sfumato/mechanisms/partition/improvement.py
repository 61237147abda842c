"""Improve a partition: two classes that are near each other are put together and divided anew, where that loses less.

A pool is the units of two classes, or of one that is large enough for two. It is put in order along the axes where it is widest, and
by which of the two classes each unit suits better; every place in such an order is a way to divide it, and the cheapest one that both
sides survive is taken if it loses less than before. So units move and are swapped, and classes split; pools that share no class
are divided at once, by a few array operations. Units are distinct tuples with their rows.

**What holds.** A division is made only if it loses less and both classes meet everything that classes must, as asked of the mechanism: the
partition is never worse than before, and always one that may be released, so the pass can end anywhere. It ends when no pair of
neighbours, along any of a fixed list of directions, gains; or after `WORK` looks at a unit, or two rounds. Nothing is drawn at random.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from ...core.column import FloatArray, IntArray
from ...core.cover import BoolArray
from ...core.mechanism import Progress
from ...core.noun import dataclass

WORK = 10_000_000
"""Looks at a unit in an order on an axis, after which the pass ends; but a round looks at every unit once, and there are two in any case."""
_WINDOW = 6
"""Neighbours in a direction with which a class may be put together."""
_ORDERS = 3
"""Axes along which a pool is put in order."""
_GAIN = 1e-9
"""The least share of a pool's loss that counts as a gain: rounding must not."""
_ROOM = 400_000
"""Units that are looked at at a time."""


class UnitLoss(Protocol):
    """What classes lose, made of units that are numbered from 0."""

    place: FloatArray
    """Axes x units: where each unit stands."""

    def running(self, unit: IntArray, rows: IntArray, pool: IntArray) -> FloatArray:
        """What the units of a pool, which stand together and ascend by pool, lose as one class from its first up to each."""

    def summary(self, unit: IntArray, rows: IntArray, first: IntArray) -> Any:
        """What is needed of classes, whose units stand together from `first` on."""

    def total(self, classes: Any) -> FloatArray:
        """What each class loses."""

    def centre(self, classes: Any) -> FloatArray:
        """Axes x classes: where each class stands."""

    def united(self, classes: Any, one: IntArray, other: IntArray) -> tuple[FloatArray, FloatArray]:
        """What pairs of classes would lose as one class, at least about; and how wide each would be on each axis (axes x pairs)."""

    def leaning(self, classes: Any, unit: IntArray, one: IntArray, other: IntArray) -> FloatArray:
        """How much worse each unit suits one class than another."""


Stands = Callable[[IntArray, IntArray, IntArray, int], BoolArray]
"""(unit, rows, class of each, number of classes) -> which classes may be released."""


_Cuts = tuple[FloatArray, IntArray]
"""What each pool loses if it is divided, and the side of each unit."""


@dataclass(eq=False)
class Improvement:
    """`rows` of unit `unit` in class `member`, which are numbered from 0; `least` is the fewest rows that a class can have."""

    loss: UnitLoss
    stands: Stands
    unit: IntArray
    rows: IntArray
    member: IntArray
    least: int
    work: int = 0
    turn: int = 0
    """Rounds so far: each looks for neighbours along another direction."""
    stopped: str = ""
    """Why it ended before nothing gained any more: "work" or "interrupt"."""

    def run(self, progress: Progress, most: int | None = None) -> None:
        """Improve until nothing gains. An interruption ends the pass, and what was gained so far stays."""
        if most is None:
            most = max(WORK, 2 * len(self.unit) * (_ORDERS + 1) * len(self.loss.place))
        try:
            self._run(progress, most)
        except KeyboardInterrupt:
            self.stopped = "interrupt"

    def _run(self, progress: Progress, most: int) -> None:
        axes = len(self.loss.place)
        self.version = np.arange(int(self.member.max()) + 1)  # of each class: anew whenever it changes
        self.next = len(self.version)
        self.tried = np.zeros(0, dtype=np.int64)  # pairs of versions that do not gain
        idle = 0
        while idle < 2 * axes + 4:
            if self.work >= most:
                self.stopped = "work"
                return
            order = np.argsort(self.member, kind="stable")
            self.unit, self.rows = self.unit[order], self.rows[order]
            left, self.member = np.unique(self.member[order], return_inverse=True)
            self.version = self.version[left]
            gained = self._round(np.flatnonzero(np.diff(self.member, prepend=-1)))
            idle, self.turn = (0 if gained else idle + 1), self.turn + 1
            progress(min(self.work / most, 1.0))

    def _round(self, first: IntArray) -> bool:
        """Divide pools of neighbours anew: whether any gained."""
        classes = self.loss.summary(self.unit, self.rows, first)
        lost, width = self.loss.total(classes), np.diff(np.append(first, len(self.unit)))
        one, other = self._pairs(classes, first, lost)
        both = one != other
        now = lost[one] + np.where(both, lost[other], 0.0)
        widths = self.loss.united(classes, one, other)[1]
        made, member, before = len(first), self.member.copy(), self.next
        ends = np.cumsum(width[one] + np.where(both, width[other], 0))
        for some in np.split(np.arange(len(one)), np.searchsorted(ends, np.arange(_ROOM, ends[-1:].sum(), _ROOM))):
            if not len(some):
                continue
            a, b = one[some], other[some]
            at, pool = together(first, width, a, b)
            side = self._sides(at, pool, a, b, now[some], self._keys(classes, widths[:, some], at, pool, a, b))
            good = np.unique(pool[side >= 0])
            right = b.copy()
            alone = good[a[good] == b[good]]
            right[alone] = made + np.arange(len(alone))
            made += len(alone)
            moved = side >= 0
            member[at[moved]] = np.where(side[moved] == 0, a[pool[moved]], right[pool[moved]])
            self.version = np.append(self.version, np.zeros(len(alone), dtype=np.int64))
            for changed in (a[good], right[good]):
                self.version[changed] = self.next + np.arange(len(changed))
                self.next += len(changed)
        self.member = member
        return self.next > before

    def _keys(
        self, classes: Any, widths: FloatArray, at: IntArray, pool: IntArray, a: IntArray, b: IntArray
    ) -> list[FloatArray]:
        """By what the units of each pool are put in order, given how wide the pools are on each axis."""
        orders = [widths.argsort(axis=0, kind="stable")[-1 - r] for r in range(min(_ORDERS, len(widths)))]
        keys = [self.loss.place[axis[pool], self.unit[at]] for axis in orders]
        return [*keys, self.loss.leaning(classes, self.unit[at], a[pool], b[pool])]

    def _sides(
        self, at: IntArray, pool: IntArray, a: IntArray, b: IntArray, now: FloatArray, keys: list[FloatArray]
    ) -> IntArray:
        """The side of each unit after the best division of its pool, -1 where the pool stays as it is."""
        self.work += len(at) * len(keys) * len(self.loss.place)
        cuts = [self._cut(at[turned], pool, turned) for turned in (np.lexsort((key, pool)) for key in keys)]
        return self._allowed(at, pool, a, b, now, *self._best(at, pool, cuts, now))

    def _pairs(
        self, classes: Any, first: IntArray, lost: FloatArray, *, uniting: bool = False
    ) -> tuple[IntArray, IntArray]:
        """Pairs of classes to put together, no class twice; one that is large enough for two may stand with itself.

        `uniting`: to stay together, so none with itself, and those first that lose least by it.
        """
        count, size = len(first), np.add.reduceat(self.rows, first)
        line = np.argsort(_direction(self.turn, len(self.loss.place)) @ self.loss.centre(classes), kind="stable")
        steps = [(line[:-d], line[d:]) for d in range(1, min(_WINDOW, count - 1) + 1)]
        alone = np.flatnonzero((size >= 2 * self.least) & (not uniting))
        one = np.concatenate([alone, *(a for a, _ in steps)])
        other = np.concatenate([alone, *(b for _, b in steps)])
        one, other = np.minimum(one, other), np.maximum(one, other)
        key = self.version[one] * (1 << 31) + self.version[other]
        now = lost[one] + np.where(one == other, 0.0, lost[other])
        open_ = np.flatnonzero(~np.isin(key, self.tried) & ((now > 0) | uniting))
        one, other, key = one[open_], other[open_], key[open_]
        joint = np.where(one == other, 0.0, self.loss.united(classes, one, other)[0])
        wish = np.argsort(joint - now[open_] if uniting else joint / now[open_], kind="stable")
        at = wish[_matching(one[wish], other[wish], count)]
        self.tried = np.append(self.tried, key[at])  # where it gains, both have a new version
        return one[at], other[at]

    def _cut(self, at: IntArray, pool: IntArray, turned: IntArray) -> _Cuts:
        """Where units in an order, which ascend by pool, are best divided, and what the sides lose."""
        unit, rows = self.unit[at], self.rows[at]
        first = np.flatnonzero(np.diff(pool, prepend=-1))
        last = np.append(first[1:], len(pool)) - 1
        left = self.loss.running(unit, rows, pool)
        right = self.loss.running(unit[::-1], rows[::-1], (pool[-1] - pool)[::-1])[::-1]
        so_far = np.cumsum(rows)
        so_far -= (so_far[first] - rows[first])[pool]
        cost = np.full(len(pool), np.inf)
        cost[:-1] = left[:-1] + right[1:]
        cost[(so_far < self.least) | (so_far[last][pool] - so_far < self.least)] = np.inf
        cost[last] = np.inf
        best = np.minimum.reduceat(cost, first)
        hit = np.flatnonzero(cost == best[pool])
        place = hit[np.flatnonzero(np.diff(pool[hit], prepend=-1))]
        side = np.empty(len(pool), dtype=np.int64)
        side[turned] = np.arange(len(pool)) > place[pool]
        return best, side

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
        """Which cuts are made: the side of each unit again. All of them, where nothing but classes is limited."""
        return side

    def _best(self, at: IntArray, pool: IntArray, cuts: list[_Cuts], now: FloatArray) -> tuple[IntArray, FloatArray]:
        """The side of each unit, -1 where its pool stays as it is: the cheapest cut that gains and that both sides survive.

        And what each pool loses then.
        """
        costs = np.array([cost for cost, _ in cuts])
        order, chosen = costs.argsort(axis=0, kind="stable"), np.full(len(at), -1)
        left, then = np.ones(costs.shape[1], dtype=bool), now.copy()
        for way in order:
            cost = costs[way, np.arange(len(way))]
            left &= cost < now * (1 - _GAIN)
            if not left.any():
                break
            inside = np.flatnonzero(left[pool])
            side = np.array([side for _, side in cuts])[way[pool[inside]], inside]
            number = np.cumsum(left) - 1
            classes = 2 * number[pool[inside]] + side
            unit = at[inside]
            each = self.stands(self.unit[unit], self.rows[unit], classes, 2 * int(left.sum()))
            stands = each[::2] & each[1::2]
            good = stands[number[pool[inside]]]
            chosen[inside[good]] = side[good]
            made = np.flatnonzero(left)[stands]
            then[made], left[made] = cost[made], False
        return chosen, then


def together(first: IntArray, width: IntArray, one: IntArray, other: IntArray) -> tuple[IntArray, IntArray]:
    """The places of the units of each pair of classes, pair by pair, and the pair of each."""
    starts = np.stack([first[one], first[other]], axis=1).ravel()
    widths = np.stack([width[one], np.where(one == other, 0, width[other])], axis=1).ravel()
    at = np.arange(int(widths.sum())) + np.repeat(starts - (np.cumsum(widths) - widths), widths)
    return at, np.repeat(np.arange(len(one)), widths.reshape(-1, 2).sum(axis=1))


def _direction(turn: int, axes: int) -> FloatArray:
    """The axes in turn, each first by itself and then together with others, always in the same way."""
    weight = np.zeros(axes)
    if turn % (2 * axes) < axes:
        weight[turn % axes] = 1.0
    if turn >= axes:
        weight += np.cos(turn * np.sqrt(np.arange(2, axes + 2)))  # as good as drawn, and nothing here is secret
    return weight


def _matching(one: IntArray, other: IntArray, count: int) -> IntArray:
    """Pairs in order of preference, without those whose class stands in an earlier one."""
    chosen: list[IntArray] = []
    left, free = np.arange(len(one)), np.ones(count, dtype=bool)
    while len(left):
        ahead = np.full(count, len(one))
        np.minimum.at(ahead, one[left], left)
        np.minimum.at(ahead, other[left], left)
        best = left[(ahead[one[left]] == left) & (ahead[other[left]] == left)]
        chosen.append(best)
        free[one[best]] = free[other[best]] = False
        left = left[free[one[left]] & free[other[left]]]
    return np.sort(np.concatenate(chosen)) if chosen else left
