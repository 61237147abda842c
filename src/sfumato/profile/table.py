"""Look at a table: what each column holds, which role suits it and why, and who stands out on which columns.

    profile = sf.profile(sf.read("people.csv"))
    profile.combinations[0]          # the worst: most unique rows
    Path("roles.toml").write_text(profile.toml())

The rows stay where they are; what comes back are counts, and no value of the table stands in the result. The one
exception is `[orders]` of the roles file, which has to spell the levels of a recognised order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..core.column import Column
from ..core.errors import InputError
from ..core.noun import Sheet, dataclass
from ..core.people import PEOPLE_ROWS, Repeated, named_as_number, numbered_by, several_rows
from ..core.roles import Roles
from ..core.source import Source, as_table
from ..core.table import Table
from ..core.variable import Variable
from ..core.words import counted, percent
from . import name_lexicon, suggestions
from .kinds import Guess, Kind, kind, sample_counts
from .name_lexicon import Role
from .orders import MOST_LEVELS
from .proposals import proposals
from .role_settlement import settle
from .sentinels import sentinels
from .suggestions import ProfiledColumn
from .uniqueness import Addition, Combination, uniqueness

VALUES = 100_000  # distinct values of one column that are looked at one by one; beyond it, a sample is
SAMPLE = 2_000

__all__ = ["Addition", "ColumnProfile", "Combination", "Profile", "profile", "suggest_roles"]


@dataclass(frozen=True)
class ColumnProfile:
    """One column: its kind and what speaks for it, its suggested role and the reason."""

    name: str
    kind: Kind
    evidence: str
    role: Role
    reason: str
    distinct: int
    """Distinct values, the missing one included."""
    exactness: str
    """Whether `distinct` is "exact" or an "estimate"."""
    missing: int
    ordered: bool
    """Whether the values have an order: numbers, dates, quantities or a recognised scale."""

    @property
    def because(self) -> str:
        """Why it has its role, and, of levels and labels, why they are taken to have an order or none."""
        return (
            f"{self.reason}; {self.evidence}"
            if "order" in self.evidence and ("whole numbers" in self.evidence or self.kind == "ordinal")
            else self.reason
        )

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {**{field: getattr(self, field) for field in self.__dataclass_fields__}, "because": self.because}


@dataclass(frozen=True)
class Profile:
    """What was found; `roles` is a suggestion for the owner to edit."""

    table: str
    rows: int
    columns: tuple[ColumnProfile, ...]
    together: Combination
    """All quasi-identifiers at once."""
    most: int
    """The largest combinations that were looked at."""
    combinations: tuple[Combination, ...]
    adds: tuple[Addition, ...]
    roles: Roles
    notes: tuple[str, ...]
    proposals: str = ""
    """What may be stated for differential privacy, in comments."""
    named: bool = False
    """Whether the owner named the quasi-identifiers; else they are suggested."""
    owned: bool = False
    """Whether the roles are those of the owner's file."""

    def _about(self) -> list[str]:
        return [f"{len(self.columns)} columns", f"{self.rows:,} rows"]

    def _repr_html_(self) -> str:
        rows = [(c.name, c.kind, f"{c.distinct:,}", f"{c.missing:,}", c.role, c.reason) for c in self.columns]
        header = ("column", "kind", "distinct", "missing", "suggested role", "because")
        notes = [text for text in (self.sentence, *self.notes) if text]
        return Sheet(f"Profile: {self.rows:,} rows", rows, header, notes).html()

    @property
    def sentence(self) -> str:
        """How many rows are alone on all quasi-identifiers, and whose these are; an empty text if there is none."""
        names = len(self.together.columns)
        if not names:
            return ""
        which = "the one" if names == 1 else f"all {names}"
        which += (
            " suggested" * (not self.named) + " quasi-identifier" + "s" * (names > 1) + " that you named" * self.named
        )
        which += " together" * (names > 1)
        alone = self.together.unique_rows
        return f"On {which} {alone:,} of {counted(self.rows, 'row')} ({percent(self.together.share)}) {'is' if alone == 1 else 'are'} alone."

    @property
    def growth(self) -> tuple[Combination, ...]:
        """The worst combination of each size, then all columns: how fast knowing more singles people out."""
        sizes = range(1, self.most + 1)
        worst = [next((c for c in self.combinations if len(c.columns) == size), None) for size in sizes]
        riskiest = [combination for combination in worst if combination is not None]
        return (*riskiest, *([self.together] if len(self.together.columns) > self.most else []))

    def toml(self) -> str:
        """The suggested roles file, with the reason behind each column."""
        comments = {column.name: f"{column.kind}: {column.because}" for column in self.columns}
        return replace(self.roles, reading={}, people={}).toml(comments) + self.proposals

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready, without any value of the table."""
        return {
            "table": self.table,
            "rows": self.rows,
            "columns": [column.to_dict() for column in self.columns],
            "together": self.together.to_dict(),
            "growth": [combination.to_dict() for combination in self.growth],
            "combinations": [combination.to_dict() for combination in self.combinations],
            "adds": [addition.to_dict() for addition in self.adds],
            "quasi_named_by_owner": self.named,
            "sentence": self.sentence,
            "notes": list(self.notes),
        }


def profile(table: Source, *, most: int = 3, quasi: Sequence[str] | None = None, roles: Roles | None = None) -> Profile:
    """Profile a table; combinations of up to `most` quasi-identifiers, which are suggested unless `quasi` or `roles` name them."""
    table = as_table(table, roles)
    if most < 1:
        raise InputError(f"Combinations cannot have {most} columns; give a size of at least 1.")
    if roles is not None:
        roles.check(table.columns, where=table.name)
        quasi = roles.quasi if quasi is None else quasi
    elif quasi is not None:
        Roles(quasi=tuple(quasi), source="the given list").check(table.columns, where=table.name)
    about = table.distinct()
    countable = [name for name in table.columns if about[name][0] <= 1.1 * VALUES]
    values = dict(table.value_counts(countable))  # already known to be few enough: no second estimate
    head = table.head(SAMPLE) if len(countable) < len(table.columns) else {}
    counted = next((counts for counts in values.values() if counts is not None), None)
    rows = table.rows if counted is None else counted.rows
    seen = []
    for name in table.columns:
        distinct, missing = about[name]
        counts = values.get(name)
        sample = head.get(name, [])
        variable = table.variables.get(name, Variable())
        known_as = name_lexicon.known_as(name, variable.label)
        looked_at = sample_counts(name, sample) if counts is None else counts
        codes, left = sentinels(looked_at, labels=variable.labelled)
        if codes is not None:
            sample = [text for text in sample if text not in codes.codes]
            distinct, missing = distinct - len(codes.codes), missing + codes.rows * (counts is not None)
        guess = _by_the_file(
            kind(known_as, None if counts is None else left, sample, distinct, missing, rows), variable, left.columns[0]
        )
        distinct = distinct if counts is None else len(left)
        seen.append(
            ProfiledColumn(
                name,
                guess,
                left.columns[0],
                distinct,
                missing,
                rows,
                left.margin(name),
                codes,
                known_as if known_as != name else "",
            )
        )
    looks = suggestions.suggest(seen, quasi) | suggestions.named(roles)
    by_column = settle(table, seen, looks, quasi_named=quasi is not None) if roles is None else looks
    repeated = several_rows(table, suggestions.roles(seen, by_column) if roles is None else roles)
    if roles is None and quasi is None and repeated is None:
        repeated = _by_what_stays(table, seen)
    if roles is None and repeated is not None and (not repeated.named) and by_column[repeated.column].role != "person":
        by_column[repeated.column] = suggestions.Suggestion(
            "person", "it repeats like a person's number: some people have several rows"
        )
    suggested = suggestions.roles(seen, by_column)
    if repeated is not None and suggested.person == repeated.column:
        suggested = replace(suggested, people={"rows": "unlinked"})
    alone = uniqueness(
        table, suggested.quasi, rows=rows, about={c.name: c.distinct for c in seen}, values=values, most=most
    )
    exact = {addition.column: addition.distinct for addition in alone.adds}
    columns = tuple(
        ColumnProfile(
            name=c.name,
            kind=c.guess.kind,
            evidence=c.guess.reason,
            role=by_column[c.name].role,
            reason=by_column[c.name].reason,
            distinct=exact.get(c.name, c.distinct if values.get(c.name) is None else len(values[c.name])),
            exactness="exact" if c.name in exact or values.get(c.name) is not None else "estimate",
            missing=about[c.name][1],
            ordered=c.guess.order is not None or c.guess.kind in ("numeric", "ordinal", "date"),
        )
        for c in seen
    )
    notes = (
        *suggestions.notes(seen, looks, owned=roles is not None),
        *people_notes(table, suggested if roles is None else roles, repeated),
        *alone.notes,
    )
    return Profile(
        table.name,
        rows,
        columns,
        alone.together,
        alone.most,
        alone.combinations,
        alone.adds,
        suggested,
        notes,
        named=quasi is not None,
        owned=roles is not None,
        proposals=proposals(seen, suggested, table.written, repeated),
    )


def _by_the_file(guess: Guess, variable: Variable, column: Column) -> Guess:
    """The order of levels where the file that they come from says that they have one, and their codes tell which."""
    labels = [text for text in column.texts if text is not None]
    codes = variable.codes
    if (
        guess.kind != "category"
        or variable.measure != "ordinal"
        or not variable.labelled
        or variable.text
        or not 3 <= len(labels) <= MOST_LEVELS
    ):
        return guess
    if not all(label in codes for label in labels):
        return guess
    return Guess(
        "ordinal",
        "levels with an order, as its file says",
        tuple(sorted(labels, key=lambda label: float(codes[label]))),
    )


def _by_what_stays(table: Table, seen: Sequence[ProfiledColumn]) -> Repeated | None:
    """The column that seems to number people, since whoever has one of its values has one birth date, sex and name."""
    what = {c.name: c.concept.key for c in seen if c.distinct > 1 and c.concept is not None}
    fixed = [name for name, key in what.items() if key in ("birth", "sex", "name")]
    if not any(what[name] != "sex" for name in fixed):
        return None  # a sex is alike in many small groups
    numbering = [
        c.name
        for c in seen
        if named_as_number(c.name) and c.name not in fixed and what.get(c.name) not in ("weight", "household")
    ]
    return numbered_by(table, numbering, fixed)


def suggest_roles(table: Source) -> Roles:
    """Only the suggested roles of a profile, for the owner to look at and to change with `assign`; the reasons stand in the profile."""
    return profile(table, most=1).roles


def people_notes(table: Table, roles: Roles, repeated: Repeated | None) -> list[str]:
    """Where a column repeats like a person's number: rows and people, and who is alone by either count.

    A row among rows of the same person is not alone, and the person still is.
    """
    if repeated is None:
        return [] if table.chosen is None else [table.chosen.sentence]
    quasi = [name for name in roles.quasi if name != repeated.column]
    note = f"{repeated.sentence} The profile counts rows, not people."
    if quasi:
        _, member = table.count((*quasi, repeated.column)).group(quasi)
        alone = int((np.bincount(member) == 1).sum())
        note += f" {counted(alone, 'combination')} of the quasi-identifiers {'belongs' if alone == 1 else 'belong'} to one person only."
    if roles.unlinked:
        note += (
            f' The roles count people, by rows = "unlinked" in [people]: {PEOPLE_ROWS["unlinked"]}. If each row is another person all the '
            "same, say one_row_per_person = true in [roles] instead of person and [people]."
        )
    elif not repeated.named:
        note += (
            f' Name it, person = "{repeated.column}", or say one_row_per_person = true if each row is another person.'
        )
    return [note]
