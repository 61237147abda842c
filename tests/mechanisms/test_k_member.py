"""Greedy k-member clustering: its promise from the written file, its clusters against a reference, its loss against Mondrian's."""

from __future__ import annotations

import datetime
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mondrian_tables import JOBS, ROW, TAXONOMY, Made, classes_of, made, meets, read_back, tables, write

import sfumato as sf
from selection import few
from sfumato.core.column import text_of
from sfumato.core.cover import Domain
from sfumato.core.errors import Infeasible, InputError
from sfumato.core.table import Table
from sfumato.mechanisms import mechanism
from sfumato.mechanisms.k_member import KMember
from sfumato.mechanisms.partition.axes import PartitionAxis
from sfumato.mechanisms.partition.clusters import AxisLoss, Pool
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

LOSSES = st.sampled_from(["iloss", "byun"])


# --- extremes -------------------------------------------------------------------------------------------------------


def test_two_heaps_are_two_clusters(tmp_path: Path) -> None:
    table = made({"q": [1, 50, 2, 51, 3, 52]})
    rows = write(KMember(k=3)(table.table, table.roles), tmp_path)
    assert Counter(row["q"] for row in rows) == {"<10": 3, ">=10": 3}


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
    assert Counter(row["q"] for row in rows) == {"5": 7, ">=6": 3}


def test_what_is_left_over_goes_where_it_costs_least(tmp_path: Path) -> None:
    table = made({"q": [1, 2, 3, 40, 41, 42, 43]})
    rows = write(KMember(k=3)(table.table, table.roles), tmp_path)
    assert Counter(row["q"] for row in rows) == {"<10": 3, ">=10": 4}


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


Row = tuple[int, ...]


def _reference(rows: list[Row], k: int, loss: Callable[[list[Row]], float]) -> list[list[Row]]:
    """The paper's loop over single rows, written once more: the clusters.

    Rows of a tuple with at least k rows stay; the first cluster is furthest from the most frequent tuple, each later one from
    the row that came last; equally good rows in the order of their values.
    """
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
    return clusters


def _wide(cluster: list[Row], j: int) -> int:
    return max(row[j] for row in cluster) - min(row[j] for row in cluster)


def _more(cluster: list[Row], j: int) -> int:
    return len({row[j] for row in cluster}) - 1


