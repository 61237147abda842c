"""Somebody's release held against the limits of this study and attacked: what `sfumato verify` and `sfumato attack` say, as plain data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..attacks import registry
from ..core.errors import InputError, SfumatoError
from ..core.outcome import Outcome
from ..core.release import Release
from ..core.roles import Roles
from ..engines import read
from ..engines.missing_codes import recognise
from ..profile.free_columns import refusal
from ..publishing import verify_release
from ..study.attack_findings import without_values
from ..study.study import Study
from .side_by_side import outcome_dict


def checked(path: Path, study: Study) -> dict[str, Any]:
    """Measure the file as it is, with the table of the study as its original."""
    roles = study.roles
    if not study.require:
        raise InputError("There is no limit to hold the release against; draw the limits first.")
    table = recognise(
        read(path, roles=roles.elsewhere), study.table, quasi=roles.quasi, others=(*roles.sensitive, *roles.insensitive)
    )
    release = Release(table=table, original=study.table)
    found = verify_release(release, roles, study.require, waive=study.waive)
    played, left = _attacked(release, roles)
    return {
        "name": path.name,
        "rows": table.rows,
        "met": found.met,
        "notes": list(table.notes),
        "verdicts": [
            {"text": str(v), "met": v.met, "metric": v.requirement.metric.card.name, "sentence": v.requirement.metric.sentence(v.score.value)}
            for v in found.verdicts
        ],
        "problems": [*found.problems, *refusal(found.open)],
        "counted": found.counted,
        "attacks": [outcome_dict(each) for each in played],
        "left": left,
    }  # fmt: skip


def _attacked(release: Release, roles: Roles) -> tuple[list[Outcome], list[str]]:
    """Every attack that a file and its original allow, on each sensitive column in turn; and the titles of those that need more."""
    outcomes: list[Outcome] = []
    left: dict[str, None] = {}
    for each in registry().values():
        for column in each.columns(roles):
            try:
                outcomes.append(without_values((each if column is None else each.on(column))(release, roles)))
            except SfumatoError:
                left[each.card.title] = None
    return outcomes, list(left)
