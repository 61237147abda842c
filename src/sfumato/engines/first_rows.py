"""The first rows of a file as they stand, before anything is taken for a header: for an owner who shows where the table begins."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from ..core.column import text_of
from ..core.errors import SfumatoError
from ..core.noun import dataclass
from . import dialect
from .sources import what_is
from .workbook import sheet_rows


@dataclass(frozen=True)
class FirstRows:
    """The cells of the first rows, each row with its number, and the sheets that there are to choose from."""

    rows: tuple[tuple[int, tuple[str, ...]], ...]
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
        return FirstRows(rows, tuple(sheets), chosen)
    if kind != "csv":
        return None
    raw = dialect.sample(path)[0]
    try:
        seen = dialect.detect(path, encoding=encoding, delimiter=delimiter)
        text = raw.decode(seen.encoding, "replace").removeprefix("\ufeff")
        separator, quote = seen.delimiter, seen.quote
    except SfumatoError:  # it is to be shown all the same, so that its owner can say how it is read
        text, separator, quote = raw.decode(encoding or "utf-8", "replace"), delimiter or ",", '"'
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
    return FirstRows(tuple((line, (*row, *[""] * (wide - len(row)))) for line, row in rows_seen))
