"""The worst prior as a game, played until both sides agree: for channels too large for a factorisation.

One side is the prior, the other guesses; each multiplies its weights by the exponential of what they are worth against the
other, twice the latest less the one before (optimistic multiplicative weights: Rakhlin, Sridharan 2013). Averages converge
(Freund, Schapire 1999), and play begins again from them, which is much faster. Nothing here is trusted:
whoever calls it reckons the bounds from what it returns.
"""

from __future__ import annotations

import time

import numpy as np

from ..core.column import FloatArray, IntArray
from ..core.noun import dataclass

STEP = 0.34
"""Of a weight's logarithm for a gain of the value of the game; found by trial, and made smaller wherever play runs away."""
ROUNDS = 200
"""Between two looks at the bounds, at first; later ones are further apart."""


@dataclass(frozen=True, eq=False)
class Played:
    """A prior, a guess for each entry, and how far apart the bounds were that they prove."""

    prior: FloatArray
    guess: FloatArray
    gap: float


def play(
    x: IntArray,
    y: IntArray,
    worth: FloatArray,
    start: FloatArray,
    *,
    gap: float,
    rounds: int = 8_000,
    seconds: float | None = None,
) -> Played:
    """`min_prior max_guess sum_e prior[x_e] guess_e worth_e`, guesses a distribution for each output y.

    Every input and output has an entry. It ends once the bounds are `gap` apart, after so many rounds, or when time is up.
    """
    began = time.perf_counter()
    order = np.argsort(y, kind="stable")
    x, y, worth = x[order], y[order], worth[order]
    n, first = len(start), np.flatnonzero(np.diff(y, prepend=-1))

    def guessed(logs: FloatArray) -> FloatArray:
        weight = np.exp(logs - np.maximum.reduceat(logs, first)[y])
        return weight / np.add.reduceat(weight, first)[y]

    def right(w: FloatArray) -> FloatArray:
        return np.bincount(x, weights=w * worth, minlength=n).astype(np.float64, copy=False)

    def bounds(p: FloatArray, w: FloatArray) -> tuple[float, float]:
        return float(right(w).min()), float(np.maximum.reduceat(p[x] * worth, first).sum())

    p, w = start, guessed(np.zeros(len(x)))
    low, high = bounds(p, w)
    best_p, best_w, best, pair = p, w, (p, w, high - low), (p, w, high - low)
    step, length, done = STEP, ROUNDS, 0
    while high - low > gap and done < rounds and (seconds is None or time.perf_counter() - began < seconds):
        p, w, _ = pair
        log_p, log_w = np.log(np.maximum(p, 1e-300)), np.log(np.maximum(w, 1e-300))
        s, g = right(w), p[x] * worth
        sum_p, sum_w = np.zeros(n), np.zeros(len(x))
        scale = step / high  # the value of the game, and of an output in it
        length = min(length, max(rounds - done, ROUNDS))
        for _ in range(length):
            now = right(w)
            log_p -= scale * (2 * now - s)
            s = now
            now = p[x] * worth
            log_w += scale * len(first) * (2 * now - g)
            g = now
            log_p -= log_p.max()
            p = np.exp(log_p)
            p /= p.sum()
            w = guessed(log_w)
            sum_p += p
            sum_w += w
        done += length
        pairs = [(*each, *bounds(*each)) for each in ((sum_p / length, sum_w / length), (p, w))]
        for one, other, under, over in pairs:
            low, best_w = (under, other) if under > low else (low, best_w)
            high, best_p = (over, one) if over < high else (high, best_p)
        one, other, under, over = min(pairs, key=lambda each: each[3] - each[2])
        pair = (one, other, over - under)
        if pair[2] > 3 * best[2]:  # it runs away: from the best pair again, more carefully
            step, pair = step / 2, best
        best = min(best, pair, key=lambda each: each[2])
        length = length * 3 // 2
    guess = np.empty(len(x))
    guess[order] = best_w
    return Played(best_p, guess, high - low)
