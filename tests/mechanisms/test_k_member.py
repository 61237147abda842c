"""Greedy k-member clustering: its promise from the written file, its clusters against a reference, its loss against Mondrian's."""

from __future__ import annotations

import tempfile
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mondrian_tables import JOBS, ROW, TAXONOMY, Made, classes_of, made, meets, read_back, tables, write

import sfumato as sf
from sfumato.core.cover import Domain
from sfumato.core.errors import Infeasible, InputError
from sfumato.core.table import Table
from sfumato.mechanisms import mechanism
from sfumato.mechanisms._axes import Axis
from sfumato.mechanisms._clusters import Ruler
from sfumato.mechanisms.k_member import KMember
from sfumato.metrics import require
from sfumato.publishing import publish

BOUNDS = {
    "k_anonymity >=": st.integers(1, 6),
    "prosecutor_risk <=": st.sampled_from([0.2, 0.34, 0.5, 1.0]),
    "distinct_l_diversity >=": st.integers(1, 3),
    "entropy_l_diversity >=": st.sampled_from([1.0, 1.3, 1.9, 2.5]),
    "t_closeness[equal] <=": st.sampled_from([0.05, 0.2, 0.45]),
    "t_closeness[ordered] <=": st.sampled_from([0.05, 0.2, 0.45]),
    "distribution_leakage <=": st.sampled_from([0.1, 0.4, 0.8]),
    "entropy_leakage <=": st.sampled_from([0.05, 0.3, 0.8]),
    "one_symbol_i2 <=": st.sampled_from([-0.1, 0.0, 0.3, 0.9]),
}


# --- extremes -------------------------------------------------------------------------------------------------------


def test_two_heaps_are_two_clusters(tmp_path: Path) -> None:
    table = made({"q": [1, 50, 2, 51, 3, 52]})
    rows = write(KMember(k=3)(table.table, table.roles), tmp_path)
    assert Counter(row["q"] for row in rows) == {"[1,3]": 3, "[50,52]": 3}


def test_k_1_changes_nothing_and_k_n_makes_one_class(tmp_path: Path) -> None:
    table = made({"q": [4, 1, 3, 1, None], "j": ["cook", "maid", None, "cook", "monk"]})
    rows = write(KMember(k=1)(table.table, table.roles), tmp_path)
    at = {row[ROW]: row for row in rows}
    for name in ("q", "j"):
        assert [at[number][name] for number in table.columns[ROW]] == table.texts(name)
    assert KMember(k=5)(table.table, table.roles).table.count(table.roles.quasi).n.tolist() == [5]


def test_all_rows_equal_are_released_as_they_are(tmp_path: Path) -> None:
    table = made({"a": [3] * 9, "b": ["x"] * 9, "c": [None] * 9}, list("uvwuvwuvw"), types={"c": pa.string()})
    rows = write(KMember(k=4)(table.table, table.roles), tmp_path)
    assert {(row["a"], row["b"], row["c"]) for row in rows} == {("3", "x", None)}


def test_rows_that_share_their_tuple_with_enough_others_stay_as_they_are(tmp_path: Path) -> None:
    table = made({"q": [5] * 7 + [6, 9, 12]})
    rows = write(KMember(k=3)(table.table, table.roles), tmp_path)
    assert Counter(row["q"] for row in rows) == {"5": 7, "[6,12]": 3}


def test_what_is_left_over_goes_where_it_costs_least(tmp_path: Path) -> None:
    table = made({"q": [1, 2, 3, 40, 41, 42, 43]})
    rows = write(KMember(k=3)(table.table, table.roles), tmp_path)
    assert Counter(row["q"] for row in rows) == {"[1,3]": 3, "[40,43]": 4}


def test_one_row() -> None:
    table = made({"q": [7]}, ["x"])
    assert KMember(k=1)(table.table, table.roles).table.rows == 1
    with pytest.raises(Infeasible, match="only reaches 1"):
        KMember(k=2)(table.table, table.roles)


def test_t_closeness_0_is_one_class() -> None:
    table = made({"a": [1, 2, 3, 4]}, list("uvwx"))
    release = KMember(require=(require("t_closeness[equal] <= 0"),))(table.table, table.roles)
    assert release.table.count(("a",)).n.tolist() == [4]


