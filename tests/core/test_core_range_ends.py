"""Ranges end between values, the outermost nowhere or at stated bounds; whatever they are called, they cover what they must."""

from __future__ import annotations

import datetime
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.core.column import encode
from sfumato.core.cover import Domain
from sfumato.core.errors import InputError
from sfumato.core.range_ends import Ends, between
from sfumato.core.roles import Roles


def test_the_example() -> None:
    texts = ["1", "2", "3", "50", "51", "117"]
    assert [Ends(texts).label(0, 2), Ends(texts).label(3, 5)] == ["<10", ">=10"]
    stated = Ends(texts, bounds=("0", "120"))
    assert [stated.label(0, 2), stated.label(3, 5), stated.label(0, 5)] == ["[0,10)", "[10,120]", "[0,120]"]
    assert Ends(texts, style="tight").label(3, 5) == "[50,117]"
    assert [Ends(texts).label(0, 5), Ends(texts, missing=True).label(0, 5)] == ["*", "(-Inf,Inf)"]
    assert Ends(["20", "21", "22", "23"]).label(1, 2) == "[21,23)"  # there is nothing between 20 and 21


def test_days_and_moments() -> None:
    days = ["1899-05-03", "1931-02-07", "1931-12-31", "2024-01-31"]
    assert [Ends(days, dates=True).label(a, b) for a, b in ((0, 1), (1, 2), (2, 3))] == [
        "<1931-03-01", "[1900-01-01,1940-01-01)", ">=1931-03-01",
    ]  # fmt: skip
    assert Ends(days, dates=True, missing=True).label(0, 3) == ">=0001-01-01"
    moments = ["2024-01-01T01:00:00", "2024-01-01T02:00:00", "2024-01-01T20:00:00", "2024-01-01T21:00:00"]
    assert Ends(moments, dates=True).label(0, 1) == "<=2024-01-01T02:00:00"  # no day between two moments of one


@given(st.fractions(), st.fractions(), st.booleans())
def test_between_two_numbers(a: Fraction, b: Fraction, whole: bool) -> None:
    low, high = sorted((a, b) if not whole else (Fraction(int(a)), Fraction(int(b))))
    found = between(low, high, whole=whole)
    assert low < found <= high or low == high == found
    assert not whole or found.denominator == 1
    assert found < high or low == high or (whole and high - low == 1)


VALUES: dict[str, Any] = {
    "whole": st.integers(-(10**18), 10**18),
    "small": st.integers(0, 12),
    "real": st.floats(allow_nan=False, allow_infinity=False),
    "day": st.dates(datetime.date(1800, 1, 1), datetime.date(2200, 1, 1)),
    "moment": st.datetimes(datetime.datetime(2024, 1, 1), datetime.datetime(2024, 1, 4)),
}


@pytest.mark.parametrize("kind", VALUES)
@given(data=st.data(), missing=st.booleans(), stated=st.booleans())
def test_a_range_covers_its_values_and_no_others(kind: str, data: st.DataObject, missing: bool, stated: bool) -> None:
    """Read back by what measures releases; and its label names neither extreme, unless nothing else can be written."""
    values = sorted(data.draw(st.sets(VALUES[kind], min_size=2, max_size=12)))
    column, _ = encode("q", pa.array([*values, None] if missing else values))
    if column.numbers is not None and len(set(column.numbers[: len(values)])) < len(values):
        return  # not told apart by a float either
    texts = [text for text in column.texts if text is not None]
    bounds = None
    if stated and kind in ("whole", "small", "day"):
        bounds = ("0001-01-01", "9999-12-31") if kind == "day" else (str(-(10**19)), str(10**19))
    ends = Ends(texts, column.numbers is None, missing, bounds=bounds)
    domain, labels = Domain(column), {}
    for first in range(len(texts)):
        for last in range(first + 1, len(texts)):
            label = labels[first, last] = ends.label(first, last)
            covered = domain.covered(label)
            assert covered is not None, label
            inside = set(range(first, last + 1)) if label != "*" else set(range(len(texts) + missing))
            assert set(covered.tolist()) == inside, label
            assert bounds is None or (first > 0) == (bounds[0] not in label)
    assert len(set(labels.values())) == len(labels)
    outer = [label for (first, last), label in labels.items() if first == 0 and last < len(texts) - 1]
    assert bounds is not None or all(label.startswith("<") for label in outer)


def test_bounds_come_from_the_roles() -> None:
    table = sf.read(pa.table({"age": [20, 30, 54, 61, 80, 117], "ill": list("abcabc")}))
    roles = Roles.of({"roles": {"quasi": ["age"], "sensitive": ["ill"]}, "domains": {"age": "0:120"}})
    assert Roles.of(__import__("tomllib").loads(roles.toml())).domains == roles.domains
    release = sf.Mondrian(k=3)(table, roles)
    assert release.table.count(("age",)).columns[0].texts == ["[0,60)", "[60,120]"]
    with pytest.raises(InputError, match="1 of its values lie outside") as refused:
        sf.Mondrian(k=3)(table, Roles(quasi=("age",), domains={"age": "0:100"}))
    assert "117" not in str(refused.value)
    with pytest.raises(InputError, match="domains"):
        Roles(quasi=("age",), domains={"age": 7})  # type: ignore[dict-item]
