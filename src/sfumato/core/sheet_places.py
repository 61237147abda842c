"""What an owner says of where a table lies among the rows of a sheet or the lines of a file: `--header-row`, `--skip`, `--range`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from .column import text_of
from .errors import InputError

_RANGE = re.compile(r"(?i)^\$?([A-Z]{1,3})\$?([0-9]{1,7}):\$?([A-Z]{1,3})\$?([0-9]{1,7})?$")
_HEADER_ROWS = re.compile(r"^\s*([1-9][0-9]{0,6})\s*(?:[-:]\s*([1-9][0-9]{0,6}))?\s*$")


def header_rows(text: str | int) -> tuple[int, ...]:
    """The rows of `--header-row`, such as 3 or 3-4, from 0."""
    parts = _HEADER_ROWS.match(str(text))
    if parts is None or int(parts[2] or parts[1]) not in (int(parts[1]), int(parts[1]) + 1):
        raise InputError("--header-row takes the number of a row, or of two such as 3-4.")
    return tuple(range(int(parts[1]) - 1, int(parts[2] or parts[1])))


def spell_rows(rows: Sequence[int]) -> str:
    """Such rows as `--header-row` takes them."""
    return "-".join(str(i + 1) for i in rows)


def cell_range(text: str) -> tuple[int, int, int, int | None]:
    """First row, first column, last column and last row (None: to the end) of `--range`, from 0."""
    parts = _RANGE.match(text.strip())
    if parts is None:
        raise InputError("--range takes cells such as A3:F200, or A3:F for all rows from the third on.")
    first, last = _number(parts[1]), _number(parts[3])
    top, bottom = int(parts[2]) - 1, None if parts[4] is None else int(parts[4]) - 1
    if last < first or top < 0 or (bottom is not None and bottom < top):
        raise InputError("--range goes from the upper left cell to the lower right one, such as A3:F200.")
    return top, first, last, bottom


def checked_skip(skip: int | None) -> int:
    """The rows of `--skip`, none where it is not given."""
    if skip is not None and (isinstance(skip, bool) or not isinstance(skip, int) or skip < 0):
        raise InputError("--skip takes a number of rows, 0 or more.")
    return skip or 0


def joined_names(rows: Sequence[Sequence[Any]]) -> tuple[str, ...]:
    """One row's names; of two rows those of both, an upper one standing for all columns to its right until the next."""
    words = [[(text_of(value) or "").strip() for value in row] for row in rows]
    if len(words) == 1:
        return tuple(words[0])
    names, over = [], ""
    for above, below in zip(*words, strict=True):
        if above:
            over = above if below else ""  # a name without one below it stands for its own column only
        names.append(" ".join(part for part in (above or (over if below else ""), below) if part))
    return tuple(names)


def _number(column: str) -> int:
    """A is 0, XFD is 16383."""
    number = 0
    for letter in column.upper():
        number = 26 * number + ord(letter) - 64
    return number - 1
