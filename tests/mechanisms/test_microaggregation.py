"""Microaggregation: the best groups on a line, MDAV's groups in space, k rows in each, and the file shows it."""

from __future__ import annotations

import datetime
import itertools
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.core.errors import Infeasible, InputError
from sfumato.core.randomness import SEEDED
from sfumato.mechanisms.microaggregation import Microaggregation
from sfumato.mechanisms.microdata.mdav import Points, _nearest, along, mdav
from sfumato.metrics import require

ROLES = sf.Roles(quasi=("x", "y"), sensitive=("s",))


def seeded(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


def people(n: int = 200, seed: int = 1) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    return {"x": rng.normal(size=n), "y": 100 * rng.normal(size=n), "s": rng.choice(list("abc"), n)}


def loss(x: np.ndarray, group: np.ndarray) -> float:
    return float(sum(((x[group == g] - x[group == g].mean(axis=0)) ** 2).sum() for g in np.unique(group)))


def column(release: sf.Release, name: str) -> list[Any]:
    """The released values of a column, all rows, in ascending order."""
    counts = release.table.count((name,))
    return [text for text, n in zip(counts.columns[0].texts, counts.n.tolist(), strict=True) for _ in range(n)]


# --- extremes --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("names", [("x",), ("x", "y")])
def test_k_1_changes_nothing_and_k_n_leaves_the_mean(names: tuple[str, ...]) -> None:
    data = {"x": [1.5, 2.5, 4.0, 8.0], "y": [1, 1, 2, 8], "s": list("abab")}
    roles = sf.Roles(quasi=names, sensitive=("s",))
    table = sf.read(pa.table(data))
    same = Microaggregation(k=1)(table, roles, seeded())
    assert column(same, "x") == ["1.5", "2.5", "4", "8"]
    assert any("SSE/SST" in note and note.endswith(" 0.") for note in same.notes)
    whole = Microaggregation(k=4)(table, roles, seeded())
    assert column(whole, "x") == ["4"] * 4
    assert any("SSE/SST" in note and note.endswith(" 1.") for note in whole.notes)
    half = Microaggregation(k=4, centre="median")(table, roles, seeded())
    assert column(half, "x") == ["3.2"] * 4  # 3.25, on a grid of the numbers' own precision


def test_by_hand() -> None:
    """Two clusters; the mean of each is released."""
    data = {"x": [1, 2, 3, 101, 102, 103], "y": [0, 0, 0, 9, 9, 9], "s": list("abcabc")}
    release = Microaggregation(k=3)(sf.read(pa.table(data)), ROLES)
    assert column(release, "x") == ["2"] * 3 + ["102"] * 3
    assert column(release, "y") == ["0"] * 3 + ["9"] * 3
    assert sf.metric("distinct_l_diversity")(release, ROLES).value == 3  # classes can be counted: it is no noise


# --- one column ------------------------------------------------------------------------------------------------------


def best(x: np.ndarray, k: int) -> float:
    """The least loss of all ways to cut the sorted numbers into runs of k or more, one by one."""
    n = len(x)
    found = np.inf
    for cuts in range(n // k):
        for places in itertools.combinations(range(1, n), cuts):
            edges = [0, *places, n]
            if min(np.diff(edges)) >= k:
                found = min(found, sum(((x[a:b] - x[a:b].mean()) ** 2).sum() for a, b in itertools.pairwise(edges)))
    return float(found)


@given(
    st.lists(st.integers(0, 12) | st.floats(0, 10, allow_subnormal=False), min_size=1, max_size=11),
    st.integers(1, 4),
)
def test_the_groups_on_a_line_are_the_best_there_are(numbers: list[float], k: int) -> None:
    x = np.sort(np.array(numbers * (k if len(numbers) < k else 1), dtype=float))
    values, n = np.unique(x, return_counts=True)
    group = along(values, n, k)
    assert min(np.bincount(group)) >= k
    assert loss(x[:, None], group) == pytest.approx(best(x, k), abs=1e-9)


@pytest.mark.parametrize("k", [2, 3, 5])
def test_many_copies_cost_nothing_and_all_are_in_a_group(k: int) -> None:
    """Beyond 5k - 4 copies the rest joins a group of its kind: no loss, and as good as with all of them on the line."""
    rng = np.random.default_rng(k)
    for _ in range(20):
        values = np.cumsum(rng.integers(1, 9, 6)).astype(float)
        n = rng.choice([1, 2, 5 * k - 4, 5 * k - 3, 40], 6)
        n[0] += k
        group = along(values, n, k)
        few = along(values, np.minimum(n, 5 * k - 4), k)
        x = np.repeat(values, n)
        assert len(group) == n.sum()
        assert np.bincount(group).min() >= k
        assert (np.diff(group) >= 0).all()
        short = np.repeat(values, np.minimum(n, 5 * k - 4))
        assert loss(x[:, None], group) == pytest.approx(loss(short[:, None], few))


def test_close_numbers_far_from_zero_are_told_apart() -> None:
    """Sums of squares of the numbers themselves would drown these groups."""
    x = 1e9 + np.array([0.0, 0.001, 0.002, 1.0, 1.001, 1.002, 2.0, 2.001, 2.002])
    assert along(x, np.ones(9, dtype=int), 3).tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2]


def test_a_long_line_spans_the_steps_it_is_priced_in() -> None:
    n = 70_000
    x = np.sort(np.random.default_rng(1).normal(size=n))
    sizes = np.bincount(along(x, np.ones(n, dtype=int), 4))
    assert sizes.sum() == n
    assert sizes.min() >= 4
    assert sizes.max() <= 7


# --- several columns -------------------------------------------------------------------------------------------------


def rows_by_mdav(x: np.ndarray, k: int) -> np.ndarray:
    """MDAV-generic as the paper has it, row by row: the oracle."""
    group, left, number = np.full(len(x), -1), list(range(len(x))), itertools.count()

    def away(place: np.ndarray) -> dict[int, float]:
        return {i: float(((x[i] - place) ** 2).sum()) for i in left}

    def take(centre: int) -> None:
        far = away(x[centre])
        chosen = sorted(left, key=lambda i: far[i])[:k]
        group[chosen] = next(number)
        for i in chosen:
            left.remove(i)

    while len(left) >= 3 * k:
        far = away(x[left].mean(axis=0))
        r = max(left, key=lambda i: far[i])
        far = away(x[r])
        s = max(left, key=lambda i: far[i])
        take(r)
        take(s)
    if len(left) >= 2 * k:
        far = away(x[left].mean(axis=0))
        take(max(left, key=lambda i: far[i]))
    group[left] = next(number)
    return group


@pytest.mark.parametrize(("n", "k", "d"), [(3, 3, 2), (7, 3, 2), (10, 3, 1), (60, 3, 2), (101, 5, 4), (700, 4, 3)])
def test_the_groups_are_those_of_mdav(n: int, k: int, d: int) -> None:
    x = np.random.default_rng(n).normal(size=(n, d))
    points = Points(np.ascontiguousarray(x.T), np.zeros((0, n), dtype=np.int64), np.ones(n, dtype=np.int64))
    shares, blocks = mdav(points, k, 10**9, lambda share: None)
    assert blocks == 1
    group = np.empty(n, dtype=int)
    group[shares.point] = shares.group
    expected = rows_by_mdav(x, k)
    pairs = set(zip(group.tolist(), expected.tolist(), strict=True))
    assert len(pairs) == len(set(group.tolist())) == len(set(expected.tolist()))


@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 2), st.integers(1, 9)), min_size=1, max_size=25
    ),
    st.integers(1, 6),
    st.sampled_from([2, 8, 10**6]),
)
def test_copies_are_divided_and_none_is_lost(tuples: list[tuple[int, int, int, int]], k: int, block: int) -> None:
    rows = {row[:3]: row[3] for row in tuples}
    n = np.array(list(rows.values()))
    if n.sum() < k:
        n[0] += k
    at = np.array([row[:2] for row in rows], dtype=float).T
    points = Points(np.ascontiguousarray(at), np.array([[row[2] for row in rows]]), n)
    shares, _ = mdav(points, k, block, lambda share: None)
    assert (shares.n > 0).all()
    assert np.bincount(shares.point, weights=shares.n).tolist() == n.tolist()
    assert np.bincount(shares.group, weights=shares.n).min() >= k


