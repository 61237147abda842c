"""Hierarchies that build themselves."""

from __future__ import annotations

import contextlib
import datetime
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sfumato.core import ladders
from sfumato.core.column import Column, encode
from sfumato.core.cover import Domain
from sfumato.core.errors import InputError


def column(values: Any) -> Column:
    return encode("c", pa.array(values))[0]


def levels(values: Any, rule: dict[str, Any]) -> list[tuple[str, ...]]:
    return list(ladders.build(column(values), rule).levels)


def honest(values: Any, rule: dict[str, Any]) -> None:
    """Every label covers the values that carry it, and no value that carries another label of its level."""
    given = column(values)
    domain = Domain(given)
    for level in ladders.build(given, rule).levels[1:]:
        for label in set(level):
            carried = {i for i, other in enumerate(level) if other == label}
            covered = domain.covered(label)
            assert covered is not None, f"{label} cannot be read"
            assert set(covered.tolist()) - {len(given.values)} == carried, f"{label} at {level}"


# --- widths ----------------------------------------------------------------------------------------------------------


def test_widths() -> None:
    assert levels([0, 4, 5, 12, 19, None], {"widths": [5, 10]}) == [
        ("0", "4", "5", "12", "19"),
        ("[0,5)", "[0,5)", "[5,10)", "[10,15)", "[15,20)"),
        ("[0,10)", "[0,10)", "[0,10)", "[10,20)", "[10,20)"),
        ("*",) * 5,
    ]


def test_widths_below_zero_and_from_an_origin() -> None:
    assert levels([-7, -5, -1, 0], {"widths": [5]})[1] == ("[-10,-5)", "[-5,0)", "[-5,0)", "[0,5)")
    assert levels([1, 5, 6], {"widths": [5], "origin": 1})[1] == ("[1,6)", "[1,6)", "[6,11)")


def test_a_single_width_need_not_stand_in_a_list() -> None:
    assert levels([3, 12], {"widths": 10})[1] == ("[0,10)", "[10,20)")


@pytest.mark.parametrize(
    ("values", "widths"),
    [
        (range(0, 90, 7), [5, 10, 20]),
        ([-3, -2, 0, 1, 9], [2, 4, 8]),
        ([x / 4 for x in range(20)], [0.25, 0.5, 1]),
        ([round(x * 0.1, 1) for x in range(40)], [0.1, 0.2, 0.4]),
        ([round(x * 0.05, 2) for x in range(60)], [0.05, 0.1, 0.5]),
        ([round(x * 0.3, 1) for x in range(30)], [0.3, 0.6]),
    ],
    ids=["ints", "negative", "quarters", "tenths", "twentieths", "thirds"],
)
def test_every_value_lies_in_its_interval(values: Any, widths: list[float]) -> None:
    honest(list(values), {"widths": widths})


@pytest.mark.parametrize(
    "values",
    [[1e30, 5.0], [-1e300, 0.0], [math.inf, 5.0], [-math.inf, math.inf, 0.0], ["1e400", "5"]],
    ids=["large", "very large", "infinite", "both infinities", "text beyond floats"],
)
@pytest.mark.parametrize("rule", [{"widths": [5, 10]}, {"cuts": [5]}, {"quantiles": [2]}, "suggested"], ids=str)
def test_numbers_without_measure(values: list[Any], rule: Any) -> None:
    """They are built or refused in a sentence; both are better than a crash."""
    given = column(values)
    with contextlib.suppress(InputError):
        built = ladders.build(given, ladders.suggest(given, "numeric") if rule == "suggested" else rule)
        assert built.levels[0] == tuple(given.texts)
        assert built.levels[-1] == ("*",) * len(values)


@pytest.mark.parametrize("far", [math.inf, -math.inf, 1e300, 5e-324])
def test_what_is_suggested_can_be_built(far: float) -> None:
    given = column([*(float(x) for x in range(18, 90)), far])
    assert ladders.build(given, ladders.suggest(given, "numeric")).levels[-1] == ("*",) * len(given.values)


