"""Files that we wrote, read as we wrote them."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from ..core.table import Table
from ..engines import read
from ..engines.formula_escapes import plain


def read_published(path: Path, *, neutralise_formulas: bool = False) -> Table:
    """A file that we wrote, as we wrote it; of neutralised cells the values that they stand for."""
    table = read(path, **dialect(path))
    return plain(table) if neutralise_formulas else table


def dialect(path: Path) -> dict[str, Any]:
    """Our own dialect is not guessed: whatever names and values the release holds, it is read as it was written."""
    if path.suffix.lower() != ".csv":
        return {"dates": "text", "decimal": "text"}
    return {"delimiter": ",", "quote": '"', "encoding": "utf-8", "header": True, "dates": "text", "decimal": "text"}


def checksum(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