def test_the_nearest_are_found_whatever_the_distances() -> None:
    rng = np.random.default_rng(1)
    for away in (rng.random(5000), rng.integers(0, 4, 5000).astype(float), np.sort(rng.random(5000)), rng.random(20)):
        for k in (1, 5, 20):
            found = np.sort(away[_nearest(away, k)])
            assert len(found) >= k
            assert found[:k].tolist() == np.sort(away)[:k].tolist()


def test_blocks_are_said_and_lose_a_little_more(tmp_path: Path) -> None:
    table = sf.read(pa.table(people(3000)))
    lost = {}
    for block in (5000, 500):
        made = Microaggregation(k=5, block=block)
        release = made(table, ROLES, seeded())
        assert any("blocks of at most 500 distinct tuples" in note for note in release.notes) == (block == 500)
        assert sf.publish(release, ROLES, made.promises, tmp_path / f"{block}.csv").met
        (note,) = (note for note in release.notes if "SSE/SST" in note)
        lost[block] = float(note.split(" is ")[-1].rstrip("."))
    assert lost[5000] < lost[500] < 1.3 * lost[5000]


# --- the promise -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", [".csv", ".parquet"])
@pytest.mark.parametrize("settings", [{}, {"centre": "median"}, {"whole": True}, {"block": 20}], ids=str)
@pytest.mark.parametrize("k", [2, 7])
def test_every_class_of_the_file_has_k_rows(tmp_path: Path, form: str, settings: dict[str, Any], k: int) -> None:
    data = people(300)
    data["x"] = np.round(3 * data["x"])
    data["job"] = np.random.default_rng(2).choice(["cook", "smith", "maid", None], 300).tolist()
    roles = sf.Roles(quasi=("x", "y", "job"), sensitive=("s",))
    made = Microaggregation(k=k, **settings)
    table = sf.read(pa.table(data))
    found = sf.publish(made(table, roles, seeded()), roles, made.promises, tmp_path / f"out{form}")
    assert [str(v.requirement) for v in found.verdicts] == [f"k_anonymity >= {k}"]
    written = sf.read(tmp_path / f"out{form}")
    assert written.rows == 300
    assert written.count(roles.quasi).n.min() >= k
    assert Counter(column(sf.Release(table=written), "s")) == Counter(data["s"].tolist())


