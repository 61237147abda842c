"""The application: the pages, what they are served with, and how a mistake is answered."""

from __future__ import annotations

import os
import traceback
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from ..core.errors import SfumatoError
from ..report.html import javascript
from .desk import Desk
from .pages import (
    check,
    columns,
    compare,
    decide,
    explain,
    hierarchies,
    limits,
    look,
    open_table,
    risk_map,
    run_study,
    take_tour,
)
from .rendering import fragment, page, script, style
from .security import ENTRANCE, Guard, Keys

PAGES = (
    open_table,
    columns,
    hierarchies,
    limits,
    look,
    run_study,
    risk_map,
    compare,
    decide,
    check,
    explain,
    take_tour,
)
"""A module a step: each has its `routes`."""


def application(desk: Desk, keys: Keys) -> ASGIApp:
    """All pages of a studio, behind its walls."""
    routes = [
        Route(ENTRANCE, _enter, methods=["GET"]),
        Route("/", _home, methods=["GET"]),
        Route("/studio.css", _style, methods=["GET"]),
        Route("/studio.js", _script, methods=["GET"]),
        Route("/vega.js", _vega, methods=["GET"]),
        *(route for module in PAGES for route in module.routes),
    ]
    handlers: dict[Any, Any] = {SfumatoError: _sentence, HTTPException: _refused, Exception: _mistake}
    app = Starlette(routes=routes, exception_handlers=handlers)
    app.router.redirect_slashes = False
    app.state.desk, app.state.keys = desk, keys
    return Guard(app, keys=keys)


async def _enter(request: Request) -> Response:
    """Exchange the token for the cookie.

    The answer is a page that goes on by itself and not a redirect: a browser that was sent here from elsewhere would follow that without
    the cookie.
    """
    keys: Keys = request.app.state.keys
    return HTMLResponse(fragment("enter.html"), headers={"set-cookie": keys.set_cookie})


async def _home(request: Request) -> Response:
    desk: Desk = request.app.state.desk
    return RedirectResponse(desk.reached, 303)


async def _style(request: Request) -> Response:
    return PlainTextResponse(style(), media_type="text/css")


async def _script(request: Request) -> Response:
    return PlainTextResponse(script(), media_type="text/javascript")


def _vega(request: Request) -> Response:
    """Vega, Vega-Lite and Vega-Embed from the installed package, built once."""
    kept = {"cache-control": "private, max-age=3600"}  # it says nothing of the data, and is a megabyte
    return PlainTextResponse(javascript(), media_type="text/javascript", headers=kept)


async def _sentence(request: Request, error: Exception) -> Response:
    """What the owner can act on."""
    return _answer(request, str(error), 400)


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return PlainTextResponse(error.detail, error.status_code)


async def _mistake(request: Request, error: Exception) -> Response:
    """The text of a foreign error may quote the table, so only its kind and place are told."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{os.path.basename(place.filename)}:{place.lineno}"
    return _answer(request, f"A mistake of ours ({type(error).__name__} at {where}); please report it.", 500)


def _answer(request: Request, sentence: str, status: int) -> Response:
    if request.method == "POST":
        return JSONResponse({"error": sentence}, status)
    answer = page(request, "sorry.html", title="This does not work", sentence=sentence)
    answer.status_code = status
    return answer
