"""A mechanism made of mechanisms: what a link releases is the table of the next one.

Each released value covers the original one, since each link's covers what it was given. The recodings are put together, so that losses
are measured from the original; every link's promises are measured again on the last release.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

from .arrow import strings, take
from .errors import InputError
from .mechanism import Mechanism, MechanismCard, Progress
from .metric import Requirement
from .noun import dataclass
from .pseudonyms import unnamed
from .randomness import SEEDED, Rng
from .release import Release
from .roles import Roles
from .table import Recoding, Table


@dataclass(frozen=True)
class Chain(Mechanism):
    """`hipaa | mondrian k=11`: links one after the other."""

    links: tuple[Mechanism, ...]

    def __post_init__(self) -> None:
        for before, link in pairwise(self.links):
            if link.card.private and not before.card.private:
                raise InputError(
                    f"{link.card.name} cannot follow {before.card.name}: differential privacy hides the rows that it is given, not what "
                    f"{before.card.name} told of them; put {link.card.name} first."
                )
        for link in self.links[:-1]:
            if link.card.place == "last":
                raise InputError(f"Nothing can follow {link.card.name}: it does not release whole rows.")
        for link in self.links[1:]:
            if link.card.place == "first":
                raise InputError(f"{link.card.name} must be the first link: it reads columns that are never released.")

    @property
    def card(self) -> MechanismCard:  # type: ignore[override]
        """What the links' cards say together."""
        cards = [link.card for link in self.links]
        chances = {card.chance for card in cards}
        return MechanismCard(
            name=" | ".join(card.name for card in cards),
            title=", then ".join(card.title for card in cards),
            promise="; ".join(f"{card.name}: {card.promise}" for card in cards),
            against="; ".join(f"{card.name}: {card.against}" for card in cards),
            cost="; ".join(f"{card.name}: {card.cost}" for card in cards),
            source="; ".join(dict.fromkeys(card.source for card in cards)),
            parameters={f"{card.name}.{key}": text for card in cards for key, text in card.parameters.items()},
            people=all(link.card.people or not link.refuses_several_rows for link in self.links),
            links=all(card.links for card in cards),
            samples=any(card.samples for card in cards),
            chance="always" if "always" in chances else "some" if "some" in chances else "none",
            private=cards[0].private,
        )

    @property
    def refuses_several_rows(self) -> bool:  # type: ignore[override]
        """Whether a link does; after differential privacy to look at the rows would tell of them."""
        return not self.links[0].card.private and any(link.refuses_several_rows for link in self.links)

    @property
    def promises(self) -> tuple[Requirement, ...]:
        """Those of all links."""
        return tuple(dict.fromkeys(requirement for link in self.links for requirement in link.promises))

    def honours(self, requirement: Requirement) -> bool:
        """Whether the last link can steer by it."""
        return self.links[-1].honours(requirement)

    def against(self, population: Table | None) -> Chain:
        """The same chain, each link told of the population."""
        return Chain(tuple(link.against(population) for link in self.links))

    def settings(self) -> dict[str, Any]:
        """The parameters of each link: `mondrian.k`."""
        names = [link.card.name for link in self.links]
        places = [name if names.count(name) == 1 else f"{name} {i + 1}" for i, name in enumerate(names)]
        return {
            f"{place}.{key}": value
            for place, link in zip(places, self.links, strict=True)
            for key, value in link.settings().items()
        }

    @staticmethod
    def _told(link: Mechanism) -> bool:
        """Whether the owner gave the link a population."""
        return getattr(link, "population", None) is not None

    def _about(self) -> list[str]:
        return [" ".join([link.card.name, *link._about()]) for link in self.links]

    def sanitize(self, table: Table, roles: Roles, rng: Rng, *, progress: Progress) -> Release:
        """Sanitize link by link."""
        made: Release | None = None
        given, inside = table, unnamed(roles)
        notes: list[str] = []
        everybody: Table | None = None
        for i, link in enumerate(self.links):

            def share(done: float, i: int = i) -> None:
                progress((i + done) / len(self.links))

            link = link if self._told(link) else link.against(everybody)
            release = link(given, inside, rng, progress=share)
            if link.card.samples and release.population is not None and not self.card.private:
                everybody = release.population if self._told(link) else table
            if link is not self.links[-1]:
                given = _handed_on(given, inside, release, link)
                inside = _left(inside, given)
            notes += [
                note if note == SEEDED else f"Link {i + 1}, {link.card.name}: {note}"
                for note in release.notes or (f"done with {', '.join(link._about()) or 'its defaults'}.",)
            ]
            made = release if made is None else _joined(table, roles, made, release)
        assert made is not None
        return replace(
            made,
            original=table,
            population=made.population if everybody is None else everybody,
            made_by=self.card.name,
            parameters=self.settings(),
            notes=tuple(dict.fromkeys(notes)),
        )


