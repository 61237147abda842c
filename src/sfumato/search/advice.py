"""Where no node is feasible: which requirement stands in the way, and the nearest that can be met.

A looser limit leaves more classes, and what is left is judged against its own distribution: so a looser limit may cost more
rows than a stricter one, and the nearest is found at each node by loosening the limit until the next class passes.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from dataclasses import field

import numpy as np

from ..core.column import FloatArray
from ..core.cover import BoolArray
from ..core.metric import Requirement
from ..core.noun import dataclass
from .judge import Judge, _Demand
from .lattice import Levels
from .problem import Problem
from .rollup import Grouped

_LOOK = 3_000
"""Nodes that are looked at for advice, the most general ones first."""
_STEPS = 200
"""Limits that are tried at a node."""


def nearest(problem: Problem, *, proved: bool, suppression: float) -> str:
    """One paragraph for the owner."""
    judge, lattice = problem.judge, problem.lattice
    required = " and ".join(map(str, judge.require))
    share = f" with at most {100 * suppression:.3g}% of the rows suppressed" if judge.limit or problem.idle else ""
    if not proved:
        return (
            f"No generalization that meets {required}{share} was found among {problem.checked:,} of {lattice.nodes:,} nodes "
            "before the search was stopped; give it more time."
        )
    parts = [f"No generalization meets {required}{share}."]
    if problem.doubtful:
        parts = [f"No generalization that meets {required}{share} was found. That is not proved: {problem.why}."]
    nodes = _general(problem)
    for requirement in judge.require:
        reached = _best(judge, requirement, nodes, every=len(nodes) == lattice.nodes)
        with_ = " with the others met" if len(judge.require) > 1 else ""
        if reached is None:
            continue
        value, levels, settled = reached
        if requirement.holds(value) or not math.isfinite(value):
            continue
        # rounded so that it can be met as printed
        better = dataclasses.replace(
            requirement, bound=sign(requirement) * math.floor(sign(requirement) * value * 1e6) / 1e6
        )
        if not _asking(judge, requirement, better).meets(judge.rollup(levels)):
            better = dataclasses.replace(requirement, bound=value)
        where = "everything suppressed to *" if levels == lattice.top else _named_levels(problem, levels)
        what = (
            "The nearest" if settled and (len(nodes) == lattice.nodes or levels == lattice.top) else "What can be met"
        )
        parts.append(f"{what}{with_} is {better}, at {where}.")
    if (fewest := _fewest(judge, nodes)) is not None:
        rows, levels = fewest
        percent = math.ceil(1000 * rows / judge.rollup.rows) / 10  # rounded so that it does as printed
        parts.append(f"Suppressing {percent:g}% of the rows would do at {_named_levels(problem, levels)}.")
    return " ".join(parts)


def sign(requirement: Requirement) -> float:
    """1 where more is better, else -1."""
    return 1.0 if requirement.sign == ">=" else -1.0


def _named_levels(problem: Problem, levels: Levels) -> str:
    return "levels " + ", ".join(f"{name} {level}" for name, level in problem.lattice.name(levels).items())


def _general(problem: Problem) -> list[Levels]:
    """The most general nodes, down to so many of them."""
    lattice = problem.lattice
    if lattice.nodes <= _LOOK:
        every = itertools.product(*map(range, lattice.shape))
        return sorted(every, key=lambda node: (-sum(node), node))
    nodes, row = {lattice.top: None}, [lattice.top]
    while row and len(nodes) < _LOOK:
        below = [(*node[:i], node[i] - 1, *node[i + 1 :]) for node in row for i in range(len(node)) if node[i] > 0]
        row = [node for node in dict.fromkeys(below) if node not in nodes]
        nodes.update(dict.fromkeys(row))
    return list(nodes)[:_LOOK]


@dataclass(frozen=True, eq=False)
class _Asking(Judge):
    """A judge that remembers what the classes reached of one requirement."""

    about: Requirement | None = None
    seen: list[FloatArray] = field(default_factory=list, init=False)

    def _values(self, demand: _Demand, grouped: Grouped, kept: BoolArray, *, left: bool = False) -> FloatArray:
        values = super()._values(demand, grouped, kept, left=left)
        if demand.requirement is self.about:
            self.seen.append(values)
        return values

    def meets(self, grouped: Grouped) -> bool:
        """Whether a node is feasible."""
        return self.whole(self(grouped)).feasible


def _asking(judge: Judge, requirement: Requirement, instead: Requirement | None) -> _Asking:
    """The same judge with another limit in the place of one, or without it."""
    require = [instead if r is requirement else r for r in judge.require]
    made = _Asking(
        judge.rollup,
        judge.roles,
        tuple(r for r in require if r is not None),
        judge.limit,
        judge.original,
        judge.population,
        judge.paired,
        about=instead,
    )
    made.__dict__["attributes"] = judge.attributes
    return made


def _best(
    judge: Judge, requirement: Requirement, nodes: list[Levels], *, every: bool
) -> tuple[float, Levels, bool] | None:
    """The nearest limit that can be met with all others, where, and whether it is proved that none is nearer.

    `every`: these are all the nodes there are.
    """
    best: tuple[float, Levels] | None = None
    settled, on_classes = every, requirement.metric.card.scope == "class"
    chosen = not on_classes and (
        requirement.metric.card.scope == "classes" or requirement.metric.card.costs is not None
    )
    settled &= not (judge.limit and chosen)  # another choice of classes to leave out might come nearer
    others = _asking(judge, requirement, None)
    for node in nodes:
        grouped = judge.rollup(node)
        if on_classes and judge.limit:
            value, known = _loosened(judge, requirement, grouped, None if best is None else best[0])
            settled &= known
        else:  # what is suppressed does not depend on this limit
            verdict = others.whole(others(grouped))
            feasible = verdict.feasible
            value = float(requirement.metric.score(judge.evidence(grouped, verdict.kept)).value) if feasible else None
        if value is not None and (best is None or sign(requirement) * value > sign(requirement) * best[0]):
            best = (value, node)
        if node != nodes[0] or value is None or judge.limit or not math.isfinite(value):
            continue
        if requirement.metric.card.monotone:
            settled = True
            break  # nothing is better than the most general node of all, if that meets the others
    return None if best is None else (*best, settled)


def _loosened(
    judge: Judge, requirement: Requirement, grouped: Grouped, beat: float | None
) -> tuple[float | None, bool]:
    """The nearest limit of a requirement on classes that a node can meet and that is nearer than `beat`; whether that is sure.

    Between two limits that divide the same classes the judgement is the same, so after a miss the next to be tried is the
    nearest value of a class that failed.
    """
    up = sign(requirement)
    bound = requirement.bound
    every = np.ones(len(grouped), dtype=bool)
    loosened = _asking(judge, requirement, requirement)
    for demand in loosened.demands:
        if demand.requirement is requirement:  # so many rows miss it at once, whatever becomes of the rest
            values = up * loosened._values(demand, grouped, every)
            order = np.argsort(values, kind="stable")
            at = int(np.searchsorted(np.cumsum(grouped.size[order]), judge.limit, side="right"))
            if at < len(order):
                bound = up * min(up * bound, float(values[order[at]]))
    for _ in range(_STEPS):
        if not math.isfinite(bound) or (beat is not None and up * bound <= up * beat):
            return None, True
        loosened = _asking(judge, requirement, dataclasses.replace(requirement, bound=bound))
        if loosened.meets(grouped):
            return bound, True
        assert loosened.about is not None
        values = np.concatenate([np.zeros(0), *loosened.seen])
        failed = values[~np.asarray(loosened.about.passes(values)) & np.isfinite(values)]
        if not len(failed):
            return None, True
        bound = float(up * (up * failed).max())
    return None, False


def _fewest(judge: Judge, nodes: list[Levels]) -> tuple[int, Levels] | None:
    """The fewest rows that would have to be suppressed for everything to be met, if any would do, and where."""
    if all(r.metric.card.scope == "table" and r.metric.card.costs is None for r in judge.require):
        return None
    free = dataclasses.replace(judge, limit=judge.rollup.rows, prices=None)
    verdicts = (free.whole(free(judge.rollup(node))) for node in nodes)
    return min(((v.suppressed, v.grouped.levels) for v in verdicts if v.feasible), default=None)
