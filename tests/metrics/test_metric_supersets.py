"""(n,t)-closeness: natural supersets, and the distances to them."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon
from scipy.stats import wasserstein_distance

import sfumato as sf
from sfumato.core.errors import Unavailable
from sfumato.core.hierarchy import Hierarchy
from sfumato.core.release import Release
from sfumato.core.roles import Roles

MANTA = Roles(quasi=("zip", "age"), sensitive=("disease",))
TABLE_16 = [
    ("476**", "2*", "Cancer", 300), ("476**", "2*", "Flu", 300), ("479**", "4*", "Cancer", 200),
    ("479**", "4*", "Flu", 1800), ("476**", "3*", "Cancer", 200), ("476**", "3*", "Flu", 200),
]  # fmt: skip
KINDS = ("equal", "ordered", "jensen_shannon")


def rows_of(weighted: Any, names: tuple[str, ...], rows: list[tuple[Any, ...]]) -> Release:
    columns = dict(zip(names, map(list, zip(*(row[:-1] for row in rows), strict=True)), strict=True))
    return Release(table=weighted(columns, [row[-1] for row in rows]))


# --- golden and extremes ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_manta_table_16(kind: str, weighted: Any, golden: dict[str, Any]) -> None:
    said = golden["manta"]["table_3_16_n_t"]
    made = rows_of(weighted, ("zip", "age", "disease"), TABLE_16)
    metric = sf.n_t_closeness(distance=kind, n=said["n"])
    score = metric(made, MANTA)
    assert score.exactness == "exact"
    assert score.value == 0  # the first and the third class together have 1000 rows, distributed alike
    assert metric.at_most(said["t"]).check(made, MANTA).met is said["holds"]
    t = sf.t_closeness(ground="equal")
    assert t.at_most(said["t"]).check(made, MANTA).met is said["t_closeness_0.1"]
    # with one row more asked for, only the whole table is left to the two classes, and the 2000 keep to themselves
    more = sf.n_t_closeness(distance="equal", n=said["n"] + 1)(made, MANTA)
    assert more.per_class == pytest.approx([1 / 2 - 7 / 30, 1 / 2 - 7 / 30, 0])


@pytest.mark.parametrize("kind", ["equal", "ordered"])
@pytest.mark.parametrize("n", [3000, 3001, 10**9])
def test_for_the_whole_table_it_is_t_closeness(kind: str, n: int, weighted: Any) -> None:
    made = rows_of(weighted, ("zip", "age", "disease"), TABLE_16)
    score, t = sf.n_t_closeness(distance=kind, n=n)(made, MANTA), sf.t_closeness(ground=kind)(made, MANTA)
    assert score.per_class == pytest.approx(t.per_class)
    assert score.exactness == "exact"
    assert score.details["n"] == 3000


@pytest.mark.parametrize("kind", KINDS)
def test_classes_that_are_large_enough_are_their_own_supersets(kind: str, weighted: Any) -> None:
    made = rows_of(weighted, ("q", "s"), [("a", 1, 5), ("b", 2, 5), ("c", 3, 5)])
    roles = Roles(quasi=("q",), sensitive=("s",))
    assert sf.n_t_closeness(distance=kind, n=5)(made, roles).value == 0
    assert sf.n_t_closeness(distance=kind, n=1)(made, roles).value == 0
    assert sf.n_t_closeness(distance=kind, n=6)(made, roles).value > 0.2


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_to_tell(kind: str, weighted: Any) -> None:
    """A constant sensitive column, also a missing one; one class; one row."""
    roles = Roles(quasi=("q",), sensitive=("s",))
    for rows in (
        [("a", 1, 1), ("b", 1, 3)],
        [("a", None, 1), ("b", None, 3)],
        [("a", 1, 2), ("a", 2, 2)],
        [("a", 1, 1)],
    ):
        for n in (1, 2, 1000):
            assert sf.n_t_closeness(distance=kind, n=n)(rows_of(weighted, ("q", "s"), rows), roles).value == 0


def test_a_class_that_shares_nothing_with_the_others(weighted: Any) -> None:
    made = rows_of(weighted, ("q", "s"), [("a", 1, 1), ("b", 1000, 10**9)])
    roles = Roles(quasi=("q",), sensitive=("s",))
    for kind in KINDS:
        assert sf.n_t_closeness(distance=kind, n=10**6)(made, roles).value == pytest.approx(1, abs=1e-7)


def test_no_order_no_ordered_distance(weighted: Any, refusal: Callable[..., str]) -> None:
    made = rows_of(weighted, ("q", "s"), [("a", "x", 1), ("b", "y", 1), ("b", "z", 1)])
    roles = Roles(quasi=("q",), sensitive=("s",))
    refusal(Unavailable, lambda: sf.n_t_closeness(distance="ordered")(made, roles), "'s'", "[orders]")


# --- which supersets there are ---------------------------------------------------------------------------------------


def closeness(weighted: Any, classes: dict[str, dict[int, int]], n: int, **more: Any) -> sf.Score:
    """Over one column: for each released value, how often each sensitive value."""
    rows = [(q, s, k) for q, values in classes.items() for s, k in values.items()]
    roles = Roles(quasi=("q",), sensitive=("s",), **more)
    score: sf.Score = sf.n_t_closeness(distance="equal", n=n)(rows_of(weighted, ("q", "s"), rows), roles)
    return score


LEFT, RIGHT = {1: 1}, {2: 1}


@pytest.mark.parametrize(
    "ages",
    [
        ["[10,20)", "[20,30)", "[30,40)", "[40,50)"],
        ["(10,20]", "(20,30]", "(30,40]", "(40,50]"],
        ["10-19", "20-29", "30-39", "40-49"],
        ["1*", "2*", "3*", "4*"],
        ["<20", "[20,30[", "[30,40)", ">=40"],
        ["1", "2", "10", "20"],
        ["-4", "-3", "2.5", "1e3"],
    ],
)
def test_neighbours_make_longer_intervals(ages: list[str], weighted: Any) -> None:
    """Left, right, left, right: each is nearest to a run of three that has two like it; * would be 1/2 away."""
    score = closeness(weighted, dict(zip(ages, (LEFT, RIGHT, LEFT, RIGHT), strict=True)), 2)
    assert score.per_class == pytest.approx([1 / 3] * 4)
    assert score.exactness == "exact"
    middle = dict(zip(ages, ({1: 9}, LEFT, {1: 2}, {1: 9}), strict=True))
    assert closeness(weighted, {**middle, ages[1]: {1: 1, 2: 2}}, 5).value == pytest.approx(2 / 3 - 2 / 5)  # 2nd + 3rd


def test_values_that_are_not_neighbours_make_none(weighted: Any) -> None:
    classes = {"1": {1: 3}, "2": {2: 30}, "3": {1: 3}}
    assert closeness(weighted, classes, 4).value == pytest.approx(1 - 6 / 36)  # 1 and 3 without 2 would be 0


def test_a_taxonomy_is_climbed_and_its_branches_are_not_mixed(weighted: Any) -> None:
    tree = Hierarchy.of("q", [("a", "A", "*"), ("b", "A", "*"), ("c", "B", "*"), ("d", "B", "*")])
    classes = {"a": {1: 2}, "b": {1: 2}, "c": {2: 2}, "d": {2: 2}}
    assert closeness(weighted, classes, 4, hierarchies={"q": tree}).value == 0
    assert closeness(weighted, classes, 4).value == 0.5  # without it there is only *
    crossed = {"a": {1: 2}, "b": {2: 2}, "c": {1: 2}, "d": {2: 2}}
    assert closeness(weighted, crossed, 4, hierarchies={"q": tree}).value == 0.5
    released = {"a": {1: 2}, "b": {2: 2}, "B": {1: 4}}  # at several levels
    assert closeness(weighted, released, 4, hierarchies={"q": tree}).per_class == pytest.approx([0, 0.25, 0.5])


def test_a_superset_holds_all_that_is_inside_it(weighted: Any) -> None:
    """The box of {a, b} holds the rows of a as well: without them it would be another group."""
    rows = [("{a, b}", "x", 1, 2), ("{a, b}", "y", 1, 2), ("a", "x", 2, 40), ("c", "x", 1, 1)]
    roles = Roles(quasi=("q", "r"), sensitive=("s",))
    score = sf.n_t_closeness(distance="equal", n=4)(rows_of(weighted, ("q", "r", "s"), rows), roles)
    # [{a, b}, *] without the rows of a would be at distance 0
    assert score.value == pytest.approx(1 - 5 / 45)
    assert score.exactness == "bound"
    spans = [("[1,20]", "x", 1, 2), ("[1,20]", "y", 1, 2), ("[1,10]", "x", 2, 40), ("30", "x", 2, 1)]
    found = sf.n_t_closeness(distance="equal", n=4)(rows_of(weighted, ("q", "r", "s"), spans), roles)
    assert found.value == pytest.approx(1 - 4 / 44)  # [1,20] and all in it


def test_missing_is_inside_the_star_alone(weighted: Any) -> None:
    classes = {"1": {1: 2}, "2": {1: 2}, "": {2: 2}}
    assert closeness(weighted, classes, 4).per_class == pytest.approx([0, 0, 2 / 3])


def test_masked_codes_lose_digits_from_behind(weighted: Any) -> None:
    classes = {"AB1*": {1: 2}, "AB2*": {1: 2}, "CD1*": {2: 4}}
    assert closeness(weighted, classes, 4).value == 0


# --- against a few lines of plain Python -----------------------------------------------------------------------------

TREE = {"a": "A", "b": "A", "c": "B", "d": "B"}


def far(kind: str, p: np.ndarray, q: np.ndarray, values: np.ndarray, bandwidth: float) -> float:
    if kind == "equal":
        return float(abs(p - q).sum() / 2)
    if kind == "ordered":
        return float(wasserstein_distance(range(len(p)), range(len(p)), p, q) / (len(p) - 1))
    d = abs(values[:, None] - values[None, :]) / np.ptp(values)
    k = np.where(d < bandwidth, 1 - (d / bandwidth) ** 2, 0.0)
    k /= k.sum(axis=1, keepdims=True)
    return float(jensenshannon(k @ p, k @ q, base=2) ** 2)  # scipy makes them distributions


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("kind", KINDS)
def test_every_box_by_brute_force(kind: str, seed: int, weighted: Any) -> None:
    """A taxonomy, an ordered and a plain column: all boxes around each class."""
    rng = np.random.default_rng(seed)
    values = np.array([1.0, 2.0, 4.0, 9.0, 10.0])
    drawn = zip(
        *(rng.integers(low, high, 40).tolist() for low, high in ((0, 4), (1, 5), (0, 2), (0, 5), (1, 4))), strict=True
    )
    rows = [("abcd"[p], str(10 * q), "uv"[r], int(values[v]), n) for p, q, r, v, n in drawn]
    rows += [("a", "10", "u", int(v), 1) for v in values]
    tree = Hierarchy.of("p", [(leaf, node, "*") for leaf, node in TREE.items()])
    roles = Roles(quasi=("p", "q", "r"), sensitive=("s",), hierarchies={"p": tree})
    made = rows_of(weighted, ("p", "q", "r", "s"), rows)
    boxes_p = [{x} for x in "abcd"] + [set("ab"), set("cd"), set("abcd")]
    boxes_q = [{str(10 * i) for i in range(a, b)} for a in range(1, 5) for b in range(a + 1, 6)]
    boxes_r = [{"u"}, {"v"}, {"u", "v"}]

    def spread(inside: Callable[[tuple[Any, ...]], bool]) -> np.ndarray:
        return np.array([sum(row[-1] for row in rows if row[3] == v and inside(row)) for v in values], dtype=float)

    boxes = [(box, spread(lambda row, box=box: all(row[i] in box[i] for i in range(3)))) for box in itertools.product(boxes_p, boxes_q, boxes_r)]  # fmt: skip
    for n in (6, 15, 40, 10**6):
        metric = sf.n_t_closeness(distance=kind, n=n, bandwidth=0.4)
        score = metric(made, roles)
        least = min(n, sum(row[-1] for row in rows))
        expected = []
        for c in sorted({row[:3] for row in rows}):
            own = spread(lambda row, c=c: row[:3] == c)
            near = [
                far(kind, own / own.sum(), counts / counts.sum(), values, 0.4)
                for box, counts in boxes
                if counts.sum() >= least and all(c[i] in box[i] for i in range(3))
            ]
            expected.append(min(near))
        assert score.exactness == "exact"
        assert score.per_class == pytest.approx(expected, abs=1e-9)


def test_a_larger_n_is_never_easier(weighted: Any) -> None:
    rng = np.random.default_rng(5)
    rows = [(str(rng.integers(9)), "uvw"[rng.integers(3)], int(rng.integers(5)), 1) for _ in range(150)]
    made, roles = rows_of(weighted, ("p", "q", "s"), rows), Roles(quasi=("p", "q"), sensitive=("s",))
    for kind in KINDS:
        found = [sf.n_t_closeness(distance=kind, n=n)(made, roles).value for n in (1, 10, 20, 40, 80, 150)]
        assert found == sorted(found)
        assert found[0] == 0 < found[-1]


def test_what_is_not_looked_at_only_makes_it_a_bound(weighted: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from sfumato.metrics.privacy import n_t_closeness as home

    rng = np.random.default_rng(7)
    rows = [(str(rng.integers(12)), str(rng.integers(12)), int(rng.integers(4)), 1) for _ in range(300)]
    made, roles = rows_of(weighted, ("p", "q", "s"), rows), Roles(quasi=("p", "q"), sensitive=("s",))
    metric, found = sf.n_t_closeness(distance="equal", n=60), []
    for most in (10**4, 300, 60, 10, 3, 1):
        monkeypatch.setattr(home, "MOST", most)
        monkeypatch.setattr(home, "WORK", 10**8)
        score = metric(made, roles)
        assert score.exactness == ("exact" if most == 10**4 else "bound")
        assert score.details["levels_of_supersets"] <= most
        found.append(score.per_class)
    for fewer in found[1:]:
        assert (fewer >= found[0] - 1e-12).all()
    assert found[-1] == pytest.approx(sf.t_closeness(ground="equal")(made, roles).per_class)


def test_smoothing_knows_which_values_are_near(weighted: Any) -> None:
    """Two classes at the same plain distance from the table: the one with near values is closer after smoothing."""
    base = [("x", v, 10) for v in (1, 2, 3, 98, 99, 100)]
    roles = Roles(quasi=("q",), sensitive=("s",))
    near = rows_of(weighted, ("q", "s"), [*base, ("a", 1, 1), ("a", 99, 1)])
    clumped = rows_of(weighted, ("q", "s"), [*base, ("a", 1, 1), ("a", 2, 1)])
    metric = sf.n_t_closeness(distance="jensen_shannon", n=60)
    assert metric(near, roles).per_class[0] < metric(clumped, roles).per_class[0] / 2
    tree = Hierarchy.of("s", [(s, s[0], "*") for s in ("a1", "a2", "a3", "b1", "b2", "b3")])
    base = [("x", s, 10) for s in tree.levels[0]]
    spread = rows_of(weighted, ("q", "s"), [*base, ("a", "a1", 1), ("a", "b1", 1)])
    metric = sf.n_t_closeness(distance="jensen_shannon", n=60, bandwidth=0.9)
    plain = metric(spread, roles).per_class[0]
    assert metric(spread, Roles(quasi=("q",), sensitive=("s",), hierarchies={"s": tree})).per_class[0] < plain / 4


def test_missing_is_near_to_nothing(weighted: Any) -> None:
    rows = [("x", 1, 10), ("x", 2, 10), ("x", None, 10), ("a", None, 5)]
    roles = Roles(quasi=("q",), sensitive=("s",))
    score = sf.n_t_closeness(distance="jensen_shannon", n=30, bandwidth=1)(rows_of(weighted, ("q", "s"), rows), roles)
    p, q = [0, 0, 1], [10 / 35, 10 / 35, 15 / 35]
    assert score.per_class[0] == pytest.approx(jensenshannon(p, q, base=2) ** 2)


# --- size ------------------------------------------------------------------------------------------------------------


@pytest.mark.full
@pytest.mark.parametrize("kind", KINDS)
def test_many_classes_many_values(kind: str, weighted: Any) -> None:
    """100,000 classes over 10,000 sensitive values, a billion cells if it were dense."""
    size = 200_000
    rng = np.random.default_rng(0)
    columns = {
        "p": [str(v) for v in (np.arange(size) // 2 % 400).tolist()],
        "q": [f"t{v}" for v in (np.arange(size) // 800).tolist()],
        "s": [f"v{v:05d}" for v in rng.integers(0, 10_000, size).tolist()],
    }
    order = {"s": tuple(f"v{v:05d}" for v in range(10_000))} if kind == "ordered" else {}
    roles = Roles(quasi=("p", "q"), sensitive=("s",), orders=order)
    made = Release(table=weighted(columns, [1] * size))
    made.evidence(roles).classes("s")
    began = time.process_time()
    score = sf.n_t_closeness(distance=kind)(made, roles)
    assert time.process_time() - began < 20
    assert 0 < score.value <= 1
