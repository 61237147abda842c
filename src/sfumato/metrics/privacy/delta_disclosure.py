"""Delta-disclosure privacy (Brickell and Shmatikov 2008)."""

import math

import numpy as np

from ...core.classes import Classes
from ...core.column import FloatArray
from ...core.metric import measure
from ...core.words import up
from .alpha_anonymity import largest


def _sentence(value: float) -> str:
    if value <= 0:
        return "No class changes the probability of any sensitive value: each has the distribution of the whole table."
    if math.isinf(value):
        return "In at least one class a sensitive value that others have does not occur: of its members it can be ruled out."
    return (
        "Between a class and the whole table the share of no sensitive value changes by a factor whose base-2 logarithm "
        f"is above {up(value)}, up or down."
    )


@measure(
    title="delta-disclosure privacy",
    question="By what factor does a class change the share of a sensitive value, at the very most?",
    about="privacy",
    better="lower",
    unit="bits",
    bounds=(0, float("inf")),
    monotone=True,
    source="Brickell and Shmatikov 2008",
    sentence=_sentence,
    keeps="certainty",
    misleads="Infinite as soon as one value is absent from one class, so classes must be large; the definition is strict, and a "
    "class at exactly delta, which meets <= delta, just fails it.",
    needs=frozenset({"sensitive"}),
)
def delta_disclosure(classes: Classes) -> FloatArray:
    """`max_w |log2 p(w|c)/p(w)|` over all values of the table; the worst class counts.

    A value absent from the class gives log 0, so the class is infinite (pyCANON and ARX leave such values out; ARX takes
    log2 too, pyCANON the natural logarithm, whose values are ln 2 = 0.693 times as large). A release is delta-disclosure private, with a strict sign,
    exactly if this value is below delta. Extremes: 0 where every class is like the table; infinite if a class lacks a
    value.
    """
    assert classes.sensitive is not None
    lacks = classes.distinct < np.count_nonzero(classes.sensitive.total)
    return np.where(lacks, np.inf, largest(classes, np.abs(np.log2(classes.p / classes.q))))
