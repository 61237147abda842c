"""Laplace noise on each value for itself: local differential privacy of numbers (Sramka et al. 2010, 4.2).

Every value is clamped to bounds that the owner states, put on a grid, and gets noise of scale (high - low)/epsilon: whatever
two values a person may have had, the released one is at most exp(epsilon) times likelier under one than under the other.
With a step of 1 this is the two-sided geometric mechanism on whole numbers. The paper calls it differential privacy; it is
*local* differential privacy of single values, with noise as large as the whole range for epsilon = 1. Where several rows of a person are
used, each value has its epsilon, and the person the sum over all of their rows; the noise is not larger, and the budget pays the sum. The density that it
prints lacks the factor 1/sensitivity, and its sensitivity of 16 for the range 1-16 is 15. 10 us a value.
"""

from __future__ import annotations

from dataclasses import field
from fractions import Fraction
from typing import ClassVar, Literal

import numpy as np

from ..core.column import FloatArray
from ..core.errors import InputError
from ..core.mechanism import MechanismCard, Progress
from ..core.metric import Requirement
from ..core.noun import dataclass
from ..core.randomness import Rng
from ..core.release import Release
from ..core.roles import Roles
from ..core.table import Table
from .differential_privacy.budget import Budget, spell
from .differential_privacy.private_release import AS_STATED, BUDGET, VALUES, Private
from .microdata.numeric_columns import released
from .microdata.rows import Rows
from .parameters.stated_domains import grids


@dataclass(frozen=True, kw_only=True)
class LocalNoise(Private):
    """Discrete Laplace noise on every value of the columns that have bounds."""

    bounds: str = ""
    epsilon: float | None = None
    clamp: bool = False
    missing: Literal["middle", "keep"] = "middle"
    budget: Budget | None = field(default=None, compare=False)
    require: tuple[Requirement, ...] = ()

    card: ClassVar[MechanismCard] = MechanismCard(
        name="local_noise",
        title="Local differential privacy by Laplace noise on each value",
        promise=f"LOCAL epsilon-differential privacy of every value in the columns with bounds; this holds by construction, and no "
        f"file can show it; a row with several such columns has the sum of their epsilons; neighbouring tables differ by "
        f"one value, changed: every row of the table is a row of the release (one for each person where the roles name a "
        f"person), so the number of rows is public. {AS_STATED}, and the middle of the bounds stands for a missing value "
        f"unless it is kept",
        against="an adversary who knows everything else, even all other rows, and wants to tell which of two values within the "
        "bounds a person has; not one who knows the columns without bounds, which are released as they are",
        cost="every value gets noise as wide as the bounds divided by epsilon, so only averages over many rows keep their "
        "meaning; it takes about 10 us a value",
        source="Sramka, Safavi-Naini, Denzinger, Askari 2010, section 4.2; Dwork, McSherry, Nissim, Smith 2006; Ghosh, "
        "Roughgarden, Sundararajan 2009 (geometric); sampled by OpenDP after Canonne, Kamath, Steinke 2020",
        chance="always",
        private=True,
        parameters={
            "bounds": "the columns that get noise and the bounds of each, stated by the owner and never taken from the data: "
            "age=17:99, rate=0.00:1.00 or income=0:200000:100 (low:high:step); values outside are moved to the nearest bound",
            "epsilon": "for each value, not for a row; 1 means noise of about the whole range",
            "clamp": "also move noisy values outside the bounds to the nearest bound; this costs no privacy, but biases averages",
            "missing": "middle: a missing value is treated as the middle of the bounds; keep: it stays missing, and the release does not "
            "protect whether a value is missing",
            "budget": BUDGET,
        },
    )

    def __post_init__(self) -> None:
        self._check()
        if not self.bounds:
            raise InputError("local_noise needs bounds, such as age=17:99, that do not come from the data.")
        grids(self.bounds, "local_noise")

    def _neighbours(self, roles: Roles) -> str:
        return VALUES

    @property
    def cost(self) -> Fraction:
        """Epsilon is for each value, and a row has one in each column."""
        return super().cost * len(grids(self.bounds, "local_noise"))

    def cost_of(self, roles: Roles) -> Fraction:
        """Every row of a person costs that."""
        return self.cost * roles.most_rows

    def _make(self, table: Table, roles: Roles, rng: Rng, progress: Progress) -> Release:
        stated, most = grids(self.bounds, "local_noise"), roles.most_rows
        each, total = self.cost / len(stated), self.cost_of(roles)
        for name in stated:
            self._column(name, roles)
        noise, budget = self._open(roles, rng)
        rows = Rows.of(table, roles, "local_noise")
        known = {name: table.reading.numbers(rows.columns[name])[rows.codes[name]] for name in stated}
        changed, done = {}, 0

        def report_progress(share: float) -> None:
            progress((done + share) / len(stated))

        for name, grid in stated.items():
            gone = np.isnan(known[name])
            codes = np.full(len(rows), (grid.first + grid.last) // 2, dtype=np.int64)
            codes[~gone] = grid.codes(known[name][~gone])
            of_all = "" if most == 1 else f" in up to {most} rows of a person"
            budget.spend(each * most, what=f"each value of {name}{of_all}")
            # the noise is scaled to all rows that a person may have, and so is what they cost: each value costs its epsilon
            noisy, _ = noise.laplace(codes, sensitivity=grid.width, epsilon=each * most, progress=report_progress)
            done += 1
            if self.clamp:
                noisy = np.clip(noisy, grid.first, grid.last)
            numbers: FloatArray = grid.numbers(noisy).astype(np.float64)
            if self.missing == "keep":
                numbers[gone] = np.nan
            changed[name] = released(numbers)
        in_all = "" if most == 1 else f", and {spell(total)} for a person with {most} rows"
        return rows.release(
            self,
            changed,
            perturbed=stated,
            notes=(
                f"{noise.word}: LOCAL differential privacy, epsilon {spell(each)} for each value "
                f"of {', '.join(stated)}, and so {spell(each * len(stated))} for a row{in_all}, where {VALUES}; no file can show it.",
                *budget.notes,
                "Not protected: the columns without noise, and the number of rows"
                + (", and which values are missing." if self.missing == "keep" else "."),
                *noise.notes,
            ),
        )
