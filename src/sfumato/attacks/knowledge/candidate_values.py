"""Sets of candidate values: what the classes that cover a person may hold, and what several of these sets share."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ...core.column import Column, IntArray
from ...core.counts import Counts
from ...core.cover import BoolArray, Domain
from ...core.noun import dataclass
from ...core.release import Evidence
from ...core.runs import distinct, held, parts, spread
from ..lookup.axis import covered
from ..lookup.external import grouped
from ..lookup.match import Match

_BLOCK = 4_000_000


@dataclass(frozen=True, eq=False)
class Sets:
    """Sets of codes: `value[first[i] : first[i + 1]]`, ascending."""

    first: IntArray
    value: IntArray
    values: int
    """How many values there are in all."""

    @cached_property
    def size(self) -> IntArray:
        """The members of each."""
        return np.diff(self.first)

    @classmethod
    def of(cls, owner: IntArray, value: IntArray, owners: int, values: int) -> Sets:
        """From owners and members in any order, perhaps repeated."""
        return cls._of(distinct(owner * values + value), owners, values)

    @classmethod
    def _of(cls, key: IntArray, owners: int, values: int) -> Sets:
        count = np.bincount(key // values, minlength=owners)
        return cls(np.concatenate([[0], np.cumsum(count)]), key % values, values)

    @cached_property
    def key(self) -> IntArray:
        """Owner and value of each member as one number."""
        return np.repeat(np.arange(len(self.first) - 1), self.size) * self.values + self.value

    def holds(self, which: IntArray, value: IntArray) -> BoolArray:
        """Whether sets hold a value, one by one."""
        holding = np.zeros(len(which), dtype=bool)
        holding[held(self.key, which * self.values + value)[0]] = True
        return holding

    def united(self, owner: IntArray, which: IntArray) -> IntArray:
        """The unions of the sets that each owner has, as keys of owner and value; owners ascend."""
        united = [np.zeros(0, dtype=np.int64)]
        for part in parts(self.size[which], _BLOCK):
            at, pair = spread(self.first[which[part]], self.first[which[part] + 1])
            united.append(distinct(owner[part][pair] * self.values + self.value[at]))
        return distinct(np.concatenate(united))

    def shared(self, owner: IntArray, which: IntArray, owners: int) -> Sets:
        """What all sets share that an owner has; owners ascend, and each has a set."""
        wanted = np.bincount(owner, minlength=owners)
        first = np.searchsorted(owner, np.arange(owners))
        shared = [np.zeros(0, dtype=np.int64)]
        total = np.bincount(owner, weights=self.size[which], minlength=owners).astype(np.int64)
        for part in parts(total, _BLOCK):  # all sets of an owner at once
            some = slice(first[part.start], first[part.stop] if part.stop < owners else len(owner))
            at, pair = spread(self.first[which[some]], self.first[which[some] + 1])
            key, times = np.unique(owner[some][pair] * self.values + self.value[at], return_counts=True)
            shared.append(key[times == wanted[key // self.values]])
        return self._of(np.concatenate(shared), owners, self.values)


def candidate_sets(evidence: Evidence, people: Counts, column: str, texts: Column) -> tuple[Sets, IntArray]:
    """The values that the classes which cover a tuple may hold, and for each tuple of the people which set that is."""
    entries, value = _entries(evidence, column)
    roles = evidence.roles
    domain = Domain(texts, roles.taxonomy(column))
    read = [covered(domain, text) for text in value[0].texts]
    inside = [np.zeros(0, dtype=np.int64) if codes is None else codes for codes in read]
    length = np.array([len(codes) for codes in inside], dtype=np.int64)
    first = np.concatenate([[0], np.cumsum(length)])
    flat = np.concatenate([*inside, np.zeros(0, dtype=np.int64)]).astype(np.int64)
    at, pair = spread(first[value[1]], first[value[1] + 1])
    classes = Sets.of(entries[pair], flat[at], len(evidence.tuples), len(texts))
    match = Match.of(evidence.tuples, people, [roles.taxonomy(name) for name in evidence.tuples.names])
    members: list[IntArray] = [np.zeros(0, dtype=np.int64)]
    for point, box in match.pairs():
        turn = np.argsort(point, kind="stable")
        members.append(classes.united(point[turn], box[turn]))
    key = np.concatenate(members)
    return Sets.of(key // len(texts), key % len(texts), match.points, len(texts)), match.look


def _entries(evidence: Evidence, column: str) -> tuple[IntArray, tuple[Column, IntArray]]:
    """Class and released sensitive value of each entry; where only groups join them, a class has the values of all its groups."""
    table, by = evidence.release.table, evidence.release.joined_by
    if by is None or column not in evidence.apart:
        classes = evidence.classes(column)
        return classes.member, (classes.sensitive.column, classes.value)
    evidence.classes(column)  # refuses a companion of other groups
    here = table.count((*evidence.tuples.names, by))
    _, member = grouped(here.columns[:-1], here.codes[:-1], here.n)
    beside = evidence.apart[column].count((by, column))
    group = beside.columns[0].places(here.columns[-1])
    wanted = group[here.codes[-1]]
    at, pair = spread(*(np.searchsorted(beside.codes[0], wanted, side=side) for side in ("left", "right")))
    return member[pair], (beside.columns[1], beside.codes[1][at])


@dataclass(frozen=True, eq=False)
class Met:
    """What two sets told of each entry: how many values each holds, and both together."""

    now: IntArray
    before: IntArray
    both: IntArray
    holds: BoolArray
    """Whether a value of theirs is in both sets."""
    certain: BoolArray
    alone_now: BoolArray
    alone_before: BoolArray


def meet(
    now: Sets, before: Sets, now_at: IntArray, before_at: IntArray, value: IntArray, owner: IntArray | None = None
) -> Met:
    """What the sets share, for each pair of sets once, and whether it is the people's own value.

    `value` is that of each entry; with `owner`, entries have several values, and one of them is enough.
    """
    pair, where = np.unique(now_at * max(len(before.first), 1) + before_at, return_inverse=True)
    a, b = np.divmod(pair, max(len(before.first), 1))
    both = np.zeros(len(pair), dtype=np.int64)
    for part in parts(now.size[a], _BLOCK):
        at, whose = spread(now.first[a[part]], now.first[a[part] + 1])
        shared = before.holds(b[part][whose], now.value[at])
        both[part] = np.bincount(whose[shared], minlength=part.stop - part.start)
    owner = np.arange(len(now_at)) if owner is None else owner
    mine, theirs = now.holds(now_at[owner], value), before.holds(before_at[owner], value)

    def any_of(hit: BoolArray) -> BoolArray:
        return np.bincount(owner[hit], minlength=len(now_at)) > 0

    sizes = now.size[now_at], before.size[before_at]
    shared_size, holds = both[where], any_of(mine & theirs)
    return Met(
        sizes[0],
        sizes[1],
        shared_size,
        holds,
        (shared_size == 1) & holds,
        (sizes[0] == 1) & any_of(mine),
        (sizes[1] == 1) & any_of(theirs),
    )
