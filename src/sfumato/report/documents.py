"""Every document of a study, in every format, into one folder; each file complete or absent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from ..core.chance import FINDABLE
from ..core.errors import InputError
from ..core.files import write_whole, write_whole_bytes
from ..study.study import Result
from . import as_html, as_markdown, as_pdf
from .document import Callout, Document, Paragraph
from .ema import ema
from .external import external
from .internal import internal
from .intruder import intruder
from .wp29 import wp29

FORMATS = ("html", "md", "pdf")
DOCUMENTS: dict[str, Callable[[Result], Document]] = {
    "note": external,
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
) -> list[Path]:
    """Write report, note, wp29, ema and intruder, or `only` some of them; the paths, in that order.

    `reveal` shows values in the internal report only. Without a recommended release only the report is written.
    """
    unknown = [name for name in formats if name not in FORMATS]
    if unknown:
        raise InputError(f"No format {unknown[0]!r}; there are {', '.join(FORMATS)}.")
    if "pdf" in formats:
        as_pdf.check()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot be made or is no folder ({type(error).__name__}).") from None
    made = {"report": internal(result, reveal=reveal)}
    if result.recommended[0] is not None:
        made |= {name: make(result) for name, make in DOCUMENTS.items() if only is None or name in only}
    made = {name: cautioned(document, result) for name, document in made.items()}
    return [
        write(document, folder / f"{name}.{each}") for name, document in made.items() for each in dict.fromkeys(formats)
    ]


def cautioned(document: Document, result: Result) -> Document:
    """A document with what a reader of the recommended release must know first."""
    chosen = result.recommended[0]
    if chosen is None or not result.seeded(chosen):
        return document
    return replace(document, blocks=[Callout("Drawn with a seed", [Paragraph(FINDABLE)], "beware"), *document.blocks])


def write(document: Document, path: Path) -> Path:
    """Write one document, in the format that the file's name ends in."""
    form = path.suffix.removeprefix(".")
    if form == "html":
        write_whole(path, as_html.written(document))
    elif form == "md":
        write_whole(path, as_markdown.written(document))
    elif form == "pdf":
        write_whole_bytes(path, as_pdf.written(document))
    else:
        raise InputError(f"{path}: a document ends in {', '.join('.' + name for name in FORMATS)}.")
    return path
