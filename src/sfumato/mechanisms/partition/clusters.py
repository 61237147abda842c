"""Clusters of weighted tuples, grown greedily by what they lose: the kernel of k-member clustering.

What a cluster loses on an axis follows from the ends of its range and, where a set is released, from how many values it
holds; so does what it would lose with any further value. A step of the greedy search is then a small table per axis and a
look-up per tuple. Tables of narrow axes are added up to joint ones first, which leaves a few look-ups for many columns.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from ...core.column import FloatArray, IntArray
from ...core.cover import BoolArray, Domain
from ...core.noun import dataclass
from ...core.roles import Roles
from .axes import PartitionAxis

Loss = Literal["iloss", "byun"]

_JOINT = 4096
"""Entries of a joint table: it stays in the processor's cache."""
_KEPT = 2_000_000
"""Entries of all tables that are kept for later."""


class AxisLoss:
    """What clusters lose on one axis, by the owner's weight of the column.

    `iloss`, as ILoss counts what will be released (Xiao and Tao 2006): (leaves - 1)/|D| of the label, interval or set.
    `byun`, as Byun, Kamra, Bertino and Li 2007 count what lies in a cluster (their IL, for one row): (max - min)/|D| of numbers and
    dates, with |D| from the least to the largest; the height of the lowest common node over the height of its taxonomy; 1 for
    values without an order or taxonomy that differ. Both are 0 where all values are equal; `byun` is 1 where they could not differ more.
    """

    def __init__(self, axis: PartitionAxis, roles: Roles, loss: Loss = "iloss") -> None:
        name = axis.column.name
        self.axis = axis
        self.counts_values = axis.counts_values
        self._mixes = bool(axis.levels) + axis.spans + axis.sets > 1  # classes choose the cheapest kind of label
        self._gap = len(axis) - 1 if axis.column.has_missing else len(axis)  # no code is as high as the latter
        self._at = np.arange(len(axis))
        self._place: IntArray | FloatArray = self._at  # of each code on its scale
        self._counts = loss == "iloss"
        self._flat = loss == "byun" and self.counts_values and not axis.spans
        self._heights: list[FloatArray] = []  # of a taxonomy: what a label loses, by its level and code
        if loss == "iloss":
            domain = Domain(axis.column, roles.taxonomy(name) or roles.hierarchy(axis.column))
            size: float = domain.size
            self._heights = [np.array([(domain.leaves(label) or 1) - 1.0 for label in names]) for names in axis.names]
        elif axis.levels:
            size = len(axis.levels) - 1
            self._heights = [np.full(len(axis), float(h)) for h in range(len(axis.levels))]
        elif axis.spans:
            self._place = _measured(axis)
            size = float(self._place.max())
        else:
            size = 1
        self._most = size if loss == "byun" else len(axis) - 1
        self.scale = float(roles.weights.get(name, 1.0)) / (size or 1)
        self._tables: dict[tuple[int, int], FloatArray] = {}

    def __len__(self) -> int:
        return len(self.axis)

    def loss(self, low: IntArray, high: IntArray, values: IntArray) -> FloatArray:
        """For ranges of codes from `low` to `high` that hold so many different ones."""
        if self._mixes and self._counts:
            return self._cheapest(low, high, values) * self.scale
        if self._heights:
            level, lost = self.axis.level(low, high), np.zeros(len(low))
            for h, of_code in enumerate(self._heights):
                here = level == h
                lost[here] = of_code[low[here]]
            return lost * self.scale
        if self.axis.spans:
            wide = self._place[high] - self._place[low]
        else:
            wide = np.minimum(values - 1, 1) if self._flat else values - 1
        mixed = self._mixed(low, high)
        return np.where(mixed, self._most, wide) * self.scale

    def _mixed(self, low: IntArray, high: IntArray) -> BoolArray:
        """Where a missing value stands beside others, which is released as `*`."""
        mixed: BoolArray = (high == self._gap) & (low < high)
        return mixed

    def _cheapest(self, low: IntArray, high: IntArray, values: IntArray) -> FloatArray:
        """What the kind of label loses that the axis releases."""
        kind, level = self.axis.kind(low, high, values), np.zeros(len(low), dtype=np.int64)
        lost = np.where(kind == 1, high - low, values - 1).astype(np.float64)
        lost[self._mixed(low, high)] = self._most
        if self._heights:
            level = self.axis.level(low, high)
            for h, of_code in enumerate(self._heights):
                here = (level == h) & (kind == 0)
                lost[here] = of_code[low[here]]
        return lost

    def prices(self, low: int, high: int, held: BoolArray | None) -> FloatArray:
        """What a cluster loses with each code of the axis added to it."""
        if held is None:
            if (low, high) not in self._tables:
                if len(self._tables) * len(self) > _KEPT:
                    self._tables.clear()
                ends = np.minimum(low, self._at), np.maximum(high, self._at)
                self._tables[low, high] = self.loss(*ends, self._at)
            return self._tables[low, high]
        values = int(held.sum()) + ~held
        return self.loss(np.minimum(low, self._at), np.maximum(high, self._at), values)

    def priced(self, low: int, high: int, held: BoolArray | None, code: IntArray) -> FloatArray:
        """The same of these codes alone."""
        if len(self) <= len(code) or (held is None and (low, high) in self._tables):
            return self.prices(low, high, held)[code]
        values = code if held is None else int(held.sum()) + ~held[code]
        return self.loss(np.minimum(low, code), np.maximum(high, code), values)


