"""The rows of a sheet, from a workbook that may claim more than it holds.

The reader makes room for the whole rectangle between the first and the last cell, so two cells in opposite corners of a sheet ask
for 2^34. An .xlsx file is therefore streamed first: how far it inflates, and how far apart its cells lie. The other formats are
read by a process of their own with a limit on its memory: whatever they do to the reader, they do it there.
"""

from __future__ import annotations

import pickle
import re
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from ..core.errors import InputError
from . import sheet_reader
from .sheet_reader import CHILD_MEMORY

_MOST_CELLS = 1 << 26
_SPARSE, _FEW = 50, 1_000_000
"""A rectangle of more than a million cells, and more than fifty for each that is filled, is no table."""
_MOST_BYTES = 1 << 31
_BOMB, _SMALL = 200, 100 << 20
"""What inflates to more than 100 MB, and two hundred times its size, was packed to do harm: tables inflate tenfold."""
_BLOCK = 1 << 20
_CELL = re.compile(rb"<(?:\w+:)?c(?:\s[^>]*)?(?<!/)>")
_PLACED = re.compile(rb'<c r="([A-Z]{1,3})([0-9]{1,7})"(?: [a-qs-z]+="[^">]*")*>')
_ROW = re.compile(rb"<(?:\w+:)?row[\s>/]")
_ANY_PLACE = re.compile(rb"\br\s*=\s*[\"']\$?([A-Za-z]*)\$?([0-9]*)([^\"']?)")


def sheet_rows(path: Path, sheet: str | None) -> tuple[list[str], str, list[list[Any]]]:
    """The names of the sheets, the one that was read, and its rows."""
    if path.suffix.lower() in (".xlsx", ".xlsm"):
        _check(path)
        names, chosen, rows = sheet_reader.read(str(path), sheet)
    else:
        names, chosen, rows = _read_apart(path, sheet)
    if rows is None:
        if not names:
            raise _unreadable(path)
        raise InputError(f"{path}: no sheet {sheet!r}; it has {', '.join(names)}.")
    return names, chosen, rows


def _unreadable(path: Path) -> InputError:
    return InputError(f"{path}: not an Excel file that can be read; save it as .xlsx or CSV.")


def _read_apart(path: Path, sheet: str | None) -> tuple[list[str], str, list[list[Any]] | None]:
    words = [sys.executable, "-I", sheet_reader.__file__, str(path.absolute()), *([] if sheet is None else [sheet])]
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    if done.returncode:
        raise InputError(
            f"{path}: the workbook cannot be read within {CHILD_MEMORY >> 30} GB; it is damaged or claims more cells than it has. "
            "Save it as .xlsx or CSV."
        )
    sheets: tuple[list[str], str, list[list[Any]] | None] = pickle.loads(done.stdout)  # made by our own file
    return sheets


def _check(path: Path) -> None:
    """Refuse what would take the memory of the machine, before anything is built from it."""
    total = 0
    try:
        with path.open("rb") as raw, zipfile.ZipFile(raw) as packed:
            for part in packed.infolist():
                extent = _Extent()
                for block in _inflated(raw, part):
                    total += len(block)
                    extent.add(block)
                    if total > _MOST_BYTES or (total > _SMALL and total > _BOMB * path.stat().st_size):
                        raise InputError(
                            f"{path}: the workbook inflates to more than {total >> 20:,} MB, far more than a table of its size; "
                            "save the table as CSV."
                        )
                rows, columns, cells = extent.end()
                if rows * columns > min(_MOST_CELLS, max(_FEW, _SPARSE * cells)):
                    raise InputError(
                        f"{path}: a sheet with {cells:,} filled cells spans {rows:,} rows and {columns:,} columns; delete the cells "
                        "that lie far from the table, or save it as CSV."
                    )
    except (OSError, zipfile.BadZipFile, zlib.error, NotImplementedError, ValueError):
        raise _unreadable(path) from None


def _inflated(raw: BinaryIO, part: zipfile.ZipInfo) -> Iterator[bytes]:
    """The content of a part, block by block: what it really inflates to, not what its header says."""
    raw.seek(part.header_offset)
    header = raw.read(30)
    if len(header) < 30:
        raise zipfile.BadZipFile
    raw.seek(int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little"), 1)
    left = part.compress_size
    inflate = zlib.decompressobj(-15) if part.compress_type == zipfile.ZIP_DEFLATED else None
    while left > 0 and (block := raw.read(min(_BLOCK, left))):
        left -= len(block)
        if inflate is None:
            yield block
            continue
        while block and not inflate.eof:
            yield inflate.decompress(block, _BLOCK)
            block = inflate.unconsumed_tail


class _Extent:
    """How far the cells of a sheet lie apart, from its text as it streams by: at least what the reader will make room for."""

    def __init__(self) -> None:
        self.rows = self.columns = self.cells = 0
        self._tail = b""
        self._lines = self._in_row = self._widest = 0
        """Rows and cells may stand without a place: each is then the next."""

    def add(self, block: bytes) -> None:
        text = self._tail + block
        cut = text.rfind(b"<")
        if cut < 0 or b">" in text[cut:]:  # no tag is cut in two
            cut = len(text)
        self._tail = text[cut:]
        self._look(text[:cut])
        if len(self._tail) > _BLOCK:
            raise ValueError

    def end(self) -> tuple[int, int, int]:
        """Rows, columns and filled cells."""
        self._look(self._tail)
        return self.rows + self._lines, self.columns + self._widest, self.cells

    def _look(self, text: bytes) -> None:
        cells = len(_CELL.findall(text))
        self.cells += cells
        placed = _PLACED.findall(text)
        if len(placed) == cells and len(_ROW.findall(text)) == text.count(b'<row r="'):
            columns, rows = {column for column, _ in placed}, (int(row) for _, row in placed)
            places = [(max(columns, key=lambda c: (len(c), c)), b"%d" % max(rows))] if placed else []
        else:
            marks = _ANY_PLACE.findall(text)
            if any(more in (b"&", b"\\") for _, _, more in marks):
                raise ValueError
            places = [(column, row) for column, row, _ in marks]
            self._count_unplaced(text)
        for column, row in places:
            self.columns = max(self.columns, _number(column))
            self.rows = max(self.rows, int(row or b"0"))

    def _count_unplaced(self, text: bytes) -> None:
        for i, part in enumerate(_ROW.split(text)):
            self._lines += i > 0
            self._in_row = (self._in_row if i == 0 else 0) + len(_CELL.findall(part))
            self._widest = max(self._widest, self._in_row)


def _number(column: bytes) -> int:
    """A is 1, XFD is 16384."""
    number = 0
    for letter in column.upper()[:8]:
        number = 26 * number + letter - 64
    return number
