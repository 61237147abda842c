"""Linkage by distance where people have several rows, and with people who are not in the release: planted, and in plain Python."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from house import Make, MakeTable, outcomes
from sfumato.attacks.linkage import linkage
from sfumato.attacks.lookup import nearest as nearest_module
from sfumato.attacks.lookup.nearest import worth
from sfumato.core.errors import InputError
from sfumato.core.roles import Roles

Columns = Mapping[str, list[Any]]
ROLES = Roles(quasi=("x", "sex"), person="id")
ONE = Roles(quasi=("x",), person="id")
NOISY: Any = {"pairing": "position", "perturbed": frozenset("x")}


# --- extremes --------------------------------------------------------------------------------------------------------


def test_the_closest_pair_decides_where_rows_are_nobody_s(release: Make) -> None:
    """Ann's first row is nearer to Bob's, but her second is nearer still to her own."""
    people = {"id": ["Ann", "Ann", "Bob"], "x": [10.0, 50.0, 14.0]}
    made = release({"x": [3.0, 50.5, 12.0]}, people, **NOISY)
    attack = linkage(made, ONE, identity="id", reveal=True)
    assert outcomes(attack) == (2, 0, 0, 0)
    assert attack.attacked == 2
    assert attack.details.found == ["Ann", "Bob"]
    assert attack.baseline is not None
    assert attack.baseline.value == pytest.approx((2 / 3 + 1 / 3) / 2)  # two of three rows are Ann's
    assert linkage(made, ONE).details == attack.details.without_values()
    assert outcomes(linkage(made, Roles(quasi=("x",)))) == (2, 0, 1, 0)  # row by row, Ann's first is taken for Bob's


def test_a_row_that_is_near_twice_counts_once(release: Make, table: MakeTable) -> None:
    """Both that is known of Ann is 1 from her row, and the one 1 from Bob's: two rows are nearest, and one is hers."""
    made = release({"x": [10.0, 8.0]}, {"id": ["Ann", "Bob"], "x": [11.0, 0.0]}, **NOISY)
    attack = linkage(made, ONE, external=table({"id": ["Ann", "Ann"], "x": [9.0, 11.0]}))
    assert outcomes(attack) == (0, 1, 0, 0)
    assert attack.fell == pytest.approx(1 / 2)


def test_all_rows_of_a_released_person_count(release: Make, table: MakeTable) -> None:
    """Each visit alone is nearest to somebody else's; all of them together are nearest to one's own."""
    known = {"id": ["a", "a", "b", "b"], "x": [0.0, 10.0, 4.0, 14.0]}
    published = {"id": ["a", "a", "b", "b"], "x": [1.9, 8.1, 2.1, 15.0]}
    made = release(published, known, perturbed=frozenset("x"))
    attack = linkage(made, ONE)
    # a: 1.9 and 1.9 from a, 2.1 and 5 from b; b: 1.9 and 1 from b, 2.1 and 5.9 from a
    assert outcomes(attack) == (2, 0, 0, 0)
    assert attack.details.unit == "people"
    crossed = {"id": ["a", "a", "b", "b"], "x": [1.9, 15.0, 2.1, 8.1]}
    assert outcomes(linkage(release(crossed, known, perturbed=frozenset("x")), ONE)) == (0, 0, 2, 0)
    alone = table({"id": ["a"], "x": [10.0]})  # less is known: 8.1 against 15
    assert outcomes(linkage(made, ONE, external=alone)) == (1, 0, 0, 0)


def test_a_release_that_carries_nothing_gives_the_baseline(release: Make) -> None:
    people = {"id": list("aabbccdd"), "x": [float(v) for v in range(8)]}
    for more in ({}, {"id": people["id"]}):
        attack = linkage(release({**more, "x": [3.0] * 8}, people, **NOISY), ONE)
        assert attack.attacked == 4
        # of eight rows two are theirs; of four people one
        assert attack.baseline is not None
        assert attack.success.value == pytest.approx(attack.baseline.value) == pytest.approx(1 / 4)


def test_one_row_each_is_as_without_a_person_column(release: Make) -> None:
    rng = np.random.default_rng(2)
    x = rng.integers(0, 30, 40)
    people = {"id": [f"p{i}" for i in range(40)], "x": x.tolist()}
    published = {"x": (x + rng.integers(-2, 3, 40)).tolist()}
    rows = linkage(release(published, people, **NOISY), Roles(quasi=("x",)))
    for more in ({}, {"id": people["id"]}):
        named = linkage(release({**more, **published}, people, **NOISY), ONE)
        assert (named.fell, outcomes(named)) == (pytest.approx(rows.fell), outcomes(rows))


