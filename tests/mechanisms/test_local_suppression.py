"""Local suppression: which cells go, against a reference; the promise from the written file; rows up to a limit."""

from __future__ import annotations

import itertools
import math
import random
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mondrian_tables import ROW, Made, classes_of, made, meets, read_back, tables, write

import sfumato as sf
from selection import few, rounds
from sfumato.core.errors import Infeasible, InputError
from sfumato.core.release import Release
from sfumato.core.roles import Roles
from sfumato.core.table import Table
from sfumato.mechanisms import mechanism
from sfumato.mechanisms.local_suppression import LocalSuppression, cheapest_cells
from sfumato.metrics import require
from sfumato.publishing import publish

BOUNDS = {
    "k_anonymity >=": st.integers(1, 6),
    "prosecutor_risk <=": st.sampled_from([0.2, 0.34, 0.5]),
    "distinct_l_diversity >=": st.integers(1, 3),
    "entropy_l_diversity >=": st.sampled_from([1.0, 1.3, 1.9]),
    "t_closeness[equal] <=": st.sampled_from([0.05, 0.2, 0.45]),
    "distribution_leakage <=": st.sampled_from([0.1, 0.4, 0.8]),
    "entropy_leakage <=": st.sampled_from([0.05, 0.3, 0.8]),
}


def released(table: Made, made_by: LocalSuppression) -> list[tuple[Any, ...]]:
    """The released quasi-identifiers of each row, in the order of the input; None for a row that is left out."""
    with tempfile.TemporaryDirectory() as folder:
        rows = {row[ROW]: row for row in write(made_by(table.table, table.roles), Path(folder))}
    return [
        tuple(rows[number][name] for name in table.roles.quasi) if number in rows else (None,)
        for number in table.columns[ROW]
    ]


# --- extremes ---------------------------------------------------------------------------------------------------------


def test_k_1_suppresses_nothing() -> None:
    table = made({"a": [1, 2, None], "b": ["x", "y", "z"]})
    assert released(table, LocalSuppression(k=1)) == [("1", "x"), ("2", "y"), (None, "z")]


def test_k_n_of_rows_that_share_nothing_suppresses_everything() -> None:
    table = made({"a": [1, 2, 3], "b": ["x", "y", "z"]})
    assert released(table, LocalSuppression(k=3)) == [("*", "*")] * 3


def test_only_the_rows_that_miss_k_are_touched() -> None:
    table = made({"a": [1, 1, 1, 2, 3], "b": ["x", "x", "x", "y", "y"]})
    assert released(table, LocalSuppression(k=2)) == [("1", "x")] * 3 + [("*", "y")] * 2


def test_all_rows_equal_and_one_row() -> None:
    table = made({"a": [7] * 4, "b": [None] * 4}, types={"b": pa.string()})
    assert released(table, LocalSuppression(k=4)) == [("7", None)] * 4
    one = made({"a": [7]})
    assert released(one, LocalSuppression(k=1)) == [("7",)]
    with pytest.raises(Infeasible, match="only reaches 1"):
        LocalSuppression(k=2)(one.table, one.roles)


def test_a_missing_cell_is_a_value_and_can_be_suppressed() -> None:
    table = made({"a": [None, None, None, 4], "b": ["x", "x", "y", "y"]}, types={"a": pa.int64()})
    assert released(table, LocalSuppression(k=2)) == [(None, "x"), (None, "x"), ("*", "y"), ("*", "y")]


# --- importance ---------------------------------------------------------------------------------------------------------

CROSS = {"a": [1, 1, 2, 2], "b": ["x", "y", "x", "y"]}
"""Either column may go."""


@pytest.mark.parametrize(
    ("importance", "weights", "gone"),
    [
        (None, {}, 0),
        ("a=2", {}, 1),
        ("b=2", {}, 0),
        (None, {"a": 3}, 1),
        ("a=1", {"a": 3, "b": 2}, 0),  # what is given comes before the roles file
        ("a=inf", {}, 1),
        ("b=inf", {"a": 100}, 0),
        ("a=0", {"b": 0.5}, 0),
    ],
)
def test_less_important_columns_go_first(importance: str | None, weights: dict[str, float], gone: int) -> None:
    table = made(CROSS, weights=weights)
    rows = released(table, LocalSuppression(k=2, importance=importance))
    assert all(row[gone] == "*" and row[1 - gone] != "*" for row in rows)


