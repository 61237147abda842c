"""Marketer risk: the share of rows that one who tries them all gets right (Dankar and El Emam 2010)."""

import numpy as np

from ...core.classes import Classes
from ...core.column import FloatArray
from ...core.metric import Usual, measure, spell_bound
from ...core.release import Evidence
from ...core.words import percent


def _sentence(value: float) -> str:
    return (
        "An adversary who knows the quasi-identifiers of everyone in the release, and guesses every row, is expected to get "
        f"{percent(value)} of the rows right."
    )


def _costs(classes: Classes) -> FloatArray:
    """One right row a class, however many share it; parts of a class are one right row each. Of people, rows by people."""
    if classes.different is None:
        return np.ones(len(classes))
    costs: FloatArray = classes.size / classes.different
    return costs


def _limit(bound: float) -> str:
    return f"on average an adversary attributes a row to the right person with a probability of at most {spell_bound(bound)}"


@measure(
    title="marketer risk",
    question="What share of the rows would an adversary who tries to identify everyone get right?",
    unit="probability",
    monotone=True,
    source="Dankar and El Emam 2010; El Emam 2013",
    sentence=_sentence,
    limit=_limit,
    knows="all quasi-identifiers of everyone in the release",
    usual=Usual(30),
    misleads="It is an average over rows: a few people can be fully exposed while it is low. See prosecutor_risk for the worst "
    "case.",
    people=True,
    costs=_costs,
    alone=True,
)
def marketer_risk(evidence: Evidence, column: None) -> float:
    """The mean over rows of `1/N_c`; where N_c are rows, the number of classes by the number of rows.

    A mean over rows, not over classes (pyCANON takes the latter). Where the release carries a person column N_c counts
    people: a row is right if its person is. Extremes: 1 if every row is unique; 1/N for one class.
    """
    rows = evidence.tuples
    return float((rows.n / evidence.people).sum()) / rows.rows
