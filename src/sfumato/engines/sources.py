"""Open whatever the user brought: files, databases, tables in memory. What it is, is told by its content, not its name."""

from __future__ import annotations

import re
import shutil
import stat
import sys
from collections.abc import Callable, Collection, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from ..core import table_formats as formats
from ..core.arrow import strings
from ..core.column import text_of
from ..core.errors import InputError, SfumatoError
from ..core.roles import Roles
from ..core.spelling import BLANKS
from ..core.stated_reading import ALL, MissingCodes, codes_in, missing_codes, spelled_codes
from ..core.table_formats import check_local
from . import dialect, layout
from . import local_spelling as spelled
from . import query as queried
from .duckdb import (
    DuckTable,
    explain,
    folder,
    literal,
    name_of,
    patiently,
    plain_kind,
    register,
    run,
    serial,
    spell_path,
)
from .json_lines import are_json_lines, json_lines
from .line_counts import Lines, reading
from .stated_table import open_stated
from .statistical_files import statistical_file
from .surrounding_blanks import blanks_note, trimmed
from .workbook import sheet_rows

_CSV_OPTIONS = ("delimiter", "quote", "encoding", "header", "names", "header_row", "skip")
_STATISTICAL_OPTIONS = ("encoding", "labels")
_ANY_OPTIONS = ("missing", "dates", "decimal")
_PACKED = (b"PK\x03\x04", b"BZh", b"\xfd7zXZ\0", b"7z\xbc\xaf\x27\x1c", b"\x28\xb5\x2f\xfd")
"""How files begin that zip, bzip2, xz, 7-Zip and zstd have packed."""
_SHEET_OPTIONS = ("header", "header_row", "skip", "range", "totals")


def read(source: Any, *, stated: bool = False, roles: Roles | None = None, **options: Any) -> DuckTable:
    """Open a table; an option that does not apply to its kind is refused.

    `stated`: nothing is guessed from the rows; what no option says is as `core.stated_reading` fixes it. So differential privacy needs it.
    `roles`: what no option says is as their `[reading]` says, as far as it applies to this kind of table.
    """
    options = {key: value for key, value in options.items() if value is not None}
    if not isinstance(source, Path):
        return _opened(source, options, roles, stated)
    check_local(source)
    lasting = _lasting(source)
    if lasting is source:
        return _opened(source, options, roles, stated)
    try:
        return replace(_opened(lasting, options, roles, stated), name=str(source))
    except InputError as error:  # of the copy: what was named is told
        raise InputError(str(error).replace(str(lasting), str(source))) from None


def _opened(source: Any, options: dict[str, Any], roles: Roles | None, stated: bool) -> DuckTable:
    if roles is not None:
        options = _by_owner(source, roles, options, stated=stated)
    if stated:
        return open_stated(source, options)
    origin = (source, dict(options))
    missing = missing_codes(options.pop("missing", ()))
    listed = {key: tuple(value) if isinstance(value, list) else value for key, value in options.items()}
    given = tuple(sorted((listed | ({"missing": missing} if missing else {})).items()))
    dates, decimal = spelled.checked(options.pop("dates", None), options.pop("decimal", None))
    as_written = dates == decimal == "text"
    table = (
        _from_path(source, options, missing, trim=not as_written) if isinstance(source, Path) else from_memory(source)
    )
    if options:
        raise InputError(f"{table.name}: {', '.join(sorted(options))} does not apply to this kind of table.")
    could = {"commas": table.lines.commas} if isinstance(table.lines, Lines) else {}
    points, seen = table.points, table.lines.found if isinstance(table.lines, Lines) else None
    placed, variables = (
        dict(table.written),
        table.variables,
    )  # where it lies in its sheet; what its file says of columns
    if isinstance(source, Path) and not as_written:
        table = trimmed(table, table.lines.blanks if isinstance(table.lines, Lines) else lambda: True)
    table = _with_missing(table, missing, table.columns)
    table = spelled.understood(table, dates=dates, decimal=decimal, points=points, **could)
    if table.spelled:  # what means missing may be given as it is spelled here
        table = replace(_with_missing(table, missing, table.spelled[1]), spelled=table.spelled)
    if roles is not None and (codes := roles.missing):
        table = replace(table, notes=(*table.notes, _missing_note(codes, roles.source)))
    opened = (str(source.absolute()), given) if isinstance(source, Path) else None
    written = placed | _written(seen, missing, table)
    return replace(table, opened=opened, origin=origin, written=written, variables=variables)


