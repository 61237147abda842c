"""Information loss relative to the original (Bezzi 2010, sec. 4)."""

from ...core.errors import Unavailable
from ...core.metric import measure
from ...core.release import Evidence
from ...core.words import from_zero
from ..privacy.mutual_information import information


@measure(
    title="information loss",
    question="How much of the relation between the quasi-identifiers and the sensitive attribute is lost?",
    about="utility",
    unit="share",
    bounds=(float("-inf"), 1),
    source="Bezzi 2010, eq. 4 and sec. 4",
    sentence=from_zero(
        "The released quasi-identifiers tell at least as many bits about the sensitive attribute as the original ones.",
        "The release loses {} of what the quasi-identifiers told about the sensitive attribute.",
    ),
    audience="recipient",
    misleads="Unique rows make the original look very informative, so part of what is lost may be noise. It is below 0 only if "
    "the release relates the columns more closely than the original did, which generalization never does.",
    gamed="Only the relation to the sensitive column counts: values that do not help to predict it can be suppressed for nothing.",
    needs=frozenset({"sensitive", "original"}),
    apart=False,
)
def information_loss(evidence: Evidence, column: str) -> float:
    """`1 - I(W;C)/I(W;X)`, C the released classes and X the original quasi-identifier tuples.

    Extremes: 0 for the identity; 1 where every quasi-identifier is suppressed.
    """
    before = information(evidence.original_classes(column, "information_loss"))
    if before <= 0:
        raise Unavailable(
            f"information_loss has nothing to lose: the original quasi-identifiers tell nothing about {column!r}."
        )
    return 1.0 - information(evidence.classes(column)) / before
