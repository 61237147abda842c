"""A matrix with named rows and columns, as a CSV file: what channels are read from and written to."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...core.column import FloatArray
from ...core.errors import InputError
from ...core.files import write_whole


def read_matrix(path: Path | str, what: str = "matrix") -> tuple[tuple[str, ...], tuple[str, ...], FloatArray]:
    """Names of the rows, names of the columns, and the numbers; a number may be a fraction such as 5/17.

    The first line names the columns behind an empty cell (or a word for the rows), and each line begins with its name.
    """
    try:
        with Path(path).open(encoding="utf-8-sig", newline="") as file:
            lines = [line for line in csv.reader(file) if line]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path}: cannot be read as a {what} ({type(error).__name__}).") from None
    if len(lines) < 2 or len(lines[0]) < 2:
        raise InputError(
            f"{path}: a {what} names its columns in the first line, behind one cell, and has a line for each row, its name first."
        )
    rows, columns = tuple(line[0] for line in lines[1:]), tuple(lines[0][1:])
    for names, where in ((rows, "first column"), (columns, "first line")):
        if len(set(names)) < len(names):
            raise InputError(f"{path}: every name may stand once in the {where}.")
    numbers = np.empty((len(rows), len(columns)))
    for i, line in enumerate(lines[1:]):
        if len(line) != len(columns) + 1:
            raise InputError(f"{path}: row {i + 1} has {len(line) - 1} numbers for {len(columns)} columns.")
        try:
            numbers[i] = [_number(text) for text in line[1:]]
        except (ValueError, ZeroDivisionError):
            raise InputError(
                f"{path}: row {i + 1} has a cell that is neither a number nor a fraction such as 5/17."
            ) from None
    return rows, columns, numbers


def write_matrix(path: Path | str, rows: Sequence[Any], columns: Sequence[Any], numbers: FloatArray) -> None:
    """As `read_matrix` reads it: every number with all its digits."""
    text = io.StringIO(newline="")
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(["", *columns])
    for name, line in zip(rows, numbers.tolist(), strict=True):
        lines.writerow([name, *map(repr, line)])
    write_whole(Path(path), text.getvalue())


def _number(text: str) -> float:
    above, sign, below = text.partition("/")
    return float(above) / float(below) if sign else float(above)
