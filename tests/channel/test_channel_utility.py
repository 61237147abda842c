"""Utility of many small tables, users and mechanisms: against the study's functions on the same tables (eq. 8-20)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from house import MakeTable
from sfumato.channel.channel import Channel, identity
from sfumato.channel.utility import background, degradation, over_users, utilities
from sfumato.core.errors import InputError
from sfumato.inspect.entropy_utility import background_utility
from sfumato.metrics.utility.entropy_utility import u_max


def test_extremes() -> None:
    tell = np.array([[[0, 0], [1, 1], [2, 2], [3, 3]]])  # two columns that tell each other
    assert utilities(tell, [4, 4]) == pytest.approx([2.0])
    apart = np.array([[[0, 0], [0, 1], [1, 0], [1, 1]]])  # independent and equally frequent
    assert utilities(apart, [2, 2]) == pytest.approx([0.0])
    assert utilities(np.zeros((1, 5, 2), dtype=int), [1, 1]) == pytest.approx([0.0])  # suppressed
    assert utilities(np.zeros((1, 5, 1), dtype=int), [8]) == pytest.approx([3.0])  # one value of eight


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 1), st.integers(0, 1)), min_size=1, max_size=8))
def test_against_the_metric(table: MakeTable, rows: list[tuple[int, int, int]]) -> None:
    """The metric takes the values that occur as the domain; so do the sizes here."""
    columns = list(zip(*rows, strict=True))
    codes = np.stack([np.unique(column, return_inverse=True)[1] for column in columns], axis=1)
    sizes = [len(set(column)) for column in columns]
    counts = table({"a": columns[0], "b": columns[1], "c": columns[2]}).count(("a", "b", "c"))
    expected = u_max(counts)
    assert utilities(codes[None], sizes) == pytest.approx([np.mean(list(expected.values()))], abs=1e-9)
    weighted = utilities(codes[None], sizes, weights=[3, 1, 0])
    assert weighted == pytest.approx([(3 * expected["a"] + expected["b"]) / 4], abs=1e-9)


def test_a_mechanism_over_the_channel() -> None:
    rng = np.random.default_rng(0)
    matrix, cost, prior = rng.dirichlet(np.ones(3), size=4), rng.random((4, 3)), rng.dirichlet(np.ones(4))
    expected = prior @ (matrix * cost).sum(axis=1)
    for made in (Channel(matrix=matrix), Channel(matrix=scipy.sparse.csr_array(matrix))):
        assert degradation(made, cost, prior) == pytest.approx(expected)
    before, after = rng.random(4), rng.random(3)
    whole = degradation(Channel(matrix=matrix), before[:, None] - after[None], prior)
    assert degradation(Channel(matrix=matrix), (before, after), prior) == pytest.approx(whole)
    assert degradation(identity(4), (before, before), prior) == pytest.approx(0)


def test_what_a_user_knows_already(table: MakeTable) -> None:
    uniform = np.full((2, 3), 1 / 6)
    assert background(uniform) == pytest.approx(0)
    certain = np.zeros((2, 3))
    certain[1, 2] = 1
    assert background(certain) == pytest.approx((1 + np.log2(3)) / 2)
    assert background(certain, [np.array([0, 0]), np.array([0, 0, 0])]) == pytest.approx(0)  # all is suppressed
    # against the study, which takes counts
    rows = {"a": ["0", "0", "1", "1", "1"], "b": ["x", "y", "z", "z", "x"]}
    counts = table(rows).count(("a", "b"))
    joint = np.zeros((2, 3))
    for a, b in zip(rows["a"], rows["b"], strict=True):
        joint[int(a), "xyz".index(b)] += 1 / 5
    expected = np.mean([background_utility(counts, name, [counts]) for name in ("a", "b")])
    assert background(joint) == pytest.approx(expected)


def test_knowledge_is_generalized_with_the_release() -> None:
    joint = np.array([[0.1, 0.2], [0.3, 0.1], [0.2, 0.1]])
    merged = np.array([[0.4, 0.3], [0.2, 0.1]])
    assert background(joint, [np.array([0, 0, 1]), np.array([0, 1])]) == pytest.approx(background(merged))


def test_a_population_of_users() -> None:
    channel = identity(2)
    costs = [np.zeros((2, 2)), np.ones((2, 2))]
    assert over_users([degradation(channel, cost) for cost in costs], [3, 1]) == pytest.approx(0.25)


def test_refusals(refusal: Callable[..., str]) -> None:
    refusal(InputError, lambda: degradation(identity(2), np.ones((3, 2))), "degradation matrix")
    refusal(InputError, lambda: degradation(identity(2), (np.ones(3), np.ones(2))), "utilities")
    refusal(InputError, lambda: over_users([1.0], [0]), "weight")
    refusal(InputError, lambda: utilities(np.ones((1, 2, 2), dtype=int), [2, 1]), "outside")
    refusal(InputError, lambda: utilities(np.ones((1, 2)), [2]), "table, row and attribute")
    refusal(InputError, lambda: utilities(np.zeros((1, 2, 1), dtype=int), [2], weights=[0]), "weight")
    refusal(InputError, lambda: background(np.array([0.5, 0.4])), "sum to 1")
