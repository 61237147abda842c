"""The classification metric CM (Iyengar 2002; Manta 5.2.2)."""

import numpy as np

from ...core.classes import Classes
from ...core.column import IntArray
from ...core.metric import Score, measure
from ...core.release import Evidence
from ...core.words import from_zero


def minority_rows(classes: Classes) -> IntArray:
    """For each class, the rows whose label is not its majority label; of labels that tie, one is the majority."""
    most = np.zeros(len(classes), dtype=np.int64)
    np.maximum.at(most, classes.member, classes.n)
    return np.bincount(classes.member, weights=classes.n, minlength=len(classes)).astype(np.int64) - most


@measure(
    title="classification metric",
    question="How often does guessing the most frequent label of a class get a row wrong?",
    about="utility",
    unit="share of rows",
    source="Iyengar 2002 (CM); Manta 2013, sec. 5.2.2",
    sentence=from_zero(
        "All rows of a class carry one label, in every class: guessing its most frequent label is never wrong.",
        "Guessing the most frequent label of each row's class is wrong for {} of the rows (a removed row counts "
        "as wrong).",
    ),
    misleads="It is measured on the same rows that form the classes: a unique row is never wrong, but that predicts nothing. "
    "If the label is sensitive, good guesses are also what an adversary wants.",
    gamed="Only the majority label of a class counts: small classes of any shape score well, and so do classes with one label each.",
    needs=frozenset({"sensitive"}),
)
def classification_metric(evidence: Evidence, column: str) -> Score:
    """`sum over rows of penalty / N`, penalty 1 where the label is not the majority of the class or the row was removed.

    The label is the sensitive column, or the column named. Of labels that tie in a class only one is the majority (pyCANON
    lets all of them go free). Removed rows are those that the original has more; rows that are `*` throughout form a class
    like any other. Extremes: 0 if every class has one label; 1 - 1/m for m equally frequent labels in one class.
    """
    classes = evidence.classes(column)
    minority = int(minority_rows(classes).sum())
    original = evidence.release.original
    removed = 0 if original is None else max(original.rows - classes.rows, 0)
    value = (minority + removed) / max(classes.rows + removed, 1)
    return Score(value, "share of rows", details={"minority_rows": minority, "removed_rows": removed})
