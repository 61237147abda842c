"""Published mechanisms as channels: their closed forms, their promises, and the one table."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from sfumato.channel.adversary import error
from sfumato.channel.channel import Channel
from sfumato.channel.mechanisms import (
    anatomy,
    comparison,
    count_query,
    distances,
    generalization,
    geometric,
    local_noise,
    neighbouring,
    pram,
)
from sfumato.core.errors import InputError


@pytest.mark.parametrize("keep", [0.2, 0.5, 1.0])
def test_pram(keep: float) -> None:
    channel = pram(("a", "b", "c", "d", "e"), keep)
    assert error(channel) == pytest.approx(1 - keep)
    assert list(channel.output_names) == ["a", "b", "c", "d", "e"]
    assert pram(1, 0.3).dense().tolist() == [[1.0]]


def test_geometric_by_its_definition() -> None:
    """An endless two-sided geometric noise, summed up beyond the ends."""
    ratio, size = 0.6, 6
    steps = np.arange(-400, 401)
    noise = (1 - ratio) / (1 + ratio) * ratio ** np.abs(steps)
    expected = np.zeros((size, size))
    for x in range(size):
        np.add.at(expected[x], np.clip(x + steps, 0, size - 1), noise)
    assert geometric(size, ratio).dense() == pytest.approx(expected, abs=1e-12)
    assert geometric(size, 0).dense() == pytest.approx(np.eye(size))


def ratio_of(channel: Channel, apart: int) -> float:
    matrix = channel.dense()
    return float(max((matrix[apart:] / matrix[:-apart]).max(), (matrix[:-apart] / matrix[apart:]).max()))


@pytest.mark.parametrize("eps", [0.1, 1.0])
def test_differential_privacy_is_kept_and_used_up(eps: float) -> None:
    assert ratio_of(count_query(8, eps), 1) == pytest.approx(math.exp(eps))
    assert ratio_of(local_noise(6, eps), 5) == pytest.approx(math.exp(eps))
    assert count_query(8, eps).shape == (9, 9)


def test_more_privacy_more_error() -> None:
    errors = [error(count_query(10, eps)) for eps in (0.1, 0.5, 1, 4)]
    assert errors == sorted(errors, reverse=True)
    assert errors[0] < 1 - 1 / 11


def test_generalization_stands_at_its_lower_bound() -> None:
    channel = generalization(10, neighbouring(10, 3))
    assert [len(g) for g in neighbouring(10, 3)] == [3, 3, 4]
    assert error(channel) == pytest.approx(1 - 3 / 10)


# --- anatomy ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [1, 2, 3, 4])
def test_anatomy_of_one_group(rows: int) -> None:
    channel = anatomy(rows, 4, rows)
    assert channel.shape == (math.perm(4, rows), math.comb(4, rows))
    assert error(channel) == pytest.approx(1 - 1 / math.factorial(rows))


def test_anatomy_of_two_groups_by_hand() -> None:
    """Two values, four rows, groups of two: each group has both values, 2 x 2 tables behind each of 3 partitions."""
    channel = anatomy(4, 2, 2)
    assert channel.shape == (6, 3)  # tables with two of each value; partitions, whose groups all hold both values
    matrix = channel.dense()
    assert (matrix > 0).sum(axis=1).tolist() == [2] * 6
    assert (matrix > 0).sum(axis=0).tolist() == [4] * 3
    assert error(channel) == pytest.approx(1 - 3 * 0.5 / 6)


def test_anatomy_hides_a_record_among_l_values() -> None:
    """One record of a group: its value is guessed right in one of l cases, by the gain of the first row."""
    channel = anatomy(3, 5, 3)
    first = np.array([[float(name[0] == w) for name in channel.input_names] for w in range(5)])  # type: ignore[index]
    assert error(channel, gain=first) == pytest.approx(1 - 1 / 3)


def test_anatomy_leaves_the_rest_over() -> None:
    channel = anatomy(5, 3, 2)  # two groups, of two and of three rows
    assert channel.matrix.sum(axis=1) == pytest.approx(np.ones(channel.shape[0]))
    assert all(len(name) == 6 for name in channel.output_names)  # type: ignore[arg-type]


# --- the table -------------------------------------------------------------------------------------------------------


def test_the_table() -> None:
    size, prior = 6, [0.3, 0.3, 0.1, 0.1, 0.1, 0.1]
    groups = neighbouring(size, 2)
    channels = {
        ("pram", "keep=0.7"): pram(size, 0.7),
        ("local noise", "eps=1"): local_noise(size, 1.0),
        ("groups", "k=2"): generalization(size, groups),
        ("anatomy", "l=2"): anatomy(2, 3, 2),
    }
    uniform = comparison(channels)
    assert [line.mechanism for line in uniform] == ["pram", "local noise", "groups", "anatomy"]
    del channels["anatomy", "l=2"]
    costs = {("pram", "keep=0.7"): distances(size), ("groups", "k=2"): distances(size, groups)}
    lines = {line.mechanism: line for line in comparison(channels, prior=prior, costs=costs)}
    for line in lines.values():
        assert line.neither == pytest.approx(1 - 1 / 6)
        assert line.prior == pytest.approx(0.7)
        assert line.both <= line.worst_prior + 1e-9
        assert line.mechanism_known <= line.worst_prior + 1e-9
        assert line.exactness == "exact"
    assert lines["pram"].mechanism_known == pytest.approx(0.3)
    assert lines["groups"].worst_prior == pytest.approx(0.5)
    assert lines["groups"].degradation == pytest.approx(0.1)  # half of the values are one of five steps off
    assert lines["local noise"].degradation is None


def test_refusals(refusal: Callable[..., str]) -> None:
    refusal(InputError, lambda: pram(3, 1.5), "keep")
    refusal(InputError, lambda: pram(0, 0.5), "at least one")
    refusal(InputError, lambda: geometric(3, 1), "ratio")
    refusal(InputError, lambda: count_query(0, 1), "row")
    refusal(InputError, lambda: count_query(3, 0), "eps")
    refusal(InputError, lambda: generalization(3, [[0, 1], [1, 2]]), "Group 2")
    refusal(InputError, lambda: generalization(3, [[0, 1]]), "1 values are in no group")
    refusal(InputError, lambda: neighbouring(3, 4), "1 to 3")
    refusal(InputError, lambda: anatomy(3, 2, 3), "diversity")
    refusal(InputError, lambda: anatomy(20, 3, 2), "inputs")
    refusal(InputError, lambda: anatomy(5, 2, 2), "no table")
