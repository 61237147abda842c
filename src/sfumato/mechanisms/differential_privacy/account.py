"""What a release with several steps has to spend, in the one coin that its noise is paid in.

Pure: epsilon, Laplace noise; costs add up, and noise is in inverse proportion to the cost. Concentrated: rho of zCDP (`concentrated`), which
(epsilon, delta) buys once, and Gaussian noise; costs add up, and noise is in inverse proportion to the root of the cost, which is what
makes many small steps cheap. Either way nothing is drawn before it is paid for, and what is not there cannot be spent.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from fractions import Fraction

import numpy as np

from ...core.column import IntArray
from .budget import Budget, spell
from .concentrated import rho_of
from .noise import Noise, deviation


class Account(ABC):
    """`whole` is what there is, in its own coin. A count is meant where one row changes one of the values, by 1."""

    whole: Fraction
    halving: int
    """How many times a step costs if its noise is to be half as large."""

    def __init__(self, noise: Noise, budget: Budget) -> None:
        self.noise, self.budget = noise, budget
        self.spent = Fraction(0)

    @property
    def left(self) -> Fraction:
        """What has not been spent."""
        return self.whole - self.spent

    def _spend(self, cost: Fraction) -> None:
        if not 0 < cost <= self.left:
            raise AssertionError(f"a step of {float(cost):.6g} where {float(self.left):.6g} is left")
        self.spent += cost

    @abstractmethod
    def counts(self, values: IntArray, cost: Fraction, what: str) -> IntArray:
        """Counts of disjoint cells with noise."""

    @abstractmethod
    def choose(self, scores: IntArray, sensitivity: int, cost: Fraction, what: str) -> int:
        """A position whose score is about the largest."""

    @abstractmethod
    def variance(self, cost: Fraction) -> float:
        """That of the noise on each count."""

    @abstractmethod
    def mean_size(self, cost: Fraction) -> float:
        """How far off a count is on average."""

    @property
    @abstractmethod
    def notes(self) -> tuple[str, ...]:
        """The ledger in words."""


class PureAccount(Account):
    """A coin is an epsilon; every step stands in the budget's ledger."""

    halving = 2

    def __init__(self, noise: Noise, budget: Budget, epsilon: Fraction) -> None:
        super().__init__(noise, budget)
        self.whole = epsilon

    def counts(self, values: IntArray, cost: Fraction, what: str) -> IntArray:
        """With two-sided geometric noise."""
        self._spend(cost)
        self.budget.spend_parallel([(cost, 0)], f"the counts of {what}", times=values.size)
        return self.noise.laplace(values.ravel(), sensitivity=1, epsilon=cost)[0].reshape(values.shape)

    def choose(self, scores: IntArray, sensitivity: int, cost: Fraction, what: str) -> int:
        """By permute-and-flip."""
        self._spend(cost)
        self.budget.spend(cost, what=what)
        return self.noise.choose(scores, sensitivity=sensitivity, epsilon=cost, monotone=False)[0]

    def variance(self, cost: Fraction) -> float:
        """2 q / (1 - q)^2 with q = exp(-epsilon / rows), which is 2 (rows / epsilon)^2 for small epsilons."""
        q = math.exp(-float(cost) / self.noise.rows)
        return max(2 * q / (1 - q) ** 2, 1e-6)

    def mean_size(self, cost: Fraction) -> float:
        """2 q / (1 - q^2)."""
        q = math.exp(-float(cost) / self.noise.rows)
        return 2 * q / (1 - q * q)

    @property
    def notes(self) -> tuple[str, ...]:
        """The budget's own."""
        return self.budget.notes


class ConcentratedAccount(Account):
    """A coin is a rho; the budget's ledger has one line, and its steps are listed here."""

    halving = 4

    def __init__(self, noise: Noise, budget: Budget, epsilon: Fraction, delta: Fraction) -> None:
        super().__init__(noise, budget)
        self.whole = rho_of(epsilon, delta)
        budget.spend(epsilon, delta, f"zero-concentrated differential privacy with rho {float(self.whole):.6g}")
        self.steps: list[str] = []

    def _enter(self, cost: Fraction, what: str) -> None:
        self._spend(cost)
        self.steps.append(f"{float(cost):.4g} on {what}")

    def counts(self, values: IntArray, cost: Fraction, what: str) -> IntArray:
        """With Gaussian noise on whole numbers."""
        self._enter(cost, f"the counts of {what}")
        return self.noise.gaussian(values.ravel(), sensitivity=1, rho=cost).reshape(values.shape)

    def choose(self, scores: IntArray, sensitivity: int, cost: Fraction, what: str) -> int:
        """By the exponential mechanism."""
        self._enter(cost, what)
        return self.noise.choose_exponentially(scores, sensitivity=sensitivity, rho=cost)

    def variance(self, cost: Fraction) -> float:
        """rows^2 / (2 rho)."""
        return deviation(self.noise.rows, cost) ** 2

    def mean_size(self, cost: Fraction) -> float:
        """sqrt(2 / pi) deviations."""
        return float(np.sqrt(2 / np.pi)) * deviation(self.noise.rows, cost)

    @property
    def notes(self) -> tuple[str, ...]:
        """What (epsilon, delta) bought, and for what it was spent."""
        line = f"Of rho {float(self.whole):.6g}, spent {spell(Fraction(f'{float(self.spent):.6g}'))}: {'; '.join(self.steps) or 'nothing yet'}."
        return (*self.budget.notes, line)
