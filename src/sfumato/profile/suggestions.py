"""A role for each column with a reason, to be edited by the owner: cautious, and never with a value of the table.

What others may know of a person is quasi unless something speaks against it; what nobody may learn is sensitive; what
names or numbers a person, and free text, never leaves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..core import ladders
from ..core.column import Column, IntArray
from ..core.noun import dataclass
from ..core.roles import Roles
from . import name_lexicon as words
from .kinds import Guess, direct
from .name_lexicon import Role
from .personal_texts import personal
from .sentinels import Sentinels

_ENOUGH = 100
"""Rows from which on the number of values says something."""
_TELLING = 0.3
"""Distinct values over rows from which on a column tells rows apart."""


@dataclass(frozen=True)
class ProfiledColumn:
    """A column as it was looked at: `column` has its distinct values, or those of a sample."""

    name: str
    guess: Guess
    column: Column
    distinct: int
    missing: int
    rows: int
    n: IntArray
    """The rows of each value of `column`, missing last."""
    codes: Sentinels | None = None
    """What looks like codes for missing; `column` is without them."""
    known_as: str = ""
    """What the file says of the column, where its name says nothing and that does."""

    @property
    def concept(self) -> words.Concept | None:
        """What it is named after."""
        return words.concept(self.known_as or self.name)

    @property
    def share(self) -> float:
        """Distinct values over rows that have one."""
        return self.distinct / max(self.rows - self.missing, 1)

    @property
    def alike(self) -> bool:
        """Whether the rows, more than one, have the same value, or none has one: of a single row everything tells."""
        return self.guess.kind == "constant" and (self.rows != 1 or self.missing > 0)


@dataclass(frozen=True)
class Suggestion:
    """A role and why."""

    role: Role
    reason: str


def suggest(seen: Sequence[ProfiledColumn], quasi: Sequence[str] | None = None) -> dict[str, Suggestion]:
    """A suggestion for each column; `quasi` is the owner's word on which ones are the quasi-identifiers."""
    suggestions = {column.name: _labelled(column, _suggest(column)) for column in seen}
    repeated = [column for column in seen if suggestions[column.name].role == "person"]
    for column in sorted(repeated, key=lambda c: -c.distinct)[1:]:  # one person column: the finest
        suggestions[column.name] = Suggestion(
            "identifiers", "it numbers people or groups, and another column does so more finely"
        )
    for column in [column for column in seen if suggestions[column.name].role == "household"][1:]:
        suggestions[column.name] = Suggestion("identifiers", "it numbers households, and another column does so, too")
    weights = [column for column in seen if suggestions[column.name].role == "weight"]
    for column in weights[1:]:
        suggestions[column.name] = Suggestion("identifiers", f"it is a survey weight beside {weights[0].name!r}")
    _one_role_a_family(seen, suggestions)
    if quasi is not None:
        for name, said in suggestions.items():
            if name in quasi:
                suggestions[name] = Suggestion("quasi", "the owner named it as a quasi-identifier")
            elif said.role == "quasi":
                suggestions[name] = _left_over(next(column for column in seen if column.name == name))
    return suggestions


def _one_role_a_family(seen: Sequence[ProfiledColumn], suggestions: dict[str, Suggestion]) -> None:
    """Give columns that differ by a number at the end, bill_1 to bill_6, the most careful role of theirs that can be released.

    What names or numbers people, and texts, stay out of it.
    """
    families: dict[tuple[str, ...], list[ProfiledColumn]] = {}
    for column in seen:
        stem = words.tokens(column.name)
        kept_back = (
            suggestions[column.name].role in ("identifiers", "person", "household", "weight")
            and column.guess.kind != "identifier"
        )
        if len(stem) > 1 and stem[-1].isdigit() and not kept_back and column.column.numbers is not None:
            families.setdefault(stem[:-1], []).append(column)
    for family in families.values():
        roles = {suggestions[column.name].role for column in family}
        role = next((role for role in ("sensitive", "quasi") if role in roles), None)
        if len(roles) > 1 and role is not None:
            first = next(column.name for column in family if suggestions[column.name].role == role)
            for column in family:
                if suggestions[column.name].role != role:
                    suggestions[column.name] = Suggestion(role, f"it belongs to one family with {first!r}")


