"""The guided tour: begin it on a made-up town, and end it."""

from __future__ import annotations

import msgspec
from anyio import to_thread
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ...core.errors import InputError
from ..body import sent
from ..desk import Desk
from ..rendering import go


class SentNothing(msgspec.Struct, forbid_unknown_fields=True):
    """A button without a field."""


async def start(request: Request) -> Response:
    """Put the town into the folder, and begin."""
    desk: Desk = request.app.state.desk
    await sent(request, SentNothing)
    await to_thread.run_sync(_start, desk)
    return go("/open")


def _start(desk: Desk) -> None:
    if desk.folder.table_file() is not None or (desk.folder.path / "people.csv").exists():
        raise InputError(
            "There is a table in this folder already; take the tour in another one: sfumato studio --folder tour."
        )
    desk.begin_tour()


async def end(request: Request) -> Response:
    """No more words of the tour."""
    desk: Desk = request.app.state.desk
    await sent(request, SentNothing)
    desk.folder.tour.unlink(missing_ok=True)
    return go("/")


routes = (
    Route("/tour/start", start, methods=["POST"]),
    Route("/tour/end", end, methods=["POST"]),
)