# --- against a reference ---------------------------------------------------------------------------------------------


def _reference(rows: list[tuple[int, ...]], sizes: list[int], spans: list[bool], k: int) -> float:
    """The paper's loop over single rows, written once more: the ILoss, summed over rows and columns.

    Rows of a tuple with at least k rows stay; the first cluster is furthest from the most frequent tuple, each later one from
    the row that came last; equally good rows in the order of their values.
    """

    def loss(cluster: list[tuple[int, ...]]) -> float:
        total = 0.0
        for j, size in enumerate(sizes):
            values = {row[j] for row in cluster}
            total += (max(values) - min(values) if spans[j] else len(values) - 1) / size
        return total

    order = sorted(rows)
    often = Counter(order)
    start = max(sorted(often), key=lambda row: often[row])
    clusters = [[row] * n for row, n in sorted(often.items()) if n >= k]
    left = [row for row in order if often[row] < k]
    while len(left) >= k:
        seed = max(sorted(set(left)), key=lambda row: loss([start, row]))
        cluster = [seed]
        left.remove(seed)
        while len(cluster) < k:
            best = min(sorted(set(left)), key=lambda row: loss([*cluster, row]))
            cluster.append(best)
            left.remove(best)
        clusters.append(cluster)
        start = cluster[-1]
    for row, n in sorted(Counter(left).items()):
        rest = [row] * n
        costs = [(len(c) + n) * loss([*c, row]) - len(c) * loss(c) for c in clusters]
        clusters[int(np.argmin(costs))] += rest
    return sum(len(cluster) * loss(cluster) for cluster in clusters)


