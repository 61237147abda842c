"""Step 8, Decide: what to publish and why in plain words, then the package, the documents, and the commands for the IT department."""

from __future__ import annotations

import json
import shlex
import shutil
import tempfile
from pathlib import Path
from typing import Any

import msgspec
from anyio import to_thread
from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

from ...core.errors import InputError
from ...core.table_formats import check_out
from ...study.advice import advice
from ...study.result import Result
from ..body import sent
from ..desk import Desk
from ..rendering import go, page
from ..study_plan import entry
from ..work_folder import ENDINGS
from .run_study import followed, progress

DOCUMENTS = {
    "decision.html": "this sheet, to be printed and signed",
    "report.html": "the whole report, for you",
    "note.html": "the note that goes with the data",
    "wp29.html": "singling out, linkability and inference (WP29)",
    "ema.html": "the form of EMA and Health Canada",
    "intruder.html": "what an intruder was able to do",
}
SANDBOX = "sandbox allow-scripts; frame-ancestors 'none'"
"""A document is opened as a page of nobody's: its own policy lets nothing in or out, and this keeps it from ours."""


class SentDecision(msgspec.Struct, forbid_unknown_fields=True):
    """The candidate that is taken, by its place in the result, and the name of the release."""

    candidate: str
    title: str = ""
    replace: str = ""
    also: list[str] = []


class SentSheet(msgspec.Struct, forbid_unknown_fields=True):
    """What the owner writes on the sheet: a reason for each open point that can be accepted, in the order of the sheet."""

    purpose: str = ""
    date: str = ""
    reasons: list[str] = []


def show(request: Request) -> Response:
    """The sheet."""
    desk: Desk = request.app.state.desk
    if not desk.has_points:
        raise InputError("Nothing was measured yet; run the candidates first.")
    result = desk.result
    said, chosen = advice(result), result.recommended[0]
    study = desk.folder.study()
    return page(
        request, "decide.html", title="Decide", result=result, sheet=_sheet(desk), advice=said, chosen=chosen,
        fitting=[i for i in result.order if result.points[i].met], changed=desk.changed,
        accepted=study.get("accept", {}), purpose=study.get("purpose", ""), date=study.get("date", ""),
        documents=_documents(desk), commands=commands(desk, result), formats=ENDINGS,
        others=[ending for ending in ENDINGS if desk.folder.release(ending).is_file()],
        packaged=desk.folder.package.is_dir(), label=result.study.title or "", **progress(desk, "package"),
    )  # fmt: skip


def _sheet(desk: Desk) -> dict[str, Any]:
    """The verdict that the run drew."""
    try:
        content: dict[str, Any] = json.loads(desk.folder.decided.read_bytes())
    except (OSError, ValueError):
        raise InputError(
            "The verdict on the last run is not there; run the candidates again, which measures nothing twice."
        ) from None
    return content


async def sign(request: Request) -> Response:
    """Keep what the owner wrote on the sheet: it stands in the study file, and so in every document."""
    desk: Desk = request.app.state.desk
    written = await sent(request, SentSheet)
    await to_thread.run_sync(_sign, desk, written)
    return go("/decide")


def _sign(desk: Desk, written: SentSheet) -> None:
    keys = [point["key"] for point in _sheet(desk)["open"] if not point["stops"]]
    if len(keys) != len(written.reasons):
        raise InputError("The page shows other points than are open; reload it.")
    reasons = {key: " ".join(text.split()) for key, text in zip(keys, written.reasons, strict=True) if text.strip()}
    content = {**desk.folder.study(), "accept": reasons}
    content |= {"purpose": " ".join(written.purpose.split())[:500], "date": " ".join(written.date.split())[:40]}
    desk.folder.write_study({key: value for key, value in content.items() if value not in ("", {})})


def _documents(desk: Desk) -> list[tuple[str, str]]:
    return [(name, words) for name, words in DOCUMENTS.items() if (desk.folder.documents / name).is_file()]