def test_a_column_that_costs_nothing_still_goes_only_where_it_helps() -> None:
    table = made({"a": [1, 1, 2, 3], "b": ["x"] * 4})
    assert released(table, LocalSuppression(k=2, importance="a=0")) == [("1", "x")] * 2 + [("*", "x")] * 2


def test_two_cheap_cells_go_before_a_dear_one() -> None:
    table = made({"a": [1, 2], "b": [1, 2], "c": [5, 6]})
    dear = made({"a": [1, 2, 1, 2], "b": [1, 2, 1, 2], "c": [5, 5, 6, 6]})
    assert released(table, LocalSuppression(k=2)) == [("*", "*", "*")] * 2
    assert released(dear, LocalSuppression(k=2)) == [("1", "1", "*"), ("2", "2", "*")] * 2
    assert released(dear, LocalSuppression(k=2, importance="c=3")) == [("*", "*", "5")] * 2 + [("*", "*", "6")] * 2


# --- against a reference ---------------------------------------------------------------------------------------------


def _reference(rows: list[tuple[Any, ...]], k: int, cost: Sequence[float]) -> list[tuple[Any, ...]] | None:
    """Every set of columns from cheap to dear; of equal ones the one that serves most rows. None if some rows are left."""
    width = len(cost)
    sets = [set_ for size in range(width + 1) for set_ in itertools.combinations(range(width), size)]
    price = {set_: sum(cost[j] for j in set_) for set_ in sets}
    out, done = list(range(len(rows))), list(rows)

    def hide(i: int, set_: tuple[int, ...]) -> tuple[Any, ...]:
        return tuple("*" if j in set_ else value for j, value in enumerate(rows[i]))

    def served(set_: tuple[int, ...]) -> list[int]:
        often = Counter(hide(i, set_) for i in out)
        return [i for i in out if often[hide(i, set_)] >= k]

    for key in sorted({(price[s], len(s)) for s in sets}):
        equal = [s for s in sets if (price[s], len(s)) == key]
        while equal:
            best = max(equal, key=lambda s: len(served(s)))
            equal.remove(best)
            for i in served(best):
                done[i] = hide(i, best)
                out.remove(i)
    return None if out else done


@settings(max_examples=150)
@given(
    rows=st.lists(st.tuples(*[st.sampled_from("abc")] * 3, st.sampled_from("uv")), min_size=5, max_size=40),
    k=st.integers(2, 4),
    cost=st.lists(st.integers(1, 3), min_size=4, max_size=4),
)
def test_the_cells_are_those_of_the_reference(rows: list[tuple[str, ...]], k: int, cost: list[int]) -> None:
    wanted = _reference(rows, k, cost)
    if wanted is None:
        return
    table = made({name: [row[j] for row in rows] for j, name in enumerate("pqrs")})
    importance = ",".join(f"{name}={c}" for name, c in zip("pqrs", cost, strict=True))
    assert released(table, LocalSuppression(k=k, importance=importance)) == wanted


@given(
    cost=st.lists(st.sampled_from([0.0, 0.1, 0.2, 0.3, 1.0, math.inf]), min_size=1, max_size=6), most=st.integers(1, 6)
)
def test_sets_come_from_cheap_to_dear_each_once(cost: list[float], most: int) -> None:
    found = list(cheapest_cells(cost, most))
    columns = [j for j, c in enumerate(cost) if math.isfinite(c)]
    wanted = {s for size in range(min(most, len(columns)) + 1) for s in itertools.combinations(columns, size)}
    assert len(found) == len(wanted)
    assert {s for _, s in found} == wanted
    assert [total for total, _ in found] == sorted(total for total, _ in found)
    assert all(total == pytest.approx(sum(cost[j] for j in s)) for total, s in found)


# --- rows that are left -----------------------------------------------------------------------------------------------


def test_a_row_that_is_left_takes_rows_of_a_class_with_it() -> None:
    """Two more rows must lose the cell, not all of the nearest class."""
    table = made({"a": [1] * 6 + [2], "b": ["x"] * 7})
    rows = released(table, LocalSuppression(k=3))
    assert Counter(rows) == {("1", "x"): 4, ("*", "x"): 3}
    assert rows[-1] == ("*", "x")


