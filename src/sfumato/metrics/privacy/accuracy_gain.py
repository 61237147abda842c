"""Adversarial accuracy gain (Brickell and Shmatikov 2008; Sramka et al. 2010, sec. 3)."""

import numpy as np

from ...core.column import FloatArray, IntArray
from ...core.metric import QUASI_KNOWN, Score, measure
from ...core.release import Evidence
from ...core.words import from_zero


def top_share(member: IntArray, n: IntArray) -> FloatArray:
    """For each class the share of its most frequent value; `n[i]` rows of class `member[i]` have one value."""
    classes = int(member.max()) + 1 if len(member) else 0
    size = np.bincount(member, weights=n, minlength=classes)
    most = np.zeros(classes, dtype=np.int64)
    np.maximum.at(most, member, n)
    return most / size


@measure(
    title="adversarial accuracy gain",
    question="How much more often does an adversary guess a sensitive value right after seeing the release?",
    unit="share of people",
    monotone=True,
    source="Brickell and Shmatikov 2008; Sramka et al. 2010, sec. 3",
    sentence=from_zero(
        "An adversary who guesses the most frequent sensitive value of each class is right no more often than one who "
        "guesses the most frequent value overall.",
        "An adversary who guesses the most frequent sensitive value of each class is right more often than one who guesses "
        "the most frequent value overall: the difference is {} of all rows.",
    ),
    knows=f"{QUASI_KNOWN}; beforehand only how frequent each sensitive value is",
    family="What can be mined",
    misleads="It is an average over people, and it looks only at the best guess: beliefs can move far without changing that "
    "guess.",
    needs=frozenset({"sensitive"}),
    people=True,
)
def accuracy_gain(evidence: Evidence, column: str) -> Score:
    """`sum over classes of |class|/|DB| max_s p(class,s) - max_s p(DB,s)`, over the released rows.

    Extremes: 0 for one class; 1 - max_s p_s if every class has one value.
    """
    classes = evidence.classes(column)
    gain = top_share(classes.member, classes.n) - float(classes.sensitive.prior.max())
    return Score(float((gain * classes.size).sum() / classes.size.sum()), "share of people")
