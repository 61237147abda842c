"""The risk of a raw table: who stands out on which columns, in the sample and in the population, before anything is sanitized.

    risk = sf.raw_risk(table, roles, fraction=0.1)
    risk.sets[0]              # the set of columns on which most rows are alone
    risk.suda.by_column       # which column makes rare combinations
    risk.curve                # how risk grows and the best loss falls behind as columns are added

Everything is counted once over the quasi-identifiers. No value of the table stands in the result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..core.column import IntArray
from ..core.errors import Infeasible, InputError
from ..core.noun import dataclass
from ..core.people import several_rows
from ..core.release import Release
from ..core.roles import Roles
from ..core.source import Source, as_table
from ..core.table import Table
from ..core.words import about, counted, percent, up
from ..metrics.privacy.individual_risk import individual_risk
from ..metrics.privacy.journalist_risk import journalist_risk
from ..metrics.privacy.k_anonymity import k_anonymity
from ..metrics.privacy.population_uniqueness import alone_in_population
from ..profile.combinations import MOST, SetRisk, risk_of, set_risks
from ..profile.outliers import Outliers, outliers
from ..profile.population import PopulationUniques, population_uniques
from ..profile.subsets import largest_within
from ..profile.suda import Suda, suda
from .ema_questions import Question, kind_of, question, steady

THRESHOLDS = (3, 5, 10)
Progress = Callable[[float, str], None]


@dataclass(frozen=True)
class Threshold:
    """Combinations of so many columns against a least frequency, as statistics offices check them."""

    columns: int
    least: int
    sets: int
    failing_sets: int
    """Sets of columns with a combination that is rarer."""
    rows: int
    """Rows that have a rarer combination on the worst set."""
    worst: tuple[str, ...]


@dataclass(frozen=True)
class Step:
    """One more column known: the worst set of that size, and the least loss that brings its classes to k."""

    columns: tuple[str, ...]
    added: str
    alone: float
    """Share of rows alone on these columns."""
    risk: float
    """Mean risk of a row: classes by rows."""
    loss: float | None
    """Least loss of a full-domain generalization of these columns to k; None if none was found, or people have several rows, which the search does not count."""
    exactness: str
    """Of the loss: exact, a bound, or not searched."""


@dataclass(frozen=True)
class SurveyRisk:
    """What survey weights say of the rows: how many people they stand for, and whom one with a list of the population would find."""

    rows: int
    population: float
    expected_right: float
    largest: float

    @property
    def fraction(self) -> float:
        """The share of the population that the rows are."""
        return min(self.rows / self.population, 1.0) if self.population > 0 else 1.0

    @property
    def sentence(self) -> str:
        """Both estimates."""
        return (
            f"By their survey weights the {counted(self.rows, 'row')} stand for {self.population:,.0f} people, and an adversary with a list of the "
            f"population is expected to name {about(self.expected_right)} of them correctly (estimated; the most exposed row with a probability of "
            f"{percent(self.largest)})."
        )


@dataclass(frozen=True)
class RawRisk:
    """What an adversary could do with the table as it is."""

    table: str
    rows: int
    people: int
    quasi: tuple[str, ...]
    thresholds: tuple[int, ...]
    sets: tuple[SetRisk, ...]
    largest: int
    suda: Suda
    checks: tuple[Threshold, ...]
    population: PopulationUniques | None
    alone_in_population: int | None
    """Of the rows alone here, those that one person of the population table has; None without one."""
    journalist: float | None
    survey: SurveyRisk | None
    outliers: tuple[Outliers, ...]
    questions: tuple[Question, ...]
    curve: tuple[Step, ...]

    @property
    def sentences(self) -> list[str]:
        """What was found, in words that are true for any value."""
        sentences = [self.suda.sentence]
        if self.people < self.rows:
            sentences.append(
                f"Here {counted(self.people, 'person', 'people')} have {self.rows:,} rows: rows of a person that are alike count once, and a row "
                "is alone where nobody else has its values."
            )
        alone = self.suda.alone
        if self.alone_in_population is not None:
            there = self.alone_in_population
            sentences.append(
                f"Of {counted(alone, 'row')} alone here, {there:,} {'fits' if there == 1 else 'fit'} one person of the population table at most (counted)."
            )
        elif self.population is not None:
            sentences.append(self.population.sentence)
        if self.survey is not None:
            sentences.append(self.survey.sentence)
        if self.journalist is not None:
            sentences.append(
                f"Journalist's risk against the population table: at most {up(self.journalist)} for any row."
            )
        return sentences + [each.sentence for each in self.outliers if each.far]

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready, without any value of the table."""
        return {
            "table": self.table,
            "rows": self.rows,
            "people": self.people,
            "quasi": list(self.quasi),
            "largest_set": self.largest,
            "sets": [risk.to_dict(self.thresholds) for risk in self.sets],
            "suda": self.suda.to_dict(),
            "checks": [vars(check) for check in self.checks],
            "population": None if self.population is None else self.population.to_dict(),
            "alone_in_population": self.alone_in_population,
            "journalist_risk": self.journalist,
            "survey": None if self.survey is None else vars(self.survey),
            "outliers": [vars(outlier) for outlier in self.outliers],
            "questions": [vars(question) for question in self.questions],
            "curve": [vars(step) for step in self.curve],
            "sentences": self.sentences,
        }


