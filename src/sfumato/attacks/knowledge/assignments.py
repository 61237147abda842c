"""Every assignment of sensitive values to the people of their classes for which an algorithm would have published the same release."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa

from ...core.column import Column, FloatArray, IntArray, text_of
from ...core.counted_table import CountedTable
from ...core.counts import Counts
from ...core.errors import Infeasible, Unavailable
from ...core.mechanism import Mechanism
from ...core.noun import dataclass
from ...core.release import Evidence
from ...core.roles import Roles
from ...core.table import Recoding, Table

MOST_GROUPS = 300
"""Different people or values of a class up to which its assignments are counted out."""
Way = tuple[tuple[int, ...], ...]


class _World(CountedTable):
    """A table that might have been the original; what an algorithm would make of it is in the recoding alone."""

    def keep(self, columns: Sequence[str]) -> CountedTable:
        return self

    def recode(self, recoding: Recoding) -> Table:
        return self

    def instead(self, rows: pa.Table, times: pa.Array) -> Table:
        return self


@dataclass(frozen=True, eq=False)
class Puzzle:
    """People of equal quasi-identifiers are a group; each group is in one class. `truth[g, w]` people of group g have value w."""

    algorithm: Mechanism
    roles: Roles
    columns: tuple[Column, ...]
    codes: tuple[IntArray, ...]
    """The quasi-identifiers of each group."""
    released: tuple[tuple[str | None, ...], ...]
    """What each group is released as."""
    values: Column
    truth: IntArray

    @classmethod
    def of(cls, evidence: Evidence, column: str, algorithm: Mechanism) -> Puzzle:
        """From the original rows beside the released ones."""
        why, quasi = "minimality", evidence.tuples.names
        original = evidence.original(why)
        if evidence.release.joined_by is not None or evidence.release.table.rows != original.rows:
            raise Unavailable(
                "minimality is played where every row of the original is released with its own value; here rows were left out, or "
                "values are only joined by group."
            )
        both, names = evidence.sides((*quasi, column), why)
        before = tuple(f"original.{name}" for name in quasi)
        after = tuple(names[name] for name in quasi)
        counts = both.count((*before, *after, f"original.{column}"))
        groups, member = counts.group((*before, *after))
        if len(groups.group(before)[0]) < len(groups):
            raise Unavailable("minimality needs rows of equal quasi-identifiers in one class; here they are divided.")
        truth = np.zeros((len(groups), len(counts.columns[-1])), dtype=np.int64)
        np.add.at(truth, (member, counts.codes[-1]), counts.n)
        labels = [[groups.column(name).texts[code] for code in groups.code(name).tolist()] for name in after]
        renamed = tuple(replace(groups.column(b), name=name) for b, name in zip(before, quasi, strict=True))
        return cls(
            algorithm,
            replace(evidence.roles, sensitive=(column,), insensitive=(), identifiers=(), person=None, guarding=None),
            renamed,
            tuple(groups.codes[: len(quasi)]),
            tuple(zip(*labels, strict=True)),
            replace(counts.columns[-1], name=column),
            truth,
        )

    @cached_property
    def classes(self) -> list[list[int]]:
        """The groups of each class."""
        groups_of: dict[tuple[str | None, ...], list[int]] = {}
        for group, label in enumerate(self.released):
            groups_of.setdefault(label, []).append(group)
        return list(groups_of.values())

    @cached_property
    def texts(self) -> list[tuple[str | None, ...]]:
        """The quasi-identifiers of each group, as they are spelled."""
        return [
            tuple(column.texts[code[g]] for column, code in zip(self.columns, self.codes, strict=True))
            for g in range(len(self.truth))
        ]

    def publishes(self, world: IntArray) -> bool:
        """Whether the algorithm would publish this release if these were the values."""
        group, value = np.nonzero(world)
        counts = Counts.of(
            [*self.columns, self.values], [*(code[group] for code in self.codes), value], world[group, value]
        )
        try:
            made = self.algorithm(_World(counts, name="a possible table"), self.roles)
        except Infeasible:
            return False
        return self._recoded(made.recoding) == dict(zip(self.texts, self.released, strict=True))

    def _recoded(self, recoding: Recoding | None) -> Mapping[tuple[str | None, ...], tuple[str | None, ...]]:
        assert recoding is not None
        quasi = [column.name for column in self.columns]
        count = len(recoding.by) + len(recoding.to)
        texts = [[text_of(value) for value in recoding.table.column(i).to_pylist()] for i in range(count)]
        place = dict(zip((*recoding.by, *(f"to {name}" for name in recoding.to)), texts, strict=True))
        before = zip(*(place[name] for name in quasi), strict=True)
        after = zip(*(place.get(f"to {name}", place[name]) for name in quasi), strict=True)
        return dict(zip(before, after, strict=True))

    def _ways(self, c: int) -> Iterator[Way]:
        """Every way to give the values of a class to its groups."""
        here = self.truth[self.classes[c]]
        occurring = np.flatnonzero(here.sum(axis=0))
        if len(occurring) == 1:
            yield tuple(map(tuple, here.tolist()))
            return
        for way in _tables(tuple(here.sum(axis=0)[occurring].tolist()), here.sum(axis=1).tolist()):
            extended = np.zeros_like(here)
            extended[:, occurring] = way
            yield tuple(map(tuple, extended.tolist()))

    def _many(self, c: int) -> bool:
        here = self.truth[self.classes[c]]
        values = int((here.sum(axis=0) > 0).sum())
        return values > 1 and max(len(here), values) > MOST_GROUPS

    def assignments(self, classes: Any, most: int) -> int:
        """How many ways there are for these classes together, counted no further than above `most`."""
        ways = 1
        for c in classes:
            here = 0
            if self._many(c):
                return most + 1
            for _ in self._ways(c):
                here += 1
                if ways * here > most:
                    return most + 1
            ways *= here
        return ways

    def explain(self, classes: Any) -> tuple[dict[int, FloatArray], int]:
        """For the groups of these classes the belief in each value, all other values being true; and the assignments tried."""
        chosen = list(classes)
        world = self.truth.copy()
        total, tried = 0, 0
        sums = {g: [0] * len(self.values) for c in chosen for g in self.classes[c]}
        for ways in product(*(list(self._ways(c)) for c in chosen)):
            tried += 1
            for c, way in zip(chosen, ways, strict=True):
                world[self.classes[c]] = way
            if not self.publishes(world):
                continue
            # people of a group are told apart: so many assignments look like this one
            weight = math.prod(_orders(row) for way in ways for row in way)
            total += weight
            for c, way in zip(chosen, ways, strict=True):
                for g, row in zip(self.classes[c], way, strict=True):
                    for w, n in enumerate(row):
                        sums[g][w] += weight * n
        return {g: np.array([s / total for s in row]) / self.truth[g].sum() for g, row in sums.items()}, tried

    def plain(self, classes: Any) -> dict[int, FloatArray]:
        """The same from the classes alone."""
        shares: dict[int, FloatArray] = {}
        for c in classes:
            rows = self.truth[self.classes[c]].sum(axis=0)
            shares |= {g: rows / rows.sum() for g in self.classes[c]}
        return shares


def _orders(row: tuple[int, ...]) -> int:
    """In how many ways these numbers of values can be given to the people of a group."""
    return math.factorial(sum(row)) // math.prod(math.factorial(n) for n in row)


def _tables(values: tuple[int, ...], sizes: list[int]) -> Iterator[Way]:
    """Every table of counts with these column sums and row sums."""
    if len(sizes) == 1:
        yield (values,)
        return
    for row in _rows(values, sizes[0]):
        left = tuple(n - taken for n, taken in zip(values, row, strict=True))
        for rest in _tables(left, sizes[1:]):
            yield (row, *rest)


def _rows(values: tuple[int, ...], size: int) -> Iterator[tuple[int, ...]]:
    """Every choice of `size` values."""
    if len(values) == 1:
        if size <= values[0]:
            yield (size,)
        return
    for n in range(max(0, size - sum(values[1:])), min(values[0], size) + 1):
        for rest in _rows(values[1:], size - n):
            yield (n, *rest)
