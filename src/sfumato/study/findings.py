"""What documents tell of the recommended release besides its scores: measured once, kept by content.

Everything here is counted or attacked from the release itself and the original. Nothing holds a value of the table: combinations
are told by their columns, classes by number, groups without name; only `reveal` adds values, and what it adds is never kept. Where a
part cannot be had, a sentence that says why stands in its place.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, TypeVar, cast

from ..attacks import registry
from ..attacks.linkage import LookedUp
from ..core.errors import SfumatoError
from ..core.noun import dataclass
from ..core.outcome import Outcome
from ..core.release import Release
from ..inspect.audit import Audit, audit
from ..inspect.changes import ColumnChange, Suppression, columns, suppressed
from ..inspect.distributions import ColumnShape, distributions
from ..inspect.ema_questions import Question
from ..inspect.exposure import Exposure, exposure
from ..inspect.learned import Learned, learned
from ..inspect.raw_risk import RawRisk, Threshold
from ..inspect.riskiest_combinations import (
    MASK,
    ClassSizes,
    RiskiestCombinations,
    after,
    risk,
    riskiest,
    sizes,
    worst_sets,
)
from ..inspect.subgroups import Subgroups, subgroups
from ..mining.measures.mining_utility_decline import mining_utility_decline
from ..profile.combinations import SetRisk
from .attack_findings import HeldOut, homogeneities, linkages, wp29
from .point import _plain
from .result import Result
from .score_store import Kept, decoded, name_of, of_release, of_roles, program

if TYPE_CHECKING:
    from .study import Study

__all__ = ["MASK", "findings", "riskiest", "sizes"]

VERSION = 8
_NOBODY = 2**62
"""No group has so many people: none is named."""
_SAMPLE = 3000
"""Rows that groups are mined on."""
Part = TypeVar("Part")


@dataclass(frozen=True)
class GroupFindings:
    """Small groups against the rest; `field` was mined, or is None and `not_mined` says why, if something was to be mined."""

    groups: Subgroups
    field: str | None = None
    not_mined: str | None = None


@dataclass(frozen=True, kw_only=True)
class ReleaseFindings:
    """Of the recommended release; a text in the place of a part says why there is none."""

    candidate: str
    rows: int
    notes: tuple[str, ...]
    after: ClassSizes | str
    suppressed: Suppression | str
    columns: tuple[ColumnChange, ...] | str
    exposure: tuple[Exposure, ...] | str
    learned: tuple[Learned, ...] | str
    distributions: tuple[ColumnShape, ...] | str
    wp29: dict[str, Outcome | str]
    held_out: HeldOut | str
    linkage: tuple[Outcome | str, ...]
    homogeneity: dict[str, Outcome | str]
    subgroups: GroupFindings | str
    audit: Audit | str

    @property
    def looked_up(self) -> list[tuple[Outcome, LookedUp]]:
        """The lookups that could be made, and what each counted."""
        outcomes = (outcome for outcome in self.linkage if isinstance(outcome, Outcome))
        return [(outcome, cast(LookedUp, outcome.details)) for outcome in outcomes]


@dataclass(frozen=True, kw_only=True)
class Findings:
    """Of the raw table, and of the recommended release if there is one."""

    digest: str
    program: str
    before: ClassSizes | str
    sets: tuple[SetRisk, ...] | str
    checks: tuple[Threshold, ...]
    questions: tuple[Question, ...]
    riskiest: RiskiestCombinations | str
    release: ReleaseFindings | None = None


def findings(result: Result, *, reveal: bool = False) -> Findings:
    """Everything beyond the points, of the recommended release; of the raw table alone where none is recommended.

    With `reveal` the riskiest combinations show their values and groups their names.
    """
    known: dict[bool, Findings] = result.__dict__.setdefault("_findings", {})
    if False not in known:
        kept = Kept(result.cache)
        key = "" if kept.folder is None else _key(result)
        registry()  # an attack's module has the record of its details
        content = kept.remember(key, lambda: json.loads(json.dumps(_plain(asdict(_measured(result))))))
        known[False] = decoded(Findings, content)
    if reveal and True not in known:
        known[True] = _revealed(result, known[False])
    return known[reveal]


def _key(result: Result) -> str:
    study, chosen = result.study, result.recommended[0]
    made = None
    if chosen is not None:
        candidate = result.points[chosen].candidate
        made = candidate.text if candidate.release is None else of_release(candidate.release)
    population = None if study.population is None else study.population.digest()
    return name_of(
        "findings",
        VERSION,
        program(),
        study.table.digest(),
        of_roles(study.roles),
        made,
        result.seed or 0,
        population,
        study.checks,
    )


def _measured(result: Result) -> Findings:
    study, chosen = result.study, result.recommended[0]
    roles, table = study.roles, study.table
    raw, reason = risk(table, roles, study.population)
    return Findings(
        digest=table.digest(),
        program=program(),
        before=_or_reason(lambda: sizes(Release(table=table).evidence(roles))),
        sets=reason if raw is None else worst_sets(raw),
        checks=() if raw is None else tuple(raw.checks),
        questions=() if raw is None else tuple(raw.questions),
        riskiest=_or_reason(lambda: riskiest(table, roles)),
        release=None if chosen is None else _of_release(result, chosen, raw),
    )


def _of_release(result: Result, chosen: int, raw: RawRisk | None) -> ReleaseFindings:
    study = result.study
    roles, release, seed = study.roles, result.release(chosen), result.seed or 0
    evidence = release.evidence(roles)
    tests, outside = wp29(result, chosen, release, seed)
    return ReleaseFindings(
        candidate=result.points[chosen].candidate.name,
        rows=release.table.rows,
        notes=tuple(release.notes),
        after=_or_reason(lambda: after(evidence)),
        suppressed=_or_reason(lambda: suppressed(evidence)),
        columns=_or_reason(lambda: columns(release, roles)),
        exposure=_or_reason(lambda: exposure(release, roles)),
        learned=_or_reason(lambda: learned(release, roles)),
        distributions=_or_reason(lambda: distributions(release, roles)),
        wp29=tests,
        held_out=outside,
        linkage=tuple(linkages(release, roles, raw, seed)),
        homogeneity=homogeneities(release, roles),
        subgroups=_or_reason(lambda: _groups(study, release, smallest=_NOBODY)),
        audit=_or_reason(lambda: audit(release, roles, **study.checks)),
    )


def _or_reason(find: Callable[[], Part]) -> Part | str:
    """A part of the findings, or why it cannot be had."""
    try:
        return find()
    except SfumatoError as reason:
        return str(reason)


def _revealed(result: Result, masked: Findings) -> Findings:
    study, chosen = result.study, result.recommended[0]
    named = _or_reason(lambda: riskiest(study.table, study.roles, reveal=True))
    if chosen is None or masked.release is None:
        return replace(masked, riskiest=named)
    groups = _or_reason(lambda: _groups(study, result.release(chosen), reveal=True))
    return replace(masked, riskiest=named, release=replace(masked.release, subgroups=groups))


def _groups(study: Study, release: Release, **how: Any) -> GroupFindings:
    """Small groups against the rest; mined too, on a sample of rows, where there is a field to be mined and something to mine it."""
    field = target(study)
    reason = None
    if field is not None:
        from ..mining.scenario import Good, Scenario

        try:
            scenario = Scenario(good=Good(field=field, miners="quick", transfer=False), folds=3, rows=_SAMPLE)
            return GroupFindings(subgroups(release, study.roles, scenario=scenario, workers=1, **how), field)
        except SfumatoError as error:
            reason = str(error)
    return GroupFindings(subgroups(release, study.roles, **how), not_mined=reason)


def target(study: Study) -> str | None:
    """The field that users will predict: that of a measure of mining, else the first sensitive column."""
    for metric in study.asked:
        if metric.card is mining_utility_decline.card:
            return str(metric.arguments["field"])
    return study.roles.sensitive[0] if study.roles.sensitive else None
