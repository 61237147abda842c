"""The first rows of a file as they stand, before anything is taken for a header: for an owner who shows where the table begins."""

from __future__ import annotations

import csv
import io
from contextlib import suppress
from pathlib import Path

from ..core.column import text_of
from ..core.errors import SfumatoError
from ..core.noun import dataclass
from . import dialect
from .sources import what_is
from .workbook import sheet_rows

LAST = 3
"""Rows from the end that are shown."""
_TAIL = 1 << 16


@dataclass(frozen=True)
class FirstRows:
    """The cells of the first rows, each row with its number, of the last ones, and the sheets that there are to choose from."""

    rows: tuple[tuple[int, tuple[str, ...]], ...]
    last: tuple[tuple[str, ...], ...] = ()
    """The cells of the last rows, where a total may stand; none where the first rows are all there are."""
    sheets: tuple[str, ...] = ()
    sheet: str | None = None


def first_rows(
    path: Path, *, sheet: str | None = None, encoding: str | None = None, delimiter: str | None = None, most: int = 12
) -> FirstRows | None:
    """The first rows of a workbook's sheet, or the first lines of a CSV file; None for kinds of files that name their columns."""
    kind = what_is(path)
    if kind == "excel":
        sheets, chosen, cells = sheet_rows(path, sheet)
        wide = max((len(row) for row in cells[:most]), default=0)
        texts = (tuple(text_of(value) or "" for value in row) for row in cells[:most])
        rows = tuple((i, (*row, *[""] * (wide - len(row)))) for i, row in enumerate(texts, 1))
        final = (tuple(text_of(value) or "" for value in row)[:wide] for row in cells[max(most, len(cells) - LAST) :])
        return FirstRows(rows, tuple((*row, *[""] * (wide - len(row))) for row in final), tuple(sheets), chosen)
    if kind != "csv":
        return None
    raw, whole = dialect.sample(path)
    try:
        seen = dialect.detect(path, encoding=encoding, delimiter=delimiter)
        coding, separator, quote = seen.encoding, seen.delimiter, seen.quote
    except SfumatoError:  # it is to be shown all the same, so that its owner can say how it is read
        coding, separator, quote = encoding or "utf-8", delimiter or ",", '"'
    text = raw.decode(coding, "replace").removeprefix("\ufeff")
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, quotechar=quote or '"')
    rows_seen: list[tuple[int, tuple[str, ...]]] = []
    line = 1
    try:
        for record in reader:
            rows_seen.append((line, tuple(record)))
            line = reader.line_num + 1
            if len(rows_seen) == most:
                break
    except csv.Error:
        pass
    wide = max((len(row) for _, row in rows_seen), default=0)
    last: list[tuple[str, ...]] = []
    if path.suffix.lower() not in (".gz", ".zst") and not coding.lower().startswith(("utf-16", "utf-32")):
        end = (raw if whole else _end(path)).decode(coding, "replace").splitlines()[most if whole else 1 :]
        lines = [line for line in end if line.strip()][-LAST:]
        with suppress(csv.Error):
            last = [tuple(row) for row in csv.reader(lines, delimiter=separator, quotechar=quote or '"')]
    return FirstRows(
        tuple((line, (*row, *[""] * (wide - len(row)))) for line, row in rows_seen),
        tuple((*row, *[""] * (wide - len(row))) for row in last if len(row) <= wide),
    )


def _end(path: Path) -> bytes:
    """The last part of a file; its first line may be cut."""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - _TAIL))
        return file.read()
