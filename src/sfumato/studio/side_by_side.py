"""Two candidates beside each other and the table: what each column looks like before and after, who is exposed, who is treated worse,
what an intruder does. Every number is another room's; here they are put together, as plain data for a file."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.errors import SfumatoError
from ..core.outcome import Outcome
from ..core.release import Release
from ..core.roles import Roles
from ..core.table import Table
from ..inspect.subgroups import subgroups
from ..inspect.versus import versus
from ..profile.histogram import bars
from ..study.attack_findings import homogeneities, linkages
from ..study.result import Result

EXPOSED = 5
"""Classes that are shown, the smallest first."""


def side_by_side(result: Result, a: int, b: int) -> dict[str, Any]:
    """Two candidates by their places in a result."""
    roles, releases = result.study.roles, [result.release(i) for i in (a, b)]
    names = (result.names[a], result.names[b])
    return {
        "places": [a, b],
        "names": names,
        "whole": [result.points[i].candidate.name for i in (a, b)],
        "versus": versus(releases[0], releases[1], roles, names=names).to_dict(),
        "columns": _columns(result.study.table, [release.table for release in releases], roles),
        "sides": [_side(release, roles) for release in releases],
    }


def _columns(table: Table, released: list[Table], roles: Roles) -> list[dict[str, Any]]:
    """The rows of each column by value: in the table, and in both releases."""
    shown = []
    for name in (*roles.quasi, *roles.sensitive):
        parts = [_bars(each, name) for each in (table, *released)]
        shown.append({"name": name, "parts": parts, "most": max((n for part in parts for _, n in part), default=0)})
    return shown


def _bars(table: Table, name: str) -> list[tuple[str, int]]:
    if name not in table.columns:
        return []
    return [(bar.label, bar.rows) for bar in bars(table.count((name,)))]


def _side(release: Release, roles: Roles) -> dict[str, Any]:
    """What there is to say of one release by itself."""
    played = [*linkages(release, roles, None, 0), *homogeneities(release, roles).values()]
    return {
        "rows": release.table.rows,
        "exposed": _exposed(release, roles),
        "groups": _groups(release, roles),
        "attacks": [outcome_dict(each) for each in played],
    }


def _exposed(release: Release, roles: Roles) -> dict[str, Any]:
    """The smallest classes, by their released labels."""
    try:
        evidence = release.evidence(roles)
        tuples, people = evidence.tuples, evidence.people
    except SfumatoError as reason:
        return {"why": str(reason), "classes": []}
    first = np.argsort(people, kind="stable")[:EXPOSED]
    return {
        "why": "",
        "classes": [
            {"people": int(people[i]), "labels": [c.texts[code[i]] for c, code in zip(tuples.columns, tuples.codes, strict=True)]}
            for i in first.tolist()
        ],
    }  # fmt: skip


def _groups(release: Release, roles: Roles) -> dict[str, Any]:
    """Whom it treats worse."""
    try:
        found = subgroups(release, roles)
    except SfumatoError as reason:
        return {"sentences": [str(reason)], "worst": []}
    worst = [
        {"column": g.column, "name": g.name, "people": g.people, "loss": g.loss, "difference": g.difference, "worse": g.worse}
        for g in found.worst[:EXPOSED]
    ]  # fmt: skip
    return {"sentences": found.sentences, "worst": worst}


def outcome_dict(outcome: Outcome | str) -> dict[str, Any]:
    """How an attack went, or why it could not be played."""
    if isinstance(outcome, str):
        return {
            "title": "",
            "knew": "",
            "sentence": outcome,
            "success": None,
            "blind": None,
            "verdict": "",
            "worked": None,
        }
    return {
        "title": outcome.title + (f" of {outcome.column}" if outcome.column else ""),
        "knew": outcome.knew,
        "sentence": outcome.sentence,
        "success": str(outcome.success),
        "blind": None if outcome.baseline is None else str(outcome.baseline),
        "verdict": outcome.verdict,
        "worked": outcome.worked,
    }  # fmt: skip
