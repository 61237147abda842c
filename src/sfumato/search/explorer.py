"""Look at one generalization after another: a table is counted once, and each node is then scores, class sizes and verdicts.

explorer = sf.explore(table, roles, require=[sf.k_anonymity.at_least(10)], metrics=[sf.marketer_risk, sf.iloss])
node = explorer.at({"age": 2, "postal_code": 1}, suppression=0.05)
node.scores["iloss"].value, node.met, node.suppressed
node.release(table, roles)      # the release itself, to be published
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property

import numpy as np

from ..core.column import IntArray
from ..core.errors import InputError, Unavailable
from ..core.metric import Metric, Requirement, Score, Verdict, listed
from ..core.noun import dataclass
from ..core.release import Release
from ..core.roles import Roles, check_roles
from ..core.source import Source, as_table
from ..core.table import Table
from ..metrics import metric
from .full_domain import MADE_BY, release_of
from .judge import Judge, NodeVerdict
from .problem import Problem, pose


@dataclass(frozen=True, eq=False)
class ExploredNode:
    """A generalization: what it would release, and what that says."""

    levels: Mapping[str, int]
    rows: int
    """The rows that it releases."""
    suppressed: int
    class_sizes: IntArray
    """The rows of each class that is released."""
    scores: Mapping[str, Score]
    verdicts: tuple[Verdict, ...]
    unknown: Mapping[str, str]
    """What could not be measured here, and why."""
    problem: Problem = field(repr=False)
    verdict: NodeVerdict = field(repr=False)

    def _about(self) -> list[str]:
        return [*(f"{name} {level}" for name, level in self.levels.items()), f"{self.rows:,} rows"]

    @property
    def met(self) -> bool:
        """Whether it meets everything that is required."""
        return all(verdict.met for verdict in self.verdicts) and not any(
            str(verdict.requirement.metric) in self.unknown for verdict in self.verdicts
        )

    def release(self, table: Table, roles: Roles) -> Release:
        """The release itself."""
        return release_of(self.problem, self.verdict, table, roles, made_by=MADE_BY)


@dataclass(frozen=True, eq=False)
class Explorer:
    """A counted problem."""

    problem: Problem
    require: tuple[Requirement, ...]
    metrics: tuple[Metric, ...]
    _judges: dict[int, Judge] = field(default_factory=dict)

    def _about(self) -> list[str]:
        return [f"{self.nodes:,} nodes", f"{self.rows:,} rows", f"{len(self.metrics)} metrics"]

    @property
    def rows(self) -> int:
        """The rows of the table."""
        return self.problem.judge.rollup.rows

    @property
    def nodes(self) -> int:
        """How many generalizations there are."""
        return self.problem.lattice.nodes

    @cached_property
    def highest(self) -> dict[str, int]:
        """For each quasi-identifier the level at which everything is one label."""
        return self.problem.lattice.name(self.problem.lattice.top)

    def _at(self, column: str) -> int:
        names = self.problem.lattice.names
        if column not in names:
            raise InputError(f"Column {column!r} is no quasi-identifier; those are {', '.join(names)}.")
        return names.index(column)

    def labels(self, column: str) -> list[tuple[str | None, ...]]:
        """For each level of a column, the labels that its values take there; None is the missing value."""
        return list(self.problem.lattice.ladders[self._at(column)].labels)

    def alone(self, column: str) -> list[int]:
        """For each level of a column, the rows whose label nobody else has: what moving its slider does by itself."""
        at = self._at(column)
        ladder, tuples = self.problem.lattice.ladders[at], self.problem.judge.rollup.tuples
        counts = np.bincount(tuples.codes[at], weights=tuples.n, minlength=len(ladder.column)).astype(np.int64)
        return [int((np.bincount(codes, weights=counts) == 1).sum()) for codes in ladder.codes]

    def at(self, levels: Mapping[str, int] | None = None, *, suppression: float = 0.0) -> ExploredNode:
        """A node, a column that is not named as it is; classes that miss a requirement are left out, up to this share of the rows.

        Where more would have to go, nothing is left out, and the verdicts say what is missed.
        """
        if not 0 <= suppression <= 1:
            raise InputError("suppression must be a share of the rows between 0 and 1.")
        lattice = self.problem.lattice
        node = lattice.read({**lattice.name(lattice.bottom), **(levels or {})})
        judge = self._judge(int(suppression * self.rows + 1e-9))
        grouped = judge.rollup(node)
        verdict = judge.whole(judge(grouped))
        if not verdict.feasible:
            verdict = replace(verdict, kept=np.ones(len(grouped), dtype=bool), suppressed=0)
        scores, unknown = self._measured(judge, verdict)
        verdicts = [Verdict(r, scores[str(r.metric)]) for r in self.require if str(r.metric) in scores]
        size = grouped.size[verdict.kept]
        return ExploredNode(
            lattice.name(node),
            int(size.sum()),
            verdict.suppressed,
            size,
            scores,
            tuple(verdicts),
            unknown,
            self.problem,
            verdict,
        )

    def _judge(self, limit: int) -> Judge:
        if limit not in self._judges:
            self._judges[limit] = replace(self.problem.judge, limit=limit)
        return self._judges[limit]

    def _measured(self, judge: Judge, verdict: NodeVerdict) -> tuple[dict[str, Score], dict[str, str]]:
        evidence = judge.evidence(verdict.grouped, verdict.kept)
        scores: dict[str, Score] = {}
        unknown: dict[str, str] = {}
        for asked in dict.fromkeys([*(r.metric for r in self.require), *self.metrics]):
            try:
                scores[str(asked)] = asked.score(evidence)
            except Unavailable as reason:
                unknown[str(asked)] = str(reason)
        return scores, unknown


def explore(
    table: Source,
    roles: Roles,
    *,
    require: Sequence[Requirement] = (),
    metrics: Sequence[Metric | str] = (),
    population: Table | None = None,
) -> Explorer:
    """Count a table once, so that each of its full-domain generalizations can be looked at in milliseconds."""
    check_roles(roles)
    asked = tuple(metric(each) if isinstance(each, str) else each for each in metrics)
    source, require = as_table(table, roles), listed(require)
    problem = pose(
        source,
        roles,
        require=require,
        minimise="loss",
        suppression=0.0,
        population=population,
        also=asked,
        to_release=True,
    )
    return Explorer(problem, require, asked)
