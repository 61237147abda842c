"""Information about the identity: k-anonymity in bits (Bezzi 2010)."""

import numpy as np

from ...core.classes import Classes
from ...core.column import FloatArray
from ...core.metric import measure
from ...core.words import about, bits


def _sentence(value: float) -> str:
    if value <= 0:
        return "All rows share one class, so the quasi-identifiers tell nothing about which row belongs to a person."
    return f"The smallest class gives away {bits(value)} about which row belongs to a person: it leaves one row in {_times(value)}."


def _times(value: float) -> str:
    return about(max(2**value, 1 + 1e-15), 4, apart=1) if value < 60 else f"2 to the power {about(value)}"


@measure(
    title="identity information",
    question="How many bits does the smallest class give away about which row belongs to a person?",
    unit="bits",
    bounds=(0, float("inf")),
    monotone=True,
    source="Bezzi 2010, eq. 5-6",
    sentence=_sentence,
    misleads="It treats all original records as different. It also grows with the table: a class of the same size gives away "
    "more bits in a larger table. To limit the class size itself, use k_anonymity.",
)
def identity_information(classes: Classes) -> FloatArray:
    """`I2(X,c) = H(X) - H(X|c) = log2 N - log2 N_c` (eq. 6), X the original record, all of them different.

    `I2(X,c) <= log2(N/k)` in every class is k-anonymity. Weighted by p(c) its mean is H(C) = I(X;C). Where the release
    carries a person column N_c counts people, and N is the sum of them: who is in two classes counts in both. Extremes: 0
    for a single class; log2 N for a class of one row.
    """
    return np.log2(classes.table_rows / classes.people)
