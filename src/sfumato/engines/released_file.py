"""A release as a file of SPSS, Stata or Excel, written from its Parquet file in parts: what each column is there, and its cells.

A column is numbers, days or moments only where each of its values is spelled so that it is read again as the same text; else it is
text, as `007` and `[20, 30)` are. Labels hold where they held: values that are labels of the original are written as its codes, with
the labels of those codes that occur; a column with any other value is text. Nothing of a file tells when, where or by whom it was made.
"""

from __future__ import annotations

import datetime
import math
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ..core import table_formats as formats
from ..core.arrow import numpy
from ..core.column import IntArray, text_of
from ..core.errors import InputError
from ..core.leftovers import hidden_beside
from ..core.noun import dataclass
from ..core.variable import Variable
from .duckdb import DuckTable, name_of, run, spell_path

_CELLS = 2_000_000
"""Values that are held at once."""
_FIRST_DAY = {formats.SPSS: "1582-10-15", formats.STATA: "0100-01-01", formats.EXCEL: "1900-03-01"}
_LONGEST_TEXT = {formats.SPSS: 255, formats.STATA: 2045, formats.EXCEL: 32_767}
_ESCAPE = re.compile("_x[0-9A-Fa-f]{4}_")
"""How a workbook spells a character that it cannot hold."""
_LONGEST_LABEL = {formats.SPSS: 120, formats.STATA: 32_000}
_UNITS = {formats.SPSS: "bytes", formats.STATA: "bytes", formats.EXCEL: "characters"}


@dataclass(frozen=True)
class ReleasedColumn:
    """A column of the file: its `kind` is number, day, moment or text; `cells` gives what stands there for a value."""

    name: str
    kind: str
    label: str
    measure: str
    cells: Mapping[str, Any]
    """What is written for each value, as it is spelled."""
    labels: Mapping[Any, str]
    """The label of each of these cells that has one."""

    @cached_property
    def whole(self) -> bool:
        """Whether its numbers are integers."""
        return self.kind == "day" or (self.kind == "number" and all(float(x).is_integer() for x in self.cells.values()))

    @cached_property
    def width(self) -> int:
        """Bytes of its longest text, at least one."""
        return max((len(cell.encode()) for cell in self.cells.values()), default=0) or 1

    def of(self, values: pa.Array) -> list[Any]:
        """The cells of some values; None for missing."""
        cells, codes = self._coded(values)
        return [cells[code] for code in codes]

    def numbers(self, values: pa.Array, missing: float) -> np.ndarray[Any, np.dtype[np.float64]]:
        """The same as an array of numbers."""
        cells, codes = self._coded(values)
        return np.array([missing if cell is None else cell for cell in cells], dtype=np.float64)[codes]

    def texts(self, values: pa.Array) -> np.ndarray[Any, np.dtype[np.bytes_]]:
        """The same as an array of bytes."""
        cells, codes = self._coded(values)
        return np.array([(cell or "").encode() for cell in cells], dtype=f"S{self.width}")[codes]

    def _coded(self, values: pa.Array) -> tuple[list[Any], IntArray]:
        """The distinct cells, last None for missing, and which of them each value has."""
        values = values.dictionary_encode()
        texts = [text_of(value) for value in values.dictionary.to_pylist()]
        cells = [None if text is None else self.cells[text] for text in texts]
        codes = numpy(values.indices.cast(pa.int64()).fill_null(len(cells))).astype(np.int64)
        return [*cells, None], codes


