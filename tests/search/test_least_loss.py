"""The bound for local recoding, against the best of all partitions of tiny tables, and against releases."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from selection import rounds
from sfumato.core.cell_loss import ILOSS
from sfumato.core.cover import Domain
from sfumato.core.hierarchy import Hierarchy
from sfumato.mechanisms.partition.axes import axes_of
from sfumato.search.least_loss import least_loss

LETTERS = Hierarchy.of(
    "letter",
    [("a", "ab", "abc", "*"), ("b", "ab", "abc", "*"), ("c", "c-", "abc", "*"), ("d", "d-", "def", "*")]
    + [(x, "ef", "def", "*") for x in "ef"],
)
LABELS = ("hierarchies", "plain", "cheapest", "any")


def tiny(rng: np.random.Generator, rows: int, *, missing: float) -> tuple[Any, sf.Roles]:
    """Numbers in long tails, codes with masks, letters with a taxonomy, colours with nothing, days with a calendar."""
    columns: dict[str, list[Any]] = {
        "number": [int(x) for x in np.round(np.exp(rng.normal(2, 1, rows)))],
        "code": [f"{x:03d}" for x in rng.integers(100, 130, rows)],
        "letter": rng.choice(list("abcdef"), rows).tolist(),
        "colour": rng.choice(["red", "green", "blue", "grey"], rows).tolist(),
        "day": [f"2024-0{m}-{d:02d}" for m, d in zip(rng.integers(1, 7, rows), rng.integers(1, 29, rows), strict=True)],
    }
    chosen = rng.permutation(list(columns))[: rng.integers(1, 4)].tolist()
    table = {name: [None if rng.random() < missing else x for x in columns[name]] for name in chosen}
    for name, values in table.items():
        if all(x is None for x in values):
            table[name] = columns[name]
    rules: dict[str, Any] = {"code": {"prefix": [1, 2]}, "letter": LETTERS, "day": {"dates": ["month", "quarter"]}}
    weights = {name: float(rng.integers(1, 4)) for name in chosen}
    kept = {name: rule for name, rule in rules.items() if name in chosen}
    ill = rng.choice(list("xyz"), rows).tolist()
    roles = sf.Roles(quasi=tuple(chosen), sensitive=("ill",), hierarchies=kept, weights=weights)
    return sf.read(pa.table({**table, "ill": ill})), roles


def best(table: Any, roles: sf.Roles, k: int, diverse: int, labels: Any, *, suppress: bool, mean: float = 1.0) -> float:
    """The least ILoss of all partitions, each class released as partitioning does: by all subsets, none left out."""
    counts = table.count((*roles.quasi, "ill"))
    axes, code = axes_of(counts, roles, labels=labels)
    rows = np.repeat(np.arange(len(counts)), counts.n)
    ill = counts.codes[-1][rows]
    many, weights = len(rows), np.array([roles.weights[name] for name in roles.quasi])
    masks = np.arange(1, 2**many)
    inside = (masks[:, None] >> np.arange(many)) & 1
    member, at = np.nonzero(inside)
    lost = np.zeros(len(masks))
    for j, axis in enumerate(axes):
        held = code[j][rows[at]]
        first = np.flatnonzero(np.diff(member, prepend=-1))
        texts = axis.spell(np.minimum.reduceat(held, first), np.maximum.reduceat(held, first), member, held)
        domain = Domain(axis.column, roles.taxonomy(axis.column.name) or roles.hierarchy(axis.column))
        lost += weights[j] / weights.sum() * np.array([ILOSS.of(domain.leaves(t) or 0, domain.size) for t in texts])
    whole = sum(
        w * ILOSS.whole(Domain(a.column, roles.taxonomy(a.column.name) or roles.hierarchy(a.column)).size)
        for w, a in zip(weights / weights.sum(), axes, strict=True)
    )
    size = inside.sum(axis=1)
    different = np.array([len(set(ill[row.astype(bool)])) for row in inside])
    cost = np.append(0.0, np.where((size >= k) & (different >= diverse), lost * size, np.inf))
    least = np.full((2**many, many + 1, many + 1), np.inf)  # by classes and by rows that are left out
    least[0, 0, 0] = 0.0
    for mask in range(1, 2**many):  # the class of the first row in it, which all subsets are tried for
        low = mask & -mask
        rest = mask ^ low
        part = rest
        while True:
            if np.isfinite(cost[part | low]):
                least[mask, 1:] = np.minimum(least[mask, 1:], cost[part | low] + least[rest ^ part, :-1])
            if not part:
                break
            part = (part - 1) & rest
        if suppress:
            least[mask, :, 1:] = np.minimum(least[mask, :, 1:], whole + least[rest, :, :-1])
    classes, out = np.indices(least[-1].shape)
    return float(least[-1][classes <= mean * (many - out) + 1e-12].min()) / many


def holds(seed: int, rows: int) -> float:
    rng = np.random.default_rng(seed)
    table, roles = tiny(rng, rows, missing=0.15 * (seed % 2))
    k, diverse = int(rng.integers(2, 5)), int(rng.integers(1, 3))
    require = [sf.require(f"distinct_l_diversity >= {diverse}")] if diverse > 1 else []
    share = 0.0
    for labels in LABELS:
        bound = least_loss(table, roles, k=k, require=require, labels=labels).value
        reached = best(table, roles, k, diverse, labels, suppress=seed % 3 == 0)
        assert bound <= reached + 1e-12, (seed, labels, k, diverse)
        if 0 < reached < np.inf:
            share = max(share, bound / reached)
        mean = (0.26, 0.3, 0.34, 0.5)[seed % 4]
        asked = [*require, sf.require(f"marketer_risk <= {mean}")]
        limited = least_loss(table, roles, k=k, require=asked, labels=labels).value
        assert bound - 1e-9 <= limited
        assert limited <= best(table, roles, k, diverse, labels, suppress=seed % 3 == 0, mean=mean) + 1e-12
    return share


def test_no_partition_of_a_tiny_table_loses_less() -> None:
    shares = [holds(seed, rows) for seed, rows in enumerate((3, 4, 5, 6, 6, 6, 7, 7))]
    assert max(shares) > 0.6  # and it says something


@pytest.mark.full
def test_no_partition_of_many_tiny_tables_loses_less() -> None:
    for seed in rounds(100, 260):
        holds(seed, 4 + seed % 5)


# --- extremes --------------------------------------------------------------------------------------------------------


def table(**columns: list[Any]) -> Any:
    return sf.read(pa.table(columns))


def test_nothing_must_be_lost_where_every_combination_stands_k_times() -> None:
    people = table(age=[30, 30, 41, 41, 41], sex=["f", "f", "m", "m", "m"])
    roles = sf.Roles(quasi=("age", "sex"))
    assert least_loss(people, roles, k=2).value == 0
    assert least_loss(people, roles).value == 0
    assert least_loss(people, roles, k=3).value > 0


@pytest.mark.parametrize("labels", LABELS)
def test_fewer_rows_than_k_lose_everything(labels: Any) -> None:
    people = table(age=[30, 41, 52, 63], sex=["f", "m", "f", "m"])
    bound = least_loss(people, sf.Roles(quasi=("age", "sex")), k=5, labels=labels)
    assert bound.value == pytest.approx((3 / 4 + 1 / 2) / 2)
    assert bound.exactness == "bound"


@pytest.mark.parametrize("k", [2, 3, 4, 5])
def test_neighbours_in_a_line_reach_it(k: int) -> None:
    """Values 0 .. 11 once each: classes of k neighbours lose k - 1 of 12, and in the middle no class loses less."""
    people = table(age=list(range(0, 480, 1)))
    bound = least_loss(people, sf.Roles(quasi=("age",)), k=k).value
    assert 0.5 * (k - 1) / 480 <= bound <= (k - 1) / 480 + 1e-12


def test_other_sensitive_values_that_lie_far_away_cost_what_they_lie_apart() -> None:
    people = table(age=[1, 1, 1, 9, 9, 9], ill=["x", "x", "x", "y", "y", "y"])
    roles = sf.Roles(quasi=("age",), sensitive=("ill",))
    assert least_loss(people, roles, k=3).value == 0
    assert least_loss(people, roles, require=[sf.require("distinct_l_diversity >= 2")]).value == pytest.approx(1 / 2)


def test_requirements_on_the_size_of_classes_give_k() -> None:
    people = table(age=list(range(60)))
    roles = sf.Roles(quasi=("age",))
    asked = least_loss(people, roles, require=[sf.require("prosecutor_risk <= 0.05")])
    assert asked.details["k"] == 20
    assert asked.value == least_loss(people, roles, k=20).value


def test_a_missing_value_beside_others_loses_everything() -> None:
    people = table(age=[1, 2, 3, None])
    roles = sf.Roles(quasi=("age",))
    assert least_loss(people, roles, k=4).value == pytest.approx(3 / 4)


def test_a_mean_risk_asks_for_larger_classes_somewhere() -> None:
    people = table(age=list(range(400)))
    roles = sf.Roles(quasi=("age",))
    losses = [
        least_loss(people, roles, require=[sf.require(text) for text in asked]).value
        for asked in (["k_anonymity >= 3"], ["k_anonymity >= 3", "marketer_risk <= 0.25"], ["k_anonymity >= 4"])
    ]
    assert 1.3 * losses[0] < losses[1] <= losses[2]
    assert losses[1] <= 3 / 400 + 1e-12  # classes of four


# --- work ------------------------------------------------------------------------------------------------------------


def test_less_work_says_less_and_nothing_false() -> None:
    rng = np.random.default_rng(4)
    names = ("a", "b", "c", "d")
    people = table(**{name: rng.integers(0, 5000, 2500).tolist() for name in names})
    roles = sf.Roles(quasi=names)
    bounds = [least_loss(people, roles, k=6, work=work) for work in (1, 15_000_000, 10**9)]
    values = [bound.value for bound in bounds]
    assert values[0] < values[1] < values[2]
    assert [bound.details["complete"] for bound in bounds] == [False, False, True]


def test_an_estimate_stays_below_what_it_estimates_and_comes_near(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(7)
    people = table(
        **{name: np.round(100 * np.exp(rng.normal(0, 1, 3000))).astype(int).tolist() for name in ("a", "b", "c")},
        ill=rng.choice(list("uvwxyz"), 3000).tolist(),
    )
    roles = sf.Roles(quasi=("a", "b", "c"), sensitive=("ill",))
    for require in ([], [sf.require("distinct_l_diversity >= 3")], [sf.require("marketer_risk <= 0.1")]):
        given = [sf.require("k_anonymity >= 5"), *require]
        whole = least_loss(people, roles, require=given)
        assert whole.exactness == "bound"
        small = least_loss(people, roles, require=given, estimate=True)
        assert (small.value, small.exactness) == (whole.value, "bound")  # small enough to look at every pair
        for rows in (400, 2000):
            monkeypatch.setattr("sfumato.search.least_loss.DRAWN", rows * 3000 * 3)
            guess = least_loss(people, roles, require=given, work=10**6, estimate=True)
            assert guess.details["complete"]
            assert guess.exactness == "estimate"
            assert guess.details["rows_drawn"] == pytest.approx(rows, rel=0.01)
            assert guess.value < whole.value
            assert guess.value > whole.value * (0.7 if rows == 400 else 0.85)
            again = least_loss(people, roles, require=given, work=10**6, estimate=True)
            assert again.value == guess.value


def test_blocks_find_what_a_look_at_every_pair_finds() -> None:
    rng = np.random.default_rng(5)
    x, y = rng.integers(0, 300, 700), rng.integers(0, 300, 700)
    roles = sf.Roles(quasi=("x", "y"))
    bound = least_loss(table(x=x.tolist(), y=y.tolist()), roles, k=4).value
    places = [np.searchsorted(np.unique(v), v) / len(np.unique(v)) for v in (x, y)]
    apart = np.sort(sum(np.abs(p[:, None] - p[None, :]) for p in places) / 2, axis=1)[:, 1:]
    assert bound == pytest.approx(max(apart[:, 2].mean(), apart[:, :3].sum(axis=1).mean() * 2 / 4))


# --- releases --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("labels", LABELS)
def test_no_release_of_ours_loses_less(labels: Any) -> None:
    rng = np.random.default_rng(6)
    people, roles = tiny(rng, 300, missing=0.05)
    for made in (
        sf.Mondrian(k=4, labels=labels, improve=True),
        sf.KMember(k=4, labels=labels, improve=True),
        sf.GeneralizeFullDomain(k=4, suppression=0.1),
    ):
        release = made(people, roles)
        kinds = labels if hasattr(made, "labels") else "cheapest"
        assert least_loss(people, roles, k=4, labels=kinds).value <= sf.iloss(release, roles).value + 1e-12
        assert least_loss(people, roles, k=4, labels="any").value <= sf.iloss(release, roles).value + 1e-12
