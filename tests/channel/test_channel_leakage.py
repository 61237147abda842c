"""Leakages and capacities: extremes, theorems, and capacities that are known in closed form."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from channel_examples import APPENDIX, channels, channels_with_prior
from hypothesis import given
from hypothesis import strategies as st

from sfumato.channel import leakage
from sfumato.channel.channel import Channel, constant, identity
from sfumato.channel.exact import ExactChannel
from sfumato.core.errors import InputError

Both = tuple[ExactChannel, list[Fraction]]


@pytest.mark.parametrize("size", [1, 2, 8])
def test_extremes(size: int) -> None:
    bits = np.log2(size)
    for channel, told in ((identity(size), bits), (constant(size), 0.0)):
        assert leakage.mutual_information(channel) == pytest.approx(told)
        assert leakage.conditional_entropy(channel) == pytest.approx(bits - told)
        assert leakage.min_entropy_leakage(channel) == pytest.approx(told)
        assert leakage.bayes_capacity(channel) == pytest.approx(2**told)
        found = leakage.capacity(channel)
        assert (found.low, found.high) == (pytest.approx(told), pytest.approx(told))
        assert found.exactness == "exact"
    assert leakage.additive_leakage(constant(size)) == 0
    assert leakage.additive_leakage(identity(size)) == pytest.approx(1 - 1 / size)


def test_golden(golden: dict[str, Any]) -> None:
    found = leakage.conditional_entropy(APPENDIX.floats())
    assert found == pytest.approx(golden["askari"]["conditional_entropy_uniform"]["value"], abs=1e-12)


@given(channels_with_prior())
def test_entropies_by_their_definitions(both: Both) -> None:
    channel, prior = both
    pi = np.array([float(p) for p in prior])
    joint = np.array(channel.cells, dtype=float) * pi[:, None]
    y = joint.sum(axis=0)
    expected = sum(p * np.log2(p / (pi[i] * y[j])) for (i, j), p in np.ndenumerate(joint) if p > 0)
    for made in (channel.floats(), Channel(matrix=scipy.sparse.csr_array(channel.floats().matrix))):
        told = leakage.mutual_information(made, pi)
        assert told == pytest.approx(expected, abs=1e-12)
        assert told + leakage.conditional_entropy(made, pi) == pytest.approx(leakage.entropy(pi), abs=1e-12)


@given(channels_with_prior())
def test_the_capacity_bounds_every_prior(both: Both) -> None:
    channel, prior = both
    made, pi = channel.floats(), [float(p) for p in prior]
    found = leakage.capacity(made, gap=1e-7)
    assert leakage.mutual_information(made, pi) <= found.high + 1e-9
    assert found.low == pytest.approx(leakage.mutual_information(made, found.prior), abs=1e-9)
    assert found.high - found.low <= 1e-7
    assert leakage.multiplicative_leakage(made, pi) <= leakage.bayes_capacity(made) + 1e-9
    assert leakage.multiplicative_leakage(made) == pytest.approx(leakage.bayes_capacity(made))
    assert found.low <= np.log2(leakage.bayes_capacity(made)) + 1e-9  # Shannon's capacity is the lesser one


@given(st.data())
def test_data_processing(data: st.DataObject) -> None:
    first = data.draw(channels())
    behind = first.then(data.draw(channels(inputs=len(first.cells[0])))).floats()
    made = first.floats()
    assert leakage.mutual_information(behind) <= leakage.mutual_information(made) + 1e-12
    assert leakage.bayes_capacity(behind) <= leakage.bayes_capacity(made) + 1e-12
    assert leakage.capacity(behind, gap=1e-7).low <= leakage.capacity(made, gap=1e-7).high + 1e-9


@pytest.mark.parametrize("p", [0.0, 0.1, 0.3, 0.5, 0.9])
def test_the_binary_symmetric_channel(p: float) -> None:
    h = 0.0 if p in (0, 1) else -p * np.log2(p) - (1 - p) * np.log2(1 - p)
    found = leakage.capacity(Channel(matrix=[[1 - p, p], [p, 1 - p]]), gap=1e-10)
    assert found.low == pytest.approx(1 - h, abs=1e-9)


@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
def test_the_z_channel(p: float) -> None:
    """An asymmetric one: log2 (1 + (1-p) p^(p/(1-p)))."""
    found = leakage.capacity(Channel(matrix=[[1, 0], [p, 1 - p]]), gap=1e-10)
    assert found.low == pytest.approx(np.log2(1 + (1 - p) * p ** (p / (1 - p))), abs=1e-9)
    assert found.exactness == "exact"


def test_an_input_that_is_never_used() -> None:
    """The erasure of a third input makes no difference: its row is a mixture of the others."""
    both = Channel(matrix=[[0.9, 0.1], [0.1, 0.9]])
    third = Channel(matrix=[[0.9, 0.1], [0.1, 0.9], [0.5, 0.5]])
    found = leakage.capacity(third, gap=1e-9)
    assert found.low == pytest.approx(leakage.capacity(both, gap=1e-9).low, abs=1e-8)
    assert found.prior[2] < 1e-6


def test_parts_that_share_no_output() -> None:
    """log2 (2^C1 + 2^C2): Shannon 1948."""
    one, two = np.array([[0.9, 0.1], [0.1, 0.9]]), np.array([[1.0, 0, 0], [0.2, 0.3, 0.5]])
    alone = [leakage.capacity(Channel(matrix=each), gap=1e-11).low for each in (one, two)]
    both = Channel(matrix=scipy.sparse.block_diag([one, two]))
    found = leakage.capacity(both, gap=1e-10)
    assert found.low == pytest.approx(np.log2(2 ** alone[0] + 2 ** alone[1]), abs=1e-9)
    assert found.low == pytest.approx(leakage.mutual_information(both, found.prior), abs=1e-9)


def test_what_is_stopped_early_is_a_bound() -> None:
    rows = np.random.default_rng(3).dirichlet(np.ones(6), size=30)
    found = leakage.capacity(Channel(matrix=rows), gap=1e-12, rounds=3)
    assert found.exactness == "bound"
    sure = leakage.capacity(Channel(matrix=rows), gap=1e-8)
    assert found.low <= sure.high
    assert sure.low <= found.high


def test_refusals(refusal: Callable[..., str]) -> None:
    refusal(InputError, lambda: leakage.capacity(identity(2), gap=0), "gap")
    refusal(InputError, lambda: leakage.capacity(identity(2), rounds=0), "rounds")
