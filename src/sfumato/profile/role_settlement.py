"""Suggested roles that leave no column free which gives something away: what would be found before publishing is found here.

A suggestion looks at one column. Whether it may go out as it is depends on the others: a code may hold the birth year, two amounts
may add up to a third. So the suggested roles are asked what any release with them would leave free, and what is found in a column
takes it out of the free ones, until nothing is found.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..core.table import Table
from .free_columns import Finding
from .free_release import free_of_table
from .suggestions import ProfiledColumn, Suggestion, roles


def settle(
    table: Table, seen: Sequence[ProfiledColumn], suggestions: Mapping[str, Suggestion], *, quasi_named: bool = False
) -> dict[str, Suggestion]:
    """The suggestions, with another role for each column that would be refused as a free one.

    Where the owner named the quasi-identifiers there is no other to be had, and such a column is kept back.
    """
    settled = dict(suggestions)
    by_name = {column.name: column for column in seen}
    while True:  # each round leaves fewer columns free, and mostly the second finds nothing
        findings = free_of_table(table, roles(seen, settled)).findings
        if not findings:
            return settled
        for finding in reversed(findings):  # the plainest of a column comes first, and stays
            column = by_name[finding.column]
            known = not quasi_named and _known(column, suggestions[column.name], finding)
            settled[column.name] = Suggestion("quasi" if known else "identifiers", _reason(finding, known))


def _known(seen: ProfiledColumn, suggestion: Suggestion, finding: Finding) -> bool:
    """Whether an outsider may know a column, so that it can go out coarsened: amounts and dates, and what is not sensitive."""
    if finding.kind == "order" or finding.role == "identifier":
        return seen.guess.kind == "date" and finding.role != "identifier"
    if seen.guess.kind in ("numeric", "date"):
        return True
    return suggestion.role != "sensitive" and seen.guess.kind in ("category", "ordinal", "code")


def _reason(finding: Finding, known: bool) -> str:
    """What was found, as it is said before publishing, without the column's name."""
    said = finding.sentence.removeprefix(f"Column {finding.column!r}: ").rstrip(".")
    return f"{said}; {'coarsen it' if known else 'keep it back'}"