def _written(dialect_seen: dialect.Dialect | None, missing: MissingCodes, table: DuckTable) -> dict[str, Any]:
    """What was seen of how the file is written, in the words in which its owner may state it."""
    ways = [each.way for each in table.spelled[1].values() if each.way is not None] if table.spelled else []
    first = next((way.first for way in ways if way.first and way.sign != "."), "day")
    seen: dict[str, Any] = {}
    if dialect_seen is not None:
        seen = {key: getattr(dialect_seen, key) for key in ("encoding", "delimiter", "quote", "header")}
        seen |= {"header": True, "header_row": dialect_seen.header_row} if dialect_seen.header_row else {}
    seen |= {"missing": spelled_codes(missing)} if missing else {}
    seen |= {"decimal": "comma"} if any(way.comma for way in ways) else {}
    return seen | ({"dates": f"{first}-first"} if any(way.first for way in ways) else {})


def _by_owner(source: Any, roles: Roles, options: dict[str, Any], *, stated: bool) -> dict[str, Any]:
    """The options with what the owner's `[reading]` adds to them; codes for missing values in single columns add up."""
    kind = what_is(source) if isinstance(source, Path) and source.is_file() else "memory"
    by_kind = {"csv": (*_CSV_OPTIONS, "totals"), "excel": _SHEET_OPTIONS, "statistical": _STATISTICAL_OPTIONS}
    placed = by_kind.get(kind, ())
    applies = roles.reading if stated else {k: v for k, v in roles.reading.items() if k in (*placed, *_ANY_OPTIONS)}
    codes = (*roles.missing, *missing_codes(options.get("missing", ())))
    by_column = {
        name: tuple(dict.fromkeys(text for n, texts in codes if n == name for text in texts)) for name, _ in codes
    }
    return {**applies, **options, **({"missing": by_column} if by_column else {})}


def _missing_note(codes: MissingCodes, source: str) -> str:
    where = [f"{' and '.join(texts)} in {'every column' if name == ALL else repr(name)}" for name, texts in codes]
    return f"read as missing, as {source} says: {', '.join(where)}"


def _with_missing(table: DuckTable, codes: MissingCodes, columns: Collection[str]) -> DuckTable:
    """The same table with some texts of these columns read as missing; numbers, dates and truth values as they are spelled in a release."""
    cells = {}
    for name in columns:
        if texts := ", ".join(literal(text) for text in codes_in(codes, name)):
            cell = name_of(name)
            cells[name] = f"CASE WHEN CAST({table._spelled(name)} AS VARCHAR) IN ({texts}) THEN NULL ELSE {cell} END"
    return table.each(cells) if cells else table


def _lasting(path: Path) -> Path:
    """The file itself; of a pipe, which can be read but once, and of a file packed by zstd a copy in the private folder."""
    if str(path) == "-" and not path.exists():
        if sys.stdin is None or sys.stdin.isatty():
            raise InputError("-: standard input is a terminal; send a table through a pipe, or name a file.")
        return _copy(path, "", sys.stdin.buffer)
    if path.suffix == ".zst" and path.is_file():
        return _copy(path, Path(path.stem).suffix, pa.input_stream(str(path), compression="zstd"))
    try:
        mode = path.stat().st_mode
    except OSError:
        return path  # said, with its reason, by whoever opens it
    if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
        raise InputError(f"{path}: a device, not a table; name a file, or send a table through a pipe.")
    if not stat.S_ISFIFO(mode):
        return path
    try:
        return _copy(path, path.suffix, path.open("rb"))
    except OSError as error:
        raise InputError(f"{path}: cannot be read and kept ({type(error).__name__}); name a file instead.") from None


def _copy(path: Path, ending: str, source: Any) -> Path:
    copy = folder() / f"{next(serial)}{ending}"
    try:
        with copy.open("wb") as target:
            shutil.copyfileobj(source, target, 1 << 20)
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read and kept ({type(error).__name__}); name a file instead.") from None
    return copy


def _from_path(path: Path, options: dict[str, Any], missing: MissingCodes, *, trim: bool) -> DuckTable:
    if path.is_dir():
        raise InputError(f"{path}: a folder, not a table; name a file.")
    what = what_is(path)
    if what in ("parquet", "arrow"):
        return parquet_file(path) if what == "parquet" else arrow_file(path)
    if what == "excel":
        placed = {key: options.pop(key) for key in _SHEET_OPTIONS if key in options}
        return _excel(path, options.pop("sheet", None), placed, missing)
    if what in ("duckdb", "sqlite"):
        query = options.pop("query", None)
        return duckdb_file(path, query) if what == "duckdb" else sqlite_file(path, query)
    if what == "statistical":
        given = {key: options.pop(key) for key in _STATISTICAL_OPTIONS if key in options}
        return statistical_file(path, **given)
    if what == "json lines":
        return json_lines(path)
    return _csv(path, options, trim=trim)


