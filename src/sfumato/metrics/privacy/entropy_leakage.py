"""Entropy leakage (Afifi, Zhou, Ren 2018)."""

import numpy as np

from ...core.classes import Classes
from ...core.column import FloatArray
from ...core.metric import measure
from ...core.words import bits, from_zero


@measure(
    title="entropy leakage",
    question="How much does the worst class change an adversary's uncertainty about the sensitive attribute?",
    unit="bits",
    bounds=(0, float("inf")),
    source="Afifi, Zhou, Ren 2018, Def. 9-10",
    sentence=from_zero(
        "In every class the sensitive value is as uncertain, in bits, as in the whole table.",
        "The worst class raises or lowers the uncertainty about the sensitive value by {}, compared with the "
        "whole table.",
        bits,
    ),
    misleads="A class that has the same frequencies on other values scores 0 (the paper's Thm. 3(2) overlooks this). Read it "
    "together with distribution_leakage.",
    needs=frozenset({"sensitive"}),
)
def entropy_leakage(classes: Classes) -> FloatArray:
    """`L_E(W,c) = |H(a) - H(x)|` (Def. 9); the worst class counts (Def. 10).

    A pseudo-metric: any permutation of a gives 0, so Thm. 3(2) does not hold. Not monotone: merging two classes can move
    their entropy past the table's. Extremes: 0 for a class as uncertain as the table; log2 m for one value against m
    equally frequent ones.
    """
    return np.abs(classes.sensitive.entropy - classes.entropy)
