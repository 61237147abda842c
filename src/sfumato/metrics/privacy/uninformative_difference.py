"""The difference of the uninformative principle (Machanavajjhala et al. 2007; Manta 3.2.1, Def. 5)."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...core.classes import Classes
from ...core.column import FloatArray
from ...core.metric import TOLERANCE, PerValue, measure
from ...core.parameter import Number
from ...core.words import up
from .alpha_anonymity import largest
from .delta_disclosure import LIKE_THE_TABLE


def most_frequent_absent(classes: Classes) -> FloatArray:
    """The largest p(w) of a value that each class lacks, 0 if it lacks none: sparse, by the first gap in frequency order."""
    prior = classes.sensitive.prior
    order = np.argsort(-prior, kind="stable")
    rank = np.empty(len(prior), dtype=np.int64)
    rank[order] = np.arange(len(prior))
    sorted_ = np.lexsort((rank[classes.value], classes.member))
    member, held = classes.member[sorted_], rank[classes.value][sorted_]
    place = np.arange(len(member)) - (np.cumsum(classes.distinct) - classes.distinct)[member]
    gap = classes.distinct.copy()  # the values held are the most frequent ones, unless one is skipped
    skipped = held != place
    np.minimum.at(gap, member[skipped], place[skipped])
    return np.append(prior[order], 0.0)[gap]


def _sentence(value: float) -> str:
    if value <= 0:
        return LIKE_THE_TABLE
    return (
        "Learning a person's class changes the probability of each sensitive value, compared with the whole table, by at "
        f"most {up(value, short_of=1)}, up or down."
    )


def _more(classes: Classes, values: FloatArray, limit: float) -> Mapping[str, Any]:
    prior, difference = classes.sensitive.prior, np.abs(classes.p - classes.q)
    lacking = len(classes) - np.bincount(classes.value, minlength=len(prior))  # classes that lack each value
    beyond = limit + TOLERANCE  # four tenths and three differ by a tenth, whatever the rounding
    hit = values > beyond
    details = {
        "pairs": len(classes) * len(prior),
        "pairs_above": int((difference > beyond).sum()) + int(lacking[prior > beyond].sum()),
        "classes_above": int(hit.sum()),
        "rows_above": int(classes.people[hit].sum()),
    }
    pairs = PerValue(classes.sensitive.column, classes.member, classes.value, difference, prior)
    return {"details": details, "per_value": pairs}


@measure(
    title="uninformative difference",
    question="By how much does the worst class change the probability of a sensitive value?",
    unit="probability",
    monotone=True,
    convex=True,
    source="Machanavajjhala et al. 2007; Manta 2013, Def. 5",
    sentence=_sentence,
    misleads="It is an absolute difference: a rare value that a class makes a hundred times as likely can count little (see "
    "beta_likeness). The prior is the distribution in the released table, as if the adversary knew that and nothing "
    "more.",
    needs=frozenset({"sensitive"}),
    more=_more,
    parameters={"limit": Number(0.1, 0, 1)},
)
def uninformative_difference(classes: Classes, limit: float = 0.1) -> FloatArray:
    """`max_w |p(w|c) - p(w)|` over all values of the table, those absent from the class included; the worst class counts.

    The value does not depend on `limit`; the details count, of all pairs of a class and a value of the table, those that
    differ by more, with their classes and rows; `per_value` has |p(w|c) - p(w)| of each pair. The survey says that it
    should be small, and no number: 0.1 is our default. Extremes: 0 where every class is like the table; below 1,
    approached by a class of one value that the table hardly has.
    """
    return np.maximum(largest(classes, np.abs(classes.p - classes.q)), most_frequent_absent(classes))
