"""k-map: k-anonymity against the population instead of the release (Sweeney 2001)."""

import numpy as np

from ...core.errors import Unavailable
from ...core.metric import Score, measure
from ...core.release import Evidence
from ...core.words import whole


def _sentence(value: float) -> str:
    k = whole(value)
    if k < 2:
        return (
            "At least one released row fits a single person of the population, as far as its table tells: a list of it could "
            "name that person."
        )
    return (
        f"Every released row fits at least {k:,} people of the population, so one who holds a list of it, and does not know "
        f"who is in the release, picks the right person for a row with probability at most 1/{k:,}."
    )


@measure(
    title="k-map",
    question="How many people of the population does a released row fit at the very least?",
    about="privacy",
    better="higher",
    unit="people",
    bounds=(1, float("inf")),
    monotone=True,
    source="Sweeney 2001; El Emam and Dankar 2008",
    sentence=_sentence,
    misleads="It holds against one who does not know who is in the release; whoever knows that a person is in it faces "
    "k_anonymity, which is lower. It is as good as the population table.",
    needs=frozenset({"population"}),
    scope="table",
)
def k_map(evidence: Evidence, column: None) -> Score:
    """`k = min_c F_c`, F_c the people of the population that the released values of class c cover.

    A person fits where every released value covers theirs (an interval its numbers, a node its leaves, `*` everything).
    A class of the release is part of the population's, so F_c is never taken below the people in the class; where the
    population table lacks some of them the value is only a lower bound. Where that table carries the person column, people
    are counted instead of rows. Extremes: 1 for a row only one person can have; the whole population if all look alike.
    """
    population = evidence.population_sizes()
    if population is None:
        raise Unavailable(
            "k_map needs a table of the population; give it with --population (or Release(population=...))."
        )
    sample = evidence.classes().size
    per_class = np.maximum(population, sample).astype(np.float64)
    short = int((population < sample).sum())
    details = {"classes_larger_than_population": short} if short else {}
    return Score(float(per_class.min()), "people", "bound" if short else "exact", per_class, details=details)
