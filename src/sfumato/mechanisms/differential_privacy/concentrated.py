"""Zero-concentrated differential privacy (zCDP): what Gaussian noise costs, and what that is in epsilon and delta.

rho-zCDP (Bun, Steinke 2016, def. 1.1) bounds the Renyi divergence of order alpha of the results on neighbouring tables by rho alpha, for
every alpha above 1. Costs add up (lemma 1.7). Gaussian noise of deviation s on numbers that a row changes by at most D, in the root of
the sum of squares, costs D^2 / (2 s^2) (prop. 1.6; on whole numbers Canonne, Kamath, Steinke 2020, thm. 4); the exponential mechanism
with epsilon costs epsilon^2 / 8 (Cesar, Rogers 2021). rho-zCDP implies (epsilon, delta) for every epsilon, with

    delta = inf over alpha > 1   exp((alpha - 1)(alpha rho - epsilon)) / (alpha - 1)  (1 - 1/alpha)^alpha                    (1)

(Canonne, Kamath, Steinke 2020, cor. 13), which is below the exp(-(epsilon - rho)^2 / (4 rho)) of Bun and Steinke, prop. 1.3. Any
alpha gives a valid delta, so a coarse search for the best one can cost accuracy, never privacy.
"""

from __future__ import annotations

import math
from fractions import Fraction

SAFE = 1 - 1e-9
"""rho is made smaller by this share: far more than the rounding of (1) in double precision."""


def log_delta(rho: float, epsilon: float) -> float:
    """The logarithm of (1), by golden-section search over log(alpha - 1), in which its logarithm falls and then rises."""

    def at(t: float) -> float:
        above = math.exp(t)
        alpha = 1 + above
        return above * (alpha * rho - epsilon) + alpha * (t - math.log1p(above)) - t

    low, high = -30.0, 30.0
    for _ in range(80):
        third = (high - low) * 0.381966
        if at(low + third) < at(high - third):
            high -= third
        else:
            low += third
    return at((low + high) / 2)


def rho_of(epsilon: Fraction, delta: Fraction) -> Fraction:
    """The largest rho that implies (epsilon, delta), rounded down. Extremes: 0 for no epsilon; it grows with both."""
    low, high = 0.0, 2 * float(epsilon) - math.log(float(delta))  # beyond it even alpha = 2 gives more than delta
    for _ in range(100):
        middle = (low + high) / 2
        if middle > 0 and log_delta(middle, float(epsilon)) <= math.log(float(delta)):
            low = middle
        else:
            high = middle
    return Fraction(low * SAFE)
