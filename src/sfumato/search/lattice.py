"""The generalization lattice: a level for every quasi-identifier, from the values themselves to `*`.

A node is a tuple of levels. One node generalizes another if none of its levels is lower; what it releases is then a
function of what the other releases, so its classes are unions of the other's.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np

from ..core.arrow import strings
from ..core.column import Column, FloatArray, IntArray, encode
from ..core.counts import Counts, exact
from ..core.cover import Domain
from ..core.errors import InputError
from ..core.hierarchy import TOP, Hierarchy
from ..core.noun import dataclass
from ..core.roles import Roles

Levels = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Ladder:
    """One quasi-identifier: `codes[h]` numbers what each value of the column becomes at level h, `labels[h]` spells it.

    The missing value stays missing at every level but the last, where it is `*` like all others.
    """

    column: Column
    rows: IntArray
    codes: tuple[IntArray, ...]
    labels: tuple[tuple[str | None, ...], ...]
    domain: Domain

    @classmethod
    def of(cls, column: Column, rows: IntArray, roles: Roles) -> Ladder:
        """From the hierarchy that the roles name; a column without one is released as it is or as `*`."""
        hierarchy = roles.hierarchy(column) or _two_levels(column)
        codes, labels = [], []
        for level in hierarchy.levels[:-1]:
            texts: list[str | None] = [*level, *([None] if column.has_missing else [])]
            number = {text: i for i, text in enumerate(dict.fromkeys(texts))}
            codes.append(np.array([number[text] for text in texts], dtype=np.int64))
            labels.append(tuple(number))
        codes.append(np.zeros(len(column), dtype=np.int64))
        labels.append((TOP,))
        taxonomy = roles.taxonomy(column.name)
        return cls(column, rows, tuple(codes), tuple(labels), Domain(column, taxonomy or roles.hierarchy(column)))

    @property
    def name(self) -> str:
        """The quasi-identifier."""
        return self.column.name

    @property
    def height(self) -> int:
        """The highest level, `*`."""
        return len(self.codes) - 1

    @cached_property
    def leaves(self) -> tuple[FloatArray, ...]:
        """At each level, how many values of the domain the released form of each value covers."""
        by_level = []
        for code, labels in zip(self.codes, self.labels, strict=True):
            leaves = [self.domain.leaves(label) for label in labels]
            if None in leaves:
                raise InputError(f"Column {self.name!r}: some labels of its hierarchy cannot be read as values.")
            by_level.append(np.array(leaves, dtype=np.float64)[code])
        return tuple(by_level)

    @cached_property
    def grouped(self) -> tuple[IntArray, ...]:
        """At each level, how many rows share the released form of each value."""
        return tuple(exact(np.bincount(code, weights=self.rows))[code] for code in self.codes)

    @cached_property
    def released(self) -> tuple[tuple[Column, IntArray], ...]:
        """At each level the released column, and the code there of each value."""
        by_level = []
        for code, labels in zip(self.codes, self.labels, strict=True):
            column, of_label = encode(self.name, strings(labels))
            by_level.append((column, of_label[code]))
        return tuple(by_level)


def _two_levels(column: Column) -> Hierarchy:
    texts = tuple(text for text in column.texts if text is not None)
    return Hierarchy(column.name, (texts, (TOP,) * len(texts)))


@dataclass(frozen=True, eq=False)
class Lattice:
    """All nodes over some quasi-identifiers."""

    ladders: tuple[Ladder, ...]

    @classmethod
    def of(cls, counts: Counts, roles: Roles) -> Lattice:
        """Over the quasi-identifiers of a counted table."""
        return cls(tuple(Ladder.of(counts.column(name), counts.margin(name), roles) for name in roles.quasi))

    @property
    def names(self) -> tuple[str, ...]:
        """The quasi-identifiers."""
        return tuple(ladder.name for ladder in self.ladders)

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of levels of each."""
        return tuple(ladder.height + 1 for ladder in self.ladders)

    @property
    def top(self) -> Levels:
        """The node where everything is `*`."""
        return tuple(ladder.height for ladder in self.ladders)

    @property
    def bottom(self) -> Levels:
        """The node where nothing is generalized."""
        return (0,) * len(self.ladders)

    @property
    def nodes(self) -> int:
        """How many nodes there are."""
        return math.prod(self.shape)

    def read(self, levels: Mapping[str, int] | Sequence[int]) -> Levels:
        """A node from levels by column, all of them named."""
        if not isinstance(levels, Mapping):
            levels = dict(zip(self.names, levels, strict=True))
        for name in levels:
            if name not in self.names:
                raise InputError(f"Column {name!r} is no quasi-identifier; those are {', '.join(self.names)}.")
        node = []
        for ladder in self.ladders:
            level = levels.get(ladder.name)
            if level is None:
                raise InputError(f"Give a level for {ladder.name!r}, from 0 (as it is) to {ladder.height} (*).")
            if not 0 <= level <= ladder.height:
                raise InputError(f"Column {ladder.name!r} has levels 0 to {ladder.height}; {level} is none of them.")
            node.append(level)
        return tuple(node)

    def name(self, node: Levels) -> dict[str, int]:
        """The levels by column."""
        return dict(zip(self.names, node, strict=True))
