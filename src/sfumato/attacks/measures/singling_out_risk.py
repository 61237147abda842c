"""Singling out as a measure (WP29 2014; Giomi et al. 2023): descriptions of released rows that fit exactly one person."""

from ...core.metric import Score, measure
from ...core.parameter import Choice, Number
from ...core.release import Evidence
from ...core.words import percent
from ..singling_out import Numbers, singling_out
from ._risk import ATTACKS, scored


def _sentence(value: float) -> str:
    if value <= 0:
        return (
            "No description that was tried, by a few columns of a released row that is alone, fits exactly one person."
        )
    return (
        f"Whoever describes released rows that are alone on a few columns describes exactly one person in {percent(value)} of the "
        "attempts that were made."
    )


@measure(
    title="singling out",
    question="How often does a description of a released row that is alone on a few columns fit exactly one person?",
    about="privacy",
    better="lower",
    unit="share of descriptions",
    bounds=(0, 1),
    monotone=False,
    source="Article 29 Working Party 2014, Opinion 05/2014; Giomi, Boenisch, Wehmeyer, Tasnadi 2023",
    sentence=_sentence,
    knows="the release, and nothing of any person",
    family="Who can be found with other tables",
    misleads="It says how often a description works, not how many people can be described: that few released rows are alone is not in it. "
    "Rare combinations can be guessed from the frequencies of each column: look at the baseline in the details.",
    needs=frozenset({"original"}),
    scope="table",
    noise=True,
    parameters={
        "size": Number(None, low=1, high=50, whole=True),
        "numbers": Choice(("beyond", "equal"), "beyond"),
        "attacks": ATTACKS,
    },
)
def singling_out_risk(evidence: Evidence, column: str | None, *, size: int, numbers: Numbers, attacks: int) -> Score:
    """`descriptions by size columns that fit exactly one person / descriptions`, of released rows that are alone on these columns.

    `beyond`: numbers are described by "at least" above the median and "at most" below; `equal`: by the number itself.
    Extremes: 1 if the rows are released as they are; 0 if no released row is alone on so many columns.
    """
    return scored(
        singling_out(evidence.release, evidence.roles, size=size, numbers=numbers, attacks=attacks),
        "share of descriptions",
    )
