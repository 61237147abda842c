"""Composition: two releases of overlapping people, and what only both together tell (Ganta, Kasiviswanathan, Smith 2008)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ..core.arrow import strings
from ..core.attack import attack
from ..core.column import Column, encode
from ..core.errors import InputError, Unavailable
from ..core.metric import Score
from ..core.noun import dataclass
from ..core.outcome import AttackDetails, Outcome, Rate
from ..core.parameter import Name, Words
from ..core.release import Evidence, Release
from ..core.roles import Roles
from ..core.table import Table
from ..core.words import about, from_zero, whole
from .knowledge.candidate_values import Met, meet
from .knowledge.two_releases import People, in_both, outside
from .lookup.external import repeated


@dataclass(frozen=True, kw_only=True)
class MetCandidates(AttackDetails):
    """The values that two releases leave for each person who is in both."""

    sensitive: str
    people_in_both: int
    certain: int
    """People of whom one value is left, their own."""
    certain_from_release: int
    certain_from_previous: int
    certain_only_together: int
    candidates_release: float
    """Values that this release leaves of a person, on average."""
    candidates_previous: float
    candidates_together: float
    contradicted: int
    """People of whom no value is left: the two releases disagree."""
    misled: int
    """People whose own value is not among those that are left."""
    found: Sequence[str | None] | None = None

    @property
    def attacked_column(self) -> str:
        """The column that both releases have."""
        return self.sensitive


@attack(
    title="composition of two releases",
    question="For how many people do an earlier release and this one together give the sensitive value away?",
    how="The adversary looks a person up in two releases and keeps the sensitive values that both allow. The attack works where one is "
    "left, and it is the person's own.",
    knows="the quasi-identifiers of people who are in both releases, and both releases",
    effort="a second release about the same people, and two look-ups a person",
    people=True,
    source="Ganta, Kasiviswanathan, Smith 2008",
    sentence=from_zero(
        "For nobody in both releases do the two together leave only the person's own sensitive value.",
        "For {} of the people in both releases, the two together leave only one sensitive value, and it is the person's own.",
    ),
    misleads="It also counts people whose value one of the two releases gives away alone; see the details. It does not count people with "
    "two values left, however unequal their shares. The metric assumes that the earlier release was made from the same original with the same "
    "roles; sfumato attack accepts other releases, and people who are in neither.",
    needs=frozenset({"sensitive", "original", "previous"}),
    parameters={
        "previous": "The earlier release, with its original if that is another table.",
        "previous_roles": "Its roles, if they differ.",
    },
)
def composition(
    release: Release,
    roles: Roles,
    *,
    previous: Release | None = None,
    previous_roles: Roles | None = None,
    sensitive: str | None = None,
    identity: str | None = None,
    control: Table | None = None,
    reveal: bool = False,
) -> Outcome:
    """Intersect what two releases say of the sensitive value of those who are in both.

    The adversary knows the quasi-identifiers of a person. In each release, the candidate values are those of the classes that cover
    them; the person's value is in both sets, so it is in what they share. It *falls* if one value is left and it is theirs. The
    baseline has the previous release only. Exact: people are counted by the sets that they meet, and each two sets are intersected once.

    Where people have several rows (the person column of the roles, or `identity`), the unit is the person, whose rows in either release
    are all known: their candidates there are what the classes of all their rows share, as if the value were one that a person keeps.
    One who has several values falls if the value left is one of them; where no value is left the rows contradict each other.

    `previous`   the earlier release (or that of another house), with its original if that is another table
    `sensitive`  the column; by default the only one, or the first that both releases have
    `identity`   the column that names people in both originals, by default the person column where people have several rows; without
                 it both releases must come from the same original
    `control`    people who are in neither release, with their quasi-identifiers and sensitive value: one candidate is left, and by chance
                 it is theirs
    `reveal`     name those whose value becomes certain (needs `identity`)

    Extremes: with the same release twice nothing is gained; 1 if the candidates of everybody share one value alone; 0 if everybody
    keeps two.
    """
    if previous is None:
        raise Unavailable("composition needs an earlier release; give it with --previous (or previous=...).")
    theirs = roles if previous_roles is None else previous_roles
    if reveal and identity is None:
        raise InputError("composition can only name people with a column that does; give identity (--identity).")
    both = _Both.of(release.evidence(roles), previous.evidence(theirs), sensitive, identity)
    now, before, column, people = both.now, both.before, both.column, both.people
    texts = both.domain(control)
    met = both.met(people, texts)
    attacked = int(people.n.sum())
    weigh = people.n.astype(np.float64)
    certain = met.certain
    fell = int(people.n[certain].sum())
    alone = [int(people.n[each].sum()) for each in (met.alone_now, met.alone_before)]
    rate = None
    if control is not None:
        others = outside(now, before, control, column, roles.person if identity is None else identity)
        rate = Rate.of(int(others.n[both.met(others, texts).certain].sum()), int(others.n.sum()))
    names = people.who if reveal else None
    details = MetCandidates(
        sensitive=column,
        people_in_both=attacked,
        certain=fell,
        certain_from_release=alone[0],
        certain_from_previous=alone[1],
        certain_only_together=int(people.n[certain & ~met.alone_now & ~met.alone_before].sum()),
        candidates_release=float(np.average(met.now, weights=weigh)),
        candidates_previous=float(np.average(met.before, weights=weigh)),
        candidates_together=float(np.average(met.both, weights=weigh)),
        contradicted=int(people.n[met.both == 0].sum()),
        misled=int(people.n[(met.both > 0) & ~met.holds].sum()),
        found=None if names is None else [names[0].texts[c] for c in np.unique(names[1][certain])],
    )
    return Outcome.of(
        float(fell),
        attacked,
        alone[1],
        knew=f"the quasi-identifiers of {attacked:,} people who are in both releases, and both releases",
        control=rate,
        sentence=f"Of {attacked:,} people in both releases, {fell:,} have their {column} told for certain, {details.certain_only_together:,} of them by neither release "
        f"alone; on average {about(details.candidates_together)} candidate values are left by both, and "
        f"{about(min(details.candidates_release, details.candidates_previous))} by the one that leaves fewer.",
        details=details,
    )


@composition.metric(title="exposed by composition", parameters={"previous": Name(), "identity": Words()})
def composition_exposed(evidence: Evidence, column: str, *, previous: str, identity: frozenset[str]) -> Outcome:
    """`people in both releases of whom the classes that cover them share one sensitive value, their own / people in both`.

    `previous` is the file of the earlier release; `identity` a column of the original that tells people apart, needed where both
    releases left people out. Extremes: as the earlier release alone if this one carries nothing; 0 if everybody keeps two candidates.
    """
    if len(identity) > 1:
        raise InputError("composition_exposed: identity is one column that tells people apart.")
    release, roles = evidence.release, evidence.roles
    earlier = _earlier_release(evidence, previous, evidence.original("composition_exposed"))
    return composition(release, roles, previous=earlier, sensitive=column, identity=next(iter(identity), None))


def _invariance(value: float) -> str:
    if value < 1:
        return (
            "This release is not m-invariant with the earlier one: somebody's class holds a value twice, or other values than their class "
            "did before."
        )
    return (
        f"Everybody in both releases has the same {whole(value):,} or more candidate values in both, all different, so the second release "
        "rules out none of them."
    )


@composition.metric(
    title="m-invariance",
    question="Do people who are in both releases keep the same candidate values?",
    unit="values",
    better="higher",
    bounds=(0, math.inf),
    source="Xiao, Tao 2007, def. 3 and 4",
    sentence=_invariance,
    misleads="It is strict: one class with a repeated value makes it 0, though an adversary may learn little. It says nothing of shares. "
    "Where people have several rows that nobody can join, a value is repeated if two people of a class have it, and a person's candidates are "
    "what the classes of all their rows share. People whose rows are joined are not counted in two releases.",
    people=True,
    parameters={"previous": Name(), "original": Words(), "identity": Words()},
)
def m_invariance(
    evidence: Evidence, column: str, *, previous: str, original: frozenset[str], identity: frozenset[str]
) -> Score:
    """The least `m` for which the release is m-unique (each class holds at least m rows, all of different values) and everybody in
    both releases has a class of the same values in both; 0 if a class repeats a value, or somebody's values changed.

    `previous` is the file of the earlier release, `original` the table that it was made of where that is another one; `identity` a column
    of both originals that tells people apart. Where people have several unlinked rows, m is the least of the different people of a class
    and of the candidates that are left of a person: with one row a person these are the same. Extremes: 0 for a class of two equal
    values, of two people; distinct l-diversity where all values of a class differ and both releases have the same classes.
    """
    from ..engines import read

    if len(identity) > 1 or len(original) > 1:
        raise InputError("m_invariance: identity is one column that tells people apart, and original one file.")
    source = read(Path(next(iter(original)))) if original else evidence.original("m_invariance")
    before = _earlier_release(evidence, previous, source).evidence(evidence.roles)
    both = _Both.of(evidence, before, column, next(iter(identity), None))
    met = both.met(both.people, both.domain(None))
    classes = evidence.classes(column)
    same = (met.now == met.both) & (met.before == met.both)
    repeated_values = evidence.people_of_values(column) > 1
    changed = int(both.people.n[~same].sum())
    details = {
        "people_in_both": int(both.people.n.sum()),
        "changed": changed,
        "classes_repeating": len(np.unique(classes.member[repeated_values])),
    }
    least = min(int(classes.people.min()), int(met.both.min()))
    return Score(0.0 if repeated_values.any() or changed else float(least), "values", details=details)


def _earlier_release(evidence: Evidence, previous: str, original: Table) -> Release:
    """The release in a file, its missing codes read as those of its original."""
    # here, so that the registry of metrics costs no engine
    from ..engines import read
    from ..engines.missing_codes import recognise

    roles = evidence.roles
    table = recognise(read(Path(previous)), original, quasi=roles.quasi, others=(*roles.sensitive, *roles.insensitive))
    return Release(table=table, original=original, pairing=evidence.release.pairing)


@dataclass(frozen=True, eq=False)
class _Both:
    """Two releases, the people in both and the sensitive column that both have."""

    now: Evidence
    before: Evidence
    originals: tuple[Table, Table]
    column: str
    people: People

    @classmethod
    def of(cls, now: Evidence, before: Evidence, sensitive: str | None, identity: str | None) -> _Both:
        column, person = _column(now, before, sensitive), now.roles.person
        original, earlier = now.original("composition"), _earlier(before, now.release.original)
        if identity is None and (repeated(original, person) or original is not earlier):
            identity = person if person in original.columns and person in earlier.columns else None
        people = in_both(now, before, original, earlier, column, identity)
        if not people.n.sum():
            raise Unavailable("composition: nobody is in both releases, so nothing can be put together.")
        return cls(now, before, (original, earlier), column, people)

    def domain(self, control: Table | None) -> Column:
        """The values that the sensitive column may have had in either original, or with people outside."""
        columns = []
        for table in (*self.originals, *([] if control is None else [control])):
            table.require_columns([self.column], "which composition needs")
            columns.append(table.count((self.column,)).columns[0])
        return encode(self.column, strings([text for c in columns for text in c.texts]))[0]

    def met(self, people: People, texts: Column) -> Met:
        """What both releases say of people, and whether it is their own value."""
        ours, at = people.now.sets(self.now, self.column, texts, len(people.n))
        theirs, there = people.before.sets(self.before, self.column, texts, len(people.n))
        code = texts.places(people.value)[people.code]
        return meet(ours, theirs, at, there, code, people.owner)


def _column(now: Evidence, before: Evidence, asked: str | None) -> str:
    for evidence in (now, before):
        release = evidence.release
        if release.statistics:
            raise Unavailable(
                "composition looks up classes of people, and one of the releases holds statistics instead."
            )
        noisy = [name for name in evidence.roles.quasi if name in release.perturbed]
        if noisy:
            raise Unavailable(
                f"composition looks up which classes cover a person, and {noisy[0]!r} was perturbed in {release.table.name}."
            )
    names = [asked] if asked is not None else [n for n in now.roles.sensitive if n in before.roles.sensitive]
    if not names:
        raise Unavailable("composition needs a sensitive column that both releases have; name it as sensitive.")
    for evidence in (now, before):
        release = evidence.release
        if names[0] in release.perturbed and release.joined_by is None:
            raise Unavailable(
                f"composition intersects candidate values, and {names[0]!r} was perturbed in {release.table.name}, so that "
                "classes need not hold the true ones."
            )
    return names[0]


def _earlier(before: Evidence, original: Table | None) -> Table:
    return original if before.release.original is None and original is not None else before.original("composition")