def test_means_stay_and_variances_shrink() -> None:
    data = people(500)
    release = Microaggregation(k=10)(sf.read(pa.table(data)), ROLES, seeded())
    for name in ("x", "y"):
        after = np.array(column(release, name), dtype=float)
        assert after.mean() == pytest.approx(data[name].mean(), abs=0.01)
        assert 0.5 < after.var() / data[name].var() < 1


def test_the_loss_in_the_notes_is_that_of_the_release() -> None:
    """SSE/SST over both columns in deviations, from the pairs."""
    release = Microaggregation(k=10)(sf.read(pa.table(people(500))), ROLES, seeded())
    found = sf.metric("noise_variance")(release, ROLES).details["columns"]
    (note,) = (note for note in release.notes if "SSE/SST" in note)
    assert float(note.split(" is ")[-1].rstrip(".")) == pytest.approx(np.mean(list(found.values())), rel=1e-3)


def test_it_steers_by_k_anonymity(tmp_path: Path) -> None:
    made = Microaggregation.of({}, (require("k_anonymity >= 6"), require("iloss <= 1")))
    assert [str(r) for r in made.promises] == ["k_anonymity >= 6"]
    release = made(sf.read(pa.table(people(100))), ROLES, seeded())
    assert sf.publish(release, ROLES, made.promises, tmp_path / "out.csv").met


def test_each_column_alone_has_k_rows_for_every_number() -> None:
    data = people(100)
    table = sf.read(pa.table(data))
    made = Microaggregation(k=5, how="alone")
    assert made.promises == ()
    release = made(table, ROLES, seeded())
    for name in ("x", "y"):
        counts = release.table.count((name,))
        assert counts.n.min() >= 5
        after = np.sort(np.array(column(release, name), dtype=float))
        x = np.sort(data[name])
        group = along(x, np.ones(100, dtype=int), 5)
        assert ((x - after) ** 2).sum() == pytest.approx(loss(x[:, None], group))  # the best there is
    assert sf.k_anonymity(release, ROLES).value < 5


