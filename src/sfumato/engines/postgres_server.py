"""The connection to a PostgreSQL server: one a database and process, by ADBC, so that answers are Arrow tables.

Nothing that the server says is passed on: its sentences quote values and queries. Each error becomes a sentence of ours.
"""

from __future__ import annotations

import atexit
import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from typing import Any, TypeVar

import pyarrow as pa

from ..core.errors import InputError, SfumatoError, Unavailable
from .duckdb import patiently, turn

T = TypeVar("T")
MOST_BYTES = 2 << 30
"""Bytes of an answer that are held at most."""
_SETTINGS = (
    "SET client_encoding = 'UTF8'",
    "SET datestyle = 'ISO, YMD'",
    "SET intervalstyle = 'postgres'",
    "SET timezone = 'UTC'",
    "SET extra_float_digits = 1",
    "SET standard_conforming_strings = on",
    "SET jit = off",
    "SET client_min_messages = error",
)
_WORK_MEMORY = 128 << 10
"""Kilobytes in which a grouping is hashed rather than sorted; a larger setting of the server's stays."""
_WIDE = (
    "SELECT set_config('work_mem', '{0}kB', false) FROM pg_settings WHERE name = 'work_mem' AND setting::bigint < {0}"
)


class Server:
    """One session of a server, in which tables of ours live until they are let go."""

    def __init__(self, address: str, name: str) -> None:
        try:
            from adbc_driver_postgresql import dbapi
        except ImportError:
            raise Unavailable(
                f"{name}: PostgreSQL needs adbc-driver-postgresql; install it with: pip install 'sfumato[postgres]'."
            ) from None
        self.name = name
        self._errors: type[Exception] = dbapi.Error
        self._serial = itertools.count()
        self._gone: list[str] = []
        self._running: Any = None
        try:
            self._connection = dbapi.connect(address, autocommit=True)
        except dbapi.Error as error:
            raise _unreached(str(error), name) from None
        atexit.register(self.close)
        for setting in _SETTINGS:
            self.run(setting)
        self.fetch(_WIDE.format(_WORK_MEMORY))

    def close(self) -> None:
        """End the session; what it held goes."""
        with suppress(Exception):
            self._connection.close()

    def interrupt(self) -> None:
        """Stop what runs."""
        if self._running is not None:
            self._running.adbc_cancel()

    def fetch(self, sql: str) -> pa.Table:
        """The answer to a SELECT, refused where it is larger than this machine should hold."""
        return self._with_cursor(lambda cursor: self._fetched(cursor, sql))

    def run(self, sql: str) -> None:
        """A statement without an answer."""
        self._with_cursor(lambda cursor: cursor.execute(sql) and None)

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """A small answer as plain values."""
        answer = self.fetch(sql)
        columns = [answer.column(i).to_pylist() for i in range(answer.num_columns)]
        return list(zip(*columns, strict=True))

    def bring(self, table: pa.Table, *, schema: str | None = None, name: str | None = None, into: bool = False) -> str:
        """A table of ours on the server: for this session alone, or under a name in a schema, perhaps `into` one that is there. Its name there."""
        named = self.new_name() if name is None else name
        how: dict[str, Any] = {"temporary": True} if name is None else {"db_schema_name": schema}
        mode = "append" if into else "create"
        self._with_cursor(lambda cursor: cursor.adbc_ingest(named, table, mode=mode, **how) and None)
        if name is None:
            self.run(f"ANALYZE {named}")
        return named

    def hold(self, sql: str) -> str:
        """The rows of a SELECT in a table of this session. Its name."""
        name = self.new_name()
        self.run(f"CREATE TEMP TABLE {name} AS {sql}")
        return name

    def new_name(self) -> str:
        """A name that no table of this session has."""
        return f"sfumato_{next(self._serial)}"

    def drop_later(self, table: str) -> None:
        """Let go of a table of this session, when the server is next asked something: whoever lets go may be anywhere."""
        self._gone.append(table)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Everything inside is done as one, or not at all, also where this process is killed."""
        session = self._connection.adbc_connection  # the connection around it ends no transaction that it did not begin
        with turn:
            try:
                session.set_autocommit(False)
                yield
                session.commit()
                session.set_autocommit(True)
            except BaseException as error:
                try:
                    session.rollback()
                    session.set_autocommit(True)
                except Exception:  # without a session the server takes everything back by itself
                    self.close()
                    server.cache_clear()
                if isinstance(error, self._errors):
                    raise explain(error, self.name) from None
                raise

    def _fetched(self, cursor: Any, sql: str) -> pa.Table:
        cursor.execute(sql)
        reader, batches, held = cursor.fetch_record_batch(), [], 0
        for batch in reader:
            held += batch.nbytes
            if held > MOST_BYTES:
                raise InputError(
                    f"{self.name}: the answer is larger than {MOST_BYTES >> 30} GB, more than is held here; take fewer columns, or coarser ones."
                )
            batches.append(batch)
        return pa.Table.from_batches(batches, schema=reader.schema)

    def _with_cursor(self, work: Callable[[Any], T]) -> T:
        def call() -> T:
            with self._connection.cursor() as cursor:
                while self._gone:
                    cursor.execute(f"DROP TABLE IF EXISTS pg_temp.{self._gone.pop()}")
                self._running = cursor
                try:
                    return work(cursor)
                finally:
                    self._running = None

        with turn:
            try:
                return patiently(call, self)
            except self._errors as error:
                raise explain(error, self.name) from None
            except (OSError, pa.ArrowException) as error:  # a stream of an answer fails with errors of its own
                raise explain(error, self.name) from None


@cache
def server(address: str, name: str) -> Server:
    """The session of this process with a database, whatever tables of it are opened."""
    return Server(address, name)


def _unreached(text: str, name: str) -> SfumatoError:
    if "password" in text or "authentication" in text or "pg_hba" in text:
        return InputError(
            f"{name}: the server does not let this user in; set PGUSER and PGPASSWORD, or a password file (PGPASSFILE, ~/.pgpass)."
        )
    if "database" in text and "does not exist" in text:
        return InputError(f"{name}: the server has no database of that name; correct the address.")
    if "does not exist" in text:
        return InputError(
            f"{name}: the server does not know this user; name another one by PGUSER, or as user@ in the address."
        )
    return InputError(
        f"{name}: no PostgreSQL server answers there; does it run, and are host and port those of the address?"
    )


def explain(error: Exception, name: str) -> SfumatoError:
    """What the server says against a statement, as a sentence of ours that holds neither a value nor the statement."""
    state, text = str(getattr(error, "sqlstate", None) or ""), str(error)
    if "out of range" in text or state.startswith("22"):
        return InputError(
            f"{name}: a value cannot be read as its column's type says; make a view that leaves it out or mends it."
        )
    if state == "42501" or "permission denied" in text:
        return InputError(
            f"{name}: this user may not do that; it needs SELECT on the table, TEMP on the database, and CREATE on the schema it writes to."
        )
    if state == "25006" or "read-only" in text:
        return InputError(
            f"{name}: the server is read-only (a standby?), and recoding needs temporary tables; use one that can be written to."
        )
    if state.startswith("53") or "No space left" in text or "out of memory" in text:
        return InputError(
            f"{name}: the server ran out of memory, disk or connections; free some, or count fewer columns."
        )
    if state == "57014" or "canceling statement" in text:
        return InputError(
            f"{name}: the server stopped the statement (a time limit of its own?); raise statement_timeout for this user."
        )
    if state in ("42P01", "42703"):
        return InputError(f"{name}: the table is not there any more, or its columns changed; open it again.")
    if state == "2BP01":
        return InputError(
            f"{name}: a view or another table depends on the one to be replaced; drop it first, or write elsewhere."
        )
    if state == "42P07":
        return InputError(f"{name}: a table of that name is there already; name another one.")
    if state == "25P02":
        return InputError(f"{name}: nothing was written, since a question about the staged release failed.")
    if state.startswith(("08", "57P")) or "connection" in text:
        return InputError(f"{name}: the server ended the connection; nothing was written. Does it still run?")
    return InputError(f"{name}: the server cannot answer that (SQLSTATE {state or 'unknown'}).")
