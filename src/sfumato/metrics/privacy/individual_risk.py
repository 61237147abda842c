"""Individual risk: re-identification in a sample survey, by its weights (Benedetti and Franconi 1998; Franconi and Polettini 2004)."""

from __future__ import annotations

import numpy as np

from ...core.column import FloatArray, IntArray
from ...core.errors import Unavailable
from ...core.metric import Score, measure
from ...core.release import Evidence
from ...core.survey_weights import numbers
from ...core.words import percent

_LARGE = 50
"""Rows of a class from which on the first terms of the series are enough."""


def _sentence(value: float) -> str:
    return (
        f"By the survey weights, an adversary who has a list of the whole population is estimated to name the person behind the most exposed row "
        f"correctly with a probability of {percent(value)}."
    )


def of_classes(rows: IntArray, weight: FloatArray) -> FloatArray:
    """`E[1/F | f]` of each class: f rows that stand for `weight` people; F is negative binomial with p = f/weight (Franconi and Polettini, eq. 4).

    `p * integral of u^(f-1) / (p + (1-p) u) over 0..1`. Extremes: 1/f where the class is all there is; towards 0 for a large population.

    >>> of_classes(np.array([1, 4]), np.array([1.0, 4.0])).tolist()
    [1.0, 0.25]
    """
    f = rows.astype(np.float64)
    p = np.clip(f / np.maximum(weight, f), 1e-300, 1.0)
    q = 1.0 - p
    risk = p / (f - q)  # large classes: what is left out is of the order of 1/f^2 of it
    risk[f == 1] = 1.0
    rare, many = (p <= 0.5) & (f <= _LARGE), (p > 0.5) & (f <= _LARGE)
    if rare.any():  # upwards from f = 1, which is stable where p is no larger than q
        integral, answer = -np.log(p[rare]) / q[rare], np.zeros(int(rare.sum()))
        for size in range(1, _LARGE + 1):
            answer = np.where(f[rare] == size, integral, answer)
            integral = (1.0 / size - p[rare] * integral) / q[rare]
        risk[rare] = p[rare] * answer
    if many.any():  # 2F1(1, 1; f + 1; q) by its series, of terms below 2^-n
        term, total = np.ones(int(many.sum())), np.zeros(int(many.sum()))
        for n in range(1, 60):
            total, term = total + term, term * q[many] * n / (f[many] + n)
        risk[many] = p[many] / f[many] * total
    return np.minimum(risk, 1.0 / f)


@measure(
    title="individual risk of a survey",
    question="By the survey weights, how likely is an adversary with a list of the population to name the person behind the most exposed row?",
    unit="probability",
    source="Benedetti and Franconi 1998; Franconi and Polettini 2004, eq. 4",
    sentence=_sentence,
    knows="the quasi-identifiers of everyone in the population (from a register, for example), but not who is in the release",
    family="Who can be found with other tables",
    misleads="It is a model: nobody has counted the population, and an adversary who knows that somebody is in the release faces prosecutor_risk, "
    "which is never lower. It needs the role weight.",
    scope="classes",
)
def individual_risk(evidence: Evidence, column: None) -> Score:
    """The largest `E[1/F_c | f_c]` of a class: f_c its rows, F_c its unknown people in the population, whom the weights of its rows estimate.

    The details have the expected number of rows that such an adversary gets right, `sum f_c E[1/F_c | f_c]`. Extremes: that of
    prosecutor_risk where every row has weight 1; towards 0 where each stands for very many.
    """
    rows, weight = evidence.tuples.n, class_weights(evidence)
    risk = of_classes(rows, weight)
    details = {"expected_right": float((risk * rows).sum()), "population": float(weight.sum())}
    return Score(float(risk.max()), "probability", "estimate", risk, details=details)


def class_weights(evidence: Evidence) -> FloatArray:
    """What the rows of each class weigh together: by the original where that has the weight, else by what was released of it."""
    name, why = evidence.roles.weight, "individual_risk"
    if name is None:
        raise Unavailable(
            f'{why} needs the survey weight; name it in [roles] of {evidence.roles.source}: weight = "...".'
        )
    if evidence.release.perturbed & set(evidence.roles.quasi):
        raise Unavailable(f"{why} counts classes, and quasi-identifiers were perturbed.")
    member, column, code, n = evidence.held(name, why)
    weights = numbers(column, evidence.release.table.name)[code] * n
    return np.bincount(member, weights=weights, minlength=len(evidence.tuples)).astype(np.float64)
