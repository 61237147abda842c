"""Cut weighted tuples into parts along their axes, a whole generation of parts at a time.

What Mondrian writes as a recursion is here a loop over generations: every open part chooses its widest axis, all cuts of
the generation are tried at once by a few array operations, and the parts whose cut is not allowed try their next axis.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..core.column import FloatArray, IntArray
from ..core.cover import BoolArray
from ..core.mechanism import Progress
from ._axes import Axis

Met = Callable[[IntArray, IntArray, IntArray, int], BoolArray]
"""(tuple, rows, class of each, number of classes) -> which classes meet everything."""


@dataclass(frozen=True, eq=False)
class Parts:
    """`n` rows of tuple `entry`, in the order of their parts; `start` is where each part begins.

    `low` and `high` (axes x parts) are the box of each part from cut to cut, in axis codes.
    """

    entry: IntArray
    n: IntArray
    start: IntArray
    low: IntArray
    high: IntArray

    def __len__(self) -> int:
        return len(self.start)

    @property
    def member(self) -> IntArray:
        """The part of each entry."""
        return np.repeat(np.arange(len(self)), np.diff(np.append(self.start, len(self.entry))))

    def select(self, part: BoolArray) -> Parts:
        """Some of the parts."""
        member = self.member
        inside = part[member]
        start = np.flatnonzero(np.diff(member[inside], prepend=-1))
        return Parts(self.entry[inside], self.n[inside], start, self.low[:, part], self.high[:, part])

    @classmethod
    def join(cls, several: list[Parts]) -> Parts:
        """All parts of several."""
        shift = np.cumsum([0, *(len(parts.entry) for parts in several)])
        return cls(
            np.concatenate([parts.entry for parts in several]),
            np.concatenate([parts.n for parts in several]),
            np.concatenate([parts.start + by for parts, by in zip(several, shift, strict=False)]),
            np.concatenate([parts.low for parts in several], axis=1),
            np.concatenate([parts.high for parts in several], axis=1),
        )


def partition(
    axes: list[Axis],
    code: IntArray,
    n: IntArray,
    met: Met,
    *,
    tie: IntArray | None = None,
    progress: Progress | None = None,
) -> Parts:
    """Cut until no cut is allowed. `code` (axes x tuples) places each tuple; `met` says which parts may stand.

    With `tie`, an order of the tuples, cuts are relaxed: a part is halved by rows, and the tuple in the middle is divided.
    """
    edge = np.array([[len(axis) - 1] for axis in axes])
    parts = Parts(np.arange(len(n)), n, np.zeros(1, dtype=np.int64), np.zeros_like(edge), edge)
    finished: list[Parts] = []
    done, rows = 0, int(n.sum())
    while len(parts):
        parts, closed = _generation(axes, code, parts, met, tie)
        finished.append(closed)
        done += int(closed.n.sum())
        if progress and len(closed):
            progress(done / rows)
    return Parts.join([parts for parts in finished if len(parts)])


def _generation(axes: list[Axis], code: IntArray, parts: Parts, met: Met, tie: IntArray | None) -> tuple[Parts, Parts]:
    """The children of the parts that could be cut, and the parts that could not."""
    ends = [
        (np.minimum.reduceat(c, parts.start), np.maximum.reduceat(c, parts.start))
        for c in (c[parts.entry] for c in code)
    ]
    spread = np.array([axis.spread(low, high) for axis, (low, high) in zip(axes, ends, strict=True)])
    order = np.argsort(-spread, axis=0, kind="stable")  # the widest axis first, the owner's order among equals
    children: list[Parts] = []
    was_cut = np.zeros(len(parts), dtype=bool)
    rest, at = parts, np.arange(len(parts))  # the parts to cut, and their place among all parts
    for axis_of in order:
        wide = spread[axis_of[at], at] > 0
        if not wide.all():  # nothing left to cut on this axis, so neither on the narrower ones
            rest, at = rest.select(wide), at[wide]
        if not len(at):
            break
        pieces, parent = _cut(axes, code, rest, axis_of[at], [(low[at], high[at]) for low, high in ends], tie)
        good = met(pieces.entry, pieces.n, pieces.member, len(pieces))
        allowed = np.bincount(parent, minlength=len(rest)) > 1
        allowed[parent[~good]] = False
        if allowed.any():
            children.append(pieces.select(allowed[parent]))
            was_cut[at[allowed]] = True
            rest, at = rest.select(~allowed), at[~allowed]
    none = np.zeros(len(parts), dtype=bool)
    return Parts.join(children) if children else parts.select(none), parts.select(~was_cut)


def _cut(
    axes: list[Axis],
    code: IntArray,
    parts: Parts,
    axis_of: IntArray,
    ends: list[tuple[IntArray, IntArray]],
    tie: IntArray | None,
) -> tuple[Parts, IntArray]:
    """Cut every part along its axis: the pieces, and the part that each comes from."""
    member, entry, n = parts.member, parts.entry, parts.n
    side = np.zeros(len(entry), dtype=np.int64)  # 0 and 1, or on a tree the label below
    right = np.zeros(len(entry), dtype=np.int64)  # relaxed: how many rows of an entry go right
    edge = np.zeros(len(parts), dtype=np.int64)  # the last code on the left, or on a tree the level of the labels below
    axis_at = axis_of[member]
    for j in np.unique(axis_of):
        on, axis, mine = np.flatnonzero(axis_at == j), axes[j], axis_of == j
        c, where = code[j][entry[on]], member[on]
        if axis.levels:
            edge[mine] = axis.level(*ends[j])[mine] - 1
            for h in np.unique(edge[mine]):
                below = edge[where] == h
                side[on[below]] = axis.levels[h][c[below]]
        elif tie is None:
            edge[mine] = _balanced(where, c, n[on], len(parts), len(axis))[mine]
            side[on] = c > edge[where]
        else:
            right[on] = _halves(where, c, n[on], tie[entry[on]])
            side[on] = right[on] == n[on]
            np.maximum.at(edge, where[side[on] == 0], c[side[on] == 0])
    divided = np.flatnonzero((right > 0) & (right < n))  # such an entry has rows on both sides
    sides = int(side.max()) + 2
    key = np.concatenate([member * sides + side, member[divided] * sides + 1])
    amount = n.copy()
    amount[divided] -= right[divided]
    amount, entry = np.concatenate([amount, right[divided]]), np.concatenate([entry, entry[divided]])
    by_piece = np.argsort(key, kind="stable")
    key = key[by_piece]
    start = np.flatnonzero(np.diff(key, prepend=-1))
    parent, side_of = key[start] // sides, key[start] % sides
    low, high = parts.low[:, parent], parts.high[:, parent]
    for j in np.unique(axis_of):
        at, axis = np.flatnonzero(axis_of[parent] == j), axes[j]
        cut_at = edge[parent[at]]
        if axis.levels:
            low[j, at], high[j, at] = axis.reach(cut_at, side_of[at])
        else:
            left = side_of[at] == 0
            high[j, at] = np.where(left, cut_at, high[j, at])
            low[j, at] = np.where(left, low[j, at], cut_at + (tie is None))
    return Parts(entry[by_piece], amount[by_piece], start, low, high), parent


def _balanced(member: IntArray, code: IntArray, n: IntArray, parts: int, size: int) -> IntArray:
    """For each part, the code behind which a cut leaves the two sides as equal as can be; the first of equal ones.

    Where even this cut leaves a side too small, every other cut does.
    """
    key, weight = _tally(member * size + code, n, parts * size)
    part = key // size
    first = np.flatnonzero(np.diff(part, prepend=-1))
    last = np.append(first[1:], len(key)) - 1
    nth = np.repeat(np.arange(len(first)), last - first + 1)
    running = np.cumsum(weight)
    left = running - (running[first] - weight[first])[nth]
    off: FloatArray = np.abs(2 * left - left[last][nth])
    off[last] = np.inf  # a cut behind the last code is none
    hit = np.flatnonzero(off == np.minimum.reduceat(off, first)[nth])
    best = hit[np.flatnonzero(np.diff(nth[hit], prepend=-1))]
    cut = np.zeros(parts, dtype=np.int64)
    cut[part[best]] = key[best] % size
    return cut


def _tally(key: IntArray, n: IntArray, room: int) -> tuple[IntArray, FloatArray]:
    """The distinct keys, ascending, and the rows of each: densely while the room allows, else by sorting."""
    if room <= 8 * len(key) + 4096:
        weight = np.bincount(key, weights=n, minlength=room).astype(np.float64, copy=False)
        there = np.flatnonzero(weight).astype(np.int64, copy=False)
        return there, weight[there]
    distinct, where = np.unique(key, return_inverse=True)
    return distinct, np.bincount(where, weights=n, minlength=len(distinct)).astype(np.float64, copy=False)


def _halves(member: IntArray, code: IntArray, n: IntArray, tie: IntArray) -> IntArray:
    """For each entry, how many of its rows go right when each part is halved by rows, equal codes in the order of `tie`."""
    order = np.lexsort([tie, code, member])
    m, w = member[order], n[order]
    first = np.flatnonzero(np.diff(m, prepend=-1))
    length = np.diff(np.append(first, len(m)))
    running = np.cumsum(w)
    left = running - np.repeat(running[first] - w[first], length)
    right = np.clip(left - np.repeat(np.add.reduceat(w, first) // 2, length), 0, w)
    out = np.empty(len(n), dtype=np.int64)
    out[order] = right
    return out
