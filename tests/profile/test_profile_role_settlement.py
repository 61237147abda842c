"""Suggested roles are never refused for what they leave free: what the guard would find, the profile has found."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.core.errors import InputError, NotMet
from sfumato.core.table import Table
from sfumato.metrics import require
from sfumato.profile.free_columns import refusal
from sfumato.profile.free_release import free_of_table
from sfumato.publishing import publish

ADULT = Path(__file__).parents[3] / "shared/data/adult/adult_30162.csv"
ROWS = 300


def rows_of(seed: int) -> Table:
    """A random table with names that profile knows and with relations between its columns."""
    rng = np.random.default_rng(seed)
    n = int(rng.choice([12, 60, ROWS, 700]))
    age, income, tax = rng.integers(18, 90, n), rng.integers(15_000, 90_000, n), rng.integers(0, 40, n) * 100
    town = rng.choice([f"town{i}" for i in range(6)], n)
    possible = {
        "age": age,
        "town": town,
        "sex": rng.choice(["f", "m"], n),
        "income": income,
        "gross": income + tax,
        "tax": tax,
        "diagnosis": rng.choice(["flu", "asthma", "none"], n),
        "religion": np.array([f"r{t[-1]}" for t in town]),  # follows from the town
        "status": np.array(["open", "shut"])[age // 50 % 2],
        "visits": rng.integers(0, 5, n),
        "ward": np.array([f"w{t[-1]}" for t in town]),
        "entry": np.arange(n) * 3 + 1000,
        "version": rng.integers(1, 3, n),
        "weight": rng.random(n).round(6),
        "salary": income * 2,
        "year_code": np.array([f"{2020 - a}X" for a in age]),
    }
    names = rng.permutation(list(possible))[: int(rng.integers(2, len(possible) + 1))]
    return sf.read(pa.table({name: possible[name] for name in names}))


@pytest.mark.parametrize("seed", range(40))
def test_a_release_with_the_suggested_roles_is_never_refused_for_free_columns(tmp_path: Path, seed: int) -> None:
    table = rows_of(seed)
    roles = sf.profile(table).roles
    assert refusal(free_of_table(table, roles).findings) == []
    if not roles.quasi:
        return
    limits = [require("k_anonymity >= 3")]
    try:
        assert publish(sf.Mondrian(k=3)(table, roles), roles, limits, tmp_path / "release.csv").met
    except NotMet as refused:  # of Mondrian nothing else is asked
        raise AssertionError(str(refused)) from None


def test_adult_as_suggested_is_published(tmp_path: Path) -> None:
    if not ADULT.exists():
        pytest.skip("the shared Adult data are not here")
    table = sf.read(ADULT)
    roles = sf.profile(table).roles
    assert "salary-class" in roles.sensitive  # nothing is taken for telling that is not
    assert publish(sf.Mondrian(k=5)(table, roles), roles, [require("k_anonymity >= 5")], tmp_path / "release.csv").met


def test_the_reason_says_what_was_found() -> None:
    rng = np.random.default_rng(1)
    town = rng.choice([f"town{i}" for i in range(6)], ROWS)
    told = {"town": town, "age": rng.integers(18, 60, ROWS), "diagnosis": [f"ill{t[-1]}" for t in town]}
    columns = {column.name: column for column in sf.profile(sf.read(pa.table(told))).columns}
    assert columns["diagnosis"].role == "identifiers"
    assert "determines" in columns["diagnosis"].reason
    assert "300 of 300 rows" in columns["diagnosis"].reason
    assert "--waive" not in columns["diagnosis"].reason
    told["diagnosis"] = rng.choice(["flu", "asthma", "none"], ROWS).tolist()
    columns = {column.name: column for column in sf.profile(sf.read(pa.table(told))).columns}
    assert columns["diagnosis"].role == "sensitive"


def test_named_quasi_identifiers_stay_the_owners() -> None:
    table = rows_of(3)
    name = table.columns[0]
    roles = sf.profile(table, quasi=[name]).roles
    assert roles.quasi == (name,)
    assert free_of_table(table, roles).findings == ()


def test_where_no_column_is_free_nothing_is_found() -> None:
    table = sf.read(pa.table({"age": list(range(60)), "town": ["a", "b"] * 30}))
    assert free_of_table(table, sf.Roles(quasi=("age", "town"))).findings == ()


def test_nothing_is_asked_of_a_table_with_one_column() -> None:
    assert sf.profile(sf.read(pa.table({"diagnosis": ["flu", "cold"] * 60}))).roles.sensitive == ("diagnosis",)
    with pytest.raises(InputError):
        sf.profile(sf.read(pa.table({"a": [1]})), most=0)