def test_a_class_without_rows_to_spare_comes_whole() -> None:
    table = made({"a": [1] * 4 + [2], "b": ["x"] * 5})
    assert released(table, LocalSuppression(k=3)) == [("*", "x")] * 5


def test_the_nearest_class_by_importance_gives_the_rows() -> None:
    table = made({"a": [1] * 8 + [2] * 8 + [1], "b": ["x"] * 8 + ["y"] * 9, "c": ["u"] * 17})
    # the last row, (1, y, u), shares b and c with the second class and a and c with the first
    for importance, hidden in (("a=2", 1), ("b=2", 0)):
        row = released(table, LocalSuppression(k=3, importance=importance))[-1]
        assert [j for j, value in enumerate(row) if value == "*"] == [hidden]


def test_rows_are_left_out_up_to_the_limit(tmp_path: Path) -> None:
    table = made({"a": [1] * 6 + [2], "b": ["x"] * 7})
    made_by = LocalSuppression(k=3, suppression=0.2)
    assert released(table, made_by) == [("1", "x")] * 6 + [(None,)]
    release = made_by(table.table, table.roles)
    assert release.notes == ("Suppressed 0 of 12 cells (0%); 1 rows left out.",)
    publish(release, table.roles, made_by.promises, tmp_path / "out.csv")
    assert len(read_back(tmp_path / "out.csv")) == 6


def test_most_limits_the_cells_of_a_row(refusal: Any) -> None:
    table = made({"a": [1, 1, 2, 3, 4, 5], "b": [*"xxyyzw"], "c": [*"uuvvst"]})
    refusal(Infeasible, lambda: LocalSuppression(k=2, most=1)(table.table, table.roles), "2 rows", "suppression=0.334")
    within = released(table, LocalSuppression(k=2, most=1, suppression=0.334))
    assert within == [("1", "x", "u")] * 2 + [("*", "y", "v")] * 2 + [(None,)] * 2
    assert released(table, LocalSuppression(k=2)) == [*within[:4], ("*", "*", "*"), ("*", "*", "*")]


def test_columns_that_are_never_suppressed_can_make_it_infeasible(refusal: Any) -> None:
    table = made({"a": [1, 1, 1, 2], "b": ["x"] * 4})
    call = LocalSuppression(k=2, importance="a=inf")
    refusal(Infeasible, lambda: call(table.table, table.roles), "1 rows", "k_anonymity >= 2", "suppression=0.25")
    assert released(table, replace(call, suppression=0.25)) == [("1", "x")] * 3 + [(None,)]


def test_leaving_rows_out_is_measured_against_what_is_left(refusal: Any) -> None:
    """t-closeness looks at the whole table; rows that leave change it, and then the promise would be broken."""
    table = made({"a": [1] * 4 + [2] * 4 + [3] * 2}, list("uvuvuvuvww"))
    made_by = LocalSuppression(require=(require("t_closeness[equal] <= 0.2"),), suppression=0.2, importance="a=inf")
    release = made_by(table.table, table.roles)
    assert release.recoding is not None
    assert release.recoding.rows == 8
    assert made_by.promises[0].check(release, table.roles).score.value == 0
    # 80% and 60% of u are both within 0.1 of 70%, but not of what is left without the 30 rows that are all u
    columns = {"a": [1] * 10 + [2] * 100 + [3] * 30}
    skewed = made(columns, [*"u" * 8, *"v" * 2, *"u" * 60, *"v" * 40, *"u" * 30])
    tight = replace(made_by, require=(require("t_closeness[equal] <= 0.1"),), suppression=0.25)
    refusal(Infeasible, lambda: tight(skewed.table, skewed.roles), "without the 30 rows", "t_closeness[equal] <= 0.1")


def test_a_star_that_was_there_before_is_the_same_star() -> None:
    table = made({"a": ["*", "*", "1", "2"], "b": ["x"] * 4})
    rows = released(table, LocalSuppression(k=2))
    assert rows == [("*", "x")] * 4
    release = LocalSuppression(k=2)(table.table, table.roles)
    assert release.notes[0].startswith("Suppressed 2 of 8 cells (25%): a 2;")
    once = made({"a": ["*", "1", "2"], "b": ["x"] * 3})
    assert LocalSuppression(k=3)(once.table, once.roles).notes[0].startswith("Suppressed 2 of 6 cells (33.3%): a 2;")


