"""Record linkage: who of an external table can be found in the release (Sweeney 2002; Manta 3.1)."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np

from ..core.attack import attack
from ..core.errors import InputError, Unavailable
from ..core.noun import dataclass
from ..core.outcome import AttackDetails, Outcome, Rate
from ..core.parameter import Words
from ..core.release import Evidence, Release
from ..core.roles import Roles
from ..core.table import Table
from ..core.words import percent
from .lookup.by_cover import Linked, by_cover, matched
from .lookup.by_distance import by_distance
from .lookup.external import External, by_identity, by_people, by_row, check_columns, repeated
from .lookup.match import Match

How = Literal["auto", "cover", "exact", "distance"]


@dataclass(frozen=True, kw_only=True)
class LookedUp(AttackDetails):
    """What looking everybody up led to."""

    known: Sequence[str]
    how: str
    tables: int
    """The released tables that were looked at together."""
    unit: str
    """What is looked up and found: rows or people."""
    released: int
    correct: int
    """Found without doubt."""
    ambiguous: int
    """Their own row is one of several that fit."""
    wrong: int
    """Only rows of others fit."""
    mistaken: int
    """One row alone fits and it is somebody else's: a link that is believed and false, which harms that person too (Lambert 1993)."""
    none: int
    expected_correct: float
    candidates: Mapping[str, float] | None = None
    """How many released rows cover a person: the fewest, the median, the mean and the most."""
    unread_values: int | None = None
    sample: int | None = None
    """How many were drawn, where not all were looked up."""
    not_in_release: Mapping[str, int | str] | None = None
    found: Sequence[str | None] | None = None


def _sentence(value: float) -> str:
    if value <= 0:
        return "The adversary finds nobody, not even by guessing among the released rows that fit."
    if value >= 1:
        return "The adversary finds everyone: what is known of each person fits that person's own row and no other."
    return (
        "An adversary who looks up what is known of each person, and guesses among the rows that fit, is expected to be right for "
        f"{percent(value)} of the people."
    )


@attack(
    title="record linkage",
    question="How many people does an adversary find by looking up what is known of them?",
    how="The adversary looks every person up: the released rows that cover what is known are the candidates, or the nearest row is where "
    "values were perturbed. The attack works where a guess among the candidates is the person's own row.",
    knows="all quasi-identifiers of everybody in the release",
    effort="a table with these columns and one look-up a person",
    source="Sweeney 2002; Manta 2013, sec. 3.1; by distance Domingo-Ferrer and Torra 2001; false links Lambert 1993",
    sentence=_sentence,
    misleads="It is an average: the adversary may find one person for certain while it is small. The adversary is assumed to know that the "
    "person is in the release, and the values as they stand in the original, or in the external table if one is given.",
    needs=frozenset({"original"}),
    parameters={
        "external": "The adversary's table; the original itself, row by row, unless given.",
        "how": "cover: released values that cover what is known; exact: that are spelled alike; distance: the nearest row; auto chooses.",
        "sample": "How many people are looked up by distance, at most.",
    },
)
def linkage(
    release: Release,
    roles: Roles,
    *,
    external: Table | None = None,
    identity: str | None = None,
    knows: Sequence[str] | None = None,
    how: How = "auto",
    control: Table | None = None,
    sample: int = 5000,
    seed: int = 0,
    reveal: bool = False,
) -> Outcome:
    """Look every external person up in the release, and count how often the right row is found.

    A person's candidates are the m released rows that cover what is known of them: an interval, taxonomy node, set, mask or `*` covers
    what it stands for. The outcome is *correct* if there is one candidate and it is theirs; *ambiguous* if there are several and theirs is
    among them (a guess is right once in m); *wrong* if theirs is not among them; *none* if there is no candidate. `fell` is the expected
    number of right guesses. With related tables, or where the release carries the person column, candidates are people, and a person is
    a candidate if they are one in every table that has a known column.

    `external`  the adversary's table; by default the original itself, row by row
    `identity`  the column that names people in `external` and in the original (or in the release, if it carries people)
    `knows`     the columns that the adversary knows; by default all quasi-identifiers
    `how`       cover: as above. exact: values must be spelled alike. distance: the nearest row is taken, numbers by standardized
                Euclidean distance, perturbed categories by agreement, others must be covered; of more than `sample` people so many are
                drawn, and the result is an estimate. Where people have several rows by `identity` or the person column of the roles, the
                unit is the person: of released rows the one is taken that is nearest to anything known of them; of released people (a
                release that carries the column) the one whose rows are nearest on the mean to all that is known. auto: distance where a
                known column was perturbed, or has numbers that are other ones in most people's own rows (as after microaggregation),
                else cover
    `control`   people who are not in the release. Without it those external people count who are not, if there are any; rate 1/m each,
                what such a link seems worth to an adversary who cannot know better. By distance somebody is nearest to everyone, and a link
                seems worth what links of such a distance are worth of people in the release; nothing if none is as far
    `reveal`    name the people who were found (needs `identity`)

    Extremes: 1 if everybody is alone in what is known and it is released as it is; the baseline if nothing of it is released: 1/rows, and
    more often for who has several of them.
    """
    _check(release, how, sample)
    tables = (release.table, *release.related)
    known = tuple(roles.quasi if knows is None else knows)
    check_columns(tables, known, roles, external)
    evidence = release.evidence(roles)
    facts = _facts(evidence, external, _identity(release, roles, external, identity, reveal), known)
    if reveal and facts.who is None:
        raise InputError("linkage can only name people with a column that does; give identity (--identity).")
    # where what is known are the released values, they are compared as they are spelled
    literal = how == "exact" or facts.known is facts.released
    near = how == "distance" or (how == "auto" and any(name in release.perturbed for name in known))

    def by_nearness() -> Outcome:
        person = identity or roles.person
        nearest = _by_person(evidence, facts, known)
        linked = by_distance(evidence, nearest, control, person, sample, seed, reveal)
        return _outcome(nearest, release, linked, "distance")

    if near:
        return by_nearness()
    match = matched(facts.released, facts.known, facts.names, roles, literal=literal)
    if how == "auto" and _moved(facts, match):
        with contextlib.suppress(Unavailable):
            return by_nearness()
    linked = by_cover(evidence, facts, match, control, reveal, literal=literal)
    return _outcome(facts, release, linked, "exact" if how == "exact" else "cover")


