"""delta-presence: whether a person of a public table is in the release (Nergiz, Atzori, Clifton 2007; Manta 3.3.1)."""

import numpy as np

from ...core.column import FloatArray
from ...core.errors import Unavailable
from ...core.metric import Score, measure
from ...core.population import Cover
from ...core.release import Evidence
from ...core.words import up


def _sentence(value: float) -> str:
    if value >= 1:
        return (
            "At least one released combination holds as many people as it fits in the public table, or more: if that lacks "
            "no one, all of them are in the release."
        )
    return (
        f"Of the people of the public table whom a released combination fits, a share of at most {up(value, short_of=1)} is in it; "
        "where combinations do not overlap, one can at most be so sure of such a person being in the release."
    )


def presence(evidence: Evidence, why: str) -> tuple[FloatArray, Cover, int]:
    """The probability that a person whom a class covers is in it, what the classes cover, and how many are too large."""
    cover = evidence.population_cover()
    if cover is None:
        raise Unavailable(f"{why} needs the public table; give it with --population (or Release(population=...)).")
    sample = evidence.classes().size
    return sample / np.maximum(cover.sizes, sample), cover, int((cover.sizes < sample).sum())


@measure(
    title="delta-presence, the largest",
    question="How surely can one tell that a person of a public table is in the release?",
    about="privacy",
    better="lower",
    unit="probability",
    bounds=(0, 1),
    monotone=False,
    source="Nergiz, Atzori, Clifton 2007; Manta 2013, sec. 3.3.1",
    sentence=_sentence,
    misleads="It assumes that the adversary holds the same public table as the owner. Classes are judged one by one: where "
    "their values overlap, people can be likelier to be in the release than each class that covers them says, up to certainty.",
    needs=frozenset({"population"}),
    scope="table",
)
def delta_presence(evidence: Evidence, column: None) -> Score:
    """`max_c P(t in T | T') = max_c N_c / F_c`, N_c people in the class, F_c people of the public table that it covers.

    This is delta_max; delta_min, the other end, is in the details and is delta_presence_min. It is the share of all ways
    to give each released row a person of its own in which a person has one. Where classes overlap it can be more than
    N_c/F_c: the value is then an estimate, and the truth lies between it and 1. Where the public table lacks people of
    the release F_c is taken as N_c, as if who is covered were in: a bound. Extremes: 1 where everybody whom a class
    covers is in it; N/P where all P people of the public table look alike.
    """
    per_class, cover, short = presence(evidence, "delta_presence")
    details = {
        "minimum": 0.0 if cover.nobody else float(per_class.min()),
        "people_in_no_class": cover.nobody,
        "people_in_several_classes": cover.several,
        "classes_larger_than_population": short,
    }
    worst = float(per_class.max())
    if cover.several and not short:
        return Score(worst, "probability", "estimate", per_class, ci=(worst, 1.0), details=details)
    return Score(worst, "probability", "bound" if short else "exact", per_class, details=details)