# --- the promise, from the file -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("metric", few(BOUNDS, *list(BOUNDS)[:3]))
@settings(max_examples=25)
@given(data=st.data(), k=st.none() | st.integers(1, 3), share=st.sampled_from([0.0, 0.0, 0.1, 0.5]))
def test_every_class_of_the_file_meets_a_requirement(
    metric: str, data: st.DataObject, k: int | None, share: float
) -> None:
    table = data.draw(tables())
    wanted = require(f"{metric} {data.draw(BOUNDS[metric])}")
    made_by = LocalSuppression(k=k, require=(wanted,), suppression=share)
    secret = table.texts("s")
    try:
        release = made_by(table.table, table.roles)
    except Infeasible:
        # leaving rows out may change the whole; a union of classes may miss what is not monotone
        relative = share > 0 or "leakage" in metric or "closeness" in metric
        assert relative or any(not meets(r, secret, secret) for r in made_by.promises)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "release.csv"
        publish(release, table.roles, made_by.promises, path)
        rows = read_back(path)
    assert (1 - share) * table.rows - 1e-9 <= len(rows) <= table.rows
    everywhere = [row["s"] for row in rows]
    for inside in classes_of(rows, table.roles.quasi).values():
        for requirement in made_by.promises:
            assert meets(requirement, [row["s"] for row in inside], everywhere), requirement
    at = {number: i for i, number in enumerate(table.columns[ROW])}
    for row in rows:
        i = at[row[ROW]]
        assert row["s"] == secret[i]
        assert all(row[name] in ("*", table.texts(name)[i]) for name in table.roles.quasi)


