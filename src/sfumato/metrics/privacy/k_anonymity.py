"""k-anonymity (Samarati and Sweeney 1998; Manta 3.1.1)."""

from ...core.classes import Classes
from ...core.column import FloatArray
from ...core.metric import Usual, measure, spell_bound
from ...core.words import whole


def _sentence(value: float) -> str:
    k = whole(value)
    if k < 2:
        return (
            "At least one row is alone in its class, or shares it only with rows of the same person, so an adversary who "
            "knows these columns of that person finds it for certain."
        )
    return (
        f"Each row shares its released quasi-identifiers with at least {k - 1:,} other{'s' if k > 2 else ''}, so an adversary "
        "who knows only a person's quasi-identifiers, and that the person is in the release, picks the right one with "
        f"probability at most 1/{k:,}."
    )


def _limit(bound: float) -> str:
    return (
        f"an adversary picks a person's row with a probability of at most {spell_bound(1 / bound)}"
        if bound >= 1
        else ""
    )


@measure(
    title="k-anonymity",
    question="How many rows look alike in the smallest class?",
    better="higher",
    unit="rows",
    bounds=(1, float("inf")),
    monotone=True,
    inherited=True,
    alone=True,
    source="Samarati and Sweeney 1998; Manta 2013, sec. 3.1.1; Bezzi 2010, eq. 5",
    sentence=_sentence,
    limit=_limit,
    usual=Usual(10, compared=True),
    misleads="It says nothing about what a class reveals. If all rows of a class share one sensitive value, an adversary "
    "learns it without finding the row.",
)
def k_anonymity(classes: Classes) -> FloatArray:
    """The rows of the smallest class, `k = min_c N_c`.

    Where the release carries a person column, or the roles say that the rows of a person are unlinked, people are counted
    instead of rows ((X,Y)-anonymity with Y the person); where they are joined, the people of whom all rows say the same. Extremes: 1 if some row is unique,
    N if all rows look alike.
    """
    return classes.people.astype(float)
