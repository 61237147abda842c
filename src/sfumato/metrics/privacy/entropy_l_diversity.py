"""Entropy l-diversity (Machanavajjhala et al. 2007; Manta 3.2.2)."""

import math

import numpy as np

from ...core.classes import Classes
from ...core.column import FloatArray
from ...core.metric import Usual, measure
from ...core.parameter import Words
from ...core.words import down
from .distinct_l_diversity import NO_SECRET, ONE_VALUE, cared_for


def _sentence(value: float) -> str:
    if value <= 1:
        return ONE_VALUE
    if math.isinf(value):
        return NO_SECRET
    return (
        "In each class with a sensitive value that must not be learned, the effective number of values, by entropy, is at "
        f"least {down(value, beyond=1)}: the values are as diverse as that many equally common ones."
    )


def trimmed(classes: Classes, dont_care: frozenset[str]) -> FloatArray:
    """2^H of each class, where of every don't-care value as many rows are left out as makes H largest.

    With M rows kept and `v = 2^(sum n log2 n / M)`, 2^H is M/v. Another value raises H most when v rows of it are kept,
    which leaves v as it is. So a don't-care value rarer than v is kept whole, which lowers v, rarest first; of each of
    the rest v rows are kept. Rows are whole: for a given M, H is largest where these values have as equal counts as can be;
    between one count t for all and t + 1 for all it is largest at an end; and it rises in t up to v and falls from there on.
    So t is v rounded down or up, the better of both. Infinite where there is nothing but don't-care values.
    """
    care = cared_for(classes, dont_care)
    n = classes.n.astype(np.float64)
    kept = classes.sum(np.where(care, n, 0.0))  # M
    bits = classes.sum(np.where(care, n * np.log2(n), 0.0))
    free = np.flatnonzero(~care)
    free = free[np.lexsort((n[free], classes.member[free]))]  # by class, rarest first
    rest = np.bincount(classes.member[free], minlength=len(classes))
    turn = np.arange(len(free)) - (np.cumsum(rest) - rest)[classes.member[free]]
    open_, whole = kept > 0, np.maximum(kept, 1.0)
    for i in range(int(rest[open_].max(initial=0))):  # at most one turn for each don't-care value
        entry = free[turn == i]
        entry = entry[open_[classes.member[entry]]]
        c = classes.member[entry]
        rare = n[entry] < np.exp2(bits[c] / whole[c])
        open_[c[~rare]] = False
        entry, c = entry[rare], c[rare]
        whole[c] += n[entry]
        bits[c] += n[entry] * np.log2(n[entry])
        rest[c] -= 1
    each = np.exp2(bits / whole)
    best = np.ones(len(classes))
    for t in (np.floor(each), np.ceil(each)):
        rows = whole + rest * t
        best = np.maximum(best, rows / np.exp2((bits + rest * t * np.log2(t)) / rows))
    return np.where(kept > 0, best, np.inf)


@measure(
    title="entropy l-diversity",
    question="How many equally common sensitive values would be as diverse as the least diverse class?",
    better="higher",
    unit="effective values",
    bounds=(1, float("inf")),
    monotone=True,
    alone=True,
    source="Machanavajjhala et al. 2007; Manta 2013, sec. 3.2.2; Bezzi 2010, eq. 10",
    sentence=_sentence,
    usual=Usual(50, compared=True),
    keeps="certainty",
    misleads="It can never exceed 2^H(W), unless common values are don't-care: if one sensitive value dominates, even a single "
    "class of the whole table scores low. Rows of don't-care values are left out where that raises it.",
    needs=frozenset({"sensitive"}),
    parameters={"dont_care": Words()},
)
def entropy_l_diversity(classes: Classes, dont_care: frozenset[str] = frozenset()) -> FloatArray:
    """`l = 2^H(W|c)` of the worst class: the condition H(W|c) >= log2 l, solved for l, which need not be whole.

    `dont_care` lists values that may be disclosed; the missing value cannot be. The survey says that the paper extends
    entropy to them, and does not print how; our definition: rows of these values may be left out of a class, as many as
    makes it most diverse, and a class of none but them is infinitely diverse. That is sound, since leaving rows out only
    makes the other values more frequent: what entropy promises of those holds in the whole class too. To list one more
    value never lowers l. (Leaving them out altogether would: flu and HIV, one row each, would fall from 2 to 1 once flu
    may be known.)
    Extremes: 1 for a class of one value; m for m equally frequent values, and also if all but one of the m, more frequent
    than that one, are don't-care.
    """
    return trimmed(classes, dont_care) if dont_care else np.exp2(classes.entropy)
