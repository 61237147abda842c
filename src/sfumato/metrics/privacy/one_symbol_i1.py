"""One-symbol information I1, the surprise (Bezzi 2010)."""

import numpy as np

from ...core.classes import Classes
from ...core.column import FloatArray
from ...core.metric import measure
from ...core.words import bits, from_zero


@measure(
    title="one-symbol information I1 (surprise)",
    question="How surprising are the sensitive values of the most revealing class?",
    unit="bits",
    bounds=(0, float("inf")),
    monotone=True,
    convex=True,
    source="Bezzi 2010, eq. 7-8 and Table 1",
    sentence=from_zero(
        "No class is surprising: each has the distribution of sensitive values of the whole table.",
        "The most revealing class changes what an adversary believes about its members' sensitive value by {}.",
        bits,
    ),
    misleads="A small class with a rare value is very surprising, however uncertain it leaves the adversary (see "
    "one_symbol_i2).",
    needs=frozenset({"sensitive"}),
)
def one_symbol_i1(classes: Classes) -> FloatArray:
    """`I1(W,c) = sum_w p(w|c) log2 p(w|c)/p(w)` (eq. 8), t-closeness in Kullback-Leibler form (eq. 7); the worst class counts.

    Weighted by p(c) its mean is I(W;C). Extremes: 0 for a class like the table; -log2 p(w) for a class of the one value w.
    """
    return np.maximum(classes.sum(classes.p * np.log2(classes.p / classes.q)), 0.0)
