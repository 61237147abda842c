"""Every document of a study, in every format, into one folder: all of this run, or all as they were."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..core.errors import InputError
from ..core.files import write_together, write_whole_bytes
from ..core.leftovers import clear
from ..core.randomness import FINDABLE
from ..study.study import Result
from . import html, markdown, pdf
from .document import Callout, Document, Paragraph
from .dpia import dpia
from .ema import ema
from .external import external
from .internal import internal
from .intruder import intruder
from .sheet import sheet
from .wp29 import wp29

FORMATS = ("html", "md", "pdf")
ALWAYS = ("report", "sheet")
"""What is written whether a release is recommended or not."""
NUMBERS = "report.json"
LISTED = "documents"
"""The key in report.json of the checksums of the documents that were written with it."""
DOCUMENTS: dict[str, Callable[[Result], Document]] = {
    "note": external,
    "dpia": dpia,
    "wp29": wp29,
    "ema": ema,
    "intruder": intruder,
}
"""Besides the report. They are about the recommended release, so there are none where none is recommended."""


def write_all(
    result: Result,
    folder: Path,
    *,
    formats: Sequence[str] = FORMATS,
    reveal: bool = False,
    only: Sequence[str] | None = None,
    numbers: dict[str, Any] | None = None,
    digest: str | None = None,
) -> list[Path]:
    """Write report, sheet, note, dpia, wp29, ema and intruder, or `only` some of them; the paths, in that order.

    `reveal` shows values in the internal report only; `digest` is the checksum of the release that was written, for report and sheet. Without a recommended release only the report is written. With `numbers` they
    go into report.json, which lists the checksums of all documents of its run and stands for the set: what an earlier run wrote about
    other numbers, and this one does not write again, is removed, so that no folder holds documents of two results.
    """
    unknown = [name for name in formats if name not in FORMATS]
    if unknown:
        raise InputError(f"Unknown format {unknown[0]!r}; choose from {', '.join(FORMATS)}.")
    if "pdf" in formats:
        pdf.check()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot be created as a folder ({type(error).__name__}); name another.") from None
    made = {"report": internal(result, reveal=reveal, digest=digest), "sheet": sheet(result, digest)}
    if result.recommended[0] is not None:
        made |= {name: make(result) for name, make in DOCUMENTS.items() if only is None or name in only}
    contents = {
        f"{name}.{each}": rendered(cautioned(document, result), each)
        for name, document in made.items()
        for each in dict.fromkeys(formats)
    }
    paths = [folder / name for name in contents]
    outdated: list[str] = []
    if numbers is not None:
        clear(folder)
        documents = {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}
        same, others = _earlier(folder, numbers, contents)
        if same:
            documents |= others
        else:
            outdated = list(others)
        text = json.dumps({**numbers, LISTED: dict(sorted(documents.items()))}, indent=2, ensure_ascii=False)
        contents[NUMBERS] = (text + "\n").encode()
    write_together(folder, contents, outdated)
    return paths


def _earlier(folder: Path, numbers: dict[str, Any], contents: Mapping[str, bytes]) -> tuple[bool, dict[str, str]]:
    """Whether an earlier report.json has the same numbers, and which other documents of its run are there, as it wrote them."""
    try:
        earlier = json.loads((folder / NUMBERS).read_bytes())
        listed = dict(earlier.pop(LISTED))
    except (OSError, ValueError, TypeError, AttributeError, KeyError, RecursionError):
        return False, {}
    ours = {f"{name}.{form}" for name in (*ALWAYS, *DOCUMENTS) for form in FORMATS} - contents.keys()
    there = {
        name: digest
        for name, digest in listed.items()
        if name in ours
        and (folder / name).is_file()
        and hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest
    }
    return earlier == json.loads(json.dumps(numbers)), there


def cautioned(document: Document, result: Result) -> Document:
    """A document with what a reader of the recommended release must know first."""
    chosen = result.recommended[0]
    if chosen is None or not result.seeded(chosen):
        return document
    return replace(document, blocks=[Callout("Drawn with a seed", [Paragraph(FINDABLE)], "beware"), *document.blocks])


def write(document: Document, path: Path) -> Path:
    """Write one document, in the format that the file's name ends in."""
    form = path.suffix.removeprefix(".")
    if form not in FORMATS:
        raise InputError(f"{path}: the name of a document must end in {', '.join('.' + name for name in FORMATS)}.")
    write_whole_bytes(path, rendered(document, form))
    return path


def rendered(document: Document, form: str) -> bytes:
    """A document in one of the formats."""
    if form == "pdf":
        return pdf.written(document)
    text = html.written(document) if form == "html" else markdown.written(document)
    return text.encode()
