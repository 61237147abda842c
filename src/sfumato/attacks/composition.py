"""Composition: two releases of overlapping people, and what only both together tell (Ganta, Kasiviswanathan, Smith 2008)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..core.arrow import strings
from ..core.column import Column, IntArray, encode
from ..core.counts import Counts
from ..core.cover import BoolArray, Domain
from ..core.errors import InputError, Unavailable
from ..core.release import Evidence, Release
from ..core.roles import Roles
from ..core.table import Table
from ._known import distinct, grouped, placed, spread, tuples_of
from ._match import Match, covered
from .attack import Attack, Rate

_BLOCK = 4_000_000


@dataclass(frozen=True, eq=False)
class _Sets:
    """Sets of codes: `value[first[i] : first[i + 1]]`, ascending."""

    first: IntArray
    value: IntArray
    values: int
    """How many values there are in all."""

    @cached_property
    def size(self) -> IntArray:
        return np.diff(self.first)

    @classmethod
    def of(cls, owner: IntArray, value: IntArray, owners: int, values: int) -> _Sets:
        key = distinct(owner * values + value)
        count = np.bincount(key // values, minlength=owners)
        return cls(np.concatenate([[0], np.cumsum(count)]), key % values, values)

    @cached_property
    def key(self) -> IntArray:
        """Owner and value of each member as one number."""
        return np.repeat(np.arange(len(self.first) - 1), self.size) * self.values + self.value

    def holds(self, which: IntArray, value: IntArray) -> BoolArray:
        """Whether sets hold a value, one by one."""
        wanted = which * self.values + value
        at = np.minimum(np.searchsorted(self.key, wanted), max(len(self.key) - 1, 0))
        found: BoolArray = self.key[at] == wanted if len(self.key) else np.zeros(len(wanted), dtype=bool)
        return found


def composition(
    release: Release,
    roles: Roles,
    *,
    previous: Release,
    previous_roles: Roles | None = None,
    sensitive: str | None = None,
    identity: str | None = None,
    control: Table | None = None,
    reveal: bool = False,
) -> Attack:
    """Intersect what two releases say of the sensitive value of those who are in both.

    The adversary knows the quasi-identifiers of a person. In each release, the candidate values are those of the classes that cover
    them; the person's value is in both sets, so it is in what they share. It *falls* if one value is left and it is theirs. The
    baseline has the previous release only. Exact: people are counted by the sets that they meet, and each two sets are intersected once.

    `previous`   the earlier release (or that of another house), with its original if that is another table
    `sensitive`  the column; by default the only one, or the first that both releases have
    `identity`   the column that names people in both originals; without it both releases must come from the same original
    `control`    people who are in neither release, with their quasi-identifiers and sensitive value
    `reveal`     name those whose value becomes certain (needs `identity`)

    Extremes: with the same release twice nothing is gained; 1 if the candidates of everybody share one value alone; 0 if everybody
    keeps two.
    """
    theirs = roles if previous_roles is None else previous_roles
    now, before = release.evidence(roles), previous.evidence(theirs)
    column = _column(now, before, sensitive)
    if reveal and identity is None:
        raise InputError("composition can only name people with a column that does; give identity (--identity).")
    original, earlier = now.original("composition"), _earlier(before, release.original)
    people = _people(now, before, original, earlier, column, identity)
    texts, codes = _domain(original, earlier, control, column)
    now_told, now_look = _told(now, people.now, column, texts, roles)
    before_told, before_look = _told(before, people.before, column, texts, theirs)
    met = _meet(now_told, before_told, now_look[people.now_at], before_look[people.before_at], codes[people.value])
    if not people.n.sum():
        raise Unavailable("composition: nobody is in both releases, so nothing can be put together.")
    attacked = int(people.n.sum())
    weigh = people.n.astype(np.float64)
    certain = met.certain
    fell = int(people.n[certain].sum())
    alone = [int(people.n[each].sum()) for each in (met.alone_now, met.alone_before)]
    rate = None
    if control is not None:
        rate = _control(now, before, control, column, texts, roles, theirs)
    details: dict[str, Any] = {
        "sensitive": column,
        "people_in_both": attacked,
        "certain": fell,
        "certain_from_release": alone[0],
        "certain_from_previous": alone[1],
        "certain_only_together": int(people.n[certain & ~met.alone_now & ~met.alone_before].sum()),
        "candidates_release": float(np.average(met.now, weights=weigh)),
        "candidates_previous": float(np.average(met.before, weights=weigh)),
        "candidates_together": float(np.average(met.both, weights=weigh)),
        "contradicted": int(people.n[met.both == 0].sum()),
        "misled": int(people.n[(met.both > 0) & ~met.holds].sum()),
    }
    if reveal and people.who is not None:
        names, code = people.who
        details["found"] = [names.texts[c] for c in np.unique(code[certain])]
    only = details["certain_only_together"]
    return Attack(
        name="composition",
        title="composition of two releases",
        knew=f"the quasi-identifiers of {attacked:,} people who are in both releases, and both releases",
        effort="a second release about the same people, and two look-ups a person",
        attacked=attacked,
        fell=float(fell),
        success=Rate.of(fell, attacked),
        baseline=Rate.of(alone[1], attacked),
        control=rate,
        sentence=f"Of {attacked:,} people in both releases, {fell:,} have their {column} told for certain, {only:,} of them by neither release "
        f"alone; candidate values fall from {min(details['candidates_release'], details['candidates_previous']):.3g} on average to "
        f"{details['candidates_together']:.3g}.",
        source="Ganta, Kasiviswanathan, Smith 2008",
        details=details,
    )


# --- who is in both, and with which value ----------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _People:
    """Entries of `n` people: their tuple in either original, their sensitive value, and who they are if that is asked."""

    now: Counts
    before: Counts
    now_at: IntArray
    before_at: IntArray
    value: IntArray
    n: IntArray
    who: tuple[Column, IntArray] | None = None


def _column(now: Evidence, before: Evidence, asked: str | None) -> str:
    for evidence in (now, before):
        release = evidence.release
        if release.statistics:
            raise Unavailable(
                "composition looks up classes of people, and one of the releases holds statistics instead."
            )
        noisy = [name for name in evidence.roles.quasi if name in release.perturbed]
        if noisy:
            raise Unavailable(
                f"composition looks up which classes cover a person, and {noisy[0]!r} was perturbed in {release.table.name}."
            )
    names = [asked] if asked is not None else [n for n in now.roles.sensitive if n in before.roles.sensitive]
    if not names:
        raise Unavailable("composition needs a sensitive column that both releases have; name it as sensitive.")
    for evidence in (now, before):
        release = evidence.release
        if names[0] in release.perturbed and release.joined_by is None:
            raise Unavailable(
                f"composition intersects candidate values, and {names[0]!r} was perturbed in {release.table.name}, so that "
                "classes need not hold the true ones."
            )
    return names[0]


def _earlier(before: Evidence, original: Table | None) -> Table:
    return original if before.release.original is None and original is not None else before.original("composition")


def _inside(evidence: Evidence, original: Table, names: Sequence[str]) -> Counts:
    """The original rows that were released, counted by these columns."""
    if evidence.release.table.rows == original.rows:
        return original.count(names)
    both, _ = evidence.sides(names, "composition")
    counts = both.count([f"original.{name}" for name in names])
    return Counts(counts.columns, counts.codes, counts.n)


def _people(
    now: Evidence, before: Evidence, original: Table, earlier: Table, column: str, identity: str | None
) -> _People:
    ours, theirs = now.tuples.names, before.tuples.names
    for table, needed in ((original, (*ours, column)), (earlier, (*theirs, column))):
        for name in needed:
            if name not in table.columns:
                raise Unavailable(f"{table.name}: no column {name!r}, which composition needs.")
    if identity is not None:
        return _by_identity(now, before, original, earlier, column, identity)
    if original is not earlier:
        raise Unavailable(
            "composition cannot tell who is in both releases: their originals are two tables; name a column that tells people "
            "apart in both with identity (--identity)."
        )
    names = list(dict.fromkeys((*ours, *theirs, column)))
    every = original.count(names)
    there = []
    for evidence in (now, before):
        if evidence.release.table.rows == original.rows:
            there.append(every.n)
            continue
        some = _inside(evidence, original, names)
        n = np.zeros(len(every), dtype=np.int64)
        at = tuples_of(some, every)
        n[at[at >= 0]] = some.n[at >= 0]
        there.append(n)
    both = np.minimum(*there)
    if ((there[0] < every.n) & (there[1] < every.n) & (both > 0)).any():
        raise Unavailable(
            "composition cannot tell who is in both releases: each left out some of the people who have the same values; name a "
            "column that tells them apart with identity (--identity)."
        )
    kept = np.flatnonzero(both)

    def part(by: Sequence[str]) -> tuple[Counts, IntArray]:
        at = [every.names.index(name) for name in by]
        return grouped([every.columns[i] for i in at], [every.codes[i][kept] for i in at], both[kept])

    (a, a_at), (b, b_at) = part(ours), part(theirs)
    return _People(a, b, a_at, b_at, every.codes[every.names.index(column)][kept], both[kept])


def _by_identity(
    now: Evidence, before: Evidence, original: Table, earlier: Table, column: str, identity: str
) -> _People:
    sides = []
    for evidence, table, last in ((now, original, (column,)), (before, earlier, ())):
        if identity not in table.columns:
            raise InputError(f"{table.name}: no column {identity!r}; name one that tells people apart with identity.")
        counts = _inside(evidence, table, (identity, *evidence.tuples.names, *last))
        known = counts.codes[0] < len(counts.columns[0].values)
        code = counts.codes[0][known]
        if len(np.unique(code)) < len(code) or (counts.n[known] > 1).any():
            raise Unavailable(
                f"{table.name}: some people have several rows by {identity!r}; composition needs one row a person."
            )
        sides.append((counts, np.flatnonzero(known)))
    (a, a_rows), (b, b_rows) = sides
    place = placed(a.columns[0], b.columns[0])[a.codes[0][a_rows]]
    where = np.full(len(b.columns[0]) + 1, -1, dtype=np.int64)
    where[b.codes[0][b_rows]] = b_rows
    found = where[place]
    a_rows, b_rows = a_rows[found >= 0], found[found >= 0]
    ones = np.ones(len(a_rows), dtype=np.int64)
    left, left_at = grouped(a.columns[1:-1], [code[a_rows] for code in a.codes[1:-1]], ones)
    right, right_at = grouped(b.columns[1:], [code[b_rows] for code in b.codes[1:]], ones)
    every = original.value_counts((column,), 2**62)[column]
    assert every is not None
    value = placed(a.columns[-1], every.columns[0])
    if a.columns[-1].has_missing:
        value[-1] = len(every.columns[0]) - 1
    return _People(left, right, left_at, right_at, value[a.codes[-1][a_rows]], ones, (a.columns[0], a.codes[0][a_rows]))


# --- candidate values ------------------------------------------------------------------------------------------------


def _domain(original: Table, earlier: Table, control: Table | None, column: str) -> tuple[Column, IntArray]:
    """The values that the sensitive column may have had in either original, and the codes of the first one's values there."""
    columns = []
    for table in (original, earlier, *([] if control is None else [control])):
        if column not in table.columns:
            raise InputError(f"{table.name}: no column {column!r}, which composition needs.")
        counts = table.value_counts((column,), 2**62)[column]
        assert counts is not None
        columns.append(counts.columns[0])
    texts, codes = encode(column, strings([text for c in columns for text in c.texts]))
    return texts, codes[: len(columns[0])]