def named(roles: Roles | None) -> dict[str, Suggestion]:
    """What the owner's roles file says, which no suggestion overrules."""
    if roles is None:
        return {}
    by_role: dict[Role, Sequence[str]] = {
        "identifiers": roles.identifiers,
        "household": () if roles.household is None else (roles.household,),
        "insensitive": roles.insensitive,
        "sensitive": roles.sensitive,
        "quasi": roles.quasi,
        "person": () if roles.person is None else (roles.person,),
        "weight": () if roles.weight is None else (roles.weight,),
    }
    return {name: Suggestion(role, "your roles file says so") for role, names in by_role.items() for name in names}


def _labelled(seen: ProfiledColumn, suggestion: Suggestion) -> Suggestion:
    """The same, its reason by the label where that was telling."""
    return (
        replace(suggestion, reason=suggestion.reason.replace("its name says", "its label says"))
        if seen.known_as
        else suggestion
    )


def _suggest(seen: ProfiledColumn) -> Suggestion:
    """The name before the values: a column that tells nobody apart can still name people, or tell of all at once."""
    kind, concept = seen.guess.kind, seen.concept
    if kind == "text":
        return Suggestion("identifiers", "free text can contain anything, including names, so it is never released")
    if concept is words.NUMBER and seen.share < 0.9 and seen.distinct > 1:
        return Suggestion(
            "person", "its name says that it numbers people, and numbers repeat: some people have several rows"
        )
    if concept is words.HOUSEHOLD and seen.share < 0.9 and seen.distinct > 1:
        return Suggestion("household", concept.why)
    if concept is not None and concept.role == "weight":
        if weighs(seen):
            return Suggestion("weight", concept.why)
        return Suggestion("identifiers", f"{concept.why}; but not each of its values is a number of at least 0")
    if concept is not None and concept.role == "identifiers":
        return Suggestion("identifiers", concept.why)
    if kind == "identifier":
        return Suggestion("identifiers", f"{seen.guess.reason}, which points at one person")
    if kind == "constant" and (what := direct(seen.column)) is not None:
        return Suggestion("identifiers", f"the values look like {what}, which point at one person")
    if (inside := personal(seen.column)) is not None:
        what, texts = inside
        return Suggestion(
            "identifiers", f"{texts:,} of its texts {'holds' if texts == 1 else 'hold'} {what}, so it is never released"
        )
    if seen.alike and seen.missing < seen.rows and concept is not None and concept.role == "sensitive":
        return Suggestion(
            "sensitive",
            f"{concept.why}; everyone has the same value, so anyone known to be in the table is known to have it",
        )
    if seen.alike:
        return Suggestion("insensitive", f"{seen.guess.reason}, so it distinguishes no rows")
    if concept is not None:
        said = why(seen.known_as or seen.name, kind)
        if concept.role == "insensitive" and telling(seen):
            return Suggestion("quasi", f"{_many(seen)}, which distinguish rows, whatever its name says")
        return Suggestion(concept.role, said)
    if kind == "numeric" and telling(seen):
        return Suggestion(
            "quasi", f"{_many(seen)}, which distinguish rows: anyone who has one from elsewhere finds the row"
        )
    if kind == "date" and _timed(seen):
        return Suggestion("quasi", "exact times distinguish rows, and people nearby know them")
    return Suggestion("quasi", why(seen.known_as or seen.name, kind))


def weighs(seen: ProfiledColumn) -> bool:
    """Whether each row has a number of at least 0."""
    numbers = seen.column.numbers
    return numbers is not None and not seen.missing and bool((numbers >= 0).all())


def telling(seen: ProfiledColumn) -> bool:
    """Whether a column has so many values that it tells rows apart by itself: it is never called insensitive."""
    return seen.rows >= _ENOUGH and seen.share >= _TELLING


