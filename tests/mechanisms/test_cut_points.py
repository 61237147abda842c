"""Cut points as a mechanism: what the search found is what is written, and the file keeps the promise."""

from __future__ import annotations

import datetime
import tempfile
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mondrian_tables import JOBS, ROW, TAXONOMY, Made, classes_of, made, meets, read_back, write

import sfumato as sf
from sfumato.core.cover import Domain
from sfumato.core.errors import Infeasible, InputError
from sfumato.core.table import Table
from sfumato.mechanisms import mechanism
from sfumato.mechanisms.cut_points import CutPoints
from sfumato.metrics import require
from sfumato.publishing import publish

# --- extremes ---------------------------------------------------------------------------------------------------------


def test_one_range_and_as_many_as_there_are_values(tmp_path: Path) -> None:
    table = made({"q": [1, 2, 3, 4]}, list("uvwx"))
    one = write(CutPoints(column="q", max_ranges=1)(table.table, table.roles), tmp_path)
    assert {row["q"] for row in one} == {"*"}
    every = write(CutPoints(column="q", k=1)(table.table, table.roles), tmp_path)
    assert sorted(row["q"] or "" for row in every) == ["<2", ">=4", "[2,3)", "[3,4)"]


def test_k_n_is_one_range_and_k_n_plus_1_is_refused(refusal: Any) -> None:
    table = made({"q": [1, 2, 3, 4]}, list("uvwx"))
    assert CutPoints(column="q", k=4)(table.table, table.roles).table.count(("q",)).columns[0].texts == ["*"]
    refusal(Infeasible, lambda: CutPoints(column="q", k=5)(table.table, table.roles), "k_anonymity >= 5", "reaches 4")


def test_what_tells_the_same_stays_together(tmp_path: Path) -> None:
    table = made({"q": [1, 2, 3, 4, 5, 6], "r": [*"abcdef"]}, list("uuuvvv"))
    rows = write(CutPoints(column="q", k=2)(table.table, table.roles), tmp_path)
    assert Counter((row["q"], row["r"]) for row in rows) == {("<4", "*"): 3, (">=4", "*"): 3}


def test_missing_values_stay_missing_and_must_meet_the_requirements_too(tmp_path: Path, refusal: Any) -> None:
    table = made({"q": [1, 2, 3, None, None]}, list("uvuuv"), types={"q": pa.int64()})
    rows = write(CutPoints(column="q", k=2)(table.table, table.roles), tmp_path)
    assert Counter(row["q"] for row in rows) == {"(-Inf,Inf)": 3, None: 2}
    refusal(Infeasible, lambda: CutPoints(column="q", k=3)(table.table, table.roles), "without a value")


def test_one_row_and_a_constant_column() -> None:
    one = made({"q": [7]}, ["u"])
    assert CutPoints(column="q", k=1)(one.table, one.roles).table.count(("q",)).columns[0].texts == ["*"]
    same = made({"q": [7] * 4}, list("uvuv"))
    assert CutPoints(column="q", k=4)(same.table, same.roles).table.count(("q",)).n.tolist() == [4]


# --- the promise, from the file --------------------------------------------------------------------------------------------

WANTED = st.sampled_from(
    ["distinct_l_diversity >= 2", "entropy_l_diversity >= 1.3", "t_closeness[equal] <= 0.3", "entropy_leakage <= 0.5"]
)


@settings(max_examples=80)
@given(
    data=st.data(),
    rows=st.integers(1, 30),
    k=st.integers(1, 4),
    wanted=st.none() | WANTED,
    objective=st.sampled_from(["mutual_information", "loss", "discernibility"]),
    levels=st.sampled_from([None, "sex=0", "job=1", "sex=1, job=2"]),
)
def test_every_class_of_the_file_meets_everything(
    data: st.DataObject, rows: int, k: int, wanted: str | None, objective: str, levels: str | None
) -> None:
    def column(values: st.SearchStrategy[Any]) -> list[Any]:
        return data.draw(st.lists(values, min_size=rows, max_size=rows))

    quasi = {
        "age": [0, *column(st.none() | st.integers(0, 9))[1:]],
        "sex": column(st.sampled_from(["f", "m"])),
        "job": column(st.sampled_from(JOBS[:4])),
    }
    table = made(
        quasi,
        column(st.sampled_from("xyz")),
        types={"age": pa.int64()},
        hierarchies={"job": sf.Hierarchy.of("job", TAXONOMY)},
    )
    require_ = () if wanted is None else (require(wanted),)
    made_by = CutPoints(column="age", objective=objective, levels=levels, k=k, require=require_)
    try:
        release = made_by(table.table, table.roles)
    except Infeasible:
        assert k > rows or wanted is not None or levels is not None or None in quasi["age"]
        return
    with tempfile.TemporaryDirectory() as folder:
        publish(release, table.roles, made_by.promises, Path(folder) / "out.csv")
        written = read_back(Path(folder) / "out.csv")
    secret = table.texts("s")
    assert len(written) == rows
    for inside in classes_of(written, table.roles.quasi).values():
        for requirement in made_by.promises:
            assert meets(requirement, [row["s"] for row in inside], secret)
    check_cells(table, written, levels or "")


