"""Counting with DuckDB, in this process: files are scanned where they lie, only counts come back."""

from __future__ import annotations

import atexit
import itertools
import os
import re
import shutil
import tempfile
import threading
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

from ..core.arrow import numpy, strings
from ..core.column import encode, text_of
from ..core.counts import Counts
from ..core.errors import InputError, SfumatoError
from ..core.table import Recoding, Table
from . import dialect

_serial = itertools.count()
_NESTED = ("STRUCT", "MAP", "UNION", "BLOB", "BIT")
_PLAIN = re.compile(r"^(U?(TINY|SMALL|BIG)?INT(EGER)?|BOOLEAN|DATE|VARCHAR|DOUBLE|FLOAT|REAL|DECIMAL.*|TIMESTAMP)$")


def configure(*, memory: str | None = None, threads: int | None = None) -> None:
    """Bound what the engine may use; beyond the memory limit it spills to a private temporary folder."""
    try:
        if memory is not None:
            _connection().execute(f"SET memory_limit = {_literal(memory)}")
        if threads is not None:
            _connection().execute(f"SET threads = {int(threads)}")
    except duckdb.Error:
        raise InputError(f"{memory!r} is no memory limit; write for example 4GB.") from None


@cache
def _folder() -> Path:
    """A private folder for spilling and for copies in another encoding, removed at exit."""
    folder = Path(tempfile.mkdtemp(prefix="sfumato-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


@cache
def _connection() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect(":memory:")
    connection.execute(f"SET temp_directory = {_literal(str(_folder()))}")
    # Nothing is ever fetched: what the installed package has is what there is.
    connection.execute("SET autoinstall_known_extensions = false")
    connection.execute("SET enable_progress_bar = false")
    return connection


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _name(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


_turn = threading.RLock()  # registered tables belong to the one connection, so threads take turns


def _run(sql: str, where: str) -> list[tuple[Any, ...]]:
    """Execute; what the engine says against the data becomes a sentence of ours without any of its values."""
    try:
        with _turn:
            return list(_connection().execute(sql).fetchall())
    except duckdb.Error as error:
        raise _explain(error, where) from None


def _explain(error: duckdb.Error, where: str) -> SfumatoError:
    text = str(error)
    line = re.search(r"Error on Line: (\d+)", text)
    at = f"{where}, line {line[1]}" if line else where
    if found := re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", text):
        return InputError(
            f"{at}: {found[2]} fields where the header has {found[1]}; mend the line, or quote fields that hold the delimiter."
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
        return InputError(f"{where}: the engine cannot read the query or file ({type(error).__name__}).")
    return InputError(f"{at}: the engine cannot read it ({type(error).__name__}).")


@dataclass(frozen=True, eq=False)
class DuckTable(Table):
    """Rows that a SELECT gives; nothing is read until something is counted or written."""

    name: str
    columns: tuple[str, ...]
    sql: str
    types: Mapping[str, str]
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, name: str, sql: str, notes: tuple[str, ...] = ()) -> DuckTable:
        """A table over a SELECT, its columns looked up."""
        described = _run(f"DESCRIBE {sql}", name)
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
        kind, quoted = self.types[column], prefix + _name(column)
        if not _PLAIN.match(kind):
            return f"NULLIF(CAST({quoted} AS VARCHAR), '')"
        if kind == "VARCHAR":
            return f"NULLIF({quoted}, '')"
        return (
            f"CASE WHEN isnan({quoted}) THEN NULL ELSE {quoted} END" if kind in ("DOUBLE", "FLOAT", "REAL") else quoted
        )

    def _key(self, column: str) -> str:
        """A column to group by: the missing-value rule costs nothing here, since Counts merges what it makes equal."""
        self._value(column)
        return _name(column) if _PLAIN.match(self.types[column]) else f"CAST({_name(column)} AS VARCHAR)"

    def count(self, by: Sequence[str]) -> Counts:
        """One GROUP BY; the answer has a row per distinct tuple."""
        keys = ", ".join(f"{self._key(column)} AS k{i}" for i, column in enumerate(by))
        sql = f"SELECT {keys + ', ' if by else ''}count(*) AS n FROM ({self.sql}) {'GROUP BY ALL' if by else ''}"
        return Counts.from_arrow(_arrow(sql, self.name), by, "n")

    @cached_property
    def _rows(self) -> int:
        return int(_run(f"SELECT count(*) FROM ({self.sql})", self.name)[0][0])

    @property
    def rows(self) -> int:
        """Counted once and kept."""
        return self._rows

    def keep(self, columns: Sequence[str]) -> DuckTable:
        """A projection."""
        chosen = ", ".join(f"{self._value(column)} AS {_name(column)}" for column in columns)
        return DuckTable.of(self.name, f"SELECT {chosen} FROM ({self.sql})", self.notes)

    def recode(self, recoding: Recoding) -> DuckTable:
        """A hash join with the replacements, missing equal to missing."""
        view = _register(recoding.table.rename_columns([f"m{i}" for i in range(len(recoding.table.column_names))]))
        width, last = len(recoding.by), len(recoding.table.column_names) - 1
        new = {column: f"m{width + i}" for i, column in enumerate(recoding.to)}
        chosen = ", ".join(
            f"m.{new[column]} AS {_name(column)}" if column in new else f"t.{_name(column)}" for column in self.columns
        )
        match = " AND ".join(f"{self._value(c, 't.')} IS NOT DISTINCT FROM m.m{i}" for i, c in enumerate(recoding.by))
        rows, steps = f"({self.sql})", f"(SELECT * FROM {view})"
        if recoding.divides:
            # The rows of a tuple are numbered in the order of all their values, never in file order.
            tuple_of = ", ".join(self._value(column) for column in recoding.by)
            order = ", ".join(_name(column) for column in self.columns)
            rows = (
                f"(SELECT *, row_number() OVER (PARTITION BY {tuple_of} ORDER BY {order}) AS __row FROM ({self.sql}))"
            )
            keys = ", ".join(f"m{i}" for i in range(width))
            rest = ", ".join(f"m{i}" for i in range(width, last))
            steps = f"(SELECT *, sum(m{last}) OVER (PARTITION BY {keys} ORDER BY {rest}) AS __to FROM {view})"
            match += f" AND t.__row <= m.__to AND t.__row > m.__to - m.m{last}"
        return DuckTable.of(self.name, f"SELECT {chosen} FROM {rows} t JOIN {steps} m ON {match}", self.notes)

    def write(self, path: Path) -> None:
        """COPY sorted rows to a temporary name in the same folder, then rename."""
        chosen = ", ".join(f"{self._value(column)} AS {_name(column)}" for column in self.columns)
        order = ", ".join(f"{i} ASC NULLS LAST" for i in range(1, len(self.columns) + 1))
        form = {".parquet": "FORMAT parquet, COMPRESSION zstd", ".csv": "FORMAT csv, HEADER true"}.get(
            path.suffix.lower()
        )
        if form is None:
            raise InputError(f"{path}: a release is written as .csv or .parquet.")
        if not path.parent.is_dir():
            raise InputError(f"{path}: the folder does not exist; make it first.")
        hidden = path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}.partial")
        try:
            _run(
                f"COPY (SELECT {chosen} FROM ({self.sql}) ORDER BY {order}) TO {_literal(str(hidden))} ({form})",
                str(path),
            )
            with hidden.open("rb+") as file:
                os.fsync(file.fileno())
            hidden.replace(path)
        finally:
            hidden.unlink(missing_ok=True)

    def beside(self, original: Table, key: str | None) -> DuckTable:
        """Both tables' columns, rows paired by position or by a key that is unique in both."""
        assert isinstance(original, DuckTable)
        mine = ", ".join(f"{self._value(c)} AS {_name('released.' + c)}" for c in self.columns)
        theirs = ", ".join(f"{original._value(c)} AS {_name('original.' + c)}" for c in original.columns)
        if self.rows != original.rows and key is None:
            raise InputError(
                f"{self.name} has {self.rows} rows and {original.name} {original.rows}, so rows cannot be paired by position."
            )
        left, right = f"(SELECT {mine} FROM ({self.sql}))", f"(SELECT {theirs} FROM ({original.sql}))"
        if key is None:
            return DuckTable.of(self.name, f"SELECT * FROM {left} POSITIONAL JOIN {right}")
        for table in (self, original):
            if table.unique_rows((key,))[0] != table.rows:
                raise InputError(f"{table.name}: column {key!r} is not unique, so rows cannot be paired by it.")
        on = f"{_name('released.' + key)} = {_name('original.' + key)}"
        return DuckTable.of(self.name, f"SELECT * FROM {left} JOIN {right} ON {on}")

    def distinct(self) -> Mapping[str, tuple[int, int]]:
        """All columns in one scan: an estimate of the distinct values, and exactly how many rows are missing."""
        asked = ", ".join(
            f"approx_count_distinct({self._value(c)}), count(*) - count({self._value(c)})" for c in self.columns
        )
        row = _run(f"SELECT {asked} FROM ({self.sql})", self.name)[0]
        return {c: (row[2 * i] + (row[2 * i + 1] > 0), row[2 * i + 1]) for i, c in enumerate(self.columns)}

    def value_counts(self, columns: Sequence[str], limit: int) -> Mapping[str, Counts | None]:
        """All columns in one scan, by GROUPING SETS; columns far beyond the limit are not counted at all."""
        found: dict[str, Counts | None] = dict.fromkeys(columns)
        about = self.distinct() if limit < 1 << 40 else dict.fromkeys(columns, (0, 0))
        asked = [column for column in columns if about[column][0] <= 1.2 * limit]  # the estimate is a few percent off
        if not asked:
            return found
        keys = ", ".join(f"{self._key(c)} AS k{i}" for i, c in enumerate(asked))
        ids = ", ".join(f"k{i}" for i in range(len(asked)))
        sets = ", ".join(f"(k{i})" for i in range(len(asked)))
        which = " + ".join(f"{i} * (1 - GROUPING(k{i}))" for i in range(len(asked)))
        sql = f"SELECT {ids}, {which} AS s, count(*) AS n FROM (SELECT {keys} FROM ({self.sql})) GROUP BY GROUPING SETS ({sets})"
        answer = _arrow(f"{sql} ORDER BY s", self.name)
        edges = np.searchsorted(numpy(answer.column("s")), np.arange(len(asked) + 1))
        for i, column in enumerate(asked):
            part = answer.slice(edges[i], edges[i + 1] - edges[i])
            counted, codes = encode(column, part.column(f"k{i}"))
            counts = Counts.of([counted], [codes], numpy(part.column("n")).astype(np.int64))
            found[column] = counts if len(counts) <= limit else None
        return found

    def head(self, rows: int) -> Mapping[str, list[str]]:
        """The first rows."""
        answer = _arrow(f"SELECT * FROM ({self.sql}) LIMIT {int(rows)}", self.name)
        spelled = {c: (text_of(value) for value in answer.column(i).to_pylist()) for i, c in enumerate(self.columns)}
        return {c: [text for text in texts if text is not None] for c, texts in spelled.items()}

    def unique_rows(self, by: Sequence[str]) -> tuple[int, int]:
        """Counted inside the engine, so that the distinct tuples need not fit in memory."""
        keys = ", ".join(self._value(column) for column in by)
        grouped = f"SELECT count(*) AS n FROM ({self.sql}) GROUP BY {keys}"
        row = _run(f"SELECT count(*) FILTER (n = 1), count(*) FROM ({grouped})", self.name)[0]
        return int(row[0]), int(row[1])


def _arrow(sql: str, where: str) -> pa.Table:
    """Execute and fetch as Arrow, through a relation so that the rows are not copied once more."""
    try:
        with _turn:
            return _connection().sql(sql).to_arrow_table()
    except duckdb.Error as error:
        raise _explain(error, where) from None


def _register(table: pa.Table) -> str:
    """An Arrow table under a name of its own, kept for as long as the process."""
    name = f"given_{next(_serial)}"
    _connection().register(name, table)
    return name


def read(source: Any, **options: Any) -> DuckTable:
    """Open whatever the user brought."""
    options = {key: value for key, value in options.items() if value is not None}
    missing = tuple(options.pop("missing", ()))
    table = _from_path(source, options) if isinstance(source, Path) else _from_memory(source)
    if options:
        raise InputError(f"{table.name}: {', '.join(sorted(options))} does not apply to this kind of table.")
    if missing:
        texts = ", ".join(_literal(text) for text in missing)
        chosen = ", ".join(
            f"CASE WHEN {_name(c)} IN ({texts}) THEN NULL ELSE {_name(c)} END AS {_name(c)}"
            if table.types[c] == "VARCHAR"
            else _name(c)
            for c in table.columns
        )
        table = DuckTable.of(table.name, f"SELECT {chosen} FROM ({table.sql})", table.notes)
    return table


def _from_path(path: Path, options: dict[str, Any]) -> DuckTable:
    if path.is_dir():
        raise InputError(f"{path}: a folder, not a table; name a file.")
    kind = path.suffix.lower()
    start = dialect.sample(path)[0][:16]
    if start.startswith(b"PAR1"):
        _check(
            path, _run(f"SELECT name FROM parquet_schema({_literal(str(path))}) WHERE num_children IS NULL", str(path))
        )
        return DuckTable.of(str(path), f"SELECT * FROM read_parquet({_literal(str(path))})")
    if kind == ".parquet":
        raise InputError(f"{path}: not a Parquet file, whatever its name says.")
    if kind in (".xlsx", ".xlsm", ".xls", ".xlsb", ".ods"):
        return _excel(path, options.pop("sheet", None))
    if start[8:12] == b"DUCK":
        return _database(path, options.pop("query", None))
    if start.startswith(b"SQLite format 3"):
        return _sqlite(path, options.pop("query", None))
    if kind in (".arrow", ".feather", ".ipc"):
        return _from_memory(pa.ipc.open_file(pa.memory_map(str(path))).read_all(), str(path))
    return _csv(path, options)


def _check(path: Path, names: list[tuple[Any, ...]]) -> None:
    dialect._check_names(tuple(row[0] for row in names), path)


def _csv(path: Path, options: dict[str, Any]) -> DuckTable:
    keys = ("delimiter", "quote", "encoding", "header", "names")
    found = dialect.detect(path, **{key: options.pop(key) for key in keys if key in options})
    file = path
    if found.encoding not in ("utf-8", "utf-8-sig"):
        file = _folder() / f"{next(_serial)}.csv"
        dialect.transcode(path, found.encoding, file)
    # Every column is text: a code keeps its leading zeros, and what a value is gets decided on the distinct values.
    columns = ", ".join(f"{_literal(name)}: 'VARCHAR'" for name in found.names)
    sql = (
        f"SELECT * FROM read_csv({_literal(str(file))}, auto_detect = false, columns = {{{columns}}}, "
        f"delim = {_literal(found.delimiter)}, quote = {_literal(found.quote)}, escape = {_literal(found.quote)}, "
        f"header = {str(found.header).lower()}, nullstr = '', strict_mode = true)"
    )
    return DuckTable.of(str(path), sql, found.notes)


def _from_memory(source: Any, name: str = "the table") -> DuckTable:
    if type(source).__module__.split(".")[0] == "pandas":
        if len({str(c) for c in source.columns}) < len(source.columns):
            raise InputError("the table: a column name appears twice; rename one.")
        source = pa.Table.from_pandas(source, preserve_index=False)
    try:
        table = pa.table(source)
    except (TypeError, ValueError, pa.ArrowException):
        raise InputError(
            f"A table of type {type(source).__name__} cannot be read; bring a file, Arrow, pandas or polars."
        ) from None
    dialect._check_names(tuple(table.column_names), Path(name))
    return DuckTable.of(name, f"SELECT * FROM {_register(table)}")


def _excel(path: Path, sheet: str | None) -> DuckTable:
    import python_calamine

    try:
        book = python_calamine.CalamineWorkbook.from_path(str(path))
        names = book.sheet_names
        if sheet is not None and sheet not in names:
            raise InputError(f"{path}: no sheet {sheet!r}; it has {', '.join(names)}.")
        chosen = sheet or names[0]
        rows = book.get_sheet_by_name(chosen).to_python(skip_empty_area=True)
    except python_calamine.CalamineError:
        raise InputError(f"{path}: not an Excel file that can be read; save it as .xlsx or CSV.") from None
    rows = [row for row in rows if any(value != "" for value in row)]
    if not rows:
        raise InputError(f"{path}: sheet {chosen!r} is empty.")
    if len(rows) < 2:
        raise InputError(f"{path}: sheet {chosen!r} has a header but no row below it.")
    header = tuple(text_of(value) or "" for value in rows[0])
    dialect._check_names(header, path)
    columns = [_typed([row[i] for row in rows[1:]]) for i in range(len(header))]
    notes = (f"sheet {chosen!r} of {len(names)}; another: --sheet",) if len(names) > 1 and sheet is None else ()
    return DuckTable.of(
        str(path), f"SELECT * FROM {_register(pa.Table.from_arrays(columns, names=list(header)))}", notes
    )


def _typed(values: list[Any]) -> pa.Array:
    """Numbers as numbers where all are, else texts."""
    given = [None if value == "" else value for value in values]
    if all(value is None or (isinstance(value, int | float) and not isinstance(value, bool)) for value in given):
        whole = all(value is None or float(value).is_integer() for value in given)
        return (
            pa.array([None if v is None else int(v) for v in given], pa.int64())
            if whole
            else pa.array(given, pa.float64())
        )
    return strings([text_of(value) for value in given])


def _database(path: Path, query: str | None) -> DuckTable:
    alias = f"attached_{next(_serial)}"
    _run(f"ATTACH {_literal(str(path))} AS {alias} (READ_ONLY)", str(path))
    if query is None:
        tables = _run(
            f"SELECT schema_name, table_name FROM duckdb_tables() WHERE database_name = {_literal(alias)}", str(path)
        )
        if len(tables) != 1:
            raise InputError(f"{path}: a database of {len(tables)} tables; choose rows with --query 'SELECT ...'.")
        return DuckTable.of(str(path), f"SELECT * FROM {alias}.{_name(tables[0][0])}.{_name(tables[0][1])}")
    view = f"query_{next(_serial)}"
    with _turn:
        try:
            _connection().execute(f"USE {alias}")
            _connection().execute(f"CREATE TEMP VIEW {view} AS {query.strip().rstrip(';')}")
        except duckdb.Error:
            raise InputError(f"{path}: the query cannot be run; is it one SELECT over its tables?") from None
        finally:
            _connection().execute("USE memory")
    return DuckTable.of(str(path), f"SELECT * FROM temp.main.{view}")


def _sqlite(path: Path, query: str | None) -> DuckTable:
    """SQLite through Python's own driver, since the engine's extension cannot be downloaded; copied in batches."""
    import sqlite3

    import pyarrow.parquet as pq

    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as connection:
        if query is None:
            tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
            if len(tables) != 1:
                raise InputError(f"{path}: a database of {len(tables)} tables; choose rows with --query 'SELECT ...'.")
            query = f"SELECT * FROM {_name(tables[0][0])}"
        try:
            cursor = connection.execute(query)
        except sqlite3.Error:
            raise InputError(f"{path}: the query cannot be run; is it one SELECT over its tables?") from None
        names = tuple(column[0] for column in cursor.description)
        dialect._check_names(names, path)
        copy = _folder() / f"{next(_serial)}.parquet"
        schema = pa.schema([(name, pa.large_string()) for name in names])
        with pq.ParquetWriter(copy, schema) as writer:
            while rows := cursor.fetchmany(50_000):
                texts = [strings([text_of(value) for value in column]) for column in zip(*rows, strict=True)]
                writer.write_table(pa.Table.from_arrays(texts, schema=schema))
    return DuckTable.of(str(path), f"SELECT * FROM read_parquet({_literal(str(copy))})")
