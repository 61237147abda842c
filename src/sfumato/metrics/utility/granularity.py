"""Granularity: the general loss LM, a share between the value itself and all values (Iyengar 2002)."""

from ...core.cell_loss import CellLoss
from ...core.metric import Score, measure
from ...core.release import Evidence
from ...core.words import from_zero
from ..column_losses import column_losses, weighted_mean

_LM = CellLoss(less=1)


@measure(
    title="granularity (LM)",
    question="How much precision have the quasi-identifiers lost?",
    about="utility",
    unit="share",
    source="Iyengar 2002 (LM); ARX calls 1 - LM granularity",
    sentence=from_zero(
        "Every quasi-identifier that counts is released as precisely as it was.",
        "On average a released value also stands for {} of the other values the column can have (0%: exact, "
        "100%: suppressed).",
    ),
    audience="recipient",
    misleads="All values of a domain count the same, whether common or never seen. A perturbed value looks precise.",
    gamed="Sets of exact values: a label of five values out of five hundred costs less than 1%, although such labels overlap and say little about the rows. So does a hierarchy that lists values nobody has. See query_error and overlapping_labels.",
    needs=frozenset({"original"}),
    cells=_LM,
)
def granularity(evidence: Evidence, column: None) -> Score:
    """`(leaves(v) - 1)/(|D| - 1)` of each released value v; the mean over rows and, by the owner's weights, over columns.

    D is the column's taxonomy file, else the values of the original, for numbers too (Iyengar takes the width of an
    interval there). A row missing from the release counts 1; a column of a single value has nothing to lose, not even
    with the row. Extremes: 0 for the identity; 1 where everything is `*`.
    """
    losses = column_losses(evidence, _LM, "granularity")
    return Score(min(weighted_mean(losses, evidence.roles, "granularity"), 1.0), "share", details={"columns": losses})
