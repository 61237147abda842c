"""Bezzi's conditions side by side, the advice on l and t, and the surprise of a noisy query."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

import sfumato as sf
from house import Make, rows
from sfumato.core.errors import InputError
from sfumato.core.release import Release
from sfumato.core.roles import Roles
from sfumato.core.table import Table
from sfumato.inspect.conditions import bits, query_surprise, surprise

ROLES = Roles(quasi=("q",), sensitive=("s",))


# --- the paper's experiment ------------------------------------------------------------------------------------------


def by_age(adult: Table, edges: list[int]) -> Release:
    """Adult with age in ranges and marital status, everything else suppressed; the original has the four columns."""
    counts = adult.count(("age", "marital-status"))
    age = np.array([int(text or 0) for text in counts.columns[0].texts])[counts.codes[0]]
    marital = np.array(counts.columns[1].texts)[counts.codes[1]]
    data = {"age": np.repeat(np.searchsorted(edges, age, side="right"), counts.n), "marital-status": np.repeat(marital, counts.n)}  # fmt: skip
    return Release(table=sf.read(pa.table(data)), original=adult)


MARITAL = Roles(quasi=("age",), sensitive=("marital-status",))


def test_the_limits_that_adult_allows(adult: Table, golden: dict[str, Any]) -> None:
    found = bits(by_age(adult, [50]), MARITAL, diversity=2.7, closeness=0.55)
    bezzi = golden["bezzi"]
    assert found.entropy == pytest.approx(bezzi["adult_H_marital"]["value"], abs=1e-12)
    assert found.l_max == pytest.approx(bezzi["adult_l_max"]["value"], abs=1e-12)
    assert found.l_t == pytest.approx(bezzi["adult_l_t_for_0.55"]["value"], abs=1e-12)
    assert found.t_l == pytest.approx(bezzi["adult_H_marital"]["value"] - math.log2(2.7), abs=1e-12)
    assert "up to 3.53" in found.advice[0]
    assert "t = 0.55 bits weighs as much as l = 2.411." in found.advice
    assert any(said.startswith("On average l is the stricter") for said in found.advice)


def test_two_ranges_meet_everything(adult: Table, golden: dict[str, Any]) -> None:
    found = bits(by_age(adult, [50]), MARITAL, diversity=2.7, closeness=0.55)
    assert [(c.equation, c.text) for c in found.conditions] == [
        ("13", "I(W;C) <= I(W;X)"),
        ("13", "I(W;C) <= t"),
        ("13", "I(W;C) <= H(W) - log2 l"),
        ("14", "I1(W,c) <= t"),
        ("14", "I2(W,c) <= H(W) - log2 l"),
    ]
    assert all(c.met for c in found.conditions)
    assert found.met
    assert found.conditions[0].left == pytest.approx(golden["bezzi"]["adult_A2_I"]["value"], abs=1e-12)


def test_four_ranges_meet_what_is_necessary_and_miss_what_is_sufficient(adult: Table) -> None:
    """Sec. 4: two classes break t and one of them l, though the averages hold."""
    found = bits(by_age(adult, [25, 50, 75]), MARITAL, diversity=2.7, closeness=0.55)
    assert [c.met for c in found.conditions] == [True, True, True, False, False]
    assert [c.classes for c in found.conditions] == [0, 0, 0, 2, 1]
    assert not found.met
    assert found.conditions[3].left == pytest.approx(0.965028, abs=1e-6)
    assert found.conditions[4].left == pytest.approx(1.097060, abs=1e-6)
    assert found.conditions[3].sentence.startswith("2 of 4 classes go beyond the 0.55 bits of surprise that t allows")
    assert found.conditions[4].sentence.startswith("One of 4 classes goes beyond")


# --- theorems --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("diversity", "closeness"), [(1, 0), (1.5, 0.3), (2, 0.6), (2.5, 1.0), (1, 5)])
def test_sufficient_implies_necessary_and_is_the_metrics(
    release: Make, seed: int, diversity: float, closeness: float
) -> None:
    rng = np.random.default_rng(seed)
    published = release({"q": rng.integers(0, 3, 40).tolist(), "s": rng.integers(0, 2 + seed % 3, 40).tolist()})
    found = bits(published, ROLES, diversity=diversity, closeness=closeness)
    by_text = {c.text: c.met for c in found.conditions}
    if by_text["I1(W,c) <= t"]:
        assert by_text["I(W;C) <= t"]
    if by_text["I2(W,c) <= H(W) - log2 l"]:
        assert by_text["I(W;C) <= H(W) - log2 l"]
    assert by_text["I1(W,c) <= t"] == sf.one_symbol_i1.at_most(closeness).check(published, ROLES).met
    assert by_text["I2(W,c) <= H(W) - log2 l"] == sf.entropy_l_diversity.at_least(diversity).check(published, ROLES).met
    assert sf.entropy_l_diversity(published, ROLES).value <= found.l_max + 1e-12
    for c in found.conditions:
        assert c.sentence.endswith(".")
        assert not any(word in c.sentence for word in ("nan", "inf", "-0 ", "  "))


def test_without_limits_only_what_the_table_allows(release: Make) -> None:
    found = bits(release(rows(a="wx", b="yz")), ROLES)
    assert found.conditions == ()
    assert found.met
    assert (found.l_max, found.l_t, found.t_l) == (pytest.approx(4), None, None)
    assert len(found.advice) == 1


def test_l_equals_l_max_only_for_a_release_like_the_table(release: Make) -> None:
    assert bits(release(rows(a="wxyz", b="zyxw")), ROLES, diversity=4).met
    assert not bits(release(rows(a="wwxyz", b="zyxwz")), ROLES, diversity=4).met
    too_much = bits(release(rows(a="wxyz")), ROLES, diversity=4.5)
    assert not too_much.met
    assert any("no release" in said for said in too_much.advice)


def test_a_constant_attribute(release: Make) -> None:
    found = bits(release(rows(a="xx", b="x")), ROLES, diversity=1, closeness=0)
    assert (found.entropy, found.l_max, found.l_t) == (0, 1, 1)
    assert found.met
    assert any("asks for nothing" in said for said in found.advice)


def test_equal_weights_are_said(release: Make) -> None:
    found = bits(release(rows(a="wxyz")), ROLES, diversity=2, closeness=1)
    assert found.l_t == pytest.approx(2)
    assert "l and t allow the same information on average." in found.advice


def test_limits_that_cannot_be(release: Make, refusal: Any) -> None:
    published = release(rows(a="xy"))
    for more in ({"diversity": 0.5}, {"diversity": math.nan}, {"closeness": -0.1}, {"closeness": math.inf}):
        refusal(InputError, lambda more=more: bits(published, ROLES, **more), "at least")
    refusal(InputError, lambda: bits(published, Roles(quasi=("q",))), "no sensitive column")


# --- a noisy query ---------------------------------------------------------------------------------------------------


def geometric(epsilon: float, changes: list[int]) -> np.ndarray:
    """Cut where what is left is beyond the digits of a float."""
    reach = math.ceil(40 / epsilon) + 10
    s = np.arange(-reach, reach + 1)
    p = np.exp(-epsilon * np.abs(s[None, :] - np.array(changes)[:, None]))
    return p / p.sum(1, keepdims=True)


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 0.5, math.log(2), 1, 3, 10])
@pytest.mark.parametrize(
    "neighbours", [None, {0: 1}, {0: 1, 1: 1}, {-1: 3, 0: 1, 1: 16}, {0: 0.5, 5: 0.25, -2: 0.25}, {0: 1, 1: 0}]
)
def test_the_infinite_sum_is_exact(epsilon: float, neighbours: dict[int, float] | None) -> None:
    steps = neighbours or {-1: 1, 0: 1, 1: 1}
    likelihood = geometric(epsilon, list(steps))
    weight = np.array(list(steps.values()), dtype=float)
    mean = weight / weight.sum() @ likelihood
    wanted = stats.entropy(likelihood[list(steps).index(0)], mean, base=2)
    assert query_surprise(epsilon, neighbours) == pytest.approx(wanted, abs=1e-10)
    assert surprise(likelihood, weight, at=list(steps).index(0)) == pytest.approx(wanted, abs=1e-10)


def test_the_surprise_at_its_extremes() -> None:
    assert query_surprise(1.0, {0: 1}) == 0
    assert query_surprise(1e-6) < 1e-9  # all noise
    assert query_surprise(60) == pytest.approx(math.log2(3), abs=1e-9)  # no noise: -log2 p(X0)
    assert query_surprise(800) == pytest.approx(math.log2(3), abs=1e-12)
    assert surprise(np.eye(4), np.ones(4)) == pytest.approx(2)
    assert surprise(np.full((4, 3), 1 / 3), np.ones(4)) == 0


def test_differential_privacy_bounds_the_surprise() -> None:
    """Eq. 16 is the more conservative: whatever it allows, the surprise is at most epsilon in bits. It grows with epsilon."""
    found = [query_surprise(e) for e in (0.01, 0.1, 0.5, 1, 2, 4)]
    for epsilon, value in zip((0.01, 0.1, 0.5, 1, 2, 4), found, strict=True):
        assert 0 < value <= epsilon / math.log(2)
    assert all(a < b for a, b in itertools.pairwise(found))


def test_queries_that_cannot_be(refusal: Any) -> None:
    for call in (
        lambda: query_surprise(0),
        lambda: query_surprise(math.nan),
        lambda: query_surprise(1, {1: 1}),
        lambda: query_surprise(1, {0: 1, 1: -1}),
        lambda: query_surprise(1, {0: 1, 0.5: 1}),  # type: ignore[dict-item]
        lambda: surprise(np.array([[0.5, 0.4]]), np.ones(1)),
        lambda: surprise(np.eye(2), np.ones(3)),
        lambda: surprise(np.eye(2), np.array([0.0, 1.0])),
        lambda: surprise(np.array([[2.0, -1.0]]), np.ones(1)),
    ):
        refusal(InputError, call)
