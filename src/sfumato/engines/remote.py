"""A table on a server: counted, recoded and measured there. What needs single rows brings the distinct ones here, or refuses before it starts."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

import pyarrow as pa

from ..core.errors import InputError
from ..core.row_choice import RowChoice
from ..core.table import Table
from ..core.variable import Variable
from .duckdb import DuckTable

MOST_CELLS = 100_000_000
"""Cells (distinct rows by columns) that are brought to this machine at most."""


class RemoteTable(Table):
    """What an engine on a server need not write itself: all that begins with having the rows here."""

    ordered: ClassVar[bool] = False

    @abstractmethod
    def distinct_rows(self) -> pa.Table:
        """The distinct rows with the types of their columns, and last how many there are of each."""

    def fetched(self) -> DuckTable:
        """The same rows in this process, brought once."""
        if "_here" not in self.__dict__:
            rows = len(self.columns) * self.rows
            if rows > MOST_CELLS and len(self.columns) * self.unique_rows(self.columns)[1] > MOST_CELLS:
                raise InputError(
                    f"{self.name}: its distinct rows are more than {MOST_CELLS:,} cells, and what was asked needs them on this machine; take a "
                    "mechanism that recodes on the server (docs/engines.md lists them), fewer columns, or a sample."
                )
            distinct = self.distinct_rows()
            last = distinct.num_columns - 1
            times = distinct.column(last).combine_chunks()
            self.__dict__["_here"] = self.instead(distinct.remove_column(last), times)
        here: DuckTable = self.__dict__["_here"]
        return here

    def instead(self, rows: pa.Table, times: pa.Array) -> DuckTable:
        """In this process: rows that a mechanism made are here already."""
        return DuckTable(self.name, (), "", {}, self.notes).instead(rows, times)

    def write(self, path: Path, variables: Mapping[str, Variable] | None = None) -> None:
        """The distinct rows are brought here, and written as those of a file are."""
        self.fetched().write(path, variables)

    def to_arrow(self) -> pa.Table:
        """All rows, in the order in which they are written."""
        return self.fetched().to_arrow()

    def one_row_by(self, choice: RowChoice) -> DuckTable:
        """In this process, once for each choice."""
        return self.fetched().one_row_by(choice)

    def rows_of_each(self, person: str, most: int, key: bytes) -> DuckTable:
        """In this process."""
        return self.fetched().rows_of_each(person, most, key)

    def beside(self, original: Table, key: str | None) -> Table:
        """By a key, in this process; rows on a server stand in no order, so none have a position."""
        self.check_order(key)
        return self.fetched().beside(original, key)
