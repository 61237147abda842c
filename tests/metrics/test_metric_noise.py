"""Measures of perturbed numbers: what Agrawal and Srikant print, a linkage attack row by row, and refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.spatial import cKDTree
from scipy.stats import norm

from house import Make, exactly
from sfumato.core.errors import Unavailable
from sfumato.core.release import Release
from sfumato.core.roles import Roles
from sfumato.metrics.privacy import linkage_distance_risk as linkage_module
from sfumato.metrics.privacy.linkage_distance_risk import linkage_distance_risk, linked, wilson
from sfumato.metrics.privacy.noise_interval import noise_interval, shortest
from sfumato.metrics.privacy.noise_variance import noise_variance

ONE, TWO = Roles(quasi=("q",)), Roles(quasi=("q", "r"))
EVERY = [noise_interval, noise_variance, linkage_distance_risk]


def pair(make: Make, released: Any, original: Any, **more: Any) -> Release:
    """Columns q (and r) of numbers, row i from row i."""
    names = ("q", "r")[: len(original)]
    sides = [dict(zip(names, (list(map(float, c)) for c in side), strict=True)) for side in (released, original)]
    return make(*sides, pairing="position", **more)


# --- extremes --------------------------------------------------------------------------------------------------------


def test_the_identity_hides_nothing(release: Make) -> None:
    same = pair(release, [range(20)], [range(20)])
    assert noise_interval(same, ONE).value == 0
    assert noise_variance(same, ONE).value == 0
    assert linkage_distance_risk(same, ONE).value == 1


def test_one_shift_of_all_hides_nothing_from_who_knows_it(release: Make) -> None:
    moved = pair(release, [[v + 100 for v in range(20)]], [range(20)])
    assert noise_interval(moved, ONE).value == 0
    assert noise_variance(moved, ONE).value == exactly(0)
    assert linkage_distance_risk(moved, ONE).value == 1 / 20  # all are nearest to the last


def test_all_numbers_became_their_mean(release: Make) -> None:
    flat = pair(release, [[9.5] * 20], [range(20)])
    assert noise_variance(flat, ONE).value == exactly(1)
    assert noise_interval(confidence=1)(flat, ONE).value == 1
    assert linkage_distance_risk(flat, ONE).value == exactly(2 * (1 / 2) / 20)  # 9 and 10 are equally near


def test_original_rows_that_are_alike(release: Make) -> None:
    alike = pair(release, [[3, 4, 5, 6]], [[4, 4, 4, 4]])
    assert linkage_distance_risk(alike, ONE).value == 1 / 4
    for metric in (noise_interval, noise_variance):
        with pytest.raises(Unavailable, match="differ"):
            metric(alike, ONE)


# --- what the paper prints -------------------------------------------------------------------------------------------

STEPS = (np.arange(100_000) + 0.5) / 100_000


@pytest.mark.parametrize(
    ("confidence", "uniform", "gaussian"), [(0.5, 0.5, 1.34), (0.95, 0.95, 3.92), (0.999, 0.999, 6.8)]
)
def test_agrawal_and_srikant_table_1(confidence: float, uniform: float, gaussian: float) -> None:
    """Uniform noise on [-a, a]: c * 2a. Gaussian: 1.34, 3.92 and 6.8 deviations (the last is 6.58 by the quantiles)."""
    n = np.ones(len(STEPS), dtype=np.int64)
    assert shortest(2 * STEPS - 1, n, confidence) == pytest.approx(uniform * 2, rel=1e-3)
    width = shortest(norm.ppf(STEPS), n, confidence)
    assert width == pytest.approx(2 * norm.ppf((1 + confidence) / 2), rel=0.01)
    assert width == pytest.approx(gaussian, rel=0.04)


def test_the_shortest_interval_by_trying_all() -> None:
    rng = np.random.default_rng(0)
    for confidence in (0.01, 0.3, 0.5, 0.8, 1.0):
        d, n = rng.normal(size=12).round(1), rng.integers(1, 5, 12)
        tries = [b - a for a in d for b in d if n[(d >= a) & (d <= b)].sum() >= confidence * n.sum() - 1e-9]
        assert shortest(d, n, confidence) == exactly(min(t for t in tries if t >= 0))


def test_the_column_that_is_hidden_least_counts(release: Make) -> None:
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(2, 4000))
    noisy = pair(release, [x + rng.normal(size=4000), y + 0.5 * rng.normal(size=4000)], [x, y])
    score = noise_variance(noisy, TWO)
    assert score.details["columns"] == {"q": pytest.approx(1, rel=0.1), "r": pytest.approx(0.25, rel=0.1)}
    assert (score.value, score.details["worst"]) == (score.details["columns"]["r"], "r")
    score = noise_interval(noisy, TWO)
    assert score.value == score.details["columns"]["r"] == pytest.approx(0.5 * 3.92 / np.ptp(y), rel=0.1)
    assert noise_interval(confidence=0.5)(noisy, TWO).value < score.value


def test_pairs_with_a_missing_value_are_left_out(release: Make) -> None:
    some = release({"q": ["1.5", None, "3", None]}, {"q": ["1", "2", None, None]}, pairing="position")
    with pytest.raises(Unavailable, match="differ"):
        noise_variance(some, ONE)  # one pair of numbers is left: there is nothing to compare it with
    some = release({"q": ["1.5", None, "3"]}, {"q": ["1", "9", "3"]}, pairing="position")
    assert noise_variance(some, ONE).value == exactly(0.0625)


# --- linkage ---------------------------------------------------------------------------------------------------------


def by_hand(released: Any, original: Any) -> float:
    """Row by row, by a k-d tree of scipy; nothing ties."""
    x = np.column_stack(original).astype(float)
    y = np.column_stack(released).astype(float)
    scale = x.std(axis=0)
    return float((cKDTree(x / scale).query(y / scale)[1] == np.arange(len(x))).mean())


@pytest.mark.parametrize("noise", [0.003, 0.03, 0.3, 3.0])
def test_linkage_by_a_tree(release: Make, noise: float) -> None:
    rng = np.random.default_rng(9)
    x = rng.normal(size=(2, 1500)) * [[1], [1000]]
    y = x + noise * rng.normal(size=(2, 1500)) * [[1], [1000]]
    score = linkage_distance_risk(pair(release, y, x), TWO)
    assert score.exactness == "exact"
    assert score.value == exactly(by_hand(y, x))
    sampled = linkage_distance_risk(sample=700)(pair(release, y, x), TWO)
    assert sampled.exactness == "estimate"
    assert sampled.ci is not None
    assert sampled.ci[0] <= score.value <= sampled.ci[1]


@pytest.mark.parametrize("block", [256, 5000])
def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    """Whole numbers, so that many rows tie; counted by comparing all with all."""
    rng = np.random.default_rng(5)
    originals = np.unique(rng.integers(0, 12, (400, 2)), axis=0).astype(float)
    n = rng.integers(1, 4, len(originals))
    own = originals[rng.integers(0, len(originals), 600)]
    released = own + rng.integers(-1, 2, own.shape)
    expected = []
    for y, x in zip(released, own, strict=True):
        away = ((originals - y) ** 2).sum(axis=1)
        mine = ((x - y) ** 2).sum()
        expected.append(0.0 if (away < mine).any() else 1 / n[away == mine].sum())
    monkeypatch.setattr(linkage_module, "BLOCK", block)
    monkeypatch.setattr(linkage_module, "NEAR", 4)
    assert linked(released, own, originals, n) == pytest.approx(np.array(expected))
    assert 0 < np.mean(expected) < 1


def test_missing_is_far_from_every_number_and_near_to_missing(release: Make) -> None:
    there = release({"q": [None, "1", "2"]}, {"q": [None, "1", "2"]}, pairing="position")
    assert linkage_distance_risk(there, ONE).value == 1
    gone = release({"q": [None, "1", "2"]}, {"q": ["0", "1", "2"]}, pairing="position")
    assert linkage_distance_risk(gone, ONE).value == exactly(2 / 3)


def test_rows_by_a_key_and_originals_that_are_not_released(release: Make) -> None:
    before = {"id": ["a", "b", "c", "d"], "q": [0.0, 10.0, 20.0, 11.0]}
    after = {"id": ["c", "b"], "q": [21.0, 10.9]}  # b is nearer to d
    assert linkage_distance_risk(release(after, before, pairing="key:id"), ONE).value == 0.5


def test_wilson() -> None:
    assert wilson(0.0, 100) == (0.0, pytest.approx(0.037, abs=1e-3))
    assert wilson(0.5, 100) == (pytest.approx(0.404, abs=1e-3), pytest.approx(0.596, abs=1e-3))


# --- refusals --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("metric", EVERY, ids=str)
def test_refusals(release: Make, refusal: Any, metric: Any) -> None:
    numbers = {"q": ["1", "2", "3"]}
    refusal(Unavailable, lambda: metric(release(numbers, numbers), ONE), metric.card.name, "--pair")
    texts = {"q": ["x", "y", "z"]}
    refusal(Unavailable, lambda: metric(release(texts, texts, pairing="position"), ONE), "numbers")
    ranges = {"q": ["[1,2]", "[1,2]", "3"]}
    refusal(Unavailable, lambda: metric(release(ranges, numbers, pairing="position"), ONE), "generalized")
