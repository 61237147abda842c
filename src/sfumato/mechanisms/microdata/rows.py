"""The rows of a table in memory, for mechanisms that change them one by one: counted once, repeated, changed, released.

Rows stand in the order of their values, so nothing of the input's order is left, and equal tables give equal rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Any

import numpy as np
import pyarrow as pa

from ...core.arrow import floats, integers, strings, take
from ...core.column import Column, FloatArray, IntArray, encode, text_of
from ...core.counts import Counts
from ...core.cover import BoolArray
from ...core.errors import InputError
from ...core.mechanism import Mechanism
from ...core.noun import dataclass
from ...core.people import nobodys
from ...core.randomness import Chance
from ...core.release import Release
from ...core.roles import Roles
from ...core.table import Recoding, Table

MOST = 500_000_000
"""Cells (rows by columns) that are held in memory at most."""


@dataclass(frozen=True, eq=False)
class Rows:
    """`codes[name][i]` is the code of row i in `columns[name]`."""

    table: Table
    roles: Roles
    names: tuple[str, ...]
    columns: Mapping[str, Column]
    codes: Mapping[str, IntArray]
    count: int
    house: tuple[str, ...] = field(default=())
    """Columns that were read and are not released."""

    @classmethod
    def of(cls, table: Table, roles: Roles, who: str, *, house: Iterable[str] = ()) -> Rows:
        """All rows over the columns that may be released, and those of `house`, which stay in."""
        roles.check(table.columns, where=table.name, need=("identifiers", "quasi", "sensitive", "insensitive"))
        names = tuple(roles.released(table.columns))
        if not names:
            raise InputError(f"{roles.source} names no column to release; set quasi, sensitive or insensitive.")
        inside = tuple(column for column in house if column not in names)
        counts = table.count_some((*names, *inside))
        if counts.rows * len(counts.names) > MOST:
            raise InputError(
                f"{table.name}: {counts.rows:,} rows are more than {who} holds in memory; sample or split the table."
            )
        at = np.repeat(np.arange(len(counts)), counts.n)
        codes = {name: code[at] for name, code in zip(counts.names, counts.codes, strict=True)}
        columns = {column.name: column for column in counts.columns}
        return cls(table, roles, names, columns, codes, counts.rows, inside)

    @classmethod
    def of_people(cls, table: Table, roles: Roles, who: str) -> Rows:
        """All rows, and beside each whose it is where the roles say that people are counted."""
        keys = dict.fromkeys((roles.person, roles.household) if roles.counts_people else ())
        return cls.of(table, roles, who, house=[key for key in keys if key is not None and key in table.columns])

    def __len__(self) -> int:
        return self.count

    @property
    def owner(self) -> IntArray | None:
        """The code of the person or household whose each row is, where they are counted and not rows."""
        name = self.roles.owner if self.roles.counts_people else None
        return None if name is None or name not in self.house else self.codes[name]

    def drawn_for(self) -> tuple[IntArray, int]:
        """For each row the draw that it takes part in, and how many draws there are: one a person where rows stay joined, else one a row.

        Whoever has all rows of a person would take the noise of each back by their mean, if each row had its own.
        """
        if self.roles.linked and self.owner is not None:
            return self.owner, len(self.columns[str(self.roles.owner)])
        return np.arange(self.count), self.count

    def joined_anew(self, chance: Chance) -> dict[str, IntArray]:
        """The column that joins the rows of a person where the roles ask for it: fresh random numbers in the place of theirs."""
        if not self.roles.linked:
            return {}
        name = str(self.roles.person)
        person, codes = self.columns[name], self.codes[name]
        if person.has_missing:
            raise InputError(nobodys(self.table, int((codes == len(person.values)).sum()), name))
        return {name: chance.numbers(len(person), person.texts)[codes]}

    def numbers(self, name: str, who: str) -> FloatArray:
        """A column as numbers, NaN where it is missing."""
        column = self.columns.get(name)
        if column is None:
            raise InputError(f"{self.table.name}: no column {name!r} that may be released, which {who} should change.")
        if column.numbers is None:
            raise InputError(f"{self.table.name}: column {name!r} is not all numbers, so {who} cannot change it.")
        return column.numbers[self.codes[name]]

    def texts(self, name: str) -> list[str | None]:
        """A column as texts, one a row."""
        spelled = self.columns[name].texts
        return [spelled[code] for code in self.codes[name].tolist()]

    def release(
        self,
        by: Mechanism,
        changed: Mapping[str, Any],
        *,
        kept: BoolArray | None = None,
        added: Mapping[str, Any] | None = None,
        without: Iterable[str] = (),
        perturbed: Iterable[str] = (),
        notes: Iterable[str] = (),
        **more: Any,
    ) -> Release:
        """A mechanism's release with some columns replaced, each by a value a row: numbers (NaN for missing), or texts and None.

        `kept` leaves rows out, `without` columns; `added` are columns of their own, which stand last. `perturbed` are the
        columns where equal values are no longer the same people.
        """
        there = np.arange(self.count) if kept is None else np.flatnonzero(kept)
        columns, codes = [], []
        gone = set(without)
        released = (*(name for name in self.names if name not in gone), *(added or ()))
        new = {**changed, **(added or {})}
        for name in released:
            column, code = encode(name, _array(new[name])) if name in new else (self.columns[name], self.codes[name])
            columns.append(column)
            codes.append(code[there])
        ones = np.ones(len(there), dtype=np.int64)
        made = Counts.of(columns, codes, ones)
        made = made.only(np.ones(len(made), dtype=bool))
        arrays = [take(column.values, code) for column, code in zip(made.columns, made.codes, strict=True)]
        rows = pa.Table.from_arrays(arrays, names=list(released))
        return Release(
            table=self.table.instead(rows, integers(made.n)),
            original=self.table,
            recoding=self._pairs(dict(zip(released, zip(columns, codes, strict=True), strict=True)), changed, there),
            made_by=by.card.name,
            parameters=by.settings(),
            perturbed=frozenset(perturbed),
            notes=tuple(notes),
            **more,
        )

    def _pairs(
        self, after: Mapping[str, tuple[Column, IntArray]], changed: Mapping[str, Any], there: IntArray
    ) -> Recoding | None:
        """Which original values became which released ones, counted: what metrics that need pairs look at."""
        by = (*self.names, *self.house)  # where tuples are divided, what stays in must not get mixed up
        to = tuple(name for name in self.names if name in changed or name in self.roles.quasi)
        to += tuple(name for name in self.house if name in after)
        if not to:
            return None
        columns = [*(self.columns[name] for name in by), *(after[name][0] for name in to)]
        codes = [*(self.codes[name][there] for name in by), *(after[name][1] for name in to)]
        counts = Counts.of(columns, codes, np.ones(len(there), dtype=np.int64))
        arrays = [
            take(column.values, code) for column, code in zip(counts.columns[: len(by)], counts.codes, strict=False)
        ]
        arrays += [
            take(strings([text for text in column.texts if text is not None]), code)
            for column, code in zip(counts.columns[len(by) :], counts.codes[len(by) :], strict=True)
        ]
        return Recoding.of(by, to, arrays, counts.n, divides=True)


def _array(values: Any) -> pa.Array:
    """One value a row as an Arrow array; whole floats stay whole when they are spelled."""
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return values
    if isinstance(values, np.ndarray) and values.dtype.kind == "i":
        return integers(values.astype(np.int64))
    if isinstance(values, np.ndarray) and values.dtype.kind == "f":
        return floats(values)
    return strings([text_of(value) for value in values])
