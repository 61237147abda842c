"""Adversarial knowledge gain (Brickell and Shmatikov 2008; Sramka et al. 2010, sec. 3)."""

import numpy as np

from ...core.column import FloatArray, IntArray
from ...core.metric import QUASI_KNOWN, Score, measure
from ...core.release import Evidence
from ...core.words import from_zero


def variation(member: IntArray, value: IntArray, n: IntArray, overall: FloatArray) -> FloatArray:
    """For each class `1/2 sum_s |p(DB,s) - p(class,s)|`; `n[i]` rows of class `member[i]` have value `value[i]`.

    Values that a class lacks count with their whole overall share, so only the pairs that occur are looked at.
    """
    classes = int(member.max()) + 1 if len(member) else 0
    size = np.bincount(member, weights=n, minlength=classes)
    p, q = n / size[member], overall[value]
    there = np.bincount(member, weights=np.abs(p - q), minlength=classes)
    absent = 1.0 - np.bincount(member, weights=q, minlength=classes)
    return np.maximum((there + absent) / 2, 0.0)


@measure(
    title="adversarial knowledge gain",
    question="How far does the release move an adversary's belief about a sensitive value on average?",
    unit="share of belief",
    monotone=True,
    source="Brickell and Shmatikov 2008; Sramka et al. 2010, sec. 3, with the class-size weights that its Table 3 needs",
    sentence=from_zero(
        "Every class has the overall shares of the sensitive values, so a class adds nothing to what these shares tell.",
        "On average over the rows, seeing the class moves {} of an adversary's belief about the sensitive value "
        "away from the overall shares.",
    ),
    knows=f"{QUASI_KNOWN}; beforehand only how frequent each sensitive value is",
    family="What can be mined",
    misleads="It is an average over people: a few classes can reveal everything while it is low. It also counts what users "
    "want to learn: a release with no knowledge gain is useless for predicting the column.",
    needs=frozenset({"sensitive"}),
    people=True,
)
def knowledge_gain(evidence: Evidence, column: str) -> Score:
    """`sum over classes of |class|/|DB| 1/2 sum_s |p(DB,s) - p(class,s)|`, the overall shares those of the released rows.

    The paper writes the sum over one representative a class; its Table 3 is reached only with class sizes as weights.
    Extremes: 0 for one class; 1 - sum_s p_s^2 if every class has one value.
    """
    classes = evidence.classes(column)
    gain = variation(classes.member, classes.value, classes.n, classes.sensitive.prior)
    return Score(float((gain * classes.size).sum() / classes.size.sum()), "share of belief")
