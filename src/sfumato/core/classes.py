"""The classes of a release, split by sensitive value: the small table that nearly every measure is a function of.

A class is the set of rows that share one released quasi-identifier tuple. The split is sparse (only values that occur
in a class are stored), so a million classes over a thousand sensitive values cost what the data holds, not the product.
"""

from __future__ import annotations

from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from .column import Column, FloatArray, IntArray
from .counts import Counts, exact
from .errors import Unavailable
from .noun import dataclass
from .population import Cover

if TYPE_CHECKING:
    from .hierarchy import Hierarchy


@dataclass(frozen=True, eq=False)
class Sensitive:
    """The sensitive attribute W over the whole table: its values, their counts, the owner's order and taxonomy of them."""

    column: Column
    total: IntArray
    order: tuple[str, ...] | None = None
    hierarchy: Hierarchy | None = None

    @cached_property
    def rank(self) -> IntArray | None:
        """The place of each value in the order; None if none is known."""
        return self.column.rank(self.order)

    @cached_property
    def prior(self) -> FloatArray:
        """p(w), the overall distribution."""
        return self.total / max(int(self.total.sum()), 1)

    @cached_property
    def entropy(self) -> float:
        """H(W) in bits."""
        p = self.prior[self.prior > 0]
        return float(-(p * np.log2(p)).sum()) + 0.0

    def lines(self, who: str, instead: str) -> tuple[Hierarchy, IntArray]:
        """The taxonomy, and the line of each value in it, -1 for the missing one; refused where there is none, or it lacks values."""
        name, taxonomy = self.column.name, self.hierarchy
        if taxonomy is None:
            raise Unavailable(
                f"{who} needs a taxonomy of the values of {name!r}; name its file in the roles file under [hierarchies], or {instead}."
            )
        texts = self.column.texts
        absent = sum(text is not None and text not in taxonomy.index for text in texts)
        if absent:
            raise Unavailable(
                f"{taxonomy.source}: the taxonomy of {name!r} lacks {absent} of its values; add a line for each, or {instead}."
            )
        return taxonomy, np.array([-1 if text is None else taxonomy.index[text] for text in texts], dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Classes:
    """Rows per class in `size`; where a sensitive attribute is given, `n` rows of `value` in `member` for each entry.

    Entries are sorted by class, then by value. `whole` are the rows of the table that the classes are part of, where they are
    not all of it; `cover` says whom of a population they cover, where one is known. Where people have several rows that nobody can
    join, `n` and `size` are what the rows weigh (core.person_weights), and `people` are the different people of each class.
    """

    size: IntArray
    member: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    value: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    n: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    split_by: Sensitive | None = None
    whole: int | None = None
    cover: Cover | None = None
    different: IntArray | None = None
    """The different people of each class, where rows are not people."""

    def _about(self) -> list[str]:
        return [f"{len(self.size):,} classes", f"{int(self.size.sum()):,} rows"]

    @classmethod
    def of(cls, member: IntArray, n: IntArray, *, count: int, value: IntArray, sensitive: Sensitive) -> Classes:
        """From entries in any order and number: `n` rows of class `member` (below `count`) hold `value`."""
        m = len(sensitive.total)
        key, where = np.unique(member * m + value, return_inverse=True)
        summed = exact(np.bincount(where, weights=n, minlength=len(key)))
        size = exact(np.bincount(member, weights=n, minlength=count))
        return cls(size, key // m, key % m, summed, sensitive)

    @classmethod
    def from_counts(
        cls,
        counts: Counts,
        *,
        quasi: tuple[str, ...],
        sensitive: str,
        order: tuple[str, ...] | None = None,
        hierarchy: Hierarchy | None = None,
    ) -> tuple[Classes, Counts]:
        """The classes over `quasi` in counts of `quasi` and `sensitive`, and the counts of the class tuples."""
        grouped, member = counts.group(quasi)
        column = counts.column(sensitive)
        value = counts.code(sensitive)
        total = exact(np.bincount(value, weights=counts.n, minlength=len(column)))
        attribute = Sensitive(column, total, order, hierarchy)
        # counts are lexicographic with the sensitive column last, so entries already stand in class and value order
        if counts.names == (*quasi, sensitive):
            return cls(grouped.n, member, value, counts.n, attribute), grouped
        return cls.of(member, counts.n, count=len(grouped), value=value, sensitive=attribute), grouped

    def __len__(self) -> int:
        return len(self.size)

    @property
    def sensitive(self) -> Sensitive:
        """The attribute by which the classes are split; only classes that are split by one are asked for it."""
        assert self.split_by is not None
        return self.split_by

    @property
    def people(self) -> IntArray:
        """The people of each class: its rows, where each row is another person."""
        return self.size if self.different is None else self.different

    @property
    def rows(self) -> int:
        """N, the rows in all classes."""
        return int(self.size.sum())

    @property
    def table_rows(self) -> int:
        """The rows of the table that these classes are part of."""
        if self.whole is not None:
            return self.whole
        return self.rows if self.split_by is None else int(self.split_by.total.sum())

    @cached_property
    def p(self) -> FloatArray:
        """p(w|c) of each entry."""
        return self.n / self.size[self.member]

    @cached_property
    def q(self) -> FloatArray:
        """p(w) of each entry's value, over the whole table."""
        return self.sensitive.prior[self.value]

    @cached_property
    def distinct(self) -> IntArray:
        """Sensitive values that occur in each class."""
        return np.bincount(self.member, minlength=len(self)).astype(np.int64)

    def sum(self, term: FloatArray) -> FloatArray:
        """Sum a term of each entry within its class."""
        return np.bincount(self.member, weights=term, minlength=len(self)).astype(np.float64, copy=False)

    @cached_property
    def entropy(self) -> FloatArray:
        """H(W|c) of each class in bits; a class of one value gives exactly 0."""
        bits = np.log2(self.size) - self.sum((self.n * np.log2(self.n)).astype(np.float64)) / self.size
        return np.where(self.distinct == 1, 0.0, np.maximum(bits, 0.0))
