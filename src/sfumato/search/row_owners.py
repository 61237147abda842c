"""Whose the rows of each counted tuple are, where people have several rows that nobody can join: a class then needs different people."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np

from ..core.classes import Classes
from ..core.column import IntArray
from ..core.counts import Counts, exact
from ..core.cover import BoolArray
from ..core.metric import Requirement
from ..core.noun import dataclass
from ..core.person_weights import PersonWeights, distinct_people, fewest_people
from ..core.roles import Roles


@dataclass(frozen=True, eq=False)
class RowOwners:
    """The people behind each tuple: those of tuple i stand from `start[i]` to `start[i + 1]`, `n` rows of `person` each."""

    start: IntArray
    person: IntArray
    n: IntArray
    weights: PersonWeights
    times: IntArray
    """The rows of each person."""

    @property
    def people(self) -> int:
        """All people of the table."""
        return len(self.times)

    @cached_property
    def weight_of_tuples(self) -> IntArray:
        """What the rows of each tuple weigh."""
        sums = np.cumsum(np.append(0, self.n * self.weights.of_row[self.person]))
        return np.diff(sums[self.start])

    def weight(self, entry: IntArray, n: IntArray) -> IntArray:
        """What `n` rows of each tuple `entry` weigh; only tuples of a single person are ever divided."""
        if len(self.person) == len(self.start) - 1:
            return n * self.weights.of_row[self.person[entry]]
        return self.weight_of_tuples[entry]

    def in_classes(self, entry: IntArray, member: IntArray, count: int) -> IntArray:
        """The different people of each of `count` classes, given the tuple and the class of each entry."""
        width = self.start[entry + 1] - self.start[entry]
        at = np.arange(int(width.sum())) + np.repeat(self.start[entry] - (np.cumsum(width) - width), width)
        return distinct_people(np.repeat(member, width), self.person[at], count, self.people)

    def deciding(self, requirement: Requirement, rows: IntArray, counted: Callable[[IntArray], IntArray]) -> IntArray:
        """People of classes of so many rows that meet a requirement on people, or miss it, just as the true ones do.

        `counted` gives the people of some classes. It is asked only where that matters: where as many people as rows, and the fewest
        who can have so many rows, decide differently.
        """
        fewest, most = np.minimum(fewest_people(rows, self.times), rows), np.minimum(rows, self.people)
        low, high = (
            np.asarray(requirement.passes(requirement.metric.per_class(Classes(people, whole=self.people))))
            for people in (fewest, most)
        )
        open_ = np.flatnonzero(low != high)
        if len(open_):
            fewest[open_] = counted(open_)
        return fewest

    def joined(self, member: IntArray, count: int) -> RowOwners:
        """Those of `count` coarser tuples, given the one that each tuple is part of; rows of a person stand together."""
        part = np.repeat(member, np.diff(self.start))
        key, where = np.unique(part * self.people + self.person, return_inverse=True)
        n = exact(np.bincount(where, weights=self.n, minlength=len(key)))
        start = np.searchsorted(key, np.arange(count + 1) * self.people)
        return RowOwners(start, key % self.people, n, self.weights, self.times)

    def only(self, kept: BoolArray) -> RowOwners:
        """Those of some of the tuples; weights stay what they are."""
        width = np.diff(self.start)
        inside = np.repeat(kept, width)
        start = np.append(0, np.cumsum(width[kept]))
        return RowOwners(start, self.person[inside], self.n[inside], self.weights, self.times)


def row_owners(counts: Counts, roles: Roles, *, apart: bool = False) -> tuple[Counts, RowOwners | None]:
    """Counts without their last column, the person, and whose each tuple is; as they are where rows are counted.

    `apart`: tuples of different people stay apart, for mechanisms that divide the rows of a tuple; the column stays, too.
    """
    if not roles.counts_people:
        return counts, None
    name = str(roles.owner)
    person, times = counts.codes[counts.names.index(name)], counts.margin(name)
    weights = PersonWeights.of(times)
    if apart:
        return counts, RowOwners(np.arange(len(counts) + 1), person, counts.n, weights, times)
    assert counts.names[-1] == name
    tuples, member = counts.group(counts.names[:-1])  # counts are lexicographic, so those of a tuple stand together
    start = np.append(0, np.cumsum(np.bincount(member, minlength=len(tuples)))).astype(np.int64)
    return tuples, RowOwners(start, person, counts.n, weights, times)
