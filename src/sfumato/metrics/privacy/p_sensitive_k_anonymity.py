"""p-sensitive k-anonymity (Truta and Vinay 2006)."""

import numpy as np

from ...core.classes import Classes
from ...core.column import FloatArray
from ...core.metric import measure
from ...core.parameter import Number
from ...core.words import counted, whole


def _sentence(value: float) -> str:
    p = whole(value)
    if p < 1:
        return (
            "At least one class has fewer rows than the required k, so nothing is promised about its sensitive values."
        )
    return f"Each class has at least the required k rows, with at least {counted(p, 'different sensitive value')} among them."


@measure(
    title="p-sensitive k-anonymity",
    question="If each class has at least k rows, how many different sensitive values does the least diverse class contain?",
    better="higher",
    unit="values",
    bounds=(0, float("inf")),
    monotone=True,
    inherited=True,
    alone=True,
    source="Truta and Vinay 2006",
    sentence=_sentence,
    keeps="variety",
    misleads="It is k_anonymity >= k and distinct_l_diversity >= p in one number, and no more: a rare value counts as much as "
    "a common one. k counts rows; where a person has several rows, k_anonymity counts people.",
    needs=frozenset({"sensitive"}),
    parameters={"k": Number(2, 1, whole=True)},
    apart=False,
)
def p_sensitive_k_anonymity(classes: Classes, k: int = 2) -> FloatArray:
    """The distinct sensitive values of a class of at least k rows, 0 for a smaller class; the worst class counts.

    A release is p-sensitive k-anonymous exactly if `p_sensitive_k_anonymity[k] >= p`, for every sensitive column and
    every p from 1 on. k = 2, the least that asks anything, is our default. Extremes: 0 if a class is smaller than k; 1 if
    one of enough rows holds one value; m if every class holds all m values.
    """
    return np.where(classes.people >= k, classes.distinct, 0).astype(float)
