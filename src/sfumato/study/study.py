"""Run candidates, score them, and say which to take and why."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from .. import metrics
from ..core.errors import Infeasible, InputError
from ..core.mechanism import Mechanism
from ..core.metric import Metric, Requirement, Verdict, listed
from ..core.noun import dataclass
from ..core.people import one_row_each
from ..core.progress_line import progress_line
from ..core.release import Release
from ..core.roles import Roles
from ..core.source import as_table
from ..core.table import Table
from ..inspect.default_metrics import wp29
from ..mechanisms.mondrian import Mondrian
from ..metrics.privacy.distinct_l_diversity import distinct_l_diversity
from ..metrics.privacy.prosecutor_risk import prosecutor_risk
from ..metrics.privacy.t_closeness import t_closeness
from ..profile.free_columns import FreeColumns
from ..profile.free_release import free_of_table
from ..publishing.waivers import Waivers, check_waivers
from .candidate import Candidate, grid
from .context import WP29, Context
from .events import Listener
from .point import Measurement, Point
from .result import Result, number, scores_dict
from .runner import Bench, run
from .score_store import Kept
from .stopping import Stop
from .telling import Telling, counting, drawn
from .usefulness import BY_USE, beside

__all__ = ["Candidate", "Point", "Result", "Study", "grid", "number", "scores_dict"]

RISK, UTILITY = str(prosecutor_risk), str(BY_USE)
_DAY = re.compile(r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])")
ROUNDS = 4
"""How often a study looks around what it would recommend, unless told otherwise."""
GRID = tuple(f"{Mondrian.card.name} k={k}" for k in (2, 3, 5, 10, 20, 50, 100))
_EQUAL = t_closeness.set(ground="equal")
SPLIT_GRID = tuple(
    f"{Mondrian.card.name} k=5 require='{requirement}'"
    for requirement in (distinct_l_diversity.at_least(3), _EQUAL.at_most(0.4), _EQUAL.at_most(0.2))
)


def _candidate(given: Any) -> Candidate:
    """A candidate, also from its text or its mechanism."""
    if isinstance(given, str):
        return Candidate.of(given)
    if isinstance(given, Mechanism):
        return Candidate.by(given)
    if not isinstance(given, Candidate):
        raise InputError(
            f"A study takes candidates, as 'mondrian k=5' or sf.Mondrian(k=5); {type(given).__name__} is none."
        )
    return given


@dataclass(frozen=True, eq=False)
class Study:
    """Candidates for the release of a table, the two axes to see them on, and what is required of the one to take."""

    table: Table
    roles: Roles
    candidates: tuple[Candidate, ...] = ()
    risk: Metric = field(default_factory=lambda: metrics.metric(RISK))
    utility: Metric = field(default_factory=lambda: metrics.metric(UTILITY))
    require: tuple[Requirement, ...] = ()
    measures: tuple[Metric, ...] | None = None
    """What is measured besides the axes and the requirements; None for everything that can be asked."""
    maps: tuple[tuple[Metric, Metric], ...] = ()
    """More maps to draw, each a privacy and a utility metric: for candidates that the first cannot place."""
    population: Table | None = None
    context: Context | None = None
    """To whom it is released and how bad a disclosure would be, where requirements come from that."""
    title: str | None = None
    checks: Mapping[str, Any] = field(default_factory=dict)
    """What the audit of the recommended release is asked besides what it finds: totals, rules, aggregates."""
    arguments: tuple[str, ...] = ()
    """How the table is read, as the command line writes it; for the commands in the report."""
    waive: Waivers = field(default_factory=dict)
    """Columns that may go out although something was found in them, each with the owner's reason."""
    purpose: str | None = None
    """What the recipients will use it for, in the owner's words."""
    date: str | None = None
    """The day of the decision (YYYY-MM-DD), which the owner gives: documents know no other, so their bytes do not depend on the day."""
    accept: Mapping[str, str] = field(default_factory=dict)
    """Why open points of the decision are accepted, each by its key."""

    def _about(self) -> list[str]:
        return [f"{len(self.candidates)} candidates", f"{len(self.require)} requirements"]

    def __post_init__(self) -> None:
        object.__setattr__(self, "table", as_table(self.table, self.roles))
        if (
            self.population is not None
            and self.roles.row_choice is not None
            and self.roles.row_choice.fits(self.population)
        ):
            object.__setattr__(self, "population", as_table(self.population, self.roles))
        object.__setattr__(self, "require", listed(self.require))
        if self.waive:
            object.__setattr__(self, "waive", check_waivers(self.waive, self.table.columns, where="waive"))
        for key, reason in self.accept.items():
            if not isinstance(reason, str) or not reason.strip():
                raise InputError(f"accept: say why {key!r} is accepted; the reason stands on the decision sheet.")
        if self.accept:
            from .decision import check_accepted

            check_accepted(self.accept, self.roles)
        if self.date is not None and not _DAY.fullmatch(self.date):
            raise InputError(f"date: {self.date!r} is no day; write it as YYYY-MM-DD.")
        if self.context is not None:
            self.context.check(self.roles)
        for risk, utility in ((self.risk, self.utility), *self.maps):
            risk.check_complete()
            utility.check_complete()
            if risk.card.about != "privacy" or utility.card.about != "utility":
                raise InputError(
                    f"The map needs a privacy metric for risk and a utility metric for utility; {risk} is about {risk.card.about} and "
                    f"{utility} is about {utility.card.about}."
                )
        object.__setattr__(self, "candidates", tuple(map(_candidate, self.candidates)))
        if not self.candidates:
            texts = (*GRID, *(SPLIT_GRID if self.roles.sensitive else ()))
            object.__setattr__(self, "candidates", grid(texts))

    @property
    def decisive(self) -> tuple[Metric, ...]:
        """What must be known of a candidate to decide: the axes, what stands beside its utility, and the requirements."""
        return tuple(dict.fromkeys([self.risk, self.utility, *beside(self.utility), *(r.metric for r in self.require)]))

    @property
    def asked(self) -> tuple[Metric, ...]:
        """Everything that was asked for by name."""
        more = [axis for pair in self.maps for axis in pair]
        return tuple(dict.fromkeys([*self.decisive, *more, *(self.measures or ()), *self._guided]))

    @cached_property
    def _guided(self) -> tuple[Metric, ...]:
        """What the guidance of the context wants measured besides its limits."""
        if self.context is None or self.context.preset != WP29:
            return ()
        return wp29(self.roles, self.table)

    @cached_property
    def free(self) -> FreeColumns:
        """The columns that go out as they are whichever candidate is taken, and what they give away."""
        return free_of_table(self.table, self.roles, self.waive)

    def bench(self, seed: int | None) -> Bench:
        """What makes and measures its candidates."""
        return Bench(self.table, self.roles, seed, self.population)

    def run(
        self,
        *,
        seed: int | None = None,
        cache: Path | None = None,
        workers: int = 1,
        refine: int = ROUNDS,
        progress: Callable[[int, str], None] | bool | None = None,
        listen: Listener | None = None,
        time_limit: float | None = None,
        catch: bool = False,
    ) -> Result:
        """Make and measure every candidate; one that cannot be made stays in the result with its reason.

        `cache` is a folder where scores are kept by content: an interrupted study goes on where it stopped, and a candidate or
        a metric that is added later costs itself alone. `refine` looks at most so many times around what it would recommend, with
        the same mechanisms and other parameters, for something better; what is found there joins the points. With 0 only the
        candidates given are looked at. `progress=True` shows a line of progress on standard error; a function is told how many candidates
        are done, and which is next. `listen` is told every event (study/events.py).

        `time_limit` ends the study after so many seconds by the clock, but not before a first candidate is measured; `catch` lets Ctrl-C do
        the same. The result then holds what was measured by then and says that it was cut.
        """
        with progress_line("study", progress) as line:
            shown = [] if line is None else [drawn(line) if progress is True else counting(line)]
            telling = Telling(self, [*shown, *([] if listen is None else [listen])], workers)
            telling.begin()
            return self._run(seed, cache, workers, refine, telling, Stop(time_limit, catch=catch))

    def _run(
        self, seed: int | None, cache: Path | None, workers: int, refine: int, telling: Telling, stop: Stop
    ) -> Result:
        self.roles.check(self.table.columns, where=self.table.name)
        one_row_each(self.table, self.roles, "a study", counts_people=True)
        kept, bench = Kept(cache), self.bench(seed)
        wanted = None if self.measures is None else list(self.asked)
        told = telling.of(self.candidates)
        telling.stage("candidates")
        came = run(bench, self.candidates, wanted, self.asked, kept=kept, workers=workers, told=told, stop=stop)
        measured = [(c, m) for c, m in zip(self.candidates, came, strict=True) if m is not None]
        points = [self.point(c, m) for c, m in measured]
        if all(point.failure for point in points):
            if not any(
                each.lasting for _, each in measured
            ):  # nothing fits, so it is the table or what is asked that does not
                raise InputError(str(points[0].failure))
            raise Infeasible(f"No candidate could be made. The first failed with: {points[0].failure}")
        result = Result(self, tuple(points), seed, cache=cache)
        if refine:
            from .refinement import refined

            result = refined(result, rounds=refine, kept=kept, workers=workers, telling=telling, stop=stop)
        telling.end(stop.cut)
        tally = telling.tally
        return replace(result, cut=stop.cut, limit=stop.limit, tried=tally.done, planned=tally.total)

    def point(self, candidate: Candidate, found: Measurement, *, looked_for: bool = False) -> Point:
        """A candidate with what was measured of it, held against the requirements."""
        verdicts: list[Verdict] = []
        unknown: dict[str, str] = {}
        failure = found.failure
        for requirement in self.require if failure is None else ():
            score = found.scores.get(str(requirement.metric))
            if score is None:
                unknown[str(requirement)] = found.skipped.get(str(requirement.metric), "It was not measured.")
            else:
                verdicts.append(Verdict(requirement, score[1]))
        return Point(
            candidate,
            found.scores,
            found.skipped,
            tuple(verdicts),
            unknown,
            found.release,
            found.seconds,
            failure,
            found.rows,
            looked_for,
        )

    def release(self, candidate: Candidate, seed: int | None = None) -> Release:
        """A candidate's release, made (again)."""
        return self.bench(seed).release(candidate)