def _many(seen: ProfiledColumn) -> str:
    return f"it has {seen.distinct:,} different values in {seen.rows - seen.missing:,} rows"


def _timed(seen: ProfiledColumn) -> bool:
    """Whether dates come with a time of day."""
    texts = [text for text in seen.column.texts[:1000] if text is not None]
    return bool(texts) and sum(":" in text for text in texts) > 0.5 * len(texts)


def _left_over(seen: ProfiledColumn) -> Suggestion:
    """A column that the owner does not count among the quasi-identifiers; one that tells rows apart stays in the house all the same."""
    words = "the owner did not name it as a quasi-identifier"
    if telling(seen):
        return Suggestion(
            "identifiers", f"{words}, but {_many(seen)}, which distinguish rows: keep it back, or make it quasi"
        )
    return Suggestion("insensitive", words)


def why(name: str, kind: str) -> str:
    """Why others know a column, or must not: by its name, else by the kind of its values."""
    concept = words.concept(name)
    if concept is not None and not (concept is words.EVENT and kind == "category"):  # a yes or no tells no time
        return concept.why
    return words.EVENT.why if kind == "date" else "others may know it, so assume that they do"


def roles(seen: Sequence[ProfiledColumn], suggestions: Mapping[str, Suggestion]) -> Roles:
    """The suggestions as roles, with hierarchies for the quasi-identifiers and orders that were recognised."""
    named: dict[Role, tuple[str, ...]] = {}
    for c in seen:
        named[suggestions[c.name].role] = (*named.get(suggestions[c.name].role, ()), c.name)
    hierarchies = {c.name: hierarchy(c) for c in seen if suggestions[c.name].role == "quasi"}
    orders = {
        c.name: c.guess.order
        for c in seen
        if c.guess.order and suggestions[c.name].role in ("quasi", "sensitive") and c.column.rank() is None
    }
    return Roles(
        quasi=named.get("quasi", ()),
        sensitive=named.get("sensitive", ()),
        identifiers=named.get("identifiers", ()),
        insensitive=named.get("insensitive", ()),
        person=next(iter(named.get("person", ())), None),
        household=next(iter(named.get("household", ())), None),
        weight=next(iter(named.get("weight", ())), None),
        survey={"weights": "calibrated"} if named.get("weight") else {},
        hierarchies=hierarchies,
        orders=orders,
        reading={"missing": {c.name: c.codes.codes for c in seen if c.codes}} if any(c.codes for c in seen) else {},
        source="the suggested roles",
    )


def hierarchy(seen: ProfiledColumn) -> dict[str, Any]:
    """A rule that builds on the column as it is."""
    kind, column = seen.guess.kind, seen.column
    if kind == "date" and not column.dates:
        return {"suppress": True}
    if kind == "category" and column.numbers is not None and seen.distinct > 2:
        return {"nominal": True}
    if kind in ("ordinal", "identifier", "constant") and column.numbers is not None:
        kind = "numeric"
    return ladders.suggest(column, kind, seen.n)


def notes(seen: Sequence[ProfiledColumn], suggestions: Mapping[str, Suggestion], *, owned: bool = False) -> list[str]:
    """What the owner should know beyond the columns' own reasons."""
    said = []
    if not any(suggestion.role == "sensitive" for suggestion in suggestions.values()):
        said.append(
            "No column name looks sensitive. Name the columns that nobody may learn; otherwise only identity is protected."
        )
    if codes := [c.codes for c in seen if c.codes is not None]:
        said += [each.sentence for each in codes]
        said.append(
            "Sfumato reads no such code as missing by itself. "
            + (
                "Name those that mean it under [reading.missing] in your roles, or with --missing."
                if owned
                else "The suggested roles do, under [reading.missing]; take out there what is a value. Without roles: --missing."
            )
        )
    if dates := [repr(c.name) for c in seen if c.guess.kind == "date" and not c.column.dates]:
        said.append(
            f"Dates in {', '.join(dates)} are not written YYYY-MM-DD. Rewrite them to coarsen them by the calendar."
        )
    return said
