"""Nearer predictions (Sramka et al. 2010, sec. 2.4): does a prediction tell more of the truth than the release does?

`dist(prediction, x) <= (100 - c)/100 dist(S(x), x)` is c%-nearer; c = 0 asks for strictly less, c = 100 for the truth itself.
The distance of a number is the absolute difference. An interval, taxonomy node or set has its length (its values less one) as
its distance if it covers the truth, and an infinite one if it does not: a prediction that misses the truth is never nearer.
"""

from __future__ import annotations

import numpy as np

from ..core.column import Column, FloatArray, IntArray
from ..core.cover import BoolArray, Domain, edges
from ..core.noun import dataclass
from .features import number_of


@dataclass(frozen=True, eq=False)
class Ruler:
    """The distance of every released label from every original value of one column: `far[label, value]`."""

    far: FloatArray

    @classmethod
    def of(cls, released: Column, domain: Domain) -> Ruler:
        """By length where the domain has numbers, else by how many values a label covers."""
        values = len(domain.column)
        numbers = domain.column.numbers
        far = np.full((len(released), values), np.inf)
        for i, text in enumerate(released.texts):
            covered = domain.covered(text)
            if covered is None or not len(covered):
                continue
            if numbers is None:
                length = float(len(covered) - 1)
            else:
                ends = edges(text) if text is not None else None
                there = numbers[covered]
                there = there[~np.isnan(there)]
                if ends is None or not np.isfinite(ends).all():
                    ends = (float(there.min()), float(there.max())) if len(there) else (0.0, 0.0)
                single = text is not None and number_of(text) is not None
                length = 0.0 if single else float(ends[1] - ends[0])
            far[i, covered] = length
        return cls(far)

    def distance(self, labels: IntArray, truth: IntArray) -> FloatArray:
        """A distance a row."""
        return self.far[labels, truth]


def numeric_distance(values: FloatArray, truth: FloatArray) -> FloatArray:
    """|value - truth|; what is missing on one side is infinitely far, on both it is the truth."""
    far = np.abs(values - truth)
    far = np.where(np.isnan(values) & np.isnan(truth), 0.0, far)
    return np.where(np.isnan(far), np.inf, far)


def nearer(predicted: FloatArray, released: FloatArray, c: float) -> BoolArray:
    """Whether each prediction is c%-nearer, from the distances of prediction and released value.

    >>> nearer(np.array([0.0, 1.0, 2.0]), np.array([2.0, 2.0, 2.0]), 0).tolist()
    [True, True, False]
    >>> nearer(np.array([0.0, 1.0, 2.0]), np.array([2.0, 2.0, 2.0]), 50).tolist()
    [True, True, False]
    >>> nearer(np.array([0.0, 1.0, 2.0]), np.array([2.0, 2.0, 2.0]), 100).tolist()
    [True, False, False]
    """
    if c <= 0:
        return predicted < released

    if c >= 100:
        exact: BoolArray = predicted == 0
        return exact
    with np.errstate(invalid="ignore"):
        hits: BoolArray = np.isfinite(predicted) & (predicted <= (100 - c) / 100 * released)
    return hits
