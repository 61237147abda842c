"""Draws: right distributions from either source, and a seed repeats them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from sfumato.core.randomness import SEEDED, Chance

N = 40_000


@pytest.fixture(params=["system", "seeded"])
def chance(request: pytest.FixtureRequest) -> Chance:
    return Chance(None if request.param == "system" else np.random.default_rng(5))


def test_uniform_numbers_are_uniform_and_inside(chance: Chance) -> None:
    x = chance.uniform(N)
    assert x.min() > 0
    assert x.max() < 1
    assert stats.kstest(x, "uniform").pvalue > 1e-6


def test_normal_numbers_are_normal_and_another_scale_is_not(chance: Chance) -> None:
    x = chance.normal(N + 1)
    assert len(x) == N + 1
    assert stats.kstest(x, "norm").pvalue > 1e-6
    for wrong in (0.7, 1.3):
        assert stats.kstest(wrong * x, "norm").pvalue < 1e-6


def test_whole_numbers_cover_their_range_evenly(chance: Chance) -> None:
    x = chance.below(7, N)
    counts = np.bincount(x, minlength=7)
    assert len(counts) == 7
    assert stats.chisquare(counts).pvalue > 1e-6
    assert set(chance.below(1, 10)) == {0}
    with pytest.raises(ValueError, match="nothing"):
        chance.below(0, 3)


def test_an_order_is_a_permutation_and_no_place_is_preferred(chance: Chance) -> None:
    assert sorted(chance.order(100)) == list(range(100))
    first = np.array([chance.order(4)[0] for _ in range(4000)])
    assert stats.chisquare(np.bincount(first, minlength=4)).pvalue > 1e-6


def test_a_seed_repeats_and_says_so() -> None:
    a, b = (Chance(np.random.default_rng(1)) for _ in range(2))
    assert np.array_equal(a.normal(9), b.normal(9))
    assert a.notes == (SEEDED,)
    system = Chance()
    assert system.notes == ()
    assert not np.array_equal(system.bits(9), system.bits(9))
    assert len(system.bits(0)) == 0
