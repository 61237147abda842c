"""Where no node is feasible: which requirement stands in the way, and the nearest that can be met."""

from __future__ import annotations

import dataclasses
import itertools
import math

from ..core.metric import Requirement
from .judge import Judge
from .lattice import Levels
from .problem import Problem

_LOOK = 3_000
"""Nodes that are looked at for advice, the most general ones first."""


def nearest(problem: Problem, *, proved: bool, suppression: float) -> str:
    """One paragraph for the owner."""
    judge, lattice = problem.judge, problem.lattice
    asked = " and ".join(map(str, judge.require))
    share = f" with at most {100 * suppression:.3g}% of the rows suppressed" if judge.limit else ""
    if not proved:
        return (
            f"No generalization that meets {asked}{share} was found among {problem.checked:,} of {lattice.nodes:,} nodes "
            "before the search was stopped; give it more time."
        )
    parts = [f"No generalization meets {asked}{share}."]
    nodes = _general(problem)
    for requirement in judge.require:
        reached = _best(judge, requirement, nodes)
        with_ = " with the others met" if len(judge.require) > 1 else ""
        if reached is None:
            continue
        value, levels = reached
        if requirement.holds(value) or not math.isfinite(value):
            continue
        # rounded so that it can be met as printed
        better = dataclasses.replace(
            requirement, bound=sign(requirement) * math.floor(sign(requirement) * value * 1e6) / 1e6
        )
        where = "everything suppressed to *" if levels == lattice.top else _spell(problem, levels)
        parts.append(f"The nearest{with_} is {better}, at {where}.")
    if (fewest := _fewest(judge, nodes)) is not None:
        rows, levels = fewest
        percent = math.ceil(1000 * rows / judge.rollup.rows) / 10  # rounded so that it does as printed
        parts.append(f"Suppressing {percent:g}% of the rows would do at {_spell(problem, levels)}.")
    return " ".join(parts)


def sign(requirement: Requirement) -> float:
    """1 where more is better, else -1."""
    return 1.0 if requirement.sign == ">=" else -1.0


def _spell(problem: Problem, levels: Levels) -> str:
    return "levels " + ", ".join(f"{name} {level}" for name, level in problem.lattice.name(levels).items())


def _general(problem: Problem) -> list[Levels]:
    """The most general nodes, down to so many of them."""
    lattice = problem.lattice
    if lattice.nodes <= _LOOK:
        every = itertools.product(*map(range, lattice.shape))
        return sorted(every, key=lambda node: (-sum(node), node))
    found, row = {lattice.top: None}, [lattice.top]
    while row and len(found) < _LOOK:
        below = [(*node[:i], node[i] - 1, *node[i + 1 :]) for node in row for i in range(len(node)) if node[i] > 0]
        row = [node for node in dict.fromkeys(below) if node not in found]
        found.update(dict.fromkeys(row))
    return list(found)[:_LOOK]


def _best(judge: Judge, requirement: Requirement, nodes: list[Levels]) -> tuple[float, Levels] | None:
    """The best value of a requirement's metric where all others are met, and where."""
    others = Judge(
        judge.rollup,
        judge.roles,
        tuple(r for r in judge.require if r is not requirement),
        judge.limit,
        judge.original,
        judge.population,
        judge.paired,
    )
    found: tuple[float, Levels] | None = None
    for node in nodes:
        verdict = others.whole(others(judge.rollup(node)))
        if not verdict.feasible:
            continue
        value = float(requirement.metric.score(judge.evidence(verdict.grouped, verdict.kept)).value)
        if found is None or sign(requirement) * value > sign(requirement) * found[0]:
            found = (value, node)
        if node == nodes[0] and requirement.metric.card.monotone and not judge.limit and math.isfinite(value):
            break  # nothing is better than the most general node of all, if that meets the others
    return found


def _fewest(judge: Judge, nodes: list[Levels]) -> tuple[int, Levels] | None:
    """The fewest rows that would have to be suppressed for everything to be met, if any would do, and where."""
    if all(r in judge.on_table for r in judge.require):
        return None
    free = dataclasses.replace(judge, limit=judge.rollup.rows)
    verdicts = (free.whole(free(judge.rollup(node))) for node in nodes)
    return min(((v.suppressed, v.grouped.levels) for v in verdicts if v.feasible), default=None)
