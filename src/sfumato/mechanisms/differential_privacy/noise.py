"""Noise for privacy: whole numbers from OpenDP, never floating point; under a seed, exact draws on seeded bits, for tests.

Floating-point noise lets out which values are representable (Mironov 2012), so nothing here rounds a real draw: OpenDP and
`exact_draws` both sample the two-sided geometric distribution P(z) ~ exp(-|z|/scale) exactly, which is the Laplace mechanism on
whole numbers (Ghosh, Roughgarden, Sundararajan 2009); OpenDP samples the normal distribution on whole numbers, P(z) ~ exp(-z^2/(2 s^2)), as
exactly (Canonne, Kamath, Steinke 2020). Reals are put on a grid before. 10 us a draw.
"""

from __future__ import annotations

import math
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np

from ...core.column import IntArray
from ...core.errors import InputError
from ...core.mechanism import Progress, unheard
from ...core.randomness import Chance
from . import exact_draws

SEEDED = (
    "Seeded: the noise is for tests only, and no differential privacy is promised against someone who has the seed."
)
CHUNK = 100_000
"""Draws in one call, so that progress can be told."""


def scale_of(sensitivity: int, epsilon: Fraction) -> Fraction:
    """The scale of the noise, sensitivity/epsilon. (The survey, 4.2, prints its inverse as the bound.)"""
    return Fraction(sensitivity) / epsilon


def deviation(sensitivity: int, rho: Fraction) -> float:
    """That of Gaussian noise, sensitivity / sqrt(2 rho), rounded up."""
    return math.nextafter(sensitivity / math.sqrt(2 * float(rho)) * (1 + 1e-12), math.inf)


def ceiling(x: Fraction) -> float:
    """The smallest float that is at least x: rounding may only ever add noise."""
    near = float(x)
    return near if Fraction(near) >= x else math.nextafter(near, math.inf)


def half_width(scale: float, beta: float) -> int:
    """The least k with P(|Z| > k) <= beta for noise Z of this scale: P(|Z| > k) = 2 q^(k+1) / (1 + q), q = exp(-1/scale)."""
    q = math.exp(-1 / scale)
    if q == 0:
        return 0
    return max(0, math.ceil(scale * math.log(2 / (beta * (1 + q)))) - 1)


