"""The most frequent value, or a quantile, chosen from a given list by the exponential mechanism.

McSherry, Talwar 2007: a candidate of score q is chosen with a probability that falls by exp(epsilon q / (2 sensitivity)).
Drawn by permute-and-flip (McKenna, Sheldon 2020), which keeps the promise and misses the best by less. The score of a value
is how many rows have it. The score of a candidate c for the quantile p of n rows is how far p n is from the rows below c and
the rows up to c, less than 0 unless it lies between them (after Smith 2011): 0 at the quantile, ties or not. One scan.
"""

from __future__ import annotations

from dataclasses import field
from fractions import Fraction
from typing import ClassVar, Literal

import numpy as np

from ..core.arrow import floats, strings
from ..core.column import IntArray
from ..core.counts import Counts
from ..core.errors import InputError
from ..core.mechanism import MechanismCard, Progress
from ..core.metric import Requirement
from ..core.noun import dataclass
from ..core.randomness import Rng
from ..core.release import Release
from ..core.roles import Roles
from ..core.stated_reading import StatedReading
from ..core.table import Table
from .differential_privacy.budget import Budget, amount
from .differential_privacy.private_release import AS_STATED, BUDGET, EPSILON, PROMISED, Private
from .parameters.stated_domains import NumberGrid, StatedDomain, cells


@dataclass(frozen=True, kw_only=True)
class DpChoice(Private):
    """One value of a list of candidates that does not come from the data."""

    column: str = ""
    choose: Literal["most_frequent", "quantile"] = "most_frequent"
    quantile: float = 0.5
    candidates: str = ""
    epsilon: float | None = None
    budget: Budget | None = field(default=None, compare=False)
    require: tuple[Requirement, ...] = ()

    card: ClassVar[MechanismCard] = MechanismCard(
        name="dp_choice",
        title="Differentially private choice (exponential mechanism)",
        promise=f"epsilon-differential privacy of the choice, {PROMISED}; this holds by construction, and no file can show it. "
        f"{AS_STATED}",
        against="an adversary who knows everything else, even all other rows, and wants to tell whether a person's row is in "
        "the table, or what it says",
        cost="a single value is released, and it may not be the best candidate, especially if others are close: one that is "
        "ln(candidates)/epsilon rows worse is still likely",
        source="McSherry, Talwar 2007; McKenna, Sheldon 2020 (permute-and-flip); Smith 2011 (quantiles); drawn by OpenDP",
        chance="always",
        private=True,
        place="last",
        parameters={
            "column": "the column whose value is chosen",
            "choose": "most_frequent: the candidate that most rows have; quantile: the candidate that splits the rows",
            "quantile": "the share of the rows below the chosen value: 0.5 for the median",
            "candidates": "the possible choices, as a list such as flu|cold|asthma or, for numbers, low:high (whole numbers) or "
            "low:high:step; by default the values of the column's hierarchy file or of its order, never those of the data",
            "epsilon": EPSILON,
            "budget": BUDGET,
        },
    )

    def __post_init__(self) -> None:
        self._check()
        if not self.column:
            raise InputError("dp_choice needs the column to choose a value of.")
        if not 0 < self.quantile < 1:
            raise InputError("dp_choice: quantile must be between 0 and 1.")

    def _make(self, table: Table, roles: Roles, rng: Rng, progress: Progress) -> Release:
        self._column(self.column, roles)
        given = {self.column: self.candidates} if self.candidates else {}
        domain = StatedDomain.find(self.column, given, roles, "dp_choice", missing=False)
        frequent = self.choose == "most_frequent"
        numbers = None if frequent else _numbers(domain, self.candidates)
        noise, budget = self._open(roles, rng)
        counts = table.count((self.column,))
        if numbers is None:
            scores, sensitivity = cells(counts, [domain], table.reading), 1
        else:
            share = amount(self.quantile, "quantile")
            scores, sensitivity = quantile_scores(counts, numbers, share, table.reading)
        budget.spend(self.cost, what=f"the choice for {self.column}")
        at, scale = noise.choose(scores, sensitivity=sensitivity, epsilon=self.cost, monotone=frequent)
        name = f"most frequent {self.column}" if frequent else f"quantile {self.quantile:g} of {self.column}"
        value = domain.values[at] if numbers is None else f"{numbers[at]:.15g}"
        return self._statistics(
            table,
            roles,
            {
                "statistic": strings([name]),
                "value": strings([value]),
                "epsilon": floats([float(self.cost)]),
                "noise_scale": floats([scale]),
            },
            self._notes(noise, budget, roles, f"Chosen from {len(scores)} stated candidates."),
        )


def _numbers(domain: StatedDomain, text: str) -> list[float]:
    """The candidates of a quantile, ascending: the points of low:high:step, or values that are numbers."""
    if domain.edges is not None:
        grid = NumberGrid.read(domain.name, text, "dp_choice")
        return [float(x) for x in grid.numbers(np.arange(grid.first, grid.last + 1))]
    try:
        return sorted(float(value) for value in domain.values)
    except ValueError:
        raise InputError(f"dp_choice: a quantile of {domain.name!r} needs candidates that are numbers.") from None


def quantile_scores(
    counts: Counts, candidates: list[float], share: Fraction, reading: StatedReading
) -> tuple[IntArray, int]:
    """-max(a n - b upto, b below - a n, 0) for the share a/b, and how much one row changes it: a or b - a."""
    a, b = share.numerator, share.denominator
    if b > 10**6:
        raise InputError("dp_choice: quantile must have no more than six decimals.")
    column = counts.columns[0]
    numbers = reading.numbers(column)[counts.codes[0]]
    known = ~np.isnan(numbers)
    order = np.argsort(numbers[known], kind="stable")
    values, n = numbers[known][order], np.concatenate([[0], np.cumsum(counts.n[known][order])])
    below = n[np.searchsorted(values, candidates, side="left")]
    upto = n[np.searchsorted(values, candidates, side="right")]
    scores: IntArray = -np.maximum(np.maximum(a * n[-1] - b * upto, b * below - a * n[-1]), 0)
    return scores, max(a, b - a)
