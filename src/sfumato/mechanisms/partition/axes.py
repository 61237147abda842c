"""The quasi-identifiers as axes that a multidimensional partitioner can cut: numbers, dates, categories, taxonomies.

On every axis the values of the column have codes 0 .. D-1 such that whatever the axis can release is a range of codes:
numbers and dates by size, categories by frequency, taxonomy leaves so that each node's leaves stand together. The missing value
has the last code, and `*`, where the table holds it already, the one before; a range that mixes either with others is released as `*`.

Where several kinds of label are allowed (`core.label_kinds`), the codes are in the order of the values and each class releases the kind
that stands for the fewest values of the column.
"""

from __future__ import annotations

from dataclasses import field, replace

import numpy as np

from ...core.cell_loss import ILOSS
from ...core.column import Column, FloatArray, IntArray
from ...core.counts import Counts
from ...core.hierarchy import TOP, Hierarchy
from ...core.label_kinds import Labels, kinds_of
from ...core.noun import dataclass
from ...core.range_ends import Ends, Style, ranges_in_order
from ...core.roles import Roles
from ...core.value_sets import spell_set


@dataclass(frozen=True, eq=False)
class PartitionAxis:
    """An axis over a column: `code` maps the column's codes to ours, `texts` spells each of ours."""

    column: Column
    code: IntArray
    texts: list[str | None]
    levels: list[IntArray] = field(default_factory=list)
    """For a taxonomy: at each level, the label's number of each code, from the leaves to `*`."""
    names: list[list[str | None]] = field(default_factory=list)
    ends: Ends | None = None
    """How a range of numbers or dates is spelled."""
    sets: bool = False
    """Whether a set may be released; it is where there are neither levels nor ends."""

    @property
    def spans(self) -> bool:
        """Whether a range is an interval."""
        return self.ends is not None

    @property
    def counts_values(self) -> bool:
        """Whether what is released depends on which values a class holds, not on the ends of its range alone."""
        return self.sets or not (self.levels or self.spans)

    @classmethod
    def of(
        cls, column: Column, rows: IntArray, roles: Roles, style: Style = "open", labels: Labels = "hierarchies"
    ) -> PartitionAxis:
        """The axis that suits a column with `rows` of each value, by the kinds of label that are allowed.

        Unless more is allowed: the owner's taxonomy, masks or calendar where there is one, else its own order. Interval rules (widths, cuts,
        quantiles) are not used: numbers are cut where the data ask for it, unless they are nominal. Values without an order stand as in their
        hierarchy, or by frequency, the most frequent first, so that a cut in the middle sets the few frequent values apart from the many rare ones.
        """
        tree, line = roles.tree(column), cls._line(column, rows, roles, style)
        possible = {"sets", *(("taxonomy",) if tree is not None else ()), *(("ranges",) if line.spans else ())}
        kinds = kinds_of(column.name, possible, roles.labels.get(column.name), labels, roles.source)
        sets = "sets" in kinds
        if "taxonomy" in kinds and tree is not None:
            if "ranges" in kinds and (both := line.with_levels(tree)) is not None:
                return replace(both, sets=sets)
            return replace(cls._tree(column, tree), sets=sets)
        if "ranges" in kinds:
            return replace(line, sets=sets)
        if tree is not None and not line.spans and column.name not in roles.orders:  # sets of values that are alike
            return replace(cls._tree(column, tree), levels=[], names=[])
        return replace(line, ends=None, sets=line.spans)

    @classmethod
    def _line(cls, column: Column, rows: IntArray, roles: Roles, style: Style) -> PartitionAxis:
        """The axis of a column without its hierarchy: ranges where it has an order, else sets."""
        texts = column.texts
        rule = roles.hierarchies.get(column.name)
        ranges, nominal = None, isinstance(rule, dict) and bool(rule.get("nominal"))
        if column.numbers is None and not column.dates and column.name not in roles.orders:
            ranges = ranges_in_order(column)
        if ranges is not None:
            order, spans, dates = ranges
            held = set(order)
            order += [i for i in range(len(column)) if i not in held]  # * and missing
            code = np.empty(len(column), dtype=np.int64)
            code[order] = np.arange(len(order))
            return cls(column, code, [texts[i] for i in order], ends=Ends.of_ranges(column, spans, dates=dates))
        rank = (
            column.rank(roles.orders.get(column.name))
            if not nominal and (len(column) > 2 or column.numbers is not None or column.dates)
            else None
        )
        numeric = not nominal and (column.numbers is not None or column.dates) and column.name not in roles.orders
        if rank is None:
            given = len(column.values)  # the missing value stays last
            rank = np.arange(len(column))
            rank[np.argsort(-rows[:given], kind="stable")] = np.arange(given)
        ordered = [texts[i] for i in np.argsort(rank)]
        ends = Ends.of(column, [text for text in ordered if text is not None], roles, style) if numeric else None
        return cls(column, rank, ordered, ends=ends)

    def with_levels(self, fitted: Hierarchy) -> PartitionAxis | None:
        """The same order with the labels of a hierarchy, too; None where the values of a label do not stand together in it."""
        tree, order = PartitionAxis._tree(self.column, fitted), np.argsort(self.code)
        levels = [level[tree.code[order]] for level in tree.levels]
        if any(np.count_nonzero(np.diff(level)) + 1 > len(np.unique(level)) for level in levels):
            return None
        names = [[labels[c] for c in tree.code[order].tolist()] for labels in tree.names]
        numbered = [np.cumsum(np.diff(level, prepend=level[0]) != 0) for level in levels]
        return replace(self, levels=numbered, names=names)

    @classmethod
    def _tree(cls, column: Column, fitted: Hierarchy) -> PartitionAxis:
        labels = [
            [*level, TOP if h == fitted.height else None] if column.has_missing else list(level)
            for h, level in enumerate(fitted.levels)
        ]
        numbers = []
        for level in labels:
            index: dict[str | None, int] = {}
            numbers.append(np.array([index.setdefault(label, len(index)) for label in level], dtype=np.int64))
        order = np.lexsort([*numbers])  # by the top level first: the leaves of a node stand together
        code = np.empty(len(column), dtype=np.int64)
        code[order] = np.arange(len(order))
        texts = [labels[0][i] for i in order]
        return cls(column, code, texts, [n[order] for n in numbers], [[level[i] for i in order] for level in labels])

    def __len__(self) -> int:
        return len(self.texts)

    def level(self, low: IntArray, high: IntArray) -> IntArray:
        """For a taxonomy: the lowest level at which the ends of each range share a label."""
        found = np.full(len(low), len(self.levels) - 1)
        for h in range(len(self.levels) - 2, -1, -1):
            found[self.levels[h][low] == self.levels[h][high]] = h
        return found

    def reach(self, level: IntArray, label: IntArray) -> tuple[IntArray, IntArray]:
        """For a taxonomy: the first and the last code under a label at a level."""
        first, last = np.zeros_like(label), np.zeros_like(label)
        for h in np.unique(level):
            here, labels = level == h, self.levels[h]
            first[here] = np.unique(labels, return_index=True)[1][label[here]]
            last[here] = len(labels) - 1 - np.unique(labels[::-1], return_index=True)[1][label[here]]
        return first, last

    def spread(self, low: IntArray, high: IntArray) -> FloatArray:
        """How much of the domain a label or interval for each range leaves open, as ILoss counts it: (leaves - 1) / D."""
        leaves = self._leaves(low, high) if self.levels else self._between(low, high)
        if self.levels and self.spans:
            leaves = np.minimum(leaves, self._between(low, high))
        return ILOSS.of(leaves, len(self))

    def _leaves(self, low: IntArray, high: IntArray) -> IntArray:
        """How many values stand under the lowest label for each range."""
        at, leaves = self.level(low, high), np.ones(len(low), dtype=np.int64)
        for h, level in enumerate(self.levels):
            here = at == h
            leaves[here] = np.bincount(level)[level[low[here]]]
        return leaves

    def _between(self, low: IntArray, high: IntArray) -> IntArray:
        """How many values an interval for each range holds; with the missing value among others, all."""
        mixed = (low < high) & (high == len(self) - 1) & self.column.has_missing
        between: IntArray = np.where(mixed, len(self), high - low + 1)
        return between

    def kind(self, low: IntArray, high: IntArray, values: IntArray) -> IntArray:
        """Which kind of label each range releases that holds so many different values: 0 one of the hierarchy, 1 an interval, 2 a set."""
        best, kind = np.full(len(low), len(self) + 1), np.full(len(low), 2)
        for k, there in enumerate((bool(self.levels), self.spans, self.sets)):
            if there:
                leaves = (self._leaves, self._between, lambda *_: values)[k](low, high)
                kind, best = np.where(leaves < best, k, kind), np.minimum(best, leaves)
        return kind

    def spell(self, low: IntArray, high: IntArray, member: IntArray, code: IntArray) -> list[str | None]:
        """What each group releases, given the ends of its range and its codes (`member` the group of each, ascending)."""
        values = np.ones(len(low), dtype=np.int64)
        if self.counts_values:
            pairs = np.unique(member * len(self) + code)
            values = np.bincount(pairs // len(self), minlength=len(low))
        kind = self.kind(low, high, values)
        if (kind == 0).all():
            return self._labels(low, high)
        if (kind == 1).all():
            return self._intervals(low, high)
        if (kind == 2).all():
            return self._sets(len(low), member, code)
        spelled: list[str | None] = [None] * len(low)
        for k in np.unique(kind).tolist():
            at = np.flatnonzero(kind == k)
            number = np.full(len(low), -1)
            number[at] = np.arange(len(at))
            inside = number[member] >= 0
            texts = (
                self._labels(low[at], high[at])
                if k == 0
                else self._intervals(low[at], high[at])
                if k == 1
                else self._sets(len(at), number[member[inside]], code[inside])
            )
            for i, text in zip(at.tolist(), texts, strict=True):
                spelled[i] = text
        return spelled

    def _labels(self, low: IntArray, high: IntArray) -> list[str | None]:
        at = self.level(low, high)
        return [self.names[h][c] for h, c in zip(at.tolist(), low.tolist(), strict=True)]

    def _intervals(self, low: IntArray, high: IntArray) -> list[str | None]:
        assert self.ends is not None
        key, where = np.unique(low * len(self) + high, return_inverse=True)
        spelled = []
        for a, b in zip((key // len(self)).tolist(), (key % len(self)).tolist(), strict=True):
            whole = self.texts[b] in (None, TOP)  # the missing value beside others
            spelled.append(self.texts[a] if a == b else TOP if whole else self.ends.label(a, b))
        return [spelled[i] for i in where]

    def _sets(self, groups: int, member: IntArray, code: IntArray) -> list[str | None]:
        # 52 codes a word: sums of distinct powers of two stay exact in a float
        width = 52
        pairs = np.unique(member * len(self) + code)
        group, held = pairs // len(self), pairs % len(self)
        words = np.zeros((groups, -(-len(self) // width)))
        for w in range(words.shape[1]):
            inside = held // width == w
            words[:, w] = np.bincount(group[inside], weights=np.exp2(held[inside] % width), minlength=groups)
        _, first, where = np.unique(words, axis=0, return_index=True, return_inverse=True)
        starts = np.searchsorted(group, first)
        stops = np.searchsorted(group, first, side="right")
        spelled: list[str | None] = []
        for a, b in zip(starts.tolist(), stops.tolist(), strict=True):
            texts = [self.texts[c] for c in held[a:b]]
            whole = len(texts) == len(self) or (len(texts) > 1 and (None in texts or TOP in texts))
            spelled.append(
                texts[0] if len(texts) == 1 else TOP if whole else spell_set([t for t in texts if t is not None])
            )
        return [spelled[i] for i in where.reshape(-1)]


def axes_of(
    counts: Counts, roles: Roles, style: Style = "open", labels: Labels = "hierarchies"
) -> tuple[list[PartitionAxis], IntArray]:
    """The axes of the quasi-identifiers, which are counted first, and the code of each tuple on each."""
    axes = [
        PartitionAxis.of(column, counts.margin(column.name), roles, style, labels)
        for column in counts.columns
        if column.name in roles.quasi
    ]
    return axes, np.array([axis.code[counts.codes[i]] for i, axis in enumerate(axes)])
