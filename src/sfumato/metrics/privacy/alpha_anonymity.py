"""The alpha of (alpha,k)-anonymity (Wong, Li, Fu, Wang 2006)."""

import numpy as np

from ...core.classes import Classes
from ...core.column import FloatArray
from ...core.metric import measure
from ...core.words import percent, percent_up
from .distinct_l_diversity import ONE_VALUE


def largest(classes: Classes, term: FloatArray) -> FloatArray:
    """The largest of a term of each entry within its class, and at least 0."""
    most = np.zeros(len(classes))
    np.maximum.at(most, classes.member, term)
    return most


def _sentence(value: float) -> str:
    if value >= 1:
        return ONE_VALUE
    return f"In each class the most common sensitive value makes up at most {percent_up(value, 4)} of the rows."


def _limit(bound: float) -> str:
    return (
        f"no sensitive value makes up more than {percent(bound)} of a group of people who look alike"
        if bound < 1
        else ""
    )


@measure(
    title="alpha of (alpha,k)-anonymity",
    question="How common is the most common sensitive value in the worst class?",
    unit="frequency",
    monotone=True,
    convex=True,
    alone=True,
    source="Wong, Li, Fu, Wang 2006, general (alpha,k)-anonymity",
    sentence=_sentence,
    limit=_limit,
    keeps="certainty",
    misleads="It is only the alpha: (alpha,k)-anonymity also requires k_anonymity >= k. A value that is common in the whole "
    "table keeps it high even if the classes tell nothing new.",
    needs=frozenset({"sensitive"}),
)
def alpha_anonymity(classes: Classes) -> FloatArray:
    """`max_w p(w|c)`, over every sensitive value (the paper's general form, not one chosen value); the worst class counts.

    It is also the posterior of positive_disclosure. Extremes: 1 for a class of one value; 1/m for m equally frequent ones.
    """
    return largest(classes, classes.p)
