"""For each tuple, how far its nearest other rows are: blocks of tuples that lie together, looked at from the nearest block on.

Distances are sums over columns. No tuple of a block is nearer than the gap between the two blocks, so blocks whose gap is no smaller than
what was found need no look. Where `work` ends before that, the rows that were not looked at are taken to lie at the gap: what is
said of them is then too near, never too far.
"""

from __future__ import annotations

import numpy as np

from ..core.column import FloatArray, IntArray
from ..core.noun import dataclass
from .label_costs import ColumnCost

_BLOCK = 64
_CHUNK = 768
"""Tuples that are looked at at a time, for a block."""
_JOINT = 600
"""Combinations of several columns up to which their distances are looked up at once."""


@dataclass(frozen=True, eq=False)
class Nearest:
    """Of each tuple, how far its nearest rows are, and its nearest rows of other sensitive values."""

    costs: FloatArray
    """Tuples x rows: the cost of covering it with its nearest row, the next one, and so on."""
    shares: FloatArray
    """Tuples x rows: the running sum of what its pairs with the nearest rows count, from one row on."""
    values: list[FloatArray]
    """For each sensitive column: the cost of covering it with its `l - 1`th nearest other value."""
    complete: bool


class PairCosts:
    """What covering two tuples costs, and what the pair may count of it; narrow columns are looked up together."""

    def __init__(self, columns: list[ColumnCost], codes: IntArray) -> None:
        self.columns, self.codes = columns, codes
        self._alone: list[int] = []
        self._tables: list[tuple[IntArray, FloatArray, FloatArray]] = []
        for j, column in enumerate(columns):
            used, where = np.unique(codes[j], return_inverse=True)
            if len(used) > _JOINT:
                self._alone.append(j)
                continue
            cost, share = column.pairs(used, used)
            for at, (key, costs, shares) in enumerate(self._tables):
                both, joint = np.unique(key * len(used) + where, return_inverse=True)
                if len(both) <= _JOINT:
                    a, b = np.divmod(both, len(used))
                    grid = np.ix_(a, a), np.ix_(b, b)
                    self._tables[at] = joint, costs[grid[0]] + cost[grid[1]], shares[grid[0]] + share[grid[1]]
                    break
            else:
                self._tables.append((where, cost, share))

    def __call__(self, one: IntArray, other: IntArray) -> tuple[FloatArray, FloatArray]:
        """For some tuples and others: costs and shares, tuples x others."""
        cost = np.zeros((len(one), len(other)))
        share = np.zeros_like(cost)
        for key, costs, shares in self._tables:
            cost += costs[key[one]][:, key[other]]
            share += shares[key[one]][:, key[other]]
        for j in self._alone:
            more, part = self.columns[j].pairs(self.codes[j][one], self.codes[j][other])
            cost += more
            share += part
        return cost, share

    def __len__(self) -> int:
        return len(self._tables) + len(self._alone)


def nearest_others(
    costs: PairCosts,
    n: IntArray,
    many: int,
    values: list[tuple[IntArray, IntArray, int]],
    work: int,
    only: IntArray | None = None,
) -> Nearest:
    """The `many` nearest rows of tuples with `n` rows each; `values` are, for each sensitive column, the tuple and the value of each entry, and l.

    Of tuples `only` alone, if given: held against every tuple, whatever the work, and in that order.
    """
    order, first = _blocks(costs)
    ends = [column.ends(costs.codes[j][order], first) for j, column in enumerate(costs.columns)]
    sizes = np.diff(np.append(first, len(order)))
    cost, shares = np.zeros((len(n), many)), np.zeros((len(n), many))
    apart = [np.zeros(len(n)) for _ in values]
    each, complete = work // len(first), True
    entries = [_by_tuple(tuple_, value, len(n)) for tuple_, value, _ in values]
    groups = np.split(order, first[1:])
    if only is not None:
        groups = np.split(only, np.arange(_BLOCK, len(only), _BLOCK))
    for b, here in enumerate(groups):
        gap, part = np.zeros(len(first)), np.zeros(len(first))
        for column, its in zip(costs.columns, ends, strict=True):
            if only is not None:  # these do not lie together, so no block is far from all of them
                break
            more, some = column.apart(its, b)
            gap += more
            part += some
        gap, part = gap * (1 - 1e-9), part * (1 - 1e-9)  # no rounding may push a block away
        near = _Near(here, many, [int(value.max()) + 1 for _, value, _ in values], [least for *_, least in values])
        turn = np.argsort(gap, kind="stable")
        rest = np.minimum.accumulate(part[turn][::-1])[::-1]
        at, looked = 0, 0
        while at < len(turn):
            if near.settled(float(gap[turn[at]]), float(rest[at])):
                break
            if looked and looked >= each and only is None:
                near.pad(float(gap[turn[at]]), float(rest[at]))
                complete = False
                break
            wide = np.cumsum(sizes[turn[at:]])
            stop = at + max(int(np.searchsorted(wide, _CHUNK)), 1)
            other = np.concatenate([order[first[t] : first[t] + sizes[t]] for t in turn[at:stop]])
            near.add(*costs(here, other), np.where(here[:, None] == other, n[other] - 1, n[other]))
            for i, (starts, value) in enumerate(entries):
                near.see(i, other, starts, value)
            looked += len(here) * len(other) * len(costs)
            at = stop
        cost[here] = _in_order(near.cost, near.by_cost, many)
        shares[here] = np.cumsum(_in_order(near.share, near.by_share, many), axis=1)
        for i, each_apart in enumerate(near.apart()):
            apart[i][here] = each_apart
    if only is not None:
        cost, shares, apart = cost[only], shares[only], [each_apart[only] for each_apart in apart]
    return Nearest(cost, shares, apart, complete)


