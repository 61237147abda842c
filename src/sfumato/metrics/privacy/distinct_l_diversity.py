"""Distinct l-diversity (Machanavajjhala et al. 2007; Manta 3.2.2)."""

from ...core.classes import Classes
from ...core.column import FloatArray
from ...core.metric import measure


def _sentence(value: float) -> str:
    if value < 2:
        return "In at least one class every row has the same sensitive value: belonging to the class reveals it."
    return (
        f"Every class holds at least {value:,.0f} different sensitive values, "
        "so belonging to a class alone never reveals which one a person has."
    )


@measure(
    title="distinct l-diversity",
    question="How many different sensitive values does every class hold at the very least?",
    about="privacy",
    better="higher",
    unit="values",
    bounds=(1, float("inf")),
    monotone=True,
    source="Machanavajjhala et al. 2007; Manta 2013, sec. 3.2.2",
    sentence=_sentence,
    misleads="Values that are there but rare count fully: 99 rows of one value and 1 of another are 2-diverse.",
    needs=frozenset({"sensitive"}),
)
def distinct_l_diversity(classes: Classes) -> FloatArray:
    """The distinct sensitive values of a class; the worst class counts. A missing value is one of the values.

    Extremes: 1 if a class holds one value only; m if every class holds every value.
    """
    return classes.distinct.astype(float)
