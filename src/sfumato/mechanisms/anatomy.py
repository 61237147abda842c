"""Anatomy: quasi-identifiers as they are in one table, sensitive values in another, joined by l-diverse groups only.

Xiao and Tao 2006. Rows are held in memory; a million take seconds: the groups are made many at a time (`rounds`).
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pyarrow as pa

from ..core.arrow import integers, take
from ..core.column import IntArray
from ..core.errors import Infeasible, InputError
from ..core.mechanism import Mechanism, MechanismCard, Progress, check_whole
from ..core.metric import Requirement
from ..core.noun import dataclass
from ..core.randomness import Chance, Rng
from ..core.release import Release
from ..core.roles import Roles
from ..core.table import Table
from ..metrics.privacy.alpha_anonymity import alpha_anonymity
from ..metrics.privacy.distinct_l_diversity import distinct_l_diversity
from .microdata.rows import Rows


@dataclass(frozen=True, kw_only=True)
class Anatomy(Mechanism):
    """Two tables: who, with a group; and what, with a group."""

    l: int | None = None  # noqa: E741
    group: str = "group"

    card: ClassVar[MechanismCard] = MechanismCard(
        name="anatomy",
        title="Anatomy, two tables joined by group",
        promise="each group contains at least l different sensitive values, and the most frequent one makes up at most 1/l of its "
        "rows (distinct_l_diversity >= l and alpha_anonymity <= 1/l, for groups)",
        against="an adversary who knows all quasi-identifiers of a person and that the person is in the release: they find the "
        "person, but believe in a sensitive value with at most 1/l; one who can rule out values believes more",
        cost="nothing is generalized, so people can be recognised in the first table, and their presence is no secret; the "
        "release does not say which of a group's values belongs to whom, and counts over both tables become estimates",
        source="Xiao and Tao 2006, algorithm Anatomize",
        chance="always",
        tunable=("l",),
        place="last",
        parameters={
            "l": "the smallest number of different sensitive values in a group, from 2 on",
            "group": "the name of the column that joins the two tables",
        },
    )

    def __post_init__(self) -> None:
        check_whole(self, "l", least=2)
        if not self.group:
            raise InputError("anatomy: group is the name of a column, which cannot be empty.")

    @property
    def promises(self) -> tuple[Requirement, ...]:
        """Diversity of every group, distinct and by frequency."""
        return () if self.l is None else (distinct_l_diversity.at_least(self.l), alpha_anonymity.at_most(1 / self.l))

    def sanitize(self, table: Table, roles: Roles, rng: Rng, *, progress: Progress) -> Release:
        """Sanitize; a missing sensitive value is a value like any other."""
        if self.l is None:
            raise InputError("anatomy needs l, the different sensitive values of every group; set for example l=3.")
        rows, column = ready(table, roles, self.card.name, self.group)
        chance = Chance(rng)
        group = anatomize(rows.codes[column], self.l, chance, column) + 1
        progress(0.5)
        values = take(rows.columns[column].values, rows.codes[column])
        apart = pa.Table.from_arrays([integers(group), values], names=[self.group, column])
        return rows.release(
            self,
            {},
            added={self.group: group},
            without=(column,),
            companions={"sensitive": table.instead(apart, integers(np.ones(len(rows), dtype=np.int64)))},
            joined_by=self.group,
            notes=(
                f"Two files belong together: the rows of a group in one and in the other (column {self.group!r}); "
                "within a group every way to join them is as likely.",
                *chance.notes,
            ),
        )


def ready(table: Table, roles: Roles, who: str, group: str) -> tuple[Rows, str]:
    """The rows and the one sensitive column; refuses what has none or several, and a name that is taken."""
    roles.check_quasi()
    if len(roles.sensitive) != 1:
        raise InputError(
            f"{who} divides the rows by one sensitive column, and {roles.source} names {len(roles.sensitive) or 'none'}; "
            "name one, and leave the others without a role, so that they are not released."
        )
    check_group(table, who, group)
    return Rows.of(table, roles, who), roles.sensitive[0]


def check_group(table: Table, who: str, group: str) -> None:
    """Refuse a name for the groups that a column has, in capitals or not."""
    if group.casefold() in {column.casefold() for column in table.columns}:
        raise InputError(f"{table.name} has a column {group!r} already; set group to another name for {who}.")


def anatomize(value: IntArray, l: int, chance: Chance, column: str) -> IntArray:  # noqa: E741
    """The group of each row, from the sensitive value of each: groups of l rows of different values, or a few more.

    Algorithm Anatomize: `rounds` says of which values a group is made, chance which of their rows. The fewer than l rows
    that are left, each of another value, join groups without that value. The numbers of the groups are drawn at random, so
    they tell neither the order of the input nor that of the rounds.
    The paper's eligibility: no value may have more than 1/l of the rows; then groups always come out.
    """
    size = np.bincount(value)
    most = int(size.max())
    if most * l > len(value):
        reach = len(value) // most
        raise Infeasible(
            f"anatomy cannot make groups of {l} different values of {column!r}: the most frequent one has {most:,} of "
            f"{len(value):,} rows, so " + (f"l can be at most {reach}." if reach > 1 else "there is no l to reach.")
        )
    drawn = rounds(size, l, chance).ravel()
    in_bucket = chance.order(len(value))
    in_bucket = in_bucket[np.argsort(value[in_bucket], kind="stable")]  # by value, the rows of each at random
    by_value = np.argsort(drawn, kind="stable")
    start, times = np.cumsum(size) - size, np.bincount(drawn, minlength=len(size))
    place = np.arange(len(drawn)) - (np.cumsum(times) - times)[drawn[by_value]]
    group = np.full(len(value), -1, dtype=np.int64)
    group[in_bucket[start[drawn[by_value]] + place]] = by_value // l
    groups = len(drawn) // l
    for row in np.flatnonzero(group < 0):  # fewer than l
        free = np.ones(groups, dtype=bool)
        held = group[value == value[row]]
        free[held[held >= 0]] = False
        open_groups = np.flatnonzero(free)
        group[row] = open_groups[chance.below(len(open_groups), 1)[0]]
    return chance.order(groups)[group]


def rounds(size: IntArray, l: int, chance: Chance) -> IntArray:  # noqa: E741
    """One line a group: the l buckets that it draws a row from, always those that have most rows left; of equals, any.

    Rounds that draw by the same rule are made at once. `above` are the buckets with more rows left than the l-th has, which
    every round draws from, `level` those with as many, of which each round draws `need`. Where all of these are drawn, that
    goes on until the next bucket is as large. Else they take turns: whole laps of them, so many that no bucket above is
    overtaken and no one below is passed; if not even one lap fits, each once. The loop goes by levels, not by rounds.
    """
    left, lines = size.astype(np.int64), []
    while np.count_nonzero(left) >= l:
        v = int(np.partition(left, len(left) - l)[len(left) - l])
        above, level = np.flatnonzero(left > v), np.flatnonzero(left == v)
        level = level[chance.order(len(level))]
        need, wide = l - len(above), len(level)
        below = int(left[left < v].max(initial=0))
        spare = int(left[above].min()) - v if len(above) else None  # by how much those above are ahead
        if need == wide:
            times = v - below
        else:
            fall = (v - below) // need
            laps = fall if spare is None else min(fall, spare // (wide - need))
            once = wide // need if spare is None else min(wide // need, spare + 1)
            times = laps * wide or once
        turns = level[np.arange(times * need) % wide].reshape(times, need)
        lines.append(np.hstack([np.tile(above, (times, 1)), turns]))
        left[above] -= times
        left -= np.bincount(turns.ravel(), minlength=len(left))
    return np.vstack(lines)
