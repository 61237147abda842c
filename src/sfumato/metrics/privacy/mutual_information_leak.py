"""The share of the uncertainty that the classes take away (Agrawal and Aggarwal 2001; Manta 5.1.2)."""

import numpy as np

from ...core.metric import measure
from ...core.release import Evidence
from ...core.words import from_zero
from .mutual_information import information


@measure(
    title="mutual-information leak",
    question="What share of the uncertainty about the sensitive attribute do the classes remove on average?",
    unit="share",
    monotone=True,
    source="Agrawal and Aggarwal 2001; Manta 2013, sec. 5.1.2",
    sentence=from_zero(
        "On average the sensitive value is as uncertain within a class as without the classes.",
        "On average the classes remove {} of the uncertainty about the sensitive value, measured as a number "
        "of equally likely values.",
    ),
    misleads="It is an average, like mutual_information: single classes can reveal everything while it is low. With m values "
    "it cannot exceed 1 - 1/m, so with two values it never exceeds one half.",
    needs=frozenset({"sensitive"}),
    people=True,
)
def mutual_information_leak(evidence: Evidence, column: str) -> float:
    """`P(W|C) = 1 - 2^H(W|C)/2^H(W) = 1 - 2^(-I(W;C))`.

    Extremes: 0 if the attribute is independent of the classes; 1 - 2^(-H(W)) if every class has one value, which is 1 - 1/m for
    m equally frequent ones.
    """
    return -float(np.expm1(-information(evidence.classes(column)) * np.log(2))) + 0.0
