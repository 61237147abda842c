"""Check somebody's release: a file made elsewhere, held against the limits of this study and attacked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ...core.errors import InputError
from ..desk import Desk
from ..rendering import go, page
from ..security import UPLOAD_RELEASE
from ..uploads import receive
from .run_study import followed, progress


def show(request: Request) -> Response:
    """Where to bring it, and what was found."""
    desk: Desk = request.app.state.desk
    there: dict[str, Any] | None = None
    if not desk.jobs.state("check").running and desk.folder.checked.exists():
        try:
            there = json.loads(desk.folder.checked.read_bytes())
        except ValueError:
            there = None
    return page(
        request, "check.html", title="Check somebody's release", there=there, limits=desk.limits, table=desk.table_file.name,
        brought=desk.folder.brought(), **progress(desk, "check"),
    )  # fmt: skip


async def upload(request: Request) -> Response:
    """Take the release into its folder, in place of an earlier one, and look at it."""
    desk: Desk = request.app.state.desk
    if not desk.limits:
        raise InputError("There is no limit to hold the release against; draw the limits first.")

    def check(hidden: Path, target: Path) -> None:
        for other in target.parent.glob("[!.]*"):
            other.unlink()
        hidden.replace(target)
        desk.folder.checked.unlink(missing_ok=True)
        desk.jobs.start("check")

    await receive(request, desk.folder.inbox, check)
    return go("/check")


async def events(request: Request) -> Response:
    """How it comes on."""
    return followed(request.app.state.desk, "check")


routes = (
    Route("/check", show, methods=["GET"]),
    Route(UPLOAD_RELEASE, upload, methods=["POST"]),
    Route("/check/events", events, methods=["GET"]),
)
