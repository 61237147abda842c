"""Counts, sums and means of the whole table with noise: the interactive model of differential privacy, asked once.

Dwork, McSherry, Nissim, Smith 2006: noise of scale sensitivity/epsilon, where the sensitivity is how much one row added or
removed may change the answer: 1 for a count, the larger bound in absolute value for a sum, half the range for a sum of
distances from the middle of the bounds. A mean is the middle plus such a sum divided by a count, each with half of its share.
(The survey, 4.2, prints the condition on the scale as its inverse.) The epsilon is divided equally over the statistics.
One scan of the table; the noise costs nothing beside it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import field
from fractions import Fraction
from typing import ClassVar, NamedTuple

import numpy as np

from ..core.arrow import floats, strings
from ..core.column import IntArray
from ..core.errors import InputError
from ..core.mechanism import MechanismCard, Progress
from ..core.metric import Requirement
from ..core.noun import dataclass, short
from ..core.randomness import Rng
from ..core.release import Release
from ..core.roles import Roles
from ..core.table import Table
from .differential_privacy.budget import Budget
from .differential_privacy.noise import Noise, half_width
from .differential_privacy.private_release import AS_STATED, BUDGET, EPSILON, PROMISED, Private
from .parameters.stated_domains import NumberGrid, bare, bounds_of, grids, split

_ASKED = re.compile(r"^\s*(count|sum|mean)\s*(?:\((.*)\))?\s*$", re.DOTALL)
_FORMS = {"count": [(False, False), (True, True)], "sum": [(True, False)], "mean": [(True, False)]}
"""Whether a column and a value stand in the brackets."""


class StatisticRequest(NamedTuple):
    """One statistic: `count`, `count(column=value)`, `sum(column)` or `mean(column)`."""

    text: str
    kind: str
    column: str | None = None
    value: str | None = None

    def __repr__(self) -> str:
        return short(self)


class Answer(NamedTuple):
    """A noisy statistic, the scale of its noise, and the interval that the exact one is in unless the noise was rare."""

    value: float
    scale: float
    low: float
    high: float

    def __repr__(self) -> str:
        return short(self)


def requested(text: str) -> list[StatisticRequest]:
    """The statistics that a text names."""
    requests = []
    for part in split(text, ","):
        match = _ASKED.match(part)
        column, *value = split(match[2] or "", "=") if match else [""]
        if match is None or (bool(bare(column)), bool(value)) not in _FORMS[match[1]]:
            raise InputError(
                "dp_statistics: statistics is a list of count, count(COLUMN=VALUE), sum(COLUMN) and mean(COLUMN)."
            )
        requests.append(StatisticRequest(part.strip(), match[1], bare(column) or None, bare("=".join(value)) or None))
    return requests


@dataclass(frozen=True, kw_only=True)
class DpStatistics(Private):
    """Noisy counts, sums and means, each with its scale and a confidence interval."""

    statistics: str = "count"
    bounds: str = ""
    epsilon: float | None = None
    confidence: float = 0.95
    budget: Budget | None = field(default=None, compare=False)
    require: tuple[Requirement, ...] = ()

    card: ClassVar[MechanismCard] = MechanismCard(
        name="dp_statistics",
        title="Differentially private counts, sums and means",
        promise=f"epsilon-differential privacy of all statistics together, {PROMISED}; this holds by construction, and no file can "
        f"show it. {AS_STATED}",
        against="an adversary who knows everything else, even all other rows, and wants to tell whether a person's row is in "
        "the table, or what it says",
        cost="no rows are released; a count is off by about the number of statistics divided by epsilon, a sum by that times "
        "the larger bound, a mean by that times half the range divided by the number of rows; values outside the bounds "
        "are moved to the nearest bound",
        source="Dwork, McSherry, Nissim, Smith 2006; Ghosh, Roughgarden, Sundararajan 2009 (geometric); Manta 2013, 4.2; "
        "sampled by OpenDP after Canonne, Kamath, Steinke 2020",
        chance="always",
        private=True,
        place="last",
        parameters={
            "statistics": "the statistics to release: count, count(sex=Female), sum(income), mean(age), ..., separated by commas; "
            "count(sex=) counts the rows where sex is missing",
            "bounds": "bounds for the columns of sums and means, stated by the owner and never taken from the data: age=17:99, "
            "rate=0.00:1.00 or income=0:200000:100 (low:high:step); a missing value adds nothing",
            "epsilon": f"{EPSILON}; it is divided equally among the statistics",
            "confidence": "the confidence of the intervals; they cover the noise alone, not the effect of moving values to the bounds",
            "budget": BUDGET,
        },
    )

    def __post_init__(self) -> None:
        self._check()
        if not 0 < self.confidence < 1:
            raise InputError("dp_statistics: confidence must be between 0 and 1.")
        requested(self.statistics)
        self._bounds()

    def _bounds(self) -> dict[str, NumberGrid]:
        """The bounds that the parameter states; those of other columns are asked of the roles file when there is one."""
        return grids(self.bounds, "dp_statistics") if self.bounds else {}

    def _make(self, table: Table, roles: Roles, rng: Rng, progress: Progress) -> Release:
        wanted = requested(self.statistics)
        given = self._bounds()
        stated = {
            one.column: bounds_of(one.column, given, roles, "dp_statistics", one.text)
            for one in wanted
            if one.kind != "count" and one.column is not None
        }
        for one in wanted:
            if one.column is not None:
                self._column(one.column, roles)
        noise, budget = self._open(roles, rng)
        exact = {one: _exact(one, table, stated) for one in dict.fromkeys(wanted)}
        share = self.cost / len(wanted)
        for one in wanted:
            budget.spend(share, what=one.text)
        noisy = iter(_noisy([number for one in wanted for number in _numbers(one, exact[one], stated, share)], noise))
        answers = [_answer(one, noisy, stated, 1 - self.confidence) for one in wanted]
        progress(1.0)
        note = (
            f"The intervals hold the statistic of the clamped values with a confidence of {self.confidence:g}; they say "
            "nothing of a wider population."
        )
        return self._statistics(
            table,
            roles,
            {
                "statistic": strings([one.text for one in wanted]),
                "value": floats([a.value for a in answers]),
                "epsilon": floats([float(share)] * len(answers)),
                "noise_scale": floats([a.scale for a in answers]),
                "ci_low": floats([a.low for a in answers]),
                "ci_high": floats([a.high for a in answers]),
            },
            self._notes(noise, budget, roles, note),
        )


def _exact(one: StatisticRequest, table: Table, stated: Mapping[str, NumberGrid]) -> tuple[int, int]:
    """A statistic without noise: a sum in steps, and the rows behind it."""
    counts = table.count(() if one.column is None else (one.column,))
    if one.column is None:
        return 0, counts.rows
    column, codes = counts.columns[0], counts.codes[0]
    if one.kind == "count":
        hit = np.array([text == one.value for text in column.texts], dtype=bool)[codes]
        return 0, int(counts.n[hit].sum())
    numbers = table.reading.numbers(column)[codes]
    known = ~np.isnan(numbers)
    steps, n = stated[one.column].codes(numbers[known]), counts.n[known]
    if one.kind == "mean":  # twice the distance from the middle of the bounds, which is whole
        steps = 2 * steps - (stated[one.column].first + stated[one.column].last)
    return int((steps * n).sum()), int(n.sum())


class NoisyNumber(NamedTuple):
    """A whole number that gets noise."""

    value: int
    sensitivity: int
    epsilon: Fraction

    def __repr__(self) -> str:
        return short(self)


def _numbers(
    one: StatisticRequest, exact: tuple[int, int], stated: Mapping[str, NumberGrid], epsilon: Fraction
) -> list[NoisyNumber]:
    """What a statistic is made of; a mean is made of two numbers with half its share each."""
    total, rows = exact
    if one.kind == "count" or one.column is None:
        return [NoisyNumber(rows, 1, epsilon)]
    grid = stated[one.column]
    if one.kind == "sum":
        return [NoisyNumber(total, max(abs(grid.first), abs(grid.last)), epsilon)]
    return [
        NoisyNumber(total, grid.width, epsilon / 2),
        NoisyNumber(rows, 1, epsilon / 2),
    ]  # doubled distances: at most the width


def _noisy(numbers: list[NoisyNumber], noise: Noise) -> list[tuple[int, float]]:
    """Each number with noise, and the scale; those of one scale are drawn together."""
    found: dict[int, tuple[int, float]] = {}
    for kind in dict.fromkeys((number.sensitivity, number.epsilon) for number in numbers):
        at = [i for i, number in enumerate(numbers) if (number.sensitivity, number.epsilon) == kind]
        values: IntArray = np.array([numbers[i].value for i in at], dtype=np.int64)
        drawn, scale = noise.laplace(values, sensitivity=kind[0], epsilon=kind[1])
        found |= {i: (value, scale) for i, value in zip(at, drawn.tolist(), strict=True)}
    return [found[i] for i in range(len(numbers))]


def _answer(
    one: StatisticRequest, noisy: Iterator[tuple[int, float]], stated: Mapping[str, NumberGrid], beta: float
) -> Answer:
    value, scale = next(noisy)
    off = half_width(scale, beta if one.kind != "mean" else beta / 2)
    if one.kind == "count" or one.column is None:
        return Answer(value, scale, max(0, value - off), max(0, value + off))
    grid = stated[one.column]
    step = float(grid.step)
    if one.kind == "sum":
        return Answer(value * step, scale * step, (value - off) * step, (value + off) * step)
    count, scale_n = next(noisy)
    off_n = half_width(scale_n, beta / 2)  # sum and count are both inside but for beta: a union bound
    middle, low, high = (grid.first + grid.last) / 2 * step, grid.first * step, grid.last * step
    most, least = max(count + off_n, 1), max(count - off_n, 1)
    ends = [middle + (value + side) / 2 / n * step for side in (-off, off) for n in (least, most)]
    mean = middle + value / 2 / max(count, 1) * step
    return Answer(
        min(max(mean, low), high),
        scale / 2 / max(count, 1) * step,
        min(max(min(ends), low), high),
        max(min(max(ends), high), low),
    )
