"""Linkability: extremes, planted links, people outside, and the chance that two draws meet, drawn by hand."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from wp29_house import ROLES, apart, made, mangled, mechanisms, numbered, people, person, table, take

import sfumato as sf
from sfumato.attacks.linkability import linkability
from sfumato.attacks.lookup import targets
from sfumato.core.errors import InputError
from sfumato.core.outcome import Rate

HALVES: Any = {"first": ["age", "sex"], "second": ["place", "sick"]}
TWO = sf.Roles(quasi=("x", "y"))


def drawn(distances: Sequence[float], near: int) -> list[frozenset[int]]:
    """Every set of rows that an adversary may come by, each as likely."""
    limit = sorted(distances)[near - 1]
    sure = [i for i, d in enumerate(distances) if d < limit - 1e-10]
    tied = [i for i, d in enumerate(distances) if abs(d - limit) <= 1e-10]
    return [frozenset((*sure, *more)) for more in combinations(tied, near - len(sure))]


@pytest.mark.parametrize("near", [1, 2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_against_all_draws(seed: int, near: int) -> None:
    original, released = mangled(seed, 14)
    read = numbered(released)
    chance = []
    for i in range(14):
        one, two = (drawn(apart(read, original, person(original, i), HALVES[half]), near) for half in HALVES)
        chance.append(sum(bool(a & b) for a in one for b in two) / (len(one) * len(two)))
    found = linkability(made(released, original), ROLES, **HALVES, neighbours=near)
    assert found.attacked == 14
    assert found.fell == pytest.approx(sum(chance), abs=1e-9)
    assert 0 < found.fell < 14


def test_the_identity_links_all_if_each_half_tells_all_apart() -> None:
    columns = {"x": list(range(50)), "y": [f"n{i}" for i in range(50)]}
    found = linkability(made(columns, columns), TWO, first=["x"], second=["y"])
    assert (found.fell, found.success.value, found.success.high) == (50, 1, 1)
    assert found.worked
    doubled = {"x": [i // 2 for i in range(50)], "y": [f"n{i // 2}" for i in range(50)]}
    assert linkability(made(doubled, doubled), TWO, first=["x"], second=["y"]).success.value == 0.5  # 1/k


@pytest.mark.parametrize("near", [1, 4, 60])
def test_a_half_that_is_suppressed_gives_the_baseline(near: int) -> None:
    columns = people(50)
    hidden = {**columns, "age": ["*"] * 50, "sex": ["*"] * 50}
    found = linkability(made(hidden, columns), ROLES, **HALVES, neighbours=near)
    assert found.baseline is not None
    assert found.success.value == pytest.approx(found.baseline.value)
    assert found.above == pytest.approx(0)
    assert not found.worked


def test_the_baseline_is_that_two_draws_meet() -> None:
    columns = people(30)
    rng = np.random.default_rng(0)
    for near in (1, 3, 20):
        found = linkability(made(columns, columns), ROLES, **HALVES, neighbours=near).baseline
        draws = [set(rng.permutation(30)[:near]) & set(rng.permutation(30)[:near]) for _ in range(3000)]
        assert found is not None
        assert found.value == pytest.approx(np.mean([bool(d) for d in draws]), abs=0.03)
        assert found.low == found.value == found.high


def test_columns_that_were_mixed_give_about_the_baseline() -> None:
    """Each column as it was, in an order of its own: the halves have nothing to do with each other."""
    rng = np.random.default_rng(3)
    columns = {"x": rng.random(400).tolist(), "y": rng.random(400).tolist()}
    mixed = {name: rng.permutation(values).tolist() for name, values in columns.items()}
    found = linkability(made(mixed, columns), TWO, first=["x"], second=["y"])
    assert found.success.low <= 1 / 400
    assert found.success.value < 0.02


def test_planted_links_are_found_among_made_up_rows() -> None:
    rng = np.random.default_rng(5)
    x, y = rng.random(300), rng.random(300)
    released = {
        "x": np.concatenate([x[:90] + rng.normal(0, 1e-6, 90), rng.random(210) + 2]).tolist(),
        "y": np.concatenate([y[:90] + rng.normal(0, 1e-6, 90), rng.random(210) + 2]).tolist(),
    }
    strangers = table({"x": rng.random(300).tolist(), "y": rng.random(300).tolist()})
    found = linkability(
        made(released, {"x": x.tolist(), "y": y.tolist()}), TWO, first=["x"], second=["y"], control=strangers
    )
    assert found.control is not None
    assert found.fell >= 90
    assert found.control.value < 0.05
    assert found.worked
    assert found.above > 0.25


def test_people_outside_of_whom_the_same_holds() -> None:
    """y follows from x for everybody: the link is no fault of the release, and the control says so."""
    columns = {"x": list(range(0, 200, 2)), "y": [3 * i for i in range(0, 200, 2)]}
    strangers = {"x": [i + 0.1 for i in columns["x"]], "y": [3 * i + 0.1 for i in columns["x"]]}
    found = linkability(made(columns, columns), TWO, first=["x"], second=["y"], control=table(strangers))
    assert found.control is not None
    assert found.success.value == found.control.value == 1
    assert found.worked is False


def test_intervals_cover() -> None:
    """Of 3,000 people, 300 are attacked at a time: the interval holds the rate of all in about 95 of 100."""
    columns = {**people(3000, 3), "age": np.random.default_rng(2).integers(0, 30, 3000).tolist()}
    kept = np.random.default_rng(1).random(3000) < 0.6
    released = {n: [v if k else "*" for v, k in zip(c, kept, strict=True)] for n, c in columns.items() if n != "age"}
    release = made({**released, "age": columns["age"]}, columns)
    asked: Any = {"first": ["age", "place", "sex"], "second": ["sick"]}
    truth = linkability(release, ROLES, **asked, attacks=10**6)
    assert truth.attacked == 3000
    rates = [linkability(release, ROLES, **asked, attacks=300, seed=seed).success for seed in range(40)]
    assert len({rate.value for rate in rates}) > 30
    assert sum(rate.low <= truth.success.value <= rate.high for rate in rates) >= 36


def test_the_seed_decides_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    columns = people(300)
    turned = take(columns, np.random.default_rng(1).permutation(300).tolist())
    first = linkability(made(columns, columns), ROLES, **HALVES, attacks=50, seed=4)
    assert linkability(made(turned, turned), ROLES, **HALVES, attacks=50, seed=4) == first
    assert linkability(made(columns, columns), ROLES, **HALVES, attacks=50, seed=5).fell != first.fell
    monkeypatch.setattr(targets, "BLOCK", 500)
    assert linkability(made(columns, columns), ROLES, **HALVES, attacks=50, seed=4) == first


@pytest.mark.parametrize("name", mechanisms())
def test_every_kind_of_release(name: str) -> None:
    columns = people(300)
    release = mechanisms()[name](table(columns), ROLES, np.random.default_rng(1))
    found = linkability(release, ROLES, **HALVES, control=table(people(100, 9)))
    assert found.attacked == 300  # those who were left out are attacked too
    raw = linkability(made(columns, columns), ROLES, **HALVES)
    assert 0 <= found.success.value <= raw.success.value
    assert found.control is not None
    assert found.control.people == 100


def test_missing_values_are_values() -> None:
    columns = {"x": [1, 2, None, None], "y": ["a", None, "b", None]}
    assert linkability(made(columns, columns), TWO, first=["x"], second=["y"]).fell == pytest.approx(
        1 + 1 / 2 + 1 / 2 + 1 / 4
    )


def test_details_are_ready_for_json_and_hold_no_value(canary: str) -> None:
    columns = {"x": [canary, "b"], "y": ["1", canary]}
    found = linkability(made(columns, columns), TWO, first=["x"], second=["y"])
    assert canary not in json.dumps(found.details.to_dict()) + found.sentence + found.knew + found.effort
    assert isinstance(found.success, Rate)


def test_refusals(refusal: Any) -> None:
    columns = people(20)
    release = made(columns, columns)
    ask: Any = lambda **more: lambda: linkability(release, ROLES, **{**HALVES, **more})  # noqa: E731
    refusal(InputError, ask(first=["sick"]), "sick", "both")
    refusal(InputError, ask(first=[]), "linkability")
    refusal(InputError, ask(second=["nope"]), "nope")
    refusal(InputError, ask(neighbours=0), "neighbour")
    refusal(InputError, ask(attacks=0), "person")
