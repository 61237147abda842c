"""Information about the identity: k-anonymity in bits (Bezzi 2010)."""

import numpy as np

from ...core.metric import Score, measure
from ...core.release import Evidence


def _sentence(value: float) -> str:
    if value <= 0:
        return (
            "All rows share one class, so the quasi-identifiers tell nothing about which of them is a given person's."
        )
    return f"The smallest class tells {value:.3g} bits about which row is a person's: it leaves one row in {_times(value)}."


def _times(bits: float) -> str:
    return f"{2**bits:,.1f}" if bits < 60 else f"2 to the power {bits:.3g}"


@measure(
    title="identity information",
    question="How many bits about which row is a person's does the most telling class give away?",
    about="privacy",
    better="lower",
    unit="bits",
    bounds=(0, float("inf")),
    monotone=True,
    source="Bezzi 2010, eq. 5-6",
    sentence=_sentence,
    misleads="It takes all original records as different, and it grows with the table: the same class size gives more bits in a "
    "larger table. For a limit on the class size itself use k_anonymity.",
    scope="table",
)
def identity_information(evidence: Evidence, column: None) -> Score:
    """`I2(X,c) = H(X) - H(X|c) = log2 N - log2 N_c` (eq. 6), X the original record, all of them different.

    `I2(X,c) <= log2(N/k)` in every class is k-anonymity. Weighted by p(c) its mean is H(C) = I(X;C). Where the release
    carries a person column N_c counts people, and N is the sum of them: who is in two classes counts in both. Extremes: 0
    for a single class; log2 N for a class of one row.
    """
    classes = evidence.classes()
    per_class = np.log2(classes.rows / classes.size)
    return Score(float(per_class.max()), "bits", per_class=per_class)
