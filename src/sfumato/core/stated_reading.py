"""How a table is read where nothing may be learned from its rows: as the owner states it, else by fixed rules, never by a look.

Whoever guesses how a column is spelled looks at all of its values, so that one row more changes how all others are read. That
undoes differential privacy before any noise is drawn. A stated reading takes every row by itself:

    a row       is a line; an empty line is none; one that cannot be taken apart into the header's fields has no value at all
    above       as many lines or rows as `skip` or `header_row` say are left out, else none; below, the last one where `totals` is true
    a cell      has no blanks around it; one that is empty, one of the texts that mean missing, or not text in the stated encoding is missing
    a number    is spelled with a decimal point (commas between thousands), or as stated; anything else is missing
    a date      is left as it stands, or read as YYYY-MM-DD where the owner states which part comes first

Of a Parquet file, a database or a table in memory the types of the columns are taken as stated by whoever made it.
"""

from __future__ import annotations

import codecs
import math
import re
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pyarrow as pa

from .column import Column, FloatArray
from .errors import InputError
from .noun import dataclass
from .sheet_places import cell_range, checked_skip, header_rows
from .spelling import COMMA, DATES, DECIMAL, DECIMALS, POINT, THOUSANDS

MissingCodes = tuple[tuple[str, tuple[str, ...]], ...]
"""The texts that mean missing in a column, or, under `*`, in every column."""
ALL = "*"
_PLAIN = re.compile(r"[+-]?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_WAYS = {"comma": (re.compile(COMMA), DECIMAL), "point": (re.compile(POINT), THOUSANDS)}


@dataclass(frozen=True, kw_only=True)
class StatedReading:
    """What is stated of a table, and what is fixed where nothing is: UTF-8, comma, quotes, a header, numbers with a point."""

    encoding: str = "utf-8"
    delimiter: str = ","
    quote: str = '"'
    header: bool = True
    names: tuple[str, ...] = ()
    missing: MissingCodes = ()
    decimal: str = "point"
    dates: str = "text"
    header_row: str = ""
    skip: int = 0
    range: str = ""
    totals: bool = False
    labels: tuple[str, ...] = ()
    """Columns of a file of SPSS or Stata that are read as the labels of their codes."""

    @classmethod
    def of(cls, stated: Mapping[str, Any], where: str = "reading") -> StatedReading:
        """From what was stated, checked: `where` stands before what is wrong with it."""
        for key in stated:
            if key not in KEYS:
                raise InputError(f"{where}: {key!r} is not known; it takes {', '.join(KEYS)}.")
        lists: dict[str, Any] = {
            key: _texts(stated[key], f"{where}: {key}") for key in ("names", "labels") if key in stated
        }
        lists |= {"missing": missing_codes(stated["missing"], f"{where}: missing")} if "missing" in stated else {}
        rows = {"header_row": str(stated["header_row"])} if "header_row" in stated else {}
        made = cls(**{**stated, **lists, **rows})
        if made.encoding == "utf-8-sig":  # a mark at the start of the file is left out anyway
            made = replace(made, encoding="utf-8")
        made._check(where)
        return made

    def _check(self, where: str) -> None:
        for key, value in (("delimiter", self.delimiter), ("quote", self.quote)):
            none = key == "quote" and value == ""
            if not none and (not isinstance(value, str) or len(value) != 1 or value in "\r\n"):
                raise InputError(f"{where}: {key} must be one character.")
        for key in ("header", "totals"):
            if not isinstance(getattr(self, key), bool):
                raise InputError(f"{where}: {key} must be true or false.")
        checked_skip(self.skip)
        if self.header_row and (not self.header or header_rows(self.header_row)[0] < self.skip):
            raise InputError(
                f"{where}: header_row contradicts {'skip' if self.header else 'header = false'}; state one."
            )
        if self.range:
            cell_range(self.range)
        for key, known in (("decimal", DECIMALS), ("dates", DATES)):
            if getattr(self, key) not in known:
                raise InputError(f"{where}: {key} must be {', '.join(known[:-1])} or {known[-1]}.")
        try:
            codecs.lookup(self.encoding)
            by_line = "\n".encode(self.encoding) == b"\n"
        except (LookupError, TypeError, ValueError, AttributeError):
            raise InputError(
                f"{where}: {self.encoding!r} is no encoding that Python knows; try utf-8 or latin-1."
            ) from None
        if not by_line:
            raise InputError(
                f"{where}: a file in {self.encoding} cannot be read line by line, so one odd byte would change all rows behind it; "
                "save it as UTF-8."
            )

    def stated(self) -> dict[str, Any]:
        """What differs from the fixed rules."""
        fixed = asdict(StatedReading())
        return {key: value for key, value in asdict(self).items() if value != fixed[key]}

    def numbers(self, column: Column) -> FloatArray:
        """Each value of a counted column as a number, by itself; NaN for one that is missing or is no number."""
        if not pa.types.is_string(column.values.type):
            numbers = column.numbers
            return np.full(len(column), math.nan) if numbers is None else numbers
        return np.array([self.number(text) for text in column.texts], dtype=np.float64)

    def number(self, text: str | None) -> float:
        """A text as a number; NaN for what is none. Leading zeros do no harm: the owner states that it is a number."""
        if text is None:
            return math.nan
        text = text.strip()
        pattern, way = _WAYS.get(self.decimal, (None, None))
        if pattern is not None and way is not None and pattern.fullmatch(text):
            text = way.plain(text)
        elif self.decimal == "comma":
            text = text.replace(",", ".", 1) if "." not in text else ""
        return float(text) if _PLAIN.fullmatch(text) else math.nan


KEYS = tuple(StatedReading.__dataclass_fields__)


def missing_codes(given: Any, where: str = "missing") -> MissingCodes:
    """From a text or a list of texts for all columns, or a mapping of columns to lists, in which `*` stands for all columns.

    >>> missing_codes({"age": "999", "*": ["?", "NA"]})
    (('*', ('?', 'NA')), ('age', ('999',)))
    """
    paired = isinstance(given, tuple) and all(isinstance(each, tuple) for each in given)  # as this gives them
    by_column = dict(given) if paired or isinstance(given, Mapping) else {ALL: given}
    codes = {
        str(name): _texts(texts, where if name == ALL else f"{where} of {name!r}") for name, texts in by_column.items()
    }
    return tuple(sorted((name, texts) for name, texts in codes.items() if texts))


def codes_in(codes: MissingCodes, column: str) -> tuple[str, ...]:
    """The texts that mean missing in one column."""
    return tuple(text for name, texts in codes if name in (ALL, column) for text in texts)


def spelled_codes(codes: MissingCodes) -> list[str] | dict[str, list[str]]:
    """As an owner writes them: a list where they hold of every column."""
    by_column = {name: list(texts) for name, texts in codes}
    return by_column if by_column.keys() - {ALL} else by_column.get(ALL, [])


def _texts(given: Any, where: str) -> tuple[str, ...]:
    texts = (given,) if isinstance(given, str) else given
    if not isinstance(texts, list | tuple) or not all(isinstance(text, str) for text in texts):
        raise InputError(f"{where} must be a list of texts.")
    return tuple(texts)
