"""Two candidates side by side: the columns before and after, the most exposed classes, subgroups, what an intruder does."""

from __future__ import annotations

import json
from typing import Any

import msgspec
from anyio import to_thread
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ...core.errors import InputError
from ...metrics import metric
from ..body import sent
from ..desk import Desk
from ..rendering import go, page
from .run_study import followed, progress


class SentPair(msgspec.Struct, forbid_unknown_fields=True):
    """Two candidates by their places in the result."""

    a: int
    b: int


def show(request: Request) -> Response:
    """The last comparison, or how it comes on."""
    desk: Desk = request.app.state.desk
    result = desk.result
    there = None if desk.jobs.state("compare").running else _read(desk)
    return page(
        request, "compare.html", title="Two candidates side by side", there=there, names=result.names,
        choices=[i for i in result.order if result.points[i].failure is None], cards={} if there is None else _cards(there),
        quasi=result.study.roles.quasi, **progress(desk, "compare"),
    )  # fmt: skip


def _read(desk: Desk) -> dict[str, Any] | None:
    """What was compared last, where it is of the candidates that there are."""
    try:
        content: dict[str, Any] = json.loads(desk.folder.comparison.read_bytes())
        places, points = content["places"], desk.result.points
        same = all(points[i].candidate.name == name for i, name in zip(places, content["whole"], strict=True))
    except (OSError, ValueError, KeyError, IndexError, TypeError):
        return None
    return content if same else None


def _cards(there: dict[str, Any]) -> dict[str, Any]:
    return {name: metric(name) for name in there["versus"]["measures"]}


async def start(request: Request) -> Response:
    """Make both again and compare them, in a child process."""
    desk: Desk = request.app.state.desk
    pair = await sent(request, SentPair)
    await to_thread.run_sync(_start, desk, pair)
    return go("/compare")


def _start(desk: Desk, pair: SentPair) -> None:
    points = desk.result.points
    for at in (pair.a, pair.b):
        if not 0 <= at < len(points) or points[at].failure is not None:
            raise InputError("Choose two candidates that were made.")
    if pair.a == pair.b:
        raise InputError("Choose two different candidates.")
    desk.jobs.start("compare", str(pair.a), str(pair.b))


async def events(request: Request) -> Response:
    """How it comes on."""
    return followed(request.app.state.desk, "compare")


routes = (
    Route("/compare", show, methods=["GET"]),
    Route("/compare/start", start, methods=["POST"]),
    Route("/compare/events", events, methods=["GET"]),
)
