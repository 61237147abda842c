"""Population uniqueness: the share of the rows whose people are alone in the population, counted or estimated (Dankar et al. 2012)."""

import numpy as np

from ...core.errors import Unavailable
from ...core.metric import Exactness, Score, measure
from ...core.parameter import Number
from ...core.release import Evidence
from ...core.words import from_zero
from ...profile.population import population_uniques
from .individual_risk import class_weights


def alone_in_population(evidence: Evidence) -> int:
    """The rows alone in the release that one person of the population table fits at most."""
    sizes = evidence.population_sizes()
    assert sizes is not None
    return int(((evidence.people == 1) & (sizes <= 1)).sum())


@measure(
    title="population uniqueness",
    question="What share of the rows belongs to people who are alone in the population with their quasi-identifiers?",
    unit="share of rows",
    source="Dankar, El Emam, Neisa, Roffey 2012; Hoshino 2001; Zayatz 1991; Chen and McNulty 1998",
    sentence=from_zero(
        "By what is known of the population, no released row belongs to somebody who is alone in it with these quasi-identifiers.",
        "By what is known of the population, {} of the released rows belong to people who are alone in it with their quasi-identifiers, so a list of "
        "the population names them.",
    ),
    knows="the quasi-identifiers of everyone in the population (from a register, for example), but not who is in the release",
    family="Who can be found with other tables",
    misleads="Without a table of the population it is a model's estimate from the class sizes and the fraction, and supposes that the rows are a random "
    "sample; three models may differ widely, and the interval is their range, no sampling error. Without a fraction the release is taken for the "
    "whole population, which is a bound. A person who shares a class with one other counts for nothing; see k_map.",
    parameters={"fraction": Number(1.0, low=1e-9, high=1)},
)
def population_uniqueness(evidence: Evidence, column: None, fraction: float) -> Score:
    """`U/n`: U of the n rows are alone here and in the population.

    With a population table U is counted: classes of one row whose released values cover one person at most. Else `U = min(f P, u)`, P the people
    alone in the population by the model of Dankar's rule, u the rows alone here, f the fraction, or the rows by what they stand for where the
    roles name a survey weight. Extremes: sample_uniqueness for f = 1, where the table is the population; 0 where no row is alone.
    """
    rows = evidence.tuples.rows
    if evidence.release.population is not None:
        sizes = evidence.population_sizes()
        lacking = int((np.asarray(sizes) < evidence.people).sum())
        lacks = {"classes_larger_than_population": lacking} if lacking else {}
        exactness: Exactness = "bound" if lacking else "exact"
        return Score(alone_in_population(evidence) / rows, "share of rows", exactness, details=lacks)
    if fraction == 1 and evidence.roles.weight is not None:
        try:
            fraction = min(1.0, rows / float(class_weights(evidence).sum()))
        except (Unavailable, ZeroDivisionError):
            fraction = 1.0
    found = population_uniques(evidence.people, fraction)
    if fraction == 1:
        return Score(found.sample_uniques / rows, "share of rows", "bound")
    assert found.of_sample is not None  # Zayatz's model fits any class sizes
    range_of_models = tuple(min(fraction * end, float(found.sample_uniques)) / rows for end in found.ci or ())
    details = {"fraction": fraction, "model": found.chosen, "population_uniques": found.value, "interval": "by model"}
    return Score(
        found.of_sample / rows,
        "share of rows",
        "estimate",
        ci=(range_of_models[0], range_of_models[1]),
        details=details,
    )
