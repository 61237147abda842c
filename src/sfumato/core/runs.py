"""Runs of places one after the other, and keys without repetition: what look-ups are made of."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .column import IntArray


def spread(first: IntArray, last: IntArray) -> tuple[IntArray, IntArray]:
    """Every place between two, and whose it is."""
    length = last - first
    at = np.arange(int(length.sum())) - np.repeat(np.cumsum(length) - length - first, length)
    return at, np.repeat(np.arange(len(first)), length)


def parts(length: IntArray, most: int) -> Iterator[slice]:
    """Neighbouring runs that hold at most so many places together; a longer one stands alone."""
    upto = np.cumsum(length)
    start = 0
    while start < len(length):
        stop = int(np.searchsorted(upto, (upto[start - 1] if start else 0) + most, side="right"))
        stop = max(stop, start + 1)
        yield slice(start, stop)
        start = stop


def distinct(keys: IntArray) -> IntArray:
    """The distinct keys, ascending; by sorting, which is many times faster on long arrays than the hashes of np.unique."""
    keys = np.sort(keys)
    first: IntArray = keys[np.diff(keys, prepend=keys[:1] - 1) != 0]
    return first


def held(keys: IntArray, wanted: IntArray) -> tuple[IntArray, IntArray]:
    """Which of the wanted are among ascending keys, and where these stand."""
    if not len(keys):
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    here = np.flatnonzero(keys[at] == wanted)
    return here, at[here]
