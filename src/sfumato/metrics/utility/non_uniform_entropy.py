"""Non-uniform entropy: how uncertain the original value is, given the released one (Gionis and Tassa 2009; ARX)."""

import numpy as np

from ...core.column import IntArray
from ...core.counts import Counts, exact
from ...core.metric import Score, measure
from ...core.release import Evidence
from ...core.words import from_zero
from ..column_losses import column_weights


def conditional_bits(x: IntArray, r: IntArray, n: IntArray) -> float:
    """`-sum n log2 p(x|r)`, p(x|r) the share of x among the rows released as r; each (x, r) stands once."""
    of_r = np.bincount(r, weights=n)
    return max(float((n * np.log2(of_r[r] / n)).sum()), 0.0)


def _column(evidence: Evidence, name: str, before: Counts, why: str) -> tuple[float, float]:
    """The bits that are open in one column, and those if all of it were suppressed. Rows that are gone count as `*`."""
    pairs = evidence.pair_counts((name,), why)
    (old, new), (x, r), n = pairs.columns, pairs.codes, pairs.n
    if pairs.rows < before.rows:
        x = before.columns[0].places(old)[x]
        gone = before.n - exact(np.bincount(x, weights=n, minlength=len(before)))
        star = new.texts.index("*") if "*" in new.texts else len(new)
        x, r = np.append(x, np.flatnonzero(gone)), np.append(r, np.full(int((gone > 0).sum()), star))
        width = len(new) + 1
        key, where = np.unique(x * width + r, return_inverse=True)
        (x, r), n = np.divmod(key, width), exact(np.bincount(where, weights=np.append(n, gone[gone > 0])))
    total = np.bincount(x, weights=n)
    total = total[total > 0]
    return conditional_bits(x, r, n), max(float((total * np.log2(total.sum() / total)).sum()), 0.0)


@measure(
    title="non-uniform entropy",
    question="How uncertain is the original value of a cell, given the released value?",
    about="utility",
    unit="share of the bits",
    source="Gionis and Tassa 2009; Prasser, Bild, Kuhn 2016 (ARX)",
    sentence=from_zero(
        "Among these rows, every released quasi-identifier that counts determines its original value.",
        "Given the released values, {} of the bits in the original quasi-identifiers remain uncertain.",
    ),
    misleads="A perturbed value that occurs once determines its original for anyone who has both tables, so it seems to cost "
    "nothing.",
    gamed="Merging rare values costs hardly any bits, however far apart these values are.",
    needs=frozenset({"original", "pairs"}),
)
def non_uniform_entropy(evidence: Evidence, column: None) -> Score:
    """`-sum over cells log2 p(original value | released value)` over the same if all were `*`; bits in the details.

    p is the share among the rows released alike. Where a value is always released the same way (ARX) that is the share in
    the original of x among all that r covers, as Gionis and Tassa define it. Columns count by the owner's weights; rows that
    are gone count as `*`. Extremes: 0 for the identity and for constant columns; 1 where everything is `*`.
    """
    open_bits, all_bits = {}, {}
    original = evidence.original("non_uniform_entropy").value_counts(evidence.tuples.names)
    for name, before in original.items():
        open_bits[name], all_bits[name] = _column(evidence, name, before, "non_uniform_entropy")
    weight = column_weights(open_bits, evidence.roles, "non_uniform_entropy")
    most = sum(weight[name] * all_bits[name] for name in weight)
    value = sum(weight[name] * open_bits[name] for name in weight) / most if most else 0.0
    details = {"bits": sum(open_bits.values()), "bits_if_suppressed": sum(all_bits.values()), "columns": open_bits}
    return Score(min(max(value, 0.0), 1.0), "share of the bits", details=details)
