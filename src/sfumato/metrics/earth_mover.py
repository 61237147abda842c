"""The earth mover's distance over values in order (Li, Li, Venkatasubramanian 2007; Manta eq. 3.1), for many classes at once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..core.column import FloatArray, IntArray


def ordered_distance(
    member: IntArray,
    place: IntArray,
    p: FloatArray,
    m: int,
    area: Callable[[IntArray], FloatArray],
    reach: Callable[[FloatArray], IntArray],
) -> FloatArray:
    """`1/(m-1) sum_i |P_i - Q_i|` of each class, P and Q cumulative, neighbours among the m values 1/(m-1) apart (eq. 3.1).

    Entries stand by class and place: class `member` has the share `p` at `place`. Of each entry's Q, `area(x)` is the sum of
    Q_i over the places before x, and `reach(level)` the first place where Q is at least the level. Between two values of a class
    P stands still while Q climbs, so the sum between them is an area. The cost is the entries, never classes times values.
    """
    first = np.flatnonzero(np.diff(member, prepend=-1))
    level = running_sums(p, first, np.diff(np.append(first, len(member))))  # P up to and with this entry
    end = np.append(place[1:], m)
    end[np.append(first[1:], len(member)) - 1] = m
    cross = np.clip(reach(level), place, end)
    before = area(place)
    term = level * (2 * cross - place - end) + before + area(end) - 2 * area(cross)
    work = np.bincount(member, weights=term).astype(np.float64, copy=False)
    work[member[first]] += before[first]  # before a class's first value P is 0
    return work / (m - 1)


def running_sums(term: FloatArray, first: IntArray, width: IntArray) -> FloatArray:
    """Running sums that start anew at each of `first`."""
    running = np.cumsum(term)
    return running - np.repeat(running[first] - term[first], width)
