"""The discernibility metric (Bayardo and Agrawal 2005; Manta 5.2)."""

import numpy as np

from ...core.classes import Classes
from ...core.column import FloatArray
from ...core.metric import Usual, measure
from ...core.release import Evidence
from ...core.words import about


def _sentence(value: float) -> str:
    count = f"{value:,.0f}" if value < 1e15 else about(value)
    return (
        "Adding up the rows that look like each row (itself included; for a removed row, all rows) gives "
        f"{count}. The lower this number, the better rows can be told apart."
    )


def _adds(classes: Classes) -> FloatArray:
    return classes.size.astype(np.float64) ** 2


@measure(
    title="discernibility",
    question="How many pairs of rows can no longer be told apart?",
    about="utility",
    unit="pairs of rows",
    bounds=(0, float("inf")),
    source="Bayardo and Agrawal 2005; Manta 2013, sec. 5.2",
    sentence=_sentence,
    usual=Usual(120),
    misleads="It sees only class sizes, not how much the values were coarsened.",
    gamed="Many small classes with labels that say nothing, such as wide overlapping sets, score as well as precise labels.",
    adds=_adds,
)
def discernibility(evidence: Evidence, column: None) -> float:
    """`sum_c N_c^2`, plus N for each row of the original that is missing from the release.

    Extremes: N if every row is unique; N^2 if all look alike.
    """
    classes, removed = Classes(evidence.tuples.n), 0
    if evidence.release.original is not None:
        before = evidence.release.original.rows
        removed = max(before - classes.rows, 0) * before
    return float(_adds(classes).sum()) + removed
