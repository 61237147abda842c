"""Prosecutor risk: re-identification by one who knows that the person is in the release (El Emam and Dankar 2008)."""

from functools import partial

from ...core.classes import Classes
from ...core.column import FloatArray
from ...core.metric import Usual, measure, spell_bound
from ...core.words import below_one, up


def _limit(bound: float) -> str:
    return f"an adversary picks a person's row with a probability of at most {spell_bound(bound)}"


@measure(
    title="prosecutor risk",
    question="How likely is an adversary to find the most exposed person, knowing that this person is in the release?",
    unit="probability",
    monotone=True,
    inherited=True,
    alone=True,
    source="El Emam and Dankar 2008; Manta 2013, sec. 3.1.1 (linking probability 1/k)",
    sentence=below_one(
        "An adversary who knows a person's quasi-identifiers, and that the person is in the release, can find at least "
        "one person for certain.",
        "An adversary who knows only a person's quasi-identifiers, and that the person is in the release, finds that person "
        "among those who look alike with probability at most {}.",
        partial(up, short_of=1),
    ),
    limit=_limit,
    usual=Usual(20),
    misleads="It is the worst row only: one small class sets it, however well all others are hidden. See marketer_risk for the "
    "average.",
)
def prosecutor_risk(classes: Classes) -> FloatArray:
    """`1/N_c`; the smallest class counts, so the value is 1/k.

    Extremes: 1 if some row is unique; 1/N if all rows look alike.
    """
    return 1.0 / classes.people