def test_more_columns_than_can_all_be_combined(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    table = made({f"q{i}": rng.integers(0, 3, 200).tolist() for i in range(16)})
    made_by = LocalSuppression(k=4)
    publish(made_by(table.table, table.roles), table.roles, made_by.promises, tmp_path / "out.csv")
    rows = read_back(tmp_path / "out.csv")
    assert len(rows) == 200
    assert min(len(inside) for inside in classes_of(rows, table.roles.quasi).values()) >= 4
    stars = sum(value == "*" for row in rows for value in row.values()) / (200 * 16)
    assert stars < 0.95


def test_adult_keeps_most_of_its_cells(adult: Table) -> None:
    quasi = ("age", "sex", "race", "education", "marital-status", "native-country", "workclass", "salary-class")
    roles = sf.Roles(quasi=quasi, sensitive=("occupation",))
    release = LocalSuppression(k=3)(adult, roles)
    assert sf.k_anonymity(release, roles).value == 3
    assert release.notes[0].startswith("Suppressed 15,767 of 241,296 cells (6.53%): age 11,9")
    counts = adult.count(quasi)
    assert int(counts.n[counts.n < 3].sum()) == 11_971  # and each of these rows needs a star, so no release has fewer


# --- the house's rules --------------------------------------------------------------------------------------------------


@settings(max_examples=25)
@given(table=tables(), k=st.integers(1, 3), data=st.data())
def test_the_file_depends_on_the_rows_only(table: Made, k: int, data: st.DataObject) -> None:
    if k > table.rows:
        return
    order = data.draw(st.permutations(range(table.rows)))
    written = []
    with tempfile.TemporaryDirectory() as folder:
        for seed, each in enumerate((table, table, table.shuffled(order))):
            release = LocalSuppression(k=k)(each.table, each.roles, np.random.default_rng(seed))
            path = Path(folder) / f"{seed}.csv"
            release.table.write(path)
            written.append(path.read_bytes())
    assert written[0] == written[1] == written[2]


def test_the_input_is_untouched_and_odd_names_can_be_weighed(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text('name,a = b,"odd, ""name""",s,extra\n' + "".join(f"n{i},{i % 7},{i % 5},x,e\n" for i in range(40)))
    before = path.read_bytes()
    roles = sf.Roles(identifiers=("name",), quasi=("a = b", 'odd, "name"'), sensitive=("s",))
    made_by = mechanism("local_suppression").of({"k": "3", "importance": '"a = b"=1, "odd, ""name"""=inf'})
    publish(made_by(sf.read(path), roles), roles, made_by.promises, tmp_path / "out.csv")
    assert path.read_bytes() == before
    rows = read_back(tmp_path / "out.csv")
    assert list(rows[0]) == ["a = b", 'odd, "name"', "s"]
    assert {row["a = b"] for row in rows} == {"*"}
    assert "*" not in {row['odd, "name"'] for row in rows}


def test_refusals(refusal: Any, canary: str) -> None:
    table = made({"a": [1, 2, 3, 4], "b": [canary, "x", "y", "z"]}, list("uvuv"))
    call = lambda m, roles=table.roles: lambda: m(table.table, roles)  # noqa: E731
    refusal(InputError, lambda: LocalSuppression(k=0), "k must be")
    refusal(InputError, lambda: LocalSuppression(k=2, most=0), "most")
    refusal(InputError, lambda: LocalSuppression(k=2, suppression=1.5), "suppression")
    refusal(InputError, lambda: LocalSuppression(k=2, importance="a"), "importance")
    refusal(InputError, lambda: LocalSuppression(k=2, importance="a=x"), "importance", "'a'")
    refusal(InputError, lambda: LocalSuppression(k=2, importance="a=1,a=2"), "twice")
    refusal(InputError, lambda: LocalSuppression(k=2, importance="a=-1"), "at least 0")
    refusal(InputError, lambda: LocalSuppression(k=2, require=(require("iloss <= 0.5"),)), "whole table")
    refusal(InputError, call(LocalSuppression()), "needs something to meet")
    refusal(InputError, call(LocalSuppression(k=2, importance="z=1")), "'z'")
    refusal(Infeasible, call(LocalSuppression(k=5)), "k_anonymity >= 5", "reaches 4")
    refusal(InputError, call(LocalSuppression(k=2), sf.Roles(sensitive=("s",))), "quasi")
    refusal(InputError, call(LocalSuppression(k=2), replace(table.roles, quasi=("a",), person="s")), "several rows")
    refusal(Infeasible, call(LocalSuppression(k=2, importance="a=inf,b=inf", suppression=1.0)), "every row")


def test_no_rows_are_refused() -> None:
    empty = sf.read(pa.table({"q": pa.array([], pa.int64())}))
    with pytest.raises(InputError, match="no rows"):
        LocalSuppression(k=2)(empty, sf.Roles(quasi=("q",)))


def test_what_one_class_meets_is_not_refused() -> None:
    """Random tables and requirements, also such as merging can make worse, with rows left out and without."""
    texts = ["k_anonymity >= 3", "distinct_l_diversity >= 2", "t_closeness[equal] <= 0.15", "entropy_leakage <= 0.2"]
    texts += ["one_symbol_i4 <= 0.05", "alpha_anonymity <= 0.7", "uninformative_difference <= 0.2"]
    made = refused = 0
    seeds = rounds(300)
    for seed in seeds:
        rng = random.Random(f"one class {seed}")
        rows, quasi = rng.randint(4, 20), tuple(f"q{j}" for j in range(rng.randint(1, 3)))
        columns = {name: [rng.choice("abcd"[: rng.randint(1, 4)]) for _ in range(rows)] for name in quasi}
        columns["s"] = [rng.choice("xyz"[: rng.randint(1, 3)]) for _ in range(rows)]
        roles = Roles(quasi=quasi, sensitive=("s",))
        asked = tuple(require(text) for text in rng.sample(texts, rng.choice((1, 1, 2))))
        alike = {**{name: ["*"] * rows for name in quasi}, "s": columns["s"]}
        single = Release(table=sf.read(pa.table(alike)))
        possible = all(requirement.check(single, roles).met for requirement in asked)
        mechanism = LocalSuppression(require=asked, suppression=rng.choice((0.0, 0.1, 0.3)))
        try:
            release = mechanism(sf.read(pa.table(columns)), roles)
        except Infeasible:
            assert not possible, (seed, [*map(str, asked)])
            refused += 1
            continue
        made += 1
        assert all(requirement.check(release, roles).met for requirement in asked), (seed, [*map(str, asked)])
    assert made > 2 * len(seeds) // 3
    assert refused > len(seeds) // 60