def commands(desk: Desk, result: Result) -> list[str]:
    """What does the same from the command line."""
    folder = desk.folder
    file = folder.decision_file if folder.decision_file.exists() else folder.study_file
    out = f"--out {shlex.quote(str(folder.documents))} --package {shlex.quote(str(folder.package))}"
    return [f"sfumato study {shlex.quote(str(file))} {out}", *result.commands()]


async def package(request: Request) -> Response:
    """Write the package of a candidate, in a child process."""
    desk: Desk = request.app.state.desk
    decision = await sent(request, SentDecision)
    await to_thread.run_sync(_package, desk, decision)
    return go("/decide#package")


def _package(desk: Desk, decision: SentDecision) -> None:
    result = desk.result
    if not (
        decision.candidate.isascii()
        and decision.candidate.isdigit()
        and int(decision.candidate[:6]) < len(result.points)
    ):
        raise InputError("Choose the candidate that is to be published.")
    at = int(decision.candidate)
    if desk.folder.package.exists() and not decision.replace:
        raise InputError("There is a package already; say that it may be replaced.")
    for ending in decision.also:
        if ending not in ENDINGS:
            raise InputError("Choose a format from the list.")
        check_out(desk.folder.release(ending), desk.roles.released(desk.table.columns), desk.table.rows)
    title = " ".join(decision.title.split())[:200]
    content = desk.folder.study()
    if title and title != content.get("title"):
        desk.folder.write_study(content := {**content, "title": title})
    desk.folder.decision_file.unlink(missing_ok=True)
    if at != result.recommended[0]:
        desk.folder.write_decision({**content, "refine": 0, "candidate": [entry(result.points[at].candidate)]})
    desk.jobs.start("package", *dict.fromkeys(decision.also))


async def events(request: Request) -> Response:
    """How the package comes on."""
    return followed(request.app.state.desk, "package")


def document(request: Request) -> Response:
    """A document, to be read in the browser."""
    desk: Desk = request.app.state.desk
    name = request.path_params["name"]
    path = desk.folder.documents / name
    if name not in DOCUMENTS or not path.is_file():
        raise InputError("There is no such document yet.")
    return FileResponse(path, media_type="text/html; charset=utf-8", headers={"content-security-policy": SANDBOX})


def release(request: Request) -> Response:
    """The released table by itself, as it was verified."""
    path = _packaged(request.app.state.desk) / "release.csv"
    return FileResponse(path, media_type="text/csv", filename="release.csv")


def other(request: Request) -> Response:
    """The released table in another format."""
    desk: Desk = request.app.state.desk
    ending = request.path_params["ending"]
    _packaged(desk)
    if ending not in ENDINGS or not desk.folder.release(ending).is_file():
        raise InputError("The release was not written in this format.")
    return FileResponse(
        desk.folder.release(ending), media_type="application/octet-stream", filename=f"release.{ending}"
    )


def whole(request: Request) -> Response:
    """The whole package in one file."""
    folder = _packaged(request.app.state.desk)
    place = Path(tempfile.mkdtemp(dir=request.app.state.desk.folder.private))
    packed = shutil.make_archive(str(place / "package"), "zip", folder)
    return FileResponse(
        packed,
        media_type="application/zip",
        filename="package.zip",
        background=BackgroundTask(shutil.rmtree, place, ignore_errors=True),
    )


def _packaged(desk: Desk) -> Path:
    if not desk.folder.package.is_dir() or desk.jobs.state("package").running:
        raise InputError("There is no package yet.")
    return desk.folder.package


routes = (
    Route("/decide", show, methods=["GET"]),
    Route("/decide/package", package, methods=["POST"]),
    Route("/decide/sign", sign, methods=["POST"]),
    Route("/decide/events", events, methods=["GET"]),
    Route("/documents/{name}", document, methods=["GET"]),
    Route("/package/release.csv", release, methods=["GET"]),
    Route("/release/{ending}", other, methods=["GET"]),
    Route("/package/package.zip", whole, methods=["GET"]),
)
