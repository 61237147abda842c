"""k-map: k-anonymity against the population instead of the release (Sweeney 2001)."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...core.classes import Classes
from ...core.column import FloatArray
from ...core.metric import measure
from ...core.population import covered
from ...core.words import whole


def _sentence(value: float) -> str:
    k = whole(value)
    if k < 2:
        return (
            "At least one released row fits only one person in the population, as far as the population table shows, so an "
            "adversary with a list of the population could name that person."
        )
    return (
        f"Each released row fits at least {k:,} people in the population, so an adversary who holds a list of the population, "
        f"but does not know who is in the release, picks the right person for a row with probability at most 1/{k:,}."
    )


def _more(classes: Classes, values: FloatArray) -> Mapping[str, Any]:
    short = int((covered(classes.cover, "k_map").sizes < classes.people).sum())
    details = {"classes_larger_than_population": short} if short else {}
    return {"exactness": "bound" if short else "exact", "details": details}


@measure(
    title="k-map",
    question="How many people in the population fit the most exposed released row?",
    better="higher",
    unit="people",
    bounds=(1, float("inf")),
    monotone=True,
    inherited=True,
    alone=True,
    covers=True,
    source="Sweeney 2001; El Emam and Dankar 2008",
    sentence=_sentence,
    knows="the quasi-identifiers of everyone in the population (from a register, for example), but not who is in the "
    "release",
    misleads="It holds against an adversary who does not know who is in the release. One who does know faces k_anonymity, "
    "which is never higher. It is only as good as the population table.",
    needs=frozenset({"population"}),
    more=_more,
)
def k_map(classes: Classes) -> FloatArray:
    """`k = min_c F_c`, F_c the people of the population that the released values of class c cover.

    A person fits where every released value covers theirs (an interval its numbers, a node its leaves, `*` everything).
    A class of the release is part of the population's, so F_c is never taken below the people in the class; where the
    population table lacks some of them the value is only a lower bound. Where that table carries the person column, people
    are counted instead of rows. Extremes: 1 for a row only one person can have; the whole population if all look alike.
    """
    sizes = covered(classes.cover, "k_map").sizes
    return np.maximum(sizes, classes.people).astype(np.float64)
