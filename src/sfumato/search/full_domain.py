"""The full-domain generalization of least loss: proved, or the best found and why it is not.

Every column is generalized to one level of its hierarchy (Samarati 2001; LeFevre, DeWitt, Ramakrishnan 2005), and rows
of classes that miss a requirement are suppressed up to a limit. What prunes: requirements that cannot be met below a node
where they fail (Incognito, OLA, Flash), rows that must be suppressed below a node, and bounds on the loss.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import field
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from ..core.arrow import integers
from ..core.column import encode
from ..core.errors import Infeasible
from ..core.metric import Requirement
from ..core.noun import dataclass
from ..core.people import left_out_note, one_row_a_person
from ..core.release import Release, recoded
from ..core.roles import Roles
from ..core.survey_weights import weighed
from ..core.table import Recoding, Table
from .advice import nearest
from .judge import NodeVerdict
from .local_search import explore_wide
from .losses import Wanted
from .optimal import LARGEST, explore
from .problem import Problem, check_limits, pose

MADE_BY = "generalize_full_domain"
"""The mechanism that releases what is searched here."""
Watch = Callable[[int, float | None, float], None]
"""Told the nodes judged, the least loss found and the bound, from time to time."""


@dataclass(frozen=True, eq=False)
class OptimalNode:
    """A node, its loss, and the proof: no node costs less than `bound`.

    `status`: "optimal" if that is proved, whichever classes are left out; "rule" if all nodes were looked at, but which classes
    to leave out was decided by a rule, and another choice might cost less (`why` says for which requirement); "gap" if the
    search was stopped.
    """

    levels: dict[str, int]
    minimise: str
    loss: float
    bound: float
    suppressed: int
    rows: int
    nodes: int
    checked: int
    seconds: float
    status: Literal["optimal", "rule", "gap"]
    stopped: Literal["time", "checks", "interrupt"] | None
    loss_arithmetic: float
    loss_geometric: float
    problem: Problem = field(repr=False)
    verdict: NodeVerdict = field(repr=False)
    why: str | None = None
    """What keeps a rule from being a proof."""

    @property
    def gap(self) -> float:
        """How much less another node could cost at most; 0 if it is proved that none does."""
        return self.loss - self.bound if self.loss != self.bound else 0.0  # both may be infinite

    def release(self, table: Table, roles: Roles, *, made_by: str = MADE_BY, **more: Any) -> Release:
        """The release: the same table with the columns generalized and the suppressed rows left out."""
        return release_of(self.problem, self.verdict, table, roles, made_by=made_by, notes=(str(self),), **more)

    def __str__(self) -> str:
        levels = ", ".join(f"{name} {level}" for name, level in self.levels.items())
        if self.status == "optimal":
            proof = f"no node of the {self.nodes:,} in the lattice has less"
        elif self.status == "rule":
            proof = f"the best found of the {self.nodes:,} nodes in the lattice; not proved: {self.why}"
        else:
            proof = f"no node of the {self.nodes:,} in the lattice has less than {self.bound:.6g}"
        return f"Levels {levels}: {self.minimise} {self.loss:.6g}, {proof}; {self.suppressed:,} of {self.rows:,} rows suppressed."


def release_of(
    problem: Problem,
    verdict: NodeVerdict,
    table: Table,
    roles: Roles,
    *,
    rng: np.random.Generator | None = None,
    **more: Any,
) -> Release:
    """The release of a judged node: the same table with the columns generalized and the suppressed rows left out.

    `rng` is asked only for the numbers that join the rows of a person.
    """
    table = one_row_a_person(table, roles)
    if roles.linked:
        return _linked_release(problem, verdict, table, roles, rng, **more)
    columns = roles.released(table.columns)
    judge, (grouped, kept) = problem.judge, (verdict.grouped, verdict.kept)
    recoding = judge.recoding(grouped, kept)
    counts = judge.original.counts
    if set(columns) <= set(counts.names):  # all that is released was counted, so no row need be read again
        rows, times = judge.rows(grouped, kept, columns)
        released = table.instead(rows, times)
    else:
        released = table.keep(columns).recode(recoding)
    return weighed(
        Release(table=released, original=table, recoding=recoding, population=judge.population, **more), roles
    )


def _linked_release(
    problem: Problem,
    verdict: NodeVerdict,
    table: Table,
    roles: Roles,
    rng: np.random.Generator | None,
    *,
    notes: Sequence[str] = (),
    **more: Any,
) -> Release:
    """The same with a fresh number for each person."""
    from ..core.randomness import Chance  # numpy.random, which no other search needs

    recoding, rollup, chance = problem.judge.recoding(verdict.grouped, verdict.kept), problem.judge.rollup, Chance(rng)
    assert rollup.person is not None
    before = recoding.table.columns
    people, who = encode(rollup.person.name, before[len(recoding.by) - 1])
    number = integers(chance.numbers(len(people), rollup.person.texts)[who])
    arrays = [*before[:-1], number, before[-1]]
    names = [*(f"by{i}" for i in range(len(recoding.by))), *(f"to{i}" for i in range(len(recoding.to) + 1)), "n"]
    joined = Recoding(recoding.by, (*recoding.to, rollup.person.name), pa.Table.from_arrays(arrays, names=names))
    everyone = len(rollup.person)
    note = left_out_note(roles, verdict.suppressed, rollup.rows, everyone - len(people), everyone)
    return weighed(recoded(table, roles, joined, notes=(*notes, note, *chance.notes), **more), roles)


def optimal_generalization(
    table: Table,
    roles: Roles,
    *,
    require: Sequence[Requirement],
    minimise: str = "loss",
    suppression: float = 0.0,
    time_limit: float | None = None,
    max_checks: int | None = None,
    population: Table | None = None,
    watch: Watch | None = None,
    catch: bool = True,
    to_release: bool = False,
) -> OptimalNode:
    """The levels of least loss that meet every requirement with at most this share of the rows suppressed.

    `minimise` is a metric or a sum of metrics with factors: loss (the mean of ARX's Loss), loss_geometric, iloss,
    granularity, discernibility, average_class_size, height, non_uniform_entropy, -mutual_information, or any other.
    `max_checks` stops after so many nodes, the same on every machine; `time_limit` is in seconds. Ctrl-C returns the best
    so far, unless `catch` is False. `to_release` counts what a release needs along, so that it is made faster. Raises Infeasible if no node is feasible, or none was found in time.
    """
    check_limits(time_limit, max_checks)
    started = time.monotonic()
    problem = pose(
        table,
        roles,
        require=require,
        minimise=minimise,
        suppression=suppression,
        population=population,
        to_release=to_release,
        links=True,
    )
    problem.deadline = None if time_limit is None else started + time_limit
    problem.most = max_checks
    if watch is not None:
        problem.watch = _seldom(watch)
    return solved(problem, minimise, suppression=suppression, started=started, catch=catch)


def solved(problem: Problem, minimise: str, *, suppression: float, started: float, catch: bool = True) -> OptimalNode:
    """Search a problem that is set up: exactly where the lattice can be held, else part by part."""
    stopped: Literal["time", "checks", "interrupt"] | None = None
    try:
        proved, bound = (explore if problem.lattice.nodes <= LARGEST else explore_wide)(problem)
        if not proved:
            stopped = problem.stopped_by
    except KeyboardInterrupt:
        if not catch or problem.best is None:
            raise
        proved, bound, stopped = False, problem.floor, "interrupt"
    if problem.best is None:
        raise Infeasible(nearest(problem, proved=proved, suppression=suppression))
    best = problem.best
    settled = problem.settled(best.loss)
    done = proved or bound >= best.loss - problem.slack
    sure = min(best.loss, max(problem.doubt, problem.ground))
    plain = [Wanted.read(name).prepare(problem.judge).value(best.verdict) for name in ("loss", "loss_geometric")]
    return OptimalNode(
        levels=problem.lattice.name(best.levels),
        minimise=minimise,
        loss=best.loss,
        bound=min(best.loss if proved else min(bound, best.loss), best.loss if settled else sure),
        suppressed=best.verdict.suppressed,
        rows=problem.judge.rollup.rows,
        nodes=problem.lattice.nodes,
        checked=problem.checked,
        seconds=time.monotonic() - started,
        status="gap" if not done else "optimal" if settled else "rule",
        stopped=stopped,
        loss_arithmetic=plain[0],
        loss_geometric=plain[1],
        problem=problem,
        verdict=best.verdict,
        why=None if settled else problem.why,
    )


def _seldom(watch: Watch) -> Callable[[Problem, float | None], None]:
    """Pass progress on ten times a second at most."""
    last = -math.inf

    def report_progress(problem: Problem, bound: float | None) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last > 0.1:
            last = now
            watch(problem.checked, problem.best.loss if problem.best else None, -math.inf if bound is None else bound)

    return report_progress