# --- cuts and quantiles ----------------------------------------------------------------------------------------------


def test_cuts() -> None:
    assert levels([1, 3, 5, 9], {"cuts": [7, 3]})[1] == ("<3", "[3,7)", "[3,7)", ">=7")
    assert levels([1, 3, 5, 9], {"cuts": [[3, 7], [7]]})[1:] == [
        ("<3", "[3,7)", "[3,7)", ">=7"),
        ("<7", "<7", "<7", ">=7"),
        ("*",) * 4,
    ]
    honest(range(20), {"cuts": [[3, 7, 11], [7, 11], [11]]})
    honest([0.5, 1.25, 2.75], {"cuts": [1.25]})


def test_quantiles_have_about_equal_parts_and_nest() -> None:
    found = levels(range(100), {"quantiles": [4, 2]})
    assert [found[1].count(label) for label in dict.fromkeys(found[1])] == [25, 25, 25, 25]
    assert [found[2].count(label) for label in dict.fromkeys(found[2])] == [50, 50]
    honest(range(100), {"quantiles": [12, 6, 3]})
    honest([1, 2, 4, 8, 16, 32, 64], {"quantiles": [3]})


# --- dates -----------------------------------------------------------------------------------------------------------

DAYS = ["1999-12-31", "2000-01-01", "2004-02-29", "2024-05-07"]


@pytest.mark.parametrize(
    "values",
    [
        DAYS,
        [datetime.date.fromisoformat(day) for day in DAYS],
        [datetime.datetime.fromisoformat(f"{day}T13:45:00") for day in DAYS],
        pa.array([datetime.datetime.fromisoformat(f"{day}T13:45:00") for day in DAYS], pa.timestamp("ns")),
    ],
    ids=["texts", "dates", "timestamps", "nanoseconds"],
)
def test_dates(values: Any) -> None:
    found = levels(values, {"dates": ["day", "month", "quarter", "year", "decade"]})
    assert found[1:] == [
        tuple(DAYS),
        ("1999-12", "2000-01", "2004-02", "2024-05"),
        ("1999-Q4", "2000-Q1", "2004-Q1", "2024-Q2"),
        ("1999", "2000", "2004", "2024"),
        ("1990s", "2000s", "2000s", "2020s"),
        ("*",) * 4,
    ]


def test_every_date_lies_in_its_label() -> None:
    honest([f"20{y:02d}-{m:02d}-15" for y in range(5, 25, 3) for m in range(1, 13, 2)], {"dates": ["month", "quarter", "year", "decade"]})  # fmt: skip


# --- prefix ----------------------------------------------------------------------------------------------------------


def test_prefix() -> None:
    assert levels(["47605", "47678"], {"prefix": [1, 2, 3]})[1:] == [
        ("4760*", "4767*"),
        ("476**", "476**"),
        ("47***", "47***"),
        ("*", "*"),
    ]
    assert [level[0] for level in levels(["abc"], {"prefix": True})] == ["abc", "ab*", "a**", "*"]


def test_prefix_hides_the_length_of_shorter_codes() -> None:
    found = levels(["123", "12345"], {"prefix": [1, 2, 4]})
    assert all(len(label) == 5 for level in found[1:-1] for label in level)
    assert found[2] == ("123**", "123**")


@pytest.mark.parametrize(
    "values",
    [["47605", "47678", "48000"], ["1", "12", "123", "1234"], ["123", "12345", "12399"], ["a_b", "a_c", "abc"]],
    ids=["same length", "growing", "short and long", "underscores"],
)
def test_every_code_is_covered_by_its_mask(values: list[str]) -> None:
    honest(values, {"prefix": True})


