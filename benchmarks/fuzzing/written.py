"""Read what was written, with `csv` and `pyarrow` alone."""

from __future__ import annotations

import csv
import datetime
import math
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
        return value.isoformat()
    return plain(value)


def read(path: Path) -> Written:
    """The table in a .csv or .parquet file."""
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