def test_values_as_they_are_do_not_look_moved(release: Make, table: MakeTable) -> None:
    """A person's own rows differ from each other; that is no noise, and people are looked up by cover."""
    people = {"id": list("aaabbb"), "x": [1, 2, 3, 4, 5, 6]}
    made = release({"x": people["x"]}, people, pairing="position")
    attack = linkage(made, ONE, external=table(people))
    assert attack.details.how == "cover"
    assert attack.details.correct == 6


# --- a few lines of plain Python -------------------------------------------------------------------------------------


def mean_of_all(known: Columns, rows: list[int], there: list[dict[str, Any]], scale: float) -> tuple[int, float]:
    """Known rows for which there is none that fits, and the mean distance over the others."""
    short, total = 0, 0.0
    for i in rows:
        fits = [((known["x"][i] - row["x"]) / scale) ** 2 for row in there if row["sex"] == known["sex"][i]]
        short, total = (short, total + min(fits)) if fits else (short + 1, total)
    return short, total / max(len(rows) - short, 1)


def linked(known: Columns, who: str, published: Columns, owners: list[str], carried: bool, scale: float) -> Any:
    """The least distance, and how likely one drawn of those that are nearest is one's own; None if there is none."""
    rows = [i for i, name in enumerate(known["id"]) if name == who]
    lines = [{c: published[c][j] for c in ("x", "sex")} for j in range(len(owners))]
    far: dict[Any, tuple[int, float]] = {}
    if carried:
        for name in set(owners):
            far[name] = mean_of_all(known, rows, [r for r, o in zip(lines, owners, strict=True) if o == name], scale)
        far = {name: d for name, d in far.items() if d[0] < len(rows)}
    else:
        for j, line in enumerate(lines):
            each = [mean_of_all(known, [i], [line], scale) for i in rows]
            if any(short == 0 for short, _ in each):
                far[j] = (0, min(d for short, d in each if short == 0))
    if not far:
        return None
    least = min(far.values())
    tied = [c for c, d in far.items() if d[0] == least[0] and math.isclose(d[1], least[1], rel_tol=1e-8, abs_tol=1e-15)]
    return least, sum((c if carried else owners[c]) == who for c in tied) / len(tied)


