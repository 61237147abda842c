"""What mechanisms that steer by requirements on classes share: `k` and `require`, what they refuse, and how they begin."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ...core.counts import Counts
from ...core.errors import InputError
from ...core.mechanism import Mechanism, check_require, check_whole
from ...core.metric import Requirement, check_counted
from ...core.release import Release, recoded
from ...core.roles import Roles
from ...core.table import Recoding, Table
from ...metrics.privacy.k_anonymity import k_anonymity
from ...search.required_columns import sensitive_columns


class Steered(Mechanism):
    """Subclasses are frozen dataclasses with these two fields among theirs."""

    k: int | None
    require: tuple[Requirement, ...]

    def honours(self, requirement: Requirement) -> bool:
        """Any requirement on classes; what looks at whom a class covers of a population, if the mechanism takes one."""
        card = requirement.metric.card
        return card.steers or (card.scope == "class" and hasattr(self, "population"))

    @property
    def looked_at(self) -> Table | None:
        """The population, if one is given and a promise asks for it."""
        cards = (requirement.metric.card for requirement in self.promises)
        asked = any(card.covers or "population" in card.needs for card in cards)
        return getattr(self, "population", None) if asked else None

    @property
    def promises(self) -> tuple[Requirement, ...]:
        """k and the requirements."""
        return (*((k_anonymity.at_least(self.k),) if self.k is not None else ()), *self.require)

    def check_steering(
        self, *whole: str, cannot: str = "it looks at the whole table or a population, not at a class alone"
    ) -> None:
        """Refuse what cannot be honoured, and numbers (k and those named) that are not whole or below 1."""
        check_whole(self, "k", *whole)
        check_require(self, cannot)

    def count(self, table: Table, roles: Roles, also: Iterable[str] = ()) -> tuple[Counts, tuple[str, ...]]:
        """The quasi-identifiers counted with the sensitive columns that the promises look at, and which these are.

        `also` are columns to count besides; where people are counted, their column stands last.
        """
        self.check_asked(roles)
        roles.check(table.columns, where=table.name, need=("identifiers", "quasi", "sensitive", "insensitive"))
        split = sensitive_columns((requirement.metric for requirement in self.promises), roles)
        person = (str(roles.owner),) if roles.unlinked else ()
        counts = table.count_some((*roles.quasi, *split, *(name for name in also if name not in split), *person))
        return counts, split

    def check_asked(self, roles: Roles) -> None:
        """Refuse where there is nothing to meet, nothing to form classes of, or something that cannot be counted."""
        if not self.promises:
            raise InputError(
                f"{self.card.name} needs something to meet: set k, or require for example k_anonymity >= 5."
            )
        roles.check_quasi()
        check_counted(self.promises, roles, self.card.name)
        if roles.linked and self.looked_at is not None:
            raise InputError(
                f'{self.card.name}: whom of a population linked people cover is not counted (rows = "linked" in {roles.source}); leave the '
                "population out."
            )

    def released(self, table: Table, roles: Roles, recoding: Recoding, notes: tuple[str, ...] = ()) -> Release:
        """The table recoded, as this mechanism's release."""
        return self.with_population(
            recoded(table, roles, recoding, made_by=self.card.name, parameters=self.settings(), notes=notes)
        )

    def with_population(self, release: Release) -> Release:
        """The release to be measured against the population that its classes were formed against, and a note that says so."""
        population = self.looked_at
        if population is None:
            return release
        note = f"Classes were formed against a population of {population.rows:,} people."
        return replace(release, population=population, notes=(*release.notes, note))
