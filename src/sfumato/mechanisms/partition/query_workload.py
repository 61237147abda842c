"""Counting queries that classes are fitted to, and what a class of tuples answers to them.

A query counts the rows whose values in two columns, of which one at least is a quasi-identifier, lie in ranges of neighbours where the values
have an order, and in sets of values where they have none; each asks for sqrt(0.05) of the values of its column, as `query_error` does by
default. But no query is drawn: every pair of columns is asked for the same grid of evenly placed ranges, and of sets that are cut from the
values by frequency, so that the queries by which a release is judged stay unseen.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import combinations

import numpy as np

from ...core.column import Column, FloatArray, IntArray
from ...core.counts import Counts, shuffled
from ...core.cover import BoolArray, Domain
from ...core.noun import dataclass
from ...core.roles import Roles
from ..parameters.column_weights import SANITY, SELECTIVITY
from .axes import PartitionAxis

QUERIES = 3_000
"""About so many queries in all."""
_FEWEST, _MOST = 3, 16
"""Ranges or sets that are asked for of a column."""
_TABLE = 200
"""Codes of an axis up to which what every range of codes answers is looked up."""


@dataclass(frozen=True, eq=False)
class AxisAnswers:
    """What labels of an axis answer: the share of the values that a label covers which lie in each range or set that is asked for."""

    axis: PartitionAxis
    so_far: FloatArray
    """(codes + 1) x predicates: how many of the codes below are asked for."""
    heights: list[FloatArray]
    """Of a taxonomy: how many values stand under the label of each code, level by level."""
    table: FloatArray | None
    """The share of every range of codes, where labels follow from ends alone and codes are few."""

    @classmethod
    def of(cls, axis: PartitionAxis, roles: Roles, asked: FloatArray) -> AxisAnswers:
        """`asked` (predicates x codes of the column) says which values each predicate asks for."""
        name = axis.column.name
        on_axis = np.zeros((len(axis), len(asked)))
        on_axis[axis.code] = asked.T
        so_far = np.concatenate([np.zeros((1, len(asked))), np.cumsum(on_axis, axis=0)])
        domain = Domain(axis.column, roles.taxonomy(name) or roles.hierarchy(axis.column))
        heights = [np.array([float(domain.leaves(label) or 1) for label in names]) for names in axis.names]
        bare = cls(axis, so_far, heights, None)
        size = len(axis)
        if axis.counts_values or size > _TABLE:
            return bare
        low, high = (ends.ravel() for ends in np.indices((size, size)))
        shares = bare._of_ranges(np.minimum(low, high), np.maximum(low, high), np.ones_like(low))
        return cls(axis, so_far, heights, shares)

    def shares(self, code: IntArray, side: FloatArray) -> FloatArray:
        """Classes x predicates; `side` (classes x units) says which units, at these codes, are in which class."""
        inside = side > 0
        low = np.where(inside, code, len(self.axis)).min(axis=1)
        high = np.where(inside, code, -1).max(axis=1)
        high = np.maximum(high, 0)
        low = np.minimum(low, high)
        if not self.axis.counts_values:
            return self._of_ends(low, high)
        distinct, at = np.unique(code, return_inverse=True)
        one = np.zeros((len(code), len(distinct)))
        one[np.arange(len(code)), at] = 1.0
        held = (side @ one > 0).astype(np.float64)
        values = held.sum(axis=1).astype(np.int64)
        return self._of_sets(low, high, values, lambda sets: held[sets] @ self._asked[distinct])

    def of_classes(self, code: IntArray, first: IntArray) -> FloatArray:
        """The same of classes whose units stand together, each from one of `first` on."""
        low, high = np.minimum.reduceat(code, first), np.maximum.reduceat(code, first)
        if not self.axis.counts_values:
            return self._of_ends(low, high)
        member = np.repeat(np.arange(len(first)), np.diff(np.append(first, len(code))))
        of, value = np.divmod(np.unique(member * len(self.axis) + code), len(self.axis))
        start = np.flatnonzero(np.diff(of, prepend=-1))
        values = np.diff(np.append(start, len(of)))
        return self._of_sets(low, high, values, lambda sets: np.add.reduceat(self._asked[value], start)[sets])

    def _of_ends(self, low: IntArray, high: IntArray) -> FloatArray:
        """Where labels follow from the ends alone."""
        if self.table is None:
            return self._of_ranges(low, high, np.ones_like(low))
        found: FloatArray = self.table[low * len(self.axis) + high]
        return found

    def _of_sets(
        self, low: IntArray, high: IntArray, values: IntArray, asked: Callable[[BoolArray], FloatArray]
    ) -> FloatArray:
        """Where labels may be sets; `asked` tells of some classes how many of their values each predicate asks for."""
        shares = self._of_ranges(low, high, values)
        sets = self.axis.kind(low, high, values) == 2
        sets &= ~(self.axis.column.has_missing & (high == len(self.axis) - 1) & (values > 1))
        if sets.any():
            shares[sets] = asked(sets) / np.maximum(values[sets], 1)[:, None]
        return shares

    @property
    def _asked(self) -> FloatArray:
        """Codes x predicates: which ask for a code."""
        asked: FloatArray = np.diff(self.so_far, axis=0)
        return asked

    def _of_ranges(self, low: IntArray, high: IntArray, values: IntArray) -> FloatArray:
        """What labels answer that cover every value between two codes, or all below a node."""
        axis = self.axis
        first, last = low.copy(), high.copy()
        leaves = (high - low + 1).astype(np.float64)
        if axis.levels:
            kind = axis.kind(low, high, values)
            level = axis.level(low, high)
            label = np.array([axis.levels[h][c] for h, c in zip(level.tolist(), low.tolist(), strict=True)], dtype=int)
            begin, end = axis.reach(level, label)
            under = np.array([self.heights[h][c] for h, c in zip(level.tolist(), low.tolist(), strict=True)])
            node = kind == 0
            first, last = np.where(node, begin, first), np.where(node, end, last)
            leaves = np.where(node, np.maximum(under, end - begin + 1), leaves)
        if axis.column.has_missing:  # beside others it is released as *
            whole = (low < high) & (high == len(axis) - 1)
            first, last = np.where(whole, 0, first), np.where(whole, len(axis) - 1, last)
            leaves = np.where(whole, np.maximum(leaves, len(axis)), leaves)
        shares: FloatArray = (self.so_far[last + 1] - self.so_far[first]) / leaves[:, None]
        return shares


@dataclass(frozen=True, eq=False)
class QueryWorkload:
    """A grid of queries over every pair of columns: axes first, then sensitive columns."""

    axes: tuple[AxisAnswers, ...]
    told: FloatArray
    """Tuples x sensitive columns x predicates: which of them ask for the tuple's value."""
    one: IntArray
    other: IntArray
    """The columns of each pair."""
    actual: FloatArray
    """Pairs x predicates x predicates: what the original answers."""
    weight: FloatArray
    """What an error of one row costs: 1 by the answer, or by 0.1% of the rows."""

    @classmethod
    def of(cls, counts: Counts, roles: Roles, axes: list[PartitionAxis], split: tuple[str, ...]) -> QueryWorkload:
        """Of counted tuples, `split` being the sensitive columns among them."""
        names = [*(axis.column.name for axis in axes), *split]
        pairs = [(i, j) for i, j in combinations(range(len(names)), 2) if i < len(axes)]
        wanted = math.isqrt(QUERIES // max(len(pairs), 1))
        many = min(max(wanted, _FEWEST), _MOST)
        asked = [_predicates(counts.column(name), counts.margin(name), roles, many) for name in names]
        answers = tuple(AxisAnswers.of(axis, roles, flags) for axis, flags in zip(axes, asked, strict=False))
        by_tuple = [flags.T[counts.codes[counts.names.index(name)]] for name, flags in zip(names, asked, strict=True)]
        n = counts.n.astype(np.float64)
        actual = np.array([(by_tuple[i] * n[:, None]).T @ by_tuple[j] for i, j in pairs]).reshape(-1, many, many)
        weight = 1.0 / np.maximum(actual, max(SANITY * counts.rows, 1.0))
        told = np.stack(by_tuple[len(axes) :], axis=1) if split else np.zeros((len(n), 0, many))
        one, other = (np.array([pair[side] for pair in pairs], dtype=np.int64) for side in (0, 1))
        return cls(answers, told, one, other, actual, weight)

    @property
    def queries(self) -> int:
        """How many queries there are."""
        return self.actual.size

    def answers(self, code: IntArray, told: FloatArray, rows: IntArray, side: FloatArray) -> FloatArray:
        """Classes x pairs x predicates x predicates: what each class answers.

        Of units at `code` (axes x units), with what is `told` of the sensitive values of a row of each, and `rows` of each; `side` (classes x
        units) says which are in which class.
        """
        shares = [each.shares(line, side) for each, line in zip(self.axes, code, strict=True)]
        amount = side @ rows
        if told.shape[1]:
            held = np.tensordot(side * rows, told, axes=1) / np.maximum(amount, 1.0)[:, None, None]
            shares += [held[:, s] for s in range(told.shape[1])]
        features = np.stack(shares, axis=1)
        left = features[:, self.one] * amount[:, None, None]
        result: FloatArray = left[:, :, :, None] * features[:, self.other][:, :, None, :]
        return result

    def missed(self, code: IntArray, told: FloatArray, rows: IntArray, member: IntArray) -> FloatArray:
        """By how much the answers of all classes together are off, given the class of each unit."""
        order = np.argsort(member, kind="stable")
        code, told, rows, member = code[:, order], told[order], rows[order], member[order]
        first = np.flatnonzero(np.diff(member, prepend=-1))
        amount = np.add.reduceat(rows, first).astype(np.float64)
        shares = [each.of_classes(line, first) for each, line in zip(self.axes, code, strict=True)]
        for s in range(told.shape[1]):
            shares.append(np.add.reduceat(told[:, s] * rows[:, None], first) / amount[:, None])
        rest = np.concatenate(shares, axis=1)
        many = self.actual.shape[1]
        off = -self.actual
        for i in np.unique(self.one).tolist():
            pairs = np.flatnonzero(self.one == i)
            answered = (shares[i] * amount[:, None]).T @ rest
            off[pairs] += answered.reshape(many, -1, many).transpose(1, 0, 2)[self.other[pairs]]
        return off

    def error(self, code: IntArray, entry: IntArray, n: IntArray, member: IntArray) -> float:
        """The mean error of the queries, of `n` rows of tuple `entry` in class `member`."""
        return self.mean(self.missed(code[:, entry], self.told[entry], n, member))

    def mean(self, off: FloatArray) -> float:
        """The mean error, from by how much each answer is off."""
        return float((np.abs(off) * self.weight).mean())


def _predicates(column: Column, rows: IntArray, roles: Roles, many: int) -> FloatArray:
    """`many` predicates over the values of a column: evenly placed neighbours where these have an order, else sets by frequency."""
    size = len(column)
    count = min(size, math.ceil(size * SELECTIVITY**0.5 - 1e-9))
    rank = column.rank(roles.orders.get(column.name))
    asked = np.zeros((many, size))
    if rank is not None:
        low = np.linspace(0, size - count, many).round().astype(np.int64)
        asked[(rank >= low[:, None]) & (rank < low[:, None] + count)] = 1.0
        return asked
    by_rows = np.argsort(-rows, kind="stable")
    blocks = size // count
    orders = -(-many // blocks)
    order, value = np.divmod(shuffled(orders * size), size)  # nothing here is secret: the same sets every time
    sets = by_rows[value[np.argsort(order, kind="stable")].reshape(orders, size)[:, : blocks * count]]
    for line, chosen in zip(asked, sets.reshape(-1, count), strict=False):
        line[chosen] = 1.0
    return asked