@pytest.mark.parametrize("carried", [False, True])
@pytest.mark.parametrize("seed", range(10))
def test_people_in_plain_python(
    seed: int, carried: bool, release: Make, table: MakeTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Several rows on both sides, an external table that is wrong in part, people of it who are not in the release."""
    rng = np.random.default_rng(seed)
    monkeypatch.setattr(nearest_module, "_PAIRS", int(rng.choice([1, 9, 10**6])))
    names, n = "abcdefghijkl", 30
    owners = ["abcdefghij"[v] for v in rng.integers(0, 10, n)]
    x, sex = rng.integers(0, 40, n), ["fm"[v] for v in rng.integers(0, 2, n)]
    published = {"x": (x + rng.integers(-4, 5, n)).tolist(), "sex": sex}
    kept = rng.random(n) < 0.7
    extra = int(rng.integers(1, 6))
    known = {
        "id": [o for o, k in zip(owners, kept, strict=True) if k] + [names[v] for v in rng.integers(0, 12, extra)],
        "x": x[kept].tolist() + rng.integers(0, 40, extra).tolist(),
        "sex": [s for s, k in zip(sex, kept, strict=True) if k] + ["fmo"[v] for v in rng.integers(0, 3, extra)],
    }
    more = {"id": owners} if carried else {}
    made = release({**published, **more}, {"id": owners, "x": x.tolist(), "sex": sex}, **NOISY)
    attack = linkage(made, ROLES, external=table(known))
    scale = float(np.std(known["x"])) or 1.0
    everybody = {who: linked(known, who, published, owners, carried, scale) for who in sorted(set(known["id"]))}
    inside = [who for who in everybody if who in owners]
    chance = [0.0 if everybody[who] is None else everybody[who][1] for who in inside]
    assert attack.attacked == len(inside)
    assert attack.fell == pytest.approx(sum(chance))
    assert attack.details.none == sum(everybody[who] is None for who in inside)
    assert attack.details.correct == sum(c == 1 for c in chance)
    # fewer than 50 people: one stretch of distances, up to the farthest of those who are in the release
    strangers = [everybody[who] for who in everybody if who not in owners]
    if not strangers:
        assert attack.control is None
        return
    there = [(everybody[who][0], everybody[who][1]) for who in inside if everybody[who] is not None]
    rate = sum(c for _, c in there) / len(there)
    farthest = max(d for d, _ in there)
    seems = [rate if s is not None and s[0] <= farthest else 0.0 for s in strangers]
    assert attack.control is not None
    assert attack.control.people == len(strangers)
    assert attack.control.value == pytest.approx(sum(seems) / len(seems))
    assert attack.details.not_in_release["none"] == sum(s is None for s in strangers)


# --- people who are not in the release -------------------------------------------------------------------------------


def test_little_noise_and_strangers_far_away(release: Make, table: MakeTable) -> None:
    """Everybody is found; no stranger is linked as near as they are."""
    rng = np.random.default_rng(1)
    x, y = rng.random((2, 300))
    made = release(
        {"x": x + rng.normal(0, 1e-5, 300), "y": y + rng.normal(0, 1e-5, 300)},
        {"x": x, "y": y},
        pairing="position",
        perturbed=frozenset("xy"),
    )
    strangers = table({"x": rng.random(200), "y": rng.random(200)})
    attack = linkage(made, Roles(quasi=("x", "y")), control=strangers)
    assert attack.success.value > 0.99
    assert attack.control is not None
    assert attack.control.value < 0.02
    assert attack.details.not_in_release["beyond"] >= 190
    assert attack.worked


def test_strangers_who_are_linked_as_near_are_no_worse_off(table: MakeTable) -> None:
    """Means of groups of four: one in four is right, but strangers are as near to a mean, and theirs seems worth as much."""
    rng = np.random.default_rng(0)
    roles = Roles(quasi=("x", "y"), sensitive=("s",))
    people = table({"x": rng.normal(size=1500), "y": rng.normal(size=1500), "s": ["a"] * 1500})
    strangers = table({"x": rng.normal(size=800), "y": rng.normal(size=800)})
    attack = linkage(sf.Microaggregation(k=4)(people, roles), roles, control=strangers)
    assert attack.control is not None
    assert attack.control.value == pytest.approx(attack.success.value, abs=0.05)
    assert attack.worked is False


def test_people_whom_the_release_left_out_are_a_control(release: Make) -> None:
    people = {"id": list("abcd"), "x": [1.0, 20.0, 40.0, 90.0]}
    made = release({"id": list("abc"), "x": [1.5, 20.5, 40.5]}, people, pairing="key:id", perturbed=frozenset("x"))
    attack = linkage(made, Roles(quasi=("x",)))
    assert outcomes(attack) == (3, 0, 0, 0)
    assert attack.details.not_in_release == {"from": "left out of the release", "people": 1, "beyond": 1, "none": 0}
    assert attack.control is not None
    assert attack.control.value == 0


def test_a_control_of_several_rows(release: Make, table: MakeTable) -> None:
    """Zoe's second row is as near as anybody's; Yan is somewhere else."""
    people = {"id": ["a", "b", "c"], "x": [1.0, 20.0, 40.0]}
    made = release({"x": [1.5, 20.5, 40.5]}, people, **NOISY)
    control = table({"id": ["Zoe", "Zoe", "Yan"], "x": [70.0, 20.2, 60.0]})
    attack = linkage(made, ONE, control=control)
    assert attack.control is not None
    assert (attack.control.value, attack.control.people) == (1 / 2, 2)


def test_a_control_that_is_no_numbers(release: Make, table: MakeTable, refusal: Any, canary: str) -> None:
    made = release({"x": [1.5, 20.5]}, {"x": [1.0, 20.0]}, **NOISY)
    refusal(InputError, lambda: linkage(made, Roles(quasi=("x",)), control=table({"x": [canary]})), "'x'")


def test_what_a_link_seems_worth() -> None:
    far = np.concatenate([np.linspace(0, 1, 500), np.full(5, np.inf)])
    right = np.concatenate([np.ones(250), np.zeros(255)])
    weight = np.ones(505, dtype=np.int64)
    assert worth(far, right, weight, np.array([0.0, 0.2, 0.8, 1.0, 1.1, np.inf])).tolist() == [1, 1, 0, 0, 0, 0]
    assert worth(np.zeros(60), np.ones(60), weight[:60], np.array([0.0, 0.1])).tolist() == [1, 0]
    assert worth(np.full(2, np.inf), np.zeros(2), weight[:2], np.array([0.0])).tolist() == [0]
    itself = worth(far, right, weight, far)
    assert itself.sum() == pytest.approx(right.sum())  # strangers like everybody fare like everybody


def test_the_interval_of_a_sample_of_people_has_its_coverage(release: Make) -> None:
    rng = np.random.default_rng(0)
    owners = [f"p{v}" for v in rng.integers(0, 600, 1200)]
    x = rng.normal(size=1200)
    made = release(
        {"id": owners, "x": x + rng.normal(scale=0.01, size=1200)}, {"id": owners, "x": x}, perturbed=frozenset("x")
    )
    whole = linkage(made, ONE, sample=10_000)
    assert whole.exactness == "exact"
    assert 0.1 < whole.success.value < 0.9
    rates = [linkage(made, ONE, sample=100, seed=seed) for seed in range(40)]
    assert {rate.exactness for rate in rates} == {"estimate"}
    assert sum(r.success.low <= whole.success.value <= r.success.high for r in rates) >= 35
