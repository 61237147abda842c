"""Values that vanish from a class: negative disclosure, counted (Afifi, Zhou, Ren 2018)."""

import numpy as np

from ...core.classes import Classes
from ...core.column import FloatArray
from ...core.metric import measure
from ...core.words import whole


def _sentence(value: float) -> str:
    missing = whole(value)
    if missing < 1:
        return "Every class contains every sensitive value of the table, so an adversary can rule out none for anyone."
    lacks, them = (
        ("a sensitive value of the table", "it")
        if missing == 1
        else (f"{missing:,} of the table's sensitive values", "them")
    )
    return f"At least one class lacks {lacks}, so an adversary can rule {them} out for everyone in that class."


@measure(
    title="vanishing values",
    question="How many of the table's sensitive values can an adversary rule out for the members of the worst class?",
    unit="values",
    bounds=(0, float("inf")),
    monotone=True,
    source="Afifi, Zhou, Ren 2018, sec. 6.2 and Fig. 2b",
    sentence=_sentence,
    misleads="A rare value is missing from most classes by chance alone, and a class of n rows has at most n values. It says "
    "nothing about the values that remain (see distinct_l_diversity and distribution_leakage).",
    needs=frozenset({"sensitive"}),
)
def vanishing_values(classes: Classes) -> FloatArray:
    """`|{w : p(w) > 0 and p(w|c) = 0}|`, the values of the table that the class does not hold; the worst class counts.

    Extremes: 0 if every class holds every value; m - 1 for a class of one of m values.
    """
    return (np.count_nonzero(classes.sensitive.total) - classes.distinct).astype(float)
