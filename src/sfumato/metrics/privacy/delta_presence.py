"""delta-presence: whether a person of a public table is in the release (Nergiz, Atzori, Clifton 2007; Manta 3.3.1)."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from ...core.classes import Classes
from ...core.column import FloatArray
from ...core.metric import measure
from ...core.population import Cover, covered
from ...core.words import below_one, up


def presence(classes: Classes, why: str) -> tuple[FloatArray, Cover, int]:
    """The probability that a person whom a class covers is in it, what the classes cover, and how many are too large."""
    cover, sample = covered(classes.cover, why), classes.people
    return sample / np.maximum(cover.sizes, sample), cover, int((cover.sizes < sample).sum())


def _more(classes: Classes, values: FloatArray) -> Mapping[str, Any]:
    _, cover, short = presence(classes, "delta_presence")
    details = {
        "minimum": 0.0 if cover.nobody else float(values.min()),
        "people_in_no_class": cover.nobody,
        "people_in_several_classes": cover.several,
        "classes_larger_than_population": short,
    }
    if cover.several and not short:
        return {"exactness": "estimate", "ci": (float(values.max()), 1.0), "details": details}
    return {"exactness": "bound" if short else "exact", "details": details}


@measure(
    title="delta-presence (maximum)",
    question="How sure can an adversary be that a person in a public table is in the release?",
    unit="probability",
    alone=True,
    covers=True,
    source="Nergiz, Atzori, Clifton 2007; Manta 2013, sec. 3.3.1",
    sentence=below_one(
        "At least one class has as many people as the public table has people who fit it, or more. If the public table "
        "lists everyone in the release, all of those who fit are in the release.",
        "Of the people in the public table who fit a class, a share of at most "
        "{} is in it. Where classes do not overlap, an adversary can be at most that sure that such a "
        "person is in the release.",
        partial(up, short_of=1),
    ),
    knows="a public table with the person's quasi-identifiers, but not whether the person is in the release",
    misleads="It assumes that the adversary holds the same public table as the owner. It judges classes one by one: where "
    "their values overlap, a person can be more likely to be in the release than each class that fits them says, up "
    "to certainty.",
    needs=frozenset({"population"}),
    more=_more,
)
def delta_presence(classes: Classes) -> FloatArray:
    """`max_c P(t in T | T') = max_c N_c / F_c`, N_c people in the class, F_c people of the public table that it covers.

    This is delta_max; delta_min, the other end, is in the details and is delta_presence_min. It is the share of all ways
    to give each released row a person of its own in which a person has one. Where classes overlap it can be more than
    N_c/F_c: the value is then an estimate, and the truth lies between it and 1. Where the public table lacks people of
    the release F_c is taken as N_c, as if who is covered were in: a bound. Extremes: 1 where everybody whom a class
    covers is in it; N/P where all P people of the public table look alike.
    """
    return presence(classes, "delta_presence")[0]
