"""The largest error over all priors: closed forms, the paper's channel, certificates, and scale."""

from __future__ import annotations

import builtins
import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse
from channel_examples import APPENDIX, channels, channels_with_prior
from hypothesis import given
from hypothesis import strategies as st

from sfumato.channel.adversary import bounds, error
from sfumato.channel.channel import Channel, constant, identity
from sfumato.channel.exact import ExactChannel
from sfumato.channel.mechanisms import generalization, pram
from sfumato.channel.worst_prior import WorstPrior, worst_prior
from sfumato.core.errors import InputError, Unavailable


def sparse_channel(inputs: int, outputs: int, entries: int, seed: int = 0) -> Channel:
    rng = np.random.default_rng(seed)
    row = np.repeat(np.arange(inputs), entries)
    matrix = scipy.sparse.csr_array(
        (rng.exponential(size=len(row)), (row, rng.integers(0, outputs, len(row)))), shape=(inputs, outputs)
    )
    matrix.sum_duplicates()
    return Channel(matrix=scipy.sparse.diags_array(1 / matrix.sum(axis=1)) @ matrix)


def check(channel: Channel, found: WorstPrior) -> None:
    """The certificate, from its parts: a prior, and a way to guess that is right so often whatever the input is."""
    assert found.prior.min() >= 0
    assert found.prior.sum() == pytest.approx(1)
    assert error(channel, found.prior) == pytest.approx(found.low, abs=1e-12)
    row, column, value = channel.entries
    assert found.guess.min() >= 0
    said = np.bincount(column, weights=found.guess, minlength=channel.shape[1])
    part, of_output = channel.parts
    right = np.bincount(row, weights=found.guess * value, minlength=channel.shape[0])
    occurs = np.isin(np.arange(channel.shape[1]), column)
    blind = np.isin(of_output, np.unique(of_output[occurs & (said == 0)]))
    assert said[occurs & ~blind] == pytest.approx(1)
    guessed = np.isin(part, np.unique(of_output[occurs & ~blind]))
    right[~guessed] = 1 / np.bincount(part)[part[~guessed]]
    assert right == pytest.approx(found.right)
    assert 1 - right.min() <= found.high + 1e-12
    assert found.low <= found.high


# --- extremes and closed forms ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 2, 9])
def test_extremes(size: int) -> None:
    assert worst_prior(identity(size)).error == 0
    found = worst_prior(constant(size))
    assert found.error == pytest.approx(1 - 1 / size)
    assert found.prior == pytest.approx(np.full(size, 1 / size))
    assert found.exactness == "exact"


def test_pram_is_worst_at_the_uniform_prior() -> None:
    found = worst_prior(pram(7, 0.4))
    assert found.error == pytest.approx(0.6)
    assert found.prior == pytest.approx(np.full(7, 1 / 7))


def test_a_generalization_is_as_hard_as_its_largest_group() -> None:
    channel = generalization(9, [[0, 1], [2, 3, 4, 5], [6, 7, 8]])
    found = worst_prior(channel)
    assert found.error == pytest.approx(0.75)
    assert found.prior.tolist() == [0, 0, 0.25, 0.25, 0.25, 0.25, 0, 0, 0]
    assert found.solver == "closed form"
    check(channel, found)


def test_golden(golden: dict[str, Any]) -> None:
    wanted = golden["askari"]["worst_prior_error"]["value"]
    channel = APPENDIX.floats()
    for solver in ("ipm", "simplex", "clarabel"):
        found = worst_prior(channel, solver=solver)  # type: ignore[arg-type]
        assert found.error == pytest.approx(wanted, abs=1e-9)
        assert found.prior == pytest.approx([0.21545, 0.25347, 0.16898, 0.36210], abs=5e-6)
        assert found.exactness == "exact"
        check(channel, found)


