"""Who stands out in a table as it is: the sizes of its classes, the worst sets of columns, the riskiest combinations."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..core.column import IntArray
from ..core.counts import Counts
from ..core.errors import SfumatoError, Unavailable
from ..core.noun import dataclass
from ..core.release import Evidence
from ..core.roles import Roles
from ..core.table import Table
from ..profile.combinations import SetRisk
from ..profile.subsets import largest_within
from .raw_risk import RawRisk, raw_risk

MASK = "▒▒▒"
"""Stands for a value that is not told."""
LEAST = (3, 5, 10)
MOST = 10
"""Records that are told of."""
WORK = 100_000_000
"""Tuples times sets of columns: beyond that, smaller sets alone are looked at."""


@dataclass(frozen=True, kw_only=True)
class ClassSizes:
    """Classes, who is alone, and the two risks that follow from the sizes of classes."""

    rows: int
    classes: int
    smallest: int
    alone: int
    """Rows in a class of one."""
    below: dict[str, int]
    """Rows in classes smaller than each of `LEAST`."""
    prosecutor: float
    marketer: float


@dataclass(frozen=True)
class RiskyCombination:
    """A record by the fewest columns on which it is alone; its values, masked unless they are asked for."""

    columns: tuple[str, ...]
    values: tuple[str, ...]
    rows: int
    ways: int
    """Minimal sets of columns on which it is alone."""
    score: float
    """By SUDA."""


@dataclass(frozen=True)
class RiskiestCombinations:
    """The records that stand out most."""

    by: str
    """`score`, or `frequency` where nobody is alone."""
    largest: int
    """Columns in the largest set that was looked at."""
    each: tuple[RiskyCombination, ...]


def sizes(evidence: Evidence) -> ClassSizes:
    """Classes, who is alone, and the two risks that follow from the sizes of classes."""
    rows, people = evidence.tuples, evidence.people
    if not len(people):
        raise Unavailable("The table has no rows.")
    return ClassSizes(
        rows=rows.rows,
        classes=len(people),
        smallest=int(people.min()),
        alone=int(rows.n[people == 1].sum()),
        below={str(least): int(rows.n[people < least].sum()) for least in LEAST},
        prosecutor=1 / float(people.min()),
        marketer=float((rows.n / people).sum()) / rows.rows,
    )


def after(evidence: Evidence) -> ClassSizes:
    """Who stands out in the release itself."""
    release = evidence.release
    if release.statistics:
        raise Unavailable("The release contains statistics, not one row per person, so there are no classes.")
    noisy = [name for name in evidence.roles.quasi if name in release.perturbed]
    if noisy:
        raise Unavailable(
            f"{noisy[0]!r} was perturbed, so chance decides who shares its values. The size of a class says nothing about who can be "
            "found; the attacks do."
        )
    return sizes(evidence)


def risk(table: Table, roles: Roles, population: Table | None) -> tuple[RawRisk | None, str]:
    """The raw table's risk, without the search for what would repair it; or why it cannot be told."""
    width = len(roles.quasi)
    try:
        roles.check(table.columns, where=table.name)
        fewer = WORK // max(len(table.count(roles.quasi)) if width else 1, 1)
        most = None if 2**width <= fewer else largest_within(width, width, max(min(fewer, 20_000), width))
        minimal = largest_within(width, 3, min(20_000, max(fewer, width)))
        return raw_risk(table, roles, most=most, minimal=minimal, curve=False, population=population), ""
    except SfumatoError as reason:
        return None, str(reason)


def worst_sets(raw: RawRisk) -> tuple[SetRisk, ...]:
    """For each number of columns the set on which most rows are alone, then by how many."""
    counts = sorted({len(risk.columns) for risk in raw.sets})
    return tuple(next(risk for risk in raw.sets if len(risk.columns) == n) for n in counts)  # they come worst first


def riskiest(table: Table, roles: Roles, *, reveal: bool = False) -> RiskiestCombinations:
    """The records that stand out most, each by the fewest columns on which it is alone; by SUDA score (Elliot et al. 2002).

    Where nobody is alone, the rarest combinations of all quasi-identifiers. Values are masked unless `reveal`.
    """
    from ..profile.suda import suda

    quasi = roles.quasi
    if not quasi:
        raise Unavailable(f"{roles.source} names no quasi-identifier, so there are no combinations.")
    person = roles.person if roles.person in table.columns else None
    counts = table.count((*quasi, person) if person else quasi)
    if not len(counts):
        raise Unavailable(f"{table.name} has no rows.")
    scored = suda(counts, most=largest_within(len(quasi), 3, 2_000), person=person is not None)
    top = np.argsort(-scored.score, kind="stable")[:MOST]
    top = top[scored.score[top] > 0]
    if not len(top):
        return RiskiestCombinations("frequency", len(quasi), _rarest(counts, quasi, person, reveal))
    each = []
    for at in top.tolist():
        minimal = scored.minimal(at)
        values = tuple(_value(counts, at, name, reveal) for name in minimal[0])
        each.append(RiskyCombination(minimal[0], values, int(counts.n[at]), len(minimal), float(scored.score[at])))
    return RiskiestCombinations("score", scored.most, tuple(each))


def _rarest(counts: Counts, quasi: Sequence[str], person: str | None, reveal: bool) -> tuple[RiskyCombination, ...]:
    held = _holders(counts, quasi, person)
    _, first = np.unique(counts.group(quasi)[1], return_index=True)  # of a person's rows one
    order = first[np.argsort(held[first], kind="stable")][:MOST]
    return tuple(
        RiskyCombination(
            tuple(quasi), tuple(_value(counts, at, name, reveal) for name in quasi), int(held[at]), ways=0, score=0.0
        )
        for at in order
    )


def _holders(counts: Counts, names: Sequence[str], person: str | None) -> IntArray:
    """For each tuple, how many people have its values on these columns."""
    if person is None:
        coarse, member = counts.group(names)
        return coarse.n[member]
    people, _ = counts.group((*names, person))
    once = Counts(people.columns, people.codes, np.ones(len(people), dtype=np.int64))
    return once.group(names)[0].n[counts.group(names)[1]]


def _value(counts: Counts, at: int, name: str, reveal: bool) -> str:
    if not reveal:
        return MASK
    text = counts.column(name).texts[counts.code(name)[at]]
    return "(missing)" if text is None else text
