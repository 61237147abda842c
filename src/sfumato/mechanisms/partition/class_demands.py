"""What every class must meet, asked of many classes at once."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np

from ...core.classes import Classes, Sensitive
from ...core.column import IntArray
from ...core.counts import Counts, exact
from ...core.cover import BoolArray
from ...core.errors import Infeasible
from ...core.metric import Requirement, spell_number
from ...core.noun import dataclass
from ...core.population import Cover
from ...core.roles import Roles
from ...search.least_loss import least_rows
from ...search.row_owners import RowOwners
from .covered_people import CoveredPeople


@dataclass(frozen=True, eq=False)
class Demands:
    """Requirements on classes, with the sensitive value of each tuple where one looks at it."""

    n: IntArray
    items: tuple[tuple[Requirement, IntArray | None, Sensitive | None], ...]
    people: CoveredPeople | None = None
    """Whom of a population classes cover, where one is given."""
    owners: RowOwners | None = None
    """Whose the rows are, where people have several: then different people count, and each weighs the same."""

    @classmethod
    def of(
        cls,
        counts: Counts,
        roles: Roles,
        split: tuple[str, ...],
        require: tuple[Requirement, ...],
        people: CoveredPeople | None = None,
        owners: RowOwners | None = None,
    ) -> Demands:
        """Of counted tuples, `split` being the sensitive columns among them."""
        attributes = {}
        weight = counts.n if owners is None else owners.weight(np.arange(len(counts)), counts.n)
        for name in split:
            column, value = counts.column(name), counts.codes[counts.names.index(name)]
            total = exact(np.bincount(value, weights=weight, minlength=len(column)))
            attributes[name] = (value, Sensitive(column, total, roles.orders.get(name), roles.taxonomy(name)))
        plain: list[tuple[Requirement, IntArray | None, Sensitive | None]] = []
        split_by: list[tuple[Requirement, IntArray | None, Sensitive | None]] = []
        for requirement in require:
            if "sensitive" not in requirement.metric.card.needs:
                plain.append((requirement, None, None))
            else:
                asked = [requirement.metric.column] if requirement.metric.column else roles.sensitive
                split_by += [(requirement, *attributes[name]) for name in asked]
        plain.sort(key=lambda item: item[0].metric.card.covers)
        return cls(counts.n, (*plain, *split_by), people, owners)  # the cheap ones first

    def _weight(self, entry: IntArray, n: IntArray) -> IntArray:
        """What these rows weigh in the shares of sensitive values."""
        return n if self.owners is None else self.owners.weight(entry, n)

    def met(
        self, entry: IntArray, n: IntArray, member: IntArray, count: int, suppressed: BoolArray | None = None
    ) -> BoolArray:
        """Which of `count` classes meet everything, given `n` rows of tuple `entry` in class `member`.

        `suppressed` (columns x classes) are the cells that are released as `*`, where a mechanism suppresses some.
        """
        size = exact(np.bincount(member, weights=n, minlength=count))
        good = np.ones(count, dtype=bool)
        for requirement, value, sensitive in self.items:
            if value is None or sensitive is None:
                if requirement.metric.card.covers and self.people is not None:
                    good[good] = self._covers(requirement, entry, size, member, good, suppressed)
                    continue
                if self.owners is not None:
                    good[good] = self._enough_people(requirement, entry, member, size, good)
                    continue
                good &= requirement.passes(requirement.metric.per_class(Classes(size, whole=int(self.n.sum()))))
            elif good.any():  # classes that already failed need not be split by value; the others are numbered anew
                number, left = np.cumsum(good) - 1, good[member]
                entries, at, stay = entry[left], number[member[left]], int(good.sum())
                weight = self._weight(entries, n[left])
                classes = Classes.of(at, weight, count=stay, value=value[entries], sensitive=sensitive)
                if self.owners is not None:
                    classes = replace(classes, different=self.owners.in_classes(entries, at, stay))
                good[good] = requirement.passes(requirement.metric.per_class(classes))
        return good

    def _enough_people(
        self, requirement: Requirement, entry: IntArray, member: IntArray, size: IntArray, good: BoolArray
    ) -> BoolArray:
        """Which of the good classes meet what looks at their people alone."""
        owners, at = self.owners, np.flatnonzero(good)
        assert owners is not None

        def counted(some: IntArray) -> IntArray:
            number = np.full(len(good), -1, dtype=np.int64)
            number[at[some]] = np.arange(len(some))
            inside = number[member] >= 0
            return owners.in_classes(entry[inside], number[member[inside]], len(some))

        people = owners.deciding(requirement, size[good], counted)
        passes: BoolArray = requirement.passes(requirement.metric.per_class(Classes(people, whole=owners.people)))
        return passes

    def _covers(
        self,
        requirement: Requirement,
        entry: IntArray,
        size: IntArray,
        member: IntArray,
        good: BoolArray,
        suppressed: BoolArray | None,
    ) -> BoolArray:
        """Which of the good classes meet what looks at whom they cover."""
        assert self.people is not None
        number, left, count = np.cumsum(good) - 1, good[member], int(good.sum())
        if not count:
            return np.zeros(0, dtype=bool)
        hidden = None if suppressed is None else suppressed[:, good]
        cover = self.people(entry[left], number[member[left]], count, hidden)
        people = size[good] if self.owners is None else self.owners.in_classes(entry[left], number[member[left]], count)
        passes: BoolArray = requirement.passes(requirement.metric.per_class(Classes(people, cover=cover)))
        return passes

    def check_whole(self, who: str) -> None:
        """Refuse what even the whole table as one class misses: there is nothing to form classes from."""
        member = np.zeros(len(self.n), dtype=np.int64)
        everyone = np.array([self.everyone])
        for requirement, value, sensitive in self.items:
            if value is None or sensitive is None:
                whole = Classes(everyone, cover=self._everybody if requirement.metric.card.covers else None)
            else:
                weight = self._weight(np.arange(len(self.n)), self.n)
                whole = Classes.of(member, weight, count=1, value=value, sensitive=sensitive)
                whole = whole if self.owners is None else replace(whole, different=everyone)
            reached = float(requirement.metric.per_class(whole)[0])
            if not requirement.holds(reached):
                raise Infeasible(
                    f"{who} cannot meet {requirement}: even the whole table as a single class only reaches "
                    f"{spell_number(round(reached, 6))}."
                )

    @cached_property
    def _everybody(self) -> Cover | None:
        """Whom the table as a single class covers, every cell suppressed."""
        if self.people is None:
            return None
        return Cover(np.array([self.people.counts.rows]), 0, 0)

    @property
    def everyone(self) -> int:
        """All people of the table: its rows, where each row is another person."""
        return int(self.n.sum()) if self.owners is None else self.owners.people

    def least_rows(self) -> int:
        """The fewest rows (people, where they are counted) with which a class meets what looks at no sensitive value."""
        alone = (
            r for r, value, _ in self.items if value is None and not (r.metric.card.covers and self.people is not None)
        )
        return least_rows(alone, self.everyone)
