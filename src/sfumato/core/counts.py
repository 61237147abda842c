"""How many rows share a tuple: what an engine hands over, and all that the kernels see of a table."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from .arrow import numpy
from .column import Column, IntArray, encode
from .noun import dataclass

_ROOM = 2**62  # keys are packed into 64-bit integers; beyond this product the key is made dense first


def pack(codes: Sequence[npt.NDArray[np.signedinteger[Any]]], sizes: Sequence[int], length: int) -> IntArray:
    """One integer key per tuple, in the lexicographic order of its codes.

    Where the product of the sizes does not fit 64 bits, the key so far is replaced by its rank, which keeps the order.
    """
    key = np.zeros(length, dtype=np.int64)
    room = 1
    for code, size in zip(codes, sizes, strict=True):
        size = max(size, 1)
        if room * size >= _ROOM:
            distinct, key = np.unique(key, return_inverse=True)
            room = len(distinct)
        key = key * size + code
        room *= size
    return key


def shuffled(length: int) -> IntArray:
    """The numbers below `length` in an order that says nothing and is the same everywhere: by a hash of each (SplitMix64).

    numpy.random would do it, too, and takes longer to load than most counts take.
    """
    key = np.arange(1, length + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    return np.argsort(hashed(key)).astype(np.int64)


def hashed(key: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Each number mixed by SplitMix64's last step, so that near numbers end up far apart."""
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        key = (key ^ (key >> np.uint64(shift))) * np.uint64(factor)
    return key ^ (key >> np.uint64(31))


@dataclass(frozen=True, eq=False)
class Counts:
    """Distinct tuples over `columns`, `codes[i]` the code of each in column i, and `n` rows of each.

    Tuples are in lexicographic order, so the same table gives the same arrays whatever its row order.
    """

    columns: tuple[Column, ...]
    codes: tuple[IntArray, ...]
    n: IntArray

    @classmethod
    def from_arrow(cls, table: pa.Table, by: Sequence[str], n: str) -> Counts:
        """From an engine's answer: one row per tuple. Tuples that the missing-value rule makes equal are merged."""
        encoded = [encode(name, table.column(i)) for i, name in enumerate(by)]
        counted = numpy(table.column(n)).astype(np.int64, copy=False)
        return cls.of([column for column, _ in encoded], [codes for _, codes in encoded], counted)

    @classmethod
    def of(cls, columns: Sequence[Column], codes: Sequence[IntArray], n: IntArray) -> Counts:
        """From tuples in any order, equal ones merged."""
        key = pack(codes, [len(column) for column in columns], len(n))
        order = np.argsort(key, kind="stable")
        key = key[order]
        first = np.flatnonzero(np.diff(key, prepend=key[:1] - 1)) if len(key) else np.zeros(0, dtype=np.int64)
        merged = np.add.reduceat(n[order], first) if len(key) else n
        return cls(tuple(columns), tuple(code[order[first]] for code in codes), merged)

    def _about(self) -> list[str]:
        return [f"{len(self.columns)} columns", f"{len(self.n):,} tuples", f"{self.rows:,} rows"]

    def __len__(self) -> int:
        return len(self.n)

    @property
    def names(self) -> tuple[str, ...]:
        """The counted columns, in order."""
        return tuple(column.name for column in self.columns)

    @cached_property
    def rows(self) -> int:
        """The rows behind the tuples."""
        return int(self.n.sum())

    @property
    def nbytes(self) -> int:
        """About how many bytes it takes, the spelled values included."""
        arrays = sum(array.nbytes for array in (*self.codes, self.n))
        return arrays + sum(int(column.values.nbytes) + 80 * len(column) for column in self.columns)

    def only(self, kept: npt.NDArray[np.bool_]) -> Counts:
        """Some of the tuples; a column then has only the values that are left."""
        columns, codes = [], []
        for column, code in zip(self.columns, self.codes, strict=True):
            used, inverse = np.unique(code[kept], return_inverse=True)
            columns.append(column.only(used))
            codes.append(inverse.astype(np.int64))
        return Counts(tuple(columns), tuple(codes), self.n[kept])

    def some(self, most: int) -> Counts:
        """These tuples, or so many of them, chosen without looking at them."""
        if len(self) <= most:
            return self
        kept = np.zeros(len(self), dtype=bool)
        kept[shuffled(len(self))[:most]] = True
        return self.only(kept)

    def column(self, name: str) -> Column:
        """A counted column by name."""
        return self.columns[self.names.index(name)]

    def code(self, name: str) -> IntArray:
        """The code of each tuple in one counted column."""
        return self.codes[self.names.index(name)]

    def spelled(self, by: Sequence[str] | None = None) -> list[tuple[str | None, ...]]:
        """Each tuple as it is spelled, over all columns or over these."""
        names = self.names if by is None else by
        texts = [[self.column(name).texts[code] for code in self.code(name).tolist()] for name in names]
        return list(zip(*texts, strict=True))

    def margin(self, name: str) -> IntArray:
        """The rows of each value of one counted column."""
        return exact(np.bincount(self.code(name), weights=self.n, minlength=len(self.column(name))))

    def key(self, by: Sequence[str]) -> IntArray:
        """One integer for each tuple, the same where these columns are the same, in the order of their codes."""
        return pack([self.code(name) for name in by], [len(self.column(name)) for name in by], len(self))

    def find(self, codes: Sequence[IntArray]) -> IntArray:
        """Where each of some tuples stands among these, -1 where it does not; a code of -1 is that of no value."""
        both = [np.append(ours, theirs) + 1 for ours, theirs in zip(self.codes, codes, strict=True)]
        key = pack(both, [len(column) + 1 for column in self.columns], len(both[0]))
        known, wanted = key[: len(self)], key[len(self) :]
        if not len(known):
            return np.full(len(wanted), -1, dtype=np.int64)
        at = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
        return np.where(known[at] == wanted, at, -1)

    def places(self, columns: Sequence[Column], codes: Sequence[IntArray]) -> IntArray:
        """`find` of tuples over other columns, whose values are the same by spelling: numbers on one side may be texts on the other."""
        return self.find(
            [ours.places(other)[code] for ours, other, code in zip(self.columns, columns, codes, strict=True)]
        )

    def group(self, by: Sequence[str]) -> tuple[Counts, IntArray]:
        """Roll up to fewer columns: the coarser counts, and for each of our tuples its group there. No scan."""
        if not by:  # one group, also of no rows
            return Counts((), (), np.array([self.rows])), np.zeros(len(self), dtype=np.int64)
        _, first, member = np.unique(self.key(by), return_index=True, return_inverse=True)
        n = np.bincount(member, weights=self.n, minlength=len(first)) if len(first) else np.zeros(0)
        codes = tuple(self.code(name)[first] for name in by)
        return Counts(tuple(map(self.column, by)), codes, exact(n)), member


def exact(sums: npt.NDArray[Any]) -> IntArray:
    """Float sums of counts as integers: exact below 2^53 rows, which no table reaches."""
    whole: IntArray = np.rint(sums).astype(np.int64)
    return whole
