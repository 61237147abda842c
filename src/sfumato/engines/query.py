"""A query over a database of the user's: one SELECT that reads the tables of that file, and can do nothing else.

A query may come from somebody else: a study file, a command copied from a page. So it is parsed before it runs, and it runs where
it could do no harm: the file is opened read-only, nothing outside of it can be read or written, no extension is loaded, and no
setting can be changed back.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa

from ..core.errors import InputError
from .dialect import check_names

if TYPE_CHECKING:
    import sqlite3

_ROWS = 50_000
_TABLE_FUNCTIONS = frozenset({"range", "generate_series", "unnest", "repeat"})
"""What makes rows of its own arguments; every other one reads files, settings or secrets."""
_SHOWS = "SHOW_REF"
_SYSTEM = frozenset({"pg_catalog", "information_schema"})
_TELLING = frozenset({"current_setting", "getenv"})
"""Plain functions that read what is no table."""
_BEGINS = re.compile(r"(?:\s|--[^\n]*(?:\n|$)|/\*.*?\*/)*(?:SELECT|WITH|VALUES)\b", re.IGNORECASE | re.DOTALL)


def refused(path: Path) -> InputError:
    """What is said of every query that is something else."""
    return InputError(
        f"{path}: the query is refused; write one SELECT (or WITH ... SELECT) over the tables of this database, which changes "
        "nothing and reads nothing else."
    )


def checked(path: Path, query: str) -> str:
    """The query without what follows it, if DuckDB parses it as one SELECT; refused otherwise."""
    try:
        statements = duckdb.extract_statements(query)
    except duckdb.Error:
        raise InputError(f"{path}: the query cannot be run; is it one SELECT over its tables?") from None
    if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
        raise refused(path)
    text = str(statements[0].query).strip().rstrip(";")
    with closing(duckdb.connect(":memory:")) as parser:
        row = parser.execute("SELECT json_serialize_sql(?)", [text]).fetchone()
        views = parser.execute(
            "SELECT view_name FROM duckdb_views() WHERE internal AND schema_name <> ?", ["information_schema"]
        )
        system = {str(name) for (name,) in views.fetchall()}
    tree: dict[str, Any] = json.loads(row[0]) if row else {"error": True}
    if tree.get("error") or len(tree["statements"]) != 1 or any(_reaches_out(node, system) for node in _nodes(tree)):
        raise refused(path)
    return text


def _nodes(tree: Any) -> Iterator[dict[str, Any]]:
    """Every node of a parsed query, without recursion: a hostile one is deep."""
    left = [tree]
    while left:
        node = left.pop()
        if isinstance(node, dict):
            yield node
            left.extend(node.values())
        elif isinstance(node, list):
            left.extend(node)


def _reaches_out(node: dict[str, Any], system: Collection[str]) -> bool:
    """Whether a node is SHOW, DESCRIBE or SUMMARIZE, a table function that is none of the harmless ones, or asks for settings or paths.

    `system` are the engine's own views, which list these.
    """
    if node.get("type") == _SHOWS or str(node.get("function_name", "")).lower() in _TELLING:
        return True
    if node.get("type") == "BASE_TABLE":
        return str(node.get("schema_name")).lower() in _SYSTEM or str(node.get("table_name")).lower() in system
    function = node.get("function")
    if node.get("type") != "TABLE_FUNCTION" or not isinstance(function, dict):
        return False
    return str(function.get("function_name", "")).lower() not in _TABLE_FUNCTIONS


def restricted(path: Path, **limits: str) -> duckdb.DuckDBPyConnection:
    """A connection to a DuckDB file that can only read it; `limits` are the engine's own."""
    return duckdb.connect(
        str(path),
        read_only=True,
        config={
            "enable_external_access": "false",
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            "python_enable_replacements": "false",
            "lock_configuration": "true",
            **limits,
        },
    )


def copy_rows(
    connection: duckdb.DuckDBPyConnection, path: Path, query: str, to: Path, plain: Callable[[str], object]
) -> None:
    """Run a checked query and write its rows to a Parquet file; kinds that are not `plain` go as the engine spells them."""
    import pyarrow.parquet as pq

    given = connection.sql(query)
    check_names(tuple(given.columns), path)
    names = [f"c{i}" for i in range(len(given.columns))]
    cells = [
        name if plain(str(kind)) else f"CAST({name} AS VARCHAR)" for name, kind in zip(names, given.types, strict=True)
    ]
    wrapped = f"SELECT {', '.join(cells)} FROM ({query}\n) AS asked({', '.join(names)})"
    reader = connection.sql(wrapped).to_arrow_reader(_ROWS)
    schema = pa.schema([reader.schema.field(i).with_name(name) for i, name in enumerate(given.columns)])
    with pq.ParquetWriter(to, schema) as writer:
        for batch in reader:
            writer.write_batch(pa.RecordBatch.from_arrays(batch.columns, schema=schema))


def run_sqlite(connection: sqlite3.Connection, path: Path, query: str) -> sqlite3.Cursor:
    """A query on a connection that only reads; SQLite itself takes one statement at a time."""
    import sqlite3

    if not _BEGINS.match(query):
        raise refused(path)
    try:
        return connection.execute(query)
    except sqlite3.DatabaseError as error:
        if "authoriz" in str(error) or "prohibited" in str(error) or "one statement" in str(error):
            raise refused(path) from None
        raise
    except sqlite3.Warning:  # several statements, as older drivers say it
        raise refused(path) from None


def only_reads(connection: sqlite3.Connection) -> None:
    """Let a SQLite connection read its tables and call plain functions, and nothing else from now on."""
    import sqlite3

    allowed = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE}

    def decide(action: int, first: str | None, second: str | None, base: str | None, by: str | None) -> int:
        harmless = action == sqlite3.SQLITE_FUNCTION and (second or "").lower() not in (
            "load_extension",
            "fts3_tokenizer",
        )
        return sqlite3.SQLITE_OK if action in allowed or harmless else sqlite3.SQLITE_DENY

    connection.execute("PRAGMA query_only = ON")
    connection.execute("PRAGMA trusted_schema = OFF")  # a view of a hostile file calls no function that reaches out
    connection.set_authorizer(decide)
