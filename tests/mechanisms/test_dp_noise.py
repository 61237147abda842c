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

from house import rng
from sfumato.core.errors import InputError
from sfumato.core.randomness import Chance
from sfumato.mechanisms.differential_privacy import exact_draws
from sfumato.mechanisms.differential_privacy import noise as noise_module
from sfumato.mechanisms.differential_privacy.concentrated import rho_of
from sfumato.mechanisms.differential_privacy.noise import Noise, ceiling, deviation, half_width, opendp

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


# --- Gaussian noise and zero-concentrated accounting -------------------------------------------------------------------


def surely_more_than(delta: float, one: np.ndarray, other: np.ndarray, epsilon: float) -> bool:
    """Whether some event "at least t" is surely likelier under one table than e^epsilon times the other's, plus delta."""
    for t in np.unique(one):
        low = stats.beta.ppf(1e-6, (one >= t).sum(), (one < t).sum() + 1)
        high = stats.beta.ppf(1 - 1e-6, (other >= t).sum() + 1, (other < t).sum())
        if low > delta + np.exp(epsilon) * high:
            return True
    return False


@pytest.mark.parametrize("source", ["seeded", "opendp"])
@pytest.mark.parametrize(("epsilon", "delta"), [(3.0, 0.05), (4.0, 0.1)])
def test_gaussian_noise_keeps_epsilon_and_delta_and_half_of_epsilon_would_be_a_lie(
    source: str, epsilon: float, delta: float
) -> None:
    noise = seeded() if source == "seeded" else Noise(None, "a test")
    rho = rho_of(Fraction(repr(epsilon)), Fraction(repr(delta)))
    one = noise.gaussian(ZEROS + 1, sensitivity=1, rho=rho)
    other = noise.gaussian(ZEROS, sensitivity=1, rho=rho)
    assert not surely_more_than(delta, one, other, epsilon)
    assert surely_more_than(delta, one, other, epsilon / 2)
    three = Noise(None if source == "opendp" else rng(2), "a test", rows=3)  # a person with three rows
    assert not surely_more_than(
        delta, three.gaussian(ZEROS + 3, sensitivity=1, rho=rho), three.gaussian(ZEROS, sensitivity=1, rho=rho), epsilon
    )


@pytest.mark.parametrize("source", ["seeded", "opendp"])
@pytest.mark.parametrize("rho", [Fraction(2), Fraction(1, 50), Fraction(1, 20_000)])
def test_gaussian_noise_has_its_deviation_and_no_other(source: str, rho: Fraction) -> None:
    noise = seeded() if source == "seeded" else Noise(None, "a test")
    drawn, scale = noise.gaussian(ZEROS, sensitivity=2, rho=rho), deviation(2, rho)
    assert scale == pytest.approx(2 / np.sqrt(2 * float(rho)))
    whole = np.arange(-12 * round(scale) - 12, 12 * round(scale) + 13)

    def fits_with(off: float) -> bool:
        mass = np.exp(-(whole**2) / (2 * (off * scale) ** 2))
        reached = np.cumsum(mass / mass.sum())
        edges = np.unique(np.searchsorted(reached, np.linspace(0, 1, 22)[1:-1]))
        expected = np.diff(np.concatenate([[0.0], reached[edges], [1.0]])) * MANY
        seen = np.bincount(np.searchsorted(whole[edges], drawn, side="left"), minlength=len(edges) + 1)
        return bool(stats.chisquare(seen, expected).pvalue > 1e-6)

    assert fits_with(1.0)
    assert not any(fits_with(off) for off in (1.3, 1 / 1.3, 0.7))


def test_rho_is_what_opendp_says_that_epsilon_and_delta_buy() -> None:
    """Its own conversion, Canonne, Kamath and Steinke's as ours, gives the epsilon back: never more, less by a billionth at most."""
    combinators = pytest.importorskip("opendp.combinators")
    dp = opendp("a test")
    for epsilon, delta in ((0.1, 1e-5), (1.0, 1e-9), (10.0, 1e-5), (0.01, 1e-3), (3.0, 0.4)):
        rho = rho_of(Fraction(repr(epsilon)), Fraction(repr(delta)))
        measurement = dp.make_gaussian(dp.integers, dp.l2, scale=(1 / (2 * float(rho))) ** 0.5)
        back = combinators.make_zCDP_to_approxDP(measurement).map(1.0).epsilon(delta)
        assert epsilon * (1 - 1e-8) <= back <= epsilon
        bun_steinke = float(rho) + 2 * np.sqrt(float(rho) * np.log(1 / delta))  # prop. 1.3, which is larger
        assert bun_steinke > epsilon


def test_less_gaussian_noise_than_paid_for_is_refused_by_opendps_own_account(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        noise_module, "deviation", lambda sensitivity, rho: sensitivity / (2 * float(rho)) ** 0.5 / 1.01
    )
    with pytest.raises(AssertionError, match="OpenDP accounts rho"):
        Noise(None, "a test").gaussian(ZEROS, sensitivity=1, rho=Fraction(1))
    with pytest.raises(AssertionError, match="OpenDP accounts rho"):
        Noise(None, "a test").choose_exponentially(ZEROS[:3], sensitivity=1, rho=Fraction(1))


@pytest.mark.full
@pytest.mark.parametrize("source", ["seeded", "opendp"])
def test_exponential_choices_have_the_probabilities_of_the_exponential_mechanism(source: str) -> None:
    scores = np.array([0, 3, 2, -4])
    noise, rho = seeded() if source == "seeded" else Noise(None, "a test"), Fraction(1, 8)  # epsilon 1: exp(score / 2)
    drawn = [noise.choose_exponentially(scores, sensitivity=1, rho=rho) for _ in range(4000)]
    for divisor, fits_it in ((2.0, True), (4.0, False), (1.0, False)):
        weights = np.exp(scores / divisor)
        p = stats.chisquare(np.bincount(drawn, minlength=4), weights / weights.sum() * len(drawn)).pvalue
        assert bool(p > 1e-6) is fits_it


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
