"""Journalist risk: re-identification by one who has a list of the population (El Emam and Dankar 2008)."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from ...core.classes import Classes
from ...core.column import FloatArray
from ...core.metric import measure
from ...core.words import below_one, up


def _more(classes: Classes, values: FloatArray) -> Mapping[str, Any]:
    if classes.cover is None:
        return {"exactness": "bound"}
    short = int((classes.cover.sizes < classes.people).sum())
    return {"details": {"classes_larger_than_population": short} if short else {}}


@measure(
    title="journalist risk",
    question="How likely is an adversary with a list of the population to name the person behind the most exposed row?",
    unit="probability",
    monotone=True,
    inherited=True,
    alone=True,
    covers=True,
    source="El Emam and Dankar 2008",
    sentence=below_one(
        "At least one released row may fit only one person in the population, so an adversary with a list of the "
        "population could name that person.",
        "An adversary who holds a list of the population, and knows nothing else, names the person behind a released row "
        "correctly with probability at most {}.",
        partial(up, short_of=1),
    ),
    knows="the quasi-identifiers of everyone in the population (from a register, for example), but not who is in the "
    "release",
    family="Who can be found with other tables",
    misleads="Without the population table it is only a bound, the prosecutor's risk. If the release is a small sample of the "
    "population, the true risk can be far lower.",
    more=_more,
)
def journalist_risk(classes: Classes) -> FloatArray:
    """The largest `1/F_c`, F_c the people of the population that the released values of class c cover.

    A population person matches where every released value covers theirs (an interval its numbers, a node its leaves).
    Without a population table the value is the bound `1/min N_c`, since a sample's class is part of the population's.
    F_c is never taken below N_c. Extremes: 1 for a row only one person can have; 1/P if all P people look alike.
    """
    people = classes.people if classes.cover is None else np.maximum(classes.cover.sizes, classes.people)
    return 1.0 / people
