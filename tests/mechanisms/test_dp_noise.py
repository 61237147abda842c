"""The noise itself: exact draws under a seed, OpenDP's without, the right scale, and how neighbours can be told apart."""

from __future__ import annotations

import itertools
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
from noise_checks import epsilon_at_least, fits, rejects_other_scales
from scipy import stats

from sfumato.core.errors import InputError
from sfumato.core.randomness import Chance
from sfumato.mechanisms.differential_privacy import exact_draws
from sfumato.mechanisms.differential_privacy import noise as noise_module
from sfumato.mechanisms.differential_privacy.noise import Noise, ceiling, half_width

MANY = 20_000
ZEROS = np.zeros(MANY, dtype=np.int64)


def seeded(seed: int = 1) -> Noise:
    return Noise(np.random.default_rng(seed), "a test")


# --- exact draws ----------------------------------------------------------------------------------------------------


def test_below_is_uniform_and_reaches_both_ends() -> None:
    drawn = exact_draws.below(Chance(np.random.default_rng(0)), 7, 70_000)
    assert stats.chisquare(np.bincount(drawn, minlength=7)).pvalue > 1e-6
    assert set(exact_draws.below(Chance(np.random.default_rng(0)), 1, 5).tolist()) == {0}
    wide = exact_draws.below(
        Chance(np.random.default_rng(0)), 3 * 2**61, 20_000
    )  # a quarter of the bits is drawn again
    assert wide.min() >= 0
    assert wide.max() < 3 * 2**61
    assert abs(np.mean(wide < 2**61) - 1 / 3) < 0.02


@pytest.mark.parametrize(("numerator", "denominator"), [(0, 1), (1, 1), (1, 2), (9, 10), (1, 1000)])
def test_a_coin_falls_on_heads_by_the_exponential(numerator: int, denominator: int) -> None:
    heads = exact_draws.coin(Chance(np.random.default_rng(3)), np.full(50_000, numerator), denominator)
    share = np.exp(-numerator / denominator)
    assert abs(heads.mean() - share) <= 5 * np.sqrt(share * (1 - share) / len(heads))


@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(1), Fraction(10, 3), Fraction(164), Fraction(12345.678)])
def test_seeded_draws_have_their_scale_and_no_other(scale: Fraction) -> None:
    drawn = exact_draws.discrete_laplace(Chance(np.random.default_rng(5)), scale, MANY)
    assert fits(drawn, float(scale))
    assert rejects_other_scales(drawn, float(scale))


def test_scales_too_long_for_64_bits_are_rounded_up_not_down() -> None:
    for scale in (Fraction(1, 2**60) + 3, Fraction(2**60 + 1, 2**59), Fraction(1e-9)):
        t, s = exact_draws._small(scale)
        assert Fraction(t, s) >= scale
        assert max(t, s) < 2**56


def permute_and_flip(scores: list[int], scale: float) -> list[float]:
    """Its probabilities by enumeration of every order."""
    heads = [np.exp((s - max(scores)) / scale) for s in scores]
    found = [0.0] * len(scores)
    orders = list(itertools.permutations(range(len(scores))))
    for order in orders:
        left = 1.0
        for i in order:
            found[i] += left * heads[i] / len(orders)
            left *= 1 - heads[i]
    return found


@pytest.mark.full
@pytest.mark.parametrize("source", ["seeded", "opendp"])
def test_choices_have_the_probabilities_of_permute_and_flip(source: str) -> None:
    scores = np.array([0, 3, 2, -4])
    noise = seeded() if source == "seeded" else Noise(None, "a test")
    drawn = [noise.choose(scores, sensitivity=1, epsilon=Fraction(1, 2), monotone=True)[0] for _ in range(4000)]
    expected = np.array(permute_and_flip(scores.tolist(), 2.0)) * len(drawn)
    assert stats.chisquare(np.bincount(drawn, minlength=4), expected).pvalue > 1e-6
    halved = np.array(permute_and_flip(scores.tolist(), 4.0)) * len(drawn)  # as without monotone
    assert stats.chisquare(np.bincount(drawn, minlength=4), halved).pvalue < 1e-6


def test_scores_that_do_not_move_together_need_twice_the_noise() -> None:
    scores, epsilon = np.array([5, 1]), Fraction(1, 2)
    assert seeded().choose(scores, sensitivity=3, epsilon=epsilon, monotone=True)[1] == 6
    assert seeded().choose(scores, sensitivity=3, epsilon=epsilon, monotone=False)[1] == 12


def test_a_hopeless_candidate_is_not_chosen_and_a_lone_one_is() -> None:
    for noise in (seeded(), Noise(None, "a test")):
        assert noise.choose(np.array([0, 10**9]), sensitivity=1, epsilon=Fraction(1), monotone=True)[0] == 1
        assert noise.choose(np.array([-7]), sensitivity=1, epsilon=Fraction(1), monotone=False)[0] == 0


