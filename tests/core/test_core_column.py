"""Columns: one order, one missing value, one spelling; numbers, dates and quantities recognized and not invented."""

from __future__ import annotations

import datetime
import decimal
import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sfumato.core.column import encode, text_of
from sfumato.core.counts import Counts
from sfumato.core.errors import Unavailable


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, None),
        ("", None),
        (math.nan, None),
        (" ", " "),
        ("NaN", "NaN"),
        ("NULL", "NULL"),
        (39, "39"),
        (39.0, "39"),
        ("39", "39"),
        (-0.0, "0"),
        (0.1, "0.1"),
        (1e22, "1e+22"),
        (True, "true"),
        (False, "false"),
        (datetime.date(2024, 5, 7), "2024-05-07"),
        (decimal.Decimal("1.50"), "1.50"),
    ],
)
def test_spelling(value: object, text: str | None) -> None:
    assert text_of(value) == text


@pytest.mark.parametrize(
    "values",
    [
        pa.array(["b", None, "a", "", "b"]),
        pa.array(["b", None, "a", "", "b"], pa.large_string()),
        pa.array(["b", None, "a", "", "b"], pa.string_view()),
        pa.array(["b", None, "a", "", "b"]).dictionary_encode(),
        pa.chunked_array([["b", None], ["a"], ["", "b"]]),
    ],
    ids=["string", "large", "view", "dictionary", "chunked"],
)
def test_the_missing_value_is_one_and_stands_last(values: Any) -> None:
    column, codes = encode("c", values)
    assert column.texts == ["a", "b", None]
    assert codes.tolist() == [1, 2, 0, 2, 1]
    assert len(column) == 3


def test_nan_and_null_are_the_same_missing_value() -> None:
    column, codes = encode("c", pa.array([2.5, math.nan, None, 1.0]))
    assert column.texts == ["1", "2.5", None]
    assert codes.tolist() == [1, 2, 2, 0]


def test_the_two_zeros_are_one_value() -> None:
    """0.0 and -0.0 are equal and spelled alike: two codes would cut a class in two."""
    column, codes = encode("c", pa.array([0.0, -0.0, 1.0, -0.0]))
    assert column.texts == ["0", "1"]
    assert codes.tolist() == [0, 0, 1, 0]


@pytest.mark.parametrize(
    ("chunks", "codes"),
    [
        ([[1.5, None], [math.nan]], [0, 1, 1]),
        ([[1.5], [math.nan, 2.5]], [0, 2, 1]),
        ([[math.nan, 1.5], [2.5, math.nan], [None]], [2, 0, 1, 2, 2]),
        ([[None], [None, 1.5]], [1, 1, 0]),
    ],
    ids=["both", "nan", "both, three chunks", "null"],
)
def test_an_engine_may_answer_in_chunks(chunks: list[list[float | None]], codes: list[int]) -> None:
    column, found = encode("c", pa.chunked_array(chunks, pa.float64()))
    assert found.tolist() == codes
    assert column.has_missing


@pytest.mark.parametrize("kind", [pa.string(), pa.float64(), pa.int64(), pa.date32(), pa.null()])
def test_nothing_but_missing_values(kind: pa.DataType) -> None:
    column, codes = encode("c", pa.nulls(3, kind))
    assert (column.texts, codes.tolist()) == ([None], [0, 0, 0])


def test_no_rows() -> None:
    column, codes = encode("c", pa.array([], pa.string()))
    assert (len(column), len(codes), column.numbers, column.rank()) == (0, 0, None, pytest.approx([]))