@dataclass(frozen=True)
class ReleasedRows:
    """What is to be written: the columns, how many rows, and the rows in parts, in the order of the Parquet file."""

    columns: tuple[ReleasedColumn, ...]
    rows: int
    source: Path

    def parts(self) -> Iterator[list[pa.Array]]:
        """The values of each column, some thousand rows at a time."""
        import pyarrow.parquet as pq

        with pq.ParquetFile(self.source) as file:
            for batch in file.iter_batches(max(1000, _CELLS // len(self.columns))):
                yield list(batch.columns)


def write_released(source: Path, path: Path, form: formats.Format, variables: Mapping[str, Variable]) -> None:
    """Write the rows of a Parquet file; complete or absent."""
    from . import excel_file, spss_file, stata_file

    write: Callable[[ReleasedRows, Path], None]
    write = {formats.EXCEL: excel_file.write, formats.SPSS: spss_file.write, formats.STATA: stata_file.write}[form]
    table = DuckTable.of(str(path), f"SELECT * FROM read_parquet({spell_path(source)})")
    formats.check_out(path, table.columns, table.rows)
    counts = table.value_counts(table.columns)
    columns = tuple(
        _column(name, counts[name].columns[0].texts, form, variables.get(name, Variable()), path)
        for name in table.columns
    )
    if form is formats.EXCEL:
        _check_empty_rows(table, path)
    hidden = hidden_beside(path)
    try:
        write(ReleasedRows(columns, table.rows, source), hidden)
        with hidden.open("rb+") as file:
            os.fsync(file.fileno())
        hidden.replace(path)
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({type(error).__name__}); is there room on the disk?") from None
    finally:
        hidden.unlink(missing_ok=True)


def _check_empty_rows(table: DuckTable, path: Path) -> None:
    """Refuse rows without any value: in a sheet they are not there."""
    empty = " AND ".join(f"{name_of(name)} IS NULL" for name in table.columns)
    (((empty_rows,),)) = run(f"SELECT count(*) FROM ({table.sql}) WHERE {empty}", str(path))
    if empty_rows:
        raise InputError(
            f"{path}: {empty_rows:,} rows have no value at all, and a sheet cannot keep such; write CSV or Parquet."
        )


def _column(
    name: str, texts: Sequence[str | None], form: formats.Format, variable: Variable, path: Path
) -> ReleasedColumn:
    values = [text for text in texts if text is not None]
    kind, cells, labels = "text", dict[str, Any](zip(values, values, strict=True)), dict[Any, str]()
    codes = variable.codes if variable.labelled else {}
    if form is not formats.EXCEL and values and codes.keys() >= set(values) and _fit(codes, variable, form):
        cells = {text: codes[text] if variable.text else float(codes[text]) for text in values}
        labels = {cell: text for text, cell in cells.items()}
        kind = "text" if variable.text else "number"
    elif values and all(map(_is_number, values)):
        kind, cells = "number", {text: float(text) for text in values}
        if not variable.labelled and not variable.text:
            labels = {cells[text]: variable.values[text] for text in values if text in variable.values}
            if form is formats.STATA:
                labels = {code: label for code, label in labels.items() if _is_stata_code(code)}
    elif (days := _days(values, form)) is not None:
        kind, cells = "day", days
    elif (moments := _moments(values, form)) is not None:
        kind, cells = "moment", moments
    if kind == "text":
        _check_texts(name, list(cells.values()), form, path)
    return ReleasedColumn(name, kind, variable.label, variable.measure, cells, labels)


def _fit(codes: Mapping[str, str], variable: Variable, form: formats.Format) -> bool:
    """Whether the format has labels for such codes (SPSS for texts of 8 bytes, Stata for integers only), as long as these."""
    if any(len(label.encode()) > _LONGEST_LABEL[form] for label in codes):
        return False
    if variable.text:
        return form is formats.SPSS and all(len(code.encode()) <= 8 for code in codes.values())
    return form is formats.SPSS or all(_is_stata_code(float(code)) for code in codes.values())


def _is_stata_code(code: float) -> bool:
    return code.is_integer() and -(2**31) < code <= 2_147_483_620


def _is_number(text: str) -> bool:
    """Whether a text is read again as it stands, once it was a number, also with the sixteen digits of a sheet."""
    try:
        number = float(text)
    except ValueError:
        return False
    return (
        math.isfinite(number) and abs(number) < 1e15 and text_of(number) == text and float(f"{number:.16G}") == number
    )


def _days(values: Sequence[str], form: formats.Format) -> dict[str, Any] | None:
    """Days since the format's first one (Excel: dates), where all values are such; None where they are not."""
    if not values or not all(len(text) == 10 and _FIRST_DAY[form] <= text for text in values):
        return None
    try:
        dates = {text: datetime.date.fromisoformat(text) for text in values}
    except ValueError:
        return None
    if form is formats.EXCEL:
        return dates
    first, unit = (datetime.date(1582, 10, 14), 86_400) if form is formats.SPSS else (datetime.date(1960, 1, 1), 1)
    return {text: float((date - first).days * unit) for text, date in dates.items()}


def _moments(values: Sequence[str], form: formats.Format) -> dict[str, Any] | None:
    """Seconds (SPSS) or milliseconds (Stata) since the format's first day, where all values are such; None where they are not."""
    if form is formats.EXCEL or not values:
        return None
    if not all(len(text) == 19 and text[10] == "T" and _FIRST_DAY[form] <= text for text in values):
        return None
    try:
        moments = {text: datetime.datetime.fromisoformat(text) for text in values}
    except ValueError:
        return None
    first, unit = (
        (datetime.datetime(1582, 10, 14), 1) if form is formats.SPSS else (datetime.datetime(1960, 1, 1), 1000)
    )
    return {text: (moment - first) // datetime.timedelta(seconds=1) * float(unit) for text, moment in moments.items()}


def _check_texts(name: str, texts: Sequence[str], form: formats.Format, path: Path) -> None:
    most, unit = _LONGEST_TEXT[form], _UNITS[form]
    longest = max((len(text) if unit == "characters" else len(text.encode()) for text in texts), default=0)
    if longest > most:
        raise InputError(
            f"{path}: column {name!r} has a text of {longest:,} {unit}, and a release takes {most:,} in {form.title}; write CSV or Parquet."
        )
    if form is not formats.EXCEL and any("\0" in text for text in texts):
        raise InputError(
            f"{path}: column {name!r} has a text with a zero byte, which ends a text in {form.title}; write Parquet."
        )
    if form is formats.SPSS and any(text.endswith(" ") for text in texts):
        raise InputError(
            f"{path}: column {name!r} has texts that end in blanks, which SPSS does not keep; trim them, or write CSV or Parquet."
        )
    if form is formats.EXCEL and any(
        not text.strip() or _ESCAPE.search(text) or not _printable(text) for text in texts
    ):
        raise InputError(
            f"{path}: column {name!r} has texts of blanks or control characters, which a sheet does not keep; write CSV or Parquet."
        )


def _printable(text: str) -> bool:
    return all(letter >= " " or letter in "\t\n" for letter in text) and not any(
        "\ufffe" <= x <= "\uffff" for x in text
    )
