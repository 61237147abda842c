"""The adversaries' errors: extremes, the paper's numbers, rationals against floats, and the theorems."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from channel_examples import APPENDIX, channels, channels_with_prior, distributions
from hypothesis import given
from hypothesis import strategies as st

from house import Refusal
from sfumato.channel.adversary import (
    adversaries,
    bounds,
    error,
    guesses,
    posterior,
    santhi_vardy,
)
from sfumato.channel.channel import Channel, constant, identity
from sfumato.channel.exact import ExactChannel
from sfumato.channel.prior import distribution
from sfumato.core.errors import InputError

Both = tuple[ExactChannel, list[Fraction]]


def floats(prior: list[Fraction]) -> list[float]:
    return [float(p) for p in prior]


def thin(channel: Channel) -> Channel:
    return Channel(matrix=scipy.sparse.csr_array(channel.matrix))


# --- extremes --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 2, 7])
def test_the_identity_hides_nothing_and_a_constant_everything(size: int) -> None:
    assert error(identity(size)) == pytest.approx(0, abs=1e-15)
    assert error(constant(size)) == pytest.approx(1 - 1 / size)
    prior = np.arange(1, size + 1) / sum(range(1, size + 1))
    assert error(identity(size), prior) == pytest.approx(0, abs=1e-15)
    assert error(constant(size), prior) == pytest.approx(1 - prior.max())
    assert bounds(identity(size)).place == pytest.approx(0 if size > 1 else 1, abs=1e-12)
    assert bounds(constant(size)).place == pytest.approx(1)


def test_a_point_mass_is_always_guessed() -> None:
    for i in range(4):
        assert error(APPENDIX.floats(), np.eye(4)[i]) == pytest.approx(0, abs=1e-15)
        assert APPENDIX.error([int(i == j) for j in range(4)]) == 0


# --- golden ----------------------------------------------------------------------------------------------------------


def test_golden(golden: dict[str, Any]) -> None:
    wanted = golden["askari"]
    channel = ExactChannel(rows=wanted["appendix_channel"])
    made = channel.floats()
    assert error(made) == pytest.approx(wanted["error_uniform"]["value"], abs=1e-15)
    assert round(error(made), 2) == wanted["error_uniform"]["printed"]
    assert float(channel.error()) == pytest.approx(wanted["error_uniform"]["value"], abs=1e-15)
    assert error(made, [1, 0, 0, 0]) == pytest.approx(wanted["error_point_mass"]["value"], abs=1e-15)
    alike = Channel(matrix=np.full((4, 4), 0.25))
    assert error(alike) == wanted["error_uniform_channel_4x4"]["value"]
    assert santhi_vardy(made) == pytest.approx(wanted["santhi_vardy_bound_uniform"]["value"], abs=1e-12)
    assert channel.cells == APPENDIX.cells  # the tests that need no file use the same matrix


def test_four_adversaries_of_the_appendix() -> None:
    found = adversaries(APPENDIX.floats(), [0.7, 0.1, 0.1, 0.1])
    assert (found.neither, found.prior) == (0.75, pytest.approx(0.3))
    assert found.mechanism == pytest.approx(float(Fraction(147, 272)))
    prior = [Fraction(7, 10), *[Fraction(1, 10)] * 3]
    assert found.both == pytest.approx(float(APPENDIX.error(prior)))


# --- rationals and theorems ------------------------------------------------------------------------------------------


@given(channels_with_prior())
def test_floats_agree_with_rationals(both: Both) -> None:
    channel, prior = both
    exact = float(channel.error(prior))
    for made in (channel.floats(), thin(channel.floats())):
        assert error(made, floats(prior)) == pytest.approx(exact, abs=1e-12)
        assert error(made, floats(prior), gain=np.eye(len(prior))) == pytest.approx(exact, abs=1e-12)
        for y in range(made.shape[1]):
            if any(p * row[y] for p, row in zip(prior, channel.cells, strict=True)):
                after = floats(channel.posterior(y, prior))
                assert posterior(made, y, floats(prior)) == pytest.approx(after, abs=1e-12)


@given(channels_with_prior(), st.data())
def test_a_gain_by_its_definition(both: Both, data: st.DataObject) -> None:
    channel, prior = both
    row = st.lists(st.integers(0, 4).map(lambda i: Fraction(i, 4)), min_size=len(prior), max_size=len(prior))
    gain = data.draw(st.lists(row, min_size=1, max_size=4))
    exact = channel.error(prior, gain=gain)
    numbers = np.array(gain, dtype=float)
    for made in (channel.floats(), thin(channel.floats())):
        assert error(made, floats(prior), gain=numbers) == pytest.approx(float(exact), abs=1e-12)
    # what is worth more is guessed better
    more = np.maximum(numbers, np.eye(len(prior))[np.zeros(len(gain), dtype=int)])
    assert error(made, floats(prior), gain=more) <= error(made, floats(prior), gain=numbers) + 1e-12


@given(channels_with_prior(), st.data())
def test_data_processing(both: Both, data: st.DataObject) -> None:
    """A cascade never lowers the error; exactly, in rationals."""
    channel, prior = both
    behind = channel.then(data.draw(channels(inputs=len(channel.cells[0]))))
    assert behind.error(prior) >= channel.error(prior)
    assert error(behind.floats(), floats(prior)) >= error(channel.floats(), floats(prior)) - 1e-12


@given(channels_with_prior(), st.data())
def test_more_to_see_never_raises_the_error(both: Both, data: st.DataObject) -> None:
    channel, prior = both
    other = data.draw(channels(inputs=len(prior), most=3)).floats()
    made = channel.floats()
    assert error(made.beside(other), floats(prior)) <= error(made, floats(prior)) + 1e-12


@given(channels_with_prior(), st.data())
def test_the_error_is_concave_in_prior_and_in_channel(both: Both, data: st.DataObject) -> None:
    channel, prior = both
    other = data.draw(distributions(len(prior)))
    share = Fraction(data.draw(st.integers(0, 4)), 4)
    mixed = [share * a + (1 - share) * b for a, b in zip(prior, other, strict=True)]
    assert channel.error(mixed) >= share * channel.error(prior) + (1 - share) * channel.error(other)
    second = ExactChannel(rows=[data.draw(distributions(len(channel.cells[0]))) for _ in prior])
    cells = [[share * a + (1 - share) * b for a, b in zip(r, s, strict=True)] for r, s in zip(channel.cells, second.cells, strict=True)]  # fmt: skip
    both_made = ExactChannel(rows=cells).error(prior)
    assert both_made >= share * channel.error(prior) + (1 - share) * second.error(prior)


@given(channels_with_prior())
def test_bounds(both: Both) -> None:
    channel, prior = both
    made = channel.floats()
    found = bounds(made)
    assert found.low - 1e-12 <= found.error <= found.high + 1e-12
    assert 0 <= found.place <= 1
    assert error(made, floats(prior)) <= santhi_vardy(made, floats(prior)) + 1e-9
    four = adversaries(made, floats(prior))
    assert four.both <= four.prior + 1e-12  # the release never hurts who guesses
    assert four.mechanism <= four.neither + 1e-12


@given(channels_with_prior())
def test_guesses_reach_the_error(both: Both) -> None:
    channel, prior = both
    pi = np.array(floats(prior))
    for made in (channel.floats(), thin(channel.floats())):
        said = guesses(made, pi)
        right = sum(pi[x] * made.dense()[x, y] for y, x in enumerate(said))
        assert 1 - right == pytest.approx(error(made, pi), abs=1e-12)


def test_product_of_independent_records() -> None:
    """What is guessed right of two records is guessed right of both, independently."""
    channel = APPENDIX.floats()
    both = error(channel.times(channel))
    assert 1 - both == pytest.approx((1 - error(channel)) ** 2)


# --- the weak adversary ----------------------------------------------------------------------------------------------


def test_the_weak_adversary() -> None:
    """Who sees one output, and knows that some inputs are impossible (sec. 3.2)."""
    channel = APPENDIX.floats()
    first = [Fraction(5, 17), Fraction(0), Fraction(15, 28), Fraction(5, 20)]
    assert posterior(channel, 0).max() == pytest.approx(float(max(first) / sum(first)))
    assert posterior(channel, 0, [1 / 3, 1 / 3, 0, 1 / 3]).max() == pytest.approx(
        float(first[0] / (first[0] + first[3]))
    )
    assert posterior(channel, 0, [0.5, 0.5, 0, 0]).max() == 1
    assert posterior(channel, 2).max() == pytest.approx((5 / 35) / (5 / 35 + 3 / 28))
    assert posterior(constant(5), 0).max() == pytest.approx(0.2)


@given(channels_with_prior())
def test_weak_adversaries_make_the_error_together(both: Both) -> None:
    """`sum_y P(y) (1 - max_x P(x|y))` is eq. 5."""
    channel, prior = both
    made, pi = channel.floats(), np.array(floats(prior))
    after = made.outputs_under(pi)
    each = sum(p * (1 - posterior(made, y, pi).max()) for y, p in enumerate(after) if p > 0)
    assert each == pytest.approx(error(made, pi), abs=1e-12)


# --- priors and refusals ---------------------------------------------------------------------------------------------


def test_priors_are_the_same_however_given() -> None:
    channel = Channel(matrix=APPENDIX.floats().matrix, inputs=("a", "b", "c", "d"))
    assert distribution(None, channel).tolist() == distribution("uniform", channel).tolist() == [0.25] * 4
    assert distribution({"b": 0.5, "d": 0.5}, channel).tolist() == [0, 0.5, 0, 0.5]


@pytest.mark.parametrize(
    ("prior", "words"),
    [
        ([0.5, 0.5], "4 inputs"),
        ([0.5, 0.5, 0.5, -0.5], "input 4"),
        ([np.nan, 0.5, 0.5, 0], "input 1"),
        ([0.5, 0.4, 0, 0], "sums to 0.9"),
        ({"Quixotic7741": 1.0}, "1 inputs"),
        ("flat", "uniform"),
        (["x"] * 4, "numbers"),
    ],
)
def test_priors_that_are_none(prior: Any, words: str, refusal: Refusal) -> None:
    refusal(InputError, lambda: error(APPENDIX.floats(), prior), words)


def test_other_refusals(refusal: Refusal) -> None:
    channel = APPENDIX.floats()
    refusal(InputError, lambda: error(channel, gain=np.ones((2, 3))), "gain")
    refusal(InputError, lambda: error(channel, gain=2 * np.eye(4)), "from 0")
    refusal(InputError, lambda: posterior(channel, 4), "outputs 0 to 3")
    refusal(InputError, lambda: posterior(channel, 0, [0, 1, 0, 0]), "Output 1 cannot")
