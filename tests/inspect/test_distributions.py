"""Columns before and after: the extremes, and counts by hand."""

from __future__ import annotations

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.inspect.distributions import BINS, ColumnShape, distributions


def shapes(before: dict[str, list[object]], after: dict[str, list[object]]) -> dict[str, ColumnShape]:
    roles = sf.Roles(quasi=("age",), sensitive=("ill",))
    release = sf.Release(table=sf.read(pa.table(after)), original=sf.read(pa.table(before)))
    return {each.name: each for each in distributions(release, roles)}


def test_the_identity_moves_nothing_and_every_count_is_right() -> None:
    table: dict[str, list[object]] = {"age": [*range(20, 60)] * 12, "ill": ["a", "b", "b", None] * 120}
    for each in shapes(table, table).values():
        assert each.moved == 0
        assert each.before == each.after
        assert sum(each.before) == pytest.approx(1)
        assert (each.typical, each.worst) == (0, 0)
        assert len(each.before) <= BINS


def test_a_range_is_spread_evenly() -> None:
    """30 people of 20 and 10 of 21, released as [20, 21]: 20 each, so one count is off by a third and the other by its double."""
    before: dict[str, list[object]] = {"age": [20] * 30 + [21] * 10, "ill": ["a"] * 40}
    found = shapes(before, {"age": ["[20,21]"] * 40, "ill": ["a"] * 40})["age"]
    assert found.before == (0.75, 0.25)
    assert found.after == (0.5, 0.5)
    assert found.moved == pytest.approx(0.25)
    assert found.worst == pytest.approx(1.0)
    assert found.worst_rows == 10


def test_values_of_few_people_are_no_counts_that_users_ask_for() -> None:
    table: dict[str, list[object]] = {"age": [*range(9)], "ill": ["a"] * 9}
    assert shapes(table, table)["age"].worst is None
