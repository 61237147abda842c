"""Step 3, Hierarchies: how each quasi-identifier gets coarser, level by level, and whom that leaves alone."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import msgspec
import numpy as np
from anyio import to_thread
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from ...core.column import Column
from ...core.errors import InputError
from ...core.hierarchy import Hierarchy
from ...core.metric import spell_number
from ...core.roles import Roles, spell_toml
from ...core.rules import BUILDING, CALENDAR
from ...core.words import counted
from ...metrics.privacy.mutual_information import mutual_information
from ...metrics.utility.iloss import iloss
from ...search.cuts import optimal_cuts
from ...search.explorer import Explorer, explore
from ..body import sent
from ..desk import Desk
from ..rendering import fragment, go, page, put

MOST_GROUPED = 60
"""Values that an owner may group by hand on a page; more are for a file."""
SHOWN = 3
"""Labels of a level that are shown."""
MOST_LABELS = 12
"""Texts of one length from which on a column may be a code."""
RULES = {
    "widths": "ranges of equal width: one for each level, each a multiple of the one before, such as 5, 10, 20",
    "cuts": "cut points of one level, such as 18, 40, 65",
    "quantiles": "parts with about as many rows each, such as 16, 4",
    "dates": f"the calendar: {', '.join(CALENDAR[1:])}",
    "prefix": "characters masked from the right, level by level, such as 1, 2, 3",
    "suppress": "as it is, or not at all",
}


FEWEST = 8
"""Ranges that the optimizer proposes at most, unless told."""
Rule = dict[str, Any] | str | Hierarchy


class SentRule(msgspec.Struct, forbid_unknown_fields=True):
    """A rule for a column, by its place among the quasi-identifiers; `most` ranges where cut points are to be proposed."""

    column: int
    rule: str
    values: str
    most: int = FEWEST


class SentGroups(msgspec.Struct, forbid_unknown_fields=True):
    """A group for each value of a column, in the column's order; an empty text leaves a value by itself.

    `tertiary > degree` puts it into a group and that into a larger one.
    """

    column: int
    groups: list[str]


def show(request: Request) -> Response:
    """The levels of each quasi-identifier."""
    desk: Desk = request.app.state.desk
    desk.roles.check_quasi()
    explorer = desk.explorer
    ladders = [_ladder(desk, explorer, i, name) for i, name in enumerate(explorer.highest)]
    return page(
        request, "hierarchies.html", title="How does each column get coarser?", ladders=ladders, rules=RULES,
        fewest=FEWEST,
    )  # fmt: skip


def _ladder(desk: Desk, explorer: Explorer, at: int, name: str) -> dict[str, Any]:
    """A column: what its levels are, and what they can be."""
    column = desk.table.count((name,)).columns[0]
    return {
        "at": at, "name": name, "ordered": column.numbers is not None,
        "choices": choices(column), **levels(explorer, name), **_rule(desk.roles.hierarchies.get(name)), **_groups(desk, column),
    }  # fmt: skip


def levels(explorer: Explorer, name: str) -> dict[str, Any]:
    """What each level is, by a few of its labels, and how many rows it leaves alone beside the other columns as they are."""
    together = explorer.together(name)
    found = [
        {"labels": labels[:SHOWN], "more": len(labels) - SHOWN, "alone": alone}
        for labels, alone in zip(explorer.labels(name), together, strict=True)
    ]
    return {"levels": found, "most": max(together), "rows": explorer.rows}


def choices(column: Column) -> list[tuple[str, str]]:
    """Rules from fine to coarse that fit what the column holds, each as a kind and its values, for a slider."""
    if column.dates:
        units = CALENDAR[1:]
        return [("dates", ", ".join(units[i:])) for i in range(len(units))]
    if column.numbers is not None:
        spread = float(np.ptp(column.numbers)) if len(column.numbers) else 0.0
        unit = 10.0 ** math.floor(math.log10(max(spread / 50, 1e-300))) if spread > 0 else 1.0
        whole = bool((column.numbers == np.floor(column.numbers)).all())
        steps = [unit * step for step in (1, 2, 5, 10, 20) if not whole or unit * step >= 2]
        return [("widths", ", ".join(spell_number(w * times) for times in (1, 2, 4))) for w in steps]
    lengths = {len(text) for text in column.texts if text is not None}
    if len(lengths) == 1 and 2 <= (length := lengths.pop()) <= 10 and len(column) > MOST_LABELS:
        return [("prefix", ", ".join(str(n) for n in range(first, length))) for first in range(1, length)]
    return []


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
    """The values of a column and the groups of each, smallest first, where there are few enough to be grouped by hand."""
    texts = [text for text in column.texts if text is not None]
    if column.numbers is not None or column.dates or not 2 < len(texts) <= MOST_GROUPED:
        return {"pairs": ()}
    hierarchy = desk.roles.hierarchy(column)
    above = () if hierarchy is None else hierarchy.levels[1:-1]
    pairs = []
    for i, text in enumerate(texts):
        names = list(dict.fromkeys(level[i] for level in above))
        pairs.append((text, " > ".join(name for name in names if name != text)))
    return {"pairs": pairs}


async def rule(request: Request) -> Response:
    """Take a rule, if it builds on the column."""
    desk: Desk = request.app.state.desk
    said = await sent(request, SentRule)
    await to_thread.run_sync(lambda: _take(desk, *_said_rule(desk, said)))
    return go("/hierarchies")


async def preview(request: Request) -> Response:
    """What a rule would do, before it is taken."""
    desk: Desk = request.app.state.desk
    said = await sent(request, SentRule)
    return put(await to_thread.run_sync(lambda: _previewed(desk, said.column, *_said_rule(desk, said))))


def _said_rule(desk: Desk, said: SentRule) -> tuple[str, Rule]:
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
    return _name(desk, said.column), rule


async def cuts(request: Request) -> Response:
    """The cut points that keep most, by the optimizer: they are shown, and taken only when the owner says so."""
    desk: Desk = request.app.state.desk
    said = await sent(request, SentRule)
    return JSONResponse(await to_thread.run_sync(_cuts, desk, said))


def _cuts(desk: Desk, said: SentRule) -> dict[str, Any]:
    name, roles = _name(desk, said.column), desk.roles
    aim = str(mutual_information if roles.sensitive else iloss)
    of_classes = [each for each in desk.limits if each.metric.card.scope == "class"]
    best = optimal_cuts(
        desk.table, roles, name, objective=aim, require=of_classes, max_ranges=said.most,
        sensitive=roles.sensitive[0] if roles.sensitive else None,
    )  # fmt: skip
    values = ", ".join(str(cut) for cut in best.cuts)
    told = (
        f"{counted(best.ranges, 'range')}, the best of all ways to cut {name} into at most {said.most}: "
        + (f"what is known of {roles.sensitive[0]} stays largest" if roles.sensitive else "the values stay most precise")
        + (", and each range by itself meets the limits on classes." if of_classes else ".")
    )  # fmt: skip
    put = _previewed(desk, said.column, name, {"cuts": best.cuts}, told) if best.cuts else {}
    return {"fill": {f"rule{said.column}": "cuts", f"values{said.column}": values}, "put": put}


async def groups(request: Request) -> Response:
    """Take groups of values; they become a hierarchy file in the work folder."""
    desk: Desk = request.app.state.desk
    said = await sent(request, SentGroups)
    await to_thread.run_sync(_take_groups, desk, said)
    return go("/hierarchies")


async def preview_groups(request: Request) -> Response:
    """What groups would do, before they are taken."""
    desk: Desk = request.app.state.desk
    said = await sent(request, SentGroups)
    return put(await to_thread.run_sync(lambda: _previewed(desk, said.column, *_said_groups(desk, said))))


def _said_groups(desk: Desk, said: SentGroups) -> tuple[str, Hierarchy]:
    name = _name(desk, said.column)
    texts = [text for text in desk.table.count((name,)).columns[0].texts if text is not None]
    if len(texts) != len(said.groups):
        raise InputError("The page shows other values than the column has; reload it.")
    paths = [[" ".join(part.split()) for part in group.split(">") if part.strip()] for group in said.groups]
    deep = max(1, max(map(len, paths), default=1))
    lines = [
        (text, *(path + [path[-1] if path else text] * deep)[:deep]) for text, path in zip(texts, paths, strict=True)
    ]
    return name, Hierarchy.of(name, lines, source="your groups")


def _take_groups(desk: Desk, said: SentGroups) -> None:
    name, made = _said_groups(desk, said)
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


def _with(desk: Desk, name: str, rule: Rule) -> Roles:
    """The roles with another rule for a column; one that builds nothing on its values is refused."""
    roles = replace(desk.roles, hierarchies={**desk.roles.hierarchies, name: rule})
    roles.hierarchy(desk.table.count((name,)).columns[0])
    return roles


def _take(desk: Desk, name: str, rule: Rule) -> None:
    desk.change_roles(_with(desk, name, rule))


def _previewed(desk: Desk, at: int, name: str, rule: Rule, told: str = "") -> dict[str, str]:
    """The levels as they would be."""
    explorer = explore(desk.table, _with(desk, name, rule))
    return {f"levels{at}": fragment("ladder.html", ladder=levels(explorer, name), told=told or "Not taken yet.")}


def _number(text: str) -> int | float:
    try:
        number = float(text)
    except ValueError:
        raise InputError(f"{text[:20]!r} is no number; give numbers with commas between.") from None
    return int(number) if number.is_integer() else number


routes = (
    Route("/hierarchies", show, methods=["GET"]),
    Route("/hierarchies/rule", rule, methods=["POST"]),
    Route("/hierarchies/preview", preview, methods=["POST"]),
    Route("/hierarchies/cuts", cuts, methods=["POST"]),
    Route("/hierarchies/groups", groups, methods=["POST"]),
    Route("/hierarchies/groups/preview", preview_groups, methods=["POST"]),
)
