"""Counting with DuckDB, in this process: files are scanned where they lie, only counts come back."""

from __future__ import annotations

import atexit
import hashlib
import itertools
import os
import re
import shutil
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import astuple, field, replace
from functools import cache
from pathlib import Path
from typing import Any, Protocol, TypeVar

import duckdb
import numpy as np
import pyarrow as pa

from ..core import table_formats as formats
from ..core.arrow import numpy
from ..core.column import IntArray, encode, text_of
from ..core.counts import Counts
from ..core.errors import InputError, NotMet, SfumatoError
from ..core.leftovers import hidden_beside, private_folder
from ..core.memory import remembered
from ..core.noun import dataclass
from ..core.processes import address_space
from ..core.row_choice import ChosenRows, RowChoice
from ..core.spelling import ColumnSpelling
from ..core.stated_reading import StatedReading
from ..core.table import Recoding, Table
from ..core.table_formats import check_out
from ..core.variable import Variable

T = TypeVar("T")
turn = threading.RLock()  # registered tables belong to the one connection, so threads take turns
serial = itertools.count()
_MOST_FIELDS = 10_000_000
"""Fields of distinct records that are held to be written again and again."""
_ROWS_AT_ONCE = 1 << 14
_LIMIT = re.compile(r"\d+(\.\d+)?\s*(%|[KMGT]?i?B)?", re.IGNORECASE)
_NESTED = ("STRUCT", "MAP", "UNION", "BLOB", "BIT")
_FLOATS = ("DOUBLE", "FLOAT", "REAL")
_PLAIN = re.compile(r"^(U?(TINY|SMALL|BIG)?INT(EGER)?|BOOLEAN|DATE|VARCHAR|DOUBLE|FLOAT|REAL|DECIMAL.*|TIMESTAMP)$")


def configure(*, memory: str | None = None, threads: int | None = None) -> None:
    """Bound what the engine may use; beyond the memory limit it spills to a private temporary folder."""
    for what, value, example in (("memory_limit", memory, "4GB"), ("threads", threads, "2")):
        if value is not None:
            try:
                if not _LIMIT.fullmatch(str(value).strip()):  # to the engine -1 means without any limit
                    raise duckdb.InvalidInputException
                with turn:
                    _connection().execute(f"SET {what} = {literal(str(value))}")
            except duckdb.Error:
                words = "memory limit" if what == "memory_limit" else "number of threads"
                raise InputError(f"{value!r} is not a {words}; write for example {example}.") from None


@cache
def folder() -> Path:
    """A private folder for spilling and for copies in another encoding, removed at exit."""
    folder = Path(private_folder())
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


@cache
def _connection() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect(":memory:")
    connection.execute(f"SET temp_directory = {literal(str(folder()))}")
    # Nothing is ever fetched: what the installed package has is what there is.
    connection.execute("SET autoinstall_known_extensions = false")
    with suppress(duckdb.InvalidInputException):  # in a notebook without ipywidgets: then there is no bar to switch off
        connection.execute("SET enable_progress_bar = false")
    if (limit := address_space()) is not None:  # beyond it the process would end; the engine spills before that
        connection.execute(f"SET memory_limit = '{limit * 2 // 5} B'")
    return connection


def literal(text: str) -> str:
    """A text in SQL."""
    return "'" + text.replace("'", "''") + "'"


def name_of(text: str) -> str:
    """A name in SQL, whatever characters it has."""
    return '"' + text.replace('"', '""') + '"'


def unused(name: str, columns: Iterable[str]) -> str:
    """The name, or a longer one that none of the columns has."""
    taken = {column.casefold() for column in columns}
    while name in taken:
        name += "_"
    return name


def spell_path(path: Path) -> str:
    """A path in SQL: the engine's own wildcards in brackets, so that they stand for themselves."""
    return literal(re.sub(r"([*?\[])", r"[\1]", str(path)))


def plain_kind(kind: str) -> bool:
    """Whether values of a kind can be counted as they are, or are to be refused with their column's name."""
    return bool(_PLAIN.match(kind)) or kind.endswith("]") or kind.startswith(_NESTED)


