"""Look at one generalization after another: a table is counted once, and each node is then scores, class sizes and verdicts.

explorer = sf.explore(table, roles, require=[sf.k_anonymity.at_least(10)], metrics=[sf.marketer_risk, sf.iloss])
node = explorer.at({"age": 2, "postal_code": 1}, suppression=0.05)
node.scores["iloss"].value, node.met, node.suppressed
explorer.under([sf.k_anonymity.at_least(5)]).at({"age": 2})     # the same counts under other limits
explorer.search(suppression=0.05).best.levels                   # where the loss is least
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
from .lattice_search import LatticeSearch, search_lattice
from .losses import Wanted
from .problem import Problem, pose, says_which


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
        """For each level of a column, the labels that its values take there, in the order of the values; None is the missing value."""
        ladder = self.problem.lattice.ladders[self._at(column)]
        rank, known = ladder.column.rank(), len(ladder.column.values)
        if rank is None:
            return list(ladder.labels)
        order = [*np.argsort(rank[:known], kind="stable"), *range(known, len(ladder.column))]
        return [
            tuple(dict.fromkeys(labels[codes[i]] for i in order))
            for labels, codes in zip(ladder.labels, ladder.codes, strict=True)
        ]

    def alone(self, column: str) -> list[int]:
        """For each level of a column, the rows whose label nobody else has: what moving its slider does by itself."""
        at = self._at(column)
        ladder, tuples = self.problem.lattice.ladders[at], self.problem.judge.rollup.tuples
        counts = np.bincount(tuples.codes[at], weights=tuples.n, minlength=len(ladder.column)).astype(np.int64)
        return [int((np.bincount(codes, weights=counts) == 1).sum()) for codes in ladder.codes]

    def together(self, column: str) -> list[int]:
        """For each level of a column, the rows that are alone on all quasi-identifiers, the others as they are."""
        at, lattice = self._at(column), self.problem.lattice
        nodes = [(*lattice.bottom[:at], h, *lattice.bottom[at + 1 :]) for h in range(lattice.shape[at])]
        return [int((self.problem.judge.rollup(node).size == 1).sum()) for node in nodes]

    def under(self, require: Sequence[Requirement]) -> Explorer:
        """The same counts under other limits, on metrics that were counted for."""
        require, counted = listed(require), {str(each) for each in self.measured}
        for each in require:
            if str(each.metric) not in counted:
                raise InputError(f"{each.metric} was not counted for; name it among the metrics of `explore`.")
        judge = replace(self.problem.judge, require=require, limit=0)
        return Explorer(replace(self.problem, judge=judge), require, self.measured)

    def search(self, *, suppression: float = 0.0, time_limit: float | None = None) -> LatticeSearch:
        """The generalization of least loss that meets what is required, and what the search saw of the lattice."""
        rows, chooses = self._most(suppression), says_which(self.require)
        judge = self._judge(rows if chooses else 0)
        loss = Wanted.read("loss").prepare(judge)
        judge = replace(judge, prices=lambda grouped: loss.price(grouped))
        problem = Problem(self.problem.lattice, judge, loss, idle=0 if chooses else rows)
        return search_lattice(problem, suppression=suppression, time_limit=time_limit)

    @property
    def measured(self) -> tuple[Metric, ...]:
        """Every metric that a node is measured by: those that something is required of first."""
        return tuple(dict.fromkeys([*(r.metric for r in self.require), *self.metrics]))

    def _most(self, suppression: float) -> int:
        if not 0 <= suppression <= 1:
            raise InputError("suppression must be a share of the rows between 0 and 1.")
        return int(suppression * self.rows + 1e-9)

    def at(self, levels: Mapping[str, int] | None = None, *, suppression: float = 0.0) -> ExploredNode:
        """A node, a column that is not named as it is; classes that miss a requirement are left out, up to this share of the rows.

        Where more would have to go, nothing is left out, and the verdicts say what is missed.
        """
        limit, lattice = self._most(suppression), self.problem.lattice
        node = lattice.read({**lattice.name(lattice.bottom), **(levels or {})})
        judge = self._judge(limit)
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
        for asked in self.measured:
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
