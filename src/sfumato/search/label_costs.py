"""What the cheapest label that covers two values of a column costs: a label of its hierarchy, a range, or a set.

Each kind puts the values of a column in an order in which whatever a label of the kind covers stands together; what the label for two
values costs then only grows as they move apart. A missing value beside others is released as `*`, which costs most.
"""

from __future__ import annotations

import numpy as np

from ..core.cell_loss import CellLoss
from ..core.column import Column, FloatArray, IntArray
from ..core.cover import Domain
from ..core.hierarchy import Hierarchy
from ..core.label_kinds import Labels, kinds_of
from ..core.noun import dataclass
from ..core.roles import Roles

_TABLE = 700
"""Values of a column up to which the cost of every pair is looked up."""


@dataclass(frozen=True, eq=False)
class _Kind:
    """Labels of one kind: `place` is where each value stands, `levels` and `leaves` (by place) are those of a hierarchy."""

    place: IntArray
    missing: int
    """The place of the missing value, which is the last; past the last where none is missing."""
    most: float
    levels: tuple[IntArray, ...] = ()
    leaves: tuple[FloatArray, ...] = ()
    ranges: bool = False

    def between(self, low: IntArray, high: IntArray) -> tuple[FloatArray, FloatArray]:
        """For two places, the lower one first: what the label costs in leaves, and what each pair of a class may count of that.

        Sums over the m(m - 1)/2 pairs of a class are at most m^2/4 times what a range or a set costs. Under a node of a hierarchy all
        pairs may cost what the node costs, so they count half; and so do a missing value and another.
        """
        if self.levels:
            cost = np.full(np.broadcast(low, high).shape, self.most)
            for level, leaves in zip(self.levels, self.leaves, strict=True):
                same = level[low] == level[high]
                cost = np.where(same, np.minimum(cost, leaves[low] - 1), cost)
            share = cost / 2
        else:
            cost = (high - low).astype(np.float64) if self.ranges else (high != low).astype(np.float64)
            share = cost
        mixed = (high == self.missing) & (low < high)
        return np.where(mixed, self.most, cost), np.where(mixed, self.most / 2, share)


class ColumnCost:
    """The cheapest of the kinds of label that are allowed for a column, in shares of the loss of all columns."""

    def __init__(self, column: Column, roles: Roles, labels: Labels, loss: CellLoss, weight: float) -> None:
        tree, taxonomy = roles.tree(column), roles.taxonomy(column.name)
        domain = Domain(column, taxonomy or roles.hierarchy(column))
        most, count = float(domain.size - 1), len(column)
        missing = count - 1 if column.has_missing else count
        rule = roles.hierarchies.get(column.name)
        nominal = isinstance(rule, dict) and bool(rule.get("nominal"))
        ordered = (column.numbers is not None or column.dates) and not nominal and column.name not in roles.orders
        possible = {"sets", *(("taxonomy",) if tree is not None else ()), *(("ranges",) if ordered else ())}
        self.allowed = kinds_of(column.name, possible, roles.labels.get(column.name), labels, roles.source)
        self.name, self._kinds = column.name, []
        if "taxonomy" in self.allowed and tree is not None:
            self._kinds.append(_nodes(column, tree, domain, missing, most))
        if "ranges" in self.allowed:
            place = column.rank()
            assert place is not None
            self._kinds.append(_Kind(place, missing, most, ranges=True))
        if "sets" in self.allowed:
            self._kinds.append(_Kind(np.arange(count), missing, most))
        self.scale = weight / max(domain.size - loss.less, 1)
        self.whole = weight * loss.whole(domain.size)
        self._tables: tuple[FloatArray, FloatArray] | None = None
        if count <= _TABLE:
            self._tables = self._between(np.arange(count)[:, None], np.arange(count)[None, :])

    def _between(self, one: IntArray, other: IntArray) -> tuple[FloatArray, FloatArray]:
        cost: FloatArray | None = None
        share: FloatArray | None = None
        for kind in self._kinds:
            a, b = kind.place[one], kind.place[other]
            each, part = kind.between(np.minimum(a, b), np.maximum(a, b))
            cost = each if cost is None else np.minimum(cost, each)
            share = part if share is None else np.minimum(share, part)
        assert cost is not None
        assert share is not None
        return cost * self.scale, share * self.scale

    @property
    def place(self) -> IntArray:
        """Where each value stands in an order in which values that are near each other stand together."""
        return self._kinds[0].place

    def pairs(self, one: IntArray, other: IntArray) -> tuple[FloatArray, FloatArray]:
        """For each of some codes and each of others: the cost of covering both, and what a pair may count of it."""
        if self._tables is None:
            return self._between(one[:, None], other[None, :])
        return self._tables[0][one][:, other], self._tables[1][one][:, other]

    def ends(self, code: IntArray, first: IntArray) -> list[tuple[IntArray, IntArray]]:
        """For each kind, the lowest and the highest place in each block of codes, blocks beginning at `first`."""
        return [
            (np.minimum.reduceat(kind.place[code], first), np.maximum.reduceat(kind.place[code], first))
            for kind in self._kinds
        ]

    def apart(self, ends: list[tuple[IntArray, IntArray]], block: int) -> tuple[FloatArray, FloatArray]:
        """What `pairs` is at least between any code of one block and any of each other block."""
        cost: FloatArray | None = None
        share: FloatArray | None = None
        for kind, (low, high) in zip(self._kinds, ends, strict=True):
            a, b = np.minimum(high, high[block]), np.maximum(low, low[block])  # the gap, where there is one
            each, part = (np.where(a < b, x, 0.0) for x in kind.between(np.minimum(a, b), np.maximum(a, b)))
            cost = each if cost is None else np.minimum(cost, each)
            share = part if share is None else np.minimum(share, part)
        assert cost is not None
        assert share is not None
        return cost * self.scale, share * self.scale


def _nodes(column: Column, tree: Hierarchy, domain: Domain, missing: int, most: float) -> _Kind:
    """The labels of a hierarchy, with its values in an order in which those of each label stand together."""
    count = len(column)
    numbered, leaves = [], []
    for h, level in enumerate(tree.levels):
        index: dict[str, int] = {}
        number = [index.setdefault(label, len(index)) for label in level]
        size = [float(domain.leaves(label) or 1) if h else 1.0 for label in level]
        if column.has_missing:  # under no label but `*`
            number.append(len(index))
            size.append(1.0)
        numbered.append(np.array(number, dtype=np.int64))
        leaves.append(np.array(size))
    order = np.lexsort(numbered)  # by the top level first
    if column.has_missing:
        order = np.append(order[order != count - 1], count - 1)
    place = np.empty(count, dtype=np.int64)
    place[order] = np.arange(count)
    return _Kind(place, missing, most, tuple(n[order] for n in numbered), tuple(s[order] for s in leaves))
