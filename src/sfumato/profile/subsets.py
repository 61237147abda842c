"""The kernel behind uniqueness: from counted tuples to the rows that are alone on every small set of columns.

Columns are dropped from the one with most values down, and the tuples are grouped again after each drop, so that most
sets are counted on a table that has already shrunk. Only the difference between one row and several matters here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import comb

import numpy as np
import numpy.typing as npt

from ..core.column import IntArray
from ..core.counts import Counts, pack

Weights = npt.NDArray[np.float64]
Subset = tuple[tuple[int, ...], tuple[int, int]]
_ROOM = 2**61
_WORTH = 4  # a regrouping reads every column and sorts; it pays when so many sets a column are counted on its result


def sets_up_to(columns: int, most: int) -> int:
    """How many sets of at most `most` of these columns there are."""
    return sum(comb(columns, size) for size in range(1, most + 1))


def largest_within(columns: int, most: int, limit: int) -> int:
    """The largest size up to `most` such that there are at most `limit` sets up to it."""
    sizes = range(min(most, columns), 1, -1)
    return next((size for size in sizes if sets_up_to(columns, size) <= limit), min(most, columns, 1))


def alone(key: IntArray, room: int, weight: Weights) -> tuple[int, int]:
    """The rows alone on `key`, and its distinct values; `room` is above every key, and weights are 1 row or more."""
    if room <= max(2 * len(key), 1 << 16):
        bins = np.bincount(key, weights=weight, minlength=1)
        return int(np.count_nonzero(bins == 1)), int(np.count_nonzero(bins))
    ordered = np.sort(key * 2 + (weight > 1))  # the last bit says that several rows stand behind the tuple
    new = np.ones(len(ordered) + 1, dtype=bool)
    np.not_equal(ordered[1:] >> 1, ordered[:-1] >> 1, out=new[1:-1])
    single = new[:-1] & new[1:] & (ordered & 1 == 0)
    return int(np.count_nonzero(single)), int(np.count_nonzero(new[:-1]))


def without_each(counts: Counts) -> Iterator[tuple[int, tuple[int, int]]]:
    """For each column, the rows alone on all the others, and their distinct tuples.

    By halves: what is outside a half is packed into one key for all columns of that half.
    """
    sizes = [len(column) for column in counts.columns]
    weight = np.minimum(counts.n, 2).astype(np.float64)

    def within(at: range, key: IntArray, room: int) -> Iterator[tuple[int, tuple[int, int]]]:
        if len(at) == 1:
            yield at[0], alone(key, room, weight)
            return
        half = len(at) // 2
        for inner, outer in ((at[:half], at[half:]), (at[half:], at[:half])):
            packed = [key, *(counts.codes[i] for i in outer)]
            yield from within(inner, *_key(packed, [room, *(sizes[i] for i in outer)], len(counts)))

    yield from within(range(len(sizes)), np.zeros(len(counts), dtype=np.int64), 1)


def subsets(counts: Counts, most: int, *, fixed: int = 0) -> Iterator[Subset]:
    """Every set of at most `most` columns that holds the first `fixed` ones and at least one more.

    Yields the columns' positions, and the rows alone on them with their distinct tuples.
    """
    sizes = [len(column) for column in counts.columns]
    key, room = _key(counts.codes[:fixed], sizes[:fixed], len(counts))
    rest = sorted(range(fixed, len(sizes)), key=lambda i: (-sizes[i], i))
    weight = np.minimum(counts.n, 2).astype(np.float64)
    codes = {i: counts.codes[i] for i in rest}
    yield from _walk(tuple(range(fixed)), key, room, rest, codes, sizes, weight, most)


def _walk(
    chosen: tuple[int, ...],
    key: IntArray,
    room: int,
    rest: Sequence[int],
    codes: dict[int, IntArray],
    sizes: Sequence[int],
    weight: Weights,
    most: int,
) -> Iterator[Subset]:
    for i, column in enumerate(rest):
        later = rest[i + 1 :]
        joined, size = _key([key, codes[column]], [room, sizes[column]], len(key))
        yield (*chosen, column), alone(joined, size, weight)
        if len(chosen) + 1 < most and later:
            yield from _walk((*chosen, column), joined, size, later, codes, sizes, weight, most)
        if sets_up_to(len(later), most - len(chosen)) >= _WORTH * (len(later) + 2):
            whole, _ = _key([key, *(codes[c] for c in later)], [room, *(sizes[c] for c in later)], len(key))
            _, first, member = np.unique(whole, return_index=True, return_inverse=True)
            if len(first) < 0.8 * len(whole):
                weight = np.minimum(np.bincount(member, weights=weight), 2.0)
                key, codes = key[first], {c: codes[c][first] for c in later}


def _key(codes: Sequence[IntArray], sizes: Sequence[int], length: int) -> tuple[IntArray, int]:
    """One integer per tuple and a bound above all of them that leaves a bit to spare."""
    key = pack(codes, sizes, length)
    room = 1
    for size in sizes:
        room *= max(size, 1)
    if room >= _ROOM:  # made dense, as `pack` does on the way
        distinct, key = np.unique(key, return_inverse=True)
        room = len(distinct)
    return key, room
