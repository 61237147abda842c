"""What every class must meet, asked of many classes at once."""

from __future__ import annotations

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
from .covered_people import CoveredPeople


@dataclass(frozen=True, eq=False)
class Demands:
    """Requirements on classes, with the sensitive value of each tuple where one looks at it."""

    n: IntArray
    items: tuple[tuple[Requirement, IntArray | None, Sensitive | None], ...]
    people: CoveredPeople | None = None
    """Whom of a population classes cover, where one is given."""

    @classmethod
    def of(
        cls,
        counts: Counts,
        roles: Roles,
        split: tuple[str, ...],
        require: tuple[Requirement, ...],
        people: CoveredPeople | None = None,
    ) -> Demands:
        """Of counted tuples, `split` being the sensitive columns among them."""
        attributes = {}
        for name in split:
            column, value = counts.column(name), counts.codes[counts.names.index(name)]
            total = exact(np.bincount(value, weights=counts.n, minlength=len(column)))
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
        return cls(counts.n, (*plain, *split_by), people)  # the cheap ones first

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
                good &= requirement.passes(requirement.metric.per_class(Classes(size, whole=int(self.n.sum()))))
            elif good.any():  # classes that already failed need not be split by value; the others are numbered anew
                number, left = np.cumsum(good) - 1, good[member]
                classes = Classes.of(
                    number[member[left]], n[left], count=int(good.sum()), value=value[entry[left]], sensitive=sensitive
                )
                good[good] = requirement.passes(requirement.metric.per_class(classes))
        return good

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
        passes: BoolArray = requirement.passes(requirement.metric.per_class(Classes(size[good], cover=cover)))
        return passes

    def check_whole(self, who: str) -> None:
        """Refuse what even the whole table as one class misses: there is nothing to form classes from."""
        member = np.zeros(len(self.n), dtype=np.int64)
        for requirement, value, sensitive in self.items:
            if value is None or sensitive is None:
                whole = Classes(
                    np.array([self.n.sum()]), cover=self._everybody if requirement.metric.card.covers else None
                )
            else:
                whole = Classes.of(member, self.n, count=1, value=value, sensitive=sensitive)
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

    def least_rows(self) -> int:
        """The fewest rows with which a class meets what looks at no sensitive value; the whole table does."""
        rows = int(self.n.sum())
        good = np.ones(rows, dtype=bool)
        for requirement, value, _ in self.items:
            if value is None and not (requirement.metric.card.covers and self.people is not None):
                good &= requirement.passes(requirement.metric.per_class(Classes(np.arange(1, rows + 1), whole=rows)))
        return int(np.argmax(good)) + 1
