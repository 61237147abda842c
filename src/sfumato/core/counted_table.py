"""A table that is only counts: what a sanitizer would release, before any row is touched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from .counts import Counts
from .errors import InputError, Unavailable
from .table import Recoding, Table
from .variable import Variable


class CountedTable(Table):
    """Weighted tuples in memory, asked like any other table: so every metric can judge a release that is not made yet."""

    def __init__(self, counts: Counts, *, name: str) -> None:
        self.counts = counts
        self.name = name
        self.columns = counts.names
        self.notes = ()

    def scan(self, by: Sequence[str]) -> Counts:
        """Roll the tuples up."""
        for column in by:
            if column not in self.columns:
                raise InputError(f"{self.name}: no column {column!r} was counted.")
        return self.counts if tuple(by) == self.columns else self.counts.group(tuple(by))[0]

    def keep(self, columns: Sequence[str]) -> CountedTable:
        """The same rows over fewer columns."""
        return CountedTable(self.counts.group(tuple(columns))[0], name=self.name)

    def recode(self, recoding: Recoding) -> Table:
        """Counts stand for rows that are already recoded."""
        raise Unavailable(f"{self.name}: only counts are here, and these are not recoded again.")

    def write(self, path: Path, variables: Mapping[str, Variable] | None = None) -> None:
        """Counts are no rows to publish."""
        raise Unavailable(f"{path}: only counts of {self.name} are here, not its rows.")
