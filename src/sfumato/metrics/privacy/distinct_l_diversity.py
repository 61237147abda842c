"""Distinct l-diversity (Machanavajjhala et al. 2007; Manta 3.2.2)."""

import math

import numpy as np
import numpy.typing as npt

from ...core.classes import Classes
from ...core.column import FloatArray
from ...core.metric import Usual, measure
from ...core.parameter import Words
from ...core.words import whole


def cared_for(classes: Classes, dont_care: frozenset[str]) -> npt.NDArray[np.bool_]:
    """Whether each entry's value must not be learned: all but those listed, by their spelling. Missing cannot be listed."""
    if not dont_care:
        return np.ones(len(classes.value), dtype=bool)
    return np.array([text not in dont_care for text in classes.sensitive.column.texts], dtype=bool)[classes.value]


ONE_VALUE = "In at least one class every row has the same sensitive value, so an adversary who knows a person's class knows the value."
NO_SECRET = "No class contains a sensitive value that must not be learned."


def _sentence(value: float) -> str:
    if math.isinf(value):
        return NO_SECRET
    values = whole(value)
    if values < 2:
        return ONE_VALUE
    return (
        f"Each class with a sensitive value that must not be learned contains at least {values:,} different sensitive "
        "values, so knowing a person's class never gives such a value away outright."
    )


@measure(
    title="distinct l-diversity",
    question="How many different sensitive values does the least diverse class contain?",
    better="higher",
    unit="values",
    bounds=(1, float("inf")),
    monotone=True,
    inherited=lambda dont_care: not dont_care,
    alone=True,
    source="Machanavajjhala et al. 2007; Manta 2013, sec. 3.2.2",
    sentence=_sentence,
    usual=Usual(40, compared=True),
    keeps="variety",
    misleads="A rare value counts as much as a common one: a class with 99 rows of one value and 1 row of another is "
    "2-diverse.",
    needs=frozenset({"sensitive"}),
    parameters={"dont_care": Words()},
)
def distinct_l_diversity(classes: Classes, dont_care: frozenset[str] = frozenset()) -> FloatArray:
    """The distinct sensitive values of a class; the worst class counts. A missing value is one of the values.

    `dont_care` lists values that may be disclosed. They still hide the others, so they count; but a class that holds none
    other has nothing to disclose and is infinitely diverse. This is what the paper's recursive (c,l)-diversity with a
    don't-care set becomes for unlimited c. A listed value that no row has changes nothing.
    Extremes: 1 if a class holds one value only; m if every class holds every value.
    """
    distinct = classes.distinct.astype(float)
    if dont_care:
        distinct[np.bincount(classes.member[cared_for(classes, dont_care)], minlength=len(classes)) == 0] = np.inf
    return distinct
