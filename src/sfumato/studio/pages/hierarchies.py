"""Step 3, Hierarchies: how each quasi-identifier gets coarser, level by level, and whom that leaves alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec
from anyio import to_thread
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ...core.column import Column
from ...core.errors import InputError
from ...core.hierarchy import Hierarchy
from ...core.roles import spell_toml
from ...core.rules import BUILDING, CALENDAR
from ..body import sent
from ..desk import Desk
from ..rendering import go, page

MOST_GROUPED = 60
"""Values that an owner may group by hand on a page; more are for a file."""
SHOWN = 3
"""Labels of a level that are shown."""
RULES = {
    "widths": "ranges of equal width: one for each level, each a multiple of the one before, such as 5, 10, 20",
    "cuts": "cut points of one level, such as 18, 40, 65",
    "quantiles": "parts with about as many rows each, such as 16, 4",
    "dates": f"the calendar: {', '.join(CALENDAR[1:])}",
    "prefix": "characters masked from the right, level by level, such as 1, 2, 3",
    "suppress": "as it is, or not at all",
}


class SentRule(msgspec.Struct, forbid_unknown_fields=True):
    """A rule for a column, by its place among the quasi-identifiers."""

    column: int
    rule: str
    values: str


class SentGroups(msgspec.Struct, forbid_unknown_fields=True):
    """A group for each value of a column, in the column's order; an empty text leaves a value by itself."""

    column: int
    groups: list[str]


def show(request: Request) -> Response:
    """The levels of each quasi-identifier."""
    desk: Desk = request.app.state.desk
    desk.roles.check_quasi()
    return page(
        request, "hierarchies.html", title="How does each column get coarser?", ladders=ladders(desk), rules=RULES
    )


def ladders(desk: Desk) -> list[dict[str, Any]]:
    """What each level is, by a few of its labels, and how many rows it leaves alone."""
    explorer, roles = desk.explorer, desk.roles
    found = []
    for i, name in enumerate(explorer.highest):
        column = desk.table.count((name,)).columns[0]
        alone = explorer.alone(name)
        rule = roles.hierarchies.get(name)
        levels = [
            {"labels": labels[:SHOWN], "more": len(labels) - SHOWN, "alone": alone[h]}
            for h, labels in enumerate(explorer.labels(name))
        ]
        found.append({"at": i, "name": name, "levels": levels, **_rule(rule), **_groups(desk, column)})
    return found


def _rule(rule: Any) -> dict[str, str]:
    """A rule as the form shows it."""
    if isinstance(rule, dict) and (kind := next((key for key in BUILDING if key in rule), None)):
        given = rule[kind]
        values = given if isinstance(given, list | tuple) else [given]
        nested = any(isinstance(each, list | tuple) for each in values)
        return {
            "rule": kind,
            "values": "" if nested else ", ".join(str(each) for each in values),
            "said": spell_toml(rule),
        }
    if isinstance(rule, str):
        return {"rule": "", "values": "", "said": f"the file {rule}"}
    return {"rule": "suppress", "values": "", "said": "as it is, or not at all"}


def _groups(desk: Desk, column: Column) -> dict[str, Any]:
    """The values of a column and the group of each at the first level, where there are few enough to be grouped by hand."""
    texts = [text for text in column.texts if text is not None]
    if column.numbers is not None or column.dates or not 2 < len(texts) <= MOST_GROUPED:
        return {"pairs": ()}
    hierarchy = desk.roles.hierarchy(column)
    first = dict(zip(texts, hierarchy.levels[1], strict=True)) if hierarchy is not None and hierarchy.height > 1 else {}
    return {"pairs": [(text, "" if first.get(text, text) == text else first[text]) for text in texts]}


async def rule(request: Request) -> Response:
    """Take a rule, if it builds on the column."""
    desk: Desk = request.app.state.desk
    said = await sent(request, SentRule)
    await to_thread.run_sync(_take_rule, desk, said)
    return go("/hierarchies")


def _take_rule(desk: Desk, said: SentRule) -> None:
    if said.rule not in RULES:
        raise InputError("Choose how the column gets coarser.")
    parts = [part.strip() for part in said.values.replace(";", ",").split(",") if part.strip()]
    rule: dict[str, Any] = {"suppress": True}
    if said.rule == "dates":
        rule = {"dates": parts}
    elif said.rule != "suppress":
        rule = {said.rule: [_number(part) for part in parts]}
        if not parts:
            raise InputError("Give the numbers, with commas between.")
    _take(desk, _name(desk, said.column), rule)


async def groups(request: Request) -> Response:
    """Take groups of values; they become a hierarchy file in the work folder."""
    desk: Desk = request.app.state.desk
    said = await sent(request, SentGroups)
    await to_thread.run_sync(_take_groups, desk, said)
    return go("/hierarchies")


def _take_groups(desk: Desk, said: SentGroups) -> None:
    name = _name(desk, said.column)
    texts = [text for text in desk.table.count((name,)).columns[0].texts if text is not None]
    if len(texts) != len(said.groups):
        raise InputError("The page shows other values than the column has; reload it.")
    pairs = [(text, " ".join(group.split()) or text) for text, group in zip(texts, said.groups, strict=True)]
    made = Hierarchy.of(name, pairs, source="your groups")
    folder = desk.folder.path / "hierarchies"
    folder.mkdir(exist_ok=True)
    file = f"hierarchies/groups-{desk.table.columns.index(name) + 1}.csv"
    made.write(desk.folder.path / file)
    _take(desk, name, file)


def _name(desk: Desk, at: int) -> str:
    names = desk.roles.quasi
    if not 0 <= at < len(names):
        raise InputError("The page shows other columns than the table has; reload it.")
    return names[at]


def _take(desk: Desk, name: str, rule: Any) -> None:
    """Another rule for a column; one that builds nothing on its values is refused before anything is written."""
    roles = replace(desk.roles, hierarchies={**desk.roles.hierarchies, name: rule})
    roles.hierarchy(desk.table.count((name,)).columns[0])
    desk.change_roles(roles)


def _number(text: str) -> int | float:
    try:
        number = float(text)
    except ValueError:
        raise InputError(f"{text[:20]!r} is no number; give numbers with commas between.") from None
    return int(number) if number.is_integer() else number


routes = (
    Route("/hierarchies", show, methods=["GET"]),
    Route("/hierarchies/rule", rule, methods=["POST"]),
    Route("/hierarchies/groups", groups, methods=["POST"]),
)