def _handed_on(table: Table, roles: Roles, release: Release, link: Mechanism) -> Table:
    """The released rows for the next link; where people are counted that no column of a release joins, with whose each row is."""
    keys = [key for key in (roles.person, roles.household) if key in table.columns and key not in release.table.columns]
    if not roles.unlinked or not keys or release.neighbours is not None:
        return release.table
    names = release.table.columns
    if release.recoding is None or not {*names} <= {*table.columns}:
        raise InputError(
            f"{link.card.name} does not tell whose its rows are, so that no link after it can count people; let it be the last link."
        )
    owned = table.keep(tuple(dict.fromkeys((*names, *release.recoding.by, *keys)))).recode(release.recoding)
    return owned.keep((*names, *keys))


def _left(roles: Roles, table: Table) -> Roles:
    """The roles of the columns that are still there; where one row a person was made, or rows were drawn anew, each row is another person."""
    alone = roles.row_choice is not None or (
        bool(roles.people) and not {roles.person, roles.household} & {*table.columns}
    )
    return replace(
        roles,
        people={} if alone else roles.people,
        one_row_per_person=roles.one_row_per_person or alone,
        identifiers=tuple(name for name in roles.identifiers if name in table.columns),
        insensitive=tuple(name for name in roles.insensitive if name in table.columns),
        person=roles.person if roles.person in table.columns else None,
        household=roles.household if roles.household in table.columns else None,
        guarding=roles.guarding if roles.guarding in table.columns else None,
    )


def _joined(table: Table, roles: Roles, first: Release, second: Release) -> Release:
    """The second release, its recoding that of the original.

    What is made of a release with differential privacy has it, too (post-processing); where both links spend, their epsilons and deltas add up.
    """
    if first.neighbours is not None:
        both = Fraction(first.epsilon or 0) + Fraction(second.epsilon or 0)
        second = replace(
            second,
            neighbours=first.neighbours,
            drawn=first.drawn | second.drawn,
            epsilon=both,
            delta=first.delta + second.delta,
        )
        return replace(second, recoding=None, perturbed=first.perturbed | second.perturbed)
    recoding = None
    if first.recoding is not None and second.recoding is not None:
        recoding = _composed(table, roles, first.recoding, second.recoding)
    return replace(second, recoding=recoding, perturbed=first.perturbed | second.perturbed)


def _composed(table: Table, roles: Roles, first: Recoding, second: Recoding) -> Recoding:
    """What each original tuple becomes by both."""
    by = tuple(dict.fromkeys((*first.by, *(name for name in second.by if name in table.columns))))
    to = tuple(dict.fromkeys((*first.to, *second.to)))
    seen = list(dict.fromkeys((*roles.released(table.columns), *by)))
    # the copies come last: where a tuple is divided, its rows go by the columns that the links saw
    both = table.keep(seen).copied({f"original.{name}": name for name in by}).recode(first).recode(second)
    counts = both.count((*(f"original.{name}" for name in by), *to))
    arrays = [
        take(column.values if i < len(by) else strings([t for t in column.texts if t is not None]), codes)
        for i, (column, codes) in enumerate(zip(counts.columns, counts.codes, strict=True))
    ]
    return Recoding.of(by, to, arrays, counts.n, divides=True)
