"""A release whose rows of a person are joined, with what it says of the person over all rows as one more column.

Classes of linked people are those of unlinked ones whose only quasi-identifier is the history: so whatever counts people there counts
them here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from .arrow import integers
from .column import Column
from .counts import Counts
from .errors import Unavailable
from .histories import Histories
from .table import Recoding, Table
from .variable import Variable


class LinkedTable(Table):
    """Counts of a table, with the history of each row's person to count by."""

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
        place = {text: i for i, text in enumerate(self.known_histories.column.texts)}
        of_code = self.known_histories.of_person[[place[text] for text in whose.texts]]
        code = dict(zip(counts.names, counts.codes, strict=True))
        column = dict(zip(counts.names, counts.columns, strict=True))
        code[self.history] = of_code[counts.codes[-1]]
        column[self.history] = Column(self.history, integers(np.arange(self.known_histories.count)))
        return Counts.of([column[name] for name in by], [code[name] for name in by], counts.n)

    def keep(self, columns: Sequence[str]) -> Table:
        """Nobody asks for fewer columns of what is only counted."""
        raise Unavailable(f"{self.name}: only counts are asked of a table with histories.")

    def recode(self, recoding: Recoding) -> Table:
        """It is a release already."""
        raise Unavailable(f"{self.name}: only counts are asked of a table with histories.")

    def write(self, path: Path, variables: Mapping[str, Variable] | None = None) -> None:
        """Histories are not published."""
        raise Unavailable(f"{path}: only counts are asked of a table with histories.")
