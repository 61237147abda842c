"""Information gain per privacy loss, IGPL (Fung, Wang, Yu 2005; Manta 5.2.3)."""

from ...core.classes import Classes
from ...core.metric import Score, measure
from ...core.release import Evidence
from ...core.words import bits, from_zero
from ..privacy.mutual_information import information


def trade(gain: float, loss: float) -> float:
    """`IG/(PL + 1)`; the survey prints PL - 1, which is undefined where one row of privacy is lost."""
    return gain / (loss + 1.0)


def step(before: Classes, after: Classes) -> float:
    """The score of one specialization, which divides classes: what a top-down search picks its next step by.

    IG is the information on the label that the step adds, over the whole table, and PL by how much the smallest class
    shrinks. 0 for a step that tells nothing new; the gain itself where no privacy is lost.
    """
    return trade(max(information(after) - information(before), 0.0), float(before.size.min() - after.size.min()))


@measure(
    title="information gain per privacy loss (IGPL)",
    question="How much does the release tell about the label for the privacy it gives up?",
    about="utility",
    better="higher",
    unit="bits per row",
    bounds=(0, float("inf")),
    source="Fung, Wang, Yu 2005; Manta 2013, sec. 5.2.3",
    sentence=from_zero(
        "The classes tell nothing about the label, so the privacy they cost bought no information about it.",
        "The classes tell {} about the label per row of privacy loss (the rows by which the smallest class is "
        "smaller than the table, plus one).",
        bits,
    ),
    misleads="It was made to choose the next specialization step, by comparing steps on one table. For a whole release the "
    "loss is nearly all rows, so compare only releases of the same rows.",
    gamed="Fewer rows, or a smallest class that is larger, change the score without any change in what users can read.",
    needs=frozenset({"sensitive"}),
    apart=False,
)
def igpl(evidence: Evidence, column: str) -> Score:
    """`IG/(PL + 1)`, the release taken as one specialization of the table in which every quasi-identifier is `*`.

    The survey prints PL - 1. IG = I(W;C), what the classes tell about the label (the sensitive column, or the one named);
    PL = N - k, from the one class of N rows to the smallest class now. Our reading: the paper scores single steps, for
    which `step` is. Extremes: 0 where all is suppressed or the label is constant; H(W)/N where every row is a class.
    """
    classes = evidence.classes(column)
    gain, loss = information(classes), float(classes.rows - classes.size.min())
    return Score(trade(gain, loss), "bits per row", details={"information_gain": gain, "privacy_loss": loss})
