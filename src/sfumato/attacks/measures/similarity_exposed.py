"""The similarity attack as a measure (Li et al. 2007; Manta 3.2.3): people in classes whose values mean nearly the same."""

from ...core.classes import Classes
from ...core.column import FloatArray
from ...core.metric import Score, measure
from ...core.parameter import Choice, Number
from ...core.release import Evidence
from ...core.words import percent
from ..similarity import closeness


def _sentence(value: float) -> str:
    if value <= 0:
        return "Nobody is in a class whose sensitive values are all nearly the same, as asked."
    return (
        f"{percent(value).capitalize()} of the rows are in a class whose sensitive values are all nearly the same (one branch of the "
        "taxonomy below its top, or one narrow range, as asked), so whoever finds the class knows about what it is."
    )


def _costs(classes: Classes, by: str, width: float) -> FloatArray:
    """The rows of each class whose values are close; any part of such a class is another."""
    assert classes.sensitive is not None
    _, near = closeness(classes.sensitive, "taxonomy" if by == "taxonomy" else "order", level=None, width=width)
    return (classes.size * near.close(classes)).astype(float)


@measure(
    title="exposed to similarity",
    question="How many people are in a class whose sensitive values all mean nearly the same?",
    about="privacy",
    better="lower",
    unit="share of people",
    bounds=(0, 1),
    monotone=True,
    source="Li, Li, Venkatasubramanian 2007, similarity attack; Manta 2013, sec. 3.2.3",
    sentence=_sentence,
    misleads="What is nearly the same is the taxonomy's word, or the width's: a taxonomy with one large branch below its top exposes "
    "everybody, and one row from elsewhere in a class hides all others in it.",
    needs=frozenset({"sensitive"}),
    scope="table",
    costs=_costs,
    alone=lambda by, width: by == "taxonomy",
    parameters={"by": Choice(("taxonomy", "order")), "width": Number(0.1, 0, 0.999)},
)
def similarity_exposed(evidence: Evidence, column: str, by: str, width: float = 0.1) -> Score:
    """`sum of |c| over classes c whose values are close, by all rows`; a class of one value is one of them.

    `taxonomy`: under one node just below the top. `order`: within `width` of the whole range, of numbers or else of places in the
    order. The missing value is close to nothing else. Extremes: 0 if every class has values from two branches (from afar); 1 if
    every class holds one value.
    """
    classes = evidence.classes(column)
    exposed = _costs(classes, by, width)
    details = {"exposed_classes": int((exposed > 0).sum()), "exposed_people": int(exposed.sum())}
    return Score(float(exposed.sum()) / classes.rows, "share of people", "exact", details=details)
