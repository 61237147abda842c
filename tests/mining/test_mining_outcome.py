"""Intervals from the folds: they hold the true figure about as often as they say."""

from __future__ import annotations

import numpy as np
import pytest

from sfumato.mining.folds import deal, interval
from sfumato.mining.outcome import AimOutcome, Estimate, decline, sums

REPEATS = 1500
SLACK = 3.5 * (0.05 * 0.95 / REPEATS) ** 0.5  # three and a half standard errors of the Monte Carlo


def test_sums_of_folds() -> None:
    assert sums(np.array([0, 1, 1, 3]), np.array([1.0, 2, 3, 4]), 4).tolist() == [1, 5, 0, 4]


def test_an_interval_by_hand() -> None:
    per_fold = np.array([1.0, 2, 3])  # mean 2, deviation 1; t(0.975, 2) = 4.30265
    low, high = interval(per_fold)
    assert (low, high) == pytest.approx((6 - 4.30265 * 3**0.5, 6 + 4.30265 * 3**0.5), abs=1e-4)
    assert interval(per_fold, total=False) == pytest.approx((2 - 4.30265 / 3**0.5, 2 + 4.30265 / 3**0.5), abs=1e-4)
    assert interval(np.array([5.0])) == (-np.inf, np.inf)
    assert interval(np.array([5.0, 5.0])) == (10, 10)


@pytest.mark.parametrize("folds", [2, 5, 10])
def test_totals_are_covered(folds: int) -> None:
    rng = np.random.default_rng(folds)
    rows = 40 * folds
    hit = 0
    for _ in range(REPEATS):
        values = (rng.random(rows) < 0.3).astype(float)
        found = Estimate.total(values, deal(rows, folds, 1), folds)
        assert found.value == values.sum()
        hit += found.low <= 0.3 * rows <= found.high
    # right/wrong has few distinct sums, so that coverage is not quite that of normal folds
    assert hit / REPEATS == pytest.approx(0.95, abs=SLACK + 0.015)


def test_means_are_covered() -> None:
    rng = np.random.default_rng(0)
    fold = deal(203, 7, 1)  # folds of unequal size
    hit = 0
    for _ in range(REPEATS):
        found = Estimate.mean(rng.gamma(4, 1, 203), fold, 7)
        hit += found.low <= 4 <= found.high
    assert hit / REPEATS == pytest.approx(0.95, abs=SLACK + 0.01)


@pytest.mark.parametrize("paired", [True, False])
def test_declines_are_covered(paired: bool) -> None:
    """Original right for 80%; of these the release keeps 85%, and it gains none: a decline of 15%."""
    rng = np.random.default_rng(1)
    fold = deal(1000, 10, 1)
    hit = 0
    for _ in range(REPEATS):
        right = rng.random(1000) < 0.8
        kept = (right if paired else rng.random(1000) < 0.8) & (rng.random(1000) < 0.85)
        found = decline(sums(fold, right.astype(float), 10), sums(fold, kept.astype(float), 10), paired=paired)
        hit += found.low <= 0.15 <= found.high
    assert hit / REPEATS == pytest.approx(0.95, abs=SLACK + 0.01)


def test_what_is_hard_about_a_fold_cancels_where_it_is_paired() -> None:
    before = np.array([10.0, 50, 90, 30])
    assert decline(before, before * 0.9, paired=True).high == pytest.approx(0.1)
    assert decline(before, before * 0.9, paired=False).high > 0.5


def test_declines_at_their_extremes() -> None:
    ten = np.full(5, 10.0)
    assert decline(ten, ten, paired=True) == Estimate(0, 0, 0)
    assert decline(ten, np.zeros(5), paired=True).value == 1
    assert decline(ten, 2 * ten, paired=True).value == -1
    assert decline(ten, -ten, paired=True).value == 2
    for nothing in (np.zeros(5), -ten):
        assert np.isnan(decline(nothing, ten, paired=True).value)


def test_a_figure_is_cut_where_it_cannot_be() -> None:
    rows, fold = np.array([0.0, 0, 0, 9]), np.array([0, 1, 2, 3])
    assert Estimate.total(rows, fold, 4).low < 0
    assert Estimate.total(rows, fold, 4, at_least=0.0).low == 0
    assert Estimate(4, 2, 6).scaled(0.5) == Estimate(2, 1, 3)


def test_a_share_of_nothing_is_nothing() -> None:
    aim = AimOutcome("A", 0, Estimate(0, 0, 0), Estimate(0, 0, 0), "none", Estimate(0, 0, 0), 0, 0)
    assert aim.share == Estimate(0, 0, 0)