def test_two_inputs_by_hand() -> None:
    """`max(p a, (1-p) b) + max(p (1-a), (1-p)(1-b))` with a = 0.9, b = 0.3 is least where p 0.9 = (1-p) 0.3 or p 0.1 = (1-p) 0.7."""
    channel = Channel(matrix=[[0.9, 0.1], [0.3, 0.7]])
    candidates = [0.25, 0.875, 0.0, 1.0]
    best = max(error(channel, [p, 1 - p]) for p in candidates)
    found = worst_prior(channel)
    assert found.error == pytest.approx(best)
    grid = [error(channel, [p, 1 - p]) for p in np.linspace(0, 1, 10_001)]
    assert found.error >= max(grid) - 1e-12


# --- theorems and an oracle ------------------------------------------------------------------------------------------


@given(channels_with_prior())
def test_no_prior_has_a_larger_error(both: tuple[ExactChannel, list[Fraction]]) -> None:
    channel, prior = both
    made = channel.floats()
    found = worst_prior(made)
    assert error(made, [float(p) for p in prior]) <= found.high + 1e-9
    assert error(made) <= found.high + 1e-9
    assert found.exactness == "exact"
    assert found.high <= bounds(made).high + 1e-9
    check(made, found)
    thin = Channel(matrix=scipy.sparse.csr_array(made.matrix))
    assert worst_prior(thin).error == pytest.approx(found.error, abs=1e-8)


@given(channels())
def test_against_scipy(channel: ExactChannel) -> None:
    """The linear program written down once more, dense and by another way in."""
    cells = np.array(channel.cells, dtype=float)
    n, m = cells.shape
    above = np.array([[-(cells[x, y]) * (i == x) for i in range(n)] + [float(j == y) for j in range(m)] for x in range(n) for y in range(m)])  # fmt: skip
    solved = scipy.optimize.linprog(
        [0.0] * n + [1.0] * m,
        A_ub=-above,
        b_ub=np.zeros(n * m),
        A_eq=[[1.0] * n + [0.0] * m],
        b_eq=[1.0],
        method="highs-ds",
    )
    assert worst_prior(channel.floats()).error == pytest.approx(1 - solved.fun, abs=1e-9)


@given(st.data())
def test_a_cascade_is_never_easier(data: st.DataObject) -> None:
    first = data.draw(channels())
    behind = first.then(data.draw(channels(inputs=len(first.cells[0]))))
    assert worst_prior(behind.floats()).error >= worst_prior(first.floats()).error - 1e-8


def test_inputs_of_equal_rows_share() -> None:
    rows = np.repeat(np.random.default_rng(5).dirichlet(np.ones(4), size=3), [5, 1, 9], axis=0)
    channel = Channel(matrix=rows[np.random.default_rng(0).permutation(15)])
    found = worst_prior(channel)
    check(channel, found)
    assert found.exactness == "exact"
    solved = worst_prior(channel, gain=np.eye(15))  # knows nothing of equal rows
    assert found.error == pytest.approx(solved.error, abs=1e-8)


def test_parts_are_looked_at_together() -> None:
    blocks = [np.random.default_rng(i).dirichlet(np.ones(3), size=4) for i in range(6)]
    channel = Channel(matrix=scipy.sparse.block_diag(blocks))
    found = worst_prior(channel)
    alone = [worst_prior(Channel(matrix=block)).error for block in blocks]
    assert found.error == pytest.approx(max(alone), abs=1e-9)
    check(channel, found)


@given(channels(most=4), st.data())
def test_a_gain(channel: ExactChannel, data: st.DataObject) -> None:
    made = channel.floats()
    n = made.shape[0]
    gain = np.array(data.draw(st.lists(st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=n, max_size=n), min_size=1, max_size=4)))  # fmt: skip
    found = worst_prior(made, gain=gain)
    assert error(made, found.prior, gain=gain) == pytest.approx(found.low, abs=1e-12)
    assert found.gap <= 1e-7
    right = np.einsum("xy,wy,wx->x", made.dense(), found.guess, gain)
    assert 1 - right.min() <= found.high + 1e-12
    for prior in np.eye(n):
        assert error(made, prior, gain=gain) <= found.high + 1e-9


def test_a_gain_with_several_best_guesses_is_certified() -> None:
    one_output = ExactChannel(rows=((Fraction(1),), (Fraction(1),))).floats()
    found = worst_prior(one_output, gain=np.array([[1.0, 0.5], [0.0, 0.5]]))
    assert (found.low, found.high) == pytest.approx((0.5, 0.5))