def text_bytes(values: pa.Array) -> memoryview:
    """The bytes of all texts of an Arrow array without NULLs, one after the other, not copied."""
    if not len(values):
        return memoryview(b"")
    _, offsets, data = values.buffers()
    wide = pa.types.is_large_string(values.type) or pa.types.is_large_binary(values.type)
    at = np.frombuffer(offsets, dtype=np.int64 if wide else np.int32)[values.offset :]
    return memoryview(data)[int(at[0]) : int(at[len(values)])]


def run(sql: str, where: str, to: str | None = None) -> list[tuple[Any, ...]]:
    """Execute; what the engine says against the data becomes a sentence of ours without any of its values.

    `where` is what is read, `to` what is written if anything is.
    """
    try:
        return patiently(lambda: list(_connection().execute(sql).fetchall()))
    except duckdb.IOException as error:
        raise explain(error, to or where) from None
    except duckdb.Error as error:
        raise explain(error, where) from None


class Interruptible(Protocol):
    """A connection whose work can be stopped from another thread."""

    def interrupt(self) -> None:
        """Stop what runs."""


def patiently(call: Callable[[], T], connection: Interruptible | None = None) -> T:
    """Call an engine from a second thread, so that an interruption reaches us while it works, and stops it."""
    done: list[T] = []
    failed: list[BaseException] = []
    over = threading.Event()  # not Thread.join: after an interrupted join a thread passes for ended
    given_up = threading.Event()

    def work() -> None:
        try:
            if not given_up.is_set():
                done.append(call())
        except BaseException as error:
            failed.append(error)
        finally:
            over.set()

    with turn:
        thread = threading.Thread(target=work, daemon=True)
        try:
            thread.start()  # an interruption may come here, too, when the engine already works
            while not over.wait(0.2):
                pass
        except BaseException:
            given_up.set()
            while thread.ident is not None and not over.wait(
                0.05
            ):  # until it has really stopped: nothing may still be writing
                (connection or _connection()).interrupt()
            raise
    if failed:
        raise failed[0]
    return done[0]


def explain(error: duckdb.Error, where: str) -> SfumatoError:
    """What the engine says, as a sentence of ours that holds no value."""
    text = str(error)
    line = re.search(r"Error on Line: (\d+)", text)
    at = f"{where}, line {line[1]}" if line else where
    if fields := re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", text):
        return InputError(
            f"{at}: {fields[2]} fields where the header has {fields[1]}; mend the line, or quote fields that hold the delimiter."
        )
    if "unicode" in text.lower() or "utf-8" in text.lower():
        return InputError(f"{at}: not UTF-8 text; give the file's encoding, for example --encoding latin-1.")
    if "quote" in text.lower() and line:
        return InputError(
            f"{at}: a quoted field is not closed or has text behind its quote; mend the line, or set --quote."
        )
    if "Maximum line size" in text:
        return InputError(f"{at}: a line of more than 2 MB; is the delimiter or the quote another one?")
    if isinstance(error, duckdb.OutOfMemoryException):
        return InputError(
            f"{where}: the engine ran out of memory or temporary disk; give it more with --memory, or free disk."
        )
    if isinstance(error, duckdb.IOException):
        return InputError(f"{where}: cannot be read or written; is it complete, and is there room on the disk?")
    if isinstance(error, duckdb.BinderException | duckdb.CatalogException | duckdb.ParserException):
        return InputError(
            f"{where}: the engine cannot read it as a table; is the query one SELECT over the tables there?"
        )
    if "newline" in text.lower() or "new line" in text.lower():
        return InputError(f"{at}: line ends of several kinds; save the file with one kind of line end.")
    return InputError(f"{at}: the engine cannot read it; is the file complete, and what its name says?")


