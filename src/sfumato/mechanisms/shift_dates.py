"""Date shifting: all dates of one person are moved by the same random number of days, drawn anew for every person.

Hripcsak, Mirhaji, Low, Malin 2016 (shift and truncate). The range is public; the offset of a person is nobody's to know.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ..core.arrow import strings, take
from ..core.column import Column, IntArray
from ..core.errors import InputError
from ..core.mechanism import Mechanism, MechanismCard, Progress
from ..core.noun import dataclass
from ..core.people import nobodys
from ..core.randomness import Chance
from ..core.release import Release
from ..core.roles import Roles
from ..core.table import Table
from ..core.words import counted
from .microdata.numeric_columns import names_in
from .microdata.rows import Rows

_FIRST, _LAST = (int(np.datetime64(text).astype(np.int64)) for text in ("0001-01-01", "9999-12-31"))


@dataclass(frozen=True, kw_only=True)
class ShiftDates(Mechanism):
    """One random offset for each person, for all of their dates."""

    days: int = 30
    columns: str | None = None

    card: ClassVar[MechanismCard] = MechanismCard(
        name="shift_dates",
        title="Date shifting",
        promise="all dates of one person are moved by the same random number of days, each from -days to days equally likely, drawn anew for "
        "every person and every release; what a requirement limits is measured after it, in a chain",
        against="an adversary who knows the dates of a person exactly; not one who knows the days between two of them, which stay true unless a "
        "later link makes them coarser, nor one who knows the first or last day of the data (a date near it narrows the offset; the paper "
        "leaves such dates out), nor one who has several releases, each with another offset",
        cost="dates are wrong by up to the days, the days between two dates of a person are right; seasons, days of the week and an order "
        "between people are lost within that range; other columns stay as they are",
        source="Hripcsak, Mirhaji, Low, Malin 2016, Preserving temporal relations in clinical data while maintaining privacy",
        links=True,
        tunable=("days",),
        parameters={
            "days": "the most days by which dates are moved, either way; it is public",
            "columns": "the columns of dates, as a list: admitted,discharged; by default all that are released",
        },
    )

    def __post_init__(self) -> None:
        if not isinstance(self.days, int) or isinstance(self.days, bool) or not 1 <= self.days <= 36_500:
            raise InputError("shift_dates: days must be a whole number from 1 to 36500.")
        if self.columns is not None:
            names_in(self.columns, "shift_dates")

    def sanitize(
        self, table: Table, roles: Roles, rng: np.random.Generator | None = None, *, progress: Progress | None = None
    ) -> Release:
        """Sanitize; a missing date stays missing. Where a row is a person, each row has an offset of its own."""
        person = roles.person if roles.person in table.columns else None
        rows, chance = Rows.of(table, roles, "shift_dates", house=() if person is None else (person,)), Chance(rng)
        names = self._named(rows)
        who, people = np.arange(len(rows)), len(rows)
        if person is not None:
            who, people = rows.codes[person], len(rows.columns[person])
            if rows.columns[person].has_missing:
                raise InputError(nobodys(table, int((who == people - 1).sum()), person))
        offset = chance.below(2 * self.days + 1, people) - self.days
        changed = {
            name: _moved(rows.columns[name], rows.codes[name], offset[who], f"{table.name}: column {name!r}")
            for name in names
        }
        added = {person: chance.numbers(people, rows.columns[person].texts)[who]} if person and roles.linked else {}
        return rows.release(
            self,
            changed,
            added=added,
            perturbed=names,
            notes=(
                f"All dates of one person ({', '.join(map(repr, names))}) were moved by one random offset of at most "
                f"{counted(self.days, 'day')} either way; the days between them are true.",
                *chance.notes,
            ),
        )

    def _named(self, rows: Rows) -> list[str]:
        """The columns of dates."""
        if self.columns is None:
            names = [name for name in rows.names if rows.columns[name].dates]
            if not names:
                raise InputError(f"{rows.table.name}: shift_dates finds no column of dates that is released.")
            return names
        named = list(names_in(self.columns, "shift_dates"))
        for name in named:
            if name not in rows.names or not rows.columns[name].dates:
                raise InputError(
                    f"{rows.table.name}: {name!r} is no column of dates that is released, so shift_dates cannot move it."
                )
        return named


def _moved(column: Column, codes: IntArray, offset: IntArray, where: str) -> object:
    """The dates of each row, moved by so many days; the time of day stays."""
    known = codes < len(column.values)
    texts = [str(text) for text in column.texts if text is not None]
    day = np.array([text[:10] for text in texts], dtype="datetime64[D]").astype(np.int64)
    low = int(offset.min(initial=0))
    width = int(offset.max(initial=0)) - low + 1
    key, at = np.unique(codes[known] * width + offset[known] - low, return_inverse=True)
    code, by = key // width, key % width + low
    days = day[code] + by
    if len(days) and not (days.min() >= _FIRST and days.max() <= _LAST):
        raise InputError(f"{where}: a moved date would lie outside the years 1 to 9999; use fewer days.")
    moved = days.astype("datetime64[D]").astype(str)
    labels = strings([new + texts[c][10:] for new, c in zip(moved.tolist(), code.tolist(), strict=True)])
    picked = np.full(len(codes), len(key))
    picked[known] = at
    return take(labels, picked)
