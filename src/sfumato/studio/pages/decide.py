"""Step 8, Decide: what to publish and why in plain words, then the package, the documents, and the commands for the IT department."""

from __future__ import annotations

import shlex
import shutil
import tempfile
from pathlib import Path

import msgspec
from anyio import to_thread
from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

from ...core.errors import InputError
from ...core.table_formats import check_out
from ...study.advice import advice
from ...study.inference import unprotected
from ...study.result import Result
from ..body import sent
from ..desk import Desk
from ..rendering import go, page
from ..study_plan import entry
from ..work_folder import ENDINGS
from .run_study import followed, progress

DOCUMENTS = {
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


def show(request: Request) -> Response:
    """The sheet."""
    desk: Desk = request.app.state.desk
    if not desk.has_points:
        raise InputError("Nothing was measured yet; run the candidates first.")
    result = desk.result
    said = advice(result)
    chosen = result.recommended[0]
    fitting = [i for i in result.order if result.points[i].met]
    return page(
        request, "decide.html", title="Decide", result=result, advice=said, chosen=chosen, fitting=fitting,
        context=result.study.context, verdicts=() if chosen is None else result.points[chosen].verdicts,
        open=unprotected(result), waived=result.study.waive, documents=_documents(desk), commands=commands(desk, result),
        formats=ENDINGS,
        others=[ending for ending in ENDINGS if desk.folder.release(ending).is_file()],
        packaged=desk.folder.package.is_dir(), label=result.study.title or "", **progress(desk, "package"),
    )  # fmt: skip


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
    Route("/decide/events", events, methods=["GET"]),
    Route("/documents/{name}", document, methods=["GET"]),
    Route("/package/release.csv", release, methods=["GET"]),
    Route("/release/{ending}", other, methods=["GET"]),
    Route("/package/package.zip", whole, methods=["GET"]),
)
