"""Beta-likeness (Cao and Karras 2012)."""

import math

import numpy as np

from ...core.classes import Classes
from ...core.column import FloatArray
from ...core.metric import measure
from ...core.parameter import Choice
from ...core.words import percent_up
from .alpha_anonymity import largest


def _sentence(value: float) -> str:
    if value <= 0:
        return "No class makes any sensitive value more likely than it is in the whole table."
    if math.isinf(value):
        return (
            "At least one class makes a sensitive value more likely than the enhanced model allows, whatever beta is."
        )
    return f"Each class makes each sensitive value at most {percent_up(value, 4)} more likely than it is in the whole table."


@measure(
    title="beta-likeness",
    question="How much more likely does the worst class make a sensitive value than it is in the whole table?",
    unit="relative gain",
    bounds=(0, float("inf")),
    monotone=True,
    convex=lambda kind: kind == "basic",
    source="Cao and Karras 2012, basic and enhanced beta-likeness",
    sentence=_sentence,
    keeps="certainty",
    misleads="It counts gains only: a class that lacks a value can score low (see delta_disclosure). One row with a rare value "
    "in a small class is a large gain.",
    needs=frozenset({"sensitive"}),
    parameters={"kind": Choice(("basic", "enhanced"))},
)
def beta_likeness(classes: Classes, kind: str) -> FloatArray:
    """`max_w (p(w|c) - p(w)) / p(w)` over the values that the class makes likelier; the worst class counts.

    `basic`: this beta. `enhanced`: the condition is `(p - q)/q <= min(beta, -ln q)`, so a value may not exceed q (1 - ln q)
    whatever beta; the number is the smallest beta that meets it, infinite if a value breaks that cap.
    Extremes: 0 where every class is like the table; 1/q - 1 for a class of a single value w of share q, which is beyond
    the cap of the enhanced form for every q below 1.
    """
    gain = np.maximum(classes.p - classes.q, 0.0) / classes.q
    if kind == "enhanced":
        gain = np.where(gain > -np.log(classes.q), np.inf, gain)
    return largest(classes, gain)
