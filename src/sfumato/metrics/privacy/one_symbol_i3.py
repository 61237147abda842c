"""One-symbol information I3, from the side of the sensitive value (Butts 2003; Bezzi 2010, Table 1)."""

import numpy as np

from ...core.classes import Classes
from ...core.column import FloatArray
from ...core.metric import Score, measure
from ...core.release import Evidence
from ...core.words import bits, from_zero


def stimulus_specific(classes: Classes) -> FloatArray:
    """I3 of each class. It looks at all classes at once: H(C) and H(C|w) are about where else a value occurs."""
    rows, total = classes.rows, classes.sensitive.total
    uncertain = np.log2(rows) - float((classes.size * np.log2(classes.size)).sum()) / rows  # H(C)
    inside = np.bincount(classes.value, weights=classes.n * np.log2(classes.n), minlength=len(total))
    given = np.log2(np.maximum(total, 1)) - inside / np.maximum(total, 1)  # H(C|w)
    alone = np.bincount(classes.value, minlength=len(total)) == 1  # a value of one class: exactly 0, no rounding rest
    return classes.sum(classes.p * (uncertain - np.where(alone, 0.0, given)[classes.value]))


@measure(
    title="one-symbol information I3 (stimulus-specific information)",
    question="How much does a person's sensitive value tell about their class, in the class where it tells most?",
    unit="bits",
    bounds=(float("-inf"), float("inf")),
    source="Butts 2003; Bezzi 2010, Table 1",
    sentence=from_zero(
        "In no class does a person's sensitive value, on average, lower the uncertainty about their class, in bits.",
        "In the class where it tells most, a person's sensitive value removes on average "
        "{} of the uncertainty about their class.",
        bits,
    ),
    misleads="It is hard to read as a privacy limit (Bezzi, sec. 2.2): it grows with the number of classes, and it is about "
    "the class, not about the sensitive value. For limits see one_symbol_i1 and one_symbol_i2.",
    needs=frozenset({"sensitive"}),
    scope="classes",
    people=True,
)
def one_symbol_i3(evidence: Evidence, column: str) -> Score:
    """`I3(c,W) = sum_w p(w|c) [H(C) - H(C|w)]` (Table 1); the largest class counts. It may be negative.

    Weighted by p(c) its mean is I(W;C). Extremes: 0 for a single class, and where values and classes are independent; H(C)
    for a class whose values occur in no other.
    """
    per_class = stimulus_specific(evidence.classes(column))
    return Score(float(per_class.max()), "bits", per_class=per_class)
