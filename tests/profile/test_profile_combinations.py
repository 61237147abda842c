"""Every set of columns, against counting each set plainly."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.core.errors import InputError
from sfumato.profile.combinations import set_risks

NAMES = ("a", "b", "c", "d")


def counted(rows: list[tuple[Any, ...]], names: tuple[str, ...] = NAMES) -> Any:
    columns = {name: pa.array([row[i] for row in rows], pa.string()) for i, name in enumerate(names)}
    return sf.read(pa.table(columns)).count(names)


def plain(rows: list[tuple[Any, ...]], at: tuple[int, ...]) -> list[int]:
    return sorted(Counter(tuple(row[i] for i in at) for row in rows).values())


tables = st.lists(st.tuples(*(st.sampled_from(["x", "y", "z", None]) for _ in NAMES)), min_size=1, max_size=40)


@settings(max_examples=60, deadline=None)
@given(tables)
def test_every_set_is_what_plain_counting_says(rows: list[tuple[Any, ...]]) -> None:
    found = {risk.columns: risk for risk in set_risks(counted(rows), thresholds=(2, 4))}
    assert len(found) == 15
    for size in range(1, 5):
        for at in itertools.combinations(range(4), size):
            n = plain(rows, at)
            risk = found[tuple(NAMES[i] for i in at)]
            assert risk.classes == len(n)
            assert risk.smallest == n[0]
            assert risk.alone == sum(k == 1 for k in n)
            assert risk.below == tuple(sum(k for k in n if k < limit) for limit in (2, 4))
            assert risk.distinction == pytest.approx(len(n) / len(rows))
            pairs = sum(any(p[i] != q[i] for i in at) for p, q in itertools.combinations(rows, 2))
            whole = len(rows) * (len(rows) - 1) / 2
            assert risk.separation == pytest.approx(pairs / whole if whole else 0.0)


@settings(max_examples=40, deadline=None)
@given(tables, st.integers(1, 3))
def test_a_limit_on_the_size_changes_no_number(rows: list[tuple[Any, ...]], most: int) -> None:
    whole = {risk.columns: risk for risk in set_risks(counted(rows))}
    few = set_risks(counted(rows), most=most)
    assert {risk.columns for risk in few} == {columns for columns in whole if len(columns) <= most}
    assert all(whole[risk.columns] == risk for risk in few)


@settings(max_examples=40, deadline=None)
@given(tables, st.sampled_from([None, 2]))
def test_a_person_counts_once_in_a_class(rows: list[tuple[Any, ...]], most: int | None) -> None:
    """The last column is the person: classes count people, however many rows they have."""
    found = set_risks(counted(rows), most=most, person=True)
    for risk in found:
        at = [NAMES.index(name) for name in risk.columns]
        people: dict[tuple[Any, ...], set[Any]] = {}
        for row in rows:
            people.setdefault(tuple(row[i] for i in at), set()).add(row[3])
        n = [len(who) for who in people.values()]
        assert (risk.classes, risk.alone, risk.smallest) == (len(n), sum(k == 1 for k in n), min(n))
    assert not any("d" in risk.columns for risk in found)


def test_more_columns_never_tell_less() -> None:
    rng = np.random.default_rng(1)
    rows = [tuple(map(str, rng.integers(0, 5, 4))) for _ in range(300)]
    found = {frozenset(risk.columns): risk for risk in set_risks(counted(rows))}
    for small, large in itertools.permutations(found, 2):
        if small < large:
            assert found[small].alone <= found[large].alone
            assert found[small].classes <= found[large].classes
            assert found[small].separation <= found[large].separation + 1e-15


def test_worst_first_and_the_extremes() -> None:
    rows = [(str(i), "x", str(i % 2), "y") for i in range(10)]
    found = set_risks(counted(rows))
    assert found[0].columns == ("a",)  # all alone, by the fewest columns
    assert found[0].distinction == found[0].separation == 1
    assert (found[-1].alone, found[-1].classes, found[-1].separation) == (0, 1, 0)


def test_too_many_sets_are_refused_in_a_sentence() -> None:
    names = tuple(f"c{i}" for i in range(20))
    rows = [tuple("x" for _ in names)]
    with pytest.raises(InputError, match="20 columns have 1,048,575 sets"):
        set_risks(counted(rows, names))
    assert len(set_risks(counted(rows, names), most=2)) == 210
