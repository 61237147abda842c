"""Lattices too large to hold: a good node by local search on the loss itself, and then the bound.

**Moves.** From `*` down: of all nodes a level up or down in one column the one that costs least, as long as it costs less.
Where none does, one column to any level, then one column up and another down; then from one column changed at random, and others
up until that is feasible (the order is seeded; nothing here protects privacy). What a node costs at least by its levels, and by the rows that those above
it must suppress, spares judging most of them.

**Stages.** The limit on suppressed rows is raised in fixed steps up to the one that is set, and each stage starts from the best
node so far. So a search with a larger limit begins with every stage of one with a smaller limit, step by step the same, and
what it finds costs no more. A limit between two steps takes the stages below it, and of all nodes judged those that meet it. Only a
better node that turns up while the bound is sought, or another choice of the classes to leave out, is no part of that.

**Work.** What may be spent is counted in cells that are read, never in seconds, so the answer does not depend on how busy a machine is.

Ties between nodes of equal loss are not looked for: the first found stays.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Iterator

from .box_bound import BoxBound, PartBounds
from .face_bound import SIZES, Faces
from .lattice import Levels
from .losses import ShareTerm
from .problem import Problem

STAGES = (0.0, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
"""The limits on suppressed rows, as shares of all, at which a search stops over."""
WORK = 4_000_000_000
"""Cells of tuples that are read in all to find a node and, where classes may go for more than their size, to bound it."""
PART = 0.4
"""The share of the work that looks for a node; the rest is for the bound."""
BOXES = 2.0
"""What boxes read, as a share of that work: they come farther with every doubling."""
GLANCE = 0.05
"""The share of the work that shows whether faces tell more than boxes."""
EASY, HARD = 1e5, 1e8
"""Nodes of a part of the columns that boxes bound at once, and of the largest that they come far with."""
KICKS = 40
"""Random starts at each stage, at most."""
ROUNDS = 200
"""Random ways down that are tried where `*` throughout is not feasible, though nodes below it may be."""


class LocalSearch:
    """The best nodes of one problem, stage by stage; what was judged is remembered."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self.top = problem, problem.lattice.top
        (factor, term), *others = problem.loss.terms
        self.factor = factor if not others and isinstance(term, ShareTerm) and term.geometric else None
        self.cost = [column.tolist() for column in (problem.loss.columns() if self.factor is None else term.cost)]
        self.known: dict[Levels, tuple[float, int, bool, float]] = {}
        """What each judged node costs, the rows it suppresses, whether it rules out all below it, and what those cost more."""
        self.limit, self.nodes = 0, math.inf
        self.random = random.Random(0)

    # --- nodes

    def base(self, levels: Levels) -> float:
        """What a node costs at least, by its levels alone."""
        total = sum(cost[level] for cost, level in zip(self.cost, levels, strict=True))
        return self.problem.loss.constant + total if self.factor is None else self.factor * math.expm1(total)

    def look(self, levels: Levels) -> tuple[float, int, bool, float]:
        """Judge a node that is not known yet."""
        if levels not in self.known:
            verdict, loss = self.problem.look(levels, whole=bool(self.problem.judge.on_table))
            penalty = 0.0 if verdict.never else self.problem.loss.penalty(verdict)
            self.known[levels] = loss, verdict.suppressed, verdict.never, penalty
            if self.problem.watch is not None:
                self.problem.watch(self.problem, self.problem.floor)
        return self.known[levels]

    def loss(self, levels: Levels) -> float:
        """What a node costs; infinity where it is not feasible at this stage."""
        loss, suppressed, _, _ = self.look(levels)
        return loss if suppressed <= self.limit else math.inf

    @property
    def spent(self) -> bool:
        """Whether this stage is over."""
        return self.problem.spent or self.problem.checked >= self.nodes

    # --- moves

    def _to(self, levels: Levels, by: int | None) -> Iterator[tuple[Levels, bool]]:
        """The nodes with one column so many levels up or down, or at any other; and whether they are below."""
        for j, level in enumerate(levels):
            for new in range(self.top[j] + 1) if by is None else (level - by, level + by):
                if new != level and 0 <= new <= self.top[j]:
                    yield (*levels[:j], new, *levels[j + 1 :]), new < level

    def cheapest(self, levels: Levels, than: float, by: int | None) -> tuple[Levels, float] | None:
        """Of the neighbours the one that costs least, if it costs less than this."""
        _, _, never, penalty = self.look(levels)
        bounded = [
            (self.base(node) + penalty * below, node) for node, below in self._to(levels, by) if not (below and never)
        ]
        best, least = None, than - self.problem.slack
        for bound, node in sorted(bounded):
            if bound >= least or self.spent:
                break
            loss = self.loss(node)
            if loss < least:
                best, least = node, loss
        return None if best is None else (best, least)

    def descend(self, levels: Levels) -> Levels:
        """From a feasible node the steepest way down to one that no neighbour beats."""
        loss = self.loss(levels)
        while not self.spent and (step := self.cheapest(levels, loss, 1) or self.cheapest(levels, loss, None)):
            levels, loss = step
        return levels

    def settle(self, levels: Levels) -> Levels:
        """From such a node, one column up and another down, as long as that finds a better one."""
        while True:
            loss, before = self.loss(levels), levels
            for node, below in sorted(self._to(levels, 1), key=lambda move: (self.base(move[0]), move[0])):
                if self.spent:
                    return levels
                if not below and (step := self.cheapest(node, loss, 1)) is not None:
                    levels = self.descend(step[0])
                    break
            if levels == before:
                return levels

    def kick(self, levels: Levels) -> Levels:
        """From a node one column changed at random, and others a level up until that is feasible."""
        changed = list(levels)
        turned = self.random.randrange(len(levels))
        changed[turned] = self.random.choice([h for h in range(self.top[turned] + 1) if h != levels[turned]] or [0])
        while not self.spent and self.loss(tuple(changed)) == math.inf:
            low = [j for j, level in enumerate(changed) if level < self.top[j]]
            if not low:
                break
            changed[self.random.choice([j for j in low if j != turned] or low)] += 1
        return tuple(changed)

    # --- stages

    def best(self) -> Levels | None:
        """Of all nodes judged the one that costs least at this stage; of equals the first."""
        losses = {levels: loss for levels, (loss, suppressed, _, _) in self.known.items() if suppressed <= self.limit}
        best = min(losses, key=losses.__getitem__, default=None)
        return None if best is None or losses[best] == math.inf else best

    def stage(self, limit: int, part: float) -> None:
        """Search with at most so many rows suppressed, until such a part of all work is done."""
        self.limit, self.problem.work, self.nodes = limit, part * WORK, part * (self.problem.most or math.inf)
        if self.loss(self.top) < math.inf:
            self.descend(self.top)
        best = self.best()
        if best is None:
            return
        best = self.settle(self.descend(best))
        for _ in range(KICKS):
            if self.spent:
                return
            node = self.kick(best)
            if self.loss(node) < math.inf:
                node = self.descend(node)
                if self.loss(node) < self.loss(best) - self.problem.slack:
                    best = self.settle(node)

    def start(self, part: float) -> None:
        """Where `*` throughout is not feasible, the first feasible node on random ways down from it."""
        self.limit, self.work, self.nodes = (
            self.problem.judge.limit,
            part * WORK,
            part * (self.problem.most or math.inf),
        )
        for _ in range(ROUNDS):
            node = self.top
            while any(node) and not self.spent:
                node = self.random.choice([node for node, below in self._to(node, 1) if below])
                loss, _, never, _ = self.look(node)
                if loss < math.inf:
                    return
                if never:
                    break

    def run(self) -> None:
        """All stages up to the limit that is set."""
        judge, rows = self.problem.judge, self.problem.judge.rollup.rows
        if self.look(self.top)[2]:
            self.problem.floor = math.inf
            return
        limits = [limit for share in STAGES if (limit := int(share * rows + 1e-9)) <= judge.limit]
        for i, limit in enumerate(limits, 1):
            if i == len(limits) and self.look(self.top)[0] == math.inf:
                self.start(PART * i / len(STAGES))
            self.stage(limit, PART * i / len(STAGES))


