"""What a person counts, and what a prediction is worth, in the owner's words: expressions over the rows, read by the engine.

`age > 55 and sex = 'F' -> 10` is a rule of a weight; `predicted >= true` an error implication that accepts false positives. An
expression is SQL over the columns of the original row; that of an error implication also knows `predicted` and `true`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

from ..core.arrow import floats, integers, numpy, strings, take
from ..core.column import FloatArray, IntArray, encode
from ..core.errors import InputError
from ..core.noun import dataclass
from .features import number_of
from .rows import Frame

_TRUE = re.compile(r"""('(?:[^']|'')*'|"(?:[^"]|"")*")|\btrue\b""", re.IGNORECASE)  # quoted, it is something else
_RULE = re.compile(r"^(?P<when>.+?)\s*->\s*(?P<weight>[-+]?[0-9.eE+-]+)\s*$", re.DOTALL)


def evaluate(expression: str, columns: Mapping[str, pa.Array], count: int, what: str) -> FloatArray:
    """An expression for every row as a number; what is true is 1, what is NULL is 0."""
    table = pa.table({**columns, "row of it": integers(np.arange(count))})
    connection = duckdb.connect(":memory:")
    try:
        connection.execute("SET enable_external_access = false")
        connection.register("people", table)
        value = f"coalesce(CAST(({expression}) AS DOUBLE), 0)"
        try:
            answer = connection.sql(f'SELECT {value} AS v FROM people ORDER BY "row of it"').to_arrow_table()
        except duckdb.Error as error:
            raise InputError(
                f"{what}: {expression!r} cannot be read ({type(error).__name__}); it is an expression over columns, such as "
                "age > 55 and sex = 'F' (names with a dash in double quotes)."
            ) from None
    finally:
        connection.close()
    values: FloatArray = numpy(answer.column("v").combine_chunks()).astype(np.float64)
    if len(values) != count or not np.isfinite(values).all():
        raise InputError(f"{what}: {expression!r} is not a finite number for every row.")
    return values


def arrays(frame: Frame) -> dict[str, pa.Array]:
    """The columns of the rows as the engine takes them: numbers as numbers, also where a file spells them."""
    return {
        name: take(column.values if column.numbers is None else floats(column.numbers[: len(column.values)]), codes)
        for (name, column), codes in zip(frame.columns.items(), frame.codes.values(), strict=True)
    }


@dataclass(frozen=True)
class Weights:
    """What each person counts: that of the first rule that holds, else `otherwise`."""

    rules: tuple[tuple[str, float], ...] = ()
    otherwise: float = 1.0

    @classmethod
    def read(cls, given: Any, where: str) -> Weights:
        """From `"EXPRESSION -> NUMBER"`, a list of them, or a table {EXPRESSION = NUMBER, otherwise = NUMBER}."""
        if given is None:
            return cls()
        if isinstance(given, Weights):
            return given
        if isinstance(given, str):
            given = [given]
        rules: list[tuple[str, float]] = []
        otherwise = 1.0
        if isinstance(given, Mapping):
            for when, weight in given.items():
                number = _number(weight, where)
                if when == "otherwise":
                    otherwise = number
                else:
                    rules.append((str(when), number))
            return cls(tuple(rules), otherwise)
        if not isinstance(given, Sequence):
            raise InputError(f"{where}: weights are written as \"age > 55 and sex = 'F' -> 10\".")
        for text in given:
            m = _RULE.match(str(text))
            if m is None:
                raise InputError(f"{where}: {text!r} is no weight; write EXPRESSION -> NUMBER.")
            if m["when"].strip() == "otherwise":
                otherwise = _number(m["weight"], where)
            else:
                rules.append((m["when"].strip(), _number(m["weight"], where)))
        return cls(tuple(rules), otherwise)

    def of(self, frame: Frame, where: str = "weights") -> FloatArray:
        """A weight a row."""
        weights = np.full(len(frame), float(self.otherwise))
        if not self.rules:
            return weights
        columns = arrays(frame)
        left = np.ones(len(frame), dtype=bool)
        for when, weight in self.rules:
            holds = (evaluate(when, columns, len(frame), where) != 0) & left
            weights[holds] = weight
            left &= ~holds
        return weights

    @property
    def plain(self) -> bool:
        """Whether everybody counts 1."""
        return not self.rules and self.otherwise == 1.0

    def __str__(self) -> str:
        return ", ".join([*(f"{when} -> {weight:g}" for when, weight in self.rules), f"otherwise {self.otherwise:g}"])


