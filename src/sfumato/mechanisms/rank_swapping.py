"""Rank swapping: in each column values change places with others that are near in rank.

Moore 1996. Rows are held in memory; a column costs a few sorts of its rows, whatever the reach.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ..core.arrow import take
from ..core.column import IntArray
from ..core.errors import InputError
from ..core.mechanism import Mechanism, MechanismCard, Offer, Progress
from ..core.noun import dataclass
from ..core.randomness import Chance, Rng
from ..core.release import Release
from ..core.roles import Roles
from ..core.table import Table
from .microdata.numeric_columns import released_columns
from .microdata.rows import Rows


@dataclass(frozen=True, kw_only=True)
class RankSwapping(Mechanism):
    """Swap values at random with others at most p percent of the ranks away, column by column."""

    columns: str = ""
    p: float = 5.0

    card: ClassVar[MechanismCard] = MechanismCard(
        name="rank_swapping",
        title="Rank swapping",
        promise="each column keeps exactly the values it had, and no value moves further than p percent of the column's ranks; "
        "this does not limit what can be learned, so measure linkage_distance_risk and noise_interval",
        against="an adversary who links rows by values that are near to what they know about a person; one who knows p needs to "
        "look only p percent of the ranks around",
        cost="columns are swapped one by one, so relations between them fade as p grows; each column's own distribution stays "
        "the same",
        source="Moore 1996, after Dalenius and Reiss 1982",
        chance="always",
        tunable=("p",),
        offer=Offer(
            80,
            lambda trial: [{"columns": ",".join(trial.numbers), "p": [2, 5, 10]}] if trial.numbers else [],
            wide=True,
        ),
        parameters={
            "columns": "the columns to swap, such as age,salary: numbers, dates, quantities or columns with a stated order",
            "p": "how far a value may move, in percent of the column's ranks; 5 is our default",
        },
    )

    def __post_init__(self) -> None:
        if not isinstance(self.p, int | float) or isinstance(self.p, bool) or not 0 < self.p <= 100:
            raise InputError("rank_swapping: p is a percentage above 0, at most 100.")

    def sanitize(self, table: Table, roles: Roles, rng: Rng, *, progress: Progress) -> Release:
        """Sanitize; a missing value has no rank and stays where it is. Of equal values chance decides which ranks first."""
        if not self.columns:
            raise InputError("rank_swapping needs columns to swap, such as columns=age,salary.")
        rows, chance = Rows.of(table, roles, self.card.name), Chance(rng)
        names = released_columns(rows, self.columns, self.card.name)
        changed: dict[str, Any] = {}
        notes = []
        for i, name in enumerate(names):
            code, alone = self._swapped(rows, name, chance)
            changed[name] = take(rows.columns[name].values, code)
            if alone:
                notes.append(
                    f"In column {name!r} {alone:,} of {len(rows):,} values found no partner within reach and stand where they were."
                )
            progress((i + 1) / len(names))
        return rows.release(
            self,
            changed,
            perturbed=names,
            notes=(*notes, *chance.notes),
        )

    def _swapped(self, rows: Rows, name: str, chance: Chance) -> tuple[IntArray, int]:
        """The code of each row after swapping, and how many values found no partner."""
        column, code = rows.columns[name], rows.codes[name]
        rank = column.rank(rows.roles.orders.get(name))
        if rank is None:
            raise InputError(
                f"{rows.table.name}: column {name!r} has no order; state one in {rows.roles.source} under [orders], or use "
                "permute_within_groups."
            )
        known = np.flatnonzero(code < len(column.values))  # the missing value has the last code
        reach = int(len(known) * self.p / 100 + 1e-9)
        if reach < 1:
            raise InputError(
                f"{rows.table.name}: {self.p:g} percent of the {len(known):,} ranks of column {name!r} are less than one rank; "
                "raise p."
            )
        order = known[chance.order(len(known))]
        order = order[np.argsort(rank[code[order]], kind="stable")]  # by rank, equal values at random
        partner = matched(len(order), reach, chance)
        swapped = code.copy()
        swapped[order] = code[order[partner]]
        return swapped, int((partner == np.arange(len(order))).sum())


def matched(count: int, reach: int, chance: Chance) -> IntArray:
    """The partner of each of `count` places, at most `reach` away; its own place where no free one is left in reach.

    Moore goes from the lowest rank up, and each draws a partner of those ahead that are not swapped yet. Here all draw at
    once one of the free places around; where draws meet, the one with the smallest number wins, and the others draw again.
    The expected number of draws is logarithmic. Who is left over has nobody free in reach: at most one in reach + 1.
    """
    partner = np.arange(count)
    free = np.arange(count)
    while len(free) > 1:
        low, high = np.searchsorted(free, free - reach), np.searchsorted(free, free + reach, side="right")
        choice = high - low - 1  # free places in reach, itself aside
        some = choice > 0
        if not some.any():
            break
        drawn = low + (chance.bits(len(free)) % np.maximum(choice, 1).astype(np.uint64)).astype(np.int64)
        drawn += drawn >= np.arange(len(free))
        one, two = np.flatnonzero(some), drawn[some]
        number = np.empty(len(one), dtype=np.int64)
        number[chance.order(len(one))] = np.arange(len(one))
        least = np.full(len(free), len(one))
        np.minimum.at(least, one, number)
        np.minimum.at(least, two, number)
        wins = (least[one] == number) & (least[two] == number)
        a, b = free[one[wins]], free[two[wins]]
        partner[a], partner[b] = b, a
        free = free[partner[free] == free]
    return partner
