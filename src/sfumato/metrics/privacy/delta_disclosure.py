"""Delta-disclosure privacy (Brickell and Shmatikov 2008)."""

import math

import numpy as np

from ...core.classes import Classes
from ...core.column import FloatArray
from ...core.metric import measure
from ...core.words import up
from .alpha_anonymity import largest

LIKE_THE_TABLE = (
    "No class changes the probability of any sensitive value: each class has the distribution of the whole table."
)
RULED_OUT = (
    "At least one class lacks a sensitive value that occurs elsewhere, so an adversary can rule it out for everyone in "
    "that class."
)


def _sentence(value: float) -> str:
    if value <= 0:
        return LIKE_THE_TABLE
    if math.isinf(value):
        return RULED_OUT
    factor = up(2**value) if value < 60 else f"2 to the power {up(value)}"
    return (
        f"With delta at {up(value)}, the share of each sensitive value in a class differs from its share in the whole "
        f"table by a factor of at most {factor}, up or down."
    )


@measure(
    title="delta-disclosure privacy",
    question="By what factor does the worst class change the share of a sensitive value?",
    unit="bits",
    bounds=(0, float("inf")),
    monotone=True,
    source="Brickell and Shmatikov 2008",
    sentence=_sentence,
    keeps="certainty",
    misleads="It is infinite as soon as one class lacks one value, so classes must be large. The definition is strict: a class "
    "at exactly delta meets <= delta but just fails the definition.",
    needs=frozenset({"sensitive"}),
)
def delta_disclosure(classes: Classes) -> FloatArray:
    """`max_w |log2 p(w|c)/p(w)|` over all values of the table; the worst class counts.

    A value absent from the class gives log 0, so the class is infinite (pyCANON and ARX leave such values out; ARX takes
    log2 too, pyCANON the natural logarithm, whose values are ln 2 = 0.693 times as large). A release is delta-disclosure private, with a strict sign,
    exactly if this value is below delta. Extremes: 0 where every class is like the table; infinite if a class lacks a
    value.
    """
    lacks = classes.distinct < np.count_nonzero(classes.sensitive.total)
    return np.where(lacks, np.inf, largest(classes, np.abs(np.log2(classes.p / classes.q))))
