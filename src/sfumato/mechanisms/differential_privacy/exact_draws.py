"""Exact draws on given bits: no rounding anywhere, so the distribution is the one that is written.

Canonne, Kamath, Steinke 2020, algorithms 1 (exp(-gamma) coin), 2 (discrete Laplace) and 3 (discrete Gaussian), as arrays. OpenDP samples
by the same method but cannot be seeded; these serve releases under a seed, and tests. Algorithm 3's last coin alone is thrown in double
precision: its exact fraction needs more than 64 bits.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from ...core.column import IntArray
from ...core.cover import BoolArray
from ...core.randomness import Chance

_ROOM = 2**53


def below(chance: Chance, bound: int, count: int) -> IntArray:
    """Whole numbers from 0 to bound - 1, exactly equally likely: bits past the last whole multiple are drawn again."""
    most = np.uint64((2**64 // bound) * bound - 1)
    draws = chance.bits(count)
    while (over := draws > most).any():
        draws = draws.copy()
        draws[over] = chance.bits(int(over.sum()))
    return (draws % np.uint64(bound)).astype(np.int64)


def coin(chance: Chance, numerator: IntArray, denominator: int) -> BoolArray:
    """True with probability exp(-numerator/denominator), numerator from 0 to denominator (algorithm 1).

    K counts how often coins of probability gamma/1, gamma/2, ... fall on heads in a row; its parity decides.
    """
    heads = np.zeros(len(numerator), dtype=np.int64)
    left, k = np.arange(len(numerator)), 1
    while len(left):
        left = left[below(chance, denominator * k, len(left)) < numerator[left]]
        heads[left] += 1
        k += 1
    even: BoolArray = heads % 2 == 0
    return even


def discrete_laplace(chance: Chance, scale: Fraction, count: int) -> IntArray:
    """P(z) proportional to exp(-|z|/scale), scale = t/s (algorithm 2)."""
    t, s = _small(scale)
    kept: list[IntArray] = []
    missing = count
    while missing > 0:
        tries = missing + missing // 2 + 16
        u = below(chance, t, tries)
        u = u[coin(chance, u, t)]
        v = np.zeros(len(u), dtype=np.int64)  # geometric: how many exp(-1) coins in a row
        left = np.arange(len(u))
        while len(left):
            left = left[coin(chance, np.ones(len(left), dtype=np.int64), 1)]
            v[left] += 1
        size = (u + t * v) // s
        minus = below(chance, 2, len(u)) == 1
        drawn = np.where(minus, -size, size)[~(minus & (size == 0))][:missing]  # zero has one sign only
        kept.append(drawn)
        missing -= len(drawn)
    return np.concatenate(kept) if kept else np.zeros(0, dtype=np.int64)


def discrete_gaussian(chance: Chance, deviation: float, count: int) -> IntArray:
    """P(z) proportional to exp(-z^2/(2 s^2)), s the deviation (algorithm 3): discrete Laplace draws, kept by how far they agree."""
    t = math.floor(deviation) + 1
    kept: list[IntArray] = []
    missing = count
    while missing > 0:
        tries = discrete_laplace(chance, Fraction(t), missing + missing // 2 + 16)
        gap = (np.abs(tries) - deviation**2 / t) ** 2 / (2 * deviation**2)
        drawn = tries[chance.uniform(len(tries)) < np.exp(-gap)][:missing]
        kept.append(drawn)
        missing -= len(drawn)
    return np.concatenate(kept) if kept else np.zeros(0, dtype=np.int64)


def permute_and_flip(chance: Chance, scores: IntArray, scale: Fraction) -> int:
    """In a random order, the first candidate whose coin of probability exp(-(best - score)/scale) falls on heads."""
    order = np.argsort(chance.bits(len(scores)), kind="stable")
    for at in order.tolist():
        if _heads(chance, scores, at, scale):
            return int(at)
    raise AssertionError("the best candidate's coin always falls on heads")


def exponential_choice(chance: Chance, scores: IntArray, scale: Fraction) -> int:
    """Candidates drawn with repetition, the first whose coin of the same probability falls on heads."""
    while True:
        at = int(below(chance, len(scores), 1)[0])
        if _heads(chance, scores, at, scale):
            return at


def _heads(chance: Chance, scores: IntArray, at: int, scale: Fraction) -> bool:
    """A coin of probability exp(-(best - score)/scale), which is exp(-1)^whole exp(-rest/t)."""
    t, s = _small(scale)
    whole, rest = divmod((int(scores.max()) - int(scores[at])) * s, t)
    if whole > 700 or not coin(chance, np.ones(whole, dtype=np.int64), 1).all():
        return False  # beyond exp(-700) no coin of ours would ever fall on heads
    return bool(coin(chance, np.array([rest], dtype=np.int64), t)[0])


def _small(scale: Fraction) -> tuple[int, int]:
    """A scale as t/s of whole numbers that leave room for 64-bit sums; rounded up where they do not."""
    if scale.numerator < _ROOM and scale.denominator < _ROOM:
        return scale.numerator, scale.denominator
    bits = max(0, min(50, 50 - math.frexp(float(scale))[1]))
    return math.ceil(scale * 2**bits), 2**bits
