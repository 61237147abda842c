"""Entropy leakage (Afifi, Zhou, Ren 2018)."""

import numpy as np

from ...core.classes import Classes
from ...core.column import FloatArray
from ...core.metric import measure
from ...core.words import bits


def _sentence(value: float) -> str:
    if value <= 0:
        return "In every class the sensitive value is as uncertain, in bits, as in the whole table."
    return (
        f"The worst class raises or lowers the uncertainty about the sensitive value by {bits(value)}, compared with the "
        "whole table."
    )


@measure(
    title="entropy leakage",
    question="How much does the worst class change an adversary's uncertainty about the sensitive attribute?",
    unit="bits",
    bounds=(0, float("inf")),
    source="Afifi, Zhou, Ren 2018, Def. 9-10",
    sentence=_sentence,
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