@pytest.mark.parametrize(
    ("values", "numbers"),
    [
        (["3", "12", "-1"], [-1, 12, 3]),
        (["+5", "1e3", "0.5"], [5, 0.5, 1000]),
        ([3, None, 1], [1, 3, math.nan]),
        ([1.5, math.nan], [1.5, math.nan]),
        ([decimal.Decimal("1.50"), decimal.Decimal("0.25")], [0.25, 1.5]),
        (["00501", "10001"], None),  # codes
        (["1", "x"], None),
        (["1,5", "2,5"], None),
        (["1.", ".5"], None),
        (["٣"], None),  # digits that no number of ours has
        ([True, False], None),
        (["2024-05-07"], None),
        (["nan", "inf"], None),
    ],
)
def test_numbers(values: list[Any], numbers: list[float] | None) -> None:
    found = encode("c", pa.array(values))[0].numbers
    if numbers is None:
        assert found is None
    else:
        np.testing.assert_array_equal(found, numbers)


@pytest.mark.parametrize("kind", [pa.int64(), pa.uint64()])
def test_numbers_beyond_the_exact_floats(kind: pa.DataType) -> None:
    values = [2**62, 2**53 + 1, 3]
    column, _ = encode("c", pa.array(values, kind))
    np.testing.assert_allclose(column.numbers, sorted(values), rtol=1e-15)
    assert column.rank().tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("values", "dates"),
    [
        (["2024-05-07", "1999-12-31"], True),
        (["2024-05-07", None], True),
        ([datetime.date(2024, 5, 7)], True),
        ([datetime.datetime(2024, 5, 7, 1, 2)], True),
        (["2024-05-07", "soon"], False),
        (["2024-13-07"], False),
        (["07-05-2024"], False),
        ([20240507], False),
        ([None], False),
    ],
)
def test_dates(values: list[Any], dates: bool) -> None:
    assert encode("c", pa.array(values))[0].dates is dates


@pytest.mark.parametrize(
    ("values", "order"),
    [
        (["9", "10", "100"], ["9", "10", "100"]),
        ([9, 10, None, -1], ["-1", "9", "10", None]),
        (["3K", "11K", "10K"], ["3K", "10K", "11K"]),
        (["5 mg", "50 mg", "10 mg"], ["5 mg", "10 mg", "50 mg"]),
        (["$1,000", "$20", "$300"], ["$20", "$300", "$1,000"]),
        (["<10", ">=20", "15"], ["<10", "15", ">=20"]),
        (["2024-05-07", "1999-12-31", "2000-01-01"], ["1999-12-31", "2000-01-01", "2024-05-07"]),
        (["low", "mid", "high"], None),
        (["5 mg", "5 kg", "1 mg"], None),
        (["E11", "I10", "J45"], None),  # codes, no quantities
        (["1 room", "2 rooms", "3 rooms"], None),
        (["yes", "no"], ["no", "yes"]),  # two values need no order
    ],
)
def test_rank(values: list[Any], order: list[str | None] | None) -> None:
    column, _ = encode("c", pa.array(values))
    rank = column.rank()
    if order is None:
        assert rank is None
    else:
        assert rank is not None
        assert [column.texts[i] for i in np.argsort(rank)] == order


def test_a_stated_order() -> None:
    column, _ = encode("c", pa.array(["low", "mid", "high", None]))
    assert column.texts == ["high", "low", "mid", None]
    assert column.rank(["low", "mid", "high", "never seen"]).tolist() == [2, 0, 1, 3]
    with pytest.raises(Unavailable, match="lacks 1 of its values"):
        column.rank(["low", "mid"])


def test_counts_merge_what_the_missing_rule_makes_equal() -> None:
    answer = pa.table({"k0": ["a", "", None, "a"], "k1": [1.0, math.nan, None, 1.0], "n": [1, 2, 3, 4]})
    counts = Counts.from_arrow(answer, ("x", "y"), "n")
    assert counts.n.tolist() == [5, 5]
    assert [column.texts for column in counts.columns] == [["a", None], ["1", None]]
    assert counts.rows == 10


def test_counts_of_nothing() -> None:
    counts = Counts.from_arrow(pa.table({"k0": pa.array([], pa.string()), "n": pa.array([], pa.int64())}), ("x",), "n")
    grouped, member = counts.group(("x",))
    assert (len(counts), counts.rows, len(grouped), len(member)) == (0, 0, 0, 0)
