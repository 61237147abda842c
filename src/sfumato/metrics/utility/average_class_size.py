"""Average class size (LeFevre, DeWitt, Ramakrishnan 2006; Manta 5.2)."""

from functools import partial

from ...core.classes import Classes
from ...core.metric import Usual, measure
from ...core.release import Evidence
from ...core.words import about, from_one


def _mean(classes: Classes) -> float:
    return classes.rows / max(len(classes), 1)


@measure(
    title="average class size",
    question="How many rows share a combination of quasi-identifiers on average?",
    about="utility",
    unit="rows",
    bounds=(1, float("inf")),
    source="LeFevre, DeWitt, Ramakrishnan 2006, there divided by k; Manta 2013, sec. 5.2",
    sentence=from_one(
        "Every row has its own combination of released quasi-identifiers.",
        "On average {} rows share one combination of released quasi-identifiers.",
        partial(about, digits=4, apart=1),
    ),
    usual=Usual(110, compared=True),
    misleads="It sees only class sizes, not how much the values were coarsened.",
    gamed="Many small classes with labels that say nothing, such as wide overlapping sets, score as well as precise labels.",
    of_classes=_mean,
)
def average_class_size(evidence: Evidence, column: None) -> float:
    """`N / number of classes`. Extremes: 1 if every row is unique; N if all look alike."""
    return _mean(Classes(evidence.tuples.n))