# --- kinds of columns ------------------------------------------------------------------------------------------------


def test_categories_become_the_most_frequent_and_ordered_values_the_median() -> None:
    data = {
        "job": ["cook", "cook", "maid", "smith", "smith", "smith"],
        "grade": ["low", "middle", "high", "high", "high", "top"],
        "day": [datetime.date(2024, 1, d) for d in (1, 2, 9, 20, 21, 30)],
        "n": [1, 1, 1, 9, 9, 9],
    }
    roles = sf.Roles(quasi=tuple(data), orders={"grade": ("low", "middle", "high", "top")})
    release = Microaggregation(k=3)(sf.read(pa.table(data)), roles)
    assert column(release, "job") == ["cook"] * 3 + ["smith"] * 3
    assert sorted(column(release, "grade")) == ["high"] * 3 + ["middle"] * 3
    assert column(release, "day") == ["2024-01-02"] * 3 + ["2024-01-21"] * 3
    assert any("Of the values that are not numbers" in note for note in release.notes)


def test_no_quasi_identifier_is_a_number() -> None:
    data = {"a": list("xxyyzz"), "b": list("uvuvuv")}
    roles = sf.Roles(quasi=("a", "b"))
    release = Microaggregation(k=3)(sf.read(pa.table(data)), roles, seeded())
    assert sf.k_anonymity(release, roles).value >= 3
    assert not any("SSE" in note for note in release.notes)


def test_missing_numbers() -> None:
    """k of them are a group of their own; fewer take the centre of theirs, and that is said."""
    roles = sf.Roles(quasi=("x",))
    many = {"x": [1.0, 2.0, 3.0, None, None, None]}
    release = Microaggregation(k=3)(sf.read(pa.table(many)), roles)
    assert column(release, "x") == ["2"] * 3 + [None] * 3
    few = {"x": [1.0, 2.0, 3.0, 101.0, 102.0, 103.0, None]}
    release = Microaggregation(k=3)(sf.read(pa.table(few)), roles)
    assert release.table.count(("x",)).n.tolist() == [4, 3] or release.table.count(("x",)).n.tolist() == [3, 4]
    assert any("1 missing numbers became their group's mean" in note for note in release.notes)
    both = {"x": [1.0, 2.0, None, None, 3.0, 50.0] * 5, "y": [1.0, None, 2.0, None, 60.0, 3.0] * 5}
    release = Microaggregation(k=5)(sf.read(pa.table({**both, "s": ["a"] * 30})), ROLES, seeded())
    assert sf.k_anonymity(release, ROLES).value >= 5
    counts = release.table.count(("x", "y"))
    assert counts.columns[0].has_missing
    none = {"x": pa.array([None] * 4, pa.float64()), "y": [1, 2, 3, 4], "s": list("abab")}
    release = Microaggregation(k=2)(sf.read(pa.table(none)), ROLES, seeded())
    assert sf.k_anonymity(release, ROLES).value == 2


def test_equal_numbers_keep_their_spelling_and_whole_ones_may_stay_whole(tmp_path: Path) -> None:
    data = {"x": [0.1] * 3 + [7, 8, 8], "y": [1] * 3 + [2] * 3, "s": list("abcabc")}
    release = Microaggregation(k=3)(sf.read(pa.table(data)), ROLES)
    assert column(release, "x")[:3] == ["0.1"] * 3
    data["x"] = [1, 1, 2, 7, 8, 8]
    assert column(Microaggregation(k=3)(sf.read(pa.table(data)), ROLES), "x")[0] != "1"
    assert column(Microaggregation(k=3, whole=True)(sf.read(pa.table(data)), ROLES), "x") == ["1"] * 3 + ["8"] * 3


# --- chance ----------------------------------------------------------------------------------------------------------


