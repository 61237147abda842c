"""Lattices too large to hold: a bound by branching over boxes of nodes, for losses that are shares of what cells keep open.

A box is a node `high` and some columns that are fixed at its levels; it holds all nodes below `high` with those levels there.
Classes at `high` that must go, must go in all of the box (they are unions of the classes below). With S those rows, G the loss of
a row that is gone, and a(r) what the fixed columns lose of a row r,

    loss >= ( |S| G + sum of a(r) over the other rows ) / N.                                                          (1)

**What the open columns add.** Lower an open column u by one level, and rows S_u more must go; leave it where it is, and each row
loses d_u(r) of it. Let the parts theta_u of the open columns sum to 1, with theta_u (G - a(r)) >= d_u(r). A row that goes loses
G - a(r) more, whatever the reason, and a row that stays the sum of its d_u. So each open column adds at least

    min( sum of d_u(r) over all rows,  theta_u * sum of (G - a(r)) over S_u ) / N,                                    (2)

and these add up: a row that goes is counted once at most, in parts. theta_u is the largest loss of u over that of all open columns.

**Groups.** Columns that must go together tell more: over a group of them, the least of all choices of the columns to lower stands
for (2), with the theta of all, and columns that are not lowered paid for by the rows that stay. Lowering more loses more rows, so few
choices need to be looked at.

**Branching.** The columns are put in an order, the most telling first. The i-th part of a box has the first i - 1 open columns fixed,
and the i-th lowered by a level; what is left is `high` itself, whose loss is known. So every node is in one part, and one
look at the lowered columns bounds all parts. The box of the least bound is always divided next, so that the least bound of all
boxes bounds every node that was not judged; what is left when it reaches the best node is a proof.

**Parts.** Where there are too many columns for that to come far, they are dealt into parts. A row that must go where all columns but those
of a part are `*` must go in any case, and the loss of a row that goes, G, is the sum of what the parts lose of it. So the least losses of the
parts, each bounded by boxes of its own, add up to a bound.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence

import numpy as np

from ..core.classes import Classes
from ..core.column import FloatArray, IntArray
from ..core.cover import BoolArray
from ..core.noun import dataclass
from .lattice import Levels
from .losses import ShareTerm
from .problem import Problem
from .rollup import ROOM, STEP

SIZES = 100_000
"""Classes of more rows are taken to be large enough."""
GROUP = 4
"""Columns that are looked at together."""
Box = tuple[float, int, Levels, int, "tuple[Part, ...] | None"]
"""Its bound, its number, `high`, the fixed columns as bits, and its parts where they are known."""
Part = tuple[float, Levels, int]
Lost = tuple[float, float]
"""What rows cost more that must go, and how many these are, as shares of all rows."""


@dataclass(frozen=True, eq=False)
class Classed:
    """The classes of a node: which one each row is in, and of each the rows, those that must go, and one of its tuples."""

    at: IntArray
    """The tuples that are in a class that may stay."""
    member: IntArray
    first: IntArray
    size: FloatArray
    gone: FloatArray


class BoxBound:
    """The boxes of one problem that are not divided yet; or of some of its columns, as if all others were `*` and cost nothing."""

    def __init__(self, problem: Problem, mine: Sequence[int] | None = None) -> None:
        self.problem, self.rollup = problem, problem.judge.rollup
        self.mine = None if mine is None else frozenset(mine)
        self.cheapest = math.inf
        """What the nodes of some columns cost at least that were looked at."""
        self.rows = float(self.rollup.rows)
        shares = [(factor, term) for factor, term in problem.loss.terms if isinstance(term, ShareTerm)]
        columns = range(len(problem.lattice.shape) if shares else 0)
        self.open: list[list[FloatArray]] = [
            [
                np.sum([f * t.weights[j] * t.open[j][h] for f, t in shares], axis=0)
                for h in range(problem.lattice.shape[j])
            ]
            for j in columns
        ]
        """What each value loses at each level, by column."""
        self.whole = np.array([sum(f * term.weights[j] * term.gone[j] for f, term in shares) for j in columns])
        self.least = np.array([min(float(np.min(level)) for level in self.open[j]) for j in columns])
        self.width = self.whole - self.least
        self.sure = float(sum(self.whole[j] for j in columns if self._counts(j)))
        self.few = _failing(problem)
        others = sum(1 << j for j in columns if not self._counts(j))
        self.boxes: list[Box] = [(0.0, 0, problem.lattice.top, others, None)]
        self.made = 0
        self.single = len(self.rollup.base) == self.rollup.rows
        """Whether every tuple is one row."""
        self.sizes = [[len(labels) for labels in ladder.labels] for ladder in problem.lattice.ladders]

    @property
    def tells(self) -> bool:
        """Whether the loss adds up over rows and columns, and some class must go for its size."""
        shares = all(isinstance(term, ShareTerm) and not term.geometric for _, term in self.problem.loss.terms)
        return shares and bool(self.few.any())

    @property
    def tells_all(self) -> bool:
        """Whether nothing is required of classes but their size."""
        return self.tells and all(demand.name is None for demand in self.problem.judge.demands)

    def run(self) -> None:
        """Divide boxes until nothing is left that costs less than the best, or the work is done."""
        while not self.done and not self.problem.spent:
            self.problem.floor = max(self.problem.floor, self.bound)
            self.step()
        self.problem.floor = max(self.problem.floor, self.bound)

    @property
    def done(self) -> bool:
        """Whether no box is left that may hold a node which costs less than the best."""
        return not self.boxes or self.boxes[0][0] >= self._most

    def step(self) -> None:
        """Divide the box of the least bound."""
        bound, _, high, fixed, parts = heapq.heappop(self.boxes)
        if parts is None:
            self.look(bound, high, fixed)
        else:
            for part in parts:
                self._push(part)
        if self.problem.watch is not None:
            self.problem.watch(self.problem, self.problem.floor)

    @property
    def bound(self) -> float:
        """No node costs less than this."""
        return min(self.boxes[0][0], self._best) if self.boxes else self._best

    def _counts(self, column: int) -> bool:
        return self.mine is None or column in self.mine

    def look(self, bound: float, high: Levels, fixed: int) -> None:
        """Bound a box and its parts, and keep them if they may hold a better node."""
        classed = self.classes(high)
        stay = classed.size - classed.gone
        gone = float(classed.gone.sum())
        fixed |= sum(1 << j for j, level in enumerate(high) if not level)
        here = np.full(len(stay), self.least[[j for j in range(len(high)) if not fixed >> j & 1]].sum())
        for j, level in enumerate(high):
            if fixed >> j & 1 and self._counts(j):
                here += self._loses(j, level, classed)
        base = (gone * self.sure + float(stay @ here)) / self.rows
        start = fixed
        open_ = [j for j in range(len(high)) if not fixed >> j & 1]
        raised = {j: self._loses(j, high[j], classed) - self.least[j] for j in open_}
        keep = {j: float(stay @ raised[j]) / self.rows for j in open_}
        most = {j: float(raised[j].max(initial=0.0)) for j in open_}
        fall = {j: self.lowered(classed, high, (j,), here) for j in open_}
        order = sorted(open_, key=lambda j: (-self._telling(j, high, keep, fall), j))
        groups = [order[i : i + GROUP] for i in range(0, len(order), GROUP)]
        known: list[dict[frozenset[int], Lost]] = [
            {frozenset(): (0.0, 0.0), **{frozenset((j,)): fall[j] for j in group}} for group in groups
        ]
        whole = base
        for i in range(len(groups), 0, -1):  # the first groups alone have the whole theta
            among = [j for group in groups[:i] for j in group]
            value = base
            for group, told in zip(groups[:i], known, strict=False):
                value += self._group(classed, high, group, here, keep, told, self._part(group, among))
            whole = max(whole, value)
        parts: list[Part] = []
        up, above = 0.0, 0.0  # what the columns before cost, and the most that they cost a row
        for i, j in enumerate(order):
            rise, lost = fall[j]
            if gone + lost * self.rows <= self.problem.judge.limit + 1e-6:
                part = base + rise + up - lost * above
                part += self._rest(order[i + 1 :], keep, fall, rise, lost, above)
                parts.append((max(bound, whole, part), (*high[:j], high[j] - 1, *high[j + 1 :]), fixed))
            fixed |= 1 << j
            up += keep[j]
            above += most[j]
        if base + up < self._most:  # all columns fixed: the node itself
            self.cheapest = base + up
            if self.mine is None:
                self.problem.check(high)
        if whole > bound:
            self._push((whole, high, start), tuple(parts))
        else:
            for each in parts:
                self._push(each)

    def _part(self, some: Sequence[int], of: Sequence[int]) -> float:
        """The theta of some of the open columns together."""
        return float(self.width[some].sum()) / max(float(self.width[of].sum()), 1e-300)

    def _group(
        self,
        classed: Classed,
        high: Levels,
        group: list[int],
        here: FloatArray,
        keep: dict[int, float],
        known: dict[frozenset[int], Lost],
        theta: float,
    ) -> float:
        """(2) for some open columns together: the least over which of them are lowered; `known` are choices that were looked at."""

        def value(some: frozenset[int]) -> float:
            rest = [j for j in group if j not in some]
            paid, spare = sum(keep[j] for j in rest), sum(float(self.width[j]) for j in rest)
            return paid + max(theta * rise - lost * spare for each, (rise, lost) in known.items() if each <= some)

        every = [frozenset(j for i, j in enumerate(group) if chosen >> i & 1) for chosen in range(1 << len(group))]
        open_ = {some: value(some) for some in every}
        while True:
            some = min(every, key=lambda one: open_[one])
            if some in known:
                return max(open_[some], 0.0)
            known[some] = self.lowered(classed, high, tuple(sorted(some)), here)
            for other in every:
                if some <= other:
                    open_[other] = value(other)

    def _telling(self, j: int, high: Levels, keep: dict[int, float], fall: dict[int, Lost]) -> float:
        rise = fall[j][0]
        few, many = sorted((keep[j], rise))
        return few + 0.1 * min(many, 1.0) + 1e-6 * math.log(self.sizes[j][high[j] - 1] + 1)

    def _rest(
        self, rest: list[int], keep: dict[int, float], fall: dict[int, Lost], rise: float, lost: float, above: float
    ) -> float:
        """(2) for the columns that stay open, of the rows that are not lost yet and where the columns before are fixed."""
        told = []
        for j in rest:
            width = float(self.width[j])
            stays, (own, rows) = max(keep[j] - lost * width, 0.0), fall[j]
            goes = max(own - rise - rows * above, 0.0) * width
            if stays and goes:
                told.append((-goes / stays, stays, goes, width))
        best = among = 0.0
        for i, (_, _, _, width) in enumerate(sorted(told), 1):  # the first ones alone have the whole theta
            among += width
            best = max(best, sum(min(stays, goes / among) for _, stays, goes, _ in sorted(told)[:i]))
        return best

    @property
    def _best(self) -> float:
        if self.mine is not None:
            return self.cheapest
        return math.inf if self.problem.best is None else self.problem.best.loss

    @property
    def _most(self) -> float:
        return self._best - self.problem.slack

    def _push(self, box: Part, parts: tuple[Part, ...] | None = None) -> None:
        if box[0] < self._most:
            self.made += 1
            heapq.heappush(self.boxes, (box[0], self.made, *box[1:], parts))

    # --- classes

    def _loses(self, j: int, level: int, classed: Classed) -> FloatArray:
        """What each class loses of a column at a level."""
        loses: FloatArray = self.open[j][level][self.rollup.tuples.codes[j][classed.first]]
        return loses

    def classes(self, high: Levels) -> Classed:
        """The classes of a node, of which those that must go are put together as the last."""
        self.problem.checked += 1
        rollup = self.rollup
        member, count = rollup.merge(*rollup.keys(rollup.base, high))
        first = np.empty(count, dtype=np.int64)
        first[member[::-1]] = rollup.base.first[::-1]
        size = np.bincount(member, weights=None if self.single else rollup.tuples.n, minlength=count)
        gone = self.few[np.minimum(size, len(self.few) - 1).astype(np.int64)]
        at, stays = np.flatnonzero(~gone[member]), ~gone
        lost = float(size[gone].sum())
        number = np.cumsum(stays) - 1
        return Classed(
            at,
            number[member[at]],
            np.append(first[stays], 0),
            np.append(size[stays], lost).astype(np.float64),
            np.append(np.zeros(int(stays.sum())), lost),
        )

    def lowered(self, classed: Classed, high: Levels, some: tuple[int, ...], here: FloatArray) -> Lost:
        """What the rows that must go once some columns are a level lower cost more."""
        self.problem.checked += 1
        self.rollup.work += STEP + len(classed.at) * (4 + len(some))
        key, space = classed.member, len(classed.size)
        times = 1
        for j in some:
            size = self.sizes[j][high[j] - 1]
            if space * times * size >= ROOM:  # too many to number: nothing is said
                return 0.0, 0.0
            key = key * size + self.rollup.codes[j][high[j] - 1][classed.at]
            times *= size
        space *= times
        n = self.rollup.tuples.n
        if space <= 8 * len(key) + 4096:
            rows = np.bincount(key, weights=None if self.single else n[classed.at], minlength=space)
            cells = np.flatnonzero(rows)
            rows = rows[cells]
        else:
            member, count = self.rollup.merge(key, space)
            rows = np.bincount(member, weights=None if self.single else n[classed.at], minlength=count)
            cells = np.empty(count, dtype=np.int64)
            cells[member] = key
        few = self.few[np.minimum(rows, len(self.few) - 1).astype(np.int64)]
        lost = rows[few].astype(np.float64)
        return float(lost @ (self.sure - here[cells[few] // times])) / self.rows, float(lost.sum()) / self.rows


class PartBounds:
    """The boxes of so many parts of the columns, whose bounds add up."""

    def __init__(self, problem: Problem, parts: int, order: Sequence[int]) -> None:
        """`order`: the columns, the most telling first, dealt to and fro so that each part tells about as much."""
        self.problem = problem
        hands = [
            sorted(j for i, j in enumerate(order) if min(i % (2 * parts), ~i % (2 * parts)) == part)
            for part in range(parts)
        ]
        self.boxes = [BoxBound(problem, hand) for hand in hands]
        self.work = [0] * parts

    @property
    def bound(self) -> float:
        """No node costs less than this."""
        return sum(boxes.bound for boxes in self.boxes)

    def run(self) -> None:
        """Divide boxes of the part that had the least work, until all parts are done or the work is."""
        rollup = self.problem.judge.rollup
        while not self.problem.spent:
            at = min(
                (i for i, boxes in enumerate(self.boxes) if not boxes.done), key=self.work.__getitem__, default=None
            )
            if at is None:
                break
            before = rollup.work
            self.boxes[at].step()
            self.work[at] += rollup.work - before
        self.problem.floor = max(self.problem.floor, self.bound)


def _failing(problem: Problem) -> BoolArray:
    """For each number of rows whether a class of so many must go; the last entry stands for all larger ones."""
    judge = problem.judge
    sizes = np.arange(1, min(judge.rollup.rows, SIZES) + 1)
    few = np.zeros(len(sizes) + 2, dtype=bool)
    for demand in judge.demands:
        metric = demand.requirement.metric
        sizes_say = demand.name is None and not metric.card.covers and judge.rollup.owners is None
        if sizes_say and metric.inherited and (demand.alone or not judge.limit):
            values = metric.per_class(Classes(sizes, whole=judge.rollup.rows))
            few[1:-1] |= ~np.asarray(demand.requirement.passes(values))
    few[-1] = False
    return few
