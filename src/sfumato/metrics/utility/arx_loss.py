"""ARX's Loss, to compare answers with it (Prasser, Kohlmayer, ARX 3.9; after Iyengar 2002)."""

from ...core.cell_loss import CellLoss
from ...core.metric import Score, measure
from ...core.parameter import Choice
from ...core.release import Evidence
from ...core.words import from_zero
from ..column_losses import column_losses


def _cells(aggregate: str) -> CellLoss:
    return CellLoss(less=1, weighted=False, geometric=aggregate == "geometric")


@measure(
    title="ARX Loss",
    question="How large is the loss of this release as ARX computes it?",
    about="utility",
    unit="share",
    source="Iyengar 2002, as ARX 3.9.2 computes it (Prasser and Kohlmayer 2015)",
    sentence=from_zero(
        "By ARX's Loss nothing was lost: it counts every quasi-identifier as precise as it was.",
        "By ARX's Loss the quasi-identifiers have lost {} of their precision (0%: exact, 100%: suppressed).",
    ),
    audience="recipient",
    misleads="ARX takes the domain from its hierarchy file: give the same file, or values that never occur are not counted. "
    "The owner's weights are left out.",
    gamed="Sets of exact values: a label of five values out of five hundred costs less than 1%, although such labels overlap and say little about the rows. So does a hierarchy that lists values nobody has. See query_error and overlapping_labels.",
    needs=frozenset({"original"}),
    cells=_cells,
    parameters={"aggregate": Choice(("arithmetic", "geometric"))},
)
def arx_loss(evidence: Evidence, column: None, aggregate: str) -> Score:
    """Per quasi-identifier `L = (sum over rows of share - N/dom)/(N - N/dom)`, share = leaves(v)/dom; then their mean.

    A suppressed row (one that is `*` throughout, or gone) has share 1; where dom is 1, L is 0. L is granularity's mean over
    the rows, written another way. `arithmetic`: the mean of L over the m columns; `geometric`: `prod(1 + L)^(1/m) - 1`.
    Extremes: 0 for the identity; 1 where everything is `*`.
    """
    loss = _cells(aggregate)
    losses = column_losses(evidence, loss, "arx_loss")
    value = loss.mean([*losses.values()])
    return Score(value, "share", details={"columns": losses})
