"""What documents tell of the recommended release besides its scores: found once, kept by content, ready for JSON.

Everything here is counted or attacked from the release itself and the original. Nothing holds a value of the table: combinations
are told by their columns, classes by number, groups without name; only `reveal` adds values, and what it adds is never kept.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ..core.errors import SfumatoError
from ..core.release import Release
from ..inspect.audit import Audit, audit
from ..inspect.changes import columns, suppressed
from ..inspect.exposure import exposure
from ..inspect.riskiest_combinations import MASK, after, risk, riskiest, sizes, worst_sets
from ..inspect.subgroups import Subgroups, subgroups
from .attack_findings import homogeneities, linkages, tried, wp29
from .point import _plain
from .result import Result
from .score_store import Kept, name_of, of_release, of_roles, program

if TYPE_CHECKING:
    from .study import Study

__all__ = ["MASK", "findings", "riskiest", "sizes"]

VERSION = 4
_NOBODY = 2**62
"""No group has so many people: none is named."""
_SAMPLE = 3000
"""Rows that groups are mined on."""


def findings(result: Result, *, reveal: bool = False) -> dict[str, Any]:
    """Everything beyond the points, of the recommended release; of the raw table alone where none is recommended.

    A part that cannot be found is `{"unavailable": reason}`. With `reveal` the riskiest combinations show their values and groups
    their names.
    """
    known: dict[bool, dict[str, Any]] = result.__dict__.setdefault("_findings", {})
    if False not in known:
        kept = Kept(result.cache)
        key = "" if kept.folder is None else _key(result)
        known[False] = kept.remember(key, lambda: json.loads(json.dumps(_plain(_found(result)))))
    if reveal and True not in known:
        known[True] = {**known[False], **json.loads(json.dumps(_plain(_revealed(result))))}
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


def _found(result: Result) -> dict[str, Any]:
    study, chosen = result.study, result.recommended[0]
    roles, table = study.roles, study.table
    raw, reason = risk(table, roles, study.population)
    found: dict[str, Any] = {
        "digest": table.digest(),
        "program": program(),
        "before": tried(lambda: sizes(Release(table=table).evidence(roles))),
        "sets": {"unavailable": reason} if raw is None else {"worst": worst_sets(raw)},
        "checks": [] if raw is None else [vars(check) for check in raw.checks],
        "questions": [] if raw is None else [vars(question) for question in raw.questions],
        "riskiest": tried(riskiest, table, roles),
        "release": None,
    }
    if chosen is None:
        return found
    release, seed = result.release(chosen), result.seed or 0
    evidence = release.evidence(roles)
    tests, outside = wp29(result, chosen, release, seed)
    found["release"] = {
        "candidate": result.points[chosen].candidate.name,
        "rows": release.table.rows,
        "notes": list(release.notes),
        "after": tried(after, evidence),
        "suppressed": tried(suppressed, evidence),
        "columns": tried(lambda: {"each": columns(release, roles)}),
        "exposure": tried(lambda: {"each": [vars(each) for each in exposure(release, roles)]}),
        "wp29": tests,
        "held_out": outside,
        "linkage": linkages(release, roles, raw, seed),
        "homogeneity": homogeneities(release, roles),
        "subgroups": tried(_groups, study, release, smallest=_NOBODY),
        "audit": tried(lambda: _told(audit(release, roles, **study.checks))),
    }
    return found


def _revealed(result: Result) -> dict[str, Any]:
    study, chosen = result.study, result.recommended[0]
    found: dict[str, Any] = {"riskiest": tried(riskiest, study.table, study.roles, reveal=True)}
    if chosen is not None:
        groups = tried(_groups, study, result.release(chosen), reveal=True)
        found["release"] = {**findings(result)["release"], "subgroups": groups}
    return found


def _groups(study: Study, release: Release, **how: Any) -> dict[str, Any]:
    """Small groups against the rest; mined too, on a sample of rows, where there is a field to be mined and something to mine it."""
    field = target(study)
    reason = None
    if field is not None:
        from ..mining.scenario import Good, Scenario

        try:
            scenario = Scenario(good=Good(field=field, miners="quick", transfer=False), folds=3, rows=_SAMPLE)
            return {**_told(subgroups(release, study.roles, scenario=scenario, workers=1, **how)), "field": field}
        except SfumatoError as error:
            reason = str(error)
    return {**_told(subgroups(release, study.roles, **how)), "field": None, "not_mined": reason}


def target(study: Study) -> str | None:
    """The field that users will predict: that of a measure of mining, else the first sensitive column."""
    for metric in study.asked:
        if metric.card.name == "mining_utility_decline":
            return str(metric.arguments["field"])
    return study.roles.sensitive[0] if study.roles.sensitive else None


def _told(said: Audit | Subgroups) -> dict[str, Any]:
    content: dict[str, Any] = said.to_dict()
    content["sentences"] = list(said.sentences)
    return content
