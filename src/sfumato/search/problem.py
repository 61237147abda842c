"""A search problem over one counted table: nodes are judged once, and the best is kept by a stated rule.

**Ties.** Of nodes with the same loss (to one part in 10^9) the one with the smaller sum of levels is best, then the one
whose levels, in the order of the quasi-identifiers, come first.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence

from ..core.asked import sensitive_columns
from ..core.counted import CountedTable
from ..core.errors import InputError
from ..core.metric import Metric, Requirement
from ..core.noun import dataclass
from ..core.parameter import Words
from ..core.people import one_row_each
from ..core.roles import Roles
from ..core.table import Table
from .judge import Judge, Verdict
from .lattice import Lattice, Levels
from .losses import Loss, Wanted
from .rollup import Rollup

TIE = 1e-9
"""Losses nearer than this, by their size, are the same."""
MANY = 300_000
"""Tuples that are worth holding so that a release can be made of them."""


@dataclass(frozen=True, eq=False)
class Best:
    """The best node so far."""

    verdict: Verdict
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
    least: tuple[float, Verdict] | None = None
    """The judged node that misses by the fewest rows, for advice where none is feasible."""
    deadline: float | None = None
    most: int | None = None
    floor: float = -math.inf
    """No node that was not judged costs less than this."""
    watch: Callable[[Problem, float | None], None] | None = None

    def check(self, levels: Levels) -> Verdict:
        """Judge a node, and keep it if it is the best."""
        verdict = self.judge(self.judge.rollup(levels))
        self.checked += 1
        loss = self.loss.value(verdict) if verdict.feasible else None
        promising = loss is not None and (self.best is None or self.better(loss, (sum(levels), levels)))
        if promising or self.judge.telling:  # what is asked of the whole table costs most, so it is asked last
            verdict = self.judge.whole(verdict)
        if promising and verdict.feasible:
            assert loss is not None
            self.best = Best(verdict, loss)
        elif not verdict.feasible and (self.least is None or verdict.suppressed < self.least[0]):
            self.least = (verdict.suppressed, verdict)
        return verdict

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
        """Whether the time or the checks are used up."""
        late = self.deadline is not None and time.monotonic() > self.deadline
        return late or (self.most is not None and self.checked >= self.most)


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
) -> Problem:
    """Count the table once and set the problem up.

    `also` are metrics that will be asked of its nodes besides. `to_release`: all that is released is counted along, where
    that is not too much, so that the release is made of counts and no row is read again.
    """
    if not roles.quasi:
        raise InputError(f"{roles.source} names no quasi-identifier; set quasi = [...].")
    if not 0 <= suppression <= 1:
        raise InputError("suppression must be a share of the rows between 0 and 1.")
    roles.check(table.columns, where=table.name, need=("identifiers", "quasi", "sensitive", "insensitive"))
    one_row_each(table, roles, "the search")
    wanted = Wanted.read(minimise)
    asked = [*(r.metric for r in require), *wanted.metrics, *also]
    split = sensitive_columns(asked, roles)
    by = (*roles.quasi, *split, *_others(asked, roles, table, split))
    rest = [c for c in (*roles.sensitive, *roles.insensitive) if c not in by]
    counts = table.count_within(by, rest, MANY) if to_release and rest else table.count(by)
    if not counts.rows:
        raise InputError(f"{table.name} has no rows.")
    lattice = Lattice.of(counts, roles)
    rollup = Rollup(counts, lattice, split)
    on_classes = any(r.metric.card.scope == "class" for r in require)
    judge = Judge(
        rollup,
        roles,
        tuple(require),
        int(suppression * counts.rows + 1e-9) if on_classes else 0,
        CountedTable(counts, name=table.name),
        population,
        paired=any("pairs" in m.card.needs for m in asked),
    )
    return Problem(lattice, judge, wanted.prepare(judge))


def _others(asked: Sequence[Metric], roles: Roles, table: Table, split: tuple[str, ...]) -> tuple[str, ...]:
    """Columns that a metric on the whole table may look at besides: those it names, and the guarding nodes."""
    found: dict[str, None] = {}
    for wanted in asked:
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
                found[name] = None
    return tuple(found)
