"""Sample uniqueness: the share of the rows that are alone with their quasi-identifiers in the release."""

from ...core.metric import measure
from ...core.release import Evidence
from ...core.words import from_zero


@measure(
    title="sample uniqueness",
    question="What share of the rows is alone with its quasi-identifiers in the release?",
    unit="share of rows",
    monotone=True,
    source="Bethlehem, Keller, Pannekoek 1990; Skinner and Elliot 2002",
    sentence=from_zero(
        "No row is alone: everybody shares all released quasi-identifiers with somebody else in the release.",
        "Nobody else in the release shares the quasi-identifiers of {} of the rows, so whoever knows that such a person is in it finds the row.",
    ),
    misleads="A row that shares its class with one other is hardly better off and does not count; see k_anonymity. In a sample many rows are "
    "alone whose people are not alone in the population; see population_uniqueness.",
    people=True,
)
def sample_uniqueness(evidence: Evidence, column: None) -> float:
    """`sum over classes of one person of n_c, by the rows`; n_c are the rows of class c.

    Extremes: 1 if every row is alone; 0 if every class has two people or more, that is, where k_anonymity is at least 2.
    """
    rows = evidence.tuples
    return float(rows.n[evidence.people == 1].sum()) / rows.rows
