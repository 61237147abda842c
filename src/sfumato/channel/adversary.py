"""Privacy as the error of an adversary who guesses as well as can be (Askari et al. 2012, sec. 3.2 and 4.1).

Eq. 3 prints `P(T|T')` inside the maximum; the appendix uses `P(T'|T)`, which is right. Eq. 7 lacks the minus sign of the
entropy. An error is a probability: 0 means that every guess is right.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.column import FloatArray, IntArray
from ..core.errors import InputError
from ..core.noun import dataclass
from .channel import Channel
from .leakage import conditional_entropy
from .prior import Prior, distribution

BLOCK = 4_000_000


def error(channel: Channel, prior: Prior = None, *, gain: FloatArray | None = None) -> float:
    """`1 - sum_y max_x pi_x C_xy` (eq. 5; under a uniform prior eq. 3), or with a gain `error_g`.

    `gain[w, x]` in [0, 1] is what guess w is worth where x is true: `1 - sum_y max_w sum_x pi_x C_xy g(w, x)`, so that a near
    guess counts (sec. 4.1). The identity gain gives eq. 5. Extremes: 0 at a point mass and for the identity channel; 1 - max pi
    for a channel that tells nothing.
    """
    pi = distribution(prior, channel)
    if gain is None:
        return min(max(1.0 - float(channel.largest(pi).sum()), 0.0), 1.0)
    worth = gains(gain, channel)
    return min(max(1.0 - float(_best(channel, pi, worth).sum()), 0.0), 1.0)


def gains(gain: Any, channel: Channel) -> FloatArray:
    """A gain function as an array, checked: a row for each guess, a number in [0, 1] for each input."""
    matrix = np.asarray(gain, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[1] != channel.shape[0] or not len(matrix):
        raise InputError("A gain function has a row for each guess and a number in it for each input of the channel.")
    if not ((matrix >= 0) & (matrix <= 1)).all():
        raise InputError("A gain is a number from 0 (a guess that is worth nothing) to 1 (as good as the truth).")
    return matrix


def _best(channel: Channel, pi: FloatArray, worth: FloatArray) -> FloatArray:
    """`max_w sum_x pi_x C_xy g(w, x)` of each output, outputs in blocks."""
    weighted = worth * pi
    step = max(1, BLOCK // len(worth))
    if not channel.is_sparse:
        parts = [weighted @ channel.matrix[:, i : i + step] for i in range(0, channel.shape[1], step)]
    else:
        by_output = channel.matrix.tocsc()
        parts = [(by_output[:, i : i + step].T @ weighted.T).T for i in range(0, channel.shape[1], step)]
    return np.concatenate([part.max(axis=0) for part in parts])


def guesses(channel: Channel, prior: Prior = None) -> IntArray:
    """The most probable input after each output, the first of equals: what the adversary says (MAP)."""
    pi = distribution(prior, channel)
    if not channel.is_sparse:
        best: IntArray = np.argmax(channel.matrix * pi[:, None], axis=0).astype(np.int64)
        return best
    row, column, value = channel.entries
    order = np.lexsort([row, -(value * pi[row]), column])
    first = np.flatnonzero(np.diff(column[order], prepend=-1))
    guessed = np.zeros(channel.shape[1], dtype=np.int64)
    guessed[column[order[first]]] = row[order[first]]
    return guessed


def posterior(channel: Channel, output: int, prior: Prior = None) -> FloatArray:
    """`P(x|y)` of every input once the output with this number is seen (Bayes)."""
    _number(output, channel.shape[1], "output")
    joint = np.asarray(channel.matrix[:, [output]].toarray() if channel.is_sparse else channel.matrix[:, [output]])
    joint = joint.astype(np.float64).ravel() * distribution(prior, channel)
    if not joint.sum() > 0:
        raise InputError(f"Output {output + 1} cannot be released under this prior, so nothing follows from it.")
    posteriors: FloatArray = joint / joint.sum()
    return posteriors


def _number(number: int, size: int, what: str) -> None:
    if not 0 <= number < size:
        raise InputError(f"The channel has {what}s 0 to {size - 1}, and not {number}.")


@dataclass(frozen=True)
class Adversaries:
    """The errors of the four adversaries, by what they know: the mechanism (the channel), the prior, both or neither."""

    neither: float
    """`1 - 1/n`: a blind guess."""
    prior: float
    """`1 - max pi`: the likeliest input, whatever is released."""
    mechanism: float
    """Eq. 3: the release, under a uniform prior."""
    both: float
    """Eq. 5."""


def adversaries(channel: Channel, prior: Prior = None) -> Adversaries:
    """The four adversaries (sec. 3.2.1); under a uniform prior those who know it know no more than the others."""
    pi = distribution(prior, channel)
    return Adversaries(
        neither=1.0 - 1.0 / channel.shape[0],
        prior=1.0 - float(pi.max()),
        mechanism=error(channel),
        both=error(channel, pi),
    )


@dataclass(frozen=True)
class ErrorBounds:
    """`low = 1 - m/n <= error <= high = 1 - 1/n` under a uniform prior, m the outputs that can occur."""

    low: float
    error: float
    high: float

    @property
    def place(self) -> float:
        """Where the mechanism stands: 0 at the lower bound, 1 at the upper one; 1 where they are the same."""
        width = self.high - self.low
        return 1.0 if width <= 0 else min(max((self.error - self.low) / width, 0.0), 1.0)


def bounds(channel: Channel) -> ErrorBounds:
    """The bounds under a uniform prior, and where the mechanism stands between them (sec. 4.1)."""
    n = channel.shape[0]
    m = int((channel.largest() > 0).sum())
    return ErrorBounds(max(1.0 - m / n, 0.0), error(channel), 1.0 - 1.0 / n)


def santhi_vardy(channel: Channel, prior: Prior = None) -> float:
    """`1 - 2^(-H(X|Y))`, which no error exceeds (eq. 7 with its minus sign; Santhi and Vardy 2006)."""
    return 1.0 - float(2.0 ** -conditional_entropy(channel, prior))
