"""The protected values that can be computed from columns which no requirement limits."""

from dataclasses import replace

from ...core.metric import Score, measure
from ...core.release import Evidence
from ...core.words import percent
from ...profile.free_release import free_of_release

_FORMS = "equality, containment, maps, and sums, differences, multiples and offsets of up to three columns"


def _sentence(value: float) -> str:
    if value <= 0:
        return f"No protected column was found to follow from columns that are released unchanged (checked: {_FORMS})."
    return (
        f"In at least {percent(value)} of the rows an adversary can compute a protected value from columns that are released "
        "unchanged, and so undo the release there."
    )


@measure(
    title="values told by free columns",
    question="In how many rows can an adversary compute a protected value from columns that are released unchanged?",
    unit="share of rows",
    source="Manta 2013, sec. 3 (an adversary's knowledge is not only the quasi-identifiers); sfumato's rule on free columns",
    sentence=_sentence,
    misleads=f"It is a lower bound. It looks for relations that hold in at least 95% of the rows, between up to four columns, "
    f"in these forms: {_FORMS}. It does not see a relation in another form or in fewer rows.",
    needs=frozenset({"original"}),
    noise=True,
)
def values_told_by_free_columns(evidence: Evidence, column: None) -> Score:
    """`max over relations R from free columns to a protected one of |{rows that keep R}| / |rows|`, over those that hold in 95% of the rows.

    Protected are identifiers, quasi-identifiers (whatever the release makes of them) and sensitive columns (held against insensitive
    ones). Extremes: 0 if nothing follows; 1 if a free column is a copy of a quasi-identifier.
    """
    free = free_of_release(evidence.release, evidence.roles)
    telling = [finding for finding in replace(free, covered=free.quasi).related() if finding.kind == "tells"]
    worst = max((finding.share for finding in telling), default=0.0)
    return Score(
        worst, "share of rows", "bound", details={"told": {finding.column: [finding.words] for finding in telling}}
    )
