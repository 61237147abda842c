"""The least degradation under a bound on mutual information: closed forms, random rivals, a general optimizer, and the certificate."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq, minimize

from sfumato.channel.channel import Channel
from sfumato.channel.leakage import entropy, mutual_information
from sfumato.channel.rate_distortion import least_degradation_within
from sfumato.core.errors import InputError


def h(p: float) -> float:
    return 0.0 if p in (0, 1) else -p * math.log2(p) - (1 - p) * math.log2(1 - p)


@pytest.mark.parametrize("p", [0.5, 0.3, 0.1])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_a_bit_that_may_be_wrong_has_a_closed_form(p: float, share: float) -> None:
    """`R(D) = h(p) - h(D)` for D up to p (Shannon 1959)."""
    bits = share * h(p)
    design = least_degradation_within([p, 1 - p], 1 - np.eye(2), bits=bits)
    expected = brentq(lambda d: h(p) - h(d) - bits, 1e-12, p)
    assert design.degradation == pytest.approx(expected, abs=1e-6)
    assert mutual_information(design.channel, [p, 1 - p]) <= bits + 1e-9
    assert design.exactness == "exact"


@pytest.mark.parametrize("n", [3, 8])
def test_equally_frequent_values_have_a_closed_form(n: int) -> None:
    """`R(D) = log2 n - h(D) - D log2(n - 1)`."""
    bits = 0.4 * math.log2(n)
    design = least_degradation_within(None, 1 - np.eye(n), bits=bits)
    expected = brentq(lambda d: math.log2(n) - h(d) - d * math.log2(n - 1) - bits, 1e-12, 1 - 1 / n)
    assert design.degradation == pytest.approx(expected, abs=1e-6)


def test_extremes() -> None:
    prior, cost = np.array([0.6, 0.3, 0.1]), np.abs(np.subtract.outer(np.arange(3), np.arange(3))).astype(float)
    blind = least_degradation_within(prior, cost, bits=0)
    assert (blind.degradation, blind.gap) == (pytest.approx((prior @ cost).min()), pytest.approx(0))
    assert np.ptp(blind.channel.dense(), axis=0).max() == 0
    whole = least_degradation_within(prior, cost, bits=entropy(prior))
    assert (whole.degradation, whole.exactness) == (0, "exact")
    never = least_degradation_within([0.5, 0.5, 0.0], cost, bits=0.2)
    assert never.channel.dense()[2].tolist() == [0, 0, 1]
    with pytest.raises(InputError, match="0 or more"):
        least_degradation_within(prior, cost, bits=-0.1)


@pytest.mark.parametrize("seed", range(4))
def test_nothing_that_tells_as_little_degrades_less(seed: int) -> None:
    """Not a random channel, not one that a general optimizer finds; and the bound is below both."""
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(2, 4)), int(rng.integers(2, 5))
    prior, cost = rng.dirichlet(np.ones(n)), rng.integers(0, 6, (n, m)).astype(float)
    bits = 0.3 * entropy(prior)
    design = least_degradation_within(prior, cost, bits=bits)
    assert design.bound <= design.degradation + 1e-12
    assert design.gap <= 1e-5

    def rows(x: Any) -> Any:
        weight = np.exp(x.reshape(n, m) - x.reshape(n, m).max(axis=1, keepdims=True))
        return weight / weight.sum(axis=1, keepdims=True)

    def told(x: Any) -> float:
        return bits - mutual_information(Channel(matrix=rows(x)), prior)

    def lost(x: Any) -> float:
        return float((prior[:, None] * cost * rows(x)).sum())

    for _ in range(3):
        found = minimize(lost, rng.normal(size=n * m), constraints={"type": "ineq", "fun": told}, method="SLSQP")
        if told(found.x) >= -1e-9:
            assert lost(found.x) >= design.bound - 1e-7
    for _ in range(300):
        x = rng.normal(size=n * m) * rng.uniform(0, 4)
        if told(x) >= 0:
            assert lost(x) >= design.bound - 1e-9


def test_more_bits_never_cost_more() -> None:
    rng = np.random.default_rng(5)
    prior, cost = rng.dirichlet(np.ones(12)), np.abs(np.subtract.outer(np.arange(12.0), np.arange(12.0)))
    line = [least_degradation_within(prior, cost, bits=bits) for bits in (0.1, 0.5, 1, 2, 3)]
    assert all(a.degradation >= b.degradation - 1e-9 for a, b in pairwise(line))
    assert all(each.gap <= 1e-4 for each in line)
