"""One row a person, where the owner says which: the latest, the first, the most frequent, or values made of all rows of a person.

A person's row depends on that person's rows alone, and not on the order in which they stand. So one person more or less changes one row of
the table that is made, whatever else is in it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, get_args

from .column import Column
from .errors import InputError
from .noun import dataclass

if TYPE_CHECKING:
    from .table import Table

Keep = Literal["latest", "first", "most"]
Rule = Literal["first", "latest", "most", "least", "sum", "mean", "count", "min", "max", "distinct"]
_WORDS: dict[Rule, str] = {
    "first": "{column} of the row with the smallest {by}",
    "latest": "{column} of the row with the largest {by}",
    "most": "the value of {column} that most of the rows have",
    "least": "the value of {column} that fewest of the rows have",
    "sum": "the sum of {column}",
    "mean": "the mean of {column}",
    "count": "how many rows have a value of {column}",
    "min": "the smallest {column}",
    "max": "the largest {column}",
    "distinct": "the different values of {column}, one after the other",
}
SEPARATOR = " | "
"""What stands between the values that `distinct` puts together."""
_MOMENT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?)?)?")


@dataclass(frozen=True)
class ColumnRule:
    """What a column says of a person: a rule, and the column that it looks at; None counts rows."""

    rule: Rule
    column: str | None

    def words(self, by: str | None) -> str:
        """What it is, without a value."""
        if self.column is None:
            return "the number of rows"
        return _WORDS[self.rule].format(column=repr(self.column), by=repr(by))


@dataclass(frozen=True)
class RowChoice:
    """`[people] rows = "one"`: the row that is kept, and the columns that are made of all rows of a person.

    keep   latest: the row with the largest `by`, a column of dates or numbers; first: with the smallest; most: a row with the value of
           `by` that most rows of the person have. Of several, the row that is first in the order of all its values. Rows that lack a
           date or number come last; of `most` a missing value is a value.
    """

    person: str
    keep: Keep | None
    by: str | None
    aggregates: Mapping[str, ColumnRule]

    def __hash__(self) -> int:
        return hash((self.person, self.keep, self.by, tuple(self.aggregates.items())))

    @classmethod
    def of(cls, person: str, people: Mapping[str, Any], where: str) -> RowChoice:
        """From the keys of `[people]`, checked."""
        keep, by, stated = people.get("keep"), people.get("by"), people.get("aggregates", {})
        if keep is not None and keep not in get_args(Keep):
            raise InputError(f"{where}: keep must be one of {', '.join(map(repr, get_args(Keep)))}.")
        if not isinstance(stated, Mapping) or not all(isinstance(rule, str) for rule in stated.values()):
            raise InputError(f'{where}: aggregates must name a rule for each column, such as {{ cost = "sum" }}.')
        if keep is None and not stated:
            raise InputError(
                f'{where}: rows = "one" needs to know which row stands for a person: keep = "latest", "first" or "most", with '
                'by = "COLUMN"; or aggregates = { COLUMN = "sum" }.'
            )
        if by is not None and not isinstance(by, str):
            raise InputError(f"{where}: by must be a column's name, in quotes.")
        aggregates = {name: _aggregate(name, rule, where) for name, rule in stated.items()}
        if person in aggregates:
            raise InputError(f"{where}: aggregates cannot be made of {person!r}, which numbers the people.")
        ordered = keep or next((each.rule for each in aggregates.values() if each.rule in ("first", "latest")), None)
        if ordered is not None and by is None:
            raise InputError(f'{where}: {ordered!r} needs a column to go by; name it: by = "COLUMN".')
        return cls(person, keep, by, aggregates)

    def check(self, table: Table, released: list[str], where: str) -> None:
        """Refuse columns that are not there, or whose values have no order or sum where one is needed."""
        table.require_columns(self._needed(table), f"which {where} needs to make one row per person")
        loose = [name for name in released if name in table.columns and name not in self.aggregates]
        if self.keep is None and loose:
            raise InputError(
                f"{where}: aggregates say nothing of {', '.join(map(repr, loose))}; add them, or keep a row of each person for the rest: "
                'keep = "latest", by = "COLUMN".'
            )
        rules = {each.rule for each in self.aggregates.values()}
        if self.by is not None and (self.keep in ("first", "latest") or rules & {"first", "latest"}):
            self._need(table, self.by, "first and latest need", where, dates=True)
        for each in self.looked_at(table.columns).values():
            if each.rule in ("sum", "mean", "min", "max") and each.column is not None:
                self._need(table, each.column, f"{each.rule} needs", where, dates=each.rule in ("min", "max"))

    def fits(self, table: Table) -> bool:
        """Whether the table has the columns that are needed."""
        return set(self._needed(table)) <= set(table.columns)

    def _needed(self, table: Table) -> list[str]:
        made = (each.column for each in self.looked_at(table.columns).values())
        return list(dict.fromkeys(name for name in (self.person, self.by, *made) if name is not None))

    def looked_at(self, columns: tuple[str, ...]) -> dict[str, ColumnRule]:
        """The aggregates, where `count` under a name that no column has counts rows."""
        return {
            name: ColumnRule("count", None) if each == ColumnRule("count", name) and name not in columns else each
            for name, each in self.aggregates.items()
        }

    def _need(self, table: Table, name: str, who: str, where: str, *, dates: bool) -> None:
        column = table.count((name,)).columns[0]
        if len(column.values) and column.numbers is None and not (dates and _moments(column)):
            kinds = "numbers, or dates as YYYY-MM-DD" if dates else "numbers"
            raise InputError(f"{table.name}: {name!r} holds other values than {kinds}, which {who}; correct {where}.")

    def words(self, columns: tuple[str, ...]) -> str:
        """How a row is made, without a value: a clause that follows "one row a person is used"."""
        kept = {
            "latest": f"the one with the largest {self.by!r}",
            "first": f"the one with the smallest {self.by!r}",
            "most": f"one with the {self.by!r} that most rows of the person have",
        }
        said = [] if self.keep is None else [f"{kept[self.keep]} (of several, the first in the order of its values)"]
        return "; ".join(
            [*said, *(f"{name!r} is {each.words(self.by)}" for name, each in self.looked_at(columns).items())]
        )


@dataclass(frozen=True)
class ChosenRows:
    """That a table was made of one row a person: how, and of how many rows and people."""

    choice: RowChoice
    columns: tuple[str, ...]
    """Those of the table that it was made of."""
    rows: int
    people: int
    unnumbered: int
    """Rows without a person's number, which count as rows of one person."""

    @property
    def how(self) -> str:
        """Which row was taken, without a count."""
        return f"One row a person is used: {self.choice.words(self.columns)}."

    @property
    def sentence(self) -> str:
        """Rows, people, and which row was taken."""
        said = f"{self.rows:,} rows are of {self.people:,} people, by {self.choice.person!r}. {self.how}"
        if not self.unnumbered:
            return said
        return f"{said} {self.unnumbered:,} rows without a number count as rows of one person."


def _aggregate(name: str, text: str, where: str) -> ColumnRule:
    match = re.fullmatch(r"\s*(\w+)\s*(?:\((.+)\))?\s*", text)
    rule: Any = match[1] if match else text
    if match is None or rule not in get_args(Rule):
        raise InputError(
            f"{where}: aggregates {name} must be one of {', '.join(map(repr, get_args(Rule)))}, or a rule of another column, as 'sum(COLUMN)'."
        )
    return ColumnRule(rule, match[2] or name)


def _moments(column: Column) -> bool:
    return column.dates or all(text is None or _MOMENT.fullmatch(text) for text in column.texts)
