"""Step 1, Open: bring a table, see how it is read, and correct that."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
from anyio import to_thread
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ...core.errors import InputError, SfumatoError
from ...core.stated_reading import ALL, missing_codes
from ...engines.first_rows import first_rows
from ...profile.sentinels import sentinels
from ..body import sent
from ..desk import Desk
from ..rendering import go, page
from ..security import MOST_UPLOAD, UPLOAD
from ..uploads import receive

SHOWN = 8
"""Rows of the table that are shown as they are read."""
DECIMALS = {
    "": "as seen",
    "comma": "1,5 is one and a half",
    "point": "1,500 is fifteen hundred",
    "text": "leave as text",
}
DATES = {"": "as seen", "day-first": "03/04 is 3 April", "month-first": "03/04 is March 4", "text": "leave as text"}
TOTALS = {"": "as seen", "yes": "leave the last row out", "no": "every row is data"}


class SentReading(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """How the owner says that the table is read; an empty text is left to what is seen."""

    totals: str
    decimal: str
    dates: str
    encoding: str
    delimiter: str
    sheet: str = ""
    header_row: str = ""
    everywhere: str
    """Texts that mean missing in every column, with commas between."""
    missing: list[str] = []
    """Column and code of each guess that was confirmed, as JSON."""


def show(request: Request) -> Response:
    """What is there, or where to bring it."""
    desk: Desk = request.app.state.desk
    path = desk.folder.table_file()
    if path is None:
        return page(request, "open.html", title="Open a table", table=None, name="", most=MOST_UPLOAD)
    content: dict[str, Any] = {"table": None, "problem": "", "guesses": [], "top": {}, "rows_top": 0}
    study, reading = desk.folder.study(), {}
    try:
        reading = dict(desk.roles.reading)
        table = desk.raw
        content |= {
            "table": table,
            "top": table.first(SHOWN),
            "rows_top": min(SHOWN, table.rows),
            "guesses": guesses(desk),
        }
    except SfumatoError as error:
        content["problem"] = str(error)
    codes = dict(missing_codes(reading.get("missing", ())))
    return page(
        request, "open.html", title="Open a table", name=path.name, most=MOST_UPLOAD, reading=reading, sheet=study.get("sheet"),
        everywhere=", ".join(codes.get(ALL, ())), decimals=DECIMALS, dates=DATES, totals=TOTALS,
        cells=first_rows(path, sheet=study.get("sheet"), encoding=reading.get("encoding"), delimiter=reading.get("delimiter")),
        **content,
    )  # fmt: skip


def guesses(desk: Desk) -> list[dict[str, Any]]:
    """Codes that look like missing values, whether they are read so now, and why they look it."""
    now = [(name, code) for name, texts in desk.roles.missing if name != ALL for code in texts]
    found = [
        {"column": name, "code": code, "yes": True, "why": "read as missing", "key": json.dumps([name, code])}
        for name, code in now
    ]
    about = desk.suggested.columns
    countable = [column.name for column in about if column.exactness == "exact"]
    for name, counts in desk.raw.value_counts(countable).items():
        codes = sentinels(counts)[0]
        for code in () if codes is None else codes.codes:
            found.append(
                {
                    "column": name,
                    "code": code,
                    "yes": False,
                    "why": codes.reason if codes else "",
                    "key": json.dumps([name, code]),
                }
            )
    return found


async def upload(request: Request) -> Response:
    """Take a file into the work folder, whole or not at all, and look at it."""
    desk: Desk = request.app.state.desk

    def begin(hidden: Path, target: Path) -> None:
        hidden.replace(target)
        desk.bring(target)

    await receive(request, desk.folder, begin)
    return go("/open")


async def read_so(request: Request) -> Response:
    """Read the table as its owner says."""
    desk: Desk = request.app.state.desk
    reading = await sent(request, SentReading)
    await to_thread.run_sync(_read_so, desk, reading)
    return go("/open")


def _read_so(desk: Desk, said: SentReading) -> None:
    stated: dict[str, Any] = {
        k: v for k in ("header_row", "decimal", "dates", "encoding", "delimiter") if (v := getattr(said, k))
    }
    if said.totals:
        stated["totals"] = said.totals == "yes"
    codes: dict[str, list[str]] = {}
    if texts := [text.strip() for text in said.everywhere.split(",") if text.strip()]:
        codes[ALL] = texts
    for key in said.missing:
        try:
            name, code = msgspec.json.decode(key, type=tuple[str, str])
        except msgspec.MsgspecError:
            raise InputError("The page sent what this step does not take; reload it.") from None
        codes.setdefault(name, []).append(code)
    if codes:
        stated["missing"] = codes
    desk.read_so(stated, said.sheet or None)


routes = (
    Route("/open", show, methods=["GET"]),
    Route(UPLOAD, upload, methods=["POST"]),
    Route("/open/reading", read_so, methods=["POST"]),
)
