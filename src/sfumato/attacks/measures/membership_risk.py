"""Table linkage as a measure (Nergiz, Atzori, Clifton 2007; Manta 3.3): how surely people are told to be in the release."""

import numpy as np

from ...core.errors import Unavailable
from ...core.metric import Score, measure
from ...core.release import Evidence
from ...core.words import up
from ..membership import presence


def _sentence(value: float) -> str:
    if value >= 1:
        return "It is not ruled out that an adversary who has the public table is certain of everybody in the release that they are in it."
    return (
        f"Of a person in the release, an adversary who has the public table believes with a probability of at most "
        f"{up(value, short_of=1)} that they are in it, on average over these people."
    )


@measure(
    title="membership",
    question="How surely does the release tell of the people in it that they are in it?",
    about="privacy",
    better="lower",
    unit="probability",
    bounds=(0, 1),
    monotone=False,
    source="Nergiz, Atzori, Clifton 2007; Manta 2013, sec. 3.3; their probabilities averaged over people",
    sentence=_sentence,
    misleads="It is an average, and one person may be certain while it is small: delta_presence is the largest. It is never below the "
    "share of the public table that was released, which is known without the release (the baseline in the details).",
    needs=frozenset({"population"}),
    scope="table",
)
def membership_risk(evidence: Evidence, column: None) -> Score:
    """`sum_t p_t^2 / sum_t p_t` over the people t of the public table, `p_t = P(t in T | T')`.

    p is what is believed of a person and, in sum, how many people are in. Without overlap it is `(1/N) sum_c N_c^2 / F_c`, N_c people of
    class c and F_c people of the public table whom it covers. Where classes overlap, p has two ends (`attacks/membership.py`); where
    the public table lacks people of the release, they count as certain. The value is then a bound that the truth does not exceed, and
    the interval begins at what it does not fall below. Extremes: 1 if everybody whom a class covers is in it; N/P if all P people
    look alike to the release, and never less.
    """
    release, person = evidence.release, evidence.roles.person
    found = presence(release, evidence.roles)
    n, low, high = found.n, found.low, found.high
    if not high.any():
        raise Unavailable(
            "membership_risk looks people of the public table up, and no class covers any of them; is it spelled as the original was?"
        )
    assert release.population is not None
    people = int(n.sum())
    # as many people are in as were released, unless somebody may have several rows of it, or the public table lacks some of them
    told = person is None or person in release.table.columns or person not in release.population.columns
    inside = (float(n @ low), min(float(n @ high), float(found.rows)))
    if told and not found.short and not found.exact:
        inside = (float(found.rows), float(found.rows))
    lacking = max(found.rows - float(n @ low), 0.0) if found.short else 0.0
    at_least = float(n @ low**2) / (inside[1] + lacking)
    if told and not found.short:
        at_least = max(at_least, found.rows / people)
    at_most = (float(n @ high**2) + lacking) / (inside[0] + lacking)
    at_most = min(at_most, 1.0 if found.short else float(high.max()))
    exact = found.exact and not found.short
    baseline = float(n @ found.blind**2) / float(n @ found.blind)
    details = {
        "population": people,
        "released": found.rows,
        "baseline": baseline,
        "above_baseline": at_most - baseline,
        "smallest": float(low.min()),
        "largest": float(high.max()),
        "certain": int(n[low >= 1 - 1e-12].sum()),
        "guessed_right_at_least": float(n @ np.where((low < 0.5) & (high > 0.5), 0.5, np.maximum(low, 1 - high)))
        / people,
        "in_no_class": int(n[high == 0].sum()),
        "in_several_classes": found.several,
        "classes_larger_than_population": found.short,
    }
    ends = None if exact else (at_least, at_most)
    return Score(at_most, "probability", "exact" if exact else "bound", ci=ends, details=details)