class _Near:
    """The nearest rows of the tuples of a block so far."""

    def __init__(self, here: IntArray, many: int, values: list[int], least: list[int]) -> None:
        self.many, self.least = many, least
        room = (len(here), 1)
        self.cost, self.share = (np.full(room, np.inf) for _ in range(2))
        self.by_cost, self.by_share = (np.full(room, many, dtype=np.int64) for _ in range(2))
        self.values = [np.full((len(here), count), np.inf) for count in values]
        self._last = self.cost

    def add(self, cost: FloatArray, share: FloatArray, n: IntArray) -> None:
        """Tuples that were looked at."""
        self._last = cost
        self.cost, self.by_cost = _smallest(
            np.hstack([self.cost, cost]), np.hstack([self.by_cost, np.minimum(n, self.many)]), self.many + 1
        )
        self.share, self.by_share = _smallest(
            np.hstack([self.share, share]), np.hstack([self.by_share, np.minimum(n, self.many)]), self.many + 1
        )

    def see(self, i: int, other: IntArray, starts: IntArray, value: IntArray) -> None:
        """The sensitive values of the tuples that were added last."""
        width = starts[other + 1] - starts[other]
        at = np.arange(int(width.sum())) + np.repeat(starts[other] - (np.cumsum(width) - width), width)
        column = np.repeat(np.arange(len(other)), width)
        order = np.argsort(value[at], kind="stable")
        held = value[at][order]
        first = np.flatnonzero(np.diff(held, prepend=-1))
        least = np.minimum.reduceat(self._last[:, column[order]], first, axis=1)
        self.values[i][:, held[first]] = np.minimum(self.values[i][:, held[first]], least)

    def pad(self, cost: float, share: float) -> None:
        """All rows that were not looked at, no nearer than this."""
        room = (len(self.cost), 1)
        many = np.full(room, self.many, dtype=np.int64)
        self.cost, self.by_cost = (
            np.hstack([self.cost, np.full(room, cost)]),
            np.hstack([self.by_cost, many]),
        )
        self.share = np.hstack([self.share, np.full(room, share)])
        self.by_share = np.hstack([self.by_share, many])
        self.values = [np.minimum(v, cost) for v in self.values]

    def apart(self) -> list[FloatArray]:
        """The cost with the last of the l - 1 nearest other values: a tuple's own value is at 0."""
        return [
            np.sort(v, axis=1)[:, least - 1] if least <= v.shape[1] else np.full(len(v), np.inf)
            for v, least in zip(self.values, self.least, strict=True)
        ]

    def settled(self, cost: float, share: float) -> bool:
        """Whether rows at this distance and further change nothing."""
        last = [
            float(_in_order(each, rows, self.many)[:, -1].max())
            for each, rows in ((self.cost, self.by_cost), (self.share, self.by_share))
        ]
        if last[0] > cost or last[1] > share:
            return False
        return all(float(values.max()) <= cost for values in self.apart())


def _in_order(cost: FloatArray, rows: IntArray, many: int) -> FloatArray:
    """The costs of the nearest rows one by one, given the rows of each tuple."""
    order = np.argsort(cost, axis=1, kind="stable")
    cost, reach = np.take_along_axis(cost, order, 1), np.cumsum(np.take_along_axis(rows, order, 1), axis=1)
    place = np.arange(many)
    at = np.array([np.searchsorted(each, place, side="right") for each in reach])
    return np.take_along_axis(cost, at, 1)


def _smallest(cost: FloatArray, rows: IntArray, many: int) -> tuple[FloatArray, IntArray]:
    if cost.shape[1] <= many:
        return cost, rows
    at = np.argpartition(cost, many - 1, axis=1)[:, :many]
    return np.take_along_axis(cost, at, 1), np.take_along_axis(rows, at, 1)


def _by_tuple(tuple_: IntArray, value: IntArray, count: int) -> tuple[IntArray, IntArray]:
    """Where the values of each tuple begin, and the values."""
    order = np.argsort(tuple_, kind="stable")
    return np.searchsorted(tuple_[order], np.arange(count + 1)), value[order]


def _blocks(costs: PairCosts) -> tuple[IntArray, IntArray]:
    """The tuples block by block, and where each begins: halves of halves, along the column where the ends lie furthest apart."""
    done: list[IntArray] = []
    left = [np.arange(costs.codes.shape[1])]
    while left:
        some = left.pop()
        if len(some) <= _BLOCK:
            done.append(some)
            continue
        widths, places = [], []
        for j, column in enumerate(costs.columns):
            place = column.place[costs.codes[j][some]]
            low, high = some[[place.argmin()]], some[[place.argmax()]]
            widths.append(float(column.pairs(costs.codes[j][low], costs.codes[j][high])[0][0, 0]))
            places.append(place)
        widest = int(np.argmax(widths))
        order = np.argsort(places[widest], kind="stable")
        left += [some[order[: len(some) // 2]], some[order[len(some) // 2 :]]]
    sizes = np.array([len(some) for some in done])
    return np.concatenate(done), np.cumsum(sizes) - sizes
