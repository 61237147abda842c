"""Recursive (c,l)-diversity (Machanavajjhala et al. 2007; Manta 3.2.2)."""

import math

import numpy as np

from ...core.classes import Classes
from ...core.column import FloatArray
from ...core.metric import QUASI_KNOWN, measure
from ...core.parameter import Number, Words
from ...core.words import up
from .distinct_l_diversity import NO_SECRET, cared_for


def _sentence(value: float) -> str:
    if value <= 0:
        return NO_SECRET
    if math.isinf(value):
        return (
            "In at least one class, an adversary who can rule out l - 2 sensitive values (for the chosen l) is left with a "
            "single one and has learned it."
        )
    return (
        "Whichever l - 2 sensitive values an adversary can rule out (for the chosen l), a value that must not be learned is "
        f"at most {up(value)} times as common in its class as all other remaining values together."
    )


@measure(
    title="recursive (c,l)-diversity",
    question="How dominant can a sensitive value become in a class once an adversary has ruled out l - 2 others?",
    unit="ratio",
    bounds=(0, float("inf")),
    monotone=True,
    alone=True,
    source="Machanavajjhala et al. 2007; Manta 2013, sec. 3.2.2",
    sentence=_sentence,
    knows=f"{QUASI_KNOWN}; and l - 2 sensitive values that the person does not have",
    keeps="certainty",
    misleads="The definition is strict: a class whose ratio is exactly c is not (c,l)-diverse, although it meets <= c. Require "
    "a smaller c to exclude it. With c below 1 few tables pass; with c far above 1 the condition demands hardly "
    "anything.",
    needs=frozenset({"sensitive"}),
    parameters={"l": Number(2, 2, whole=True), "dont_care": Words()},
)
def recursive_diversity(classes: Classes, l: int = 2, dont_care: frozenset[str] = frozenset()) -> FloatArray:  # noqa: E741
    """`f_1 / (f_l + ... + f_m)`, the frequencies of a class descending; the worst class counts.

    A release is (c,l)-diverse, `f_1 < c (f_l + ... + f_m)`, exactly if this value is below c. No c is the smallest, since
    the definition is strict: a requirement `<= c` also takes the value c itself, where the strict condition just fails,
    and so promises (c',l)-diversity for every c' above c. The survey prints the sum from i = 1 to l; its example is right.
    `dont_care` lists values that may be disclosed (the missing value cannot be): f_1 is then the most frequent of the
    others, r_y, and the rows left are those of neither r_y nor the l - 2 most frequent values beside it, which is both
    cases of the paper's positive disclosure-recursive diversity. l = 2, where nothing is ruled out, is our default.
    Extremes: infinite if a class has fewer than l values; 1/(m - l + 1) for m equally frequent ones; 0 if all are don't-care.
    """
    care = cared_for(classes, dont_care)
    first = np.zeros(len(classes))
    np.maximum.at(first, classes.member[care], classes.n[care].astype(np.float64))  # f_1, or r_y
    order = np.lexsort((-classes.n, classes.member))
    n, member = classes.n[order].astype(np.float64), classes.member[order]
    place = np.arange(len(n)) - (np.cumsum(classes.distinct) - classes.distinct)[member]

    def top(most: int) -> FloatArray:
        """The rows of a class's most frequent values, so many of them."""
        rows = np.bincount(member, weights=np.where(place < most, n, 0.0), minlength=len(classes))
        return rows.astype(np.float64, copy=False)

    # r_y and the l - 2 largest beside it: the l - 1 largest where r_y is among them, else r_y and the l - 2 largest
    among = np.zeros(len(classes), dtype=bool)
    among[member[place == l - 2]] = first[member[place == l - 2]] >= n[place == l - 2]
    gone = np.where(among | (classes.distinct < l - 1), top(l - 1), first + top(l - 2))
    left = classes.size - gone
    ratio = np.divide(first, left, out=np.full(len(classes), np.inf), where=left > 0)
    return np.where(first > 0, ratio, 0.0)
