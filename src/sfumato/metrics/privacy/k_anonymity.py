"""k-anonymity (Samarati and Sweeney 1998; Manta 3.1.1)."""

from ...core.classes import Classes
from ...core.column import FloatArray
from ...core.metric import Usual, measure, spell_bound
from ...core.words import whole


def _sentence(value: float) -> str:
    k = whole(value)
    if k < 2:
        return (
            "At least one row is alone in its class, or only with rows of the same person: whoever knows these columns of that "
            "person finds it for certain."
        )
    return (
        f"Every row shares its released quasi-identifiers with at least {k - 1:,} other"
        f"{'s' if k > 2 else ''}, so an adversary who knows them all, and that the person is in the release, and no more, "
        f"picks the right one with probability at most 1/{k:,}."
    )


def _limit(bound: float) -> str:
    return f"a person's row is picked with a probability of at most {spell_bound(1 / bound)}" if bound >= 1 else ""


@measure(
    title="k-anonymity",
    question="How many rows look alike at the very least?",
    about="privacy",
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
    misleads="It says nothing of what a class reveals: if all its rows share one sensitive value, no one needs to find the row.",
)
def k_anonymity(classes: Classes) -> FloatArray:
    """The rows of the smallest class, `k = min_c N_c`.

    Where the release carries a person column, people are counted instead of rows. Extremes: 1 if some row is unique,
    N if all rows look alike.
    """
    return classes.size.astype(float)
