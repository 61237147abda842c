"""Lattices too large to hold: a bound from smaller lattices inside, for any loss.

Let a group be some of the columns, and its face the nodes where all others are `*`. What a node releases, its projection on
a face releases too, only coarser: so a projection that rules out all below it rules out the node, and the rows it must
suppress the node must suppress. Losses that add up over the columns add up over groups. So no node costs less than the sum,
over groups that divide the columns, of the cheapest that each face allows. A face of a hundred thousand nodes is an array,
searched best-first. Faces grow by one column at a time, and keep what they know.
"""

from __future__ import annotations

import math

import numpy as np

from ..core.column import FloatArray
from .judge import NodeVerdict
from .lattice import Levels
from .losses import ShareTerm
from .optimal import cheapest_way, halve, node_at
from .problem import Problem

SIZES = (20_000, 300_000)
"""The largest faces, from one round to the next."""


class Face:
    """The cheapest node over some columns that may be feasible, all other columns being `*`; `least` is its bound."""

    def __init__(self, wide: Faces, columns: tuple[int, ...] = ()) -> None:
        self.wide = wide
        self.columns: tuple[int, ...] = ()
        self.total: FloatArray = np.zeros(())
        self.judged = np.zeros((), dtype=bool)
        for column in columns:
            self.widen(column)

    def widen(self, column: int) -> None:
        """One more column: what is known of a node holds whatever the level of the new one."""
        judged, self.columns = self.judged, (*self.columns, column)
        self.total = self.total[..., None] + self.wide.cost[column]
        self.judged = np.zeros(self.total.shape, dtype=bool)
        self.judged[..., -1] = judged

    @property
    def least(self) -> float:
        """No node of the whole lattice has columns that cost less than this."""
        return float(self.total.min())

    def _node(self, at: Levels) -> Levels:
        node = list(self.wide.top)
        for column, level in zip(self.columns, at, strict=True):
            node[column] = level
        return tuple(node)

    def _check(self, at: Levels) -> bool:
        """Judge a node: whether it rules out all below it."""
        never, penalty = self.wide.ruled(self._node(at))
        down = tuple(slice(0, level + 1) for level in at)
        self.judged[at] = True
        if never:
            self.total[down] = np.inf
        elif penalty > 0:
            base = np.zeros(())
            for column, level in zip(self.columns, at, strict=True):
                base = base[..., None] + self.wide.cost[column][: level + 1]
            np.maximum(self.total[down], base + penalty, out=self.total[down])
        return never

    def search(self) -> None:
        """Judge the cheapest node until it is one that is judged already, or the budget is spent."""
        while not self.wide.problem.spent:
            at = node_at(int(np.argmin(self.total)), self.total.shape)
            if self.judged[at] or not np.isfinite(self.total[at]):
                return
            if self._check(at):
                self._climb(at)

    def _climb(self, at: Levels) -> None:
        """By halving, up the cheapest way to the last node that rules out all below it."""
        top = tuple(n - 1 for n in self.total.shape)
        way = cheapest_way(at, top, lambda j, level: float(self.wide.step[self.columns[j]][level]))

        def rules_out(node: Levels) -> bool:
            return bool(self.total[node] == np.inf) or (not self.judged[node] and self._check(node))

        halve(way, len(way) - 1, rules_out, self.wide.problem)


class Faces:
    """The faces that divide the columns of one problem, and their sum; verdicts are remembered."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self.top = problem, problem.lattice.top
        terms = problem.loss.terms
        self.geometric = len(terms) == 1 and isinstance(terms[0][1], ShareTerm) and terms[0][1].geometric
        self.cost = terms[0][1].cost if self.geometric else problem.loss.columns()
        self.step = [np.diff(column) for column in self.cost]
        self._known: dict[Levels, tuple[bool, float]] = {}
        self.faces: list[Face] = []
        bottom = problem.judge.rollup(problem.lattice.bottom)
        whole = NodeVerdict(bottom, np.ones(len(bottom), dtype=bool), 0, False, np.zeros(len(bottom)), False)
        self.constant = 0.0 if self.geometric else problem.loss.constant + problem.loss.rise(whole)
        # the most telling columns first: they rule out most
        entropy = [_entropy(ladder.rows) for ladder in problem.lattice.ladders]
        self.order = sorted(range(len(self.top)), key=lambda j: (-entropy[j], j))

    def ruled(self, levels: Levels) -> tuple[bool, float]:
        """Whether a node rules out all below it, and what nodes below cost more."""
        if levels not in self._known:
            verdict = self.problem.check(levels)
            self._known[levels] = verdict.never, 0.0 if verdict.never else self.problem.loss.penalty(verdict)
            if self.problem.watch is not None:
                self.problem.watch(self.problem, self.problem.floor)
        return self._known[levels]

    def bound(self) -> None:
        """Add the faces up."""
        inside = {column for face in self.faces for column in face.columns}
        total = sum(face.least for face in self.faces)
        total += sum(float(cost.min()) for j, cost in enumerate(self.cost) if j not in inside)
        if self.geometric:
            total = self.problem.loss.terms[0][0] * math.expm1(total)
        self.problem.floor = max(self.problem.floor, self.constant + total)

    def divide(self, size: int) -> None:
        """Divide the columns into groups of at most so many nodes, and search the face of each, column by column."""
        groups: list[list[int]] = [[]]
        for column in self.order:
            nodes = math.prod(self.top[j] + 1 for j in groups[-1])
            if groups[-1] and nodes * (self.top[column] + 1) > size:
                groups.append([])
            groups[-1].append(column)
        first = self.faces[0] if self.faces else None
        self.faces = [
            first
            if i == 0 and first is not None and first.columns == tuple(group[: len(first.columns)])
            else Face(self)
            for i, group in enumerate(groups)
        ]
        for face, group in zip(self.faces, groups, strict=True):
            for column in group[len(face.columns) :]:
                if self.done:
                    return
                face.widen(column)
                face.search()
                self.bound()

    @property
    def done(self) -> bool:
        """Whether nothing is left to do."""
        best = self.problem.best
        return (
            self.problem.spent
            or self.problem.floor == math.inf
            or (best is not None and self.problem.floor >= best.loss - self.problem.slack)
        )


def _entropy(rows: FloatArray | np.ndarray) -> float:
    p = rows[rows > 0] / max(rows.sum(), 1)
    return float(-(p * np.log2(p)).sum())
