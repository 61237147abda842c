"""The faces of a lattice: the best node of every set of columns, and the same question over some of the columns only.

A node that releases just the columns of a set lies in no smaller set, and below nodes of every smaller one. So each node
has one set in which it is judged, and sets are gone through from small to large: the best of the smaller sets is where a
search starts, and what cannot be met there cannot be met here (Incognito's subset property).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np

from ..core.column import FloatArray, IntArray
from ..core.counted_table import CountedTable
from ..core.counts import Counts
from ..core.cover import BoolArray
from .judge import Judge, NodeVerdict
from .lattice import Lattice, Levels
from .losses import ShareTerm
from .optimal import column_sums, halve, node_at, tie_ranks
from .problem import Best, Problem
from .rollup import Rollup

At = tuple[int, ...]
"""Some of the columns, by their place."""


def best_of_faces(problem: Problem, sets: Sequence[At]) -> Iterator[tuple[At, Best | None]]:
    """The best node of every set, from smaller sets to larger ones, which inherit what was found and ruled out."""
    first = problem.check(problem.lattice.top)
    penalty = 0.0 if first.never else problem.loss.penalty(first)
    known: dict[At, tuple[Best | None, BoolArray, FloatArray]] = {
        (): (problem.best, np.array(first.never), np.array(penalty))
    }
    for at in sets:
        smaller = [known[*at[:j], *at[j + 1 :]] for j in range(len(at))]
        problem.best = None
        for best, _, _ in smaller:
            if best is not None and (problem.best is None or problem.better(best.loss, best.rank)):
                problem.best = best
        region = Region(problem, at)
        # below a node with column j at `*` are those with j at any level
        for j, (_, never, more) in enumerate(smaller):
            region.never |= np.expand_dims(never, j)
            np.maximum(region.more, np.expand_dims(more, j), out=region.more)
        region.explore()
        known[at] = (problem.best, region.never, region.more)
        if at[0] == 0 and len(at) == at[-1] + 1:  # the first of its size: only the size before is looked back to
            known = {key: kept for key, kept in known.items() if len(key) >= len(at) - 1}
        yield at, problem.best


class Region:
    """The nodes that release just these columns: below `*` in each of them, `*` elsewhere. Searched best first.

    `never` are nodes that cannot be feasible; `more` is what a node costs beyond its base at least.
    """

    def __init__(self, problem: Problem, at: At) -> None:
        self.problem, self.at, self.top = problem, at, problem.lattice.top
        self.shape = tuple(self.top[j] for j in at)
        self.base = np.zeros(self.shape)
        for factor, term in problem.loss.terms:
            if not factor:
                continue
            rest = sum(float(cost[-1]) for j, cost in enumerate(term.cost) if j not in at)
            cost = column_sums([term.cost[j][:-1] for j in at]) + rest
            if isinstance(term, ShareTerm) and term.geometric:
                cost = np.expm1(cost)
            self.base += factor * (cost + term.constant)
        self.never = np.zeros(self.shape, dtype=bool)
        self.more = np.zeros(self.shape)
        self.judged = np.zeros(self.shape, dtype=bool)

    def explore(self) -> None:
        """Judge nodes until none can be better than the problem's best."""
        self.low = np.where(self.never, np.inf, self.base + self.more)
        while (here := self._next()) is not None:
            if self._check(here).never:
                self._climb(here)

    def _full(self, here: Levels) -> Levels:
        levels = list(self.top)
        for j, level in zip(self.at, here, strict=True):
            levels[j] = level
        return tuple(levels)

    @cached_property
    def _rank(self) -> IntArray:
        return tie_ranks(self.shape)

    def _next(self) -> Levels | None:
        """The node of the least bound that may still beat the best; of those that may tie, the earliest."""
        flat, best = self.low.ravel(), self.problem.best
        at = int(np.argmin(flat)) if flat.size else -1
        if at < 0 or flat[at] == np.inf:
            return None
        if best is not None and flat[at] >= best.loss - self.problem.slack:
            ties = np.flatnonzero(flat <= best.loss + self.problem.slack)
            if not len(ties):
                return None
            at = int(ties[np.argmin(self._rank[ties])])
            full = self._full(node_at(at, self.shape))
            if (sum(full), full) >= best.rank:
                return None
        return node_at(at, self.shape)

    def _check(self, here: Levels) -> NodeVerdict:
        """Judge a node and learn from it."""
        verdict = self.problem.check(self._full(here))
        down, up = tuple(slice(0, i + 1) for i in here), tuple(slice(i, None) for i in here)
        self.judged[here], self.low[here] = True, np.inf
        terms = self.problem.loss.terms
        if verdict.never:
            self.never[down] = True
            self.low[down] = np.inf
        elif (penalty := self.problem.loss.penalty(verdict)) > 0:
            np.maximum(self.more[down], penalty, out=self.more[down])
            np.maximum(self.low[down], self.base[down] + penalty, out=self.low[down])
        if len(terms) == 1 and terms[0][0]:
            np.maximum(self.low[up], terms[0][0] * terms[0][1].rise(verdict), out=self.low[up])
        return verdict

    def _climb(self, here: Levels) -> None:
        """Up the cheapest way, by halving, to the last node that rules out all below it (as `optimal.climb`)."""
        way = [here]
        while True:
            steps = [
                (*way[-1][:i], level + 1, *way[-1][i + 1 :])
                for i, level in enumerate(way[-1])
                if level + 1 < self.shape[i]
            ]
            if not steps:
                break
            way.append(min(steps, key=lambda node: (self.base[node], node)))

        def rules_out(node: Levels) -> bool:
            return bool(self.never[node]) or (not self.judged[node] and self._check(node).never)

        halve(way, len(way), rules_out, self.problem)


def face(judge: Judge, at: At) -> Judge:
    """The same question over some of the columns only. Their tuples are rolled up from those of all; nothing is counted."""
    whole, lattice = judge.rollup, judge.rollup.lattice
    names = tuple(lattice.names[j] for j in at)
    counts = judge.original.counts
    if set(counts.names) == {*lattice.names, *whole.split}:
        bottom = whole(tuple(0 if j in at else top for j, top in enumerate(lattice.top)))
        of_class = np.arange(len(bottom)) if whole.joint is None else bottom.member
        first = bottom.first[of_class]
        parts = [(whole.tuples.columns[j], whole.tuples.codes[j][first]) for j in at]
        if whole.joint is not None:
            parts += [(c, codes[bottom.value]) for c, codes in zip(whole.joint.columns, whole.joint.codes, strict=True)]
        columns, codes = zip(*parts, strict=True)
        counts = Counts.of(columns, codes, bottom.size if whole.joint is None else bottom.n)
    else:  # some metric looks at columns besides
        counts = counts.group((*names, *(name for name in counts.names if name not in lattice.names)))[0]
    return Judge(
        Rollup(counts, Lattice(tuple(lattice.ladders[j] for j in at)), whole.split),
        dataclasses.replace(judge.roles, quasi=names),
        judge.require,
        judge.limit,
        CountedTable(counts, name=judge.original.name),
        judge.population,
        judge.paired,
    )
