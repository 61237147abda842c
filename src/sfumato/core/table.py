"""A table of rows that stays where it is: in a file, in memory or in a database. Only counts come back."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pyarrow as pa

from .arrow import integers, numpy, strings, take
from .column import IntArray, encode
from .counts import Counts
from .errors import InputError, Unavailable
from .memory import memory
from .noun import Sheet, dataclass, short
from .stated_reading import StatedReading
from .variable import Variable

if TYPE_CHECKING:
    from .row_choice import ChosenRows, RowChoice


@dataclass(frozen=True, eq=False)
class Recoding:
    """What replaces what: for each distinct tuple over `by`, the values that the columns named in `to` take.

    `table` has one row per replacement: first the tuple (as texts), then the new texts, last `n`, the rows it concerns.
    Where it `divides`, a tuple may stand in several rows, and that many of its rows go to each (a relaxed split).
    Rows whose tuple is not in it are left out: they are suppressed. Missing is NULL on both sides.
    """

    by: tuple[str, ...]
    to: tuple[str, ...]
    table: pa.Table
    divides: bool = False

    @classmethod
    def of(
        cls,
        by: tuple[str, ...],
        to: tuple[str, ...],
        columns: Sequence[pa.Array],
        n: IntArray,
        *,
        divides: bool = False,
    ) -> Recoding:
        """From the columns of the tuples, then those of what they become, and the rows of each replacement."""
        names = [*(f"by{i}" for i in range(len(by))), *(f"to{i}" for i in range(len(to))), "n"]
        return cls(by, to, pa.Table.from_arrays([*columns, integers(n)], names=names), divides)

    def pairs(self, names: Sequence[str]) -> Counts:
        """The rows of each combination of values that these columns had, `original.x`, and of those that they got, `released.x`."""
        at = {f"original.{name}": self.by.index(name) for name in names}
        for name in names:  # what is not replaced is released as it is
            place = len(self.by) + self.to.index(name) if name in self.to else self.by.index(name)
            at[f"released.{name}"] = place
        sides = [encode(name, self.table.column(place)) for name, place in at.items()]
        n = numpy(self.table.column("n")).astype(np.int64)
        return Counts.of([column for column, _ in sides], [codes for _, codes in sides], n)

    def _about(self) -> list[str]:
        return [f"{len(self.by)} columns to {len(self.to)}", f"{self.table.num_rows:,} replacements"]

    @property
    def rows(self) -> int:
        """The rows that are left."""
        return int(numpy(self.table.column("n")).sum())


_FEW = 50_000
"""Tuples that are rolled up sooner than any table is scanned."""


class Table(ABC):
    """What an engine must do: `scan`, `recode`, `keep` and `write`. What does not follow from these four is refused until it is overridden.

    A table remembers its counts (core.memory says how many): they belong to everyone who asks, and nobody changes them.
    """

    name: str
    columns: tuple[str, ...]
    reading: StatedReading = StatedReading()
    """How its texts are spelled, where that was stated."""
    written: Mapping[str, Any] = MappingProxyType({})
    """How its file was seen to be written (encoding, delimiter, decimal, ...), where it was looked at."""
    variables: Mapping[str, Variable] = MappingProxyType({})
    """What its file says of its columns beside their values: labels of columns and of codes."""
    ordered: ClassVar[bool] = True
    """Whether its rows stand in an order of their own, as those of a file do."""
    notes: tuple[str, ...]
    """What was found out while opening, such as a delimiter or encoding; for the user, never with a value of the table."""

    __repr__ = short

    def _about(self) -> list[str]:
        known = self.__dict__.get("_rows")  # printing a table must not scan it
        return [f"{len(self.columns)} columns", *([] if known is None else [f"{known:,} rows"])]

    def _repr_html_(self) -> str:
        known = self.__dict__.get("_rows")
        size = "" if known is None else f", {known:,} rows"
        return Sheet(f"Table: {len(self.columns)} columns{size}", notes=[", ".join(self.columns)]).html()

    @property
    def command_name(self) -> str:
        """How a command that is printed names it."""
        return self.name

    @abstractmethod
    def scan(self, by: Sequence[str]) -> Counts:
        """The distinct tuples over `by` with the rows of each, in one scan. Nobody asks this but `count`, which remembers."""

    @abstractmethod
    def recode(self, recoding: Recoding) -> Table:
        """The same rows, with some columns replaced."""

    @abstractmethod
    def keep(self, columns: Sequence[str]) -> Table:
        """The same rows, with these columns only."""

    @abstractmethod
    def write(self, path: Path, variables: Mapping[str, Variable] | None = None) -> None:
        """Write all rows to a file of one of the formats of a release, sorted by all columns so that no input order shows.

        With the labels of `variables` that still hold, where the format has such. The file is complete or absent: rows go to a temporary name beside it that is renamed at the end.
        """

    def to_arrow(self) -> pa.Table:
        """All rows, sorted by all columns so that no input order shows; an engine that knows better keeps their types."""
        counts = self.count(self.columns)
        ranks = [
            np.where(codes == len(c) - 1, len(c), codes) if c.has_missing else codes
            for c, codes in zip(counts.columns, counts.codes, strict=True)
        ]
        order = np.lexsort(ranks[::-1]) if ranks else np.zeros(0, dtype=np.int64)
        picked = np.repeat(order, counts.n[order])
        cells = [take(strings(c.texts), codes[picked]) for c, codes in zip(counts.columns, counts.codes, strict=True)]
        return pa.Table.from_arrays(cells, names=list(self.columns))

    def fetched(self) -> Table:
        """The same rows in this process, for what cannot be done where they are."""
        raise Unavailable(f"{self.name}: this engine cannot hand its rows to another one; use the DuckDB engine.")

    def stated(self, reading: Mapping[str, Any]) -> Table:
        """The same table read as stated, nothing of it guessed from its rows; what was stated when it was opened goes first."""
        return self

    chosen: ChosenRows | None = None
    """Where it was made of one row a person, how, and of how many rows."""

    def one_row_by(self, choice: RowChoice) -> Table:
        """The table of one row a person, put together from the rows of each."""
        raise Unavailable(f"{self.name}: this engine cannot make one row per person; use the DuckDB engine.")

    def rows_of_each(self, person: str, most: int, key: bytes) -> Table:
        """At most so many rows of each person, drawn by a key; rows without a person's number are of one person."""
        raise Unavailable(f"{self.name}: this engine cannot draw rows of each person; use the DuckDB engine.")

    def beside(self, original: Table, key: str | None) -> Table:
        """The columns of both tables, `released.x` and `original.x`, rows paired by position or by a key column."""
        raise Unavailable(f"{self.name}: this engine cannot pair rows; measure with the DuckDB engine.")

    def check_order(self, key: str | None) -> None:
        """Refuse to pair rows by position where they stand in no order."""
        if key is None and not self.ordered:
            raise Unavailable(
                f"{self.name}: rows of a database stand in no order, so they have no position to be paired by; pair them with --pair key:COLUMN."
            )

    def instead(self, rows: pa.Table, times: pa.Array) -> Table:
        """A table of these distinct rows, each so many times, in the place of this one."""
        raise Unavailable(f"{self.name}: this engine cannot make rows from counts; use the DuckDB engine.")

    def copied(self, columns: Mapping[str, str]) -> Table:
        """The same rows with more columns: each new name a copy of the column named."""
        raise Unavailable(f"{self.name}: this engine cannot copy columns; mine with the DuckDB engine.")

    def part(self, column: str, *, of: int, at: int) -> Table | None:
        """The rows of one of `of` parts, all rows of a value in one part; None where the engine cannot deal them out."""
        return None

    def digest(self) -> str:
        """A hash of the content and of how it is read: another hash, another table."""
        counts = self.count(self.columns)
        digest = hashlib.sha256(repr([(column.name, column.texts) for column in counts.columns]).encode())
        order = np.lexsort(counts.codes) if counts.codes else np.arange(len(counts))
        for array in (*counts.codes, counts.n):
            digest.update(np.ascontiguousarray(array[order], dtype=np.int64).data)
        return digest.hexdigest()

    def portable(self) -> tuple[str, tuple[tuple[str, Any], ...], str]:
        """A file, options and a name from which another process opens the same table."""
        raise Unavailable(f"{self.name}: this engine cannot hand a table to another process; use one worker.")

    # --- what follows from scanning; an engine may do better

    def require_columns(
        self, names: Iterable[str], why: str, refusal: type[InputError | Unavailable] = InputError
    ) -> None:
        """Refuse where one of these columns is not there; `why` ends the sentence."""
        for name in names:
            if name not in self.columns:
                raise refusal(f"{self.name}: no column {name!r}, {why}.")

    def count_some(self, by: Sequence[str]) -> Counts:
        """Its counts, refused where it has no rows."""
        counts = self.count(by)
        if not counts.rows:
            raise InputError(f"{self.name} has no rows.")
        return counts

    def count(self, by: Sequence[str]) -> Counts:
        """The distinct tuples over `by` with the rows of each: remembered, rolled up from finer counts, or scanned."""
        counts = self.known(by)
        return self._keep(self.scan(tuple(by))) if counts is None else counts

    def known(self, by: Sequence[str]) -> Counts | None:
        """What `count` would say, where that takes no scan: the same counts, or finer ones of few tuples, are remembered."""
        by = tuple(by)
        remembered_counts = memory.answers(self)
        if by in remembered_counts:
            return memory.recall(self, by, lambda: self.scan(by))  # used now, so it stays longer
        finer = [c for names, c in remembered_counts.items() if isinstance(c, Counts) and names == c.names]
        least = min((counts for counts in finer if set(by) <= set(counts.names)), key=len, default=None)
        if least is None or (len(least) > max(_FEW, least.rows // 8) and by and set(by) != set(least.names)):
            return None
        return self._keep(least.group(by)[0])

    def _keep(self, counts: Counts) -> Counts:
        for array in (*counts.codes, counts.n):
            array.flags.writeable = False
        self.__dict__.setdefault("_rows", counts.rows)  # the scan has told that, too
        memory.keep(self, counts.names, counts)
        return counts

    def value_counts(self, columns: Sequence[str]) -> Mapping[str, Counts]:
        """The counts of each column alone, those that are not known in one scan."""
        known = {name: self.known((name,)) for name in columns}
        new = [name for name, counts in known.items() if counts is None]
        scanned = {name: self._keep(counts) for name, counts in (self.scan_each(new) if new else {}).items()}
        return {name: scanned[name] if counts is None else counts for name, counts in known.items()}

    def scan_each(self, columns: Sequence[str]) -> Mapping[str, Counts]:
        """`scan` of each column alone."""
        return {name: self.scan((name,)) for name in columns}

    def count_within(self, by: Sequence[str], also: Sequence[str], most: int) -> Counts:
        """The counts over `by` and, if that makes no more than `most` tuples, `also`."""
        counts = self.known((*by, *also))
        if counts is not None:
            return counts if len(counts) <= most else self.count(by)
        return self._keep(self.scan_within(by, also, most))

    def scan_within(self, by: Sequence[str], also: Sequence[str], most: int) -> Counts:
        """`count_within` in one scan; an engine that cannot leaves `also` out."""
        return self.scan(by)

    def sampled(self, by: Sequence[str], most: int) -> Counts:
        """The counts of about `most` distinct tuples over `by`, chosen by what they hold and not by where they stand.

        All of them where there are no more: then `rows` of the counts is that of the table.
        """
        return self.count(by).some(most)

    def in_order(self, columns: Sequence[str]) -> Mapping[str, tuple[int, int]]:
        """For each column, how many rows have a larger and how many a smaller value than the row before them; none where unknown."""
        return {}

    @property
    def rows(self) -> int:
        """How many rows there are."""
        if "_rows" not in self.__dict__:
            self.count(())
        return int(self.__dict__["_rows"])

    def distinct(self) -> Mapping[str, tuple[int, int]]:
        """For each column, about how many distinct values it has and exactly how many rows miss one."""
        distinct = {}
        for name in self.columns:
            counts = self.count((name,))
            missing = int(counts.n[-1]) if counts.columns[0].has_missing else 0
            distinct[name] = (len(counts), missing)
        return distinct

    def first(self, rows: int) -> Mapping[str, list[str | None]]:
        """The first rows as they stand, a list a column and None for missing, for their owner to look at; none where unknown."""
        return {}

    def head(self, rows: int) -> Mapping[str, list[str]]:
        """Some values of each column, missing ones left out, for looking at their shape."""
        return {
            name: [text for text in self.count((name,)).columns[0].texts if text is not None][:rows]
            for name in self.columns
        }

    def unique_rows(self, by: Sequence[str]) -> tuple[int, int]:
        """The rows that are alone on `by`, and the distinct tuples over it."""
        n = self.count(by).n
        return int((n == 1).sum()), len(n)
