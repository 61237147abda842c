"""Step 2, Columns: what each column is, which role suits it and why, and what the roles give away."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec
from anyio import to_thread
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ...core.errors import InputError
from ...core.people import PEOPLE_ROWS
from ...core.roles import Roles
from ...profile.histogram import bars
from ...profile.table import profile
from ..body import sent
from ..desk import Desk
from ..rendering import fragment, page, put

ROLES = {
    "quasi": "others may know it (quasi-identifier)",
    "sensitive": "nobody may learn it (sensitive)",
    "insensitive": "may be published as it is",
    "identifiers": "never leaves the house",
    "person": "numbers the person; several rows each",
    "household": "numbers the household",
    "weight": "survey weight",
}
SINGLE = ("person", "household", "weight")
PEOPLE = {**PEOPLE_ROWS, "one": "one row is kept of each person's, by a column that you choose"}


class SentRoles(msgspec.Struct, forbid_unknown_fields=True):
    """A role for each column, in the order of the table."""

    roles: list[str]
    people: str = ""
    keep: str = ""
    by: str = ""


class SentReasons(msgspec.Struct, forbid_unknown_fields=True):
    """Why columns may go out although something was found in them; an empty reason is none."""

    reasons: list[str]


def show(request: Request) -> Response:
    """A card a column, and what the roles say together."""
    desk: Desk = request.app.state.desk
    return page(request, "columns.html", title="What is each column?", cards=cards(desk), kinds=ROLES, **together(desk))


def cards(desk: Desk) -> list[dict[str, Any]]:
    """What is known of each column."""
    roles, adds = desk.roles, {each.column: each for each in desk.profiled.adds}
    suggested = {column.name: column for column in desk.suggested.columns}
    countable = [name for name in desk.raw.columns if suggested[name].exactness == "exact"]
    counts = desk.raw.value_counts(countable)
    found = []
    for name in desk.raw.columns:
        drawn = bars(counts[name]) if name in counts else ()
        unlike = suggested[name].distinct > len(drawn) and max((bar.rows for bar in drawn[:-1]), default=0) <= 1
        most = max((bar.rows for bar in drawn), default=0)
        found.append(
            {
                "about": suggested[name],
                "role": role_of(roles, name),
                "bars": () if unlike else drawn,
                "most": most,
                "adds": adds.get(name),
                "findings": [each.sentence for each in desk.free.findings if name in each.columns],
            }
        )
    return found


def together(desk: Desk) -> dict[str, Any]:
    """What the roles say together: who is alone, what is given away, how people with several rows are taken."""
    roles = desk.roles
    return {
        "sentence": desk.profiled.sentence,
        "notes": desk.profiled.notes,
        "combinations": desk.profiled.combinations[:5],
        "findings": desk.free.findings,
        "waived": desk.waived,
        "person": roles.person,
        "people": roles.people,
        "choices": PEOPLE,
        "columns": desk.raw.columns,
    }


def role_of(roles: Roles, name: str) -> str:
    """The role of a column; one without any is not published."""
    for kind in SINGLE:
        if getattr(roles, kind) == name:
            return kind
    return next((kind for kind in ("quasi", "sensitive", "insensitive") if name in getattr(roles, kind)), "identifiers")


async def choose(request: Request) -> Response:
    """Take the owner's word on every column, and say what it does."""
    desk: Desk = request.app.state.desk
    chosen = await sent(request, SentRoles)
    return put(await to_thread.run_sync(_choose, desk, chosen))


def _choose(desk: Desk, chosen: SentRoles) -> dict[str, str]:
    names = desk.raw.columns
    if len(chosen.roles) != len(names) or not set(chosen.roles) <= set(ROLES):
        raise InputError("The page shows other columns than the table has; reload it.")
    of = {kind: tuple(n for n, role in zip(names, chosen.roles, strict=True) if role == kind) for kind in ROLES}
    for kind in SINGLE:
        if len(of[kind]) > 1:
            raise InputError(f"Only one column can be the {kind}; give the others another role.")
    desk.change_roles(with_roles(desk, of, _people(desk, chosen, of)))
    return {"together": fragment("together.html", **together(desk))}


def _people(desk: Desk, chosen: SentRoles, of: dict[str, tuple[str, ...]]) -> dict[str, Any]:
    """How people with several rows are taken."""
    if not of["person"]:
        return {}
    if chosen.people == "one":
        return {"rows": "one", "keep": chosen.keep or "latest", "by": chosen.by}
    return {"rows": chosen.people if chosen.people in PEOPLE_ROWS else "unlinked"}


def with_roles(desk: Desk, of: dict[str, tuple[str, ...]], people: dict[str, Any]) -> Roles:
    """The owner's roles with these columns; a new quasi-identifier gets the hierarchy that is suggested for it."""
    before = desk.roles
    single = {kind: next(iter(of[kind]), None) for kind in SINGLE}
    new = [name for name in of["quasi"] if name not in before.hierarchies]
    suggested: dict[str, Any] = {}
    if new:
        suggested = dict(profile(desk.raw, most=1, quasi=of["quasi"]).roles.hierarchies)
    hierarchies = {**before.hierarchies, **{name: suggested[name] for name in new if name in suggested}}
    survey = dict(before.survey) or {"weights": "calibrated"} if of["weight"] else {}
    kinds = {kind: of[kind] for kind in ("identifiers", "quasi", "sensitive", "insensitive")}
    return replace(before, **kinds, **single, hierarchies=hierarchies, people=people, survey=survey)  # type: ignore[arg-type]


async def waive(request: Request) -> Response:
    """Take the owner's reasons."""
    desk: Desk = request.app.state.desk
    waived = await sent(request, SentReasons)
    return put(await to_thread.run_sync(_waive, desk, waived))


def _waive(desk: Desk, waived: SentReasons) -> dict[str, str]:
    columns = list(dict.fromkeys(each.column for each in desk.free.findings))
    if len(columns) != len(waived.reasons):
        raise InputError("The page shows other findings than there are; reload it.")
    reasons = {name: " ".join(text.split()) for name, text in zip(columns, waived.reasons, strict=True) if text.strip()}
    kept = {name: text for name, text in desk.waived.items() if name not in columns}
    desk.change_study(waive={**kept, **reasons})
    return {"together": fragment("together.html", **together(desk))}


routes = (
    Route("/columns", show, methods=["GET"]),
    Route("/columns/roles", choose, methods=["POST"]),
    Route("/columns/waive", waive, methods=["POST"]),
)
