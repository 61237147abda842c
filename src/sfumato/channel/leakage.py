"""What a channel tells about its input: min-entropy leakage, Bayes capacity, mutual information and Shannon capacity.

The same verbs for both families, in the words of quantitative information flow: what is known before, what after, the
difference and the ratio, and the most over all priors. Probabilities have no unit; entropies are in bits.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core.column import FloatArray
from ..core.errors import InputError
from ..core.metric import Exactness
from ..core.noun import dataclass
from .channel import Channel
from .prior import Prior, distribution

CLOSED = 1e-9
"""A gap between an upper and a lower bound that counts as none."""


def vulnerability(channel: Channel, prior: Prior = None) -> float:
    """`sum_y max_x pi_x C_xy`: how often the best guess after the release is right, 1 - error (eq. 5)."""
    return min(float(channel.largest(distribution(prior, channel)).sum()), 1.0)


def additive_leakage(channel: Channel, prior: Prior = None) -> float:
    """How much more often the best guess is right with the release than without: 0 for a constant channel."""
    pi = distribution(prior, channel)
    return max(vulnerability(channel, pi) - float(pi.max()), 0.0)


def multiplicative_leakage(channel: Channel, prior: Prior = None) -> float:
    """How many times more often the best guess is right with the release than without: 1 for a constant channel."""
    pi = distribution(prior, channel)
    return max(vulnerability(channel, pi) / float(pi.max()), 1.0)


def min_entropy_leakage(channel: Channel, prior: Prior = None) -> float:
    """`H_inf(X) - H_inf(X|Y)` in bits, the logarithm of the multiplicative leakage: log2 n for the identity, uniform prior."""
    return math.log2(multiplicative_leakage(channel, prior))


def bayes_capacity(channel: Channel) -> float:
    """`sum_y max_x C_xy`: the largest multiplicative leakage over all priors, which the uniform one attains.

    From 1, for a channel whose rows are equal, to the lesser of inputs and outputs.
    """
    return float(channel.largest().sum())


def entropy(prior: FloatArray) -> float:
    """H in bits."""
    p = prior[prior > 0]
    return max(float(-(p * np.log2(p)).sum()), 0.0)


def conditional_entropy(channel: Channel, prior: Prior = None) -> float:
    """`H(X|Y)` in bits: what is still unknown of the input on average once the output is seen."""
    pi = distribution(prior, channel)
    return max(entropy(pi) - mutual_information(channel, pi), 0.0)


def mutual_information(channel: Channel, prior: Prior = None) -> float:
    """`I(X;Y) = sum_xy pi_x C_xy log2 (C_xy / P(y))` in bits: 0 iff nothing is told, H(X) iff everything is."""
    pi = distribution(prior, channel)
    row, column, value = channel.entries
    joint = pi[row] * value
    there = joint > 0
    after = channel.outputs_under(pi)[column[there]]
    bits = float((joint[there] * np.log2(value[there] / after)).sum())
    return min(max(bits, 0.0), entropy(pi))


@dataclass(frozen=True, eq=False)
class Capacity:
    """`low <= capacity <= high` in bits, both proved by the numbers themselves; `prior` attains `low`."""

    low: float
    high: float
    prior: FloatArray
    rounds: int

    @property
    def value(self) -> float:
        """What was reached."""
        return self.low

    @property
    def exactness(self) -> Exactness:
        """Exact once the bounds meet within 1e-9 bits."""
        return "exact" if self.high - self.low <= CLOSED else "bound"


def capacity(channel: Channel, *, gap: float = 1e-6, rounds: int = 20_000) -> Capacity:
    """`max_pi I(X;Y)` by Blahut and Arimoto's iteration, until the bounds are `gap` apart or after so many rounds.

    With `D_x = sum_y C_xy log2 (C_xy / P(y))` every prior gives `I = sum_x pi_x D_x <= capacity <= max_x D_x` (Arimoto 1972).
    The step `pi_x ~ pi_x 2^(s D_x)` is theirs at s = 1; s grows while I does, which saves rounds and never loses ground. Parts of the channel that share no output go on by themselves,
    and their capacities make `log2 sum_i 2^(C_i)` together.
    Extremes: 0 for equal rows, log2 n for the identity.
    """
    if not gap > 0 or rounds < 1:
        raise InputError("capacity: gap must be above 0 and rounds at least 1.")
    matrix: Any = channel.matrix
    row, _, value = channel.entries
    part, _ = channel.parts
    n, parts = channel.shape[0], int(part.max()) + 1
    own = np.bincount(row, weights=value * np.log2(value), minlength=n)  # sum_y C_xy log2 C_xy
    order = np.argsort(part, kind="stable")
    start = np.searchsorted(part[order], np.arange(parts))

    def most(d: FloatArray) -> FloatArray:
        return np.maximum.reduceat(d[order], start)

    def within(weight: FloatArray) -> FloatArray:
        return np.bincount(part, weights=weight, minlength=parts).astype(np.float64, copy=False)

    def divergences(pi: FloatArray) -> FloatArray:
        after = channel.outputs_under(pi)
        bits: FloatArray = own - np.asarray(matrix @ np.log2(np.where(after > 0, after, 1.0))).ravel()
        return bits

    pi, step, done = 1.0 / np.bincount(part)[part], np.ones(parts), 0
    d = divergences(pi)
    low, high = within(pi * d), most(d)
    while _together(high) - _together(low) > gap and done < rounds:
        done += 1
        moved = pi * np.exp2(np.maximum(step[part] * (d - most(d)[part]), -1000.0))
        moved = np.maximum(moved / within(moved)[part], 1e-300)  # an input that has fallen out would never come back
        moved /= within(moved)[part]
        far = divergences(moved)
        reached = within(moved * far)
        climbs = (reached >= low) | (step <= 1)  # else too far: from here again, in the steps that are proved to climb
        step = np.where(climbs, np.minimum(step * 1.2, 1e6), 1.0)
        pi, d = np.where(climbs[part], moved, pi), np.where(climbs[part], far, d)
        low, high = np.where(climbs, reached, low), np.minimum(high, most(d))
    share = np.exp2(low - low.max())
    pi = pi * (share / share.sum())[part]
    return Capacity(max(_together(low), 0.0), max(_together(high), _together(low), 0.0), pi / pi.sum(), done)


def _together(bits: FloatArray) -> float:
    """`log2 sum_i 2^(C_i)`: the capacity of parts that share no output (Shannon 1948)."""
    top = float(bits.max())
    return top + math.log2(float(np.exp2(bits - top).sum()))
