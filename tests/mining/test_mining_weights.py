"""What people count and what predictions are worth, in the owner's words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from mining_house import paired

import sfumato as sf
from sfumato.core.errors import InputError
from sfumato.mining.rows import Frame, align
from sfumato.mining.weights import Implication, Weights, floats

PEOPLE: dict[str, list[Any]] = {
    "age": [30, 56, 60, None],
    "sex": ["F", "F", "M", None],
    "salary-class": ["it's", "b", "b", "c"],
    "x": [1, 2, 3, 4],
}


def frame(columns: dict[str, list[Any]] | None = None) -> Frame:
    columns = columns or PEOPLE
    return align(paired(columns, columns), sf.Roles(quasi=tuple(columns))).original


def by_x(found: Any, rows: Frame) -> list[float]:
    """The weights in the order of x."""
    x = rows.numbers("x")
    assert x is not None
    return [float(w) for _, w in sorted(zip(x, found, strict=True))]


def weights(given: Any) -> list[float]:
    rows = frame()
    return by_x(Weights.read(given, "good").of(rows), rows)


def test_the_three_forms() -> None:
    rule = "age > 55 and sex = 'F'"
    assert weights(f"{rule} -> 10") == [1, 10, 1, 1]
    assert weights([f"{rule} -> 10", "otherwise -> 0.5"]) == [0.5, 10, 0.5, 0.5]
    assert weights({rule: 10, "otherwise": 0}) == [0, 10, 0, 0]
    assert weights(None) == [1, 1, 1, 1]
    assert weights({"otherwise": 3}) == [3, 3, 3, 3]
    assert weights(Weights((("x = 1", 2.0),), 0.0)) == [2, 0, 0, 0]


def test_the_first_rule_that_holds_counts() -> None:
    assert weights(["age > 50 -> 2", "age > 20 -> 3", "otherwise -> 4"]) == [3, 2, 2, 4]


def test_what_is_missing_holds_no_rule_but_its_own() -> None:
    assert weights("age < 1000 -> 5") == [5, 5, 5, 1]
    assert weights("age is null -> 5") == [1, 1, 1, 5]
    assert weights("not (sex = 'F') -> 5") == [1, 1, 5, 1]
    assert weights("sex is distinct from 'F' -> 5") == [1, 1, 5, 5]


def test_quotes() -> None:
    assert weights("\"salary-class\" = 'it''s' -> 5") == [5, 1, 1, 1]
    assert weights({"\"salary-class\" in ('b', 'it''s')": 5}) == [5, 5, 5, 1]


def test_an_arrow_in_an_expression_is_not_the_last_one() -> None:
    assert weights("sex = '->' or x = 2 -> 1e1") == [1, 10, 1, 1]


@pytest.mark.parametrize(
    "given",
    [
        "age >", "no_such > 5 -> 2", "age -> ten", "age > 5 -> -3", "age > 5 -> nan", "age > 5 -> 2; drop table people -> 3",
        "sum(age) > 5 -> 2", "age > (select max(age) from nothing) -> 2", "-> 5", "", 5, [5], {"age > 5": "x"}, {"age > 5": -1},
        {"age > 5": True}, {"age > 5": float("inf")}, "1/0 = sex -> 2", "unnest([1,2]) -> 2",
    ],
)  # fmt: skip
def test_what_is_no_weight(refusal: Callable[..., str], given: Any) -> None:
    refusal(InputError, lambda: weights(given), "good" if not isinstance(given, str) or "->" not in given else "")


@pytest.mark.parametrize(
    "reading",
    [
        "(select count(*) from read_csv('/etc/passwd'))", "(select count(*) from read_text('/etc/passwd'))",
        "(select count(*) from '/etc/passwd')", "(select count(*) from glob('/*'))",
        "(select count(*) from read_blob('/etc/hostname'))", "(select count(*) from parquet_scan('/etc/passwd'))",
    ],
)  # fmt: skip
def test_an_expression_reads_no_file(refusal: Callable[..., str], reading: str) -> None:
    text = refusal(InputError, lambda: weights(f"{reading} > 0 -> 5"), "cannot be read")
    assert "root:" not in text


def test_an_expression_does_nothing_else(tmp_path: Any, refusal: Callable[..., str]) -> None:
    target = tmp_path / "out.csv"
    for text in (
        f"1) as v from people; copy people to '{target}'; select (1",
        "1) as v from people; attach 'x.db'; select (1",
    ):
        refusal(InputError, lambda text=text: weights(f"{text} -> 2"))
    assert list(tmp_path.iterdir()) == []


def test_spelled() -> None:
    assert str(Weights.read(["a > 5 -> 10"], "good")) == "a > 5 -> 10, otherwise 1"
    assert Weights().plain
    assert not Weights.read("a > 5 -> 10", "good").plain


# --- error implications ----------------------------------------------------------------------------------------------


def worth(text: Any, predicted: Any, true: Any, columns: dict[str, list[Any]] | None = None) -> list[float]:
    rows = frame(columns)
    order = np.argsort(rows.numbers("x"))
    return Implication.read(text).of(predicted, true, rows, order.astype(np.int64)).tolist()


def texts(*values: str | None) -> pa.Array:
    return pa.array(values, pa.large_string())


def test_equal() -> None:
    assert worth("equal", texts("a", None, "b", None), texts("a", "a", "c", None)) == [1, 0, 0, 1]
    assert worth(None, texts("a", "b", "b", "c"), texts("a", "b", "c", "c")) == [1, 1, 0, 1]
    nan = float("nan")
    assert worth("equal", floats(np.array([1, nan, 2, nan])), floats(np.array([1, 1, 3, nan]))) == [1, 0, 0, 1]


def test_within(refusal: Callable[..., str]) -> None:
    said, true = floats(np.array([1.0, 5, 9, np.nan])), floats(np.array([3.5, 5, 6, 2]))
    assert worth("within 2.5", said, true) == [1, 1, 0, 0]
    assert worth(" within  3 ", said, true) == [1, 1, 1, 0]
    refusal(InputError, lambda: worth("within 5", texts(*"abcd"), texts(*"abcd")), "numbers")


def test_expressions() -> None:
    said, true = texts("0", "1", "1", "0"), texts("0", "0", "1", "1")
    assert worth("predicted >= true", said, true) == [1, 1, 1, 0]
    assert worth("Predicted >= TRUE", said, true) == [1, 1, 1, 0]
    assert worth("case when predicted = true then x else -x end", said, true) == [
        1,
        -2,
        3,
        -4,
    ]  # the person's own columns
    assert worth("predicted = true and sex = 'F'", said, true) == [1, 0, 0, 0]
    assert worth("2.5", said, true) == [2.5] * 4


def test_numbers_in_texts_are_compared_as_numbers() -> None:
    assert worth("predicted >= true", texts("10", "9", "9.5", "10"), texts("9", "10", "9", "10")) == [1, 0, 1, 1]
    # a released label that is no number is not known to be any
    assert worth("predicted >= true", texts("[9,11)", "*", "10", None), texts("9", "10", "9", "10")) == [0, 0, 1, 0]
    # and words stay words
    assert worth("predicted >= true", texts("b", "a", "10", "9"), texts("a", "b", "9", "9")) == [1, 0, 0, 1]


def test_missing_is_null() -> None:
    said, true = texts("a", None, "a", None), texts("a", "a", None, None)
    assert worth("predicted = true", said, true) == [1, 0, 0, 0]
    assert worth("predicted is not distinct from true", said, true) == [1, 0, 0, 1]
    said, true = floats(np.array([5.0, 5, np.nan, 1])), floats(np.array([np.nan, 9, 5, 0]))
    assert worth("predicted <= true", said, true) == [0, 1, 0, 0]
    assert worth("predicted >= true", said, true) == [0, 0, 0, 1]


def test_true_in_quotes_is_a_text() -> None:
    said, true = texts("not true", "true", "it's true", "x"), texts("a", "true", "a", "x")
    assert worth("predicted = 'not true'", said, true) == [1, 0, 0, 0]
    assert worth("predicted = 'it''s true' or true = 'true'", said, true) == [0, 1, 1, 0]
    assert worth("predicted = 'true'", said, true) == [0, 1, 0, 0]
    assert worth('"predicted" = "true"', said, true) == [0, 1, 0, 1]


def test_columns_of_these_names_stand_back() -> None:
    columns = {**PEOPLE, "True": ["z"] * 4, "PREDICTED": ["z"] * 4}
    assert worth("predicted = true", texts(*"abcd"), texts("a", "x", "c", "y"), columns) == [1, 0, 1, 0]


@pytest.mark.parametrize(
    "text", ["predicted >", "nope = true", "predicted -> true", "log(0 * x)", "max(x)", "predicted"]
)
def test_what_is_no_worth(refusal: Callable[..., str], text: str) -> None:
    refusal(InputError, lambda: worth(text, texts(*"abcd"), texts(*"abcd")), "error implication")
