"""How many people are alone in the population that a sample was drawn from, and how many of those alone in the sample: three estimators.

All take the class sizes of the sample and the sampling fraction. None knows the population: each supposes a law of class sizes, and
they may differ widely, so the range of the three is told beside the rule of Dankar et al. (2012) that chooses one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from ..core.column import FloatArray, IntArray
from ..core.errors import InputError
from ..core.noun import dataclass
from ..core.words import about, counted, percent

Model = Literal["zayatz", "pitman", "snb"]


@dataclass(frozen=True)
class PopulationUniques:
    """Estimated population uniques, by model, and the one that the decision rule takes."""

    sample_rows: int
    fraction: float
    sample_uniques: int
    by_model: dict[Model, float | None]
    """None where a model cannot be fitted to these class sizes."""
    chosen: Model | None

    @property
    def value(self) -> float | None:
        """The chosen model's estimate of the people who are alone in the population."""
        return None if self.chosen is None else self.by_model[self.chosen]

    @property
    def of_sample(self) -> float | None:
        """Of the rows alone in the sample, those expected to be alone in the population: the share of the population's that was drawn.

        Who is alone in the population and drawn is alone in the sample, so it is never more than these.
        """
        return None if self.value is None else min(self.fraction * self.value, float(self.sample_uniques))

    @property
    def sentence(self) -> str:
        """Both numbers, each with what it counts."""
        alone = self.sample_uniques
        are = "is" if alone == 1 else "are"
        if self.fraction == 1:
            return (
                f"{counted(alone, 'row')} {are} alone here and therefore in the population, because the table is assumed to be the "
                "whole population."
            )
        if not alone:
            return "No row is alone here, so the models expect nobody to be alone in the population."
        if self.value is None or self.of_sample is None:
            return f"{counted(alone, 'row')} {are} alone here. No model fits, so Sfumato estimates nothing about the population."
        people = "person is" if _expected(self.value) == "1" else "people are"
        estimates = ", ".join(
            f"{name} {_expected(value)}" for name, value in self.by_model.items() if value is not None
        )
        return (
            f"{counted(alone, 'row')} {are} alone here. An estimated {_expected(self.of_sample)} of these "
            f"({percent(self.of_sample / alone)}) would also be alone in the population, if the table is a random "
            f"{percent(self.fraction)} of it. In the whole population an estimated {_expected(self.value)} {people} alone "
            f"({self.chosen}; by model: {estimates}). The models make different assumptions, and none has seen the population."
        )

    @property
    def ci(self) -> tuple[float, float] | None:
        """The range of the models that could be fitted: what the choice of the model makes of it, not sampling error."""
        known = [value for value in self.by_model.values() if value is not None]
        return (min(known), max(known)) if known else None

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "sample_rows": self.sample_rows,
            "sampling_fraction": self.fraction,
            "sample_uniques": self.sample_uniques,
            "population_uniques": dict(self.by_model),
            "chosen": self.chosen,
            "of_the_sample_uniques": self.of_sample,
            "exactness": "estimate",
            "range_of_models": self.ci,
        }


def _expected(people: float) -> str:
    """An expected number of people: with decimals where whole numbers would say none or all of a few."""
    return f"{people:,.0f}" if people >= 100 else about(people)


def population_uniques(sizes: IntArray, fraction: float) -> PopulationUniques:
    """Estimate how many people are unique in the population; `sizes` are the class sizes of the sample.

    The rule (Dankar, El Emam, Neisa, Roffey 2012): with a fraction of at most 0.1 Pitman's model; above it the smaller of Zayatz's and
    the slide negative binomial model's estimates, whichever can be fitted.
    """
    if not 0 < fraction <= 1:
        raise InputError("The sampling fraction must be above 0 and at most 1.")
    if not len(sizes):
        raise InputError("The table has no rows.")
    rows, alone = int(sizes.sum()), int((sizes == 1).sum())
    if fraction == 1 or alone == 0:
        exact: dict[Model, float | None] = dict.fromkeys(("zayatz", "pitman", "snb"), float(alone))
        return PopulationUniques(rows, fraction, alone, exact, "zayatz")
    estimates: dict[Model, float | None] = {
        "zayatz": zayatz(sizes, fraction),
        "pitman": pitman(sizes, fraction),
        "snb": slide_negative_binomial(sizes, fraction),
    }
    order: tuple[Model, ...] = ("pitman", "snb", "zayatz")
    if fraction > 0.1:
        smaller: tuple[Model, Model] = ("zayatz", "snb")
        order = (
            *sorted(smaller, key=lambda model: math.inf if estimates[model] is None else float(estimates[model] or 0)),
            "pitman",
        )
    # the sample holds the drawn share of the population's uniques, and all are alone in it: more than this it would show
    most = alone / fraction
    estimates = {model: None if value is None else min(value, most) for model, value in estimates.items()}
    chosen = next((model for model in order if estimates[model] is not None), None)
    return PopulationUniques(rows, fraction, alone, estimates, chosen)


