"""What an attack on one person brings, after its cost: a rational adversary attacks only where it pays (Wan et al. 2015)."""

from ...core.classes import Classes
from ...core.column import FloatArray
from ...core.metric import measure, spell_bound
from ...core.parameter import Number
from ...core.words import up

GAIN, COST = 300.0, 4.0
"""What Wan et al. take in their case study, in dollars: a person who is found, and one attempt."""


def _sentence(value: float) -> str:
    if value > 0:
        return f"By the sums of money that the owner states, an attack on the most exposed person brings up to {up(value)} more than it costs."
    return "By the sums of money that the owner states, no attack on a single person brings more than it costs."


def _limit(bound: float) -> str:
    return f"no attack on a person brings more than {spell_bound(bound)} beyond its cost"


@measure(
    title="payoff of an attack",
    question="Does it pay for an adversary to attack somebody?",
    unit="money",
    bounds=(float("-inf"), float("inf")),
    monotone=True,
    inherited=True,
    alone=True,
    source="Wan, Vorobeychik, Xia, Clayton, Kantarcioglu, Ganta, Heatherly, Malin 2015",
    sentence=_sentence,
    limit=_limit,
    parameters={"gain": Number(GAIN, low=0, high=1e12), "cost": Number(COST, low=0, high=1e12)},
    misleads="It believes in an adversary who reckons in money, pays for each attempt and knows the class sizes. Curiosity and revenge do not reckon; see prosecutor_risk.",
)
def attack_payoff(classes: Classes, gain: float, cost: float) -> FloatArray:
    """`gain / N_c - cost`: the right person is picked with 1/N_c. At most 0: a rational adversary leaves everybody alone.

    Extremes: gain - cost where somebody is unique; -cost, from below, for endless classes.
    """
    return gain / classes.people - cost
