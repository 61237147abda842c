"""Step 5, Recode and look: move a column's level or a limit and see at once what it does to risk, loss, classes and verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
from anyio import to_thread
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ...core.errors import InputError
from ...core.hierarchy import TOP
from ...core.metric import Requirement
from ...core.words import counted
from ...metrics import metric
from ...search.explorer import ExploredNode, Explorer
from ...search.lattice_search import LatticeSearch
from ..body import sent
from ..desk import Desk
from ..numbers import moved_limit
from ..rendering import fragment, page, put

SIZES = (1, 2, 3, 5, 10, 20, 50, 100)
"""Where the classes are told apart by size."""
SHOWN = 3
"""Labels of a level that stand beside its slider."""
DOTS = 400
"""Generalizations that are drawn one by one; more are bars."""
PATIENCE = 20.0
"""Seconds that a search may take here."""


class SentLevels(msgspec.Struct, forbid_unknown_fields=True):
    """A level a quasi-identifier, in the order of the roles, the per cent of the rows that may be left out, and a bound a limit."""

    levels: list[str]
    suppression: str
    bounds: list[str] = []


def show(request: Request) -> Response:
    """The sliders, all at the table as it is."""
    desk: Desk = request.app.state.desk
    explorer = desk.explorer
    sliders = [
        {"name": name, "highest": top, "levels": levels_told(explorer, name)} for name, top in explorer.highest.items()
    ]
    return page(
        request, "look.html", title="Recode and look", sliders=sliders, nodes=explorer.nodes, limits=desk.limits,
        **seen(explorer.at({}), explorer.rows),
    )  # fmt: skip


def levels_told(explorer: Explorer, name: str) -> list[str]:
    """Each level of a column by a few of its labels, and whom it leaves alone by itself."""
    told = []
    for labels, alone in zip(explorer.labels(name), explorer.alone(name), strict=True):
        shown = ["missing" if label is None else "left out (*)" if label == TOP else label for label in labels[:SHOWN]]
        some = ", ".join(shown)
        more = f" and {len(labels) - SHOWN:,} more" if len(labels) > SHOWN else ""
        told.append(some + more + (f"; {counted(alone, 'row')} alone by it" if alone else ""))
    return told


async def at(request: Request) -> Response:
    """What one place of the sliders says."""
    desk: Desk = request.app.state.desk
    place = await sent(request, SentLevels)
    return put(await to_thread.run_sync(_at, desk, place))


def _at(desk: Desk, place: SentLevels) -> dict[str, str]:
    explorer, share = _under(desk, place)
    names = list(explorer.highest)
    if len(place.levels) != len(names) or not all(
        text.isascii() and text.isdigit() and len(text) < 4 for text in place.levels
    ):
        raise InputError("The page shows other columns than the table has; reload it.")
    levels = {name: int(text) for name, text in zip(names, place.levels, strict=True)}
    node = explorer.at(levels, suppression=share)
    return {"seen": fragment("seen.html", **seen(node, explorer.rows))}


def _under(desk: Desk, place: SentLevels) -> tuple[Explorer, float]:
    """The counts under the limits as they are moved, and the share that may be left out."""
    try:
        share = float(place.suppression) / 100
    except ValueError:
        share = -1.0
    return desk.explored(_moved(desk.limits, place.bounds)), share


def _moved(limits: Sequence[Requirement], bounds: Sequence[str]) -> list[Requirement]:
    if not bounds:
        return list(limits)
    if len(bounds) != len(limits):
        raise InputError("The page shows other limits than there are; reload it.")
    return [moved_limit(limit, text) for limit, text in zip(limits, bounds, strict=True)]


def seen(node: ExploredNode, rows: int) -> dict[str, Any]:
    """What a generalization says, for its template."""
    scores = [(metric(name), score) for name, score in node.scores.items()]
    starts = np.array(SIZES)
    place = np.searchsorted(starts, node.class_sizes, side="right") - 1
    in_rows = np.bincount(place, weights=node.class_sizes, minlength=len(SIZES)).astype(np.int64).tolist()
    ends = [*(each - 1 for each in SIZES[1:]), None]
    sizes = [
        {"label": f"{low}" if low == high else f"{low} to {high}" if high else f"{low} or more", "rows": n}
        for low, high, n in zip(SIZES, ends, in_rows, strict=True)
    ]
    return {
        "node": node,
        "scores": scores,
        "sizes": sizes,
        "most": max(in_rows, default=0),
        "rows": rows,
        "classes": len(node.class_sizes),
        "alone": int((node.class_sizes == 1).sum()),
    }


async def search(request: Request) -> Response:
    """Where the loss is least, and what the search saw of the lattice."""
    desk: Desk = request.app.state.desk
    place = await sent(request, SentLevels)
    return put(await to_thread.run_sync(_search, desk, place))


def _search(desk: Desk, place: SentLevels) -> dict[str, str]:
    explorer, share = _under(desk, place)
    if not explorer.require:
        raise InputError("No limit is drawn yet, so nothing needs to be recoded; draw the limits first.")
    found = explorer.search(suppression=share, time_limit=PATIENCE)
    return {"lattice": fragment("lattice.html", **picture(found))}


def picture(found: LatticeSearch) -> dict[str, Any]:
    """The lattice, the most general node on top: dots where there are few, else a bar a height."""
    best, lattice = found.best, found.lattice
    few = lattice.nodes <= DOTS
    levels = None if best is None else [best.levels[name] for name in lattice.names]
    rows = [row for row in reversed(found.rows) if few or row.nodes]
    dots: list[list[dict[str, Any]]] = []
    if few:
        by_height: dict[int, list[tuple[int, ...]]] = {}
        for node in np.ndindex(lattice.shape):
            by_height.setdefault(sum(node), []).append(node)
        dots = [
            [
                {"levels": ",".join(map(str, node)), "state": found.state(node), "name": _named(lattice.name(node))}
                for node in by_height[row.height]
            ]
            for row in rows
        ]
    return {
        "search": found, "rows": rows, "dots": dots, "best": best, "levels": levels,
        "most": max(row.nodes for row in rows), "chosen": None if levels is None else sum(levels),
        "widest": max(map(len, dots), default=0),
    }  # fmt: skip


def _named(levels: dict[str, int]) -> str:
    return ", ".join(f"{name} {level}" for name, level in levels.items())


routes = (
    Route("/look", show, methods=["GET"]),
    Route("/look/at", at, methods=["POST"]),
    Route("/look/search", search, methods=["POST"]),
)