def zayatz(sizes: IntArray, fraction: float) -> float:
    """Zayatz (1991): the population's class sizes are taken to be distributed as the sample's.

    `P(population unique | sample unique) = P(1) h(1) / sum_i P(i) h(i)`, h(i) the chance that exactly one of i is drawn; the uniques
    of the population are those of the sample that are, divided by the fraction.
    """
    rows = int(sizes.sum())
    population = max(round(rows / fraction), rows)
    distinct, n = np.unique(sizes, return_counts=True)
    chance = n / n.sum()
    one = np.array([_one_drawn(population, int(i), rows) for i in distinct])
    weights = chance * one
    if not weights.sum():
        return 0.0
    given = float(weights[distinct == 1].sum() / weights.sum())
    return min(given * float((sizes == 1).sum()) / fraction, population)


def _one_drawn(population: int, size: int, drawn: int) -> float:
    """Hypergeometric: exactly one of `size` among `drawn` of `population`."""
    if size > population - drawn + 1:
        return 0.0
    lg = math.lgamma

    def choose(a: int, b: int) -> float:
        return lg(a + 1) - lg(b + 1) - lg(a - b + 1)

    return math.exp(math.log(size) + choose(population - size, drawn - 1) - choose(population, drawn))


def pitman(sizes: IntArray, fraction: float) -> float | None:
    """Hoshino (2001): class sizes follow Pitman's sampling formula with (theta, alpha), fitted by maximum likelihood.

    Population uniques: `Gamma(theta + 1)/Gamma(theta + alpha) N^alpha`, for N people.
    """
    rows, classes = int(sizes.sum()), len(sizes)
    distinct, n = np.unique(sizes, return_counts=True)
    if classes < 2 or classes == rows or not (sizes > 1).any():
        return None  # all alone: alpha goes to 1 and nothing is left to fit
    fitted = _fit_pitman(distinct.astype(np.float64), n.astype(np.float64), rows, classes)
    if fitted is None:
        return None
    theta, alpha = fitted
    people = rows / fraction
    value = math.exp(math.lgamma(theta + 1) - math.lgamma(theta + alpha) + alpha * math.log(people))
    return min(value, people)


def _fit_pitman(size: FloatArray, n: FloatArray, rows: int, classes: int) -> tuple[float, float] | None:
    """Maximise `sum_{i<u} log(theta + i alpha) - sum_{i<n} log(theta + i) + sum_j f_j sum_{i<j} log(i - alpha)`."""
    steps = np.arange(1, classes, dtype=np.float64)
    above = np.arange(1, int(size.max()), dtype=np.float64)  # i = 1 .. max - 1
    more = np.array([float(n[size > i].sum()) for i in above]) if len(above) < 20_000 else None
    if more is None:
        order = np.argsort(size)
        tail = np.concatenate([np.cumsum(n[order][::-1])[::-1], [0.0]])
        more = tail[np.searchsorted(size[order], above, side="right")]

    def likelihood(theta: float, alpha: float) -> float:
        first = float(np.log(theta + steps * alpha).sum())
        second = math.lgamma(theta + rows) - math.lgamma(theta + 1)
        third = float((more * np.log(above - alpha)).sum())
        return float(first - second + third)

    best: tuple[float, float, float] | None = None
    for alpha in np.linspace(0.02, 0.98, 25):
        for log_theta in np.linspace(-2, math.log(max(rows, 10)) + 2, 25):
            value = likelihood(math.exp(log_theta), float(alpha))
            if best is None or value > best[0]:
                best = (value, log_theta, float(alpha))
    assert best is not None
    step_t, step_a = 0.5, 0.04
    value, log_theta, alpha = best
    while step_a > 1e-9:  # a pattern search: no derivative, no failure
        moved = False
        for dt, da in ((step_t, 0), (-step_t, 0), (0, step_a), (0, -step_a)):
            t, a = log_theta + dt, alpha + da
            if 0 < a < 1 and -20 < t < 40:
                tried = likelihood(math.exp(t), a)
                if tried > value:
                    value, log_theta, alpha, moved = tried, t, a, True
        if not moved:
            step_t, step_a = step_t / 2, step_a / 2
    if alpha > 1 - 1e-6 or alpha < 1e-9:
        return None
    return math.exp(log_theta), alpha