@settings(max_examples=120)
@given(
    rows=st.lists(st.tuples(st.integers(0, 15), st.sampled_from("abcd"), st.integers(0, 3)), max_size=40),
    k=st.integers(2, 5),
)
def test_the_clusters_are_those_of_the_paper_s_loop(rows: list[tuple[int, str, int]], k: int) -> None:
    """Numbers as intervals, letters as sets. Every value occurs, so all losses are sixteenths and ties are true ties."""
    rows = [*rows, *((i, "abcd"[i % 4], i // 4) for i in range(16))]
    table = made({name: [row[j] for row in rows] for j, name in enumerate("xyz")})

    def lost(cluster: list[Row]) -> float:
        return _wide(cluster, 0) / 16 + _more(cluster, 1) / 4 + _wide(cluster, 2) / 4

    wanted = _reference([(x, "abcd".index(y), z) for x, y, z in rows], k, lost)
    release = KMember(k=k, block=0)(table.table, table.roles)
    total = sum(len(cluster) * lost(cluster) for cluster in wanted)
    assert sf.iloss(release, table.roles).details["total"] == pytest.approx(total, abs=1e-9)


@settings(max_examples=60)
@given(
    rows=st.lists(st.tuples(st.integers(0, 16), st.sampled_from("abcd"), st.integers(0, 4)), max_size=40),
    k=st.integers(2, 5),
)
def test_and_with_the_paper_s_own_loss(rows: list[tuple[int, str, int]], k: int) -> None:
    """Numbers by how far they lie apart, from 0 to 16 and from 0 to 4; letters, which have no taxonomy, by whether they differ."""
    rows = [*rows, (0, "a", 0), (5, "b", 1), (6, "c", 1), (9, "d", 3), (16, "a", 4)]
    table = made({name: [row[j] for row in rows] for j, name in enumerate("xyz")})

    def lost(cluster: list[Row]) -> float:
        return _wide(cluster, 0) / 16 + min(_more(cluster, 1), 1) + _wide(cluster, 2) / 4

    coded = [(x, "abcd".index(y), z) for x, y, z in rows]
    wanted: Counter[tuple[tuple[int, int], str, tuple[int, int]]] = Counter()
    for cluster in _reference(coded, k, lost):
        x, y, z = zip(*cluster, strict=True)
        wanted[(min(x), max(x)), "".join(sorted({"abcd"[c] for c in y})), (min(z), max(z))] += len(cluster)
    found: Counter[tuple[tuple[int, int], str, tuple[int, int]]] = Counter()
    counts = KMember(k=k, block=0, loss="byun", ends="tight")(table.table, table.roles).table.count(table.roles.quasi)
    for i, n in enumerate(counts.n.tolist()):
        x, y, z = (str(counts.columns[j].texts[counts.codes[j][i]]) for j in range(3))
        found[_ends(x), "abcd" if y == "*" else "".join(sorted(set(y) & set("abcd"))), _ends(z)] += n
    assert found == wanted


def _ends(text: str) -> tuple[int, int]:
    first, last = text.strip("[]").split(",") if "," in text else (text, text)
    return int(first), int(last)


# --- the paper's own loss, by hand -----------------------------------------------------------------------------------


def _lost(values: list[Any], inside: list[Any], weight: float = 1.0, **roles: Any) -> float:
    """What a cluster with these values loses, of a column that has all of `values`."""
    table = made({"q": values}, weights={"q": weight}, **roles)
    counts = table.table.count(("q",))
    axis = PartitionAxis.of(counts.columns[0], counts.n, table.roles)
    code = dict(zip(counts.columns[0].texts, axis.code.tolist(), strict=True))
    own = {code[text_of(value)] for value in inside}
    ruler = AxisLoss(axis, table.roles, "byun")
    return float(ruler.loss(np.array([min(own)]), np.array([max(own)]), np.array([len(own)]))[0])


def test_byun_counts_how_far_numbers_lie_apart() -> None:
    ages = [17, 38, 41, 97, None]
    assert _lost(ages, [38]) == _lost(ages, [None]) == 0
    assert _lost(ages, [38, 41]) == pytest.approx(3 / 80)
    assert _lost(ages, [41, 17, 38], 0.5) == pytest.approx(0.5 * 24 / 80)
    assert _lost(ages, [17, 97]) == _lost(ages, [38, None]) == 1
    assert _lost([5], [5]) == 0
    days = [datetime.date(2024, 1, 1), datetime.date(2024, 1, 11), datetime.date(2024, 4, 10)]
    assert _lost(days, days[:2]) == pytest.approx(0.1)
    assert _lost([str(day) for day in days], [str(day) for day in days[:2]]) == pytest.approx(0.1)


def test_byun_counts_how_high_the_common_node_is() -> None:
    tree = {"hierarchies": {"q": sf.Hierarchy.of("q", TAXONOMY)}}
    assert _lost(JOBS, ["maid"], **tree) == 0
    assert _lost(JOBS, ["cook", "baker"], **tree) == pytest.approx(1 / 3)
    assert _lost(JOBS, ["cook", "baker", "maid"], **tree) == pytest.approx(2 / 3)
    assert _lost(JOBS, ["cook", "monk"], **tree) == 1
    assert _lost(JOBS, ["cook", "cook"]) == 0
    assert _lost(JOBS, ["cook", "baker"]) == _lost(JOBS, JOBS) == _lost([*JOBS, None], ["cook", None]) == 1


def test_byun_keeps_categories_and_lets_ages_spread(tmp_path: Path) -> None:
    """By hand: 100 takes 24; 20 takes 25 (5/80) rather than 21 (1/80 + 1), whom ILoss would choose (1/7 + 1/2 < 5/7)."""
    table = made({"age": [20, 21, 22, 23, 24, 25, 100], "sex": list("FMMMMFM")})
    rows = {
        loss: Counter((row["age"], row["sex"]) for row in write(made_by(table.table, table.roles), tmp_path))
        for loss, made_by in {
            "byun": KMember(k=2, loss="byun", ends="tight"),
            "iloss": KMember(k=2, ends="tight"),
        }.items()
    }
    assert rows["byun"] == {("[24,100]", "M"): 2, ("[20,25]", "F"): 2, ("[21,23]", "M"): 3}
    assert rows["iloss"]["[20,22]", "*"] == 3  # 22 is left over, and costs 4/7 + 1/2 there


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


@pytest.mark.parametrize("metric", few(BOUNDS, *list(BOUNDS)[:3]))
@settings(max_examples=20)
@given(data=st.data(), k=st.none() | st.integers(1, 4), block=st.sampled_from([0, 1, 3]), loss=LOSSES)
def test_every_class_of_the_file_meets_a_requirement(
    metric: str, data: st.DataObject, k: int | None, block: int, loss: Any
) -> None:
    table = data.draw(tables(numbers="ordered" in metric))
    wanted = require(f"{metric} {data.draw(BOUNDS[metric])}")
    check_promise(table, KMember(k=k, block=block, loss=loss, require=(wanted,)))


@settings(max_examples=40)
@given(data=st.data(), loss=LOSSES)
def test_every_class_of_the_file_meets_a_conjunction(data: st.DataObject, loss: Any) -> None:
    table = data.draw(tables(numbers=True))
    names = data.draw(st.lists(st.sampled_from(list(BOUNDS)), min_size=2, max_size=4, unique=True))
    wanted = tuple(require(f"{name} {data.draw(BOUNDS[name])}") for name in names)
    check_promise(table, KMember(loss=loss, require=wanted))


def test_l_diversity_takes_the_nearest_row_that_has_another_value(tmp_path: Path) -> None:
    """8 and 7 take 4 and leave 6 and 5 to others, and so on: three classes, where taking whoever is nearest makes one."""
    table = made({"q": [1, 2, 3, 4, 5, 6, 7, 8]}, list("aaaabbbb"))
    rows = write(KMember(k=2, require=(require("distinct_l_diversity >= 2"),))(table.table, table.roles), tmp_path)
    assert Counter(row["q"] for row in rows) == {">=4": 3, "<6": 3, "[3,7)": 2}


# --- what it loses ----------------------------------------------------------------------------------------------------

QUASI = ("age", "sex", "race", "education", "marital-status", "native-country", "workclass", "salary-class")


@pytest.mark.full
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
        axis, texts = PartitionAxis.of(counts.columns[0], counts.n, table.roles), table.texts(name)
        code = dict(zip(counts.columns[0].texts, axis.code.tolist(), strict=True))
        ruler = AxisLoss(axis, table.roles)
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


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(table=tables(most=60), near=st.integers(1, 2), labels=st.sampled_from(["hierarchies", "plain", "cheapest"]))
def test_a_narrow_look_sees_the_losses_of_a_wide_one(
    table: Made, near: int, labels: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pools of few tuples look in another way than those of many; and what a class still misses is looked for among all."""
    wide = Pool.narrow

    def narrow(pool: Pool, losses: Any, most: int) -> None:
        wide(pool, losses, most)
        if pool.is_narrow:
            places = np.searchsorted(pool._all, pool.tuples)
            assert pool.losses() == pytest.approx(losses[places])
            assert losses[places].max() <= np.delete(losses, places).min()

    monkeypatch.setattr(Pool, "narrow", narrow)
    monkeypatch.setattr("sfumato.mechanisms.k_member._NEAR", near)
    demands = (require("k_anonymity >= 2"), require("distinct_l_diversity >= 2"))
    try:
        release = KMember(require=demands, labels=labels)(table.table, table.roles)
    except Infeasible:
        return
    assert all(r.metric(release, table.roles).value >= r.bound for r in demands)


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
    refusal(InputError, lambda: KMember(k=2, loss="entropy"), "loss must be one of iloss, byun")  # type: ignore[arg-type]
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


@pytest.mark.parametrize("loss", ["iloss", "byun"])
def test_two_dates_span_from_the_earlier_to_the_later(loss: str) -> None:
    """The later one is the more frequent; an interval still starts at the earlier."""
    days = ["2024-05-01"] * 3 + ["2024-01-01"]
    table = sf.read(pa.table({"day": days, "q": list("abcd")}))
    release = sf.KMember(k=4, loss=loss, ends="tight")(table, sf.Roles(quasi=("day", "q")))  # type: ignore[arg-type]
    (text,) = release.table.count(("day",)).columns[0].texts
    assert text == "[2024-01-01,2024-05-01]"
