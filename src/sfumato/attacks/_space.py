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
from typing import Any, cast

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


_Laid = list[tuple[tuple[str, ...], FloatArray | IntArray]]


@dataclass(frozen=True, eq=False)
class Targets:
    """People who are attacked, and how far they are from what was released."""

    space: Space
    frame: Frame
    _scales: dict[str, _Scale] = field(default_factory=dict)
    _layouts: dict[tuple[str, ...], _Laid] = field(default_factory=dict)
    _leads: dict[tuple[str, ...], tuple[int, IntArray, IntArray]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.frame)

    def blocks(self, width: int) -> Iterator[IntArray]:
        """The targets, as many at once as can each have so many numbers."""
        step = max(1, BLOCK // max(width, 1))
        for start in range(0, len(self), step):
            yield np.arange(start, min(start + step, len(self)))

    def distances(self, rows: IntArray, names: Sequence[str]) -> FloatArray:
        """The distance of each of these targets from each distinct released tuple over columns: `[target, tuple]`."""
        terms, plain = self._terms(rows, names)
        count = len(self.space.tuples(names))
        away = np.zeros((len(rows), count))
        step = max(1, _CHUNK // len(rows))
        for start in range(0, count, step):  # so few at once that they stay in the processor's cache
            here = slice(start, start + step)
            sums = away[:, here]
            for table, member in terms:
                sums += np.take(table, member[here], axis=1)
            for value, number in plain:
                far = value[:, None] - number[here]
                np.abs(far, out=far)
                sums += np.minimum(far, 1.0, out=far)
        away /= len(names)
        return away

    def nearest(self, rows: IntArray, names: Sequence[str], count: int = 1) -> Near:
        """The released tuples that hold the `count` nearest rows of each of these targets, without looking at all of them.

        Tuples are looked at by their values in some columns, those first that are nearest in these; what is farther in these alone
        than the nearest rows found so far cannot be nearer in all.
        """
        n = self.space.tuples(names).n
        terms, plain = self._terms(rows, names)
        if not terms:  # numbers only
            away = self.distances(rows, names)
            target, at = np.nonzero(away <= _limit(away, n, count)[:, None] + TIE)
            return _chosen(target, at, away[target, at], n, count, len(rows))
        at_lead, inside, start = self._lead(names)
        table, member = terms[at_lead]
        lead = table / len(names)
        bound = _limit(lead, np.bincount(member, weights=n, minlength=table.shape[1]) if count > 1 else n, count)
        seen = 0
        for _ in range(2):
            target, group = np.nonzero(lead <= bound[:, None] + TIE)
            if len(group) == seen:  # nothing that was not looked at
                break
            seen = len(group)
            place, run = expand(start[group], start[group + 1] - start[group])
            target, at = target[run], inside[place]
            away = np.zeros(len(at))
            for told, whose in terms:
                away += told[target, whose[at]]
            for value, number in plain:
                away += np.minimum(np.abs(value[target] - number[at]), 1.0)
            away /= len(names)
            found = _chosen(target, at, away, n, count, len(rows))
            bound = found.limit
        return found

    def _terms(
        self, rows: IntArray, names: Sequence[str]
    ) -> tuple[list[tuple[FloatArray, IntArray]], list[tuple[FloatArray, FloatArray]]]:
        """What distances are added up from: tables by combinations of values, and numbers on both sides by their range."""
        codes = self.space.released.codes
        terms, plain = [], []
        for part, member in self._laid(names):
            scale = self._scale(part[0])
            if scale.plain and len(part) == 1 and scale.values is not None:  # numbers need no table of all pairs
                value = scale.values[self.frame.codes[part[0]][rows]] / scale.spread
                plain.append((value, cast(FloatArray, member)))
                continue
            among = self.space.tuples(part)  # several columns of few values are looked up at once
            table = np.zeros((len(rows), len(among)))
            for name in part:
                table += self._scale(name).table(self.frame.codes[name][rows])[:, codes[name][among.first]]
            terms.append((table, cast(IntArray, member)))
        return terms, plain

    def _laid(self, names: Sequence[str]) -> _Laid:
        """The parts of some columns, and for each tuple over all its combination in the part, or its number; found once."""
        key = tuple(names)
        if key not in self._layouts:
            space = self.space
            found: _Laid = []
            first = space.tuples(names).first
            for part in self._parts(names):
                scale = self._scale(part[0])
                if scale.plain and len(part) == 1:
                    number = scale.number[space.released.codes[part[0]][first]] / scale.spread
                    found.append((part, number))
                else:
                    found.append((part, space.tuples(part).member[first]))
            self._layouts[key] = found
        return self._layouts[key]

    def _lead(self, names: Sequence[str]) -> tuple[int, IntArray, IntArray]:
        """The part of most combinations, as its number among those that have tables, and the tuples of each of these."""
        key = tuple(names)
        if key not in self._leads:
            parts = [(p, m) for p, m in self._laid(names) if not (len(p) == 1 and self._scale(p[0]).plain)]
            sizes = [len(self.space.tuples(part)) for part, _ in parts]
            at = int(np.argmax(sizes))
            member = parts[at][1]
            inside = np.argsort(member, kind="stable")
            self._leads[key] = (at, inside, np.searchsorted(member[inside], np.arange(sizes[at] + 1)))
        return self._leads[key]

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


@dataclass(frozen=True, eq=False)
class Near:
    """Targets and released tuples that hold their nearest rows, by target; `limit` is how far the last of these rows is.

    `tied` says which tuples are as near as the last row: of their rows some are among the nearest, of all others all.
    """

    target: IntArray
    tuple: IntArray
    tied: BoolArray
    limit: FloatArray


def _limit(away: FloatArray, n: Any, count: int) -> FloatArray:
    """How far the last of so many nearest rows is: `[target, tuple]`, each tuple of n rows."""
    if count == 1:
        least: FloatArray = away.min(axis=1)
        return least
    some = min(count, away.shape[1])
    order = np.argpartition(away, some - 1, axis=1)[:, :some]
    there = np.take_along_axis(away, order, axis=1)
    sort = np.argsort(there, axis=1, kind="stable")
    reached = np.cumsum(n[np.take_along_axis(order, sort, axis=1)], axis=1) >= count
    last = np.take_along_axis(sort, reached.argmax(axis=1)[:, None], axis=1)
    found: FloatArray = np.take_along_axis(there, last, axis=1)[:, 0]
    return found


def _chosen(target: IntArray, at: IntArray, away: FloatArray, n: IntArray, count: int, size: int) -> Near:
    """Of pairs of targets and tuples those that hold the nearest rows; each target has so many rows at least."""
    if count == 1:
        limit = np.full(size, np.inf)
        np.minimum.at(limit, target, away)
    else:
        order = np.lexsort((away, target))
        until = np.cumsum(n[at[order]])
        first = np.searchsorted(target[order], np.arange(size))
        before = np.concatenate([[0], until])[first]
        limit = away[order[np.searchsorted(until, before + count)]]
    keep = np.flatnonzero(away <= limit[target] + TIE)
    keep = keep[np.lexsort((at[keep], target[keep]))]
    return Near(target[keep], at[keep], away[keep] >= limit[target[keep]] - TIE, limit)


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
                inside = own.covered(text)
                if inside is None or not len(inside):
                    continue
                self.narrow[i] = _NARROW * np.log2(len(inside))
                if known is not None:
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
