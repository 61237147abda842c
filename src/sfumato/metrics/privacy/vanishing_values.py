"""Values that vanish from a class: negative disclosure, counted (Afifi, Zhou, Ren 2018)."""

import numpy as np

from ...core.classes import Classes
from ...core.column import FloatArray
from ...core.metric import measure
from ...core.words import whole


def _sentence(value: float) -> str:
    gone = whole(value)
    if gone < 1:
        return "Every class holds every sensitive value of the table, so none can be ruled out for anybody."
    if gone == 1:
        return (
            "In at least one class a sensitive value of the table does not occur: belonging to that class rules it out."
        )
    return (
        f"In at least one class {gone:,} of the table's sensitive values do not occur: "
        "belonging to that class rules them out."
    )


@measure(
    title="vanishing values",
    question="How many sensitive values of the table can be ruled out for the members of a class, at the very most?",
    about="privacy",
    better="lower",
    unit="values",
    bounds=(0, float("inf")),
    monotone=True,
    source="Afifi, Zhou, Ren 2018, sec. 6.2 and Fig. 2b",
    sentence=_sentence,
    misleads="A rare value is absent from most classes by chance alone, and a class of n rows lacks all but n values. It says "
    "nothing about the values that are left; see distinct_l_diversity and distribution_leakage.",
    needs=frozenset({"sensitive"}),
)
def vanishing_values(classes: Classes) -> FloatArray:
    """`|{w : p(w) > 0 and p(w|c) = 0}|`, the values of the table that the class does not hold; the worst class counts.

    Extremes: 0 if every class holds every value; m - 1 for a class of one of m values.
    """
    assert classes.sensitive is not None
    return (np.count_nonzero(classes.sensitive.total) - classes.distinct).astype(float)
