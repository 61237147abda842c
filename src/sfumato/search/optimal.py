"""Best-first search over a lattice that fits in memory: the node with the least bound is judged next, until none is left.

Every judged node changes the bounds of all nodes above and below it at once: the lattice is an array with an axis for
every quasi-identifier, and what is below (or above) a node is a slice of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import reduce

import numpy as np

from ..core.column import FloatArray, IntArray
from .judge import NodeVerdict
from .lattice import Levels
from .losses import ShareTerm
from .problem import Problem

LARGEST = 2_000_000
"""Nodes of the largest lattice that is held as an array."""


def _down(levels: Levels) -> tuple[slice, ...]:
    return tuple(slice(0, level + 1) for level in levels)


def _up(levels: Levels) -> tuple[slice, ...]:
    return tuple(slice(level, None) for level in levels)


def column_sums(parts: Sequence[FloatArray]) -> FloatArray:
    """The sum over the columns of their cost at a level, for every node."""
    return reduce(np.add.outer, parts, np.zeros(()))


def tie_ranks(shape: tuple[int, ...]) -> IntArray:
    """The place of each node in the order of ties: by the sum of its levels, then by the levels."""
    heights = column_sums([np.arange(n, dtype=np.float64) for n in shape]).ravel()
    rank = np.empty(heights.size, dtype=np.int64)
    rank[np.argsort(heights, kind="stable")] = np.arange(heights.size)
    return rank


def node_at(place: int, shape: tuple[int, ...]) -> Levels:
    """The levels of the node at a place of the flat array."""
    return tuple(int(i) for i in np.unravel_index(place, shape))


def halve(way: Sequence[Levels], end: int, rules_out: Callable[[Levels], bool], problem: Problem) -> None:
    """Find by halving the last node before place `end` that rules out all below it; the first of the way does."""
    low = 0
    while end - low > 1 and not problem.spent:
        middle = (low + end) // 2
        low, end = (middle, end) if rules_out(way[middle]) else (low, middle)


def cheapest_way(start: Levels, top: Levels, price: Callable[[int, int], float]) -> list[Levels]:
    """From a node up to the top, a level at a time, always in the column where that costs least; of equals the first."""
    way = [start]
    while way[-1] != top:
        here = way[-1]
        j = min((j for j, level in enumerate(here) if level < top[j]), key=lambda j: price(j, here[j]))
        way.append((*here[:j], here[j] + 1, *here[j + 1 :]))
    return way


class LossBounds:
    """A lower bound of every node's loss; infinite once the node need not be looked at."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self.shape = problem, problem.lattice.shape
        self.base, self.low = [], []
        for _, term in problem.loss.terms:
            base = column_sums(term.cost)
            if isinstance(term, ShareTerm) and term.geometric:
                base = np.expm1(base)
            self.base.append(base + term.constant)
            self.low.append(self.base[-1].copy())
        self.total = np.zeros(self.shape)
        self._sum((slice(None),) * len(self.shape))
        cost = [np.zeros(n) for n in self.shape]
        for factor, term in problem.loss.terms:
            cost = [c + factor * own for c, own in zip(cost, term.cost, strict=True)]
        self.step = [np.diff(column).tolist() for column in cost]
        """What each level of a column costs more than the one below it."""
        self.judged = np.zeros(self.shape, dtype=bool)
        self.ruled = np.zeros(self.shape, dtype=bool)
        """Nodes below one that rules them out."""
        self.rank = tie_ranks(self.shape)

    def _sum(self, part: tuple[slice, ...]) -> None:
        self.total[part] = sum(f * low[part] for (f, _), low in zip(self.problem.loss.terms, self.low, strict=True))

    def learn(self, verdict: NodeVerdict) -> None:
        """What a judged node says of those above and below it."""
        levels = verdict.grouped.levels
        down, up = _down(levels), _up(levels)
        self.judged[levels] = True
        self.total[levels] = np.inf
        if verdict.never:
            self.ruled[down] = True
            self.total[down] = np.inf
        changed = []
        for (_, term), base, low in zip(self.problem.loss.terms, self.base, self.low, strict=True):
            penalty = 0.0 if verdict.never else term.penalty(verdict)
            if penalty > 0:
                np.maximum(low[down], base[down] + penalty, out=low[down])
                changed.append(down)
            rise = term.rise(verdict)
            if rise > -math.inf:
                np.maximum(low[up], rise, out=low[up])
                changed.append(up)
        for part in changed:
            self._sum(part)
            self.total[part][self.judged[part] | self.ruled[part]] = np.inf

    def next(self) -> Levels | None:
        """The open node of the least bound that may still beat the best, or None."""
        best = self.problem.best
        flat = self.total.ravel()
        at = int(np.argmin(flat))
        if flat[at] == np.inf:
            return None
        if best is None or flat[at] < best.loss - self.problem.slack:
            return node_at(at, self.shape)
        # only ties may be left: those that come earlier than the best
        mine = self.rank[np.ravel_multi_index(best.levels, self.shape)]
        ties = np.flatnonzero((flat <= best.loss + self.problem.slack) & (self.rank < mine))
        return node_at(int(ties[np.argmin(self.rank[ties])]), self.shape) if len(ties) else None

    @property
    def least(self) -> float:
        """A bound on the loss of every node that was not judged."""
        return float(self.total.min())


