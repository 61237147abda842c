"""What all mechanisms with a differential privacy promise share: whose rows count, the budget, the notes, and how statistics are released.

**People with several rows.** Where the roles name a person, neighbouring tables T and T' differ by one person with all their rows, however
many. At most c of these are used ([people] most_rows, 1 unless said): which, depends on a secret key and on the rows of that person alone,
so that with the same key the rows used of T and of T' differ by at most c, all of the one person. What is released of the used rows comes
from noise that is scaled to c rows (`Noise`): each draw that costs epsilon for tables which differ by c rows costs epsilon for T and T',
for every key, and so for a random one. Compositions add up as they do for rows. Disjoint parts of the rows cost no more than one of them
costs, since what c rows change in different parts adds up to no more than c rows change in one. Where one row a person is made of all of
theirs ([people] rows = "one"), the same holds with c = 1 and no key.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

from ...core.arrow import integers
from ...core.column import IntArray
from ...core.errors import InputError
from ...core.mechanism import Mechanism, Progress, check_choices, check_require
from ...core.metric import Requirement
from ...core.randomness import Chance, Rng
from ...core.release import Release
from ...core.roles import KINDS, Roles
from ...core.table import Table
from ..microdata.numeric_columns import names_in
from ..parameters.stated_domains import StatedDomain, domains_of, entries
from .account import Account
from .budget import Budget, amount, spell
from .noise import Noise

NEIGHBOURS = "neighbouring tables differ by one row, added or removed"
PEOPLE = "neighbouring tables differ by one person, added or removed with all their rows, of which {} used"
VALUES = "neighbouring tables differ by one value, changed; the number of rows is public"
PROMISED = (
    "where neighbouring tables differ by one row, added or removed (changing a row is both: twice epsilon), or, where the roles name "
    "a person, by one person with all their rows, of which one counts, or as many as most_rows says"
)
AS_STATED = (
    "The file is read as the owner states it, never as its rows suggest: a value that does not fit counts as missing, and a number "
    "beyond its bounds counts as the nearest bound"
)
EPSILON = "one row changes the probability of any result by a factor of at most e^epsilon: smaller is more private"
BUDGET = "in Python: a Budget that several releases of the same rows share; by default a release has its own"
DOMAINS = (
    "the values that columns may have: sex=Female|Male, age=17:99:10 (bins of ten); a column that is not named takes the values of "
    "its hierarchy file or of its order in the roles file, never those of the data"
)
OUTSIDE = "missing: a missing value, or one outside the domain, counts as missing; drop: its row does not count"
MOST_CELLS = 5_000_000


def check_texts(mechanism: Any) -> None:
    """Refuse columns and domains that cannot be read, before a table is there."""
    if mechanism.columns is not None:
        names_in(mechanism.columns, mechanism.card.name)
    if mechanism.domains:
        entries(mechanism.domains, mechanism.card.name, "domains")


class Private(Mechanism):
    """Subclasses have the fields `epsilon`, `budget` and `require`."""

    epsilon: float | None
    budget: Budget | None
    require: tuple[Requirement, ...]
    refuses_several_rows = False  # to look would tell of the rows; the note says that rows are protected

    def sanitize(self, table: Table, roles: Roles, rng: Rng, *, progress: Progress) -> Release:
        """Release the table as it is read by what was stated, one row of each person; with `rng` the noise is seeded, for tests."""
        stated = table.stated(roles.reading)
        choice = roles.row_choice
        if choice is not None:
            if not choice.fits(stated):
                raise InputError(f"{table.name}: it lacks a column that [people] of {roles.source} names.")
            stated = stated.one_row_by(choice)
        named = [(kind, name) for kind in KINDS for name in getattr(roles, kind)]
        for kind, name in (*named, *([("person", roles.person)] if roles.person is not None else [])):
            if name not in stated.columns:
                raise InputError(
                    f"{table.name}: no column {name!r}, which {roles.source} names in {kind}. {self.card.name} does not guess how the "
                    f"file is written ({'; '.join(stated.notes)}); if it is written differently, state that under [reading] in "
                    f"{roles.source} or with --delimiter, --encoding, --quote, --header."
                )
        if choice is None:
            stated = self._used(stated, roles, rng)
        made = self._make(stated, roles, rng, progress)
        note = f"{AS_STATED}. {'; '.join(stated.notes).capitalize() or 'The table stands as it was made'}."
        neighbours = self._neighbours(roles)
        # pairs are those of the rows that were read
        original = stated if made.recoding is not None or choice is not None else table
        return replace(
            made,
            original=original,
            neighbours=neighbours,
            epsilon=self.cost_of(roles),
            delta=self.delta_cost,
            notes=(*made.notes, note),
        )

    def _neighbours(self, roles: Roles) -> str:
        """What the promise is about."""
        if roles.person is None:
            return NEIGHBOURS
        if roles.row_choice is not None:
            return PEOPLE.format("one row is made that is")
        most = roles.most_rows
        return PEOPLE.format("one, drawn at random, is" if most == 1 else f"at most {most}, drawn at random, are")

    @staticmethod
    def _used(table: Table, roles: Roles, rng: Rng) -> Table:
        """The rows that count: of each person at most as many as the roles say, drawn by a key that nobody keeps."""
        if roles.person is None:
            return table
        return table.rows_of_each(roles.person, roles.most_rows, Chance(rng).bits(4).tobytes())

    @abstractmethod
    def _make(self, table: Table, roles: Roles, rng: Rng, progress: Progress) -> Release:
        """The release of a table of stated values."""

    def _check(self) -> None:
        """What every such mechanism validates."""
        who = self.card.name
        if self.epsilon is None:
            raise InputError(f"{who} needs an epsilon: how much privacy is spent is the owner's choice.")
        if isinstance(self.epsilon, bool) or not isinstance(self.epsilon, int | float) or not self.epsilon > 0:
            raise InputError(f"{who}: epsilon must be a number above 0.")
        if math.isinf(self.epsilon):
            raise InputError(f"{who}: an infinite epsilon would add no noise; state a finite one.")
        if self.budget is not None and not isinstance(self.budget, Budget):
            raise InputError(f"{who}: budget must be a Budget.")
        check_choices(self)
        check_require(self, "its promise is about chances, not about a file")

    def settings(self) -> dict[str, Any]:
        """The parameters, without the budget: the notes hold its ledger."""
        return {name: value for name, value in super().settings().items() if name != "budget"}

    @property
    def cost(self) -> Fraction:
        """The epsilon that a release costs."""
        assert self.epsilon is not None
        return amount(self.epsilon, "epsilon")

    def cost_of(self, roles: Roles) -> Fraction:
        """The epsilon that a release costs a person."""
        return self.cost

    @property
    def delta_cost(self) -> Fraction:
        """The delta that a release costs; 0 for pure differential privacy."""
        return Fraction(0)

    def _open(self, roles: Roles, rng: Rng) -> tuple[Noise, Budget]:
        """The noise and the budget for one release, once the table is known to fit; nothing is spent yet."""
        noise = Noise(rng, self.card.name, rows=roles.most_rows)
        budget = self.budget if self.budget is not None else Budget(self.cost_of(roles), self.delta_cost)
        budget.afford(self.cost_of(roles), self.delta_cost, what=self.card.name)
        return noise, budget

    def _column(self, name: str, roles: Roles) -> None:
        """Refuse a column that must not be released."""
        if name not in (*roles.quasi, *roles.sensitive, *roles.insensitive):
            raise InputError(
                f"{self.card.name}: column {name!r} has no role that may be released in {roles.source}; "
                "name it in quasi, sensitive or insensitive."
            )

    def _domains(
        self, text: str | None, domains: str, table: Table, roles: Roles, *, missing: bool
    ) -> tuple[StatedDomain, ...]:
        """The stated domains of the columns that a text names, else of every column that may be released."""
        names = None if text is None else names_in(text, self.card.name)
        for name in names or ():
            self._column(name, roles)
        return domains_of(table, roles, self.card.name, domains, names=names, missing=missing)

    def _room(self, cells: int) -> None:
        """Refuse tables of counts that are out of reach."""
        if cells > MOST_CELLS:
            raise InputError(
                f"{self.card.name}: the domains make {cells:,} cells, and {MOST_CELLS:,} is the most; take fewer columns or "
                "coarser domains."
            )

    def _notes(self, noise: Noise, budget: Budget | Account, roles: Roles, *more: str) -> tuple[str, ...]:
        """The promise in words, as what it is; the ledger; what else is to be said."""
        promised = f"({spell(self.cost)}, {spell(self.delta_cost)})" if self.delta_cost else spell(self.cost)
        return (
            f"{noise.word}: {promised}-differential privacy, where {self._neighbours(roles)}; no file can show it.",
            *budget.notes,
            *more,
            *noise.notes,
        )

    def _statistics(
        self, table: Table, roles: Roles, columns: Mapping[str, pa.Array], notes: tuple[str, ...]
    ) -> Release:
        """A release whose rows are statistics, not people."""
        house = set(roles.house)
        names: list[str] = []
        for name in columns:  # a column of ours must not bear the name of one that stays in the house
            while name in house or name in names:
                name += "_"
            names.append(name)
        rows = pa.Table.from_arrays(list(columns.values()), names=names)
        ones = np.ones(len(rows), dtype=np.int64)
        return self._released(table, rows, ones, notes, statistics=True)

    def _synthetic(self, table: Table, rows: pa.Table, times: IntArray, notes: tuple[str, ...]) -> Release:
        """A release whose rows are nobody's."""
        return self._released(table, rows, times, notes, perturbed=frozenset(rows.column_names))

    def _released(self, table: Table, rows: pa.Table, times: IntArray, notes: tuple[str, ...], **more: Any) -> Release:
        made_by, parameters = self.card.name, self.settings()
        released = table.instead(rows, integers(times))
        return Release(table=released, original=table, made_by=made_by, parameters=parameters, notes=notes, **more)
