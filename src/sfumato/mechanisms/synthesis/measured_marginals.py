"""Marginals of one table as they are paid for: exact counts go in, noisy ones come out, and nothing else is kept."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np

from ...core.column import FloatArray, IntArray
from ...core.counts import Counts, exact
from ...core.cover import BoolArray
from ...core.randomness import Chance
from ...core.stated_reading import StatedReading
from ..differential_privacy.account import Account
from ..parameters.stated_domains import StatedDomain
from .drawn_rows import draw
from .fitted_marginals import Fit, NoisyMarginal, fit, rows_in
from .junction_tree import Columns

SAMPLE = (20_000, 100_000)
"""Rows at least and at most that stand for a fit where marginals outside its cliques are asked for."""
GRID = 16
"""Expected counts are rounded to this part of a row before scores are made of them, so that scores are whole numbers."""


class MeasuredMarginals:
    """What was measured of a table, and the distribution that fits it."""

    def __init__(
        self,
        counts: Counts,
        domains: Sequence[StatedDomain],
        reading: StatedReading,
        account: Account,
        impossible: Mapping[Columns, BoolArray],
    ) -> None:
        self.names = tuple(domain.name for domain in domains)
        self.sizes = tuple(len(domain) for domain in domains)
        columns = [
            domain.codes(counts.column(domain.name), reading)[counts.codes[counts.names.index(domain.name)]]
            for domain in domains
        ]
        inside = np.all([codes >= 0 for codes in columns], axis=0)
        self._codes, self._n = [codes[inside] for codes in columns], counts.n[inside]
        self.account, self.impossible = account, impossible
        self.marginals: list[NoisyMarginal] = []
        self._exact: dict[Columns, IntArray] = {}
        self._fit: Fit | None = None

    @property
    def rows(self) -> float:
        """The rows of the table, as the noisy marginals count them."""
        return rows_in(self.marginals)

    def size(self, columns: Columns) -> int:
        """The cells of a marginal."""
        return math.prod(self.sizes[i] for i in columns)

    def spelled(self, columns: Columns) -> str:
        """The names of some columns."""
        return " x ".join(self.names[i] for i in columns)

    def measure(self, columns: Columns, cost: Fraction) -> None:
        """Pay for a marginal; a row is in one of its cells."""
        noisy = self.account.counts(self._true(columns), cost, self.spelled(columns))
        self.marginals.append(NoisyMarginal(columns, noisy.astype(np.float64), self.account.variance(cost)))

    def distances(self, candidates: Sequence[Columns], expected: Sequence[FloatArray], *, beyond: int = 0) -> IntArray:
        """For each candidate, the sum of what GRID |count - expected| is more than `beyond`: exact, to be chosen from with noise.

        One row changes one count by 1, and so each of these by at most GRID: max(|x| - beyond, 0) is never steeper than x.
        """
        sums = []
        for columns, table in zip(candidates, expected, strict=True):
            off = np.abs(self._true(columns) * GRID - np.rint(table * GRID).astype(np.int64))
            sums.append(int(np.maximum(off - beyond, 0).sum()))
        return np.array(sums, dtype=np.int64)

    def fitted(self, *, steps: int = 40, near: float = 0.1) -> Fit:
        """The distribution that fits what was measured so far, from the last one on."""
        start = self._fit.potentials if self._fit is not None else None
        self._fit = fit(
            self.sizes,
            self.marginals,
            rows=self.rows,
            impossible=self.impossible,
            start=start,
            steps=steps,
            near=near,
        )
        return self._fit

    def sample(self, fitted: Fit, chance: Chance) -> Sample:
        """Rows of a fit, to count in place of its marginals."""
        rows = min(max(round(self.rows), SAMPLE[0]), SAMPLE[1])
        return Sample(draw(fitted.tree, fitted.beliefs, rows, chance), self.sizes, max(self.rows, 1.0) / rows)

    def _true(self, columns: Columns) -> IntArray:
        if columns not in self._exact:
            self._exact[columns] = exact(_table(self._codes, self.sizes, columns, self._n))
        return self._exact[columns]


class Sample:
    """Rows that nobody is behind, each of which counts for so many."""

    def __init__(self, codes: list[IntArray], sizes: Sequence[int], weight: float) -> None:
        self._codes, self._sizes, self._weight = codes, sizes, weight

    def expected(self, columns: Columns) -> FloatArray:
        """How many rows each cell is expected to have."""
        return _table(self._codes, self._sizes, columns, None) * self._weight


def _table(codes: Sequence[IntArray], sizes: Sequence[int], columns: Columns, weights: IntArray | None) -> FloatArray:
    """Rows by cell, as an array with an axis for each column."""
    at = np.zeros(len(codes[0]), dtype=np.int64)
    for i in columns:
        at = at * sizes[i] + codes[i]
    shape = [sizes[i] for i in columns]
    return np.bincount(at, weights=weights, minlength=math.prod(shape)).reshape(shape).astype(np.float64)