def what_is(path: Path) -> str:
    """The kind of a file, by its first bytes where they tell: parquet, excel, statistical, duckdb, sqlite, arrow, json lines or csv."""
    form, first = formats.of(path), dialect.sample(path)[0]
    start = first[:16]
    if start.startswith(b"PAR1"):
        return "parquet"
    if form is formats.PARQUET:
        raise InputError(f"{path}: not a Parquet file, whatever its name says.")
    if form is formats.EXCEL:
        return "excel"
    if form in formats.STATISTICAL:
        return "statistical"
    if start[8:12] == b"DUCK":
        return "duckdb"
    if start.startswith(b"SQLite format 3"):
        return "sqlite"
    if form is formats.ARROW:
        return "arrow"
    if start.startswith(_PACKED):
        raise InputError(
            f"{path}: a packed file; unpack it first, or pack a CSV file by gzip (.csv.gz) or zstd (.csv.zst)."
        )
    unpacked = path.with_suffix("") if path.suffix == ".gz" else path
    return "json lines" if formats.of(unpacked) is formats.JSON_LINES or are_json_lines(first) else "csv"


def _csv(path: Path, options: dict[str, Any], *, trim: bool) -> DuckTable:
    totals = options.pop("totals", None)
    seen = dialect.detect(path, trim=trim, **{key: options.pop(key) for key in _CSV_OPTIONS if key in options})
    file = path
    if seen.encoding not in ("utf-8", "utf-8-sig"):
        file = folder() / f"{next(serial)}.csv"
        dialect.transcode(path, seen.encoding, file)
    if totals is not False:
        kept = folder() / f"{next(serial)}.csv"
        if notes := dialect.without_subtotals(file, seen, kept):
            file, seen = kept, replace(seen, notes=(*seen.notes, *notes))
    whole = _records(path, file, seen)
    end = None if totals is False else dialect.ending(file, seen, last=bool(totals))
    if totals and end is None:
        raise InputError(f"{path}: the last line is no whole row, so --totals cannot leave it out; mend it.")
    if end is None:
        return whole
    kept = folder() / f"{next(serial)}.csv"
    dialect.cut(file, end.at, kept)
    table = _records(path, kept, seen)
    if end.full and not _adds_up(table, end.full):
        return whole  # a category called Total
    said = "the last line, a total," if end.lines == 1 else f"the last {end.lines} lines, totals or notes,"
    return replace(
        table,
        notes=(*table.notes, f"{said} left out; keep: --no-totals"),
        written={"totals": True} if end.lines == 1 else {},
    )


def _records(path: Path, file: Path, seen: dialect.Dialect) -> DuckTable:
    """The records of a file, which may be a copy. Every column is text: a code keeps its leading zeros, and what a value is gets decided on the distinct values."""
    columns = ", ".join(f"{literal(name)}: 'VARCHAR'" for name in seen.names)
    sql = (
        f"SELECT * FROM read_csv({spell_path(file)}, auto_detect = false, columns = {{{columns}}}, "
        f"{reading(seen)}, header = {str(seen.header).lower()}, skip = {seen.skip})"
    )
    return replace(DuckTable.of(str(path), sql, seen.notes), lines=Lines(path, file, seen))


def _adds_up(table: DuckTable, total: Sequence[str]) -> bool:
    """Whether a number of this line is the sum of its column."""
    sums = ", ".join(f"COALESCE(sum(TRY_CAST({name_of(c)} AS DOUBLE)), 0)" for c in table.columns)
    (added,) = run(f"SELECT {sums} FROM ({table.sql})", table.name)
    return any(_is_sum(text, number) for text, number in zip(total, added, strict=True))


def _is_sum(text: str, added: float) -> bool:
    try:
        return added != 0 and abs(float(text) - added) <= 1e-9 * abs(added)
    except ValueError:
        return False


