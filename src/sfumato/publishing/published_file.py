"""Files that we wrote, read as we wrote them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..core import table_formats as formats
from ..core.table import Table
from ..core.variable import Variable
from ..engines import read
from ..engines.formula_escapes import plain


def read_published(
    path: Path, *, neutralise_formulas: bool = False, variables: Mapping[str, Variable] | None = None
) -> Table:
    """A file that we wrote, as we wrote it; of neutralised cells the values that they stand for, of codes their labels."""
    options = dialect(path)
    if variables is not None and formats.of(path) in formats.STATISTICAL:
        options["labels"] = [name for name, variable in variables.items() if variable.labelled]
    table = read(path, **options)
    return plain(table) if neutralise_formulas else table


def dialect(path: Path) -> dict[str, Any]:
    """Our own dialect is not guessed: whatever names and values the release holds, it is read as it was written."""
    spelled = {"dates": "text", "decimal": "text"}
    form = formats.of(path)
    if form is formats.EXCEL:
        return {"header_row": "1", "totals": False, **spelled}
    if form is formats.CSV:
        return {
            "delimiter": ",",
            "quote": '"',
            "encoding": "utf-8",
            "header": True,
            "skip": 0,
            "totals": False,
            **spelled,
        }
    return dict(spelled)


def checksum(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
