"""Minimal uniques against their definition."""

from __future__ import annotations

import itertools
from math import prod
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.profile.suda import suda

NAMES = ("a", "b", "c", "d")
tables = st.lists(st.tuples(*(st.sampled_from(["x", "y", "z", None]) for _ in NAMES)), min_size=1, max_size=25)


def counted(rows: list[tuple[Any, ...]]) -> Any:
    return sf.read(pa.table({n: pa.array([r[i] for r in rows], pa.string()) for i, n in enumerate(NAMES)})).count(NAMES)


def minimal(rows: list[tuple[Any, ...]], row: int, most: int, people: bool = False) -> list[tuple[int, ...]]:
    """The sets on which a row is alone and on no part of which it is."""
    width = len(NAMES) - people

    def alone(at: tuple[int, ...]) -> bool:
        same = [r for r in rows if all(r[i] == rows[row][i] for i in at)]
        return len({r[-1] for r in same}) == 1 if people else len(same) == 1

    sets = [at for size in range(1, most + 1) for at in itertools.combinations(range(width), size)]
    unique = [at for at in sets if alone(at)]
    return [at for at in unique if not any(set(other) < set(at) for other in unique)]


@settings(max_examples=60, deadline=None)
@given(tables, st.integers(1, 4))
def test_scores_follow_the_definition(rows: list[tuple[Any, ...]], most: int) -> None:
    found = suda(counted(rows), most=most)
    sizes, score, records = [0] * most, 0.0, 0
    for i in range(len(rows)):
        sets = minimal(rows, i, most)
        records += bool(sets)
        for at in sets:
            sizes[len(at) - 1] += 1
            score += prod(max(4 - j, 1) for j in range(len(at), most + 1))
    assert found.by_size == tuple(sizes)
    assert found.records == records
    assert found.score.sum() == pytest.approx(score)


@settings(max_examples=40, deadline=None)
@given(tables)
def test_with_several_rows_a_person(rows: list[tuple[Any, ...]]) -> None:
    rows = sorted(set(rows), key=str)  # equal rows of a person are one record
    found = suda(counted(rows), most=3, person=True)
    assert found.by_size == tuple(
        sum(len(at) == size for i in range(len(rows)) for at in minimal(rows, i, 3, people=True)) for size in (1, 2, 3)
    )


@settings(max_examples=40, deadline=None)
@given(tables)
def test_the_sets_of_each_record_are_returned(rows: list[tuple[Any, ...]]) -> None:
    counts = counted(rows)
    scored = suda(counts, most=3)
    assert scored is suda(counts, most=3)  # enumerated once
    for at in range(len(counts)):
        row = tuple(column.texts[codes[at]] for column, codes in zip(counts.columns, counts.codes, strict=True))
        expected = [tuple(NAMES[i] for i in names) for names in minimal(rows, rows.index(row), 3)]
        assert scored.minimal(at) == expected


def test_extremes() -> None:
    alike = [("x", "x", "x", "x")] * 5
    assert suda(counted(alike)).records == 0
    assert suda(counted(alike)).by_size == (0, 0, 0)
    numbered = [(chr(97 + i), "x", "x", "x") for i in range(5)]
    found = suda(counted(numbered))
    assert found.by_size == (5, 0, 0)  # the first column alone; nothing that holds it is minimal
    assert found.by_column == {"a": 1.0, "b": 0.0, "c": 0.0, "d": 0.0}
    assert set(found.score) == {3 * 2 * 1.0}
