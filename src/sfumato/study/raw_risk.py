"""The risk of a raw table: who stands out on which columns, in the sample and in the population, before anything is sanitized.

    risk = sf.raw_risk(table, roles, fraction=0.1)
    risk.sets[0]              # the set of columns on which most rows are alone
    risk.suda.by_column       # which column makes rare combinations
    risk.curve                # how risk grows and the best loss falls behind as columns are added

Everything is counted once over the quasi-identifiers. No value of the table stands in the result.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..core.column import Column, IntArray
from ..core.counts import Counts
from ..core.errors import Infeasible, InputError
from ..core.noun import dataclass
from ..core.release import Release
from ..core.roles import Roles
from ..core.table import Table
from ..metrics.privacy.journalist_risk import journalist_risk
from ..metrics.privacy.k_anonymity import k_anonymity
from ..profile import kinds, words
from ..profile.combinations import MOST, SetRisk, risk_of, set_risks
from ..profile.population import PopulationUniques, population_uniques
from ..profile.suda import Suda, suda
from ..profile.suggest import why

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
class Outliers:
    """A column of numbers: values far from the others, which may name a person by themselves."""

    column: str
    far: int
    """Rows more than three scaled median deviations from the median."""
    isolated: int
    """Rows whose value is alone and further from its neighbours than 99% of the distinct values are."""


@dataclass(frozen=True)
class Question:
    """EMA's three questions for one column, with what the counts say; the owner answers."""

    column: str
    replicable: str
    distinguishable: str
    knowable: str


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


@dataclass(frozen=True, eq=False)
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
    journalist: float | None
    outliers: tuple[Outliers, ...]
    questions: tuple[Question, ...]
    curve: tuple[Step, ...]

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
            "journalist_risk": self.journalist,
            "outliers": [vars(found) for found in self.outliers],
            "questions": [vars(question) for question in self.questions],
            "curve": [vars(step) for step in self.curve],
        }


