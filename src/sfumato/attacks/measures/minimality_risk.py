"""The minimality attack as a measure (Wong, Fu, Wang, Pei 2007): what an adversary who knows the algorithm gets right."""

from ...core.metric import Score, measure
from ...core.parameter import Number
from ...core.release import Evidence
from ...core.words import percent_up
from ..minimality import minimality


def _sentence(value: float) -> str:
    return (
        "An adversary who knows everybody's quasi-identifiers, the algorithm and its goal is expected to name the right sensitive value "
        f"for at most {percent_up(value)} of the people."
    )


@measure(
    title="minimality",
    question="For how many people does an adversary who knows the algorithm and its goal name the right sensitive value?",
    about="privacy",
    better="lower",
    unit="share of people",
    bounds=(0, 1),
    monotone=False,
    source="Wong, Fu, Wang, Pei 2007",
    sentence=_sentence,
    misleads="Much of it may be told by the classes alone, or by the most frequent value: both are in the details. People in classes with "
    "more assignments than runs count as if they all fell, and the value is then a bound: more runs make it smaller. The release must "
    "say which algorithm made it; sfumato attack minimality takes one that is named.",
    needs=frozenset({"sensitive", "original"}),
    scope="table",
    parameters={"runs": Number(None, low=1, high=10_000_000, whole=True)},
)
def minimality_risk(evidence: Evidence, column: str, *, runs: int) -> Score:
    """`sum over people of the largest P(value | release, algorithm) / people`, over at most `runs` assignments of values to people.

    Where some people cannot be reached in so many runs, they count as fallen, and the value is a bound; the interval begins where they
    fall as to the classes alone, below which it is never. Extremes: 1 where a single assignment explains the release; the share that
    the classes alone tell where the algorithm does not look at the sensitive column.
    """
    found = minimality(evidence.release, evidence.roles, sensitive=column, runs=runs)
    people = found.attacked
    at_most = min(float(found.details["success_at_most"]), 1.0)
    assert found.baseline is not None
    details = {
        **found.details,
        "baseline": found.baseline.value,
        "without_algorithm": found.details["without_algorithm"] / people,
        "believed_more": found.details["believed_more"] / people,
        "believed_more_at_most": found.details["believed_more_at_most"] / people,
    }
    ends = None if found.exactness == "exact" else (found.fell / people, at_most)
    return Score(at_most, "share of people", found.exactness, ci=ends, details=details)
