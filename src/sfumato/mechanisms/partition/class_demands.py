"""What every class must meet, asked of many classes at once."""

from __future__ import annotations

import numpy as np

from ...core.classes import Classes, Sensitive
from ...core.column import IntArray
from ...core.counts import Counts, exact
from ...core.cover import BoolArray
from ...core.errors import Infeasible
from ...core.metric import Requirement, spell_number
from ...core.noun import dataclass
from ...core.roles import Roles


@dataclass(frozen=True, eq=False)
class Demands:
    """Requirements on classes, with the sensitive value of each tuple where one looks at it."""

    n: IntArray
    items: tuple[tuple[Requirement, IntArray | None, Sensitive | None], ...]

    @classmethod
    def of(cls, counts: Counts, roles: Roles, split: tuple[str, ...], require: tuple[Requirement, ...]) -> Demands:
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
        return cls(counts.n, (*plain, *split_by))  # the cheap ones first

    def met(self, entry: IntArray, n: IntArray, member: IntArray, count: int) -> BoolArray:
        """Which of `count` classes meet everything, given `n` rows of tuple `entry` in class `member`."""
        size = exact(np.bincount(member, weights=n, minlength=count))
        good = np.ones(count, dtype=bool)
        for requirement, value, sensitive in self.items:
            if value is None or sensitive is None:
                good &= requirement.passes(requirement.metric.per_class(Classes(size, whole=int(self.n.sum()))))
            elif good.any():  # classes that already failed need not be split by value; the others are numbered anew
                number, left = np.cumsum(good) - 1, good[member]
                classes = Classes.of(
                    number[member[left]], n[left], count=int(good.sum()), value=value[entry[left]], sensitive=sensitive
                )
                good[good] = requirement.passes(requirement.metric.per_class(classes))
        return good

    def check_whole(self, who: str) -> None:
        """Refuse what even the whole table as one class misses: there is nothing to form classes from."""
        member = np.zeros(len(self.n), dtype=np.int64)
        for requirement, value, sensitive in self.items:
            if value is None or sensitive is None:
                whole = Classes(np.array([self.n.sum()]))
            else:
                whole = Classes.of(member, self.n, count=1, value=value, sensitive=sensitive)
            reached = float(requirement.metric.per_class(whole)[0])
            if not requirement.holds(reached):
                raise Infeasible(
                    f"{who} cannot meet {requirement}: even the whole table as a single class only reaches "
                    f"{spell_number(round(reached, 6))}."
                )

    def least_rows(self) -> int:
        """The fewest rows with which a class meets what looks at no sensitive value; the whole table does."""
        rows = int(self.n.sum())
        good = np.ones(rows, dtype=bool)
        for requirement, value, _ in self.items:
            if value is None:
                good &= requirement.passes(requirement.metric.per_class(Classes(np.arange(1, rows + 1), whole=rows)))
        return int(np.argmax(good)) + 1
