"""Rounding of numbers to multiples of a base: to the nearest, or at random up or down so that nothing is added on average.

Willenborg and de Waal 2001 (random rounding after Nargundkar and Saveland 1972); Hundepool et al. 2012. A number
`x = q b + r` becomes `(q + 1) b` with probability `r / b`, else `q b`: its expected value is x. The cost follows rows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import Decimal
from typing import ClassVar, Literal

import numpy as np

from ..core.column import FloatArray, IntArray
from ..core.errors import InputError
from ..core.mechanism import Mechanism, MechanismCard, Progress, check_choices
from ..core.metric import spell_number
from ..core.noun import dataclass
from ..core.randomness import Chance, Rng
from ..core.release import Release
from ..core.roles import Roles
from ..core.table import Table
from ..core.words import percent
from .microdata.numeric_columns import columns_of, names_in, released
from .microdata.rows import Rows
from .parameters.column_numbers import one_or_by_column

NEAR = 2e-15
"""What division in floating point is off at most, beside the quotient: no remainder."""


@dataclass(frozen=True, kw_only=True)
class Rounding(Mechanism):
    """Every number to a multiple of its column's base."""

    base: str = "10"
    columns: str | None = None
    how: Literal["nearest", "random"] = "nearest"

    card: ClassVar[MechanismCard] = MechanismCard(
        name="rounding",
        title="Rounding to a base",
        promise="each released number is a multiple of its base; it is at most half a base from the original (nearest), or less "
        "than a base and equal to it on average (random); nothing is promised about how many people share a number: "
        "require it, and the file is measured. Where the rows of a person stay joined, all of them are rounded by one draw a person, so "
        "that no mean over them tells the number; where nobody can join them, each row has its own",
        against="an adversary who knows a number exactly and looks for the row that has it",
        cost="digits are lost; rounding to the nearest moves all equal numbers alike, random rounding adds noise of at most a "
        "quarter of the squared base to the variance; missing values and multiples of the base stay as they are",
        source="Willenborg and de Waal 2001; Nargundkar and Saveland 1972 (random); Hundepool et al. 2012",
        chance="some",
        people=True,
        links=True,
        tunable=("how",),
        parameters={
            "base": "one number for all columns, or one for each column, which also names the columns: age=5,salary=1000",
            "columns": "the columns to round, as a list: age,salary; by default all quasi-identifiers that are numbers",
            "how": "nearest: halves go up; random: up or down at random, the nearer multiple being more likely",
        },
    )

    def __post_init__(self) -> None:
        check_choices(self)
        if isinstance(self.base, int | float):
            object.__setattr__(self, "base", repr(self.base))
        if self.columns is not None:
            names_in(self.columns, "rounding")
        bases = _bases(self.base)
        if "" in bases:
            object.__setattr__(self, "base", spell_number(bases[""]))
        elif self.columns is not None:
            raise InputError("rounding: base names the columns already; leave columns out, or give one base for all.")

    def sanitize(self, table: Table, roles: Roles, rng: Rng, *, progress: Progress) -> Release:
        """Sanitize; a missing value stays missing."""
        rows, chance = Rows.of_people(table, roles, "rounding"), Chance(rng)
        bases = _bases(self.base)
        if "" in bases:
            x = columns_of(rows, self.columns, "rounding")
            bases = dict.fromkeys(x, bases[""])
        else:
            for name in bases:
                rows.numbers(name, "rounding")  # refuses what is not there
            x = {name: columns_of(rows, name, "rounding")[name] for name in bases}
        random = self.how == "random"
        at, draws = rows.drawn_for()
        y = {name: self._rounded(x[name], bases[name], chance, at, draws) for name in x}
        progress(0.5)
        fresh = rows.joined_anew(chance)
        return rows.release(
            self,
            {name: released(values) for name, values in y.items()},
            added=fresh,
            perturbed=tuple(x) if random else (),
            notes=(*_notes(x, y), *(chance.notes if random or fresh else ())),
        )

    def _rounded(self, x: FloatArray, base: float, chance: Chance, at: IntArray, draws: int) -> FloatArray:
        """The multiple of the base that each number becomes; row i goes by the draw `at[i]`."""
        steps = x / base
        whole, off = np.rint(steps), NEAR * np.maximum(1.0, np.abs(steps))
        there = np.abs(steps - whole) <= off  # a multiple already
        if self.how == "random":
            down = np.floor(steps)
            moved = down + (chance.uniform(draws)[at] < steps - down)
        else:
            moved = np.floor(steps + 0.5 + off)
        digits = max(0, -int(Decimal(repr(base)).as_tuple().exponent))
        found: FloatArray = np.round(np.where(there, whole, moved) * base, digits)  # 0.3, and not 0.30000000000000004
        return found


def _bases(text: str) -> Mapping[str, float]:
    """The base of each column that is named, or of all under the empty name."""
    bases = one_or_by_column(text, "rounding", "base")
    if not all(0 < base < math.inf for base in bases.values()):
        raise InputError("rounding: base must be a number above 0, or a list such as age=5,salary=1000.")
    return bases


def _notes(x: Mapping[str, FloatArray], y: Mapping[str, FloatArray]) -> list[str]:
    """How much was moved, a line for all columns."""
    shares = []
    for name in x:
        known = ~np.isnan(x[name])
        share = float(np.mean(x[name][known] != y[name][known])) if known.any() else 0.0
        shares.append(f"{name!r} {percent(share)}")
    return [f"Numbers that rounding changed, of those that are there: {', '.join(shares)}."]
