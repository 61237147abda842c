"""ILoss: how much of its domain a released value leaves open (Xiao and Tao 2006; Manta 5.2)."""

import numpy as np

from ...core.errors import Unavailable
from ...core.metric import Score, Usual, measure
from ...core.release import Evidence
from ...core.words import percent


def _sentence(value: float) -> str:
    if value <= 0:
        return "Every quasi-identifier that counts is released as precisely as it was."
    return f"On average a released quasi-identifier leaves {percent(value)} of its possible values open besides one."


@measure(
    title="ILoss",
    question="How much coarser have the quasi-identifiers become?",
    about="utility",
    better="lower",
    unit="share of the domain",
    bounds=(0, 1),
    monotone=False,
    source="Xiao and Tao 2006; Manta 2013, sec. 5.2",
    sentence=_sentence,
    usual=Usual(100),
    audience="recipient",
    misleads="All values of a domain count the same, whether frequent or never seen; a perturbed value looks precise.",
    needs=frozenset({"original"}),
    scope="table",
)
def iloss(evidence: Evidence, column: None) -> Score:
    """`(leaves(v) - 1)/|D_A|` of each released value v; the mean over rows and, by the owner's weights, over columns.

    The survey sums over the rows; that sum, with every column's weight as it is, stands in the details as `total`. The
    domain D_A is the column's taxonomy file, else the values of the original. Rows missing from the release count as `*`.
    Extremes: 0 for the identity; 1 - 1/|D_A| where everything is `*`.
    """
    tuples, roles = evidence.tuples, evidence.roles
    rows = tuples.rows
    before = evidence.release.original.rows if evidence.release.original is not None else rows
    per_column, total = {}, 0.0
    for released, codes in zip(tuples.columns, tuples.codes, strict=True):
        domain = evidence.domain(released.name, "iloss")
        leaves = [domain.leaves(text) for text in released.texts]
        unread = sum(count is None for count in leaves)
        if unread:
            raise Unavailable(
                f"iloss cannot tell what {unread} released values of {released.name!r} stand for: "
                "they are neither in the original nor in its hierarchy, nor an interval, set or mask."
            )
        loss = (np.array(leaves, dtype=np.float64) - 1) / domain.size
        lost = float((loss[codes] * tuples.n).sum()) + max(before - rows, 0) * (1 - 1 / domain.size)
        per_column[released.name] = lost / max(before, rows, 1)
        total += float(roles.weights.get(released.name, 1.0)) * lost
    weight = {name: float(roles.weights.get(name, 1.0)) for name in per_column}
    if not sum(weight.values()):
        raise Unavailable(f"iloss: every weight in {roles.source} is 0, so no quasi-identifier counts.")
    value = sum(weight[name] * per_column[name] for name in per_column) / sum(weight.values())
    return Score(min(max(value, 0.0), 1.0), "share of the domain", details={"total": total, "columns": per_column})