def test_equal_rows_are_dealt_out_by_chance_and_only_then_a_seed_is_owned_up_to(tmp_path: Path) -> None:
    """Four equal rows, two of which go with the one below and two with the one above: who, must not follow their values."""
    data = {"x": [1, 2, 2, 2, 2, 3], "y": [0] * 6, "s": list("xabcdx")}
    table = sf.read(pa.table(data))
    files = []
    for seed in (1, 1, *range(2, 9)):
        release = Microaggregation(k=3)(table, ROLES, seeded(seed))
        assert SEEDED in release.notes
        assert release.table.count(("x", "y")).n.tolist() == [3, 3]
        release.table.write(tmp_path / "out.csv")
        files.append((tmp_path / "out.csv").read_bytes())
    assert files[0] == files[1]
    assert len(set(files)) > 3
    plain = Microaggregation(k=3)(sf.read(pa.table(people(30))), ROLES, seeded())
    assert SEEDED not in plain.notes


# --- refusals --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"k": 0}, "at least 1"),
        ({"k": 2.5}, "whole"),
        ({"k": True}, "whole"),
        ({"k": 3, "block": 1}, "block must be at least 2"),
        ({"k": 3, "how": "apart"}, "one of together, alone"),
        ({"k": 3, "centre": "mode"}, "one of mean, median"),
        ({"k": 3, "columns": "x,"}, "empty"),
        ({"k": 3, "require": (require("t_closeness[equal] <= 0.2"),)}, "cannot steer by"),
        ({"k": 3, "how": "alone", "require": (require("k_anonymity >= 3"),)}, "how=together"),
    ],
    ids=lambda given: " ".join(given) if isinstance(given, dict) else given,
)
def test_parameters_that_make_no_sense(settings: dict[str, Any], words: str, refusal: Any) -> None:
    refusal(InputError, lambda: Microaggregation(**settings), words)


def test_tables_that_make_no_sense(refusal: Any) -> None:
    table = sf.read(pa.table({**people(20), "house": range(20)}))
    refusal(InputError, lambda: Microaggregation()(table, ROLES), "needs something to meet")
    refusal(InputError, lambda: Microaggregation(k=3)(table, sf.Roles(sensitive=("s",))), "no quasi-identifier")
    refusal(InputError, lambda: Microaggregation(k=3, columns="house")(table, ROLES), "'house'", "may be released")
    refusal(InputError, lambda: Microaggregation(k=3, columns="s", how="alone")(table, ROLES), "'s'", "not all numbers")
    refusal(Infeasible, lambda: Microaggregation(k=21)(table, ROLES), "groups of 21 rows", "only 20")
    wanted = (require("k_anonymity >= 3"),)
    refusal(Infeasible, lambda: Microaggregation(columns="x", require=wanted)(table, ROLES), "columns leaves some out")
    who = sf.read(pa.table({**people(20), "who": [1, *range(1, 20)]}))
    several = sf.Roles(quasi=("x", "y"), person="who")
    refusal(InputError, lambda: Microaggregation(k=3)(who, several), "several rows")


def test_named_columns_alone_are_changed_and_nothing_else_is_promised() -> None:
    data = people(60)
    made = Microaggregation(k=4, columns="y")
    assert made.promises == ()
    release = made(sf.read(pa.table(data)), ROLES, seeded())
    assert release.table.count(("y",)).n.min() >= 4
    assert column(release, "x") == [str(value) for value in np.sort(data["x"]).tolist()]


def test_odd_names_and_one_row() -> None:
    data = people(30)
    data = {'a, "b"': data["x"], " y ": data["y"], "s": data["s"]}
    roles = sf.Roles(quasi=('a, "b"', " y "), sensitive=("s",))
    release = Microaggregation(k=3, columns='"a, ""b"""," y "')(sf.read(pa.table(data)), roles, seeded())
    assert sf.k_anonymity(release, roles).value >= 3
    one = sf.read(pa.table({name: values[:1] for name, values in people(3).items()}))
    assert Microaggregation(k=1)(one, ROLES).table.rows == 1


def test_centres_lie_on_the_grid_that_the_notes_state() -> None:
    """The exact mean of a group is its sum, from which who knows all others takes the last: three ages are not told by 37.333."""
    data = {"x": [30, 31, 51, 70, 71, 72] * 20, "y": [3.25] * 120, "s": list("abcabc") * 20}
    release = Microaggregation(k=3, columns="x,y")(sf.read(pa.table(data)), ROLES, seeded())
    assert all("." not in text for text in column(release, "x"))
    assert set(column(release, "y")) == {"3.25"}, "one number for all is not computed"
    assert any("multiples of a step" in note and "'x' 1" in note for note in release.notes)
