"""The ways in which a column can be read to compute another: its numbers, its days and years, digits at a place of a code.

All of them are over the distinct values, so that a million rows cost as much as their values.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..core.arrow import integers, numpy
from ..core.column import Column, FloatArray
from ..core.noun import dataclass

_SAME_LENGTH = 0.9
"""The share of values of one length from which a column is a code with places."""
_LONGEST = 24
_LARGEST = 1e150
"""What is larger cannot be added up: its squares and differences overflow."""
_DIGITS = (2, 4)  # a year, with or without its century
_TURN = 30
"""Two digits below it are years of this century: few who were born before 1930 are in a table."""


@dataclass(frozen=True, eq=False)
class ColumnView:
    """A number for every distinct value of a column; NaN where it has none (missing, or no digits there)."""

    column: str
    numbers: FloatArray
    words: str
    """What it is in a sentence: "the year of 'born'"."""
    unit: float
    """The step between neighbouring numbers: 1 for whole numbers, days and years, 0.01 for cents."""
    alone: bool = False
    """Whether it is only held against single columns: two digits as a year of the last hundred, beside the digits themselves."""
    coarse: bool = False
    """Whether it is a part of the value only, a year or some digits: an age may then be a year off."""


def views(column: Column, *, parts: bool = True) -> list[ColumnView]:
    """The numbers in a column, the most direct first; none for texts without digits at fixed places."""
    name = column.name
    if column.numbers is not None:
        with np.errstate(invalid="ignore"):
            numbers = np.where(np.abs(column.numbers) <= _LARGEST, column.numbers, np.nan)
        seen = [ColumnView(name, numbers, repr(name), _unit(numbers))]
    elif column.dates:
        days, years = _calendar(column)
        seen = [
            ColumnView(name, days, repr(name), 1.0),
            ColumnView(name, years, f"the year of {name!r}", 1.0, coarse=True),
        ]
    else:
        seen = []
    return seen + _digits(column) if parts and not column.dates else seen


def _unit(numbers: FloatArray) -> float:
    """A power of ten of which nearly all numbers are multiples."""
    known = numbers[np.isfinite(numbers)][:10_000]
    for digits in range(7):
        scaled = known * 10.0**digits
        if len(known) and np.mean(np.abs(scaled - np.rint(scaled)) < 1e-6) >= 0.99:
            return 10.0**-digits
    return 0.0


def _calendar(column: Column) -> tuple[FloatArray, FloatArray]:
    """Days since 1970 and years; NaN for missing."""
    values = column.values
    if pa.types.is_timestamp(values.type):
        seconds = numpy(values.cast(pa.timestamp("s"), safe=False).cast(pa.int64())).astype(np.float64)
        days = seconds / 86_400
    else:
        days = numpy(values.cast(pa.date32(), safe=False).cast(pa.int32())).astype(np.float64)
    years = np.datetime64("1970-01-01", "D") + np.floor(days).astype("timedelta64[D]")
    year = years.astype("datetime64[Y]").astype(np.float64) + 1970
    missing = [np.nan] if column.has_missing else []
    return np.append(days, missing), np.append(year, missing)


def _digits(column: Column) -> list[ColumnView]:
    """Two or four digits at each place of codes of one length: a birth year in a case number."""
    values = column.values
    if pa.types.is_floating(values.type) or pa.types.is_boolean(values.type) or len(values) < 2:
        return []
    texts = values if pa.types.is_string(values.type) else values.cast(pa.string())
    lengths = numpy(pc.utf8_length(texts)).astype(np.int64)
    length = int(np.bincount(np.minimum(lengths, _LONGEST + 1)).argmax())
    if not 5 <= length <= _LONGEST or np.mean(lengths == length) < _SAME_LENGTH:
        return []
    parts = []
    for width in _DIGITS:
        for start in range(length - width + 1):
            part = pc.utf8_slice_codeunits(texts, start, start + width)
            digits = pc.match_substring_regex(part, rf"^[0-9]{{{width}}}$")
            there = numpy(digits.cast(pa.uint8())).astype(bool) & (lengths == length)
            if there.mean() < _SAME_LENGTH:
                continue
            numbers = np.full(len(texts), np.nan)
            numbers[there] = numpy(part.take(integers(np.flatnonzero(there))).cast(pa.float64()))
            if column.has_missing:
                numbers = np.append(numbers, np.nan)
            words = f"places {start + 1} to {start + width} of {column.name!r}"
            parts.append(ColumnView(column.name, numbers, words, 1.0, coarse=True))
            if width == 2 and (numbers < _TURN).any() and (numbers >= _TURN).any():
                years = numbers + np.where(numbers < _TURN, 2000, 1900)
                words = f"the year in {words}"
                parts.append(ColumnView(column.name, years, words, 1.0, alone=True, coarse=True))
    return parts