def explore(problem: Problem) -> tuple[bool, float]:
    """Judge nodes until the best is proved or the budget is spent: whether it is proved, and the bound on what is left."""
    bounds = LossBounds(problem)
    problem.ground = problem.floor = bounds.least
    # where a node above a feasible one is feasible and costs what its levels say, a miss is worth more the higher it is
    from_above = (
        problem.judge.limit == 0 and problem.judge.upward and all(term.by_levels for _, term in problem.loss.terms)
    )
    while (levels := bounds.next()) is not None:
        if problem.spent:
            return False, bounds.least
        if from_above:
            descend(problem, bounds, levels)
            continue
        verdict = check(problem, bounds, levels)
        if verdict.never:
            climb(problem, bounds, levels)
    return True, math.inf


def check(problem: Problem, bounds: LossBounds, levels: Levels) -> NodeVerdict:
    """Judge a node and learn from it."""
    verdict = problem.check(levels)
    bounds.learn(verdict)
    problem.floor = bounds.least
    if problem.watch is not None:
        problem.watch(problem, problem.floor)
    return verdict


def climb(problem: Problem, bounds: LossBounds, levels: Levels) -> None:
    """From a node that rules out all below it up the cheapest way, by halving, to the last one that does (Flash's idea).

    That one closes the most nodes at once, and the next one is often feasible.
    """
    way = cheapest_way(levels, problem.lattice.top, lambda j, level: bounds.step[j][level])

    def rules_out(node: Levels) -> bool:
        return bool(bounds.ruled[node]) or (not bounds.judged[node] and check(problem, bounds, node).never)

    halve(way, len(way) - 1, rules_out, problem)


def descend(problem: Problem, bounds: LossBounds, levels: Levels) -> None:
    """From a node up as far as nodes are worth looking at, and from there by halving down to the last feasible one.

    The way up takes the levels that cost least for each doubling of the nodes below. If its end is infeasible, one check
    closes all of them; else it is better than the best so far. Few classes are counted there, too.
    """
    top, most = problem.lattice.top, problem.best.loss - problem.slack if problem.best else math.inf
    way, here = [levels], list(levels)
    while True:
        steps = []
        for j, level in enumerate(here):
            if level < top[j]:
                above = (*here[:j], level + 1, *here[j + 1 :])
                if bounds.total[above] < most:
                    steps.append((bounds.step[j][level] / math.log((level + 2) / (level + 1)), j))
        if not steps:
            break
        here[min(steps)[1]] += 1
        way.append(tuple(here))
    low, high = 0, len(way) - 1
    if check(problem, bounds, way[high]).never:
        return
    while low < high and not problem.spent:
        middle = (low + high) // 2
        if check(problem, bounds, way[middle]).never:
            low = middle + 1
        else:
            high = middle