def raw_risk(
    table: Source,
    roles: Roles,
    *,
    most: int | None = None,
    minimal: int = 3,
    thresholds: Sequence[int] = THRESHOLDS,
    fraction: float | None = None,
    population: Table | None = None,
    k: int = 5,
    curve: bool = True,
    progress: Progress | None = None,
) -> RawRisk:
    """Look at every set of up to `most` quasi-identifiers (all of them where that is possible), and at what follows.

    `fraction` is the share of the population that the table is a sample of; `population` a table of that population. Several rows of
    a person (the roles' person column) count once in a class. `minimal` is the size of minimal uniques; `k` what the curve asks for.
    """
    table, quasi = as_table(table, roles), tuple(roles.quasi)
    if not quasi:
        raise InputError(f"{roles.source} names no quasi-identifier; set quasi = [...].")
    roles.check(table.columns, where=table.name)
    if any(limit < 2 for limit in thresholds):
        raise InputError("A threshold is a number of rows of at least 2.")
    say = progress or (lambda share, text: None)
    person = roles.person is not None and roles.person in table.columns
    counts = table.count((*quasi, str(roles.person)) if person else quasi)
    sizes = np.bincount(counts.group(quasi)[1]).astype(np.int64) if person else counts.n
    say(0.2, "counted")
    largest = _largest(len(quasi), most)
    sets = set_risks(counts, most=largest, thresholds=thresholds, person=person)
    together = next((risk for risk in sets if len(risk.columns) == len(quasi)), None)
    if together is None:
        together = risk_of(quasi, sizes, thresholds)
    say(0.4, "sets of columns")
    uniques = suda(counts, most=min(minimal, len(quasi)), person=person)
    say(0.5, "minimal uniques")
    estimated = None
    survey = None if roles.weight is None or person else _survey(Release(table=table), roles)
    if fraction is not None or population is not None or survey is not None:
        share = fraction if fraction is not None else _share(sizes, population)
        if fraction is None and population is None and survey is not None:
            share = survey.fraction
        estimated = population_uniques(sizes, share)
    journalist, there = None, None
    if population is not None:
        release = Release(table=table, population=population)
        journalist = float(journalist_risk(release, roles).value)
        there = alone_in_population(release.evidence(roles))
    numbers = {name: values for name, values in table.value_counts(quasi).items() if len(values) <= 1_000_000}
    far = [outliers(values) for values in numbers.values()]
    say(0.6, "curve")
    return RawRisk(
        table=table.name,
        rows=table.rows,
        people=_people_in(table, roles.person) if person else table.rows,
        quasi=quasi,
        thresholds=tuple(thresholds),
        sets=tuple(sets),
        largest=largest,
        suda=uniques,
        checks=tuple(_checks(sets, thresholds)),
        population=estimated,
        alone_in_population=there,
        journalist=journalist,
        survey=survey,
        outliers=tuple(o for o in far if o is not None),
        questions=tuple(
            question(
                counts.column(name),
                kind_of(counts.column(name), numbers.get(name), table.rows),
                sets,
                uniques,
                steady(counts, name, person),
            )
            for name in quasi
        ),
        curve=tuple(_curve(table, roles, sets, together, k, say)) if curve else (),
    )


