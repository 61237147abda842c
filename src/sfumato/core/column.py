"""The distinct values of one counted column, in one canonical order, and how they can be read.

**The missing-value rule, the same everywhere.** NULL, the empty text and NaN are one and the same value, *missing*.
It is a value like any other: it forms classes, it counts as one sensitive value, it can be guessed. It stands last in
every order, it is written as NULL (an empty CSV field), and it is covered by no interval, set or taxonomy node but `*`.
"""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from .arrow import numpy, take
from .errors import Unavailable
from .noun import dataclass
from .spelling import plain

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

# A number in text: no leading zeros (those are codes: 00501 is a ZIP code, not five hundred and one).
_NUMBER = r"^[+-]?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$"
# A quantity: a number, perhaps grouped by thousands, with signs and one unit around it, such as "3K", "<=50K" or "5 mg".
_QUANTITY = re.compile(r"^([<>=≤≥~≈]{0,2}\s*[$€£¥]?)\s*([+-]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?)\s*([^\d\s]{0,6})$")
_DATE = r"^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$"


def number_of(text: str | None) -> float:
    """The finite number that a text spells, or NaN."""
    try:
        number = float(text or "nan")
    except ValueError:
        return np.nan
    return number if np.isfinite(number) else np.nan


def text_of(value: Any) -> str | None:
    """A value as every file, taxonomy and label spells it; None for missing.

    39, 39.0 and "39" are one spelling, so that a taxonomy written for a CSV file also fits a Parquet file.
    """
    if value is None or value == "":
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        if math.isnan(value):
            return None
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    if isinstance(value, datetime.datetime | datetime.date):
        return value.isoformat()
    return str(value)


@dataclass(frozen=True, eq=False)
class Column:
    """The distinct values of a column: `values` in ascending order, then missing if there is one."""

    name: str
    values: pa.Array
    has_missing: bool = False

    def _about(self) -> list[str]:
        return [self.name, f"{len(self):,} values"]

    def __len__(self) -> int:
        return len(self.values) + int(self.has_missing)

    @cached_property
    def texts(self) -> list[str | None]:
        """Each value as it is spelled; None for missing."""
        if pa.types.is_string(self.values.type):
            spelled: list[str | None] = self.values.to_pylist()
        else:
            spelled = [text_of(value) for value in self.values.to_pylist()]
        return [*spelled, None] if self.has_missing else spelled

    def only(self, codes: IntArray) -> Column:
        """The column with these of its values alone; codes ascending."""
        known = codes < len(self.values)
        return Column(self.name, take(self.values, codes[known]), not bool(known.all()))

    def places(self, other: Column, *, missing: bool = True) -> IntArray:
        """The code that each value of another column has here, by spelling; -1 for none.

        The missing value is one like any other, unless it is to be nobody in particular.
        """
        if self.values.type == other.values.type:
            at = numpy(pc.fill_null(pc.index_in(other.values, value_set=self.values), -1)).astype(np.int64)
        else:
            code = {text: i for i, text in enumerate(self.texts)}
            at = np.array([code.get(text, -1) for text in other.texts if text is not None], dtype=np.int64)
        if not other.has_missing:
            return at
        return np.append(at, len(self.values) if missing and self.has_missing else -1)

    @cached_property
    def numbers(self) -> FloatArray | None:
        """Each value as a number (NaN for missing), or None if one of them is not a number or all are missing."""
        values = self.values
        if not len(values):
            return None
        if pa.types.is_string(values.type):
            if not pc.all(pc.match_substring_regex(values, _NUMBER)).as_py():
                return None
        elif pa.types.is_boolean(values.type) or not (
            pa.types.is_integer(values.type) or pa.types.is_floating(values.type) or pa.types.is_decimal(values.type)
        ):
            return None
        numbers = numpy(values.cast(pa.float64(), safe=False)).astype(np.float64)
        return np.append(numbers, np.nan) if self.has_missing else numbers

    @cached_property
    def dates(self) -> bool:
        """Whether every value is a date (missing aside)."""
        values = self.values
        if pa.types.is_date(values.type) or pa.types.is_timestamp(values.type):
            return True
        if not pa.types.is_string(values.type) or not len(values):
            return False
        return bool(pc.all(pc.match_substring_regex(values, _DATE)).as_py())

    @cached_property
    def quantities(self) -> FloatArray | None:
        """The numbers inside values such as "3K", "<=50K" or "5 mg" that share one unit, or None."""
        matches = [_QUANTITY.match(text) for text in self.texts if text is not None]
        if not matches or not all(matches):
            return None
        if len({(m.group(3)) for m in matches if m}) > 1:
            return None
        numbers = [float(m.group(2).replace(",", "")) for m in matches if m]
        if len(set(numbers)) < len(numbers):
            return None
        return np.array([*numbers, math.nan] if self.has_missing else numbers)

    def rank(self, stated: Sequence[str] | None = None) -> IntArray | None:
        """The position of each value in the column's order, missing last; None if no order is known.

        The order is the stated one, else by number, date or quantity. Texts are never put in alphabetical order here:
        that would be a guess. Two values need no order, since either gives the same distances.
        """
        if stated is not None:
            known = [text for text in self.texts if text is not None]
            stated = stated if set(known) <= set(stated) else plain(stated)  # or spelled as the file that was read
            place = {value: i for i, value in enumerate(stated)}
            absent = sum(text not in place for text in known)
            if absent:
                raise Unavailable(
                    f"The order stated for {self.name!r} lacks {absent} of its values; add them under [orders]."
                )
            key = np.array([len(place) if text is None else place[text] for text in self.texts], dtype=np.float64)
        elif self.numbers is not None:
            key = self.numbers
        elif self.dates or len(self) <= 2:
            key = np.arange(len(self), dtype=np.float64)
        elif self.quantities is not None:
            key = self.quantities
        else:
            return None
        position = np.empty(len(self), dtype=np.int64)
        position[np.argsort(key, kind="stable")] = np.arange(len(self))  # NaN, the missing value, sorts last
        return position


def encode(name: str, values: pa.ChunkedArray | pa.Array) -> tuple[Column, IntArray]:
    """Values as a Column and a code per row: codes follow the column's order, and the missing value has the last code."""
    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    if pa.types.is_large_string(values.type) or pa.types.is_string_view(values.type):
        values = values.cast(pa.string())
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    if pa.types.is_floating(values.type) and np.any(np.signbit(numpy(values)) & (numpy(values) == 0)):
        values = pc.if_else(pc.equal(values, 0.0), pa.scalar(0.0, values.type), values)  # -0 is 0
    # NULL is encoded as a dictionary entry too, so the indices have no gaps
    encoded = pc.dictionary_encode(values, null_encoding="encode")
    dictionary = encoded.dictionary
    order = pc.sort_indices(dictionary)  # values ascending, then NaN, then NULL
    ascending = dictionary.take(order)
    start = int(pa.types.is_string(dictionary.type) and len(ascending) > 0 and ascending[0].as_py() == "")
    void = int(pc.sum(pc.is_null(dictionary, nan_is_null=True)).as_py() or 0)
    count = len(dictionary) - start - void
    code = np.full(len(dictionary), count, dtype=np.int64)
    code[numpy(order)[start : start + count]] = np.arange(count)
    codes = code[numpy(encoded.indices)] if len(dictionary) else np.zeros(0, dtype=np.int64)
    return Column(name, ascending.slice(start, count), start + void > 0), codes