def explore_wide(problem: Problem) -> tuple[bool, float]:
    """Find a good node, then bound what any other can cost, until the work is done or the two meet."""
    faces = Faces(problem)
    faces.bound()
    problem.ground = problem.floor
    deadline = problem.deadline
    if deadline is not None:  # the clock is divided as the work is
        problem.deadline = deadline - (1 - PART) * max(deadline - time.monotonic(), 0.0)
    LocalSearch(problem).run()
    problem.deadline = deadline
    _bound(problem, faces)
    best = problem.best
    return problem.floor >= (math.inf if best is None else best.loss - problem.slack), problem.floor


def _bound(problem: Problem, faces: Faces) -> None:
    """By boxes where the sizes of classes tell; by faces where they do not, or where small faces already tell more."""
    rollup, boxes = problem.judge.rollup, BoxBound(problem)
    if boxes.tells:
        problem.work = rollup.work + GLANCE * WORK
        faces.divide(SIZES[0])
        ways: list[BoxBound | PartBounds] = [PartBounds(problem, parts, faces.order) for parts in _parts(problem)]
        if problem.lattice.nodes <= HARD or not ways:
            ways.append(boxes)
        work, deadline, most = rollup.work + BOXES * WORK, problem.deadline, problem.most
        for way in ways:  # the smaller the parts, the sooner their bound is there; the larger, the better it gets
            share, now = 1.0 if way is ways[-1] else 0.5, time.monotonic()
            problem.work = rollup.work + share * (work - rollup.work)
            problem.deadline = None if deadline is None else now + share * (deadline - now)
            problem.most = None if most is None else problem.checked + int(share * (most - problem.checked))
            if not faces.done:
                way.run()
        problem.deadline, problem.most = deadline, most
        if boxes.tells_all and max(way.bound for way in ways) >= problem.floor:
            return
    problem.work = rollup.work + (1 - PART) * WORK
    for size in SIZES:
        faces.divide(size)


def _parts(problem: Problem) -> list[int]:
    """Into how many parts the columns may be dealt, most first."""
    nodes = math.log(problem.lattice.nodes)
    least, most = (max(math.ceil(nodes / math.log(size)), 1) for size in (HARD, EASY))
    return list(range(min(most, len(problem.lattice.shape)), max(least, 2) - 1, -1))