def _survey(release: Release, roles: Roles) -> SurveyRisk:
    """By the weights of the table itself."""
    score = individual_risk(release, roles)
    return SurveyRisk(
        release.table.rows,
        **{key: float(score.details[key]) for key in ("population", "expected_right")},
        largest=score.value,
    )


def _share(sizes: IntArray, population: Table | None) -> float:
    return 1.0 if population is None else min(float(sizes.sum()) / max(population.rows, 1), 1.0)


def _people_in(table: Table, person: str | None) -> int:
    return len(table.count((str(person),)))


def _largest(width: int, most: int | None) -> int:
    """All sets where there are few enough, else as many columns as can be looked at."""
    return largest_within(width, width, 20_000) if most is None else largest_within(width, max(most, 1), MOST)


def _checks(sets: Sequence[SetRisk], thresholds: Sequence[int]) -> list[Threshold]:
    made = []
    for size in sorted({len(risk.columns) for risk in sets}):
        of_size = [risk for risk in sets if len(risk.columns) == size]
        for i, least in enumerate(thresholds):
            worst = max(of_size, key=lambda risk: risk.below[i])
            failing = sum(risk.below[i] > 0 for risk in of_size)
            made.append(Threshold(size, least, len(of_size), failing, worst.below[i], worst.columns if failing else ()))
    return made


def _curve(table: Table, roles: Roles, sets: Sequence[SetRisk], together: SetRisk, k: int, say: Progress) -> list[Step]:
    """Columns added one by one, each time the one that makes most rows alone; and the least loss that repairs it."""
    from ..search.full_domain import optimal_generalization

    known = {frozenset(risk.columns): risk for risk in sets}
    known.setdefault(frozenset(roles.quasi), together)
    chosen: tuple[str, ...] = ()
    steps: list[Step] = []
    rest = list(roles.quasi)
    several = several_rows(table, roles) is not None
    while rest:
        tried = [(c, known[frozenset((*chosen, c))]) for c in rest if frozenset((*chosen, c)) in known]
        if not tried:
            break
        added, risk = max(tried, key=lambda one: (one[1].alone, one[1].classes, -roles.quasi.index(one[0])))
        chosen = (*chosen, added)
        rest.remove(added)
        loss, exactness = None, "exact"
        if several:  # a search counts rows, and people have several: no loss is told
            steps.append(_step(chosen, added, risk, None, "not searched"))
            continue
        try:
            best = optimal_generalization(
                table, replace(roles, quasi=chosen), require=[k_anonymity.at_least(k)], suppression=0.05, time_limit=10
            )
            loss, exactness = best.loss, "exact" if best.status == "optimal" else "bound"
        except Infeasible:
            pass
        steps.append(_step(chosen, added, risk, loss, exactness))
        say(0.6 + 0.4 * len(steps) / len(roles.quasi), f"{len(chosen)} columns")
    return steps


def _step(chosen: tuple[str, ...], added: str, risk: SetRisk, loss: float | None, exactness: str) -> Step:
    return Step(chosen, added, risk.alone / max(together_rows(risk), 1), risk.distinction, loss, exactness)


def together_rows(risk: SetRisk) -> int:
    """The people behind a set."""
    return round(risk.classes / risk.distinction) if risk.distinction else 0
