"""What publishing is worth to the owner in money, once rational adversaries have done their worst (Wan et al. 2015)."""

from __future__ import annotations

from ...core.metric import Score, measure
from ...core.parameter import Number
from ...core.release import Evidence
from ...core.words import about
from ..column_losses import rows_before
from ..privacy.attack_payoff import COST, GAIN
from .granularity import granularity

BENEFIT, LOSS = 1200.0, 300.0
"""What Wan et al. take in their case study, in dollars: a record published as it is, and a person who is found."""


def _sentence(value: float) -> str:
    if value > 0:
        return f"By the sums of money that the owner states, publishing brings {about(value)} a person, after what successful attacks cost."
    if value == 0:
        return (
            "By the sums of money that the owner states, publishing brings nothing, after what successful attacks cost."
        )
    return f"By the sums of money that the owner states, publishing costs {about(-value)} a person more than it brings, because of successful attacks."


@measure(
    title="the publisher's payout",
    question="What is publishing worth to the owner, after what successful attacks cost?",
    about="utility",
    better="higher",
    unit="money",
    bounds=(float("-inf"), float("inf")),
    source="Wan, Vorobeychik, Xia, Clayton, Kantarcioglu, Ganta, Heatherly, Malin 2015",
    sentence=_sentence,
    parameters={
        "benefit": Number(BENEFIT, low=0, high=1e12),
        "loss": Number(LOSS, low=0, high=1e12),
        "gain": Number(GAIN, low=0, high=1e12),
        "cost": Number(COST, low=0, high=1e12),
    },
    misleads="Harm to people is counted as what it costs the owner. With a small loss, or an attack that is said to cost much, it is best to publish everything as it is.",
    gamed="As granularity is, which says what is left of a record; and by a price of attacks that nobody has checked.",
    needs=frozenset({"original"}),
)
def publisher_payout(evidence: Evidence, column: None, benefit: float, loss: float, gain: float, cost: float) -> Score:
    """`benefit (1 - LM) - loss x found / N`: found is the sum over rows of 1/N_c, of the classes where `gain / N_c > cost`.

    N are the rows of the original, LM the loss of a record between 0 and 1 (granularity), a suppressed row 1. The paper takes an entropy
    for the loss of a record. Extremes: benefit where nothing is changed and nobody is worth attacking; 0 where everything is
    suppressed; benefit - loss where nothing is changed and everybody is unique and attacked.
    """
    rows, people = evidence.tuples.n, evidence.people
    attacked = gain / people > cost
    found = float((rows / people)[attacked].sum()) / rows_before(evidence)
    kept = 1 - granularity.score(evidence).value
    details = {"rows_attacked": int(rows[attacked].sum()), "found": found, "kept": kept}
    return Score(benefit * kept - loss * found, "money", details=details)
