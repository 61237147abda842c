"""Entropy l-diversity (Machanavajjhala et al. 2007; Manta 3.2.2)."""

import numpy as np

from ...core.classes import Classes
from ...core.column import FloatArray
from ...core.metric import measure


def _sentence(value: float) -> str:
    if value <= 1:
        return "In at least one class every row has the same sensitive value: belonging to the class reveals it."
    return (
        f"In every class the sensitive values are spread as much as, or more than, {value:.3g} equally frequent ones would be, "
        "measured by entropy."
    )


@measure(
    title="entropy l-diversity",
    question="As many sensitive values as how many equally frequent ones does every class hold?",
    about="privacy",
    better="higher",
    unit="effective values",
    bounds=(1, float("inf")),
    monotone=True,
    source="Machanavajjhala et al. 2007; Manta 2013, sec. 3.2.2; Bezzi 2010, eq. 10",
    sentence=_sentence,
    misleads="It can never exceed 2^H(W): with a skewed sensitive attribute even the whole table as one class is low.",
    needs=frozenset({"sensitive"}),
)
def entropy_l_diversity(classes: Classes) -> FloatArray:
    """`l = 2^H(W|c)` of the worst class: the condition H(W|c) >= log2 l, solved for l, which need not be whole.

    Extremes: 1 for a class of one value; m for m equally frequent values.
    """
    return np.exp2(classes.entropy)
