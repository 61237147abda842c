"""A walk through the lattice that keeps what no node seen so far beats on two axes.

**Order.** First the top and the bottom, and in a large lattice four ways between them; then always the neighbours of nodes on
the frontier, which find nearly all of it; then what is left, as far as no bound says that it is beaten.
"""

from __future__ import annotations

import bisect
import math
import random
import time
from collections.abc import Callable, Iterator
from functools import reduce

import numpy as np

from ..core.column import FloatArray, IntArray
from ..core.cover import BoolArray
from ..core.metric import Exactness, Metric
from ..core.noun import dataclass
from .judge import NodeVerdict
from .lattice import Levels
from .optimal import LARGEST, LossBounds, node_at
from .pareto import ten_digits
from .problem import Problem
from .scores import score

CHECKS = 50_000
"""Nodes that are measured at most where no limit is given: a lattice of no more is always settled."""
_CHUNK = 4_096
_SEED = 20_150


def _less(values: FloatArray) -> FloatArray:
    """A little less, so that no rounding to ten digits is above: who is beaten by less than that is looked at again."""
    return values - np.where(np.isfinite(values), 1e-9 * np.abs(values) + 1e-12, 0.0)


class Front:
    """The points that none of those seen so far beats, by ascending loss and descending risk; equal ones together."""

    def __init__(self) -> None:
        self.loss: list[float] = []
        self.risk: list[float] = []
        self.nodes: list[list[Levels]] = []

    def beats(self, risk: float, loss: float) -> bool:
        """Whether some point is at least as good on both axes and better on one."""
        at = bisect.bisect_right(self.loss, loss) - 1  # of those that lose no more, the one of least risk
        return at >= 0 and (self.risk[at] < risk or (self.risk[at] == risk and self.loss[at] < loss))

    def beats_all(self, risk: FloatArray, loss: FloatArray) -> BoolArray:
        """The same for many."""
        if not self.loss:
            return np.zeros(len(risk), dtype=bool)
        own_loss, own_risk = np.array(self.loss), np.array(self.risk)
        at = np.searchsorted(own_loss, loss, side="right") - 1
        mine = own_risk[np.maximum(at, 0)]
        found: BoolArray = (at >= 0) & ((mine < risk) | ((mine == risk) & (own_loss[np.maximum(at, 0)] < loss)))
        return found

    def add(self, risk: float, loss: float, levels: Levels) -> bool:
        """Take a node in unless it is beaten, and let go of those that it beats."""
        if math.isnan(risk) or math.isnan(loss) or self.beats(risk, loss):
            return False
        at = bisect.bisect_left(self.loss, loss)
        if at < len(self.loss) and (self.loss[at], self.risk[at]) == (loss, risk):
            self.nodes[at].append(levels)
            return True
        end = at
        while end < len(self.loss) and self.risk[end] >= risk:
            end += 1
        self.loss[at:end], self.risk[at:end], self.nodes[at:end] = [loss], [risk], [[levels]]
        return True

    def __contains__(self, point: tuple[float, float]) -> bool:
        at = bisect.bisect_left(self.loss, point[1])
        return at < len(self.loss) and (self.risk[at], self.loss[at]) == point


@dataclass(frozen=True)
class MeasuredNode:
    """What was measured of a feasible node; less is better on both axes."""

    risk: float
    loss: float
    suppressed: int
    classes: int


