"""Columns of numbers for mechanisms that change them: which ones a text names, and how changed numbers are released."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from ..core.column import FloatArray
from ..core.errors import InputError
from ._rows import Rows
from ._stated import bare, split

LARGEST = 1e150
"""Its square is the largest that can be summed over a table."""


def names_in(text: str, who: str) -> tuple[str, ...]:
    """The names in a text such as `age,salary`; a name with a comma, or a space at an end, stands in quotes: `age,"a, b"`."""
    names = tuple(bare(part) for part in split(text, ","))
    if text.count('"') % 2:
        raise InputError(f"{who}: columns is a list such as age,salary; close every quote.")
    if "" in names:
        raise InputError(f"{who}: columns is a list such as age,salary; one of its names is empty.")
    if len(set(names)) < len(names):
        raise InputError(f"{who}: columns names a column twice.")
    return names


def columns_of(rows: Rows, text: str | None, who: str) -> dict[str, FloatArray]:
    """The numbers of the columns that a text names, else of every quasi-identifier of numbers; NaN where missing."""
    if text is None:
        names = [n for n in rows.names if n in rows.roles.quasi and rows.columns[n].numbers is not None]
        if not names:
            raise InputError(
                f"{rows.table.name}: no quasi-identifier is a number that {who} could change; set columns."
            )
    elif text in rows.names:  # a single column, whatever its name looks like
        names = [text]
    else:
        names = list(names_in(text, who))
    found = {name: rows.numbers(name, who) for name in names}
    for name, values in found.items():
        check_size(rows, name, values, who)
    return found


def check_size(rows: Rows, name: str, values: FloatArray, who: str) -> None:
    """Refuse a column with numbers whose variance no floating-point number holds."""
    if np.isinf(values).any():
        raise InputError(f"{rows.table.name}: column {name!r} holds infinite numbers, which {who} cannot change.")
    if (np.abs(values) > LARGEST).any():
        raise InputError(
            f"{rows.table.name}: column {name!r} holds numbers beyond {LARGEST:g}, which {who} cannot change; correct them, or give the "
            "column another role."
        )


def is_whole(values: FloatArray) -> bool:
    """Whether all numbers are whole, missing ones aside."""
    known = values[~np.isnan(values)]
    return bool(((known == np.rint(known)) & (np.abs(known) < 2.0**53)).all())


def released(values: FloatArray) -> pa.Array:
    """Numbers as they are written, missing as NULL: as integers where all are whole, so that a file has no needless point."""
    values = np.ascontiguousarray(values, dtype=np.float64)
    gone = np.isnan(values)
    valid = pa.py_buffer(np.packbits(~gone, bitorder="little")) if gone.any() else None
    if is_whole(values):
        data = np.where(gone, 0.0, values).astype(np.int64)
        return pa.Array.from_buffers(pa.int64(), len(data), [valid, pa.py_buffer(data)])
    return pa.Array.from_buffers(pa.float64(), len(values), [valid, pa.py_buffer(values)])
