"""What a label covers, and what the ladders make, against one comparison per value."""

from __future__ import annotations

import datetime
from typing import Any

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core import ladders
from sfumato.core.column import Column, encode
from sfumato.core.cover import Domain
from sfumato.core.errors import InputError
from sfumato.core.value_sets import spell_set

numbers = st.lists(
    st.one_of(st.integers(-50, 50), st.sampled_from([0.5, -0.25, 3.75])), min_size=1, max_size=15, unique=True
)
words = st.lists(
    st.text("abc01*", min_size=1, max_size=4).filter(lambda t: "*" not in t), min_size=1, max_size=8, unique=True
)


def column(values: list[Any], missing: bool = False) -> Column:
    kind = pa.string() if isinstance(values[0], str) else pa.float64()
    return encode("c", pa.array([*values, *([None] if missing else [])], kind))[0]


def held(domain: Domain, label: str | None) -> set[Any]:
    """The values that a label covers, as values; None for the missing one."""
    codes = domain.covered(label)
    assert codes is not None, label
    known = domain.column.values.to_pylist()
    return {known[c] if c < len(known) else None for c in codes.tolist()}


@given(numbers, st.integers(-60, 60), st.integers(-60, 60), st.booleans())
def test_intervals(values: list[float], low: int, high: int, missing: bool) -> None:
    domain = Domain(column(values, missing))
    for label, inside in {
        f"[{low},{high})": lambda x: low <= x < high,
        f"[{low},{high}]": lambda x: low <= x <= high,
        f"({low},{high}]": lambda x: low < x <= high,
        f"]{low},{high}[": lambda x: low < x < high,
        f"{low}-{high}": lambda x: low <= x <= high,
        f"{low}..{high}": lambda x: low <= x <= high,
        f"<{low}": lambda x: x < low,
        f"≤{low}": lambda x: x <= low,
        f">{low}": lambda x: x > low,
        f">={low}": lambda x: x >= low,
    }.items():
        expected = {float(x) for x in values if inside(x)}
        assert held(domain, label) == expected, label
        assert domain.leaves(label) == max(len(expected), 1)
    assert held(domain, "*") == {*map(float, values), *([None] if missing else [])}


@given(words, st.data())
def test_sets(values: list[str], data: st.DataObject) -> None:
    chosen = data.draw(st.lists(st.sampled_from(values), min_size=1, unique=True))
    domain = Domain(column(values, missing=True))
    assert held(domain, spell_set(chosen)) == set(chosen)
    assert domain.leaves(spell_set(chosen)) == len(chosen)


@given(words, st.text("abc01*", min_size=1, max_size=4))
def test_masks(values: list[str], mask: str) -> None:
    """An asterisk is any one character, and asterisks at the end also stand for nothing."""
    if "*" not in mask or set(mask) == {"*"} or mask in values:
        return
    codes = Domain(column(values)).covered(mask)
    if codes is None:
        return

    def fits(value: str) -> bool:
        padded = value.ljust(len(mask), "*")
        return len(padded) == len(mask) and all(m in ("*", v) for m, v in zip(mask, padded, strict=True))

    assert held(Domain(column(values)), mask) == {v for v in values if fits(v)}


days = st.lists(st.dates(datetime.date(1950, 1, 1), datetime.date(2049, 12, 31)), min_size=1, max_size=12, unique=True)


@given(days)
def test_calendar_labels(dates: list[datetime.date]) -> None:
    given_column = column([d.isoformat() for d in dates])
    domain = Domain(given_column)
    units = ["month", "quarter", "year", "decade"]
    built = ladders.build(given_column, {"dates": units})
    spans = {
        "month": lambda d: (d.year, d.month),
        "quarter": lambda d: (d.year, (d.month - 1) // 3),
        "year": lambda d: d.year,
        "decade": lambda d: d.year // 10,
    }
    ordered = sorted(dates)
    for unit, level in zip(units, built.levels[1:], strict=False):
        for day, label in zip(ordered, level, strict=True):
            assert held(domain, label) == {d.isoformat() for d in dates if spans[unit](d) == spans[unit](day)}


def agrees(values: list[Any], rule: dict[str, Any]) -> None:
    """The label of each value covers exactly the values that carry the same label; levels nest."""
    given_column = column(values)
    built, domain = ladders.build(given_column, rule), Domain(given_column)
    known = given_column.values.to_pylist()
    assert built.levels[0] == tuple(given_column.texts)
    for level in built.levels[1:]:
        for label in set(level):
            assert held(domain, label) == {known[i] for i, other in enumerate(level) if other == label}, label


@given(numbers, st.sampled_from([[5, 10, 20], [1, 2], [7], [2, 6, 30], [0.25, 0.5], [100]]), st.integers(-5, 5))
def test_widths(values: list[float], widths: list[float], origin: int) -> None:
    agrees(values, {"widths": widths, "origin": origin})


@given(
    st.lists(st.integers(0, 400), min_size=1, max_size=30, unique=True),
    st.sampled_from([(0.1, 1), (0.01, 2), (0.05, 2), (0.3, 1)]),
)
def test_widths_of_decimals(steps: list[int], width: tuple[float, int]) -> None:
    """Prices, doses, grades: values that are whole multiples of the width are where floats go wrong."""
    step, digits = width
    agrees([round(s * step, digits) for s in steps], {"widths": [step, 2 * step]})


@given(numbers, st.lists(st.integers(-50, 50), min_size=1, max_size=5, unique=True))
def test_cuts(values: list[float], edges: list[int]) -> None:
    agrees(values, {"cuts": [edges, edges[::2]]})


@given(numbers, st.sampled_from([[4, 2], [3], [6, 3], [10, 5]]))
def test_quantiles(values: list[float], parts: list[int]) -> None:
    agrees(values, {"quantiles": parts})


@given(st.lists(st.text("0123", min_size=1, max_size=5), min_size=1, max_size=10, unique=True))
def test_prefixes(values: list[str]) -> None:
    agrees(values, {"prefix": True})


@given(
    st.lists(
        st.one_of(st.integers(-(10**9), 10**9), st.floats(-1e6, 1e6).map(lambda x: round(x, 3))),
        min_size=1,
        max_size=25,
        unique=True,
    )
)
def test_a_suggestion_can_always_be_built(values: list[float]) -> None:
    given_column = column(values)
    try:
        built = ladders.build(given_column, ladders.suggest(given_column, "numeric"))
    except InputError as error:
        raise AssertionError(f"suggested what does not nest: {error}") from error
    assert built.levels[-1] == ("*",) * len(given_column)
