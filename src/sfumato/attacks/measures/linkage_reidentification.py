"""The share of people whom an adversary finds by looking up what is known of them (Sweeney 2002; Manta 3.1)."""

from ...core.metric import Score, measure
from ...core.parameter import Words
from ...core.release import Evidence
from ...core.words import percent
from ..linkage import linkage


def _sentence(value: float) -> str:
    if value <= 0:
        return "Nobody who was looked for is found, not even by a guess among those whom the released values fit."
    if value >= 1:
        return "Everybody who was looked for is found: the known values lead to what is theirs, and to nothing else."
    return (
        f"An adversary who looks up what is known of each person, and guesses among the rows that fit, is expected to be right for "
        f"{percent(value)} of the people who were looked for."
    )


@measure(
    title="linkage re-identification",
    question="How many people does an adversary find who looks up in the release what is known of them?",
    about="privacy",
    better="lower",
    unit="share of people",
    bounds=(0, 1),
    monotone=False,
    source="Sweeney 2002; Manta 2013, sec. 3.1; by distance Domingo-Ferrer and Torra 2001",
    sentence=_sentence,
    knows="all quasi-identifiers of everybody in the release",
    family="Who can be found with other tables",
    misleads="It is an average: one person may be found for certain while it is small. The adversary is taken to know that the person "
    "is in the release, and the values as the original has them; sfumato attack linkage takes an external table instead.",
    needs=frozenset({"original", "pairs"}),
    scope="table",
    parameters={"known": Words()},
)
def linkage_reidentification(evidence: Evidence, column: None, known: frozenset[str]) -> Score:
    """`(1/N) sum_i r_i/m_i`, m_i the released rows that cover what is known of person i, r_i of them their own.

    The adversary knows the columns `known` of the original, all quasi-identifiers unless they are named. Where a column was perturbed
    the nearest row is taken, on a sample, and the value is an estimate. Unlike marketer_risk it counts all rows that fit, those of
    overlapping classes, too. Extremes: 1 if everybody is alone and nothing was changed; 1/N if nothing that is known was released.
    """
    names = tuple(name for name in evidence.roles.quasi if name in known) + tuple(
        sorted(known - set(evidence.roles.quasi))
    )
    found = linkage(evidence.release, evidence.roles, known=names or None)
    ends = (found.success.low, found.success.high) if found.exactness == "estimate" else None
    return Score(found.success.value, "share of people", found.exactness, ci=ends, details=dict(found.details))
