"""The classes at any node of the lattice, rolled up from the smallest specialization that is already known.

Rows are counted once. A node's classes are unions of the classes of any node below it, so they are regrouped from
those: by a dense count where the node has few possible tuples, else by hashing packed integer keys.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ..core.arrow import numpy
from ..core.column import IntArray
from ..core.counts import Counts, exact, pack
from ..core.cover import BoolArray
from ..core.histories import same_histories
from ..core.noun import dataclass
from .lattice import Lattice, Levels
from .row_owners import RowOwners

Codes = npt.NDArray[np.int32]
ROOM = 2**62
STEP = 20_000
"""What looking at a node costs besides its cells, in cells."""
_CACHE = 192 * 2**20
"""Bytes of rolled-up tables that are kept to roll up from."""
_MANY = 6_000
"""Tables that are kept at most: choosing among more would take longer than rolling up."""


@dataclass(frozen=True, eq=False)
class Grouped:
    """The classes of a node: `size` rows each, `first` one of its base tuples; `n` rows of `value` in `member`.

    Entries stand by class, then by value. Without a sensitive attribute there are none. `weight` is what the rows of an entry weigh
    where people have several; else it is `n`.
    """

    levels: Levels
    first: IntArray
    size: IntArray
    member: IntArray
    value: IntArray
    n: IntArray
    weight: IntArray
    history: IntArray | None = None
    """Where the rows of a person stay joined: the history that each class is part of, so that those of one stay or go together."""
    people: IntArray | None = None
    """The people of each class, where they are known."""

    def together(self, kept: BoolArray) -> BoolArray:
        """Those of the classes that stay whose people have no row in one that goes."""
        if self.history is None or not len(kept):
            return kept
        broken = np.zeros(int(self.history.max()) + 1, dtype=bool)
        broken[self.history[~kept]] = True
        stays: BoolArray = ~broken[self.history]
        return stays

    def __len__(self) -> int:
        return len(self.size)

    @property
    def bytes(self) -> int:
        """The memory this takes."""
        return 8 * (2 * len(self.size) + 3 * len(self.member))


class Rollup:
    """Counts of the quasi-identifiers (and of sensitive columns, taken together as one value), and the nodes above."""

    def __init__(
        self,
        counts: Counts,
        lattice: Lattice,
        split: Sequence[str] = (),
        owners: RowOwners | None = None,
        *,
        joined: str | None = None,
    ) -> None:
        """`owners`: whose the counted tuples are, where people have several rows; `joined` is their column if the rows of each stay
        joined. A tuple is then of one person, and a class is all rows of one history that look alike.
        """
        self.lattice = lattice
        self.split = tuple(split)
        self.by = lattice.names if joined is None else (*lattice.names, joined)
        """What tells the base tuples apart."""
        tuples, member = counts.group(self.by)
        self.person = None if joined is None else tuples.columns[-1]
        self.who = tuples.codes[-1]
        """The person of each base tuple, where rows are joined."""
        if joined is not None:
            tuples = Counts(tuples.columns[:-1], tuples.codes[:-1], tuples.n)
        self.tuples = tuples
        self.rows = counts.rows
        self.owners = None if owners is None else owners.joined(member, len(tuples))
        """Whose the rows of each tuple of quasi-identifiers are."""
        self.joint = counts.group(self.split)[0] if split else None
        """The distinct combinations of sensitive values."""
        if split:
            _, value = counts.group(self.split)
            key, first = np.unique(member * len(self.joint or ()) + value, return_inverse=True)
            n = weight = exact(np.bincount(first, weights=counts.n, minlength=len(key)))
            if owners is not None:
                weight = exact(np.bincount(first, weights=owners.weight_of_tuples, minlength=len(key)))
            member, value = np.divmod(key, max(len(self.joint or ()), 1))
        else:
            member = value = n = weight = np.zeros(0, dtype=np.int64)
        self.base = Grouped(lattice.bottom, np.arange(len(tuples)), tuples.n, member, value, n, weight)
        # codes of each base tuple at each level: what keys are made of
        self.codes: list[list[Codes]] = [
            [np.ascontiguousarray(code[own].astype(np.int32)) for code in ladder.codes]
            for ladder, own in zip(lattice.ladders, tuples.codes, strict=True)
        ]
        self._sizes = [[len(labels) for labels in ladder.labels] for ladder in lattice.ladders]
        self._kept: list[Grouped] = [self.base]
        self._levels = np.zeros((1, len(lattice.shape)), dtype=np.int16)
        self._entries = np.array([len(self.base) + len(self.base.n)])
        self._bytes = 0
        self._last: tuple[Grouped, IntArray] | None = None
        self._turn = (
            threading.Lock()
        )  # what is kept is looked through and changed by one thread at a time; none waits for another's counting
        self.work = 0
        """Cells that were read so far: what a limit on work counts, the same on every machine."""

    def __call__(self, levels: Levels) -> Grouped:
        """The classes at a node."""
        if self.person is not None:
            return self._linked(levels)[0]
        with self._turn:
            below = np.flatnonzero((self._levels <= np.array(levels, dtype=np.int16)).all(axis=1))
            source = self._kept[int(below[np.argmin(self._entries[below])])]
        if source.levels == levels:
            return source
        grouped = self._regroup(source, levels)
        if len(grouped) + len(grouped.n) < 0.8 * (len(source) + len(source.n)):  # else the source does as well
            with self._turn:
                self._keep(grouped)
        return grouped

    def _linked(self, levels: Levels) -> tuple[Grouped, IntArray]:
        """The classes of joined rows at a node, and the class of every base tuple."""
        last = self._last
        if last is None or last[0].levels != levels:
            self._last = last = self._by_history(levels)
        return last

    def classes_of(self, levels: Levels, first: IntArray) -> list[Codes]:
        """For base tuples, their code at a node in every column."""
        return [codes[level][first] for codes, level in zip(self.codes, levels, strict=True)]

    def member(self, grouped: Grouped) -> IntArray:
        """The class of every base tuple at a node."""
        if self.person is not None:
            return self._linked(grouped.levels)[1]
        both = self.classes_of(grouped.levels, self.base.first)
        sizes = [sizes[level] for sizes, level in zip(self._sizes, grouped.levels, strict=True)]
        key = pack(both, sizes, len(self.base))
        order = np.argsort(key[grouped.first])
        found: IntArray = order[np.searchsorted(key[grouped.first][order], key)]
        return found

    def _regroup(self, source: Grouped, levels: Levels) -> Grouped:
        key, space = self.keys(source, levels)
        if (
            self.joint is None and space <= 8 * len(source) + 4096
        ):  # nothing to number: classes stand where their key is
            rows = np.bincount(key, weights=source.size, minlength=space)
            there = np.flatnonzero(rows)
            first = np.empty(space, dtype=np.int64)
            first[key[::-1]] = source.first[::-1]
            return Grouped(
                levels, first[there], exact(rows[there]), source.member, source.value, source.n, source.weight
            )
        member, count = self.merge(key, space)
        first = np.empty(count, dtype=np.int64)
        first[member[::-1]] = source.first[::-1]  # the first one of each class, whatever the route to it
        size = exact(np.bincount(member, weights=source.size, minlength=count))
        if self.joint is None:
            return Grouped(levels, first, size, source.member, source.value, source.n, source.weight)
        m = len(self.joint)
        key = member[source.member] * m + source.value
        space = count * m
        if space <= 8 * len(key) + 4096:
            summed = np.bincount(key, weights=source.n, minlength=space)
            there = np.flatnonzero(summed != 0)
            n = weight = exact(summed[there])
            if self.owners is not None:
                weight = exact(np.bincount(key, weights=source.weight, minlength=space)[there])
            return Grouped(levels, first, size, *np.divmod(there, m), n, weight)
        order = np.argsort(key, kind="stable")
        key = key[order]
        start = np.flatnonzero(np.diff(key, prepend=-1))
        n = weight = np.add.reduceat(source.n[order], start)
        if self.owners is not None:
            weight = np.add.reduceat(source.weight[order], start)
        return Grouped(levels, first, size, *np.divmod(key[start], m), n, weight)

    def people(self, grouped: Grouped, classes: IntArray) -> IntArray:
        """The different people of some classes of a node."""
        if grouped.people is not None:
            return grouped.people[classes]
        assert self.owners is not None
        number = np.full(len(grouped), -1, dtype=np.int64)
        number[classes] = np.arange(len(classes))
        member = number[self.member(grouped)]
        there = np.flatnonzero(member >= 0)
        return self.owners.in_classes(there, member[there], len(classes))

    def _by_history(self, levels: Levels) -> tuple[Grouped, IntArray]:
        """The classes where the rows of a person stay joined, and the class of every base tuple."""
        who, n = self.who, self.tuples.n
        sizes = [sizes[level] for sizes, level in zip(self._sizes, levels, strict=True)]
        _, what = np.unique(pack(self.classes_of(levels, self.base.first), sizes, len(n)), return_inverse=True)
        width = int(what.max()) + 1
        key, at = np.unique(who * width + what, return_inverse=True)
        history = same_histories(key // width, key % width, exact(np.bincount(at, weights=n)))
        key, first, member = np.unique(history[who] * width + what, return_index=True, return_inverse=True)
        size = exact(np.bincount(member, weights=n, minlength=len(key)))
        value_key, values = np.zeros(0, dtype=np.int64), self.base.value
        summed = weight = value_key
        if self.joint is not None:
            m = len(self.joint)
            value_key, where = np.unique(member[self.base.member] * m + values, return_inverse=True)
            summed = exact(np.bincount(where, weights=self.base.n, minlength=len(value_key)))
            weight = exact(np.bincount(where, weights=self.base.weight, minlength=len(value_key)))
        of_value, value = np.divmod(value_key, max(len(self.joint or ()), 1))
        own = key // width
        grouped = Grouped(levels, first, size, of_value, value, summed, weight, own, np.bincount(history)[own])
        return grouped, member

    def keys(self, source: Grouped, levels: Levels) -> tuple[IntArray, int]:
        """A key at the node for each class of the source, and how many keys there may be; columns at `*` tell nothing."""
        codes, sizes = [], []
        for own, size, level in zip(self.codes, self._sizes, levels, strict=True):
            if size[level] > 1:
                codes.append(own[level] if source is self.base else own[level][source.first])
                sizes.append(size[level])
        self.work += STEP + (len(codes) + 4) * len(source) + 4 * len(source.n)
        return pack(codes, sizes, len(source)), math.prod(sizes)

    def merge(self, key: IntArray, space: int) -> tuple[IntArray, int]:
        """The class at the node of each class of the source, from their keys."""
        length = len(key)
        if space >= ROOM:
            _, inverse = np.unique(key, return_inverse=True)
            return inverse.astype(np.int64), int(inverse.max()) + 1
        if space <= 8 * length + 4096:
            seen = np.zeros(space, dtype=bool)
            seen[key] = True
            number = np.cumsum(seen) - 1
            return number[key], int(number[-1]) + 1
        encoded = pc.dictionary_encode(pa.Array.from_buffers(pa.int64(), length, [None, pa.py_buffer(key)]))
        return numpy(encoded.indices).astype(np.int64), len(encoded.dictionary)

    def _keep(self, grouped: Grouped) -> None:
        """Keep a table to roll up from; where there are too many, the larger half goes."""
        self._kept.append(grouped)
        self._levels = np.vstack([self._levels, np.array(grouped.levels, dtype=np.int16)])
        self._entries = np.append(self._entries, len(grouped) + len(grouped.n))
        self._bytes += grouped.bytes
        if self._bytes > _CACHE or len(self._kept) > _MANY:
            order = np.argsort(self._entries, kind="stable")[: len(self._kept) // 2]
            stay = [0, *sorted(set(order.tolist()) - {0})]
            self._kept = [self._kept[i] for i in stay]
            self._levels, self._entries = self._levels[stay], self._entries[stay]
            self._bytes = sum(table.bytes for table in self._kept[1:])