def _least_squares(
    misses: Callable[[float, float], FloatArray], start: tuple[float, float]
) -> tuple[tuple[float, float], float]:
    """Where two misses are least (Levenberg and Marquardt), and the sum of their squares there; at most 200 steps."""
    at, damping, near = np.asarray(start, dtype=np.float64), 1e-3, 1e-6
    here = misses(*at)
    for _ in range(200):
        slopes = np.stack(
            [(misses(*(at + near * e)) - misses(*(at - near * e))) / (2 * near) for e in np.eye(2)], axis=1
        )
        normal = slopes.T @ slopes
        trial = at - np.linalg.lstsq(normal + damping * np.eye(2), slopes.T @ here, rcond=None)[0]
        there = misses(*np.clip(trial, -30, 30))
        if np.sum(there**2) < np.sum(here**2):
            at, here, damping = np.clip(trial, -30, 30), there, damping / 4
        else:
            damping *= 4
        if damping > 1e12 or np.sum(here**2) < 1e-24:
            break
    return (float(at[0]), float(at[1])), float(np.sum(here**2))


def slide_negative_binomial(sizes: IntArray, fraction: float) -> float | None:
    """Chen and McNulty (1998): population class sizes less one are negative binomial (alpha, beta) over K classes.

    The classes of the sample, those of one and those of two rows give three equations for K, alpha and beta, solved numerically; the
    population uniques are `K beta^alpha`. None where no solution fits.
    """
    pi = fraction
    classes = float(len(sizes))
    f1, f2 = float((sizes == 1).sum()), float((sizes == 2).sum())
    if not f1 or not f2:
        return None

    # A class of population size 1 + X, X ~ NB(alpha, beta) (failures before alpha successes of chance beta), thinned by pi: the
    # probability generating function of the sample size at s is z * (beta / (1 - (1 - beta) z))^alpha with z = 1 - pi + pi s.
    def generated(z: float, alpha: float, beta: float) -> float:
        return float(z * (beta / (1 - (1 - beta) * z)) ** alpha)

    def parts(alpha: float, beta: float) -> tuple[float, float, float]:
        z, q = 1 - pi, 1 - beta
        none = generated(z, alpha, beta)
        d = 1 - q * z
        base = (beta / d) ** alpha
        first = base * (1 + alpha * q * z / d)  # derivative by z
        second = base * (2 * alpha * q / d + alpha * (alpha + 1) * q * q * z / d**2)
        return 1 - none, pi * first, pi * pi * second / 2

    def misses(log_alpha: float, logit_beta: float) -> FloatArray:
        """How far the shares of classes of one and of two rows are from the sample's, as logarithms."""
        alpha, beta = math.exp(log_alpha), 1 / (1 + math.exp(-logit_beta))
        seen, one, two = parts(alpha, beta)
        if seen <= 0 or one <= 0 or two <= 0:
            return np.full(2, 1e9)
        return np.log([one / seen / (f1 / classes), two / seen / (f2 / classes)])

    grid = ((a, b) for a in np.linspace(-6, 5, 45) for b in np.linspace(-9, 6, 45))
    (a, b), value = _least_squares(misses, min(grid, key=lambda at: float(np.sum(misses(*at) ** 2))))
    if value > 1e-6:
        return None
    alpha, beta = math.exp(a), 1 / (1 + math.exp(-b))
    seen, _, _ = parts(alpha, beta)
    everyone = classes / seen
    return float(min(everyone * beta**alpha, float(sizes.sum()) / fraction))
