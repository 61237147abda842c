"""How many rows are unique on which combinations of columns, worst first, and how much each column adds.

Combination frequencies as statistics offices look at them. A missing value is a value. Where the distinct tuples of a
set of columns fit in memory they are counted once and rolled up; where they do not, the engine counts in place.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from math import prod
from typing import Any

import numpy as np

from ..core.counts import Counts
from ..core.noun import dataclass
from ..core.table import Table
from .subsets import largest_within, subsets, without_each

TUPLES = 3_000_000  # distinct tuples of up to ten columns that may be held in memory at once
COMBINATIONS = 2_000  # sets of columns that are looked at


@dataclass(frozen=True)
class Combination:
    """Rows that nobody shares: alone in the table on these columns."""

    columns: tuple[str, ...]
    unique_rows: int
    classes: int
    share: float

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {**vars(self), "columns": list(self.columns)}


@dataclass(frozen=True)
class Addition:
    """What one column adds to all the others: the rows that are unique with it and were not without it."""

    column: str
    distinct: int
    entropy: float | None
    """Of the column alone, in bits; None where its values were too many to count in memory."""
    unique_alone: int
    unique_without: int
    adds: int

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "column": self.column,
            "distinct": self.distinct,
            "entropy_bits": self.entropy,
            "unique_alone": self.unique_alone,
            "unique_without": self.unique_without,
            "adds": self.adds,
        }


@dataclass(frozen=True)
class Uniqueness:
    """All columns together, every combination up to `most` of them (worst first), and what each column adds."""

    together: Combination
    most: int
    combinations: tuple[Combination, ...] = ()
    adds: tuple[Addition, ...] = ()
    notes: tuple[str, ...] = ()


def entropy(counts: Counts) -> float:
    """Of the counted values, in bits."""
    p = counts.n / counts.rows
    return abs(float(-(p * np.log2(p)).sum()))  # abs: a constant has 0, not -0


def uniqueness(
    table: Table,
    columns: Sequence[str],
    *,
    rows: int,
    about: Mapping[str, int],
    values: Mapping[str, Counts | None],
    most: int = 3,
    tuples: int = TUPLES,
    combinations: int = COMBINATIONS,
) -> Uniqueness:
    """Uniqueness over `columns`; `about` tells how many distinct values each has, `values` their counts where known."""
    columns = tuple(columns)
    size = largest_within(len(columns), most, combinations)
    notes = []
    if size < min(most, len(columns)):
        notes.append(
            f"{len(columns)} columns have too many combinations of {most}, so Sfumato looked at combinations of up to {size}. Name "
            "fewer quasi-identifiers to look at larger ones."
        )
    if not columns or not rows:
        return Uniqueness(Combination(columns, 0, min(rows, 1), 0.0), size, notes=tuple(notes))
    work = _Work(table, rows, about, values, tuples)
    work.run(columns, size)

    def combination(names: frozenset[str]) -> Combination:
        unique, classes = work.found[names]
        return Combination(tuple(c for c in columns if c in names), unique, classes, unique / rows)

    risky = [combination(names) for names in work.found if 1 <= len(names) <= size]
    risky.sort(key=lambda c: (-c.unique_rows, len(c.columns), [columns.index(name) for name in c.columns]))
    together = combination(frozenset(columns))
    adds = []
    for column in columns:
        alone, distinct = work.found[frozenset((column,))]
        without = work.found[frozenset(columns) - {column}][0]
        own = work.counted((column,))
        bits = None if own is None else entropy(own)
        adds.append(Addition(column, distinct, bits, alone, without, together.unique_rows - without))
    adds.sort(key=lambda a: (-a.adds, -(a.entropy or 0.0), columns.index(a.column)))
    return Uniqueness(together, size, tuple(risky), tuple(adds), tuple(notes))


@dataclass
class _Work:
    """What has been counted so far, and where the next count is made: in memory if it fits, else by parts or in place."""

    table: Table
    rows: int
    about: Mapping[str, int]
    values: Mapping[str, Counts | None]
    tuples: int
    found: dict[frozenset[str], tuple[int, int]] = field(default_factory=dict)
    """The rows alone on each set of columns, and its distinct tuples."""

    def run(self, columns: tuple[str, ...], most: int) -> None:
        """Find every set of up to `most` columns, all of them together, and all but one.

        While the tuples over the remaining columns do not fit in memory, the widest column is taken out: the sets with
        it are counted apart, and the sets without it need fewer tuples.
        """
        self.found[frozenset()] = (int(self.rows == 1), 1)
        whole = [frozenset(columns), *(frozenset(columns) - {column} for column in columns)]
        rest = tuple(sorted(columns, key=lambda c: (-self.about[c], columns.index(c))))
        while rest:
            counts = self.counted(rest)
            if counts is not None:
                self._roll_up([counts], most, 0, [names for names in whole if names <= set(rest)])
                return
            self._with_widest(rest, most, [names for names in whole if rest[0] in names and names <= set(rest)])
            rest = rest[1:]

    def _with_widest(self, rest: tuple[str, ...], most: int, whole: Sequence[frozenset[str]]) -> None:
        """Every set that holds the first of these columns."""
        self.in_place(rest[:1])
        parts = -(-3 * self.in_place(rest)[1] // (2 * self.room(rest)))
        heaviest = self.values.get(rest[0])
        dealt = self.table.part(rest[0], of=parts, at=0)
        if dealt is not None and heaviest is not None and int(heaviest.n.max()) <= self.room(rest):
            # All rows of a value are in one part, so what is alone there is alone in the table.
            several = (self.table.part(rest[0], of=parts, at=at) for at in range(parts))
            self._roll_up((part.count(rest) for part in several if part is not None), most, 1, whole)
            return
        for size in range(most):
            for others in itertools.combinations(rest[1:], size):
                self.in_place((rest[0], *others))
        for names in whole:
            self.in_place(tuple(column for column in rest if column in names))

    def _roll_up(self, parts: Iterable[Counts], most: int, fixed: int, whole: Sequence[frozenset[str]]) -> None:
        """Add up what the parts' tuples tell of the sets that hold the first `fixed` columns, and of the whole sets."""
        sums: dict[frozenset[str], tuple[int, int]] = defaultdict(lambda: (0, 0))
        for counts in parts:
            names = counts.names
            rolled = [(frozenset(names[i] for i in at), alone) for at, alone in subsets(counts, most, fixed=fixed)]
            rolled.append((frozenset(names), (int((counts.n == 1).sum()), len(counts))))
            if any(len(wanted) < len(names) for wanted in whole):
                rolled += [(frozenset(names) - {names[i]}, alone) for i, alone in without_each(counts)]
            for key, (unique, classes) in dict(rolled).items():  # a set may be told twice
                sums[key] = (sums[key][0] + unique, sums[key][1] + classes)
        self.found.update(sums)

    def in_place(self, by: tuple[str, ...]) -> tuple[int, int]:
        """The rows alone on `by` and its distinct tuples, counted in the engine and remembered."""
        key = frozenset(by)
        if key not in self.found:
            known = self.values.get(by[0]) if len(by) == 1 else None
            self.found[key] = (
                (int((known.n == 1).sum()), len(known)) if known is not None else self.table.unique_rows(by)
            )
        return self.found[key]

    def counted(self, by: tuple[str, ...]) -> Counts | None:
        """The counts over `by` if their tuples fit in memory, else None."""
        if len(by) == 1 and (known := self.values.get(by[0])) is not None:
            return known
        most = min(6 * prod(self.about[column] + 1 for column in by) // 5, self.rows)
        if most > self.room(by) and self.in_place(by)[1] > self.room(by):
            return None
        return self.table.count(by)

    def room(self, by: tuple[str, ...]) -> int:
        """How many tuples over `by` may be held at once: fewer, if they are wide."""
        return max(10 * self.tuples // max(len(by), 10), 1)
