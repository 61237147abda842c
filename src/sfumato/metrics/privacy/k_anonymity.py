"""k-anonymity (Samarati and Sweeney 1998; Manta 3.1.1)."""

from ...core.classes import Classes
from ...core.column import FloatArray
from ...core.metric import measure


def _sentence(k: float) -> str:
    if k < 2:
        return "At least one row is alone in its class: whoever knows these columns of that person finds the row for certain."
    return (
        f"Every row shares its released quasi-identifiers with at least {k - 1:,.0f} other"
        f"{'s' if k > 2 else ''}, so an adversary who knows them all, and that the person is in the release, "
        f"picks the right row with probability at most 1/{k:,.0f}."
    )


@measure(
    title="k-anonymity",
    question="How many rows look alike at the very least?",
    about="privacy",
    better="higher",
    unit="rows",
    bounds=(1, float("inf")),
    monotone=True,
    inherited=True,
    source="Samarati and Sweeney 1998; Manta 2013, sec. 3.1.1; Bezzi 2010, eq. 5",
    sentence=_sentence,
    misleads="It says nothing of what a class reveals: if all its rows share one sensitive value, no one needs to find the row.",
)
def k_anonymity(classes: Classes) -> FloatArray:
    """The rows of the smallest class, `k = min_c N_c`.

    Where the release carries a person column, people are counted instead of rows. Extremes: 1 if some row is unique,
    N if all rows look alike.
    """
    return classes.size.astype(float)
