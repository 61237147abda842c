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

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ..core.column import Column, FloatArray, IntArray
from ..core.counts import pack
from ..core.cover import BoolArray, Domain
from ..core.errors import InputError, Unavailable
from ..core.hierarchy import Hierarchy
from ..core.release import Release
from ..core.roles import Roles
from ..core.table import Table
from ..mining.features import number_of
from ..mining.rows import MOST, Frame, align

BLOCK = 10_000_000
"""Distances that are held at once."""
TIE = 1e-12
"""Distances nearer than this are the same, rounding aside."""
_NARROW = 1e-6  # what a doubling of the values covered adds: less than any gap that counts
_OUTSIDE = 1e-3  # at least so far is a number between others that are covered, and not itself
_PART = 4096  # combinations of columns whose distances are looked up together
_CHUNK = 100_000  # numbers that fit into the processor's cache


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
        found = self.names if wanted is None else tuple(dict.fromkeys(wanted))
        if not found:
            raise InputError(f"{what} needs a column at least; original and release share {', '.join(self.names)}.")
        for name in found:
            if name not in self.names:
                raise InputError(
                    f"{what}: no column {name!r} that original and release share; they share {', '.join(self.names)}."
                )
        return found

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
            frame = self.released
            packed = pack([frame.codes[n] for n in names], [len(frame.columns[n]) for n in names], len(frame))
            _, first, member, n = np.unique(packed, return_index=True, return_inverse=True, return_counts=True)
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


@dataclass(frozen=True, eq=False)
class Targets:
    """People who are attacked, and how far they are from what was released."""

    space: Space
    frame: Frame
    _scales: dict[str, _Scale] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.frame)

    def blocks(self, width: int) -> Iterator[IntArray]:
        """The targets, as many at once as can each have so many numbers."""
        step = max(1, BLOCK // max(width, 1))
        for start in range(0, len(self), step):
            yield np.arange(start, min(start + step, len(self)))

    def distances(self, rows: IntArray, names: Sequence[str]) -> FloatArray:
        """The distance of each of these targets from each distinct released tuple over columns: `[target, tuple]`."""
        space = self.space
        first = space.tuples(names).first
        away = np.empty((len(rows), len(first)))
        terms: list[tuple[FloatArray, IntArray]] = []
        plain: list[tuple[FloatArray, FloatArray]] = []
        for part in self._parts(names):
            scale = self._scale(part[0])
            if len(part) == 1 and scale.plain and scale.values is not None:  # numbers need no table of all pairs
                value = scale.values[self.frame.codes[part[0]][rows]] / scale.spread
                plain.append((value[:, None], scale.number[space.released.codes[part[0]][first]] / scale.spread))
                continue
            among = space.tuples(part)  # several columns of few values are looked up at once
            table = np.zeros((len(rows), len(among)))
            for name in part:
                table += self._scale(name).table(self.frame.codes[name][rows])[
                    :, space.released.codes[name][among.first]
                ]
            terms.append((table, among.member[first]))
        step = max(1, _CHUNK // len(rows))
        for start in range(0, len(first), step):  # so few at once that they stay in the processor's cache
            here = slice(start, start + step)
            sums = away[:, here]
            sums[...] = 0.0
            for table, member in terms:
                sums += np.take(table, member[here], axis=1)
            for value, number in plain:
                far = value - number[here]
                np.abs(far, out=far)
                sums += np.minimum(far, 1.0, out=far)
        away /= len(names)
        return away

    def _parts(self, names: Sequence[str]) -> list[tuple[str, ...]]:
        labels = {name: len(self.space.released.columns[name]) for name in names}
        parts: list[tuple[str, ...]] = []
        room = 0
        for name in sorted(names, key=lambda name: (labels[name], name)):
            if parts and room * labels[name] <= _PART:
                parts[-1] += (name,)
                room *= labels[name]
            else:
                parts.append((name,))
                room = labels[name]
        return parts

    def _scale(self, name: str) -> _Scale:
        if name not in self._scales:
            self._scales[name] = _Scale(self.space, self.frame.columns[name], name)
        return self._scales[name]


class _Scale:
    """How far values of one column are from each of its released labels."""

    def __init__(self, space: Space, column: Column, name: str) -> None:
        own, here = space.domain(name), Domain(column, space.taxonomy(name))
        released, known = space.released.columns[name], space.original.columns[name].numbers
        self.labels, self.size = len(released), len(column)
        self.number = np.full(self.labels, np.nan)
        self.low, self.high = self.number.copy(), self.number.copy()
        self.narrow = np.zeros(self.labels)
        self.one = np.full(self.labels, -1)  # the only value that a label covers
        many: list[int] = []
        masks: list[BoolArray] = []
        self.values: FloatArray | None = None
        self.plain = False  # whether all labels are numbers, and nothing is missing
        if known is not None:
            self.values = np.array([np.nan if t is None else _number(t) for t in column.texts])
            self.spread = float(np.nanmax(known) - np.nanmin(known)) or 1.0
        if self.values is not None and released.numbers is not None and own.hierarchy is None:
            self.number = released.numbers
            self.plain = not released.has_missing and not np.isnan(self.values).any()
            if released.has_missing and column.has_missing:
                self.one[-1] = self.size - 1
        else:
            for i, text in enumerate(released.texts):
                node = own.hierarchy is not None and text is not None and own.hierarchy.leaves.get(text, 1) > 1
                if known is not None and text is not None and not node and (number := number_of(text)) is not None:
                    self.number[i] = number
                    continue
                covered = here.covered(text)
                if covered is not None and len(covered) == 1:
                    self.one[i] = covered[0]
                elif covered is not None and len(covered) > 1:
                    many.append(i)
                    masks.append(np.bincount(covered, minlength=self.size).astype(bool))
                self.narrow[i] = _NARROW * np.log2(own.leaves(text) or 1)
                if known is not None and (inside := own.covered(text)) is not None:
                    there = known[inside][~np.isnan(known[inside])]
                    if len(there):
                        self.low[i], self.high[i] = there.min(), there.max()
        self.many = np.array(many, dtype=np.int64)
        self.masks = np.array(masks, dtype=bool).reshape(len(many), self.size)

    def table(self, codes: IntArray) -> FloatArray:
        """The distance of each of these values from each label: `[value, label]`."""
        used, at = np.unique(codes, return_inverse=True)
        found = np.ones((len(used), self.labels))
        if self.values is not None:
            value = self.values[used][:, None]
            away = np.abs(value - self.number)
            if len(self.many) or not np.isnan(self.low).all():
                gap = np.maximum(np.maximum(self.low - value, value - self.high), _OUTSIDE * self.spread)
                away = np.where(np.isnan(self.number), gap, away)
            found = np.fmin(away / self.spread, 1.0)  # what is missing or cannot be read is 1 away
        place = np.full(self.size + 1, -1)
        place[used] = np.arange(len(used))
        hit = place[self.one]  # -1 is the last place, which nobody has
        found[hit[hit >= 0], np.flatnonzero(hit >= 0)] = 0.0
        if len(self.many):
            found[:, self.many] = np.where(self.masks[:, used].T, 0.0, found[:, self.many])
        found += self.narrow
        return found[at]


def _number(text: str) -> float:
    number = number_of(text)
    return np.nan if number is None else number


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


def expand(start: IntArray, length: IntArray) -> tuple[IntArray, IntArray]:
    """The places of many runs one after the other, and the run that each belongs to."""
    run = np.repeat(np.arange(len(start)), length)
    before = np.cumsum(length) - length
    return np.arange(len(run)) - before[run] + start[run], run
