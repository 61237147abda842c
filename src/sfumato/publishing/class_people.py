"""The people behind the classes of a release: counted where it is known which row is whose, and else bounded from below.

A class of six rows may hold two patients. Where the original numbers its people and the pairs of rows are known, the people of each
class are counted. Where they are not, a class holds at least as many people as it takes to fill it, if those with most rows do.
"""

from __future__ import annotations

import numpy as np

from ..core.column import IntArray
from ..core.errors import InputError, Unavailable
from ..core.metric import Requirement, spell_number
from ..core.noun import dataclass
from ..core.people import Repeated, several_rows
from ..core.person_weights import fewest_people
from ..core.release import Evidence, Release
from ..core.roles import Roles
from ..core.words import counted


@dataclass(frozen=True, eq=False)
class ClassPeople:
    """For each class of a release its rows and its people, in the order of `Evidence.tuples`; linked people by all their rows."""

    repeated: Repeated
    rows: IntArray
    people: IntArray
    exact: bool
    """Whether they were counted; else there are at least so many."""

    @property
    def sentence(self) -> str:
        """Rows and people of the smallest classes, both."""
        how = "" if self.exact else ", since which row is whose is not known"
        sure = "holds" if self.exact else "may hold only"
        return (
            f"{self.repeated.sentence} Each class has at least {counted(int(self.rows.min()), 'row')}; the one with fewest people "
            f"{sure} {counted(int(self.people.min()), 'person', 'people')}{how}."
        )

    def to_dict(self) -> dict[str, object]:
        """JSON-ready."""
        return {
            "column": self.repeated.column,
            "rows": self.repeated.rows,
            "people": self.repeated.people,
            "fewest_rows_of_a_class": int(self.rows.min()),
            "fewest_people_of_a_class": int(self.people.min()),
            "exactness": "exact" if self.exact else "bound",
        }


def class_people(release: Release, roles: Roles) -> ClassPeople | None:
    """Rows and people of each class; None where no original shows several rows a person, or the release has no classes.

    Where the rows of a person are joined, the release shows them by itself.
    """
    evidence = release.evidence(roles)
    release, original = evidence.release, evidence.release.original
    if roles.linked and {*roles.quasi, roles.person} <= {*release.table.columns} and roles.quasi:
        return _linked(release, roles)
    if original is None or not _has_classes(release, roles):
        return None
    repeated = several_rows(original, roles)
    if repeated is None or not len(evidence.tuples):
        return None
    rows = evidence.tuples.n
    if roles.unlinked and repeated.named:
        return ClassPeople(repeated, rows, evidence.people, exact=not evidence.people_are_bounds)
    if release.recoding is None and release.pairing == "none" and repeated.column not in release.table.columns:
        times = original.count((repeated.column,)).n
        fewest = np.minimum(fewest_people(rows, times), len(times))
        return ClassPeople(repeated, rows, fewest, exact=False)
    member, _, _, _ = evidence.held(repeated.column, "counting people")  # an entry for each class and person
    return ClassPeople(repeated, rows, np.bincount(member, minlength=len(rows)).astype(np.int64), exact=True)


def _linked(release: Release, roles: Roles) -> ClassPeople | None:
    """By the numbers in the release, which join the rows of a person there."""
    evidence = release.evidence(roles).by_history(rows_apart=False)
    rows = release.table.count((str(roles.person),)).n
    if not len(rows):
        return None
    repeated = Repeated(str(roles.person), int(rows.sum()), len(rows), int(rows.max()), named=True)
    return ClassPeople(repeated, evidence.tuples.n, evidence.people, exact=True)


def fails_people(requirement: Requirement, release: Release, roles: Roles, people: ClassPeople) -> str | None:
    """Why a requirement that holds of rows does not hold of people, or is not known to; None where it does.

    What looks at the size of a class is asked again with the people of each class. It lies between its values for the rows and for the
    fewest people, so it holds where both do. What counts sensitive values counts those of one person as if they were of several; it
    holds where no class has two rows of a person.
    """
    card = requirement.metric.card
    if (
        card.about != "privacy"
        or card.unit == "columns"
        or (roles.counts_people and (card.counts_people or card.joins))
    ):
        return None
    why = "" if people.exact else " It is not known which row is whose: --pair tells."
    may = "does not" if people.exact else "may not"
    if "sensitive" in card.needs:
        several = int((people.people < people.rows).sum())
        hold = "hold" if people.exact else "may hold"
        return (
            None
            if not several
            else f"{requirement} counts rows and {may} hold of people: {several:,} of {counted(len(people.rows), 'class', 'classes')} {hold} "
            f"several rows of one person, by {people.repeated.column!r}.{why}"
        )
    by_people = Evidence(release, roles)
    by_people.__dict__["tuples"] = release.evidence(roles).tuples
    by_people.__dict__["people"] = people.people
    score = requirement.metric.score(by_people)
    if requirement.holds(score.value):
        return None
    classes = ""
    if score.per_class is not None and len(score.per_class) == len(people.rows):
        missed = int((~requirement.passes(score.per_class)).sum())
        classes = f" in {missed:,} of {counted(len(people.rows), 'class', 'classes')}"
    return (
        f"{requirement} holds of rows and {may} hold of people{classes}: by {people.repeated.column!r}, measured "
        f"{spell_number(round(score.value, 10))} ({'exact' if people.exact else 'bound'}).{why}"
    )


def counted_sentence(release: Release, roles: Roles, people: ClassPeople | None) -> str:
    """What the classes of a release count, rows or people; an empty text where it has none. Rows are only called people where that is known."""
    if people is not None:
        return people.sentence
    if not _has_classes(release, roles):
        return ""
    tuples = release.evidence(roles).tuples
    if not len(tuples):
        return ""
    rows = f"Each class has at least {counted(int(tuples.n.min()), 'row')}"
    if roles.counts_households and release.original is not None:
        fewest = int(release.evidence(roles).people.min())
        return f"{rows}, of at least {counted(fewest, 'different household')}, by {roles.household!r}."
    chosen = None if release.original is None else release.original.chosen
    if chosen is not None:
        return f"{rows}, each of another person, by {roles.person!r}. {chosen.sentence}"
    if release.original is not None and roles.person is not None and roles.person in release.original.columns:
        return f"{rows}, each of another person, by {roles.person!r}."
    if roles.one_row_per_person:
        return f"{rows}, each of another person, as {roles.source} says."
    return f"{rows}. Rows are counted, and nothing says that each is of another person; one_row_per_person = true in [roles] does."


def _has_classes(release: Release, roles: Roles) -> bool:
    """Whether rows share quasi-identifiers that mean something: all are there, and none was perturbed."""
    quasi = set(roles.quasi)
    return bool(quasi) and not release.statistics and quasi <= {*release.table.columns} - release.perturbed


def people_note(release: Release, roles: Roles) -> str | None:
    """One note for whatever looks at a release: rows and people, both, where a column repeats like a person's number."""
    try:
        people: ClassPeople | Repeated | None = class_people(release, roles)
    except (InputError, Unavailable):  # rows that cannot be paired: whoever needs the pairs says so
        people = None
    release = release.one_row_each(roles)
    if release.original is not None and release.original.chosen is not None:
        return release.original.chosen.sentence
    people = people or several_rows(release.original or release.table, roles)
    if people is None:
        return None
    how = (
        "Measures of privacy count people, attacks count rows"
        if roles.counts_people
        else "A figure in rows is not one in people"
    )
    return f"{people.sentence} {how}."
