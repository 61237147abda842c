"""Step 6, Run: a study in a child process, followed by its events; reload, second tab and restart see the same."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec
from anyio import to_thread
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from ...core.figure import drawable
from ...inspect.default_metrics import usual_metrics
from ...metrics import metric
from ...profile.free_release import check_free
from ...study.default_candidates import candidates
from ...study.events import FILE, Began, Failed, Measured, replay
from ...study.tally import Tally
from ..body import sent
from ..desk import Desk
from ..rendering import fragment, go, page, put
from ..study_plan import entry

LOOK = 0.25
"""Seconds between two looks at the events."""
ALIVE = 15.0
"""Seconds after which a silent stream says that it lives."""


class SentPlan(msgspec.Struct, forbid_unknown_fields=True):
    """What is tried."""

    wide: str = ""


def show(request: Request) -> Response:
    """What will be tried, what runs, or what ended."""
    desk: Desk = request.app.state.desk
    study = desk.folder.study()
    return page(
        request, "run.html", title="Make and measure the candidates", limits=desk.limits, planned=len(study.get("candidate", ())),
        **progress(desk, "study"),
    )  # fmt: skip


def progress(desk: Desk, kind: str) -> dict[str, Any]:
    """Where a job stands, for its template: what became of the child, and how far the study is that it runs."""
    state, tally, made = desk.jobs.state(kind), Tally(), []
    axes: tuple[str, str] = ("", "")
    began = float(state.events[0]["at"]) if state.events else 0.0
    for _, event in replay(desk.folder.kept / FILE):
        if isinstance(event, Began) and datetime.fromisoformat(event.at).timestamp() < int(began):
            break  # of an earlier run: this one has not come so far
        tally(event)
        if isinstance(event, Began):
            axes = (event.risk, event.utility)
        if isinstance(event, Measured | Failed):
            made.append(event)
    dots = sketch([event for event in made if isinstance(event, Measured)])
    return {
        "state": state, "tally": tally, "made": made[::-1], "error": str(state.last.get("error", "")), "dots": dots,
        "axes": [metric(name) for name in axes if name] if dots else [],
    }  # fmt: skip


def sketch(made: Sequence[Measured]) -> list[dict[str, Any]]:
    """Where the candidates so far stand on the map: shares of its width and height, from the worst of each axis to 0."""
    placed = [e for e in made if e.risk is not None and e.utility is not None and drawable(e.risk, e.utility)]
    most = [max((abs(getattr(e, axis)) for e in placed), default=0.0) or 1.0 for axis in ("utility", "risk")]
    return [
        {"x": abs(e.utility or 0.0) / most[0], "y": abs(e.risk or 0.0) / most[1], "met": e.met, "name": e.name}
        for e in placed
    ]


async def start(request: Request) -> Response:
    """SentPlan the candidates, unless the study file has some, and start."""
    desk: Desk = request.app.state.desk
    plan = await sent(request, SentPlan)
    await to_thread.run_sync(_start, desk, bool(plan.wide))
    return go("/run")


def _start(desk: Desk, wide: bool) -> None:
    study, content = desk.study, desk.folder.study()
    check_free(study.table, study.roles, study.waive)
    if not content.get("candidate"):
        made = candidates(study.table, study.roles, study.require, study.utility, wide=wide)
        entries = [entry(each) for each in made]
        measures = [str(each) for each in usual_metrics(study.roles)]
        desk.folder.write_study({**content, "measures": measures, "candidate": entries})
    desk.jobs.start("study")


async def stop(request: Request) -> Response:
    """Interrupt the child; what it measured is kept."""
    desk: Desk = request.app.state.desk
    await sent(request, SentPlan)
    await to_thread.run_sync(desk.jobs.stop, "study")
    return put({"progress": fragment("progress.html", **progress(desk, "study"))})


async def events(request: Request) -> Response:
    """The progress again whenever it changes: each message holds all of it, so that none can be missed."""
    desk: Desk = request.app.state.desk
    return followed(desk, "study")


def followed(desk: Desk, kind: str) -> Response:
    """A stream of server-sent events about a job, until it ends."""
    return StreamingResponse(_follow(desk, kind), media_type="text/event-stream")


async def _follow(desk: Desk, kind: str) -> AsyncIterator[str]:
    before: tuple[Any, ...] | None = None
    spoke = time.monotonic()
    while True:
        state = await to_thread.run_sync(desk.jobs.state, kind)
        now = (len(state.events), state.running, _size(desk.folder.kept / FILE))
        if now != before:
            before, spoke = now, time.monotonic()
            content = await to_thread.run_sync(progress, desk, kind)
            parts = {"progress": fragment("progress.html", **content)}
            yield f"data: {json.dumps({'put': parts, 'over': not state.running})}\n\n"
        elif time.monotonic() - spoke > ALIVE:
            spoke = time.monotonic()
            yield ": still here\n\n"
        if not state.running:
            return
        await asyncio.sleep(LOOK)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


routes = (
    Route("/run", show, methods=["GET"]),
    Route("/run/start", start, methods=["POST"]),
    Route("/run/stop", stop, methods=["POST"]),
    Route("/run/events", events, methods=["GET"]),
)
