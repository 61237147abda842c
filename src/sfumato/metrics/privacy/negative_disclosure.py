"""Negative disclosure of Bayes-optimal privacy (Machanavajjhala et al. 2007; Manta 3.2.1, Def. 4)."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...core.classes import Classes
from ...core.column import FloatArray
from ...core.metric import PerValue, measure
from ...core.parameter import Number
from ...core.words import down
from .delta_disclosure import RULED_OUT


def least(classes: Classes) -> FloatArray:
    """The smallest p(w|c) of any value of the table in each class: 0 where one is absent."""
    smallest = np.ones(len(classes))
    np.minimum.at(smallest, classes.member, classes.p)
    return np.where(classes.distinct < np.count_nonzero(classes.sensitive.total), 0.0, smallest)


def _sentence(value: float) -> str:
    if value <= 0:
        return RULED_OUT
    return f"An adversary can rule out no sensitive value: each has a probability of at least {down(value)} in every class."


def _more(classes: Classes, values: FloatArray, epsilon: float) -> Mapping[str, Any]:
    pairs = len(classes) * len(classes.sensitive.total)
    absent = pairs - len(classes.n)
    hit = values < epsilon
    details = {
        "pairs": pairs,
        "pairs_absent": absent,
        "pairs_below": int((classes.p < epsilon).sum()) + (absent if epsilon > 0 else 0),
        "classes_below": int(hit.sum()),
        "rows_below": int(classes.people[hit].sum()),
    }
    lacking = np.zeros(len(classes.sensitive.total))
    each = PerValue(classes.sensitive.column, classes.member, classes.value, classes.p, lacking)
    return {"details": details, "per_value": each}


@measure(
    title="negative disclosure",
    question="How likely is the least likely of the table's sensitive values in the worst class?",
    better="higher",
    unit="probability",
    monotone=True,
    source="Machanavajjhala et al. 2007; Manta 2013, Def. 4",
    sentence=_sentence,
    misleads="It can never exceed the share of the table's rarest value, and it is 0 for nearly every release with many "
    "values. That a person lacks a rare value is seldom a secret. pairs_below in the details says how often a class "
    "makes a value so unlikely.",
    needs=frozenset({"sensitive"}),
    more=_more,
    parameters={"epsilon": Number(0.01, 0, 1)},
)
def negative_disclosure(classes: Classes, epsilon: float = 0.01) -> FloatArray:
    """The smallest posterior `p(w|c)` of any value of the table in any class; a disclosure is one below epsilon (Def. 4).

    A value absent from a class has posterior 0. The value does not depend on `epsilon`; the details count, of all pairs
    of a class and a value of the table, those below it, with their classes and rows; `per_value` has p(w|c) of each pair.
    The survey asks for an epsilon above 0, no more: 0.01 is our default. Extremes: 0 if a value is absent from a class;
    the share of the rarest value for one class; 1 for a constant column.
    """
    return least(classes)
