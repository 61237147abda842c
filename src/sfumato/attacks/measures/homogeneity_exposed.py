"""The homogeneity attack as a measure (Machanavajjhala et al. 2007; Manta 3.2): people in classes of one sensitive value."""

from ...core.classes import Classes
from ...core.column import FloatArray
from ...core.metric import Score, Usual, measure
from ...core.parameter import Words
from ...core.release import Evidence
from ...core.words import percent
from ..homogeneity import claims


def _sentence(value: float) -> str:
    if value <= 0:
        return "Nobody is in a class whose rows all have one and the same sensitive value that must not be learned."
    return (
        f"{percent(value).capitalize()} of the rows are in a class whose rows all have one and the same sensitive value that must not "
        "be learned: whoever finds the class knows it."
    )


def _costs(classes: Classes, dont_care: frozenset[str]) -> FloatArray:
    """The rows of each class of one value; any part of such a class is another."""
    return (classes.size * (claims(classes, 1.0, dont_care) >= 0)).astype(float)


@measure(
    title="exposed to homogeneity",
    question="How many people are in a class in which everybody has the same sensitive value?",
    about="privacy",
    better="lower",
    unit="share of people",
    bounds=(0, 1),
    monotone=True,
    source="Machanavajjhala et al. 2007, homogeneity attack; Manta 2013, sec. 3.2",
    sentence=_sentence,
    usual=Usual(200, each_column=True),
    keeps="variety",
    misleads="A class with one other row does not count, although the value is nearly certain: alpha_anonymity sees that. If the "
    "whole table has one value, everybody is exposed without any release.",
    needs=frozenset({"sensitive"}),
    scope="table",
    costs=_costs,
    alone=True,
    parameters={"dont_care": Words()},
)
def homogeneity_exposed(evidence: Evidence, column: str, dont_care: frozenset[str] = frozenset()) -> Score:
    """`sum of |c| over classes c of one value, by all rows`; `dont_care` lists values that may be disclosed.

    Extremes: 0 if every class holds two values; 1 if every class holds one, as do classes of one row.
    """
    classes = evidence.classes(column)
    exposed = _costs(classes, dont_care)
    details = {"exposed_classes": int((exposed > 0).sum()), "exposed_people": int(exposed.sum())}
    return Score(float(exposed.sum()) / classes.rows, "share of people", "exact", details=details)
