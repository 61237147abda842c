"""Mutual information between class and sensitive attribute (Bezzi 2010, eq. 9 and 13)."""

from ...core.classes import Classes
from ...core.column import FloatArray
from ...core.metric import Usual, measure
from ...core.release import Evidence
from ...core.words import bits, from_zero
from .one_symbol_i1 import one_symbol_i1


def information(classes: Classes) -> float:
    """I(W;C) in bits: the mean of I1 over the classes, weighted by their rows."""
    if not classes.rows:
        return 0.0
    return float((classes.size * one_symbol_i1.per_class(classes)).sum()) / classes.rows


def _adds(classes: Classes) -> FloatArray:
    """I1 of each class by its share of the rows of the whole table."""
    return one_symbol_i1.per_class(classes) * classes.size / classes.table_rows


@measure(
    title="mutual information",
    question="How much does a class tell about the sensitive attribute on average?",
    unit="bits",
    bounds=(0, float("inf")),
    monotone=True,
    source="Bezzi 2010, eq. 9 and 13; Manta 2013, sec. 5.1.2",
    sentence=from_zero(
        "On average a class says nothing about the sensitive value.",
        "On average over the rows, a person's class tells an adversary {} about the sensitive value.",
        bits,
    ),
    usual=Usual(80, compared=True),
    misleads="It is an average: single classes can tell far more (Bezzi, sec. 3.1). It is also what users of the data want.",
    needs=frozenset({"sensitive"}),
    people=True,
    adds=_adds,
    of_classes=information,
)
def mutual_information(evidence: Evidence, column: str) -> float:
    """`I(W;C) = sum_c p(c) sum_w p(w|c) log2 p(w|c)/p(w)` (eq. 9).

    Extremes: 0 if the attribute is independent of the classes; H(W) if every class has one value.
    """
    return information(evidence.classes(column))
