"""Original, released and control rows in one space, for attacks by nearness and by chosen columns.

How far a released row is from what is known of a person is Gower's distance: the mean over columns, each between 0 and 1.

| released value                                  | column of numbers                        | other column      |
|-------------------------------------------------|------------------------------------------|-------------------|
| a number, as it was or with noise               | the difference by the range of the original, at most 1 | 0 if equal, else 1 |
| interval, taxonomy node, set, mask, `*`         | 0 if it covers the value, else the gap by the range    | 0 if it covers the value, else 1 |
| missing, or a text that cannot be read          | 0 if both are missing, else 1            | 0 if equal, else 1 |

So a row that a person may be in is never farther than one that the person cannot be in, however wide it is. Of rows equally near the
narrowest come first, by the product of the values that they cover: that is where a person is likeliest if people are spread evenly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace

import numpy as np

from ...core.column import IntArray
from ...core.cover import Domain
from ...core.errors import InputError, Unavailable
from ...core.hierarchy import Hierarchy
from ...core.noun import dataclass
from ...core.release import Release
from ...core.roles import Roles
from ...core.table import Table
from ...mining.rows import MOST, Frame, align
from .targets import Targets


@dataclass(frozen=True, eq=False)
class Tuples:
    """The distinct released tuples over some columns: a row that has each, the tuple of each row, and the rows of each."""

    first: IntArray
    member: IntArray
    n: IntArray

    def __len__(self) -> int:
        return len(self.first)


@dataclass(frozen=True, eq=False)
class Space:
    """The rows of a release, of its original and of people outside it."""

    original: Frame
    released: Frame
    control: Frame | None
    roles: Roles
    sampled: bool = False
    """Whether only some of the rows are here."""
    _tuples: dict[tuple[str, ...], Tuples] = field(default_factory=dict)
    _taxonomies: dict[str, Hierarchy | None] = field(default_factory=dict)

    @classmethod
    def of(cls, release: Release, roles: Roles, control: Table | None, *, seed: int) -> Space:
        """Read all of them. Which released row is whose is not asked: no adversary knows."""
        table, original = release.table, release.original
        if release.statistics:
            raise Unavailable(
                f"{table.name} holds statistics, not rows, so nobody can be looked up in it; attack a release of rows."
            )
        if original is None:
            raise Unavailable("This attack needs the original table to know what is true; give it with --original.")
        roles.check(original.columns, where=original.name)
        names = roles.released(original.columns)
        rng = np.random.default_rng([seed, 7])
        ours, fewer = _read(original, names, rng)
        if release.joined_by is not None:  # only groups join the columns: within one, values are dealt out at random
            sides = align(replace(release, pairing="none", recoding=None), roles, seed=seed)
            theirs, sampled = sides.released, sides.sampled
        else:
            theirs, sampled = _read(table, [name for name in names if name in table.columns], rng)
        shared = [name for name in names if name in theirs.columns]
        if not shared:
            raise InputError(f"{table.name} has none of the columns of {original.name} that the roles release.")
        outside = None
        if control is not None:
            lacking = [name for name in shared if name not in control.columns]
            if lacking:
                raise InputError(
                    f"{control.name}: no column {lacking[0]!r}; the control table has the columns of the original."
                )
            outside = _read(control, shared, rng)[0]
        return cls(ours, theirs, outside, roles, fewer or sampled)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that original and release share."""
        return tuple(name for name in self.original.names if name in self.released.columns)

    def columns(self, wanted: Sequence[str] | None, what: str) -> tuple[str, ...]:
        """Columns that were asked for, checked; all if nothing was said."""
        columns = self.names if wanted is None else tuple(dict.fromkeys(wanted))
        if not columns:
            raise InputError(f"{what} needs a column at least; original and release share {', '.join(self.names)}.")
        for name in columns:
            if name not in self.names:
                raise InputError(
                    f"{what}: no column {name!r} that original and release share; they share {', '.join(self.names)}."
                )
        return columns

    def taxonomy(self, name: str) -> Hierarchy | None:
        """The owner's taxonomy of a column, read once."""
        if name not in self._taxonomies:
            self._taxonomies[name] = self.roles.taxonomy(name)
        return self._taxonomies[name]

    def domain(self, name: str) -> Domain:
        """The values that a column may have had."""
        return Domain(self.original.columns[name], self.taxonomy(name))

    def tuples(self, names: Sequence[str]) -> Tuples:
        """The distinct released tuples over columns, counted once."""
        key = tuple(names)
        if key not in self._tuples:
            key_of = self.released.key(names)
            _, first, member, n = np.unique(key_of, return_index=True, return_inverse=True, return_counts=True)
            self._tuples[key] = Tuples(first, member, n)
        return self._tuples[key]

    def targets(self, people: Frame, names: Sequence[str], most: int, seed: int) -> Targets:
        """At most so many people, with what is known of them."""
        rows = draw(len(people), most, seed)
        columns, codes = {}, {}
        for name in names:
            used, codes[name] = np.unique(people.codes[name][rows], return_inverse=True)
            columns[name] = people.columns[name].only(used)
        return Targets(self, Frame(columns, codes, len(rows)))


def _read(table: Table, names: Sequence[str], rng: np.random.Generator) -> tuple[Frame, bool]:
    """All rows of a table, or as many as are held in memory."""
    counts = table.count(tuple(names))
    if not counts.rows:
        raise InputError(f"{table.name} has no rows, so there is nobody to attack or to look up.")
    times = None
    if counts.rows > MOST:
        times = rng.multivariate_hypergeometric(counts.n, MOST, method="marginals")
    return Frame.of(counts, {name: name for name in names}, times), times is not None


def draw(count: int, most: int, seed: int) -> IntArray:
    """At most so many of the rows, in order."""
    if count <= most:
        return np.arange(count)
    return np.sort(np.random.default_rng(seed).permutation(count)[:most])
