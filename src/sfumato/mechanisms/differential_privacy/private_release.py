"""What all mechanisms with a differential privacy promise share: the budget, the notes, and how statistics are released."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

from ...core.arrow import integers
from ...core.errors import InputError
from ...core.mechanism import Mechanism, Progress, check_choices
from ...core.metric import Requirement
from ...core.release import Release
from ...core.roles import KINDS, Roles
from ...core.table import Table
from ..microdata.numeric_columns import names_in
from ..parameters.stated_domains import StatedDomain, entries
from .budget import Budget, amount, spell
from .noise import Noise

NEIGHBOURS = "neighbouring tables differ by one row, added or removed"
PEOPLE = "neighbouring tables differ by one person, added or removed with all their rows, of which one is counted"
VALUES = "neighbouring tables differ by one value, changed; the number of rows is public"
PROMISED = (
    "where neighbouring tables differ by one row, added or removed (changing a row is both: twice epsilon), or, where the roles name "
    "a person, by one person with all their rows, of which one counts"
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


class Private(Mechanism):
    """Subclasses have the fields `epsilon`, `budget` and `require`."""

    epsilon: float | None
    budget: Budget | None
    require: tuple[Requirement, ...]
    refuses_several_rows = False  # to look would tell of the rows; the note says that rows are protected

    def sanitize(
        self, table: Table, roles: Roles, rng: np.random.Generator | None = None, *, progress: Progress | None = None
    ) -> Release:
        """Release the table as it is read by what was stated, one row of each person; with `rng` the noise is seeded, for tests."""
        stated = table.stated(roles.reading)
        named = [(kind, name) for kind in KINDS for name in getattr(roles, kind)]
        for kind, name in (*named, *([("person", roles.person)] if roles.person is not None else [])):
            if name not in stated.columns:
                raise InputError(
                    f"{table.name}: no column {name!r}, which {roles.source} names in {kind}. {self.card.name} does not guess how the "
                    f"file is written ({'; '.join(stated.notes)}); if it is written differently, state that under [reading] in "
                    f"{roles.source} or with --delimiter, --encoding, --quote, --header."
                )
        if roles.person is not None:
            stated = stated.one_row_of(roles.person)
        made = self._make(stated, roles, rng, progress)
        told = f"{AS_STATED}. {'; '.join(stated.notes).capitalize() or 'The table stands as it was made'}."
        neighbours = self._neighbours(roles)
        original = stated if made.recoding is not None else table  # pairs are those of the rows that were read
        return replace(made, original=original, neighbours=neighbours, epsilon=self.cost, notes=(*made.notes, told))

    def _neighbours(self, roles: Roles) -> str:
        """What the promise is about."""
        return NEIGHBOURS if roles.person is None else PEOPLE

    @abstractmethod
    def _make(self, table: Table, roles: Roles, rng: np.random.Generator | None, progress: Progress | None) -> Release:
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
        object.__setattr__(self, "require", tuple(self.require))
        for requirement in self.require:
            raise InputError(f"{who} cannot steer by {requirement}: its promise is about chances, not about a file.")

    def settings(self) -> dict[str, Any]:
        """The parameters, without the budget: the notes hold its ledger."""
        return {name: value for name, value in super().settings().items() if name != "budget"}

    @property
    def cost(self) -> Fraction:
        """The epsilon that a release costs."""
        assert self.epsilon is not None
        return amount(self.epsilon, "epsilon")

    def _open(
        self, table: Table, roles: Roles, rng: np.random.Generator | None, total: Fraction
    ) -> tuple[Noise, Budget]:
        """The noise and the budget for one release, once the table is known to fit; nothing is spent yet."""
        who = self.card.name
        noise = Noise(rng, who)
        budget = self.budget if self.budget is not None else Budget(total)
        budget.afford(total, what=who)
        return noise, budget

    def _column(self, name: str, table: Table, roles: Roles) -> None:
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
        who, released = self.card.name, (*roles.quasi, *roles.sensitive, *roles.insensitive)
        names = [c for c in table.columns if c in released] if text is None else names_in(text, who)
        if not names:
            raise InputError(f"{roles.source} names no column to release; set quasi, sensitive or insensitive.")
        stated = entries(domains, who, "domains") if domains else {}
        for name in (*names, *stated):
            self._column(name, table, roles)
        return tuple(StatedDomain.find(name, stated, roles, who, missing=missing) for name in names)

    def _room(self, cells: int) -> None:
        """Refuse tables of counts that are out of reach."""
        if cells > MOST_CELLS:
            raise InputError(
                f"{self.card.name}: the domains make {cells:,} cells, and {MOST_CELLS:,} is the most; take fewer columns or "
                "coarser domains."
            )

    def _notes(self, noise: Noise, budget: Budget, total: Fraction, roles: Roles, *more: str) -> tuple[str, ...]:
        """The promise in words, as what it is; the ledger; what else is to be said."""
        return (
            f"{noise.word}: {spell(total)}-differential privacy, where {self._neighbours(roles)}; no file can show it.",
            *budget.notes,
            *more,
            *noise.notes,
        )

    def _statistics(self, table: Table, roles: Roles, columns: Mapping[str, pa.Array], notes: Sequence[str]) -> Release:
        """A release whose rows are statistics, not people."""
        house = {*roles.identifiers, roles.person, roles.guarding}
        names: list[str] = []
        for name in columns:  # a column of ours must not bear the name of one that stays in the house
            while name in house or name in names:
                name += "_"
            names.append(name)
        rows = pa.Table.from_arrays(list(columns.values()), names=names)
        return Release(
            table=table.instead(rows, integers(np.ones(len(rows), dtype=np.int64))),
            original=table,
            statistics=True,
            made_by=self.card.name,
            parameters=self.settings(),
            notes=tuple(notes),
        )


def floats(values: Sequence[float]) -> pa.Array:
    """Numbers as Arrow holds them."""
    data = np.array(values, dtype=np.float64)
    return pa.Array.from_buffers(pa.float64(), len(data), [None, pa.py_buffer(data)])