def _told(evidence: Evidence, people: Counts, column: str, texts: Column, roles: Roles) -> tuple[_Sets, IntArray]:
    """The values that the classes which cover a tuple may hold, and for each tuple of the people which set that is."""
    entries, value = _entries(evidence, column)
    domain = Domain(texts, roles.taxonomy(column))
    read = [covered(domain, text) for text in value[0].texts]
    inside = [np.zeros(0, dtype=np.int64) if codes is None else codes for codes in read]
    length = np.array([len(codes) for codes in inside], dtype=np.int64)
    first = np.concatenate([[0], np.cumsum(length)])
    flat = np.concatenate([*inside, np.zeros(0, dtype=np.int64)]).astype(np.int64)
    at, pair = spread(first[value[1]], first[value[1] + 1])
    classes = _Sets.of(entries[pair], flat[at], len(evidence.tuples), len(texts))
    match = Match.of(evidence.tuples, people, [roles.taxonomy(name) for name in evidence.tuples.names])
    owner: list[IntArray] = [np.zeros(0, dtype=np.int64)]
    found: list[IntArray] = [np.zeros(0, dtype=np.int64)]
    for point, box in match.pairs():
        part = np.argsort(point, kind="stable")
        sets = _united(classes, box[part], point[part])
        owner.append(sets // len(texts))
        found.append(sets % len(texts))
    by_point = _Sets.of(np.concatenate(owner), np.concatenate(found), match.points, len(texts))
    return by_point, match.look


def _united(classes: _Sets, box: IntArray, point: IntArray) -> IntArray:
    """The union of the sets of each point's classes, as keys, in blocks."""
    upto = np.cumsum(classes.size[box])
    parts = []
    start = 0
    while start < len(box):
        stop = int(np.searchsorted(upto, (upto[start - 1] if start else 0) + _BLOCK, side="right"))
        stop = max(stop, start + 1)
        at, pair = spread(classes.first[box[start:stop]], classes.first[box[start:stop] + 1])
        parts.append(distinct(point[start:stop][pair] * classes.values + classes.value[at]))
        start = stop
    return distinct(np.concatenate(parts)) if parts else np.zeros(0, dtype=np.int64)


def _entries(evidence: Evidence, column: str) -> tuple[IntArray, tuple[Column, IntArray]]:
    """Class and released sensitive value of each entry; where only groups join them, a class has the values of all its groups."""
    table, by = evidence.release.table, evidence.release.joined_by
    if by is None or column not in evidence.apart:
        classes = evidence.classes(column)
        assert classes.sensitive is not None
        return classes.member, (classes.sensitive.column, classes.value)
    evidence.classes(column)  # refuses a companion of other groups
    here = table.count((*evidence.tuples.names, by))
    _, member = grouped(here.columns[:-1], here.codes[:-1], here.n)
    beside = evidence.apart[column].count((by, column))
    group = placed(here.columns[-1], beside.columns[0])
    if here.columns[-1].has_missing:
        group[-1] = len(beside.columns[0]) - 1
    wanted = group[here.codes[-1]]
    at, pair = spread(*(np.searchsorted(beside.codes[0], wanted, side=side) for side in ("left", "right")))
    return member[pair], (beside.columns[1], beside.codes[1][at])


@dataclass(frozen=True, eq=False)
class _Met:
    now: IntArray
    before: IntArray
    both: IntArray
    holds: BoolArray
    """Whether the person's own value is in both sets."""
    certain: BoolArray
    alone_now: BoolArray
    alone_before: BoolArray


def _meet(now: _Sets, before: _Sets, now_at: IntArray, before_at: IntArray, value: IntArray) -> _Met:
    """What the sets share, for each pair of tuples once, and whether it is the people's own value."""
    pair, where = np.unique(now_at * max(len(before.first), 1) + before_at, return_inverse=True)
    a, b = np.divmod(pair, max(len(before.first), 1))
    both = np.zeros(len(pair), dtype=np.int64)
    upto = np.cumsum(now.size[a])
    start = 0
    while start < len(pair):
        stop = int(np.searchsorted(upto, (upto[start - 1] if start else 0) + _BLOCK, side="right"))
        stop = max(stop, start + 1)
        at, whose = spread(now.first[a[start:stop]], now.first[a[start:stop] + 1])
        shared = before.holds(b[start:stop][whose], now.value[at])
        both[start:stop] = np.bincount(whose[shared], minlength=stop - start)
        start = stop
    mine, theirs = now.holds(now_at, value), before.holds(before_at, value)
    sizes = now.size[now_at], before.size[before_at]
    shared_size = both[where]
    return _Met(
        sizes[0],
        sizes[1],
        shared_size,
        mine & theirs,
        (shared_size == 1) & mine & theirs,
        (sizes[0] == 1) & mine,
        (sizes[1] == 1) & theirs,
    )


def _control(
    now: Evidence, before: Evidence, control: Table, column: str, texts: Column, roles: Roles, theirs: Roles
) -> Rate:
    """The same against people who are in neither release: one candidate is left, and by chance it is theirs."""
    names = list(dict.fromkeys((*now.tuples.names, *before.tuples.names, column)))
    for name in names:
        if name not in control.columns:
            raise InputError(
                f"{control.name}: no column {name!r}, which is known of people; give a control that has it."
            )
    every = control.count(names)
    sides = []
    for evidence, role in ((now, roles), (before, theirs)):
        at = [every.names.index(name) for name in evidence.tuples.names]
        tuples, member = grouped([every.columns[i] for i in at], [every.codes[i] for i in at], every.n)
        told, look = _told(evidence, tuples, column, texts, role)
        sides.append((told, look[member]))
    code = every.codes[every.names.index(column)]
    ours = every.column(column)
    place = placed(ours, texts)
    if ours.has_missing:
        place[-1] = len(texts) - 1
    met = _meet(sides[0][0], sides[1][0], sides[0][1], sides[1][1], place[code])
    return Rate.of(int(every.n[met.certain].sum()), every.rows)
