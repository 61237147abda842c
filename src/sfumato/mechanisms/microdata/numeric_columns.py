"""Columns of numbers for mechanisms that change them: which ones a text names, and how changed numbers are released."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from ...core.column import FloatArray
from ...core.errors import InputError
from ...core.sizes import LARGEST
from ..parameters.stated_domains import bare, split
from .rows import Rows


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


def released_columns(rows: Rows, text: str, who: str) -> tuple[str, ...]:
    """The columns that a text names; a single one may stand as it is, whatever its name looks like."""
    names = (text,) if text in rows.names else names_in(text, who)
    for name in names:
        if name not in rows.names:
            raise InputError(f"{rows.table.name}: no column {name!r} that may be released, which {who} should change.")
    return names


def columns_of(rows: Rows, text: str | None, who: str) -> dict[str, FloatArray]:
    """The numbers of the columns that a text names, else of every quasi-identifier of numbers; NaN where missing."""
    if text is None:
        names = tuple(n for n in rows.names if n in rows.roles.quasi and rows.columns[n].numbers is not None)
        if not names:
            raise InputError(
                f"{rows.table.name}: no quasi-identifier is a number that {who} could change; set columns."
            )
    else:
        names = released_columns(rows, text, who)
    x = {name: rows.numbers(name, who) for name in names}
    for name, values in x.items():
        check_size(rows, name, values, who)
    return x


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


def grid_of(values: FloatArray, spread: float) -> float:
    """The power of ten that computed numbers of a column are rounded to multiples of; `spread` is how far they move.

    The low digits of a sum in floating point tell its parts apart (Mironov 2012): which noises, or which values, could have made just
    this number. So none are released beyond the column's own precision, nor beyond a thousandth of the spread where it is recorded
    finer than that; where the spread is small beside the precision, a tenth of the spread is kept.
    """
    known = values[np.isfinite(values)]
    largest = float(np.abs(known).max(initial=0.0)) or 1.0
    digits = math.ceil(math.log10(largest)) - 12  # below, a float has nothing to round
    if not 0 < spread < math.inf:  # numbers that do not move have nothing to tell
        return float(f"1e{digits}")
    most = math.floor(math.log10(spread / 10))
    exponent = max(most - 2, digits)
    while exponent < most and bool((known == round_to(known, 10.0 ** (exponent + 1))).all()):
        exponent += 1
    return float(f"1e{exponent}")


def round_to(values: FloatArray, grid: float) -> FloatArray:
    """The nearest multiples of a power of ten, each the float that its decimal spelling means."""
    exponent = round(math.log10(grid))
    rounded: FloatArray = np.round(values, -exponent) if exponent < 0 else np.rint(values / grid) * grid
    return rounded + 0.0  # no -0


def grid_note(grids: Mapping[str, float]) -> str:
    """What a release says of them."""
    steps = ", ".join(f"{name!r} {grid:.12g}" for name, grid in grids.items())
    return f"Released numbers are multiples of a step, so that no digit tells more: {steps}."


def released(values: FloatArray) -> pa.Array:
    """Numbers as they are written, missing as NULL: as integers where all are whole, so that a file has no needless point."""
    values = np.ascontiguousarray(values, dtype=np.float64)
    gone = np.isnan(values)
    valid = pa.py_buffer(np.packbits(~gone, bitorder="little")) if gone.any() else None
    if is_whole(values):
        data = np.where(gone, 0.0, values).astype(np.int64)
        return pa.Array.from_buffers(pa.int64(), len(data), [valid, pa.py_buffer(data)])
    return pa.Array.from_buffers(pa.float64(), len(values), [valid, pa.py_buffer(values)])