# --- the scale --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("source", ["seeded", "opendp"])
@pytest.mark.parametrize(("sensitivity", "epsilon"), [(1, Fraction(1)), (82, Fraction(1, 2)), (15, Fraction(3))])
def test_noise_has_scale_sensitivity_over_epsilon(source: str, sensitivity: int, epsilon: Fraction) -> None:
    noise = seeded() if source == "seeded" else Noise(None, "a test")
    drawn, scale = noise.laplace(ZEROS, sensitivity=sensitivity, epsilon=epsilon)
    assert scale == pytest.approx(sensitivity / float(epsilon))
    assert fits(drawn, scale)
    assert rejects_other_scales(drawn, scale)


@pytest.mark.parametrize("off", [Fraction(13, 10), Fraction(10, 13), Fraction(7, 10)])
def test_a_scale_that_is_30_percent_off_is_noticed(off: Fraction, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test of the test: the same check says no when the mechanism is wrong."""
    right = noise_module.scale_of
    monkeypatch.setattr(noise_module, "scale_of", lambda sensitivity, epsilon: off * right(sensitivity, epsilon))
    drawn, _ = seeded().laplace(ZEROS, sensitivity=82, epsilon=Fraction(1, 2))
    assert not fits(drawn, 164.0)


def test_less_noise_than_promised_is_refused_by_opendps_own_account(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(noise_module, "scale_of", lambda sensitivity, epsilon: Fraction(sensitivity) / epsilon / 2)
    with pytest.raises(AssertionError, match="OpenDP accounts epsilon"):
        Noise(None, "a test").laplace(ZEROS, sensitivity=1, epsilon=Fraction(1))
    with pytest.raises(AssertionError, match="OpenDP accounts epsilon"):
        Noise(None, "a test").choose(ZEROS[:3], sensitivity=1, epsilon=Fraction(1), monotone=True)


def test_rounding_only_ever_adds_noise() -> None:
    for x in (Fraction(1, 3), Fraction(10**17 + 1), Fraction(1, 10), Fraction(5)):
        assert Fraction(ceiling(x)) >= x
        assert ceiling(x) == pytest.approx(float(x), rel=1e-15)


@pytest.mark.parametrize("scale", [0.05, 0.5, 1.0, 5.0, 820.0])
@pytest.mark.parametrize("beta", [0.5, 0.05, 0.001])
def test_half_width_is_the_least_that_covers(scale: float, beta: float) -> None:
    k, law = half_width(scale, beta), stats.dlaplace(1 / scale)
    assert 2 * law.sf(k) <= beta * (1 + 1e-9)
    assert k == 0 or 2 * law.sf(k - 1) > beta * (1 - 1e-9)


def test_a_scale_beyond_64_bits_is_refused() -> None:
    with pytest.raises(InputError, match="more noise than 64-bit numbers hold"):
        seeded().laplace(ZEROS[:1], sensitivity=2**32, epsilon=Fraction(1, 10**9))


# --- telling neighbours apart -------------------------------------------------------------------------------------------


def test_the_distinguishing_test_finds_the_epsilon_of_a_count_and_not_more() -> None:
    for noise in (seeded(), Noise(None, "a test")):
        one, _ = noise.laplace(ZEROS, sensitivity=1, epsilon=Fraction(1))
        other, _ = noise.laplace(ZEROS + 1, sensitivity=1, epsilon=Fraction(1))
        assert 0.75 < epsilon_at_least(one, other) <= 1
        assert epsilon_at_least(one, one) == 0


def test_progress_and_seed() -> None:
    told: list[float] = []
    many = np.zeros(noise_module.CHUNK + 1, dtype=np.int64)
    drawn, _ = seeded().laplace(many, sensitivity=1, epsilon=Fraction(1), progress=told.append)
    again, _ = seeded().laplace(many, sensitivity=1, epsilon=Fraction(1))
    assert np.array_equal(drawn, again)
    assert told[-1] == 1
    assert len(told) == 2
    assert not np.array_equal(drawn, seeded(2).laplace(many, sensitivity=1, epsilon=Fraction(1))[0])
    empty, _ = seeded().laplace(many[:0], sensitivity=1, epsilon=Fraction(1))
    assert len(empty) == 0


# --- OpenDP is optional ---------------------------------------------------------------------------------------------


def test_without_opendp_one_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opendp", None)
    with pytest.raises(
        InputError, match=r"^dp_statistics draws its noise .* opendp, which is not installed; install sfumato"
    ):
        Noise(None, "dp_statistics")
    seeded()  # a seed needs no OpenDP


def test_opendp_is_loaded_only_for_noise() -> None:
    code = (
        "import sys; from sfumato.mechanisms import registry; [m.card for m in registry().values()]; "
        "assert 'opendp' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
