"""Distribution leakage (Afifi, Zhou, Ren 2018)."""

import numpy as np

from ...core.classes import Classes
from ...core.column import FloatArray
from ...core.metric import Usual, measure
from ...core.words import about, from_zero


@measure(
    title="distribution leakage",
    question="How far does the worst class move an adversary's belief about the sensitive attribute?",
    unit="Euclidean distance",
    bounds=(0, float(np.sqrt(2))),
    monotone=True,
    convex=True,
    source="Afifi, Zhou, Ren 2018, Def. 6-7",
    sentence=from_zero(
        "No class changes what an adversary who knows the overall distribution believes about the sensitive attribute.",
        "The worst class moves an adversary's belief about the sensitive attribute by {} from the overall "
        "distribution (0: not at all, 1.41: from certainty about one value to certainty about another).",
        about,
    ),
    usual=Usual(90),
    misleads="It shrinks as the number of values grows: with many values, even a large relative change is a small distance.",
    needs=frozenset({"sensitive"}),
)
def distribution_leakage(classes: Classes) -> FloatArray:
    """`L_D(W,c) = ||a - x||_2`, a the overall distribution and x the class's (Def. 6); the worst class counts (Def. 7).

    Extremes: 0 for a class like the table; below sqrt 2, approached by a class of one value that the table hardly has.
    """
    prior = classes.sensitive.prior
    # values absent from the class contribute a^2 each; where none is absent that part is exactly 0, not a rounding rest
    absent = (prior**2).sum() - classes.sum(classes.q**2)
    absent = np.where(classes.distinct == np.count_nonzero(prior), 0.0, np.maximum(absent, 0.0))
    return np.sqrt(classes.sum((classes.p - classes.q) ** 2) + absent)
