"""Read what was written, with `csv` and `pyarrow` alone."""

from __future__ import annotations

import csv
import datetime
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from .cover import plain

Cell = str | None


@dataclass(frozen=True, kw_only=True)
class Written:
    """A written table: names of its columns, and its rows as texts (None: missing)."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]

    def column(self, name: str) -> list[Cell]:
        at = self.columns.index(name)
        return [row[at] for row in self.rows]

    def tuples(self, names: list[str]) -> list[tuple[Cell, ...]]:
        places = [self.columns.index(name) for name in names]
        return [tuple(row[i] for i in places) for row in self.rows]


def _cell(value: Any) -> Cell:
    if value is None or value == "" or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value == 0:
        return "0"  # -0 is 0
    if isinstance(value, datetime.datetime):
        return value.isoformat() if value.time() != datetime.time() else value.date().isoformat()
    return plain(value)


_ESCAPED = re.compile(r"'+[=+\-@\t\r\n]")


def _undone(cell: Cell) -> Cell:
    """A cell without the apostrophe that keeps a spreadsheet from running it."""
    return cell[1:] if cell is not None and _ESCAPED.match(cell) else cell


def read(path: Path, *, neutral: bool = False) -> Written:
    """The table in a file. In a `neutral` one no cell begins like a formula, and its apostrophes are taken off."""
    written = _read(path)
    if not neutral:
        return written
    cells = [*written.columns, *(cell for row in written.rows for cell in row if cell is not None)]
    if any(cell[:1] in ("=", "@", "\t", "\r", "\n") or re.match(r"[+-](?![\d.]|inf)", cell) for cell in cells):
        raise ValueError("a cell begins like a formula")
    return Written(
        columns=tuple(_undone(name) or "" for name in written.columns),
        rows=tuple(tuple(map(_undone, row)) for row in written.rows),
    )


def _of(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> Written:
    return Written(columns=tuple(columns), rows=tuple(tuple(map(_cell, row)) for row in rows))


def _read(path: Path) -> Written:
    if path.suffix == ".xlsx":
        import openpyxl

        head, *rows = openpyxl.load_workbook(path).active.iter_rows(values_only=True)
        return _of([str(name) for name in head], rows)
    if path.suffix in (".sav", ".dta"):
        import pyreadstat

        cells, meta = (pyreadstat.read_sav if path.suffix == ".sav" else pyreadstat.read_dta)(
            str(path), output_format="dict"
        )
        return _of(meta.column_names, list(zip(*(cells[name] for name in meta.column_names), strict=True)))
    if path.suffix == ".parquet":
        table = pq.read_table(path)
        columns = [table.column(i).to_pylist() for i in range(table.num_columns)]
        return Written(
            columns=tuple(table.column_names), rows=tuple(tuple(map(_cell, row)) for row in zip(*columns, strict=True))
        )
    with path.open(encoding="utf-8", newline="") as file:
        lines = list(csv.reader(file))
    if not lines:
        raise ValueError("an empty file")
    width = len(lines[0])
    rows = [[""] if not line and width == 1 else line for line in lines[1:]]  # one empty cell is an empty line
    if any(len(row) != width for row in rows):
        raise ValueError("rows of different lengths")
    return Written(columns=tuple(lines[0]), rows=tuple(tuple(cell or None for cell in row) for row in rows))
