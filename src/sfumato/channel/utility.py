"""What a mechanism costs on average (Askari et al. 2012, eq. 16 and 20), and the entropy utility of many small tables at once.

`inspect/entropy_utility.py` has eq. 8-20 for tables of data. Here tables are the inputs and outputs of a channel: thousands of
them, a few rows each, as arrays of codes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.column import FloatArray, IntArray
from ..core.errors import InputError
from ..metrics.utility.entropy_utility import revealed_bits
from .channel import Channel
from .prior import Prior, distribution


def degradation(channel: Channel, cost: Any, prior: Prior = None) -> float:
    """`sum_x P(x) sum_y P(y|x) cost(x, y)` (eq. 16).

    `cost` is a matrix, or a pair of vectors, the utilities of the inputs and of the outputs: then `cost(x, y) = U(x) - U(y)`
    (eq. 15), and no matrix is made. Extremes: 0 for the identity where keeping costs nothing.
    """
    pi = distribution(prior, channel)
    if isinstance(cost, tuple):
        before, after = (np.asarray(each, dtype=np.float64) for each in cost)
        if (before.shape, after.shape) != ((channel.shape[0],), (channel.shape[1],)):
            raise InputError("The utilities do not fit the channel: one for each input, and one for each output.")
        return float(pi @ before - channel.outputs_under(pi) @ after)
    matrix = np.asarray(cost, dtype=np.float64)
    if matrix.shape != channel.shape:
        raise InputError(
            "The degradation matrix does not fit the channel: a row for each input, a column for each output."
        )
    row, column, value = channel.entries
    return float((pi[row] * value * matrix[row, column]).sum())


def over_users(utilities: Sequence[float], weights: Sequence[float]) -> float:
    """`sum_p P(p) Utility^p` over a population of users (eq. 20): what a table is worth, or a mechanism costs, each of them.

    A user's utilities are those of the tables less what the user knows of them already (eq. 19, `background`).
    """
    return float(_shares(weights, len(utilities), "user") @ np.asarray(utilities, dtype=np.float64))


def utilities(tables: IntArray, sizes: Sequence[int], weights: Sequence[float] | None = None) -> FloatArray:
    """`Utility(T) = sum_i P(A_i) (Hmax(A_i) - H(A_i | all others))` in bits for each table (eq. 13-14).

    `tables[t, r, i]` is the code of attribute i in row r of table t, and `sizes[i]` the size of the attribute's domain at its
    released level (so that one which is suppressed, of size 1, is worth 0). `weights` are the owner's, uniform by default.
    """
    codes = np.asarray(tables, dtype=np.int64)
    if codes.ndim != 3 or codes.shape[2] != len(sizes) or not codes.shape[1]:
        raise InputError("Tables are an array of table, row and attribute, with a domain size for each attribute.")
    if codes.size and ((codes < 0) | (codes >= np.asarray(sizes))).any():
        raise InputError("A code lies outside the domain of its attribute.")
    share = _shares(weights, len(sizes))
    whole = _entropies(codes)
    utility = np.zeros(len(codes))
    for i, size in enumerate(sizes):
        rest = _entropies(np.delete(codes, i, axis=2))
        utility += share[i] * revealed_bits(size, whole, rest)
    return utility


def background(
    known: FloatArray, levels: Sequence[IntArray] | None = None, weights: Sequence[float] | None = None
) -> float:
    """`Utility_Bg^p` (eq. 17-18): what a user who holds this joint distribution of the attributes knows already, in bits.

    `known` has an axis for each attribute; `levels[i][a]` is the released code of its value a (none: as it is). Uniform knowledge
    is worth 0; subtract the result from a table's utility for eq. 19.
    """
    joint = np.asarray(known, dtype=np.float64)
    if not joint.size or not np.isfinite(joint).all() or (joint < 0).any() or abs(joint.sum() - 1.0) > 1e-9:
        raise InputError(
            "What a user knows is a distribution over the attributes: numbers of at least 0 that sum to 1."
        )
    for axis, level in enumerate(levels or ()):
        merged = np.zeros((*joint.shape[:axis], int(np.max(level)) + 1, *joint.shape[axis + 1 :]))
        np.add.at(np.moveaxis(merged, axis, 0), np.asarray(level), np.moveaxis(joint, axis, 0))
        joint = merged
    share = _shares(weights, joint.ndim)
    whole = _bits(joint.ravel())
    left = [whole - _bits(joint.sum(axis=axis).ravel()) for axis in range(joint.ndim)]
    return float(sum(p * (np.log2(size) - rest) for p, size, rest in zip(share, joint.shape, left, strict=True)))


def _shares(weights: Sequence[float] | None, count: int, of: str = "attribute") -> FloatArray:
    share = np.ones(count) if weights is None else np.asarray(weights, dtype=np.float64)
    if share.shape != (count,) or not (share >= 0).all() or not share.sum() > 0:
        raise InputError(f"Give each {of} a weight of at least 0, and one of them more than 0.")
    shares: FloatArray = share / share.sum()
    return shares


def _bits(p: FloatArray) -> float:
    p = p[p > 0]
    return max(float(-(p * np.log2(p)).sum()), 0.0)


def _entropies(codes: IntArray) -> FloatArray:
    """H of the rows of each table: each row counts its equals, and so the mean of log2(r / equals) is H."""
    count, rows, width = codes.shape
    if not width:
        return np.zeros(count)
    equal = np.ones((count, rows, rows), dtype=bool)
    for i in range(width):
        equal &= codes[:, :, None, i] == codes[:, None, :, i]
    entropies: FloatArray = np.log2(rows / equal.sum(axis=2)).mean(axis=1)
    return entropies