class Walk:
    """Nodes are measured one by one, less being better on both axes here, until none is left or the limits are reached."""

    def __init__(
        self, problem: Problem, asked: Metric, progress: Callable[[float], None] | None, started: float
    ) -> None:
        self.problem, self.asked, self.started = problem, asked, started
        self.lattice, self.judge = problem.lattice, problem.judge
        self.sign = 1.0 if asked.card.better == "lower" else -1.0
        self.front, self.seen = Front(), dict[Levels, MeasuredNode | None]()
        self.exactness: Exactness = "exact"
        self.random = random.Random(_SEED)
        self.progress, self.reported = progress, 0.0
        self.bounds = LossBounds(problem) if self.lattice.nodes <= LARGEST else None
        self.tells = asked.card.monotone and self.judge.limit == 0
        """Whether a specialization has no less risk than what it specializes."""
        self.low = np.full(self.lattice.shape, -np.inf) if self.bounds is not None else np.zeros(0)
        """No node has less risk than this."""
        self.open: list[Levels] = []
        """Nodes on the frontier, or once on it, whose neighbours were not visited."""

    def run(self) -> bool:
        """Visit nodes; whether all of the lattice is settled."""
        for share, levels in self._supply():
            if self._spent(share):
                return False
            self.visit(levels)
            if share is not None and not self._around(share):
                return False
        return True

    def _around(self, share: float) -> bool:
        """Visit the neighbours of nodes on the frontier until there are none left; false if the limits were reached before."""
        while self.open:
            here = self.open.pop(self.random.randrange(len(self.open)))
            node = self.seen[here]
            if node is None or (ten_digits(node.risk), ten_digits(node.loss)) not in self.front:
                continue
            for near in self._near(here):
                if self._spent(share):
                    return False
                self.visit(near)
        return True

    def visit(self, levels: Levels, *, certainly: bool = False) -> None:
        """Measure a node unless it was measured, or is beaten or infeasible whatever it measures; or `certainly`."""
        if levels in self.seen:
            return
        if self.bounds is not None and not certainly:
            loss = float(self.bounds.total[levels])
            if loss == math.inf or self.front.beats(ten_digits(float(self.low[levels])), ten_digits(loss)):
                return
        verdict = self.judge(self.judge.rollup(levels))
        if verdict.feasible:
            verdict = self.judge.whole(verdict)
        self.problem.learn(verdict)
        self.problem.checked += 1
        if self.bounds is not None:
            self.bounds.learn(verdict)
        if not verdict.feasible:
            self.seen[levels] = None
            least = self.problem.least
            if least is None or verdict.suppressed < least[0]:
                self.problem.least = (verdict.suppressed, verdict)
            return
        node = self.measure(verdict)
        self.seen[levels] = node
        if self.tells and self.bounds is not None:
            down = tuple(slice(0, level + 1) for level in levels)
            np.maximum(self.low[down], node.risk, out=self.low[down])
        if self.front.add(ten_digits(node.risk), ten_digits(node.loss), levels):
            self.open.append(levels)

    def measure(self, verdict: NodeVerdict) -> MeasuredNode:
        """Both axes, less being better."""
        risk = score(self.judge, self.asked, verdict)
        self.exactness = risk.exactness
        return MeasuredNode(
            self.sign * risk.value,
            self.problem.loss.value(verdict),
            verdict.suppressed,
            int(verdict.kept.sum()),
        )

    def _near(self, levels: Levels) -> Iterator[Levels]:
        """A level more or less in one column."""
        for i, (level, top) in enumerate(zip(levels, self.lattice.top, strict=True)):
            for other in (level - 1, level + 1):
                if 0 <= other <= top:
                    yield (*levels[:i], other, *levels[i + 1 :])

    def _supply(self) -> Iterator[tuple[float | None, Levels]]:
        """Where to look when the frontier has no neighbours left, and the share of the lattice that is settled by then.

        The first ones come without a share: what is near them is looked at once all of them are there, so that a walk that is
        stopped early has been everywhere.
        """
        yield None, self.lattice.top
        if self.lattice.nodes > CHECKS:
            for levels in self._chains():
                yield None, levels
        yield 0.0, self.lattice.bottom
        if self.bounds is None:
            for levels in self._wander():
                yield 0.0, levels
            return
        order, shape = self._order(), self.lattice.shape
        for start in range(0, len(order), _CHUNK):
            part = order[start : start + _CHUNK]
            left = part[self.bounds.total.ravel()[part] < np.inf]
            risk, loss = self.low.ravel()[left], self.bounds.total.ravel()[left]
            left = left[~self.front.beats_all(_less(risk), _less(loss))]
            for i, at in enumerate(left):
                yield (start + len(part) * i / len(left)) / len(order), node_at(int(at), shape)

    def _order(self) -> IntArray:
        """All nodes: where levels alone say what is lost, general ones first, so that their risk bounds the rest; else shuffled.

        Without any bound on risk, specific ones first: classes are then rolled up from smaller ones.
        """
        height = reduce(np.add.outer, [np.arange(n) for n in self.lattice.shape]).ravel()
        if not self.tells:
            return np.argsort(height, kind="stable")
        known = [sum(float(np.ptp(cost)) for cost in term.cost) > 0 for _, term in self.problem.loss.terms]
        if any(known):
            return np.argsort(-height, kind="stable")
        return np.random.default_rng(_SEED).permutation(len(height))

    def _chains(self) -> Iterator[Levels]:
        """Four ways from bottom to top, each step in a column at random (Xia et al. 2013 begin with such chains)."""
        for _ in range(4):
            levels = list(self.lattice.bottom)
            steps = [i for i, height in enumerate(self.lattice.top) for _ in range(height)]
            self.random.shuffle(steps)
            for i in steps:
                levels[i] += 1
                yield tuple(levels)

    def _wander(self) -> Iterator[Levels]:
        """Nodes of the frontier with two or three levels changed, and any others, until all were seen: hardly ever."""
        pick, top = self.random, self.lattice.top
        while len(self.seen) < self.lattice.nodes:
            if self.front.nodes and pick.random() < 0.8:
                levels = list(pick.choice(pick.choice(self.front.nodes)))
            else:
                levels = [pick.randint(0, height) for height in top]
            for i in pick.sample(range(len(top)), min(len(top), pick.choice((2, 3)))):
                levels[i] = pick.randint(0, top[i])
            yield tuple(levels)

    def _spent(self, share: float | None) -> bool:
        problem, now = self.problem, time.monotonic()
        if self.progress is not None and now - self.reported > 0.1:
            self.reported = now
            parts = [share or 0.0]
            if problem.most is not None and self.bounds is None:
                parts.append(problem.checked / problem.most)
            if problem.deadline is not None:
                parts.append((now - self.started) / (problem.deadline - self.started))
            self.progress(min(max(parts), 1.0))
        return problem.spent