def _by_person(evidence: Evidence, facts: External, known: tuple[str, ...]) -> External:
    """Rows of an original in which people have several are theirs together."""
    original, person = evidence.release.original, evidence.roles.person
    if facts.who is not None or original is None or person is None or not repeated(original, person):
        return facts
    return by_identity(evidence, original, person, known, "linkage")


def _moved(facts: External, match: Match) -> bool:
    """Whether a column has numbers on both sides and most people's own released numbers are other ones."""
    inside = facts.inside > 0
    for j, axis in enumerate(match.axes):
        a, b = facts.known.columns[j], facts.released.columns[j]
        if a.numbers is not None and b.numbers is not None:
            place = axis.place[facts.known.codes[j][facts.member[facts.entry]]]
            same = axis.covers(facts.released.codes[j][facts.own], place)
            kept = np.bincount(facts.entry[same], minlength=len(inside)) > 0
            if int(facts.n[kept].sum()) * 2 < int(facts.n[inside].sum()):
                return True
    return False


def _check(release: Release, how: str, sample: int) -> None:
    if how not in ("auto", "cover", "exact", "distance"):
        raise InputError(f"linkage: how is {how!r}; use auto, cover, exact or distance.")
    if sample < 1:
        raise InputError("linkage: sample must be at least 1 person.")
    if release.statistics:
        raise Unavailable(
            "linkage looks for rows of people, but this release holds statistics, not one row per person."
        )


def _identity(release: Release, roles: Roles, external: Table | None, identity: str | None, reveal: bool) -> str | None:
    """The column that names people; None if the original is looked up row by row."""
    tables = [release.table, *release.related]
    theirs = external if external is not None else release.original
    if release.related:
        name = identity or roles.person
        if name is None:
            raise Unavailable(
                f"linkage joins related tables on the person column; name it in {roles.source} as person."
            )
        for table in tables:
            table.require_columns([name], "which names people, so its rows cannot be joined to them", Unavailable)
        return name
    ours = {*release.table.columns, *(() if release.original is None else release.original.columns)}
    if identity is not None:
        if theirs is not None and identity not in theirs.columns:
            raise InputError(f"{theirs.name}: no column {identity!r}; name one that tells people apart with identity.")
        if identity not in ours:
            raise Unavailable(
                f"linkage cannot tell who was found: neither the original nor {release.table.name} has the column "
                f"{identity!r}; give an original that has it."
            )
        return identity
    asked = [name for name in (roles.person, *roles.identifiers) if name is not None and name in ours]
    if external is not None or reveal:
        there = [name for name in asked if theirs is not None and name in theirs.columns]
        if not there:
            raise Unavailable(
                "linkage cannot tell who was found: no person column or identifier is in the external table and in the "
                "original; name one with identity (--identity)."
            )
        return there[0]
    carried = roles.person is not None and roles.person in release.table.columns
    return roles.person if carried else None


