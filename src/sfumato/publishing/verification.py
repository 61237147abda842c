"""What a written release is found to be: every requirement measured again from the file, and nothing in it that must stay in the house."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

from ..core.metric import Requirement, Verdict
from ..core.noun import dataclass
from ..core.release import Release
from ..core.roles import Roles
from ..core.survey_weights import problem_of
from ..core.table import Table
from ..core.words import counted
from ..engines.formula_escapes import plain
from ..profile.free_columns import Finding, refusal, waived_sentences
from ..profile.free_release import free_of_release
from .class_people import ClassPeople, class_people, counted_sentence, fails_people
from .waivers import Waivers


@dataclass(frozen=True)
class Verification:
    """What a published file was found to be: a verdict per requirement, and what should not be in it at all."""

    verdicts: tuple[Verdict, ...]
    problems: tuple[str, ...]
    findings: tuple[Finding, ...] = ()
    """What columns give away that no requirement limits."""
    waive: Waivers = field(default_factory=dict)
    people: ClassPeople | None = None
    """Rows and people of each class, where the original shows several rows a person."""
    counted: str = ""
    """What the classes count, rows or people, in a sentence."""
    recipient: Verification | None = None
    """What a recipient of a package finds, who has the file and the roles beside it, and not the original."""

    @property
    def met(self) -> bool:
        """Whether every requirement is met, and nothing is in the file that must stay in the house or that nobody answers for."""
        alone = not self.problems and not self.open and all(verdict.met for verdict in self.verdicts)
        return alone and (self.recipient is None or self.recipient.met)

    @property
    def open(self) -> tuple[Finding, ...]:
        """The findings that no waiver covers."""
        return tuple(finding for finding in self.findings if not self.waive.keys() & set(finding.columns))

    @property
    def reasons(self) -> list[str]:
        """Why it is not met, a sentence each, and what can be done about columns that nothing limits."""
        sentences = [
            *self.problems,
            *(f"{verdict}." for verdict in self.verdicts if not verdict.met),
            *refusal(self.open),
            *(self.recipient.reasons if self.recipient is not None else ()),
        ]
        return list(dict.fromkeys(sentences))

    @property
    def waived(self) -> list[str]:
        """The waivers with what each covers, in sentences."""
        return waived_sentences(self.findings, self.waive)


def verify(
    published: Table,
    roles: Roles,
    require: Sequence[Requirement],
    *,
    original: Table | None = None,
    population: Table | None = None,
    perturbed: frozenset[str] = frozenset(),
    waive: Waivers | None = None,
    neutralise_formulas: bool = False,
) -> Verification:
    """Measure a published table and compare with what is required of it; nothing else is trusted.

    One that was written with `neutralise_formulas` is measured as it was before.
    """
    published = plain(published) if neutralise_formulas else published
    release = Release(table=published, original=original, population=population, perturbed=perturbed)
    return verify_release(release, roles, require, waive=waive)


def verify_release(
    release: Release,
    roles: Roles,
    require: Sequence[Requirement],
    *,
    waive: Waivers | None = None,
    made: Release | None = None,
) -> Verification:
    """The same where more is known of a release: its companions, what joins them, how it was `made`."""
    release, made = release.one_row_each(roles), None if made is None else made.one_row_each(roles)
    house = dict.fromkeys(roles.identifiers, "an identifier")
    if roles.person is not None and not roles.linked:
        house[roles.person] = "an identifier"
    if roles.household is not None:
        house[roles.household] = "the household column"
    if roles.guarding is not None:
        house[roles.guarding] = "the guarding column"
    problems = [
        f"{published.name}: column {name!r} is {what} in {roles.source} and is still there."
        for published in (release.table, *release.companions.values())
        for name, what in house.items()
        if name in published.columns
    ]
    problems += _old_numbers(made or release, roles)
    waive = dict(waive or {})
    if roles.weight not in waive and (problem := problem_of(release.table, roles)) is not None:
        problems.append(problem)
    verdicts = tuple(requirement.check(release, roles) for requirement in require)
    paired = made or release
    people = class_people(paired, roles)
    if people is not None:
        broken = (fails_people(verdict.requirement, paired, roles, people) for verdict in verdicts if verdict.met)
        problems += [problem for problem in broken if problem is not None]
    return Verification(
        verdicts,
        tuple(problems),
        free_of_release(paired, roles, waive).findings,
        waive,
        people,
        counted_sentence(paired, roles, people),
    )


def _old_numbers(release: Release, roles: Roles) -> list[str]:
    """What is wrong with the numbers that join a person's rows: one that a person has in the original is not a fresh one."""
    original, person = release.original, roles.person
    if not roles.linked or person is None or person not in release.table.columns:
        return []
    if original is None or person not in original.columns:
        return []
    old = set(original.count((person,)).columns[0].texts)
    there = sum(text in old for text in release.table.count((person,)).columns[0].texts)
    if not there:
        return []
    return [
        f"{release.table.name}: column {person!r} still has {counted(there, 'number')} of the original; rows are to be joined by fresh random ones."
    ]
