"""The composition attack as a measure (Ganta, Kasiviswanathan, Smith 2008): people whose value two releases tell together."""

from pathlib import Path

from ...core.errors import InputError
from ...core.metric import Score, measure
from ...core.parameter import Name, Words
from ...core.release import Evidence, Release
from ...core.words import percent
from ..composition import composition


def _sentence(value: float) -> str:
    if value <= 0:
        return "For nobody who is in both releases do the two of them leave a single sensitive value, and that the person's own."
    return (
        f"For {percent(value)} of the people who are in both releases, the two of them together leave a single sensitive value, and it "
        "is the person's own."
    )


@measure(
    title="exposed by composition",
    question="For how many people do an earlier release and this one together tell the sensitive value?",
    about="privacy",
    better="lower",
    unit="share of people",
    bounds=(0, 1),
    monotone=False,
    source="Ganta, Kasiviswanathan, Smith 2008",
    sentence=_sentence,
    misleads="Who is told by one of the two alone counts as well: see the details. Two candidates left are not counted, however unlike "
    "their shares. The earlier release is taken to have been made from the same original and with the same roles; sfumato attack "
    "composition takes others, and people who are in neither.",
    needs=frozenset({"sensitive", "original"}),
    scope="table",
    parameters={"previous": Name(), "identity": Words()},
)
def composition_exposed(
    evidence: Evidence, column: str, *, previous: str, identity: frozenset[str] = frozenset()
) -> Score:
    """`people in both releases of whom the classes that cover them share one sensitive value, their own / people in both`.

    `previous` is the file of the earlier release; `identity` a column of the original that tells people apart, needed where both
    releases left people out. Extremes: as the earlier release alone if this one carries nothing; 0 if everybody keeps two candidates.
    """
    # here, so that the registry of metrics costs no engine
    from ...engines import read
    from ...engines.missing_codes import recognise

    if len(identity) > 1:
        raise InputError("composition_exposed: identity is one column that tells people apart.")
    release, roles = evidence.release, evidence.roles
    original = evidence.original("composition_exposed")
    table = recognise(read(Path(previous)), original, quasi=roles.quasi, others=(*roles.sensitive, *roles.insensitive))
    earlier = Release(table=table, original=original, pairing=release.pairing)
    found = composition(release, roles, previous=earlier, sensitive=column, identity=next(iter(identity), None))
    assert found.baseline is not None
    details = {"baseline": found.baseline.value, "above_baseline": found.above, **found.details}
    return Score(found.success.value, "share of people", found.exactness, details=details)
