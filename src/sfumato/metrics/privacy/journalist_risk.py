"""Journalist risk: re-identification by one who has a list of the population (El Emam and Dankar 2008)."""

import numpy as np

from ...core.metric import Score, measure
from ...core.release import Evidence
from ...core.words import up


def _sentence(value: float) -> str:
    if value >= 1:
        return "At least one released row may match a single person of the population: a list of it could name that person."
    return (
        f"An adversary who holds a list of the population, and knows no more, and looks for whoever stands behind a released row "
        f"picks the right person with probability at most {up(value, short_of=1)}."
    )


@measure(
    title="journalist risk",
    question="How likely is the most exposed row named by one who has a list of the population?",
    about="privacy",
    better="lower",
    unit="probability",
    bounds=(0, 1),
    monotone=True,
    source="El Emam and Dankar 2008",
    sentence=_sentence,
    misleads="Without the population table it is only bounded, by the prosecutor's risk; a sample of few people of many can be far below.",
    scope="table",
)
def journalist_risk(evidence: Evidence, column: None) -> Score:
    """The largest `1/F_c`, F_c the people of the population that the released values of class c cover.

    A population person matches where every released value covers theirs (an interval its numbers, a node its leaves).
    Without a population table the value is the bound `1/min N_c`, since a sample's class is part of the population's.
    F_c is never taken below N_c. Extremes: 1 for a row only one person can have; 1/P if all P people look alike.
    """
    sample = evidence.classes().size
    population = evidence.population_sizes()
    if population is None:
        return Score(float((1.0 / sample).max()), "probability", "bound", 1.0 / sample)
    per_class = 1.0 / np.maximum(population, sample)
    short = int((population < sample).sum())
    details = {"classes_larger_than_population": short} if short else {}
    return Score(float(per_class.max()), "probability", "exact", per_class, details=details)
