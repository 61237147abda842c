"""Privacy of added noise by its variance (Duncan and Mukherjee 2000; Manta 5.1.1)."""

import numpy as np

from ...core.column import FloatArray, IntArray
from ...core.metric import Score, measure
from ...core.release import Evidence
from ...core.words import about, from_zero
from .noise_interval import perturbed


def variance(x: FloatArray, n: IntArray) -> float:
    """The variance over rows of which `n` have `x`."""
    mean = float(np.average(x, weights=n))
    return float(np.average((x - mean) ** 2, weights=n))


@measure(
    title="noise variance",
    question="How large is the noise compared with the spread of the numbers it hides?",
    better="higher",
    unit="ratio of variances",
    bounds=(0, float("inf")),
    source="Manta 2013, sec. 5.1.1, after Duncan and Mukherjee 2000",
    sentence=from_zero(
        "In at least one column, every number that is released as a number was moved by the same amount, or not at all, "
        "so noise hides nothing there.",
        "In the least hidden column, the variance of the noise is {} times that of the original numbers.",
        about,
    ),
    knows="which released row is the person's",
    misleads="A few rows with huge noise make up for many rows without any (see noise_interval). Noise that the other columns "
    "help to filter out counts as if it hid something.",
    needs=frozenset({"original", "pairs"}),
    people=True,
    joins=True,
)
def noise_variance(evidence: Evidence, column: None) -> Score:
    """`Var(original - released) / Var(original)`, row by paired row; the quasi-identifier with the least counts.

    Quasi-identifiers that are not numbers on both sides, or constant, are left out, and so are pairs with a missing
    value. Where people with several rows are counted, every person weighs the same, and where their rows stay joined, the mean over the
    rows of each is what counts (`noise_interval.of_people`). The survey asks for the variance alone; divided by the original's it has no unit. Extremes: 0 for the identity
    and for one shift of all; 1 where all numbers became their mean.
    """
    pairs = perturbed(evidence, "noise_variance")
    ratios = {name: variance(x - y, n) / variance(x, n) for name, (x, y, n) in pairs.items()}
    worst = min(ratios, key=lambda name: ratios[name])
    return Score(ratios[worst], "ratio of variances", details={"worst": worst, "columns": ratios})
