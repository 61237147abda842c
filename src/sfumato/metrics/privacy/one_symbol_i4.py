"""One-symbol information I4, of a class against all others together (Bezzi et al. 2002; Bezzi 2010, Table 1)."""

import numpy as np

from ...core.classes import Classes
from ...core.column import FloatArray
from ...core.metric import measure
from ...core.words import bits, from_zero


@measure(
    title="one-symbol information I4 (one class against the rest)",
    question="How much does it tell about the sensitive attribute whether a person is in the most revealing class?",
    unit="bits",
    source="Bezzi et al. 2002; Bezzi 2010, Table 1",
    sentence=from_zero(
        "Whether a person belongs to a class or not tells nothing about the sensitive value, for any class.",
        "Whether a person belongs to the most revealing class or not tells an adversary on average "
        "{} about the sensitive value (at most 1).",
        bits,
    ),
    misleads="It is an average over everyone: a small class hardly counts, however much it tells about its members. Its mean "
    "over the classes is not the mutual information.",
    needs=frozenset({"sensitive"}),
)
def one_symbol_i4(classes: Classes) -> FloatArray:
    """`I4(c,W) = I({c, not c}; W)` (Table 1); the largest class counts.

    At most I(W;C), of which it is a coarser view; weighted by p(c) it does not average to it. Not monotone: two small classes
    that tell the same tell more as one. Extremes: 0 for a class like the table and for a single class; 1 for a class of half
    the rows that shares no value with the other half.
    """
    total = classes.sensitive.total
    rows = int(total.sum())
    rest = rows - classes.size  # rows of all other classes
    some = np.maximum(rest, 1)
    within = np.maximum(classes.sum(classes.p * np.log2(classes.p / classes.q)), 0.0)
    left = total[classes.value] - classes.n  # rows of the value outside the class
    share = left / some[classes.member]
    outside = classes.sum(share * np.log2(np.where(left > 0, share / classes.q, 1.0)))
    # a value that the class does not hold is more frequent outside by the same factor, whichever value it is
    absent = (rows - classes.sum(total[classes.value].astype(np.float64))) / some
    outside = np.maximum(outside + absent * np.log2(rows / some), 0.0)
    bits = (classes.size * within + rest * outside) / rows
    return np.where(rest > 0, np.clip(bits, 0.0, 1.0), 0.0)
