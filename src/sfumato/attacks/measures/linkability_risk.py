"""Linkability as a measure (WP29 2014; Giomi et al. 2023): people whose two halves meet in one released row."""

from ...core.metric import Score, measure
from ...core.parameter import Number, Words
from ...core.release import Evidence
from ...core.words import percent
from ..linkability import linkability
from ._risk import ATTACKS, scored


def _sentence(value: float) -> str:
    if value <= 0:
        return "For nobody who was tried do two sources that know different columns meet in one released row."
    return (
        f"For {percent(value)} of the people who were tried, by their chance where rows are equally near, two sources that know "
        "different columns meet in one released row: whoever has both can join them."
    )


@measure(
    title="linkability",
    question="For how many people can two sources that know different columns be joined through the release?",
    about="privacy",
    better="lower",
    unit="share of people",
    bounds=(0, 1),
    monotone=False,
    source="Article 29 Working Party 2014, Opinion 05/2014; Giomi, Boenisch, Wehmeyer, Tasnadi 2023",
    sentence=_sentence,
    knows="some columns of people from one source and others from another, and that both are about people in the release",
    family="Who can be found with other tables",
    misleads="It depends on the columns that each source is said to know. Two halves that follow from each other meet without any fault of "
    "the release: compare with people who are not in it, as the attack can.",
    needs=frozenset({"original"}),
    scope="table",
    noise=True,
    parameters={
        "first": Words(None),
        "second": Words(None),
        "neighbours": Number(1, low=1, high=1000, whole=True),
        "attacks": ATTACKS,
    },
)
def linkability_risk(
    evidence: Evidence,
    column: str | None,
    *,
    first: frozenset[str],
    second: frozenset[str],
    neighbours: int,
    attacks: int,
) -> Score:
    """`people whose nearest released rows by first and by second have one in common / people`; of rows equally near, by their chance.

    Extremes: 1 if distinct rows are released as they are and each half tells all apart; 1/rows if one half is suppressed throughout.
    """
    found = linkability(
        evidence.release,
        evidence.roles,
        first=sorted(first),
        second=sorted(second),
        neighbours=neighbours,
        attacks=attacks,
    )
    return scored(found, "share of people")
