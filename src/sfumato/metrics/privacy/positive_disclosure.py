"""Positive disclosure of Bayes-optimal privacy (Machanavajjhala et al. 2007; Manta 3.2.1, Def. 3)."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from ...core.classes import Classes
from ...core.column import FloatArray
from ...core.metric import TOLERANCE, PerValue, Usual, measure
from ...core.parameter import Number
from ...core.words import below_one, up
from .alpha_anonymity import largest


def _more(classes: Classes, values: FloatArray, alpha: float) -> Mapping[str, Any]:
    above = classes.p > 1 - alpha + TOLERANCE  # 2 of 10 rows are not above 1 - 0.8, whatever the rounding
    hit = np.bincount(classes.member[above], minlength=len(classes)) > 0
    details = {
        "pairs": len(classes) * len(classes.sensitive.total),
        "pairs_above": int(above.sum()),
        "classes_above": int(hit.sum()),
        "rows_above": int(classes.people[hit].sum()),
    }
    absent = np.zeros(len(classes.sensitive.total))
    pairs = PerValue(classes.sensitive.column, classes.member, classes.value, classes.p, absent)
    return {"details": details, "per_value": pairs}


@measure(
    title="positive disclosure",
    question="How sure can an adversary become that a person has a particular sensitive value?",
    unit="probability",
    monotone=True,
    convex=True,
    alone=True,
    source="Machanavajjhala et al. 2007; Manta 2013, Def. 3",
    sentence=below_one(
        "In at least one class an adversary knows every member's sensitive value for certain.",
        "An adversary who knows a person's class and the released rows believes in any one sensitive value of that person "
        "with probability at most {}.",
        partial(up, digits=4, short_of=1),
    ),
    usual=Usual(70),
    keeps="certainty",
    misleads="It treats the rows of a class as equally likely and assumes that the adversary knows nothing else. An adversary "
    "who can rule out a value becomes surer (see recursive_diversity).",
    needs=frozenset({"sensitive"}),
    more=_more,
    parameters={"alpha": Number(0.1, 0, 1)},
)
def positive_disclosure(classes: Classes, alpha: float = 0.1) -> FloatArray:
    """The largest posterior `p(w|c)` of any value in any class; a disclosure is one above 1 - alpha (Def. 3).

    The value does not depend on `alpha`: there is no disclosure if it is at most 1 - alpha. The details count, of all
    pairs of a class and a value of the table, those above 1 - alpha, with their classes and rows; `per_value` has p(w|c)
    of each pair. The survey asks for an alpha above 0, no more: 0.1 is our default. It is
    alpha_anonymity under another name. Extremes: 1 for a class of one value; 1/m for m equally frequent values.
    """
    return largest(classes, classes.p)