def test_the_identity_gain_is_no_gain() -> None:
    channel = APPENDIX.floats()
    assert worst_prior(channel, gain=np.eye(4)).error == pytest.approx(worst_prior(channel).error, abs=1e-9)


# --- solvers, certificates and scale ---------------------------------------------------------------------------------


def test_whatever_the_solver_says_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    """A solver that returns nonsense leaves a wide interval, in which the truth lies."""
    from sfumato.channel import linear_program
    from sfumato.channel import worst_prior as module

    def nonsense(cost: Any, rows: Any, *more: Any, **settings: Any) -> linear_program.Solution:
        rng = np.random.default_rng(1)
        return linear_program.Solution(rng.normal(size=rows.shape[1]), rng.normal(size=rows.shape[0]), "Optimal")

    truth = worst_prior(APPENDIX.floats()).error
    monkeypatch.setattr(module, "minimise", nonsense)
    found = worst_prior(APPENDIX.floats())
    assert found.exactness == "bound"
    assert found.low <= truth <= found.high
    check(APPENDIX.floats(), found)


@pytest.mark.parametrize("solver", ["game", "pdlp"])
def test_a_first_order_method_leaves_an_interval(solver: Any) -> None:
    channel = sparse_channel(300, 300, 6)
    found = worst_prior(channel, solver=solver)
    sure = worst_prior(channel)
    check(channel, found)
    assert sure.exactness == "exact"
    assert (found.exactness, found.solver) == ("bound", solver)
    assert found.low - 1e-9 <= sure.error <= found.high + 1e-9
    assert found.gap < (1e-4 if solver == "game" else 0.05)


@pytest.mark.parametrize(("inputs", "outputs", "entries"), [(400, 40, 3), (40, 400, 30), (200, 200, 2)])
def test_the_game_on_other_shapes(inputs: int, outputs: int, entries: int) -> None:
    channel = sparse_channel(inputs, outputs, entries)
    found, sure = worst_prior(channel, solver="game"), worst_prior(channel)
    check(channel, found)
    assert found.low - 1e-9 <= sure.error <= found.high + 1e-9
    assert found.gap < 1e-3


def test_the_game_ends_when_time_is_up() -> None:
    channel = sparse_channel(500, 500, 10)
    found = worst_prior(channel, solver="game", tolerance=1e-15, seconds=0.5)
    check(channel, found)
    assert found.exactness == "bound"


def test_large_channels_are_played(monkeypatch: pytest.MonkeyPatch) -> None:
    from sfumato.channel import worst_prior as module

    monkeypatch.setattr(module, "INTERIOR", 100)
    channel = sparse_channel(6_000, 6_000, 3)
    found = worst_prior(channel, tolerance=0.05)
    assert found.solver == "game"
    check(channel, found)
    assert found.gap <= 0.05


def test_two_thousand_inputs() -> None:
    channel = sparse_channel(2_000, 2_000, 10)
    start = time.process_time()
    found = worst_prior(channel)
    assert time.process_time() - start < 60
    assert found.exactness == "exact"
    check(channel, found)


def test_without_the_solver_one_sentence_says_so(monkeypatch: pytest.MonkeyPatch, refusal: Callable[..., str]) -> None:
    real = builtins.__import__

    def without(name: str, *more: Any, **kwargs: Any) -> Any:
        if name == "highspy":
            raise ImportError(name)
        return real(name, *more, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    refusal(Unavailable, lambda: worst_prior(APPENDIX.floats()), "highspy", "sfumato[channel]")
    assert worst_prior(constant(3)).error == pytest.approx(2 / 3)  # needs none


def test_refusals(refusal: Callable[..., str]) -> None:
    refusal(InputError, lambda: worst_prior(identity(300), gain=np.eye(300)), "small channels")
    refusal(InputError, lambda: worst_prior(identity(3), gain=np.eye(2)), "gain")
    refusal(InputError, lambda: worst_prior(identity(3), gain=np.eye(3), solver="game"), "gain function")
