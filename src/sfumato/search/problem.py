"""A search problem over one counted table: nodes are judged once, and the best is kept by a stated rule.

**Ties.** Of nodes with the same loss (to one part in 10^9) the one with the smaller sum of levels is best, then the one
whose levels, in the order of the quasi-identifiers, come first.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import field
from typing import Literal

from ..core.counted_table import CountedTable
from ..core.errors import InputError
from ..core.metric import Metric, Requirement, check_counted
from ..core.noun import dataclass
from ..core.parameter import Words
from ..core.people import check_linking, nobodys, one_row_a_person, one_row_each
from ..core.roles import Roles
from ..core.table import Table
from .judge import Judge, NodeVerdict
from .lattice import Lattice, Levels
from .losses import Loss, Wanted
from .required_columns import sensitive_columns
from .rollup import Rollup
from .row_owners import row_owners

TIE = 1e-9
"""Losses nearer than this, by their size, are the same."""
LARGEST_LINKED = 100_000
"""Nodes that are searched at most where the rows of a person stay joined: a bound from some of the columns is not known there."""
MANY = 300_000
"""Tuples that are worth holding so that a release can be made of them."""


@dataclass(frozen=True, eq=False)
class Best:
    """The best node so far."""

    verdict: NodeVerdict
    loss: float

    @property
    def levels(self) -> Levels:
        """Its levels."""
        return self.verdict.grouped.levels

    @property
    def rank(self) -> tuple[int, Levels]:
        """Its place among nodes of the same loss."""
        return sum(self.levels), self.levels


@dataclass(eq=False)
class Problem:
    """What is asked of which table. `check` judges a node and remembers the best."""

    lattice: Lattice
    judge: Judge
    loss: Loss
    best: Best | None = None
    checked: int = 0
    least: tuple[float, NodeVerdict] | None = None
    """The judged node that misses by the fewest rows, for advice where none is feasible."""
    deadline: float | None = None
    most: int | None = None
    work: float = math.inf
    """Cells after which the present part of a search ends."""
    floor: float = -math.inf
    """No node that was not judged costs less than this."""
    watch: Callable[[Problem, float | None], None] | None = None
    ground: float = -math.inf
    """No node costs less than this, by its levels alone."""
    doubt: float = math.inf
    """Nodes of which it is in doubt which classes to leave out cost no less than this, whatever the choice."""
    doubtful: dict[Requirement, None] = field(default_factory=dict)
    """The requirements that leave it in doubt."""
    judged: dict[Levels, bool] | None = None
    """Whether each node that was judged is feasible, where somebody wants to draw the search."""
    idle: int = 0
    """Rows that might be left out, and are not, since no requirement says which."""

    @property
    def stopped_by(self) -> Literal["time", "checks"] | None:
        """Which limit a search that is not done has reached; none, if all its work is done."""
        if self.most is not None and self.checked >= self.most:
            return "checks"
        return "time" if self.deadline is not None and time.monotonic() > self.deadline else None

    def learn(self, verdict: NodeVerdict) -> None:
        """Remember what a verdict leaves in doubt."""
        doubtful = verdict.doubtful or (verdict.missed if self.idle else ())
        if doubtful:
            self.doubtful |= dict.fromkeys(doubtful)
            if self.doubt > -math.inf:
                self.doubt = min(self.doubt, -math.inf if self.idle else self.loss.spared(verdict))

    def settled(self, loss: float) -> bool:
        """Whether no choice of the classes to leave out that was in doubt can cost less than this."""
        return max(self.doubt, self.ground) >= loss - (self.slack if math.isfinite(loss) else 0.0)

    @property
    def why(self) -> str:
        """Why the rows to leave out are in doubt, to stand after `not proved:`."""
        named = " and ".join(map(str, self.doubtful))
        if self.idle:
            return (
                f"{named} {_verb(self.doubtful, 'is', 'are')} about the whole table, and no class was left out for "
                f"{_verb(self.doubtful, 'it', 'them')}, though {self.idle:,} rows might be"
            )
        return (
            f"which classes to leave out for {named} was decided by a rule (those that miss it, or cost a mean most, go), and "
            "another choice of rows might lose less"
        )

    def check(self, levels: Levels) -> NodeVerdict:
        """Judge a node, and keep it if it is the best."""
        return self.look(levels)[0]

    def look(self, levels: Levels, *, whole: bool = False) -> tuple[NodeVerdict, float]:
        """Judge a node, keep it if it is the best, and say what it costs: infinity where it is not feasible.

        What is asked of the whole table costs most, so it is asked last and of no node that is worse than the best, unless `whole`.
        """
        verdict = self.judge(self.judge.rollup(levels))
        self.checked += 1
        loss = self.loss.value(verdict) if verdict.feasible else math.inf
        promising = verdict.feasible and (self.best is None or self.better(loss, (sum(levels), levels)))
        if promising or whole or self.judge.telling or self.judged is not None:
            judged, verdict = verdict, self.judge.whole(verdict)
            if verdict.feasible and verdict.suppressed != judged.suppressed:
                loss = self.loss.value(verdict)
            promising = promising and (self.best is None or self.better(loss, (sum(levels), levels)))
        self.learn(verdict)
        if self.judged is not None:
            self.judged[levels] = verdict.feasible
        if promising and verdict.feasible:
            self.best = Best(verdict, loss)
        elif not verdict.feasible and (self.least is None or verdict.suppressed < self.least[0]):
            self.least = (verdict.suppressed, verdict)
        return verdict, loss if verdict.feasible else math.inf

    def better(self, loss: float, rank: tuple[int, Levels]) -> bool:
        """Whether a loss at this place beats the best: it is smaller, or as small and earlier."""
        assert self.best is not None
        slack = self.slack
        return loss < self.best.loss - slack or (loss <= self.best.loss + slack and rank < self.best.rank)

    @property
    def slack(self) -> float:
        """How near losses are the same."""
        if self.best is None:
            return TIE
        return TIE * max(1.0, abs(self.best.loss)) if math.isfinite(self.best.loss) else 0.0

    @property
    def spent(self) -> bool:
        """Whether the time, the checks or the work are used up."""
        return self.stopped_by is not None or self.judge.rollup.work >= self.work


def says_which(require: Sequence[Requirement]) -> bool:
    """Whether a requirement says which rows to leave out: one that is about the whole table, and is no mean, does not."""
    return any(r.metric.card.scope != "table" or r.metric.card.costs is not None for r in require)


def check_limits(time_limit: float | None, max_checks: int | None) -> None:
    """Refuse limits under which nothing can be searched."""
    if time_limit is not None and not time_limit > 0:
        raise InputError("The time limit must be above 0 seconds.")
    if max_checks is not None and max_checks < 1:
        raise InputError("At least one node must be checked.")


def _verb(some: Collection[Requirement], one: str, several: str) -> str:
    return one if len(some) == 1 else several


def pose(
    table: Table,
    roles: Roles,
    *,
    require: Sequence[Requirement],
    minimise: str,
    suppression: float,
    population: Table | None = None,
    also: Sequence[Metric] = (),
    to_release: bool = False,
    links: bool = False,
) -> Problem:
    """Count the table once and set the problem up.

    `links`: the rows of a person can stay joined, if the roles say so. `also` are metrics that will be asked of its nodes besides. `to_release`: all that is released is counted along, where
    that is not too much, so that the release is made of counts and no row is read again.
    """
    roles.check_quasi()
    if not 0 <= suppression <= 1:
        raise InputError("suppression must be a share of the rows between 0 and 1.")
    table = one_row_a_person(table, roles)
    roles.check(table.columns, where=table.name, need=("identifiers", "quasi", "sensitive", "insensitive"))
    check_linking(table, roles, "the search", links=links)
    if roles.linked and population is not None:
        raise InputError(
            "The search does not count whom of a population linked people cover; leave the population out."
        )
    one_row_each(table, roles, "the search", counts_people=True)
    check_counted(require, roles, "the search")
    wanted = Wanted.read(minimise)
    metrics = [*(r.metric for r in require), *wanted.metrics, *also]
    split = sensitive_columns(metrics, roles)
    person = (str(roles.owner),) if roles.counts_people else ()
    by = (*roles.quasi, *split, *_others(metrics, roles, table, split), *person)
    rest = [c for c in (*roles.sensitive, *roles.insensitive) if c not in by]
    counts = table.count_within(by, rest, MANY) if to_release and rest else table.count(by)
    if not counts.rows:
        raise InputError(f"{table.name} has no rows.")
    lattice = Lattice.of(counts, roles)
    joined = str(roles.person) if roles.linked else None
    rollup = Rollup(counts, lattice, split, row_owners(counts, roles, apart=True)[1], joined=joined)
    if rollup.person is not None:
        if rollup.person.has_missing:
            raise InputError(nobodys(table, int(counts.margin(str(joined))[-1]), str(joined)))
        if lattice.nodes > LARGEST_LINKED:
            raise InputError(
                f"{table.name}: {lattice.nodes:,} generalizations are more than are searched where rows of a person stay joined "
                f"({LARGEST_LINKED:,}); give the hierarchies fewer levels."
            )
    rows = int(suppression * counts.rows + 1e-9)
    chooses = says_which(require)
    judge = Judge(
        rollup,
        roles,
        tuple(require),
        rows if chooses else 0,
        CountedTable(counts, name=table.name),
        population,
        paired=any("pairs" in m.card.needs for m in metrics),
        prices=lambda grouped: loss.price(grouped),
    )
    loss = wanted.prepare(judge)
    return Problem(lattice, judge, loss, idle=0 if chooses else rows)


def _others(metrics: Sequence[Metric], roles: Roles, table: Table, split: tuple[str, ...]) -> tuple[str, ...]:
    """Columns that a metric on the whole table may look at besides: those it names, and the guarding nodes."""
    others: dict[str, None] = {}
    for wanted in metrics:
        if wanted.card.scope == "class":
            continue
        named = [
            name
            for key, kind in wanted.card.parameters.items()
            if isinstance(kind, Words)
            for name in wanted.arguments[key] or ()
        ]
        named += [name for name in (roles.guarding, *roles.sensitive) if name is not None]
        for name in named:
            if name in table.columns and name not in (*roles.quasi, *split):
                others[name] = None
    return tuple(others)