@dataclass(frozen=True, eq=False)
class DuckTable(Table):
    """Rows that a SELECT gives; nothing is read until something is counted or written."""

    name: str
    columns: tuple[str, ...]
    sql: str
    types: Mapping[str, str]
    notes: tuple[str, ...] = ()
    weighted: tuple[str, str] | None = None
    """A SELECT of the distinct rows, and its column that says how many there are of each, where that is known already."""
    lines: Callable[[], tuple[str, str] | None] | None = None
    """What finds that out where it is less work than reading every row, or says that it is not."""
    opened: tuple[str, tuple[tuple[str, Any], ...]] | None = None
    """The file that it is, whole, and the options it was read with; None for anything else."""
    spelled: tuple[DuckTable, Mapping[str, ColumnSpelling]] | None = None
    """The table as it stood before dates and numbers were read, and what was found of its columns; None for anything else."""
    origin: tuple[Any, Mapping[str, Any]] | None = field(default=None, repr=False)
    """What was opened, a file or a table in memory, and the options it was opened with; None for what was made here."""
    reading: StatedReading = field(default_factory=StatedReading)
    written: Mapping[str, Any] = field(default_factory=dict)
    parent: DuckTable | None = field(default=None, repr=False)
    """The table that it was made of, where it is one row a person."""
    chosen: ChosenRows | None = None
    points: frozenset[str] = frozenset()
    """Columns of texts that were numbers in the file, some or all: a point in them is decimal, whatever stands beside it."""
    variables: Mapping[str, Variable] = field(default_factory=dict)

    @classmethod
    def of(cls, name: str, sql: str, notes: tuple[str, ...] = ()) -> DuckTable:
        """A table over a SELECT, its columns looked up."""
        described = run(f"DESCRIBE {sql}", name)
        types = {row[0]: row[1] for row in described}
        for column, kind in types.items():
            if kind.endswith("]") or kind.startswith(_NESTED):
                raise InputError(
                    f"{name}: column {column!r} holds {kind.split('(')[0]} values; bring plain values only."
                )
        return cls(name, tuple(types), sql, types, notes)

    def _value(self, column: str, prefix: str = "") -> str:
        """A column by the missing-value rule: the empty text and NaN are NULL."""
        if column not in self.types:
            raise InputError(f"{self.name}: no column {column!r}; it has {', '.join(self.columns)}.")
        kind, quoted = self.types[column], prefix + name_of(column)
        if kind.startswith("TIMESTAMP_"):  # seconds, milliseconds, nanoseconds: one kind of moment
            return f"CAST({quoted} AS TIMESTAMP)"
        if not _PLAIN.match(kind):
            return f"NULLIF(CAST({quoted} AS VARCHAR), '')"
        if kind == "VARCHAR":
            return f"NULLIF({quoted}, '')"
        if kind in _FLOATS:  # -0 is 0; single precision is spelled by its double
            return f"CASE WHEN isnan({quoted}) THEN NULL ELSE CAST({quoted} AS DOUBLE) + CAST(0 AS DOUBLE) END"
        return quoted

    def _spelled(self, column: str) -> str:
        """A column as `core.column.text_of` spells it: whole floats without a point, moments with a T."""
        value, kind = self._value(column), self.types[column]
        if kind in _FLOATS:
            whole = f"CAST(CAST({value} AS BIGINT) AS VARCHAR)"
            return f"CASE WHEN abs({value}) < 1e15 AND {value} = trunc({value}) THEN {whole} ELSE CAST({value} AS VARCHAR) END"
        if kind.startswith("TIMESTAMP") and "ZONE" not in kind:
            second = "strftime({value}, '%Y-%m-%dT%H:%M:%S{more}')"
            whole, part = second.format(value=value, more=""), second.format(value=value, more=".%f")
            return f"CASE WHEN {value} = date_trunc('second', {value}) THEN {whole} ELSE {part} END"
        return value

    def _key(self, column: str) -> str:
        """A column to group by: the missing-value rule costs nothing here, since Counts merges what it makes equal."""
        value, kind = self._value(column), self.types[column]
        if kind in _FLOATS:
            return f"CAST({name_of(column)} AS DOUBLE) + CAST(0 AS DOUBLE)"
        return name_of(column) if _PLAIN.match(kind) else value

    def scan(self, by: Sequence[str]) -> Counts:
        """One GROUP BY; the answer has a row per distinct tuple."""
        keys = ", ".join(f"{self._key(column)} AS k{i}" for i, column in enumerate(by))
        source, rows, few = self._source()
        if few and set(by) == set(self.columns):  # the distinct rows are known, and Counts merges what is left to merge
            sql = f"SELECT {keys}, {name_of(few)} AS n FROM ({source})"
        else:
            sql = f"SELECT {keys + ', ' if by else ''}{rows} AS n FROM ({source}) {'GROUP BY ALL' if by else ''}"
        return Counts.from_arrow(arrow(sql, self.name), by, "n")

    def scan_within(self, by: Sequence[str], also: Sequence[str], most: int) -> Counts:
        """Grouped by all of them once; what is too much to hand over is rolled up further by the engine."""
        wide = [*by, *also]
        keys = ", ".join(f"{self._key(column)} AS k{i}" for i, column in enumerate(wide))
        source, rows, few = self._source()
        if few and int(run(f"SELECT count(*) FROM ({source})", self.name)[0][0]) <= most:
            return self.scan(wide)
        with kept_rows(f"SELECT {keys}, {rows} AS n FROM ({source}) GROUP BY ALL", self.name) as kept:
            chosen = wide if int(run(f"SELECT count(*) FROM {kept}", self.name)[0][0]) <= most else list(by)
            names = ", ".join(f"k{i}" for i in range(len(chosen)))
            sql = f"SELECT {names}, CAST(sum(n) AS BIGINT) AS n FROM {kept} GROUP BY ALL"
            return Counts.from_arrow(arrow(sql, self.name), chosen, "n")

    @remembered
    def sampled(self, by: Sequence[str], most: int) -> Counts:
        """By a hash of the tuple; two scans, the first to learn how many there are unless that is known."""
        known = self.known(by)
        if (known is not None and len(known) <= most) or self.__dict__.get("_rows", most + 1) <= most:
            return self.count(by)
        source, rows, few = self._source()
        names = ", ".join(f"k{i}" for i in range(len(by)))
        keys = [f"{self._key(column)} AS k{i}" for i, column in enumerate(by)]
        chosen = f"SELECT {', '.join([*keys, *([name_of(few)] if few else [])])} FROM ({source})"
        total, about = run(f"SELECT {rows}, approx_count_distinct(hash({names})) FROM ({chosen})", self.name)[0]
        self.__dict__.setdefault("_rows", int(total))
        parts = -(-int(about) // most)
        # the estimate is a few percent off: what is sampled must not hang on whether the tuples happened to be known
        if parts <= 1 or (about <= 1.2 * most and len(self.count(by)) <= most):
            return self.count(by)
        part = f"SELECT {names}, {rows} AS n FROM ({chosen}) WHERE hash({names}) % {parts} = 0 GROUP BY ALL"
        return Counts.from_arrow(arrow(part, self.name), by, "n")

    @remembered
    def in_order(self, columns: Sequence[str]) -> Mapping[str, tuple[int, int]]:
        """One scan in the order of the rows."""
        if not columns:
            return {}
        values = ", ".join(
            f"{self._value(c)} AS v{i}, lag({self._value(c)}) OVER () AS p{i}" for i, c in enumerate(columns)
        )
        asked = ", ".join(f"count(*) FILTER (v{i} > p{i}), count(*) FILTER (v{i} < p{i})" for i in range(len(columns)))
        row = run(f"SELECT {asked} FROM (SELECT {values} FROM ({self.sql}))", self.name)[0]
        return {c: (int(row[2 * i]), int(row[2 * i + 1])) for i, c in enumerate(columns)}

    def _source(self) -> tuple[str, str, str | None]:
        """What to scan, what counts its rows, and which of its columns does where the rows are known to be few and distinct."""
        weighted = self.lines() if self.weighted is None and self.lines is not None else self.weighted
        if weighted is None:
            return self.sql, "count(*)", None
        source, times = weighted
        return source, f"CAST(COALESCE(sum({name_of(times)}), 0) AS BIGINT)", times

    def instead(self, rows: pa.Table, times: pa.Array) -> DuckTable:
        """These distinct rows, each so many times."""
        times_name = unused("rows alike", rows.column_names)
        view = register(rows.append_column(times_name, times))
        names = ", ".join(name_of(column) for column in rows.column_names)
        every = f"SELECT {names} FROM (SELECT *, unnest(range({name_of(times_name)})) FROM {view})"
        return replace(DuckTable.of(self.name, every, self.notes), weighted=(f"SELECT * FROM {view}", times_name))

    def digest(self) -> str:
        """Of a file its bytes and how they are read; of anything else its rows, in their order."""
        digest = hashlib.sha256(repr((self.columns, self.opened and self.opened[1])).encode())
        if self.spelled is not None:
            digest.update(
                repr([(name, each.way and astuple(each.way)) for name, each in self.spelled[1].items()]).encode()
            )
        if self.opened is not None:
            with open(self.opened[0], "rb") as file:
                for part in iter(lambda: file.read(1 << 20), b""):
                    digest.update(part)
            return digest.hexdigest()
        for batch in arrow(self.sql, self.name).to_batches():
            sink = pa.BufferOutputStream()
            with pa.ipc.new_stream(sink, batch.schema) as stream:
                stream.write_batch(batch)
            digest.update(sink.getvalue())
        return digest.hexdigest()

    def portable(self) -> tuple[str, tuple[tuple[str, Any], ...], str]:
        """A file, options and a name from which another process opens the same table; its rows are written to one if need be."""
        if self.opened is not None:
            return (*self.opened, self.name)
        if self.parent is not None:  # made again there
            return self.parent.portable()
        path = folder() / f"{next(serial)}.arrow"
        rows = arrow(self.sql, self.name)
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, rows.schema) as writer:
            writer.write_table(rows)
        return str(path), (("dates", "text"), ("decimal", "text")), self.name  # what was to be read is read

    def stated(self, reading: Mapping[str, Any]) -> DuckTable:
        """Opened again where a file or a table in memory is known, once for each reading."""
        from .stated_table import again

        if self.parent is not None and self.chosen is not None:
            return self.parent.stated(reading).one_row_by(self.chosen.choice)
        kept: dict[str, DuckTable] = self.__dict__.setdefault("_stated", {})
        key = repr(sorted(reading.items()))
        if key not in kept:
            kept[key] = again(self, reading)
        return kept[key]

    def one_row_by(self, choice: RowChoice) -> DuckTable:
        """Made once for each choice."""
        from .one_row import one_row

        kept: dict[RowChoice, DuckTable] = self.__dict__.setdefault("_one_row", {})
        if choice not in kept:
            kept[choice] = one_row(self, choice)
        return kept[choice]

    def rows_of_each(self, person: str, most: int, key: bytes) -> DuckTable:
        """The rows of a person are numbered in the order of their values; the smallest hashes of key, person and number are drawn.

        So what is drawn of a person depends on the key and that person's rows alone, never on where they stand. Without the key a hash
        tells nothing, and with it all rows of a person are drawn alike.
        """
        order = ", ".join(f"{name_of(column)} ASC NULLS LAST" for column in self.columns)
        who, at = unused("person_drawn", self.columns), unused("row_of_person", self.columns)
        numbered = (
            f"SELECT *, CAST({self._spelled(person)} AS VARCHAR) AS {who}, "
            f"row_number() OVER (PARTITION BY {self._value(person)} ORDER BY {order}) AS {at} FROM ({self.sql})"
        )
        said = f"concat({literal(key.hex())}, ' ', {at}, ' ', COALESCE('=' || {who}, ''))"
        drawn = f"row_number() OVER (PARTITION BY {who} ORDER BY sha256({said}), {at}) <= {int(most)}"
        every = f"SELECT * EXCLUDE ({who}, {at}) FROM ({numbered}) QUALIFY {drawn}"
        return replace(DuckTable.of(self.name, every, self.notes), reading=self.reading)

    @remembered
    def keep(self, columns: Sequence[str]) -> DuckTable:
        """A projection; the same columns are the same table, so what was counted on one is known of all."""
        chosen = ", ".join(f"{self._value(column)} AS {name_of(column)}" for column in columns)
        return DuckTable.of(self.name, f"SELECT {chosen} FROM ({self.sql})", self.notes)

    def each(
        self, cells: Mapping[str, str], notes: Sequence[str] = (), names: Mapping[str, str] | None = None
    ) -> DuckTable:
        """The same rows with some columns rewritten cell by cell, or under other names; counted by lines where it was before."""
        called = {column: (names or {}).get(column, column) for column in self.columns}
        chosen = ", ".join(f"{cells.get(c, name_of(c))} AS {name_of(called[c])}" for c in self.columns)
        made = DuckTable.of(self.name, f"SELECT {chosen} FROM ({self.sql})", (*self.notes, *notes))
        lines = self.lines
        if lines is None:
            return made

        def weighted() -> tuple[str, str] | None:
            if (given := lines()) is None:
                return None
            return f"SELECT {chosen}, {name_of(given[1])} FROM ({given[0]})", given[1]

        return replace(made, lines=weighted)

    def copied(self, columns: Mapping[str, str]) -> DuckTable:
        """Copies stand last, so that the order of the rows by all their values is as before."""
        copies = ", ".join(f"{name_of(of)} AS {name_of(name)}" for name, of in columns.items())
        return DuckTable.of(self.name, f"SELECT *, {copies} FROM ({self.sql})", self.notes)

    def recode(self, recoding: Recoding) -> DuckTable:
        """A hash join with the replacements, missing equal to missing."""
        view = register(recoding.table.rename_columns([f"m{i}" for i in range(len(recoding.table.column_names))]))
        width, last = len(recoding.by), len(recoding.table.column_names) - 1
        new = {column: f"m{width + i}" for i, column in enumerate(recoding.to)}
        chosen = ", ".join(
            f"m.{new[column]} AS {name_of(column)}" if column in new else f"t.{name_of(column)}"
            for column in self.columns
        )
        match = " AND ".join(f"{self._value(c, 't.')} IS NOT DISTINCT FROM m.m{i}" for i, c in enumerate(recoding.by))
        rows, steps = f"({self.sql})", f"(SELECT * FROM {view})"
        if recoding.divides:
            # The rows of a tuple are numbered in the order of all their values, never in file order.
            tuple_of = ", ".join(self._value(column) for column in recoding.by)
            order = ", ".join(name_of(column) for column in self.columns)
            number = unused("row_of_tuple", self.columns)
            numbered = f"row_number() OVER (PARTITION BY {tuple_of} ORDER BY {order}) AS {number}"
            rows = f"(SELECT *, {numbered} FROM ({self.sql}))"
            keys = ", ".join(f"m{i}" for i in range(width))
            rest = ", ".join(f"m{i}" for i in range(width, last))
            # ROWS: replacements that are equal still follow one another
            before = f"PARTITION BY {keys} ORDER BY {rest} ROWS UNBOUNDED PRECEDING"
            steps = f"(SELECT *, sum(m{last}) OVER ({before}) AS upto FROM {view})"
            match += f" AND t.{number} <= m.upto AND t.{number} > m.upto - m.m{last}"
        return DuckTable.of(self.name, f"SELECT {chosen} FROM {rows} t JOIN {steps} m ON {match}", self.notes)

    @property
    def _order(self) -> str:
        """By all columns, missing values last: nothing of the order that the rows came in is left."""
        return ", ".join(f"{i} ASC NULLS LAST" for i in range(1, len(self.columns) + 1))

    def write(self, path: Path, variables: Mapping[str, Variable] | None = None) -> None:
        """COPY sorted rows to a temporary name in the same folder, then rename; formats that the engine does not write go over Parquet.

        Equal rows are counted, the distinct ones sorted, and each repeated: a release has few distinct rows, or is not much
        slower than sorting all.
        """
        form = check_out(path, self.columns)
        if form not in (formats.CSV, formats.PARQUET):
            from .released_file import write_released

            parquet = folder() / f"{next(serial)}.parquet"
            try:
                self.write(parquet)
                write_released(parquet, path, form, variables or {})
            finally:
                parquet.unlink(missing_ok=True)
            return
        csv = form is formats.CSV
        chosen = ", ".join(f"{self._spelled(c) if csv else self._value(c)} AS {name_of(c)}" for c in self.columns)
        if csv and len(self.columns) == 1:
            # a row of one missing value would be an empty line, which is no row: an empty text is written as ""
            only = name_of(self.columns[0])
            chosen = f"COALESCE(CAST({self._spelled(self.columns[0])} AS VARCHAR), '') AS {only}"
        how = "FORMAT csv, HEADER true" if csv else "FORMAT parquet, COMPRESSION zstd"
        hidden = hidden_beside(path)
        try:
            number = unused("rows_alike", self.columns)
            source, rows, _ = self._source()
            distinct = f"SELECT {chosen}, {rows} AS {number} FROM ({source}) GROUP BY ALL"
            names = ", ".join(name_of(c) for c in self.columns)
            with turn, kept_rows(distinct, self.name) as kept:
                ordered = f"SELECT * FROM {kept} ORDER BY {self._order}"
                total, all_rows = run(f"SELECT count(*), sum({number}) FROM {kept}", self.name)[0]
                if csv and 0 < 2 * total <= (all_rows or 0) and total * len(self.columns) <= _MOST_FIELDS:
                    copy = f"COPY (SELECT {names} FROM ({ordered})) TO {literal(str(hidden))} ({how})"
                    run(copy, self.name, str(path))
                    times = numpy(arrow(f"SELECT {number} AS n FROM ({ordered})", self.name).column("n"))
                    _repeat_lines(hidden, times.astype(np.int64), str(path))
                else:
                    repeated = f"SELECT {names}, unnest(range({number})) FROM ({ordered})"
                    with _one_thread():  # in parallel, unnest takes 1 GB more
                        run(
                            f"COPY (SELECT {names} FROM ({repeated})) TO {literal(str(hidden))} ({how})",
                            self.name,
                            str(path),
                        )
            with hidden.open("rb+") as file:
                os.fsync(file.fileno())
            hidden.replace(path)
        finally:
            hidden.unlink(missing_ok=True)

    def to_arrow(self) -> pa.Table:
        """All rows in the order in which `write` writes them, with the types of a Parquet file."""
        chosen = ", ".join(f"{self._value(c)} AS {name_of(c)}" for c in self.columns)
        return arrow(f"SELECT {chosen} FROM ({self.sql}) ORDER BY {self._order}", self.name)

    def beside(self, original: Table, key: str | None) -> DuckTable:
        """Both tables' columns, rows paired by position or by a key that is unique in both."""
        original.check_order(key)
        original = original.fetched()
        assert isinstance(original, DuckTable)
        sides = []
        for table, side in ((self, "released"), (original, "original")):
            columns = [f"{table._value(c)} AS {name_of(f'{side}.{c}')}" for c in table.columns]
            if key is not None:
                if table.unique_rows((key,))[0] != table.rows:
                    raise InputError(f"{table.name}: column {key!r} is not unique, so rows cannot be paired by it.")
                columns.append(f"CAST({table._spelled(key)} AS VARCHAR) AS {name_of(f'{side} key')}")
            sides.append(f"(SELECT {', '.join(columns)} FROM ({table.sql}))")
        if key is None:
            if self.rows != original.rows:
                raise InputError(
                    f"{self.name} has {self.rows} rows and {original.name} {original.rows}, so rows cannot be paired by position."
                )
            return DuckTable.of(self.name, f"SELECT * FROM {sides[0]} POSITIONAL JOIN {sides[1]}")
        on = f"{name_of('released key')} IS NOT DISTINCT FROM {name_of('original key')}"
        return DuckTable.of(self.name, f"SELECT * FROM {sides[0]} JOIN {sides[1]} ON {on}")

    def fetched(self) -> DuckTable:
        """They are here."""
        return self

    def part(self, column: str, *, of: int, at: int) -> DuckTable:
        """By a hash of the value."""
        dealt = f"SELECT * FROM ({self.sql}) WHERE hash({self._value(column)}) % {of} = {at}"
        return DuckTable(self.name, self.columns, dealt, self.types, self.notes)

    @remembered
    def distinct(self) -> Mapping[str, tuple[int, int]]:
        """All columns in one scan: an estimate of the distinct values, and exactly how many rows are missing."""
        asked = ", ".join(
            f"approx_count_distinct({self._value(c)}), count(*) - count({self._value(c)})" for c in self.columns
        )
        row = run(f"SELECT {asked} FROM ({self.sql})", self.name)[0]
        return {c: (row[2 * i] + (row[2 * i + 1] > 0), row[2 * i + 1]) for i, c in enumerate(self.columns)}

    def scan_each(self, columns: Sequence[str]) -> Mapping[str, Counts]:
        """All columns in one scan, by GROUPING SETS."""
        source, rows, few = self._source()
        keys = ", ".join(
            [*(f"{self._key(c)} AS k{i}" for i, c in enumerate(columns)), *([name_of(few)] if few else [])]
        )
        ids = ", ".join(f"k{i}" for i in range(len(columns)))
        sets = ", ".join(f"(k{i})" for i in range(len(columns)))
        which = " + ".join(f"{i} * (1 - GROUPING(k{i}))" for i in range(len(columns)))
        sql = f"SELECT {ids}, {which} AS s, {rows} AS n FROM (SELECT {keys} FROM ({source})) GROUP BY GROUPING SETS ({sets})"
        answer = arrow(f"{sql} ORDER BY s", self.name)
        edges = np.searchsorted(numpy(answer.column("s")), np.arange(len(columns) + 1))
        scanned = {}
        for i, column in enumerate(columns):
            part = answer.slice(edges[i], edges[i + 1] - edges[i])
            values, codes = encode(column, part.column(f"k{i}"))
            scanned[column] = Counts.of([values], [codes], numpy(part.column("n")).astype(np.int64))
        return scanned

    @remembered
    def first(self, rows: int) -> Mapping[str, list[str | None]]:
        """The first rows."""
        answer = arrow(f"SELECT * FROM ({self.sql}) LIMIT {int(rows)}", self.name)
        return {c: [text_of(value) for value in answer.column(i).to_pylist()] for i, c in enumerate(self.columns)}

    def head(self, rows: int) -> Mapping[str, list[str]]:
        """Of the first rows."""
        return {c: [text for text in texts if text is not None] for c, texts in self.first(rows).items()}

    @remembered
    def unique_rows(self, by: Sequence[str]) -> tuple[int, int]:
        """Counted inside the engine, so that the distinct tuples need not fit in memory."""
        if not by or self.known(by) is not None:
            return super().unique_rows(by)
        keys = ", ".join(self._value(column) for column in by)
        source, rows, _ = self._source()
        grouped = f"SELECT {rows} AS n FROM ({source}) GROUP BY {keys}"
        row = run(f"SELECT count(*) FILTER (n = 1), count(*) FROM ({grouped})", self.name)[0]
        return int(row[0]), int(row[1])