def _measured(axis: PartitionAxis) -> FloatArray:
    """Each code of an axis of numbers or dates (in seconds) on its scale, from 0; the missing value, which is on none, at 0.

    Ranges that an earlier link released stand at their middle, or at the end that they have; `*`, which is all of them, at the top.
    """
    column = axis.column
    if axis.ends is not None and axis.ends.spans:
        ends = np.array([(span.low, span.high) for span in axis.ends.spans])
        ends = np.where(np.isfinite(ends), ends, ends[:, ::-1])
        middle = ends[:, 0] / 2 + ends[:, 1] / 2
        middle -= middle.min()
        return np.append(middle, np.full(len(axis) - len(middle), middle.max()))
    numbers = column.numbers
    if numbers is None:
        moments = np.array([text[:19] for text in column.texts if text is not None], dtype="datetime64[s]")
        numbers = np.append(moments.astype(np.float64), np.nan) if column.has_missing else moments.astype(np.float64)
    place = np.zeros(len(axis))
    known = ~np.isnan(numbers)
    place[axis.code[known]] = numbers[known] - np.min(numbers[known], initial=np.inf)
    return place


class Pool:
    """The rows that no cluster has yet, and the one cluster that grows from them.

    All tuples that are left are looked at until `narrow` leaves those that are nearest to the cluster.
    """

    def __init__(self, rulers: list[AxisLoss], code: IntArray, n: IntArray) -> None:
        self.rulers, self.code, self.left = rulers, code, n.copy()
        self.rows = int(n.sum())
        self._groups: list[list[int]] = []
        for j in np.argsort([len(ruler) for ruler in rulers], kind="stable").tolist():
            for group in self._groups:
                if np.prod([len(rulers[i]) for i in (*group, j)], dtype=float) <= _JOINT:
                    group.append(j)
                    break
            else:
                self._groups.append([j])
        self._group_of = {j: g for g, group in enumerate(self._groups) for j in group}
        keys = []
        for group in self._groups:
            key = np.zeros(len(n), dtype=np.int64)
            for j in group:
                key = key * len(rulers[j]) + code[j]
            keys.append(key)
        self._all = np.flatnonzero(n > 0)
        self._gone = np.zeros(len(self._all))
        self._keys = [key[self._all] for key in keys]
        self.tuples = self._all
        """The tuples that are looked at; some of them may have no row left."""
        self._scope: IntArray | None = None  # the places of these among all, unless they are all
        self._near = code[:, :0]
        self._low: list[int] = []
        self._high: list[int] = []
        self._held: list[BoolArray | None] = []
        self._parts: list[FloatArray] = []
        self._stale: set[int] = set()

    def start(self, tuple_: int) -> None:
        """A new cluster that covers this tuple alone."""
        if np.count_nonzero(self._gone) * 4 > len(self._all):
            there = self._gone == 0
            self._all, self._gone = self._all[there], self._gone[there]
            self._keys = [key[there] for key in self._keys]
        self._low = self.code[:, tuple_].tolist()
        self._high = list(self._low)
        self._held = [self._only(ruler, c) for ruler, c in zip(self.rulers, self._low, strict=True)]
        self.widen()

    @staticmethod
    def _only(ruler: AxisLoss, code: int) -> BoolArray | None:
        if not ruler.counts_values:
            return None
        held = np.zeros(len(ruler), dtype=bool)
        held[code] = True
        return held

    def widen(self) -> None:
        """Look at all tuples that are left."""
        self.tuples, self._scope = self._all, None
        self._parts = [np.zeros(0)] * len(self._groups)
        self._stale = set(range(len(self._groups)))

    def narrow(self, losses: FloatArray, most: int) -> None:
        """From now on look only at so many tuples with the least of these losses, if there are sixteen times as many."""
        if len(losses) <= 16 * most:
            return
        self._scope = np.sort(np.argpartition(losses, most)[:most])
        self.tuples = self._all[self._scope]
        self._near = self.code[:, self.tuples]
        self._parts = [np.zeros(0)] * len(self.rulers)
        self._stale = set(range(len(self.rulers)))

    @property
    def is_narrow(self) -> bool:
        """Whether some tuples are not looked at."""
        return self._scope is not None

    def losses(self) -> FloatArray:
        """What the cluster would lose with each of `tuples`, infinite where it has no row left."""
        for i in self._stale:
            self._parts[i] = self._joint(i) if self._scope is None else self._alone(i)
        self._stale = set()
        total = self._gone.copy() if self._scope is None else self._gone[self._scope]
        for part in self._parts:
            total += part
        return total

    def _joint(self, group: int) -> FloatArray:
        """What a group of axes adds, by a table of all their combinations."""
        table = np.zeros(1)
        for j in self._groups[group]:
            prices = self.rulers[j].prices(self._low[j], self._high[j], self._held[j])
            table = np.add.outer(table, prices).ravel()
        return table[self._keys[group]]

    def _alone(self, j: int) -> FloatArray:
        """What one axis adds where few tuples are looked at."""
        return self.rulers[j].priced(self._low[j], self._high[j], self._held[j], self._near[j])

    def take(self, place: int, rows: int) -> None:
        """So many rows of the tuple at a place of `tuples` go into the cluster, which then covers it."""
        tuple_ = int(self.tuples[place])
        self.left[tuple_] -= rows
        self.rows -= rows
        if not self.left[tuple_]:
            self._gone[place if self._scope is None else self._scope[place]] = np.inf
        for j, c in enumerate(self.code[:, tuple_].tolist()):
            held = self._held[j]
            if self._low[j] <= c <= self._high[j] if held is None else held[c]:
                continue
            self._low[j], self._high[j] = min(self._low[j], c), max(self._high[j], c)
            if held is not None:
                held[c] = True
            self._stale.add(self._group_of[j] if self._scope is None else j)