def parquet_file(path: Path) -> DuckTable:
    """A Parquet file, its types those of its schema."""
    import pyarrow.parquet as pq

    try:
        names = tuple(pq.read_schema(path).names)
    except (pa.ArrowException, OSError):
        raise InputError(f"{path}: a Parquet file that is not complete; bring it again.") from None
    dialect.check_names(names, path)
    return DuckTable.of(str(path), f"SELECT * FROM read_parquet({spell_path(path)})")


def arrow_file(path: Path) -> DuckTable:
    """An Arrow file or stream, its types those of its schema."""
    for opened in (pa.ipc.open_file, pa.ipc.open_stream):
        try:
            return from_memory(opened(pa.memory_map(str(path))).read_all(), str(path))
        except pa.ArrowException:
            continue
    raise InputError(f"{path}: not an Arrow file, whatever its name says.")


def from_memory(source: Any, name: str = "the table") -> DuckTable:
    """A table of pandas, Arrow or polars, a DuckDB relation, a release; a lazy frame of polars is collected.

    What was only planned so far (a lazy frame, a relation, a stream) may fail with any error, and quote values in it: its kind is told alone.
    """
    try:
        if hasattr(source, "collect_schema"):  # of polars, whether it is lazy or not
            source = source.lazy().collect()
        if type(source).__module__.split(".")[0] == "pandas" and hasattr(source, "columns"):
            dialect.check_names(tuple(str(column) for column in source.columns), name)
            source = pa.Table.from_pandas(source, preserve_index=False)
        table = source if isinstance(source, pa.Table) else pa.table(source)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
        column = re.search(
            r"Conversion failed for column (.*) with type", str(error.args[-1])
        )  # only the name: no value
        if column is None and not hasattr(source, "columns"):
            raise _fails(name, source, error) from None
        which = f"column {column[1]!r}" if column else "a column"
        raise InputError(f"{name}: {which} mixes values of different types; make each column of one type.") from None
    except (TypeError, ValueError):
        raise InputError(
            f"A table of type {type(source).__name__} cannot be read; bring a file, Arrow, pandas, polars or a DuckDB relation."
        ) from None
    except OverflowError:
        raise InputError(
            f"{name}: a column holds a number that needs more than 64 bits; bring such a column as texts or as decimal numbers."
        ) from None
    except SfumatoError:
        raise
    except Exception as error:
        raise _fails(name, source, error) from None
    dialect.check_names(tuple(table.column_names), name)
    return DuckTable.of(name, f"SELECT * FROM {register(table)}")


def _fails(name: str, source: Any, error: Exception) -> InputError:
    return InputError(
        f"{name}: the {type(source).__name__} fails when its rows are asked for ({type(error).__name__}); collect it by itself to see why."
    )


def _excel(path: Path, sheet: str | None, placed: dict[str, Any], missing: MissingCodes) -> DuckTable:
    sheets, chosen, cells = sheet_rows(path, sheet)
    place = layout.find(cells, **placed)
    if not place.columns:
        raise InputError(f"{path}: sheet {chosen!r} is empty, or holds nothing where the table is to be.")
    dialect.check_names(place.names, path, row=place.header[-1] + 1 if place.header else None)
    if not place.body:
        raise InputError(f"{path}: sheet {chosen!r} has a header but no row below it.")
    codes = [codes_in(missing, name) for name in place.names]
    raw = [[cells[i][j] if j < len(cells[i]) else "" for i in place.body] for j in place.columns]
    values = [[_cell(value, texts) for value in column] for column, texts in zip(raw, codes, strict=True)]
    blanks = {name: n for name, column in zip(place.names, raw, strict=True) if (n := sum(map(_has_blanks, column)))}
    arrays = [_typed(column) for column in values]
    notes = (f"sheet {chosen!r} of {len(sheets)}; another: --sheet",) if len(sheets) > 1 and sheet is None else ()
    rows = register(pa.Table.from_arrays(arrays, names=list(place.names)))
    notes = (*notes, *place.notes, *([blanks_note(blanks)] if blanks else []))
    made = DuckTable.of(str(path), f"SELECT * FROM {rows}", notes)
    pointed = frozenset(name for name, column in zip(place.names, values, strict=True) if _pointed(column))
    return replace(made, points=pointed, written=place.stated)


def _cell(value: Any, missing: tuple[str, ...]) -> Any:
    """A cell; empty where it means missing, before its column gets a type: one text among numbers makes all of them texts."""
    value = value.strip(BLANKS) if isinstance(value, str) else value
    return "" if missing and text_of(value) in missing else value


def _has_blanks(value: Any) -> bool:
    return isinstance(value, str) and value != value.strip(BLANKS)


