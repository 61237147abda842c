"""Every table of r rows over a domain, and its releases under full-domain generalization (Askari et al. 2012, sec. 5).

A table is a multiset of rows, so it is kept as the sorted codes of its rows, and a set of tables as an array with one line
per table. Sorted codes have a rank (the combinatorial number system), so tables and releases are numbered without a
dictionary, and any stretch of them is made from its numbers alone.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction
from functools import cached_property
from typing import Literal

import numpy as np

from ..core.column import IntArray
from ..core.cover import BoolArray
from ..core.errors import InputError
from ..core.noun import dataclass

Levels = tuple[int, ...]
"""A node of the lattice: a level for each quasi-identifier."""
LISTED = 1_000_000
"""Cells that are still listed, each with its generalized cell."""
CHUNK = 1 << 15
"""Tables at a time."""


@dataclass(frozen=True, kw_only=True)
class Attribute:
    """A column of the table: `levels[0]` are its values, and `levels[j]` their spelling at level j, in the same order."""

    name: str
    role: Literal["quasi", "sensitive"]
    levels: tuple[tuple[str, ...], ...]
    probabilities: tuple[float | Fraction, ...] | None = None
    """How likely each value is, if rows are drawn independently; None: all alike."""

    def __post_init__(self) -> None:
        where = f"attribute {self.name!r}"
        if self.role not in ("quasi", "sensitive"):
            raise InputError(f'{where}: role must be "quasi" or "sensitive".')
        if not self.levels or not self.levels[0]:
            raise InputError(f"{where}: levels must be lists of values, the first one with each value once.")
        if len(set(self.levels[0])) < len(self.levels[0]):
            raise InputError(f"{where}: level 0 must name each value once.")
        if self.role == "sensitive" and len(self.levels) > 1:
            raise InputError(f"{where}: a sensitive attribute is released as it is; give one list in levels.")
        for j, (fine, coarse) in enumerate(itertools.pairwise(self.levels)):
            if len(coarse) != len(fine):
                raise InputError(
                    f"{where}: level {j + 1} has {len(coarse)} entries for {len(fine)} values; give one each."
                )
            if len(set(zip(fine, coarse, strict=True))) > len(set(fine)):
                raise InputError(f"{where}: level {j + 1} splits a value of level {j}; a level may only merge.")
        if self.probabilities is not None and len(self.probabilities) != len(self.levels[0]):
            raise InputError(f"{where}: probabilities must be one number for each of its {len(self.levels[0])} values.")

    @property
    def height(self) -> int:
        """The last level."""
        return len(self.levels) - 1

    @cached_property
    def codes(self) -> tuple[IntArray, ...]:
        """The number of each value's group, at each level, by first appearance."""
        codes = []
        for level in self.levels:
            number = {name: i for i, name in enumerate(dict.fromkeys(level))}
            codes.append(np.array([number[name] for name in level], dtype=np.int64))
        return tuple(codes)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Groups at each level."""
        return tuple(len(set(level)) for level in self.levels)

    @cached_property
    def unsplit(self) -> tuple[tuple[int, ...], ...]:
        """`[level][below]`: the groups of a level that are still one group at a level below."""
        return tuple(
            tuple(
                int((np.bincount(np.unique(np.stack([coarse, fine]), axis=1)[0]) == 1).sum())
                for fine in self.codes[: level + 1]
            )
            for level, coarse in enumerate(self.codes)
        )

    def names(self, level: int) -> tuple[str, ...]:
        """The groups of a level, as numbered in `codes`."""
        return tuple(dict.fromkeys(self.levels[level]))


@dataclass(frozen=True)
class RowDomain:
    """What a row can be: a cell of quasi-identifiers, numbered `q`, and a sensitive value `v`; the row's code is `q·s + v`."""

    attributes: tuple[Attribute, ...]

    def __post_init__(self) -> None:
        if not self.attributes:
            raise InputError("A table needs at least one attribute.")
        names = [attribute.name for attribute in self.attributes]
        if len(set(names)) < len(names):
            raise InputError("Two attributes have the same name; give each its own.")

    @cached_property
    def quasi(self) -> tuple[Attribute, ...]:
        """The attributes that are generalized."""
        return tuple(attribute for attribute in self.attributes if attribute.role == "quasi")

    @cached_property
    def sensitive(self) -> tuple[Attribute, ...]:
        """The attributes that are kept."""
        return tuple(attribute for attribute in self.attributes if attribute.role == "sensitive")

    @cached_property
    def cells(self) -> int:
        """Combinations of values of the quasi-identifiers."""
        return math.prod(len(attribute.levels[0]) for attribute in self.quasi)

    @cached_property
    def values(self) -> int:
        """Combinations of sensitive values."""
        return math.prod(len(attribute.levels[0]) for attribute in self.sensitive)

    @property
    def size(self) -> int:
        """Different rows."""
        return self.cells * self.values

    @cached_property
    def nodes(self) -> tuple[Levels, ...]:
        """Every generalization (eq. 22: their number is the product of height + 1), the first attribute slowest."""
        return tuple(itertools.product(*(range(attribute.height + 1) for attribute in self.quasi)))

    def groups(self, node: Levels) -> int:
        """M: the generalized cells of a node."""
        return math.prod(a.sizes[level] for a, level in zip(self.quasi, node, strict=True))

    @cached_property
    def _merged(self) -> dict[Levels, IntArray]:
        return {}

    def merged(self, node: Levels) -> IntArray:
        """The generalized cell of each cell; kept, unless the cells are very many."""
        if node in self._merged:
            return self._merged[node]
        merged = np.zeros(1, dtype=np.int64)
        for attribute, level in zip(self.quasi, node, strict=True):
            codes = attribute.codes[level]
            merged = np.add.outer(merged * (int(codes.max()) + 1), codes).ravel()
        if self.cells * len(self.nodes) <= 10 * LISTED:
            merged.setflags(write=False)
            self._merged[node] = merged
        return merged

    def at(self, node: Levels, cells: IntArray) -> IntArray:
        """The generalized cells of these cells, also where all cells would be too many to list."""
        if self.cells <= LISTED:
            return self.merged(node)[cells]
        parts = np.unravel_index(cells, [len(a.levels[0]) for a in self.quasi])
        merged = np.zeros_like(cells)
        for attribute, level, part in zip(self.quasi, node, parts, strict=True):
            merged = merged * attribute.sizes[level] + attribute.codes[level][part]
        return merged

    def leaves(self, node: Levels) -> IntArray:
        """The cells that each generalized cell stands for."""
        leaves = np.ones(1, dtype=np.int64)
        for attribute, level in zip(self.quasi, node, strict=True):
            leaves = np.multiply.outer(leaves, np.bincount(attribute.codes[level])).ravel()
        return leaves

    def released(self, node: Levels, tables: IntArray) -> IntArray:
        """The releases of tables: of each row its generalized cell times s, plus the sensitive value as it is, sorted."""
        return np.sort(self.at(node, tables // self.values) * self.values + tables % self.values, axis=1)

    @cached_property
    def sensitive_codes(self) -> tuple[IntArray, ...]:
        """For each sensitive attribute, its value in each combination."""
        sizes = [len(attribute.levels[0]) for attribute in self.sensitive]
        grid = np.indices(sizes).reshape(len(sizes), -1) if sizes else np.zeros((0, 1), dtype=np.int64)
        return tuple(line.astype(np.int64) for line in grid)

    def without_sensitive(self) -> RowDomain:
        """The quasi-identifiers alone, for what does not depend on the sensitive values."""
        return RowDomain(self.quasi or (Attribute(name="", role="quasi", levels=(("",),)),))

    def row_names(self, node: Levels) -> list[tuple[str, ...]]:
        """The spelling of each released row code, its attributes in the order of the domain."""
        level = iter(node)
        parts = [a.names(next(level) if a.role == "quasi" else 0) for a in self.attributes]
        order = [*(i for i, a in enumerate(self.attributes) if a.role == "quasi")]
        order += [i for i, a in enumerate(self.attributes) if a.role == "sensitive"]
        back = [order.index(i) for i in range(len(order))]
        return [tuple(row[i] for i in back) for row in itertools.product(*(parts[i] for i in order))]


def input_count(domain: RowDomain, rows: int) -> int:
    """n: multisets of r rows (eq. 21). One possible row: one table. No row: the empty table."""
    return multisets(domain.size, rows)


def release_count(domain: RowDomain, rows: int, node: Levels) -> int:
    """Releases at a node, whatever is required of them (eq. 23); summed over the nodes, eq. 24."""
    return multisets(domain.groups(node) * domain.values, rows)


def multisets(size: int, rows: int) -> int:
    """Multisets of so many elements of a set: C(size + rows - 1, rows)."""
    return math.comb(size + rows - 1, rows) if size else int(not rows)


class Ranks:
    """The multisets of r elements of 0 .. size - 1, numbered: sorted elements c_0 <= c_1 <= ... have rank sum_i C(c_i + i, i + 1)."""

    def __init__(self, size: int, rows: int) -> None:
        self.count = multisets(size, rows)
        if self.count >= 1 << 62:
            raise OverflowError("too many multisets for a 64-bit rank")
        table = [[math.comb(c + i, i + 1) for c in range(size)] for i in range(rows)]
        self.table = np.array(table, dtype=np.int64).reshape(rows, size)

    def rank(self, tables: IntArray) -> IntArray:
        """The number of each line of sorted elements."""
        rank = np.zeros(len(tables), dtype=np.int64)
        for i, steps in enumerate(self.table):
            rank += steps[tables[:, i]]
        return rank

    def unrank(self, ranks: IntArray) -> IntArray:
        """The sorted elements of each number."""
        tables = np.empty((len(ranks), len(self.table)), dtype=np.int64)
        left = np.array(ranks, dtype=np.int64)
        for i in range(len(self.table) - 1, -1, -1):
            tables[:, i] = np.searchsorted(self.table[i], left, side="right") - 1
            left -= self.table[i][tables[:, i]]
        return tables

    def chunks(self, size: int = CHUNK) -> Iterator[IntArray]:
        """All of them in order, some at a time."""
        for first in range(0, self.count, size):
            yield self.unrank(np.arange(first, min(first + size, self.count), dtype=np.int64))


@dataclass(frozen=True, kw_only=True)
class Demand:
    """What a release must meet in every class: k rows, l distinct values of each sensitive attribute, and a distribution of
    each of them within t (half the L1 distance, i.e. the earth mover's with equal ground distance) of the whole table's.

    Merging classes never breaks any of the three, so the nodes that a table may be released at are closed upwards.
    """

    k: int = 1
    l: int = 1  # noqa: E741
    t: Fraction | None = None

    @property
    def lone_row_refused(self) -> bool:
        """Whether a class of one row fails, whatever the table."""
        return self.k >= 2 or self.l >= 2

    def reach(self, rows: int) -> list[int]:
        """For a class of m rows, the most that sum_v |w_v·r - W_v·m| may be: 2·t·m·r, in whole numbers."""
        assert self.t is not None
        return [int(2 * self.t * m * rows) for m in range(rows + 1)]

    def met(self, domain: RowDomain, tables: IntArray, node: Levels) -> BoolArray:
        """Whether the release of each table at this node meets all. A table without rows meets everything."""
        rows = tables.shape[1]
        if not rows:
            return np.ones(len(tables), dtype=bool)
        cell, value = domain.at(node, tables // domain.values), tables % domain.values
        same = cell[:, :, None] == cell[:, None, :]  # the class of each row, as a mask over the rows
        size = same.sum(axis=2)
        met: BoolArray = (size >= self.k).all(axis=1)
        if self.l > 1 or self.t is not None:
            for codes in domain.sensitive_codes:
                own = codes[value]
                distinct, far = np.zeros_like(size), np.zeros_like(size)
                for v in range(int(codes.max()) + 1):
                    has = own == v
                    w = (same & has[:, None, :]).sum(axis=2)
                    distinct += w > 0
                    far += np.abs(w * rows - has.sum(axis=1)[:, None] * size)
                met &= (distinct >= self.l).all(axis=1)
                if self.t is not None:  # in whole numbers, so that a distance of exactly t is within t
                    met &= (far <= np.array(self.reach(rows))[size]).all(axis=1)
        return met

    def allowed(self, domain: RowDomain, tables: IntArray) -> BoolArray:
        """For each table and node, whether it may be released there."""
        return np.stack([self.met(domain, tables, node) for node in domain.nodes], axis=1)