@dataclass(eq=False)
class Clusters:
    """`n` rows of tuple `entry` in cluster `member`, in any order; rows can come in, and clusters can be united."""

    rulers: list[AxisLoss]
    code: IntArray
    entry: IntArray
    n: IntArray
    member: IntArray

    def __post_init__(self) -> None:
        count = int(self.member.max()) + 1
        order = np.argsort(self.member, kind="stable")
        start = np.searchsorted(self.member[order], np.arange(count))
        held = self.code[:, self.entry[order]]
        self.low, self.high = np.minimum.reduceat(held, start, axis=1), np.maximum.reduceat(held, start, axis=1)
        self.values = np.ones_like(self.low)
        for j, ruler in enumerate(self.rulers):
            if ruler.counts_values:
                pairs = np.unique(self.member * len(ruler) + self.code[j][self.entry])
                self.values[j] = np.bincount(pairs // len(ruler), minlength=count)
        self.size = np.bincount(self.member, weights=self.n, minlength=count)
        self.lost = self._loss(self.low, self.high, self.values)

    def _loss(self, low: IntArray, high: IntArray, values: IntArray) -> FloatArray:
        total = np.zeros(low.shape[1])
        for j, ruler in enumerate(self.rulers):
            total += ruler.loss(low[j], high[j], values[j])
        return total

    def _with(self, tuples: IntArray) -> tuple[IntArray, IntArray, IntArray]:
        """The low and high ends and the number of values of every cluster, if these tuples came in."""
        held = self.code[:, tuples]
        low, high = np.minimum(self.low, held.min(axis=1)[:, None]), np.maximum(self.high, held.max(axis=1)[:, None])
        values = self.values.copy()
        for j, ruler in enumerate(self.rulers):
            if ruler.counts_values:
                own = self.code[j][self.entry]
                for c in np.unique(held[j]):
                    lacks = np.ones(values.shape[1], dtype=bool)
                    lacks[self.member[own == c]] = False
                    values[j] += lacks
        return low, high, values

    def costs(self, tuples: IntArray, rows: int) -> FloatArray:
        """What all rows lose more, for each cluster, if these rows came into it (the IL of the paper: size times loss)."""
        cost: FloatArray = (self.size + rows) * self._loss(*self._with(tuples)) - self.size * self.lost
        return cost

    def put(self, tuples: IntArray, n: IntArray, cluster: int) -> None:
        """These rows come into a cluster."""
        low, high, values = self._with(tuples)
        at = slice(cluster, cluster + 1)
        self.low[:, at], self.high[:, at], self.values[:, at] = low[:, at], high[:, at], values[:, at]
        self.lost[at] = self._loss(low[:, at], high[:, at], values[:, at])
        self.size[cluster] += int(n.sum())
        self.entry, self.n = np.append(self.entry, tuples), np.append(self.n, n)
        self.member = np.append(self.member, np.full(len(tuples), cluster))

    def unite(self, cluster: int) -> int:
        """Give a cluster to the one where that costs least: which one that is."""
        inside = self.member == cluster
        tuples, n = self.entry[inside], self.n[inside]
        cost = self.costs(tuples, int(n.sum()))
        cost[(np.arange(len(cost)) == cluster) | (self.size == 0)] = np.inf
        other = int(np.argmin(cost))
        self.entry, self.n, self.member = self.entry[~inside], self.n[~inside], self.member[~inside]
        self.size[cluster] = 0
        self.put(tuples, n, other)
        return other