def _number(given: Any, where: str) -> float:
    try:
        number = float(given)
    except (TypeError, ValueError):
        number = np.nan
    if not np.isfinite(number) or number < 0 or isinstance(given, bool):
        raise InputError(f"{where}: {given!r} is no weight; write a number of at least 0.")
    return number


@dataclass(frozen=True)
class Implication:
    """E(predicted, true) of sec. 2.3: high is good, and it may be negative.

    `equal` is 1 for the true value; `within 5` for a number at most 5 away; anything else is an expression over `predicted`
    and `true` and the columns of the original row, or a function of two arrays.
    """

    text: str = "equal"
    function: Callable[[Any, Any], Any] | None = None

    @classmethod
    def read(cls, given: Any) -> Implication:
        """From a text or a function."""
        if given is None:
            return cls()
        if isinstance(given, Implication):
            return given
        if callable(given):
            return cls(getattr(given, "__name__", "a function"), given)
        return cls(str(given).strip())

    def of(self, predicted: pa.Array, true: pa.Array, frame: Frame, rows: IntArray) -> FloatArray:
        """What each prediction is worth."""
        count = len(true)
        if self.function is not None:
            worth = np.asarray(
                self.function(predicted.to_numpy(zero_copy_only=False), true.to_numpy(zero_copy_only=False))
            )
            if worth.shape != (count,):
                raise InputError(f"The error implication {self.text} must return a number for every row.")
            return worth.astype(np.float64)
        if self.text == "equal":
            return _equal(predicted, true)
        if m := re.fullmatch(r"within\s+([0-9.]+)", self.text):
            if not pa.types.is_floating(predicted.type):
                raise InputError("The error implication 'within' is for numbers; use equal, or an expression.")
            away = np.abs(numpy(predicted).astype(np.float64) - numpy(true).astype(np.float64))
            near: FloatArray = (away <= float(m[1])).astype(np.float64)  # NaN, missing, is never within
            return near
        columns = arrays(frame.take(rows))
        columns = {name: array for name, array in columns.items() if name.lower() not in ("predicted", "true")}
        text = _TRUE.sub(lambda m: m[1] or '"true"', self.text)  # in SQL the bare word is the constant
        both = dict(zip(("predicted", "true"), _compared(predicted, true), strict=True))
        return evaluate(text, {**columns, **both}, count, "error implication")


def _compared(predicted: pa.Array, true: pa.Array) -> tuple[pa.Array, pa.Array]:
    """As an expression compares them: numbers as numbers, also where they are classes; NaN and what is no number as NULL."""
    import pyarrow.compute as pc

    if pa.types.is_floating(true.type):
        return tuple(pc.if_else(pc.is_nan(side), None, side) for side in (predicted, true))
    column, codes = encode("true", true)
    if column.numbers is None:
        return predicted, true
    other, others = encode("predicted", predicted)
    said = [None if text is None else number_of(text) for text in other.texts]
    numbers = np.array([np.nan if number is None else number for number in said], dtype=np.float64)
    return _compared(floats(numbers[others]), floats(column.numbers[codes]))


def _equal(predicted: pa.Array, true: pa.Array) -> FloatArray:
    if pa.types.is_floating(predicted.type):
        a, b = numpy(predicted), numpy(true)
        same: FloatArray = ((a == b) | (np.isnan(a) & np.isnan(b))).astype(np.float64)
        return same
    import pyarrow.compute as pc

    missing = strings(["\0"])[0]
    both = pc.equal(pc.fill_null(predicted, missing), pc.fill_null(true, missing))
    return numpy(both.cast(pa.float64())).astype(np.float64)
