"""Inference as a measure (WP29 2014; Giomi et al. 2023): people whose secret the nearest released rows tell."""

from ...core.metric import Score, measure
from ...core.parameter import Name, Number
from ...core.release import Evidence
from ...core.words import percent
from ..inference import inference
from ._risk import ATTACKS, scored


def _sentence(value: float) -> str:
    if value <= 0:
        return "For nobody who was tried do the nearest released rows tell the secret to one who knows all else."
    return (
        f"For {percent(value)} of the people who were tried the nearest released rows tell the secret (a number within the tolerance "
        "asked for) to one who knows all else of them."
    )


@measure(
    title="inference",
    question="For how many people does the release tell one column to an adversary who knows all others?",
    about="privacy",
    better="lower",
    unit="share of people",
    bounds=(0, 1),
    monotone=False,
    source="Article 29 Working Party 2014, Opinion 05/2014; Giomi, Boenisch, Wehmeyer, Tasnadi 2023",
    sentence=_sentence,
    knows="all other released columns of a person",
    family="What can be mined",
    misleads="A frequent value is guessed without any release: look at the baseline in the details. What holds of people who are not in the "
    "release either is a fact about people; the attack can tell the two apart, given such people.",
    needs=frozenset({"original"}),
    scope="table",
    noise=True,
    parameters={"secret": Name(), "tolerance": Number(0.05, low=0, high=0.99), "attacks": ATTACKS},
)
def inference_risk(evidence: Evidence, column: str | None, *, secret: str, tolerance: float, attacks: int) -> Score:
    """`people for whom the guess from the nearest released rows is right / people`; numbers within `tolerance` of the truth.

    Extremes: 1 if rows are released as they are and all else tells people apart; the share of the most frequent value if the secret is
    suppressed throughout.
    """
    found = inference(evidence.release, evidence.roles, secret=secret, tolerance=tolerance, attacks=attacks)
    return scored(found, "share of people")
