"""Tables that are only counted: what a sanitizer would release, before any row is touched; and a release with a column of histories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from .arrow import integers
from .column import Column
from .counts import Counts
from .errors import InputError, Unavailable
from .histories import Histories
from .table import Recoding, Table
from .variable import Variable


class CountsOnly(Table):
    """A table of which nothing but counts can be asked."""

    def keep(self, columns: Sequence[str]) -> Table:
        """Counts are asked for by column anyway."""
        raise Unavailable(f"{self.name}: only counts are here, and these are asked for by column.")

    def recode(self, recoding: Recoding) -> Table:
        """Counts stand for rows that are already recoded."""
        raise Unavailable(f"{self.name}: only counts are here, and these are not recoded again.")

    def write(self, path: Path, variables: Mapping[str, Variable] | None = None) -> None:
        """Counts are no rows to publish."""
        raise Unavailable(f"{path}: only counts of {self.name} are here, not its rows.")


class CountedTable(CountsOnly):
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


class LinkedTable(CountsOnly):
    """A release whose rows of a person are joined, with the history of each row's person as one more column to count by.

    Classes of linked people are those of unlinked ones whose only quasi-identifier is the history: so whatever counts people there
    counts them here.
    """

    def __init__(self, table: Table, person: str, known: Histories) -> None:
        self.table, self.person, self.known_histories = table, person, known
        self.history = "history"
        while self.history in table.columns:
            self.history += "_"
        self.name, self.notes = table.name, table.notes
        self.columns = (*table.columns, self.history)
        self.reading = table.reading

    def scan(self, by: Sequence[str]) -> Counts:
        """The table's counts by person, each person's history beside."""
        if self.history not in by:
            return self.table.count(by)
        rest = [name for name in by if name not in (self.history, self.person)]
        counts = self.table.count((*rest, self.person))
        whose = counts.columns[-1]
        of_code = self.known_histories.of_person[self.known_histories.column.places(whose)]
        code = dict(zip(counts.names, counts.codes, strict=True))
        column = dict(zip(counts.names, counts.columns, strict=True))
        code[self.history] = of_code[counts.codes[-1]]
        column[self.history] = Column(self.history, integers(np.arange(self.known_histories.count)))
        return Counts.of([column[name] for name in by], [code[name] for name in by], counts.n)
