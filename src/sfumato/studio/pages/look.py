"""Step 5, Recode and look: move a column's level and see at once what it does to risk, loss, classes and limits."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
from anyio import to_thread
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ...core.errors import InputError
from ...metrics import metric
from ...search.explorer import ExploredNode
from ..body import sent
from ..desk import Desk
from ..rendering import fragment, page, put

SIZES = (1, 2, 3, 5, 10, 20, 50, 100)
"""Where the classes are told apart by size."""


class SentLevels(msgspec.Struct, forbid_unknown_fields=True):
    """A level a quasi-identifier, in the order of the roles, and the per cent of the rows that may be left out."""

    levels: list[str]
    suppression: str


def show(request: Request) -> Response:
    """The sliders, all at the table as it is."""
    desk: Desk = request.app.state.desk
    explorer = desk.explorer
    names = list(explorer.highest)
    sliders = [{"name": name, "highest": explorer.highest[name], "alone": explorer.alone(name)} for name in names]
    node = explorer.at({})
    return page(
        request,
        "look.html",
        title="Recode and look",
        sliders=sliders,
        nodes=explorer.nodes,
        **seen(node, explorer.rows),
    )


async def at(request: Request) -> Response:
    """What one place of the sliders says."""
    desk: Desk = request.app.state.desk
    place = await sent(request, SentLevels)
    return put(await to_thread.run_sync(_at, desk, place))


def _at(desk: Desk, place: SentLevels) -> dict[str, str]:
    explorer = desk.explorer
    names = list(explorer.highest)
    if len(place.levels) != len(names) or not all(
        text.isascii() and text.isdigit() and len(text) < 4 for text in place.levels
    ):
        raise InputError("The page shows other columns than the table has; reload it.")
    try:
        share = float(place.suppression) / 100
    except ValueError:
        share = -1.0
    levels = {name: int(text) for name, text in zip(names, place.levels, strict=True)}
    node = explorer.at(levels, suppression=share)
    return {"seen": fragment("seen.html", **seen(node, explorer.rows))}


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


routes = (
    Route("/look", show, methods=["GET"]),
    Route("/look/at", at, methods=["POST"]),
)
