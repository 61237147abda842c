"""Anti-utility of the worst miner (Sramka et al. 2010, sec. 2.4), as a share of the people."""

from ...core.metric import Score, measure
from ...core.release import Evidence
from ...core.words import from_zero
from ..quick_scenario import PARAMETERS, mined


@measure(
    title="anti-utility of the worst miner",
    question="For how many people can an adversary get closer to a protected value than the released value is?",
    unit="share of people",
    source="Sramka, Safavi-Naini, Denzinger, Askari 2010, sec. 2.4 (scenario A); values released exactly are added here",
    sentence=from_zero(
        "For nobody tested does the release give the field exactly, and the best miner tried predicts it for nobody more "
        "closely than it was released.",
        "For {} of the people tested, the release gives the field exactly, or the best miner tried predicts it "
        "more closely than it was released.",
    ),
    knows="all other released columns of a person, and how to mine data",
    family="What can be mined",
    misleads="Closer can still be far: under strong noise nearly every value can be predicted more closely than it was "
    "released, even by an adversary who never saw the release (the baseline in the details). It is estimated on a "
    "sample of rows.",
    needs=frozenset({"original", "pairs"}),
    parameters=PARAMETERS,
)
def anti_utility_worst(
    evidence: Evidence, column: str | None, *, field: str, miners: str, rows: int, folds: int
) -> Score:
    """`(people whose value is nearer predicted by the worst miner + people whose value is released exactly) / people`.

    The paper counts nearer predictions alone, by which a field released as it is would count as protected: nothing can be nearer.
    Extremes: 1 if the field is released as it is; 0 if it is suppressed throughout.
    """
    outcome = mined(evidence, "bad", field, miners, rows, folds).bad
    assert outcome is not None
    aim = outcome.aims[0]
    exactly, total = aim.told, aim.total
    details = {
        "miner": aim.worst_miner,
        "field": field,
        "nearer": aim.worst.value / total,
        "told_exactly": exactly / total,
        "baseline": aim.baseline.value / total,
        "average": aim.average.value / total,
    }
    ends = [min(max((exactly + end) / total, 0.0), 1.0) for end in (aim.worst.low, aim.worst.high)]
    value = min((exactly + aim.worst.value) / total, 1.0)
    return Score(value, "share of people", "estimate", ci=(ends[0], ends[1]), details=details)
