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
    assert classes.sensitive is not None
    if not dont_care:
        return np.ones(len(classes.value), dtype=bool)
    return np.array([text not in dont_care for text in classes.sensitive.column.texts], dtype=bool)[classes.value]


def _sentence(value: float) -> str:
    if math.isinf(value):
        return "No class holds a sensitive value that must not be learned."
    values = whole(value)
    if values < 2:
        return "In at least one class every row has the same sensitive value: belonging to the class reveals it."
    return (
        f"Every class with a sensitive value that must not be learned holds at least {values:,} different sensitive values, "
        "so belonging to a class alone never reveals such a value."
    )


@measure(
    title="distinct l-diversity",
    question="How many different sensitive values does every class hold at the very least?",
    about="privacy",
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
    misleads="Values that are there but rare count fully: 99 rows of one value and 1 of another are 2-diverse.",
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
