"""Granularity: the general loss LM, a share between the value itself and all values (Iyengar 2002)."""

import numpy as np

from ...core.errors import Unavailable
from ...core.metric import Score, measure
from ...core.release import Evidence
from ...core.words import percent


def column_losses(evidence: Evidence, why: str) -> dict[str, float]:
    """For each quasi-identifier the mean over the rows of `(leaves(v) - 1)/(|D| - 1)`; a row that is gone counts 1.

    A domain of one value loses nothing: what the row held is known without it, and 0/0 is 0 (as in ARX).
    """
    tuples = evidence.tuples
    rows = tuples.rows
    before = rows if evidence.release.original is None else max(evidence.release.original.rows, rows)
    losses = {}
    for released, codes in zip(tuples.columns, tuples.codes, strict=True):
        domain = evidence.domain(released.name, why)
        leaves = [domain.leaves(text) for text in released.texts]
        unread = sum(count is None for count in leaves)
        if unread:
            raise Unavailable(
                f"{why} cannot tell what {unread} released values of {released.name!r} stand for: "
                "they are neither in the original nor in its hierarchy, nor an interval, set or mask."
            )
        loss = (np.array(leaves, dtype=np.float64) - 1) / max(domain.size - 1, 1)
        lost = float((np.clip(loss, 0.0, 1.0)[codes] * tuples.n).sum()) + (before - rows) * int(domain.size > 1)
        losses[released.name] = min(lost / max(before, 1), 1.0)
    return losses


def _sentence(value: float) -> str:
    if value <= 0:
        return "Every quasi-identifier that counts is released as precisely as it was."
    return f"On the way from its own value to no value at all, a quasi-identifier has gone {percent(value)} on average."


@measure(
    title="granularity (LM)",
    question="How far are the quasi-identifiers on the way from their own value to none?",
    about="utility",
    better="lower",
    unit="share",
    bounds=(0, 1),
    monotone=False,
    source="Iyengar 2002 (LM); ARX calls 1 - LM granularity",
    sentence=_sentence,
    audience="recipient",
    misleads="All values of a domain count the same, whether frequent or never seen; a perturbed value looks precise.",
    needs=frozenset({"original"}),
    scope="table",
)
def granularity(evidence: Evidence, column: None) -> Score:
    """`(leaves(v) - 1)/(|D| - 1)` of each released value v; the mean over rows and, by the owner's weights, over columns.

    D is the column's taxonomy file, else the values of the original, for numbers too (Iyengar takes the width of an
    interval there). A row missing from the release counts 1; a column of a single value has nothing to lose, not even
    with the row. Extremes: 0 for the identity; 1 where everything is `*`.
    """
    losses = column_losses(evidence, "granularity")
    weight = {name: float(evidence.roles.weights.get(name, 1.0)) for name in losses}
    if not sum(weight.values()):
        raise Unavailable(f"granularity: every weight in {evidence.roles.source} is 0, so no quasi-identifier counts.")
    value = sum(weight[name] * losses[name] for name in losses) / sum(weight.values())
    return Score(min(value, 1.0), "share", details={"columns": losses})