def _facts(evidence: Evidence, external: Table | None, identity: str | None, known: tuple[str, ...]) -> External:
    release = evidence.release
    if identity is None:
        facts = by_row(evidence, known, "linkage")
    else:
        tables = (release.table, *release.related)
        theirs = external
        if theirs is None and release.original is not None and {identity, *known} <= set(release.original.columns):
            theirs = release.original
        if identity in release.table.columns:
            if theirs is None and not release.related:
                evidence.original("linkage")
            facts = by_people(tables, theirs, identity, known)
        else:
            original = evidence.original("linkage")
            facts = by_identity(evidence, original if theirs is None else theirs, identity, known, "linkage")
    if not facts.total:
        raise Unavailable(f"{release.table.name} has no rows, so nobody can be found in it.")
    if not len(facts.entry):
        raise Unavailable("linkage: nobody of the external table is in the release, going by the identity column.")
    return facts


def _outcome(facts: External, release: Release, linked: Linked, how: str) -> Outcome:
    near, attacked, fell = how == "distance", linked.attacked, linked.fell
    base = facts.blind(people=near)
    known = list(dict.fromkeys(facts.names))
    tables = 1 + len(release.related)
    correct, ambiguous, wrong, none = linked.kinds
    columns = ", ".join(known)
    what = "people" if facts.unit == "people" or facts.who is not None else "rows"
    drawn = f" of a sample of {attacked:,}" if linked.exactness == "estimate" else f" of {attacked:,}"
    sentence = (
        f"An adversary who knows {columns} finds {correct:,}{drawn} {what} "
        + (f"as the nearest released {'person' if facts.unit == 'people' else 'row'}" if near else "without doubt")
        + f", and by guessing among candidates is right for {percent(fell / max(attacked, 1))} of them; without the release, one guess "
        f"in {1 / base:,.0f} is."
        + (
            f" {linked.mistaken:,} would be taken for somebody else, with nothing to warn of it."
            if linked.mistaken
            else ""
        )
    )
    joined = "" if tables == 1 else f", and the person column that joins {tables} tables"
    return Outcome(
        knew=f"{columns} of {attacked:,} {what}{joined}",
        effort="a table with these columns, and for each person the distance to released rows" if near else "",
        attacked=attacked,
        fell=fell,
        success=Rate.of(fell, attacked),
        baseline=Rate(base, base, base, attacked),
        control=linked.control,
        exactness=linked.exactness,
        sentence=sentence,
        source=f"{linkage.card.source}; Nergiz, Clifton, Nergiz 2007" if release.related else "",
        details=LookedUp(
            known=known,
            how=how,
            tables=tables,
            unit=facts.unit,
            released=facts.total,
            correct=correct,
            ambiguous=ambiguous,
            wrong=wrong,
            mistaken=linked.mistaken,
            none=none,
            expected_correct=fell,
            candidates=linked.candidates,
            unread_values=linked.unread_values,
            sample=linked.sample,
            not_in_release=linked.not_in_release,
            found=linked.found,
        ),
    )


@linkage.metric(
    title="linkage re-identification",
    family="Who can be found with other tables",
    needs=frozenset({"original", "pairs"}),
    parameters={"known": Words()},
)
def linkage_reidentification(evidence: Evidence, column: None, known: frozenset[str]) -> Outcome:
    """`(1/N) sum_i r_i/m_i`, m_i the released rows that cover what is known of person i, r_i of them their own.

    The adversary knows the columns `known` of the original, all quasi-identifiers unless they are named. Where a column was perturbed
    the nearest row is taken, on a sample, and the value is an estimate. Unlike marketer_risk it counts all rows that fit, those of
    overlapping classes, too. Extremes: 1 if everybody is alone and nothing was changed; 1/N if nothing that is known was released.
    """
    names = tuple(name for name in evidence.roles.quasi if name in known) + tuple(
        sorted(known - set(evidence.roles.quasi))
    )
    return linkage(evidence.release, evidence.roles, knows=names or None)
