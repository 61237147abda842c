"""Cut weighted tuples into parts along their axes, a whole generation of parts at a time.

What Mondrian writes as a recursion is here a loop over generations: every open part chooses its best axis, all cuts of
the generation are tried at once by a few array operations, and the parts whose cut is not allowed try their next axis.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from ...core.arrow import strings, take
from ...core.cell_loss import ILOSS
from ...core.column import FloatArray, IntArray
from ...core.counts import Counts, exact, pack
from ...core.cover import BoolArray
from ...core.mechanism import Progress, unheard
from ...core.noun import dataclass
from ...core.roles import Roles
from ...core.table import Recoding
from .axes import PartitionAxis

if TYPE_CHECKING:
    from .lineage import Lineage

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

    @classmethod
    def of(cls, entry: IntArray, n: IntArray, member: IntArray, axes: int) -> Parts:
        """From the part of each entry, in any order; no box is known."""
        order = np.argsort(member, kind="stable")
        nothing = np.zeros((axes, 0), dtype=np.int64)
        return cls(entry[order], n[order], np.flatnonzero(np.diff(member[order], prepend=-1)), nothing, nothing)

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
    axes: list[PartitionAxis],
    code: IntArray,
    n: IntArray,
    met: Met,
    *,
    lineage: Lineage | None = None,
    widest: bool = False,
    tie: IntArray | None = None,
    progress: Progress = unheard,
    weight: IntArray | FloatArray | None = None,
    least: int = 1,
) -> tuple[Parts, IntArray]:
    """Cut until no cut is allowed. `code` (axes x tuples) places each tuple; `met` says which parts may stand.

    A part is cut along the axis where that lowers ILoss most, or its widest axis; an axis with both a hierarchy and an order is
    cut by either. With `tie`, an order of the tuples, cuts are
    relaxed: a part is halved by rows, and the tuple in the middle is divided. Where parts are judged by what they were cut from, their
    numbers in that `lineage` come with them.

    `weight` is how often what an axis loses counts; parts of fewer than `least` rows are known not to meet what they must.
    """
    edge = np.array([[len(axis) - 1] for axis in axes])
    parts = Parts(np.arange(len(n)), n, np.zeros(1, dtype=np.int64), np.zeros_like(edge), edge)
    number = _numbers(parts, np.array([-1]), lineage)
    finished: list[Parts] = []
    numbers: list[IntArray] = []
    done, rows = 0, int(n.sum())
    while len(parts):
        children, origin, was_cut = _generation(axes, code, parts, number, met, lineage, widest, tie, weight, least)
        closed = parts.select(~was_cut)
        finished.append(closed)
        numbers.append(number[~was_cut])
        parts, number = children, _numbers(children, number[origin], lineage)
        done += int(closed.n.sum())
        if len(closed):
            progress(done / rows)
    return Parts.join([parts for parts in finished if len(parts)]), np.concatenate(numbers)


def _numbers(parts: Parts, parent: IntArray, lineage: Lineage | None) -> IntArray:
    return lineage.add(parts, parent) if lineage is not None and len(parts) else np.zeros(len(parts), dtype=np.int64)


def _generation(
    axes: list[PartitionAxis],
    code: IntArray,
    parts: Parts,
    number: IntArray,
    met: Met,
    lineage: Lineage | None,
    widest: bool,
    tie: IntArray | None,
    weight: IntArray | FloatArray | None,
    least: int,
) -> tuple[Parts, IntArray, BoolArray]:
    """The children of the parts that could be cut, the part that each comes from, and which parts were cut."""
    ways = ways_of(axes)
    views = [along(axes[way.axis], code[way.axis][parts.entry], parts, by_tree=way.by_tree) for way in ways]
    spread = np.array([view.spread for view in views])
    if least > 1:
        spread[:, np.add.reduceat(parts.n, parts.start) < 2 * least] = 0.0
    wish = spread if widest else np.where(spread > 0, np.array([view.gain for view in views]), -1.0)
    wish = wish if weight is None or widest else wish * weight[[way.axis for way in ways]][:, None]
    order = np.argsort(-wish, axis=0, kind="stable")  # the owner's order among equals
    children: list[Parts] = []
    origin: list[IntArray] = []
    was_cut = np.zeros(len(parts), dtype=bool)
    rest, at = parts, np.arange(len(parts))  # the parts to cut, and their place among all parts
    for axis_of in order:
        wide = spread[axis_of[at], at] > 0
        if not wide.all():  # nothing left to cut on this axis, so neither on the ones behind it
            rest, at = rest.select(wide), at[wide]
        if not len(at):
            break
        edge = np.array([view.edge[at] for view in views])
        pieces, parent = _cut(axes, ways, code, rest, axis_of[at], edge[axis_of[at], np.arange(len(at))], tie)
        good = met(pieces.entry, pieces.n, pieces.member, len(pieces))
        allowed = np.bincount(parent, minlength=len(rest)) > 1
        allowed[parent[~good]] = False
        if lineage is not None and allowed.any():
            tried = allowed[parent]
            near = lineage.allows(pieces.select(tried), number[at[parent[tried]]])
            allowed[parent[tried][~near]] = False
        if allowed.any():
            children.append(pieces.select(allowed[parent]))
            origin.append(at[parent[allowed[parent]]])
            was_cut[at[allowed]] = True
            rest, at = rest.select(~allowed), at[~allowed]
    if not children:
        return parts.select(was_cut), np.zeros(0, dtype=np.int64), was_cut
    return Parts.join(children), np.concatenate(origin), was_cut


@dataclass(frozen=True)
class CutWay:
    """A way to cut parts: along an axis, into the labels of its hierarchy or in two by its order."""

    axis: int
    by_tree: bool


def ways_of(axes: list[PartitionAxis]) -> list[CutWay]:
    """All ways to cut, in the order of the axes."""
    return [
        CutWay(j, by_tree)
        for j, axis in enumerate(axes)
        for by_tree in (True, False)
        if (axis.levels if by_tree else not axis.levels or axis.spans)
    ]


@dataclass(frozen=True, eq=False)
class AxisView:
    """All parts seen along one axis: how wide each is, how much ILoss its cut saves, and where that cut is."""

    spread: FloatArray
    gain: FloatArray
    edge: IntArray
    """The last code on the left; on a tree, the level of the labels to cut into."""


def along(axis: PartitionAxis, code: IntArray, parts: Parts, *, by_tree: bool | None = None) -> AxisView:
    """Look at all parts along an axis, where each entry has a code; by its hierarchy if it has one, unless told."""
    if axis.levels and by_tree is not False:
        return _view_tree(axis, code, parts)
    size = len(axis)
    key, weight = _tally(parts.member * size + code, parts.n, len(parts) * size)
    at = key % size
    first = np.flatnonzero(np.diff(key // size, prepend=-1))
    last = np.append(first[1:], len(key)) - 1
    cut, left, total = _balanced(weight, first, last)
    right = np.minimum(cut + 1, last)

    def open_(a: IntArray, b: IntArray) -> FloatArray:
        """What is left open from one place to another."""
        held = (b - a) / size
        if axis.counts_values and not axis.spans:
            return held
        spread = axis.spread(at[a], at[b]) if axis.levels else (at[b] - at[a]) / size
        return np.minimum(spread, held) if axis.sets else spread

    whole = open_(first, last)
    loss = (left * open_(first, cut) + (total - left) * open_(right, last)) / total
    return AxisView(whole, whole - loss, at[cut])


def _view_tree(axis: PartitionAxis, code: IntArray, parts: Parts) -> AxisView:
    """The same on a taxonomy, whose cut is into all labels one level down."""
    low, high = np.minimum.reduceat(code, parts.start), np.maximum.reduceat(code, parts.start)
    spread, edge = axis.spread(low, high), axis.level(low, high) - 1
    leaves = np.ones(len(code))
    member = parts.member
    for h in range(len(axis.levels) - 1):
        inside = edge[member] == h
        labels = axis.levels[h]
        leaves[inside] = np.bincount(labels)[labels[code[inside]]]
    # the loss below is bounded by that of the labels: what a child really holds may be less
    loss = np.add.reduceat(parts.n * ILOSS.of(leaves, len(axis)), parts.start) / np.add.reduceat(parts.n, parts.start)
    return AxisView(spread, spread - loss, np.maximum(edge, 0))


def _cut(
    axes: list[PartitionAxis],
    ways: list[CutWay],
    code: IntArray,
    parts: Parts,
    way_of: IntArray,
    edge: IntArray,
    tie: IntArray | None,
) -> tuple[Parts, IntArray]:
    """Cut every part in its way at its edge: the pieces, and the part that each comes from."""
    member, entry, n = parts.member, parts.entry, parts.n
    side = np.zeros(len(entry), dtype=np.int64)  # 0 and 1, or on a tree the label below
    right = np.zeros(len(entry), dtype=np.int64)  # relaxed: how many rows of an entry go right
    way_at = way_of[member]
    for w in np.unique(way_of):
        j = ways[w].axis
        on, axis = np.flatnonzero(way_at == w), axes[j]
        c, where = code[j][entry[on]], member[on]
        if ways[w].by_tree:
            for h in np.unique(edge[way_of == w]):
                below = edge[where] == h
                side[on[below]] = axis.levels[h][c[below]]
        elif tie is None:
            side[on] = c > edge[where]
        else:
            right[on] = _halves(where, c, n[on], tie[entry[on]])
            side[on] = right[on] == n[on]
            edge = np.where(way_of == w, 0, edge)
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
    for w in np.unique(way_of):
        j = ways[w].axis
        at, axis = np.flatnonzero(way_of[parent] == w), axes[j]
        cut_at = edge[parent[at]]
        if ways[w].by_tree:
            low[j, at], high[j, at] = axis.reach(cut_at, side_of[at])
        else:
            left = side_of[at] == 0
            high[j, at] = np.where(left, cut_at, high[j, at])
            low[j, at] = np.where(left, low[j, at], cut_at + (tie is None))
    return Parts(entry[by_piece], amount[by_piece], start, low, high), parent


def _balanced(weight: FloatArray, first: IntArray, last: IntArray) -> tuple[IntArray, FloatArray, FloatArray]:
    """Where to cut each part, given the weight of its codes in order: behind which code, the rows left of it, and all rows.

    The cut that leaves the two sides as equal as can be, the first of equal ones: where even this one leaves a side too small,
    every other does. A part of one code is "cut" behind it.
    """
    nth = np.repeat(np.arange(len(first)), last - first + 1)
    running = np.cumsum(weight)
    left = running - (running[first] - weight[first])[nth]
    total = left[last]
    off: FloatArray = np.abs(2 * left - total[nth])
    off[last] = np.where(last > first, np.inf, 0.0)  # a cut behind the last code is none
    hit = np.flatnonzero(off == np.minimum.reduceat(off, first)[nth])
    cut = hit[np.flatnonzero(np.diff(nth[hit], prepend=-1))]
    return cut, left[cut], total


def _tally(key: IntArray, n: IntArray, room: int) -> tuple[IntArray, FloatArray]:
    """The distinct keys, ascending, and the rows of each: densely while the room allows, else by sorting."""
    if room <= 16 * len(key) + 4096:
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


# --- what parts release


def labels_of(parts: Parts, axes: list[PartitionAxis], code: IntArray, *, by_cuts: bool) -> list[list[str | None]]:
    """What each part releases on each axis."""
    labels = []
    for j, axis in enumerate(axes):
        if by_cuts:
            low, high = parts.low[j], parts.high[j]
            width = high - low + 1
            member = np.repeat(np.arange(len(parts)), width)
            held = np.arange(int(width.sum())) - np.repeat(np.cumsum(width) - width, width) + np.repeat(low, width)
        else:
            member, held = parts.member, code[j][parts.entry]
            low, high = np.minimum.reduceat(held, parts.start), np.maximum.reduceat(held, parts.start)
        labels.append(axis.spell(low, high, member, held))
    return labels


def recoding_of(
    parts: Parts, labels: list[list[str | None]], counts: Counts, roles: Roles, *, divides: bool
) -> Recoding:
    """What each tuple becomes."""
    by = counts.names if divides else roles.quasi
    codes = [counts.codes[counts.names.index(name)][parts.entry] for name in by]
    n, at = parts.n, np.arange(len(parts.entry))
    if not divides:  # entries that differ in sensitive values only share their part
        key = pack(codes, [len(counts.column(name)) for name in by], len(at))
        _, at, where = np.unique(key, return_index=True, return_inverse=True)
        n = exact(np.bincount(where, weights=parts.n, minlength=len(at)))
    columns = [take(counts.column(name).values, code[at]) for name, code in zip(by, codes, strict=True)]
    columns += [take(strings(texts), parts.member[at]) for texts in labels]
    return Recoding.of(by, roles.quasi, columns, n, divides=divides)


def released_classes(labels: list[list[str | None]]) -> IntArray:
    """The class of each part: parts with equal labels are one."""
    keys = [np.unique([text or "" for text in texts], return_inverse=True)[1] for texts in labels]
    key = pack(keys, [int(k.max()) + 1 for k in keys], len(keys[0]))
    return np.unique(key, return_inverse=True)[1].astype(np.int64)
