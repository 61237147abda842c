"""Templates: everything that is put into a page is escaped, and a name that no page gave is a mistake, never an empty text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response

from .. import __version__
from ..core.metric import Metric
from ..core.words import counted, percent
from ..report.document import printable
from ..report.html import look
from ..study.advice import spell
from .tour import STOPS

if TYPE_CHECKING:
    from .desk import Desk

_OPTION = re.compile(r"; (?:another(?: [a-z]+)?|keep): --[a-z-]+")
STEPS = (
    ("/open", "Open"),
    ("/columns", "Columns"),
    ("/hierarchies", "Hierarchies"),
    ("/limits", "Limits"),
    ("/look", "Recode and look"),
    ("/run", "Run"),
    ("/map", "Map"),
    ("/decide", "Decide"),
)
"""The owner's way, in order."""


@cache
def templates() -> Environment:
    """The templates of all pages."""
    made = Environment(
        loader=PackageLoader("sfumato.studio"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: printable(value) if type(value) is str else value,
    )
    made.filters.update(
        counted=counted, percent=percent, spell=spell, remark=remark, titled=titled, explained=explained
    )
    return made


def titled(metric: Metric) -> str:
    """A measure by its title, and the column that it is about."""
    return metric.card.title + (f" of {metric.column}" if metric.column else "")


def explained(metric: Metric) -> Markup:
    """The same, a click away from its explanation."""
    return Markup('<a class="explain" href="/explain/{}">{}</a>').format(metric.card.name, printable(titled(metric)))


def remark(text: str) -> str:
    """A note of the library without the option of the command line that changes it: here the page does."""
    return _OPTION.sub("", text)


def fragment(template: str, /, **content: Any) -> str:
    """A part of a page."""
    return templates().get_template(template).render(content)


def page(request: Request, template: str, /, *, title: str, **content: Any) -> Response:
    """A whole page, with the steps above it and where the owner stands."""
    desk: Desk = request.app.state.desk
    return HTMLResponse(
        fragment(
            template,
            title=title,
            steps=STEPS,
            here=request.url.path,
            reached=desk.reached,
            stop=STOPS.get(request.url.path, "") if desk.folder.tour.exists() else None,
            version=__version__,
            **content,
        )
    )


def put(parts: Mapping[str, str]) -> Response:
    """An answer to the script: these elements are replaced, by id."""
    return JSONResponse({"put": dict(parts)})


def go(path: str) -> Response:
    """An answer to the script: this page is next."""
    return JSONResponse({"go": path})


@cache
def style() -> str:
    """The one style sheet: the report's look, and what only the studio has."""
    common = look().removeprefix("<style>").removesuffix("</style>")
    return common + _static("studio.css")


@cache
def script() -> str:
    """The one script of ours."""
    return _static("studio.js")


def _static(name: str) -> str:
    return files(__package__).joinpath("static", name).read_text(encoding="utf-8")