@settings(max_examples=120)
@given(
    rows=st.lists(st.tuples(st.integers(0, 15), st.sampled_from("abcd"), st.integers(0, 3)), max_size=40),
    k=st.integers(2, 5),
)
def test_the_clusters_are_those_of_the_paper_s_loop(rows: list[tuple[int, str, int]], k: int) -> None:
    """Numbers as intervals, letters as sets. Every value occurs, so all losses are sixteenths and ties are true ties."""
    rows = [*rows, *((i, "abcd"[i % 4], i // 4) for i in range(16))]
    columns = {name: [row[j] for row in rows] for j, name in enumerate("xyz")}
    table = made(columns)
    release = KMember(k=k, block=0)(table.table, table.roles)
    coded = [(x, "abcd".index(y), z) for x, y, z in rows]
    wanted = _reference(coded, [16, 4, 4], [True, False, True], k)
    assert sf.iloss(release, table.roles).details["total"] == pytest.approx(wanted, abs=1e-9)


# --- the promise, from the file ---------------------------------------------------------------------------------------


def check_promise(table: Made, made_by: KMember) -> None:
    secret = table.texts("s")
    try:
        release = made_by(table.table, table.roles)
    except Infeasible:
        assert any(not meets(r, secret, secret) for r in made_by.promises)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "release.csv"
        publish(release, table.roles, made_by.promises, path)
        rows = read_back(path)
    assert len(rows) == table.rows
    for inside in classes_of(rows, table.roles.quasi).values():
        for requirement in made_by.promises:
            assert meets(requirement, [row["s"] for row in inside], secret), requirement
    check_cells(table, rows)


def check_cells(table: Made, rows: list[dict[str, str | None]]) -> None:
    """Row by row: the rest of the row is as it was, and every released value covers the original one."""
    at = {row[ROW]: row for row in rows}
    secret = table.texts("s") if "s" in table.columns else []
    assert [at[number]["s"] for number in table.columns[ROW]] == secret if secret else True
    for name in table.roles.quasi:
        column = table.table.count((name,)).columns[0]
        domain = Domain(column, table.roles.taxonomy(name))
        flags = {label: domain.mask(label) for label in {row[name] for row in rows}}
        place = {text: i for i, text in enumerate(column.texts)}
        for number, text in zip(table.columns[ROW], table.texts(name), strict=True):
            assert flags[at[number][name]][place[text]], f"{at[number][name]!r} does not cover {text!r}"


@pytest.mark.parametrize("metric", BOUNDS)
@settings(max_examples=20)
@given(data=st.data(), k=st.none() | st.integers(1, 4), block=st.sampled_from([0, 1, 3]))
def test_every_class_of_the_file_meets_a_requirement(
    metric: str, data: st.DataObject, k: int | None, block: int
) -> None:
    table = data.draw(tables(numbers="ordered" in metric))
    wanted = require(f"{metric} {data.draw(BOUNDS[metric])}")
    check_promise(table, KMember(k=k, block=block, require=(wanted,)))


@settings(max_examples=40)
@given(data=st.data())
def test_every_class_of_the_file_meets_a_conjunction(data: st.DataObject) -> None:
    table = data.draw(tables(numbers=True))
    names = data.draw(st.lists(st.sampled_from(list(BOUNDS)), min_size=2, max_size=4, unique=True))
    wanted = tuple(require(f"{name} {data.draw(BOUNDS[name])}") for name in names)
    check_promise(table, KMember(require=wanted))


def test_l_diversity_takes_the_nearest_row_that_has_another_value(tmp_path: Path) -> None:
    """8 and 7 take 4 and leave 6 and 5 to others, and so on: three classes, where taking whoever is nearest makes one."""
    table = made({"q": [1, 2, 3, 4, 5, 6, 7, 8]}, list("aaaabbbb"))
    rows = write(KMember(k=2, require=(require("distinct_l_diversity >= 2"),))(table.table, table.roles), tmp_path)
    assert Counter(row["q"] for row in rows) == {"[4,8]": 3, "[1,5]": 3, "[3,6]": 2}


# --- what it loses ----------------------------------------------------------------------------------------------------

QUASI = ("age", "sex", "race", "education", "marital-status", "native-country", "workclass", "salary-class")


@pytest.mark.parametrize("taxonomies", [True, False])
def test_it_loses_less_than_mondrian_on_adult(adult: Table, taxonomies: bool) -> None:
    folder = Path(adult.name).parent
    files = {name: str(folder / f"hierarchy_{name}.csv") for name in QUASI[1:]} if taxonomies else {}
    roles = sf.Roles(quasi=QUASI, sensitive=("occupation",), hierarchies=files)
    ours = KMember(k=10)(adult, roles)
    loss = sf.iloss(ours, roles).value
    assert sf.k_anonymity(ours, roles).value >= 10
    for mode in ("strict", "relaxed"):
        theirs = sf.Mondrian(k=10, mode=mode)(adult, roles)  # type: ignore[arg-type]
        assert loss < 0.75 * sf.iloss(theirs, roles).value
    blocks = KMember(k=10, block=2000)(adult, roles)
    assert loss < sf.iloss(blocks, roles).value < 0.8 * sf.iloss(sf.Mondrian(k=10)(adult, roles), roles).value
    assert "approximation" in blocks.notes[0]
    assert not ours.notes


@settings(max_examples=100)
@given(table=tables(), k=st.integers(2, 4))
def test_what_it_counts_as_lost_is_what_iloss_measures(table: Made, k: int) -> None:
    """Intervals, sets, labels of a taxonomy that has values of its own, and * where a missing value stands beside others."""
    if k > table.rows:
        return
    release = KMember(k=k)(table.table, table.roles)
    with tempfile.TemporaryDirectory() as folder:
        classes = classes_of(write(release, Path(folder)), table.roles.quasi).values()
    number = {row: i for i, row in enumerate(table.columns[ROW])}
    counted = 0.0
    for name in table.roles.quasi:
        counts = table.table.count((name,))
        axis, texts = Axis.of(counts.columns[0], counts.n, table.roles), table.texts(name)
        code = dict(zip(counts.columns[0].texts, axis.code.tolist(), strict=True))
        ruler = Ruler(axis, table.roles)
        for inside in classes:
            own = {code[texts[number[row[ROW]]]] for row in inside}
            ends = np.array([min(own)]), np.array([max(own)]), np.array([len(own)])
            counted += len(inside) * float(ruler.loss(*ends)[0])
    assert sf.iloss(release, table.roles).details["total"] == pytest.approx(counted)


def test_a_column_of_little_weight_is_generalized_first() -> None:
    rng = np.random.default_rng(3)
    columns = {name: rng.integers(0, 30, 300).tolist() for name in ("p", "q")}
    losses = {}
    for weights in ({"p": 0.01}, {"q": 0.01}):
        table = made(columns, weights=weights)
        release = KMember(k=5)(table.table, table.roles)
        losses[next(iter(weights))] = sf.iloss(release, table.roles).details["columns"]
    assert losses["p"]["p"] > 3 * losses["q"]["p"]
    assert losses["q"]["q"] > 3 * losses["p"]["q"]


def test_taxonomy_labels_are_those_of_the_lowest_common_node(tmp_path: Path) -> None:
    table = made({"q": JOBS[:-1] * 1}, hierarchies={"q": sf.Hierarchy.of("q", TAXONOMY)})
    rows = write(KMember(k=3)(table.table, table.roles), tmp_path)
    assert Counter(row["q"] for row in rows) == {"service": 3, "craft": 3}


# --- the house's rules -------------------------------------------------------------------------------------------------


@settings(max_examples=25)
@given(table=tables(), k=st.integers(1, 3), data=st.data())
def test_the_file_depends_on_the_rows_only(table: Made, k: int, data: st.DataObject) -> None:
    if k > table.rows:
        return
    order = data.draw(st.permutations(range(table.rows)))
    written = []
    with tempfile.TemporaryDirectory() as folder:
        for seed, each in enumerate((table, table, table.shuffled(order))):
            release = KMember(k=k)(each.table, each.roles, np.random.default_rng(seed))
            path = Path(folder) / f"{seed}.csv"
            release.table.write(path)
            written.append(path.read_bytes())
    assert written[0] == written[1] == written[2]


def test_the_input_is_untouched_and_only_columns_with_a_role_are_released(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text('name,a = b,"odd, ""name""",s,extra\n' + "".join(f"n{i},{i % 7},{i % 5},x,e\n" for i in range(40)))
    before = path.read_bytes()
    roles = sf.Roles(identifiers=("name",), quasi=("a = b", 'odd, "name"'), sensitive=("s",))
    made_by = KMember(k=3)
    release = made_by(sf.read(path), roles)
    publish(release, roles, made_by.promises, tmp_path / "out.csv")
    assert path.read_bytes() == before
    assert list(read_back(tmp_path / "out.csv")[0]) == ["a = b", 'odd, "name"', "s"]


def test_progress_ends_at_or_below_1() -> None:
    rng = np.random.default_rng(0)
    table = made({"q": rng.permutation(600).tolist(), "r": rng.integers(0, 50, 600).tolist()})
    told: list[float] = []
    KMember(k=3, block=100)(table.table, table.roles, progress=told.append)
    assert told == sorted(told)
    assert 0 < told[0] <= told[-1] <= 1


def test_refusals(refusal: Any, canary: str) -> None:
    table = made({"a": [1, 2, 3, 4], "b": [canary, "x", "y", "z"]}, list("uvuv"))
    call = lambda m, roles=table.roles: lambda: m(table.table, roles)  # noqa: E731
    refusal(InputError, lambda: KMember(k=0), "k must be")
    refusal(InputError, lambda: KMember(k=2, block=-1), "block")
    refusal(InputError, lambda: KMember(k=2, require=(require("iloss <= 0.5"),)), "whole table")
    refusal(InputError, call(KMember()), "needs something to meet")
    refusal(Infeasible, call(KMember(k=5)), "k_anonymity >= 5", "reaches 4")
    refusal(Infeasible, call(KMember(require=(require("distinct_l_diversity >= 3"),))), "reaches 2")
    refusal(InputError, call(KMember(k=2), sf.Roles(sensitive=("s",))), "quasi")
    refusal(InputError, call(KMember(k=2), replace(table.roles, quasi=("a", "c"))), "'c'")
    refusal(InputError, call(KMember(k=2), replace(table.roles, quasi=("a",), person="s")), "several rows")
    refusal(InputError, lambda: mechanism("k_member").of({"block": "none"}), "block")


def test_no_rows_are_refused() -> None:
    empty = sf.read(pa.table({"q": pa.array([], pa.int64())}))
    with pytest.raises(InputError, match="no rows"):
        KMember(k=2)(empty, sf.Roles(quasi=("q",)))