class Noise:
    """Draws for one release; `rng` is a seeded generator, or None for OpenDP, which takes the system's source.

    `rows` is how many rows neighbouring tables may differ by. Every sensitivity given below is that to one row, added or removed, and is
    multiplied by it: along a chain of tables that each have one row more than the last, what a row changes adds up, in the sum of absolute
    differences as in the largest one, whichever cells the rows are in; and a row added changes all of some scores the same way if each
    on the chain does.
    """

    def __init__(self, rng: np.random.Generator | None, who: str, rows: int = 1) -> None:
        self.chance, self.rows = Chance(rng), rows
        self._dp: Any = opendp(who) if rng is None else None

    @property
    def notes(self) -> tuple[str, ...]:
        """What a release must say of its randomness."""
        return self.chance.notes

    @property
    def word(self) -> str:
        """How a promise begins: what cannot be measured is never said to be, and under a seed it is not even promised."""
        if self._dp is not None:
            return "Promised by construction, not measured"
        return "Seeded, so that the noise is for tests and nothing is promised; without the seed, by construction"

    def laplace(
        self, values: IntArray, *, sensitivity: int, epsilon: Fraction, progress: Progress = unheard
    ) -> tuple[IntArray, float]:
        """Values with noise of scale sensitivity/epsilon each, and that scale.

        `sensitivity` is how much one row may change all values together, by the sum of absolute differences.
        """
        sensitivity *= self.rows
        scale = ceiling(scale_of(sensitivity, epsilon))
        if not math.isfinite(scale) or scale > 2**53:
            raise InputError("An epsilon this small for bounds this wide needs more noise than 64-bit numbers hold.")
        parts = []
        for at in range(0, len(values), CHUNK):
            parts.append(self._laplace(values[at : at + CHUNK], scale, sensitivity, epsilon))
            progress(min(1.0, (at + CHUNK) / len(values)))
        return np.concatenate(parts) if parts else values.copy(), scale

    def _laplace(self, values: IntArray, scale: float, sensitivity: int, epsilon: Fraction) -> IntArray:
        if self._dp is None:
            return values + exact_draws.discrete_laplace(self.chance, Fraction(scale), len(values))
        measurement = self._dp.make_laplace(self._dp.integers, self._dp.l1, scale=scale)
        _within(measurement.map(sensitivity), epsilon)
        return np.array(measurement(values.tolist()), dtype=np.int64)

    def choose(self, scores: IntArray, *, sensitivity: int, epsilon: Fraction, monotone: bool) -> tuple[int, float]:
        """A position whose score is about the largest, and the scale of the noise.

        Permute-and-flip (McKenna, Sheldon 2020), which is report noisy max with exponential noise (Ding et al. 2021) and never
        worse than the exponential mechanism of McSherry and Talwar 2007. `monotone`: a row added changes all scores the
        same way, which halves the noise. `sensitivity` is how much one row may change the score that it changes most.
        """
        sensitivity *= self.rows
        scale = ceiling(scale_of(sensitivity if monotone else 2 * sensitivity, epsilon))
        if self._dp is None:
            return exact_draws.permute_and_flip(self.chance, scores, Fraction(scale)), scale
        dp = self._dp
        measurement = dp.make_noisy_max(dp.integers, dp.farthest(monotone), dp.divergence, scale=scale)
        _within(measurement.map(sensitivity), epsilon)
        return int(measurement(scores.tolist())), scale

    def gaussian(self, values: IntArray, *, sensitivity: int, rho: Fraction) -> IntArray:
        """Values with Gaussian noise on whole numbers, of deviation sensitivity/sqrt(2 rho).

        `sensitivity` is how much one row may change all values together, by the root of the sum of squared differences: of several rows
        that is at most the sum of what each changes.
        """
        sensitivity *= self.rows
        scale = deviation(sensitivity, rho)
        if not scale < 2**40:
            raise InputError("An epsilon this small needs more noise than 64-bit numbers hold.")
        if self._dp is None:
            return values + exact_draws.discrete_gaussian(self.chance, scale, len(values))
        measurement = self._dp.make_gaussian(self._dp.integers, self._dp.l2, scale=scale)
        _within(measurement.map(float(sensitivity)), rho, "rho")
        return np.array(measurement(values.tolist()), dtype=np.int64)

    def choose_exponentially(self, scores: IntArray, *, sensitivity: int, rho: Fraction) -> int:
        """A position with probability ~ exp(score / scale): the exponential mechanism (McSherry, Talwar 2007), drawn as the largest score
        with Gumbel noise. Its epsilon, 2 sensitivity / scale, costs epsilon^2 / 8 of rho: the scale is sensitivity / sqrt(2 rho).
        """
        sensitivity *= self.rows
        scale = deviation(sensitivity, rho)
        if self._dp is None:
            return exact_draws.exponential_choice(self.chance, scores, Fraction(scale))
        dp = self._dp
        measurement = dp.make_noisy_max(dp.integers, dp.farthest(False), dp.concentrated, scale=scale)
        _within(measurement.map(sensitivity), rho, "rho")
        return int(measurement(scores.tolist()))


def _within(promised: float, paid: Fraction, coin: str = "epsilon") -> None:
    """OpenDP's own account of a measurement must agree with ours, its upward rounding aside."""
    if promised > float(paid) * (1 + 1e-9):
        raise AssertionError(f"OpenDP accounts {coin} {promised} where {float(paid)} was to be spent")


def opendp(who: str) -> Any:
    """The few parts of OpenDP that are used, imported when noise is first needed: its prelude would load polars, too."""
    try:
        from opendp import domains, measurements, measures, metrics, mod
    except ImportError:
        raise InputError(
            f"{who} draws its noise with the package opendp, which is not installed; install sfumato[dp]."
        ) from None
    mod.enable_features("contrib")
    return SimpleNamespace(
        integers=domains.vector_domain(domains.atom_domain(T="i64")),
        l1=metrics.l1_distance(T="i64"),
        l2=metrics.l2_distance(T="f64"),
        farthest=lambda monotone: metrics.linf_distance(monotonic=monotone, T="i64"),
        divergence=measures.max_divergence(),
        concentrated=measures.zero_concentrated_divergence(),
        make_laplace=measurements.make_laplace,
        make_gaussian=measurements.make_gaussian,
        make_noisy_max=measurements.make_noisy_max,
    )