def text_or_bytes(raw: bytes) -> str | bytes:
    """What a database holds as text, if it is some."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw


def _pointed(values: Sequence[Any]) -> bool:
    """Whether one is a number that is spelled with a point."""
    return any(isinstance(value, float) and not value.is_integer() for value in values)


def _typed(values: list[Any]) -> pa.Array:
    """Numbers as numbers where all are, else texts."""
    given = [None if value == "" else value for value in values]
    if all(value is None or (isinstance(value, int | float) and not isinstance(value, bool)) for value in given):
        whole = all(value is None or (float(value).is_integer() and abs(value) < 2**53) for value in given)
        if whole:
            return pa.array([None if value is None else int(value) for value in given], pa.int64())
        return pa.array([None if value is None else float(value) for value in given], pa.float64())
    return strings([text_of(value) for value in given])


def _only_table(path: Path, tables: list[str]) -> str:
    if len(tables) != 1:
        raise InputError(f"{path}: a database of {len(tables)} tables; choose rows with --query 'SELECT ...'.")
    return f"SELECT * FROM {tables[0]}"


def duckdb_file(path: Path, query: str | None) -> DuckTable:
    """A DuckDB file, read-only; the rows of a query are copied to the private folder, since it runs where it can do no harm."""
    if query is None:
        alias = f"attached_{next(serial)}"
        run(f"ATTACH {literal(str(path))} AS {alias} (READ_ONLY)", str(path))
        listed = f"SELECT schema_name, table_name FROM duckdb_tables() WHERE database_name = {literal(alias)}"
        tables = [f"{alias}.{name_of(schema)}.{name_of(table)}" for schema, table in run(listed, str(path))]
        return DuckTable.of(str(path), _only_table(path, tables))
    asked, copy = queried.checked(path, query), folder() / f"{next(serial)}.parquet"
    (limits,) = run("SELECT current_setting('memory_limit'), current_setting('threads')", str(path))
    try:
        with closing(
            queried.restricted(path, memory_limit=limits[0], threads=str(limits[1]), temp_directory=str(folder()))
        ) as base:
            patiently(lambda: queried.copy_rows(base, path, asked, copy, plain_kind), base)
    except duckdb.OutOfMemoryException as error:
        raise explain(error, str(path)) from None
    except (duckdb.PermissionException, duckdb.InvalidInputException):
        raise queried.refused(path) from None
    except (duckdb.Error, pa.ArrowException):
        raise InputError(f"{path}: the query cannot be run; is it one SELECT over its tables?") from None
    return DuckTable.of(str(path), f"SELECT * FROM read_parquet({spell_path(copy)})")


def sqlite_file(path: Path, query: str | None, *, spell: Callable[[Any], str | None] = text_of) -> DuckTable:
    """SQLite through Python's own driver, since the engine's extension cannot be downloaded; copied in batches, cells as `spell` says."""
    import sqlite3

    import pyarrow.parquet as pq

    copy = folder() / f"{next(serial)}.parquet"
    connection = None
    try:
        connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
        if spell is not text_of:  # bytes that are no text stay bytes, which is no plain value
            connection.text_factory = text_or_bytes
        queried.only_reads(connection)
        listed = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        asked = _only_table(path, [name_of(row[0]) for row in listed]) if query is None else query
        cursor = queried.run_sqlite(connection, path, asked)
        if cursor.description is None:
            raise InputError(f"{path}: the query gives no rows; is it one SELECT over its tables?")
        names = tuple(column[0] for column in cursor.description)
        dialect.check_names(names, path)
        schema = pa.schema([(name, pa.large_string()) for name in names])
        points: set[str] = set()
        with pq.ParquetWriter(copy, schema) as writer:
            while rows := cursor.fetchmany(50_000):
                columns = list(zip(*rows, strict=True))
                points |= {name for name, values in zip(names, columns, strict=True) if _pointed(values)}
                texts = [strings([spell(value) for value in column]) for column in columns]
                writer.write_table(pa.Table.from_arrays(texts, schema=schema))
    except (sqlite3.Error, sqlite3.Warning):
        what = (
            "the query cannot be run; is it one SELECT over its tables?"
            if query
            else "not a SQLite database that can be read."
        )
        raise InputError(f"{path}: {what}") from None
    finally:
        if connection is not None:
            connection.close()
    return replace(DuckTable.of(str(path), f"SELECT * FROM read_parquet({spell_path(copy)})"), points=frozenset(points))