def raw_risk(
    table: Table,
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
    quasi = tuple(roles.quasi)
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
    found = suda(counts, most=min(minimal, len(quasi)), person=person)
    say(0.5, "minimal uniques")
    estimated = None
    if fraction is not None or population is not None:
        share = fraction if fraction is not None else _share(sizes, population)
        estimated = population_uniques(sizes, share)
    journalist = None
    if population is not None:
        journalist = float(journalist_risk(Release(table=table, population=population), roles).value)
    numbers = table.value_counts(quasi, 1_000_000)
    outliers = [_outliers(counted) for counted in numbers.values() if counted is not None]
    say(0.6, "curve")
    return RawRisk(
        table=table.name,
        rows=table.rows,
        people=_people_in(table, roles.person) if person else table.rows,
        quasi=quasi,
        thresholds=tuple(thresholds),
        sets=tuple(sets),
        largest=largest,
        suda=found,
        checks=tuple(_checks(sets, thresholds)),
        population=estimated,
        journalist=journalist,
        outliers=tuple(o for o in outliers if o is not None),
        questions=tuple(
            _question(counts.column(name), _kind(counts.column(name), numbers.get(name), table.rows), sets, found)
            for name in quasi
        ),
        curve=tuple(_curve(table, roles, sets, together, k, say)) if curve else (),
    )


def _share(sizes: IntArray, population: Table | None) -> float:
    return 1.0 if population is None else min(float(sizes.sum()) / max(population.rows, 1), 1.0)


def _people_in(table: Table, person: str | None) -> int:
    return len(table.count((str(person),)))


def _largest(width: int, most: int | None) -> int:
    """All sets where there are few enough, else as many columns as can be looked at."""
    size = width if most is None else min(max(most, 1), width)
    while size > 1 and sum(math.comb(width, s) for s in range(1, size + 1)) > (MOST if most is not None else 20_000):
        size -= 1
    return size


def _checks(sets: Sequence[SetRisk], thresholds: Sequence[int]) -> list[Threshold]:
    made = []
    for size in sorted({len(risk.columns) for risk in sets}):
        of_size = [risk for risk in sets if len(risk.columns) == size]
        for i, least in enumerate(thresholds):
            worst = max(of_size, key=lambda risk: risk.below[i])
            failing = sum(risk.below[i] > 0 for risk in of_size)
            made.append(Threshold(size, least, len(of_size), failing, worst.below[i], worst.columns if failing else ()))
    return made


def _outliers(counts: Counts) -> Outliers | None:
    """Far and isolated values of a column of numbers; None for another column."""
    numbers = counts.columns[0].numbers
    if numbers is None:
        return None
    value, n = numbers[counts.codes[0]], counts.n
    known = ~np.isnan(value)
    value, n = value[known], n[known]
    if len(value) < 5:
        return Outliers(counts.names[0], 0, 0)
    order = np.argsort(value)
    value, n = value[order], n[order]
    middle = _median(value, n)
    spread = 1.4826 * _median(*_sorted(np.abs(value - middle), n))
    far = int(n[np.abs(value - middle) > 3 * spread].sum()) if spread > 0 else 0
    gaps = np.diff(value)
    wide = float(np.quantile(gaps, 0.99))
    left, right = np.append(np.inf, gaps), np.append(gaps, np.inf)
    isolated = int(n[(n == 1) & (left > wide) & (right > wide)].sum())
    return Outliers(counts.names[0], far, isolated)


def _sorted(value: Any, n: IntArray) -> tuple[Any, IntArray]:
    order = np.argsort(value)
    return value[order], n[order]


def _median(value: Any, n: IntArray) -> float:
    """The lower median of values in order, each so many times."""
    return float(value[np.searchsorted(np.cumsum(n), (n.sum() + 1) // 2)])


def _kind(column: Column, counts: Counts | None, rows: int) -> str:
    """The kind that the profile sees; of a column of too many values, only whether they are dates."""
    if counts is None:
        return "date" if column.dates else ""
    missing = int(counts.n[counts.codes[0] == len(counts.columns[0].values)].sum())
    return kinds.kind(column.name, counts, (), len(counts), missing, rows).kind


def _question(column: Column, kind: str, sets: Sequence[SetRisk], found: Suda) -> Question:
    name = column.name
    concept = words.concept(name)
    alone = next((risk for risk in sets if risk.columns == (name,)), None)
    steady = column.dates or concept is not None or column.numbers is None
    replicable = (
        "likely: it stays with a person, or is recorded alike elsewhere"
        if steady
        else "check: a measured number may not come out the same twice"
    )
    told = f"{len(column):,} values"
    if alone is not None:
        told += f", {alone.alone:,} rows alone on it, {100 * alone.separation:.3g}% of pairs of rows told apart"
    told += f"; in {100 * found.by_column.get(name, 0.0):.3g}% of the minimal uniques, by score"
    return Question(name, replicable, told, why(name, kind))


def _curve(table: Table, roles: Roles, sets: Sequence[SetRisk], together: SetRisk, k: int, say: Progress) -> list[Step]:
    """Columns added one by one, each time the one that makes most rows alone; and the least loss that repairs it."""
    from ..search.full_domain import optimal_generalization

    known = {frozenset(risk.columns): risk for risk in sets}
    known.setdefault(frozenset(roles.quasi), together)
    chosen: tuple[str, ...] = ()
    steps: list[Step] = []
    rest = list(roles.quasi)
    person = roles.person
    several = person in table.columns and table.unique_rows((str(person),))[0] < table.rows
    while rest:
        tried = [(c, known[frozenset((*chosen, c))]) for c in rest if frozenset((*chosen, c)) in known]
        if not tried:
            break
        added, risk = max(tried, key=lambda one: (one[1].alone, one[1].classes, -roles.quasi.index(one[0])))
        chosen = (*chosen, added)
        rest.remove(added)
        loss, exactness = None, "exact"
        if several:  # a search counts rows, and people have several: no loss is told
            steps.append(_step(chosen, added, risk, None, "exact"))
            continue
        try:
            found = optimal_generalization(
                table, replace(roles, quasi=chosen), require=[k_anonymity.at_least(k)], suppression=0.05, time_limit=10
            )
            loss, exactness = found.loss, "exact" if found.status == "optimal" else "bound"
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
