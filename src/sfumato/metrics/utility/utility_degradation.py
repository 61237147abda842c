"""Utility degradation: how much entropy utility the release lost (Askari et al. 2012, eq. 15)."""

from ...core.metric import Score, measure
from ...core.release import Evidence
from ...core.words import bits
from ..column_losses import weighted_mean
from .entropy_utility import joint, shared_columns, u_max


def _sentence(value: float) -> str:
    if value == 0:
        return "The columns of the release say as much about one another as those of the original."
    than = "more" if value < 0 else "less"
    return f"On average the release says {bits(abs(value))} {than} about a column, given the others, than the original did."


@measure(
    title="utility degradation",
    question="How much less do the columns say about one another than in the original?",
    about="utility",
    unit="bits",
    bounds=(float("-inf"), float("inf")),
    source="Askari, Safavi-Naini, Barker 2012, eq. 15",
    sentence=_sentence,
    misleads="Each table is measured against its own values. So merging rare values, or local recoding with its many "
    "overlapping labels, can look like a gain (below 0). If the original has unique rows, much of what is lost is "
    "noise.",
    gamed="Small classes, and labels that occur once, look like knowledge: a release of many odd labels scores well.",
    needs=frozenset({"original"}),
    apart=False,
)
def utility_degradation(evidence: Evidence, column: None) -> Score:
    """`Utility(T) - Utility(T')` (eq. 15), each as entropy_utility has it, over the columns that both tables have.

    Extremes: 0 for the identity; Utility(T) where everything is suppressed, the sensitive columns included.
    """
    table, original = evidence.release.table, evidence.original("utility_degradation")
    columns = shared_columns(evidence, table, original)
    before = u_max(joint(original, columns, "utility_degradation"))
    after = u_max(joint(table, columns, "utility_degradation"))
    lost = {name: before[name] - after[name] for name in columns}
    return Score(weighted_mean(lost, evidence.roles, "utility_degradation"), "bits", details={"columns": lost})