def check_cells(table: Made, rows: list[dict[str, str | None]], levels: str) -> None:
    """One original value is released in one way, which covers it; columns that are not held are `*`."""
    at = {row[ROW]: row for row in rows}
    assert [at[number]["s"] for number in table.columns[ROW]] == table.texts("s")
    for name in table.roles.quasi:
        column = table.table.count((name,)).columns[0]
        domain = Domain(column, table.roles.taxonomy(name))
        pairs = {(text, at[number][name]) for number, text in zip(table.columns[ROW], table.texts(name), strict=True)}
        assert len(pairs) == len({before for before, _ in pairs})
        assert all(domain.mask(after)[column.texts.index(before)] for before, after in pairs)
        if name != "age" and name not in levels:
            assert {after for _, after in pairs} == {"*"}


def test_held_columns_stand_at_their_level(tmp_path: Path) -> None:
    table = made(
        {"q": [1, 1, 2, 2], "job": ["cook", "baker", "smith", "welder"], "sex": ["f", "f", "m", "m"]},
        list("uvuv"),
        hierarchies={"job": sf.Hierarchy.of("job", TAXONOMY)},
    )
    made_by = mechanism("cut_points").of({"column": "q", "k": "2", "levels": "job=1,sex=0", "objective": "loss"})
    rows = write(made_by(table.table, table.roles), tmp_path)
    assert Counter((row["q"], row["job"], row["sex"]) for row in rows) == {
        ("<2", "food", "f"): 2,
        (">=2", "metal", "m"): 2,
    }


def test_dates_and_stated_orders_can_be_cut(tmp_path: Path) -> None:
    days = [datetime.date(2024, 1, day) for day in (1, 2, 3, 4)]
    table = made({"d": days, "g": ["low", "mid", "high", "high"]}, list("uuvv"), orders={"g": ("low", "mid", "high")})
    by_day = write(CutPoints(column="d", k=2)(table.table, table.roles), tmp_path)
    assert Counter(row["d"] for row in by_day) == {"<2024-01-03": 2, ">=2024-01-03": 2}
    by_grade = write(CutPoints(column="g", k=2)(table.table, table.roles), tmp_path)
    assert Counter(row["g"] for row in by_grade) == {"{low, mid}": 2, "high": 2}


def test_bezzi_s_ages_of_adult(adult: Table, tmp_path: Path) -> None:
    """What the search reaches is what the metric finds on the file."""
    roles = sf.Roles(quasi=("age", "sex"), sensitive=("occupation",))
    limit = (require("one_symbol_i1 <= 0.5"),)
    made_by = CutPoints(column="age", k=100, require=limit, max_ranges=6)
    found = sf.optimal_cuts(adult, roles, "age", require=made_by.promises, max_ranges=6)
    release = made_by(adult, roles)
    publish(release, roles, made_by.promises, tmp_path / "out.csv")
    written = sf.Release(table=sf.read(tmp_path / "out.csv"))
    assert sf.mutual_information(written, roles).value == pytest.approx(found.objective, abs=1e-12)
    assert len(written.table.count(("age",))) == found.ranges
    assert f"in {found.ranges} ranges" in release.notes[0]
    assert "no other ranges" in release.notes[0]


# --- the house's rules ---------------------------------------------------------------------------------------------------


def test_refusals(refusal: Any, canary: str) -> None:
    table = made({"a": [1, 2, 3, 4], "b": [canary, "x", "y", "z"]}, list("uvuv"))
    call = lambda m, roles=table.roles: lambda: m(table.table, roles)  # noqa: E731
    refusal(InputError, lambda: CutPoints(column="a", k=0), "k must be")
    refusal(InputError, lambda: CutPoints(column="a", max_ranges=0), "max_ranges")
    refusal(InputError, lambda: CutPoints(column="a", objective="beauty"), "beauty")
    refusal(InputError, lambda: CutPoints(column="a", levels="b=1.5"), "'b'", "whole")
    refusal(InputError, lambda: CutPoints(column="a", levels="b"), "levels")
    refusal(InputError, lambda: CutPoints(column="a", require=(require("iloss <= 0.5"),)), "whole table")
    refusal(InputError, call(CutPoints(k=2)), "set column")
    refusal(InputError, call(CutPoints(column="a")), "needs something to meet")
    refusal(InputError, call(CutPoints(column="b", k=2)), "'b'", "no order")
    refusal(InputError, call(CutPoints(column="s", k=2)), "'s'", "no quasi-identifier")
    refusal(InputError, call(CutPoints(column="a", k=2, levels="a=1")), "'a'")
    refusal(InputError, call(CutPoints(column="a", k=2, levels="b=2")), "'b'", "levels 0 to 1")
    refusal(InputError, call(CutPoints(column="a", k=2), replace(table.roles, sensitive=())), "sensitive")
    refusal(
        InputError,
        call(CutPoints(column="a", k=2, objective="loss"), replace(table.roles, person="s", sensitive=())),
        "several",
    )