# --- refusals --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "rule"),
    [
        ([1, 2], {"widths": [5, 12]}),
        ([1, 2], {"widths": [10, 5]}),
        ([1, 2], {"widths": [0]}),
        ([1, 2], {"widths": [-5]}),
        ([1, 2], {"widths": ["wide"]}),
        ([1, 2], {"widths": [5], "origin": "zero"}),
        (["1", "CANARY"], {"widths": [5]}),
        (["1", "CANARY"], {"cuts": [5]}),
        (["1", "CANARY"], {"quantiles": [2]}),
        (["00501", "10001"], {"widths": [10]}),
        ([1, 2], {"cuts": [[3, 7], [8]]}),
        ([1, 2], {"cuts": ["low"]}),
        ([1, 2], {"quantiles": [6, 4]}),
        ([1, 2], {"quantiles": [4, 0]}),
        ([1, 2], {"quantiles": [0]}),
        ([1, 2], {"quantiles": [-3]}),
        ([1, 2], {"quantiles": [1.5]}),
        (["2024-01-01"], {"dates": ["year", "month"]}),
        (["2024-01-01"], {"dates": ["week"]}),
        (["2024-01-01", "CANARY"], {"dates": ["year"]}),
        (["2024-02-30"], {"dates": ["year"]}),
        (["abc"], {"prefix": [0]}),
        (["abc"], {"prefix": [-1]}),
        (["abc"], {"prefix": ["one"]}),
    ],
    ids=lambda value: None if isinstance(value, list) else str(value),
)
def test_a_rule_that_does_not_fit_is_refused(
    refusal: Callable[..., str], canary: str, values: list[Any], rule: dict[str, Any]
) -> None:
    given = [canary if value == "CANARY" else value for value in values]
    refusal(InputError, lambda: ladders.build(column(given), rule), "'c'")


def test_suppress_and_no_rule_leave_only_the_top() -> None:
    assert levels(["a", "b"], {"suppress": True}) == [("a", "b"), ("*", "*")]
    assert levels([1, 2], {"cuts": []}) == [("1", "2"), ("*", "*")]


# --- suggestions -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("numeric", [str(x) for x in range(17, 91)]),
        ("numeric", [x * 1000 for x in range(200)]),
        ("numeric", [x / 1000 for x in range(7, 500, 3)]),
        ("numeric", [-40.5, -3.25, 0, 12.125]),
        ("numeric", [5]),
        ("numeric", [1, 2]),
        ("numeric", [0, 1, None]),
        ("date", DAYS),
        ("code", ["00501", "10001", "99950"]),
        ("code", ["7"]),
        ("category", ["red", "green"]),
    ],
)
def test_a_suggested_rule_can_be_built(kind: str, values: list[Any]) -> None:
    given = column(values)
    rule = ladders.suggest(given, kind)
    built = ladders.build(given, rule)
    assert built.levels[0] == tuple(text for text in given.texts if text is not None)
    assert 1 <= built.height <= 5


def test_suggested_widths_are_nice_and_few() -> None:
    rule = ladders.suggest(column([str(x) for x in range(17, 91)]), "numeric")
    first = rule["widths"][0]
    assert first in (2, 5, 10)
    assert len(set(levels([str(x) for x in range(17, 91)], rule)[1])) <= 21


def test_a_few_far_values_do_not_widen_the_intervals_of_all_others() -> None:
    """Costs of 50 to 250, and two bills of thousands: else all but two would be in one interval."""
    bulk = [round(50 + 0.1 * i, 1) for i in range(2000)]
    for far in ([], [9_000.0, 40_000.0]):
        assert ladders.suggest(column(bulk + far), "numeric") == {"widths": [10, 20, 40] if not far else [20, 40, 80]}


def test_suggested_levels_each_merge_something() -> None:
    rng = np.random.default_rng(2)
    values = sorted({round(float(x), 2) for x in rng.normal(50, 20, 300)})
    built = ladders.build(column(values), ladders.suggest(column(values), "numeric"))
    sizes = [len(set(level)) for level in built.levels]
    assert sizes == sorted(sizes, reverse=True)
    assert len(set(sizes)) == len(sizes)
