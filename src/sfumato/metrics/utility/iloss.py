"""ILoss: how much of its domain a released value leaves open (Xiao and Tao 2006; Manta 5.2)."""

from ...core.cell_loss import ILOSS
from ...core.metric import Score, Usual, measure
from ...core.release import Evidence
from ...core.words import from_zero
from ..column_losses import column_losses, column_weights, rows_before


@measure(
    title="ILoss",
    question="How much coarser have the quasi-identifiers become?",
    about="utility",
    unit="share of the domain",
    source="Xiao and Tao 2006; Manta 2013, sec. 5.2",
    sentence=from_zero(
        "Every quasi-identifier that counts is released as precisely as it was.",
        "On average a released value stands for {} of the values the column can have (0%: exact, 100%: suppressed).",
    ),
    usual=Usual(100),
    audience="recipient",
    misleads="All values of a domain count the same, whether common or never seen. A perturbed value looks precise. The true "
    "value itself is not counted, so suppressing a column of two values costs 50%, not 100%.",
    gamed="Sets of exact values: a label of five values out of five hundred costs less than 1%, although such labels overlap and say little about the rows. So does a hierarchy that lists values nobody has. See query_error and overlapping_labels.",
    needs=frozenset({"original"}),
    cells=ILOSS,
)
def iloss(evidence: Evidence, column: None) -> Score:
    """`(leaves(v) - 1)/|D_A|` of each released value v; the mean over rows and, by the owner's weights, over columns.

    The survey sums over the rows; that sum, with every column's weight as it is, stands in the details as `total`. The
    domain D_A is the column's taxonomy file, else the values of the original. Rows missing from the release count as `*`.
    Extremes: 0 for the identity; 1 - 1/|D_A| where everything is `*`.
    """
    losses = column_losses(evidence, ILOSS, "iloss")
    weights = column_weights(losses, evidence.roles, "iloss")
    total = sum(weights[name] * losses[name] for name in losses)
    details = {"total": total * rows_before(evidence), "columns": losses}
    return Score(total / sum(weights.values()), "share of the domain", details=details)