def arrow(sql: str, where: str) -> pa.Table:
    """Execute and fetch as Arrow, through a relation so that the rows are not copied once more."""
    try:
        return patiently(lambda: _connection().sql(sql).to_arrow_table())
    except duckdb.Error as error:
        raise explain(error, where) from None


def _repeat_lines(path: Path, times: IntArray, name: str) -> None:
    """Write each record of a CSV file below its header so many times: what the engine spelled once is copied as it stands."""
    raw = path.read_bytes()
    spelled = np.frombuffer(raw, dtype=np.uint8)
    ends = np.flatnonzero(spelled == ord("\n")) + 1
    quotes = np.flatnonzero(spelled == ord('"'))
    # a line end behind an odd number of quotes stands inside of a value
    ends = ends[np.searchsorted(quotes, ends) % 2 == 0] if len(quotes) else ends
    if len(ends) != len(times) + 1 or ends[-1] != len(spelled):
        raise NotMet(
            f"{name}: not written; Sfumato lost count of the rows, which is a mistake of ours. Please report it."
        )
    try:
        with path.open("wb", buffering=1 << 20) as file:
            file.write(raw[: ends[0]])
            for row in range(0, len(times), _ROWS_AT_ONCE):
                cuts = ends[row : row + _ROWS_AT_ONCE + 1].tolist()
                for start, end, left in zip(cuts, cuts[1:], times[row : row + _ROWS_AT_ONCE].tolist(), strict=False):
                    for part in range(0, left, _ROWS_AT_ONCE):
                        file.write(raw[start:end] * min(left - part, _ROWS_AT_ONCE))
    except OSError:
        raise explain(duckdb.IOException(), name) from None


@contextmanager
def kept_rows(sql: str, *where: str) -> Iterator[str]:
    """The rows of a SELECT, held (or spilled) for as long as they are needed."""
    name = f"kept_{next(serial)}"
    _tidy()
    try:
        run(f"CREATE TEMP TABLE {name} AS {sql}", *where)
        yield name
    finally:
        run(f"DROP TABLE IF EXISTS {name}", *where)


@contextmanager
def _one_thread() -> Iterator[None]:
    """One thread of the engine, then as many as before."""
    threads = int(run("SELECT current_setting('threads')", "engine")[0][0])
    configure(threads=1)
    try:
        yield
    finally:
        configure(threads=threads)


_gone: list[str] = []


def drop_later(table: str) -> None:
    """Let go of a table that no one asks any more, when the engine is next given one: whoever lets go may be anywhere."""
    _gone.append(table)


def _tidy() -> None:
    while _gone:
        run(f"DROP TABLE IF EXISTS {_gone.pop()}", "engine")


def register(table: pa.Table) -> str:
    """An Arrow table under a name of its own, kept for as long as the process."""
    name = f"given_{next(serial)}"
    with turn:
        _connection().register(name, table)
    return name
