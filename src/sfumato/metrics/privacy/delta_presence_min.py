"""The other end of delta-presence: how surely one can tell that a person is not in the release (Nergiz et al. 2007)."""

from ...core.classes import Classes
from ...core.metric import Score, measure
from ...core.release import Evidence
from ...core.words import down, from_zero
from .delta_presence import presence


@measure(
    title="delta-presence (minimum)",
    question="How likely is the least likely person in a public table to be in the release?",
    better="higher",
    unit="probability",
    source="Nergiz, Atzori, Clifton 2007; Manta 2013, sec. 3.3.1",
    sentence=from_zero(
        "An adversary can be certain that at least one person in the public table is not in the release.",
        "If the public table lists everyone in the release, each person in it is in the release with a probability of at "
        "least {}, so an adversary can rule out nobody for certain.",
        down,
    ),
    knows="a public table with the person's quasi-identifiers, but not whether the person is in the release",
    misleads="It matters where absence reveals something (not vaccinated, not insured). If the release is a small sample of "
    "the public table, it is low for everyone and says only how small the sample is.",
    needs=frozenset({"population"}),
    people=True,
)
def delta_presence_min(evidence: Evidence, column: None) -> Score:
    """`min_t P(t in T | T')` over the people t of the public table: N_c / F_c of the class that covers t.

    A person whom no class covers is certainly absent: the probability is 0, and then no class is the worst one. The
    survey's example has no such person. Where classes overlap nobody whom class c covers is less likely to be in the
    release than N_c/F_c: the value is a lower bound. Where the public table lacks people of the release it is only an
    estimate, since then the rows of a class need not be those of the people whom it covers. Extremes: 0 where someone can
    be ruled out; 1 where everybody is in the release.

    No sanitizer steers by it class by class: whom a class covers is covered by nobody once the class is left out, so where classes
    do not overlap leaving out the worst one ends at 0.
    """
    per_class, cover, short = presence(
        Classes(evidence.people, cover=evidence.population_cover()), "delta_presence_min"
    )
    details = {"people_in_no_class": cover.nobody, "people_in_several_classes": cover.several}
    if cover.nobody:
        return Score(0.0, "probability", "exact", details=details)
    least = float(per_class.min())
    if short:
        return Score(least, "probability", "estimate", per_class, ci=(0.0, least), details=details)
    return Score(least, "probability", "bound" if cover.several else "exact", per_class, details=details)
