"""The connection to a Spark Connect server: one an address and process, so that answers are Arrow tables. No Java is needed here.

Nothing that the server says is passed on: its sentences quote values and queries, and its client library would log them. Each error
becomes a sentence of ours. Whatever runs carries a tag of this session, by which it is stopped where somebody gives up waiting.
"""

from __future__ import annotations

import atexit
import itertools
import logging
import os
import socket
import sys
import uuid
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

import pyarrow as pa

from ..core.errors import InputError, SfumatoError, Unavailable
from ..core.spark_address import TOKEN, SparkAddress
from .duckdb import patiently, turn
from .postgres_server import MOST_BYTES

T = TypeVar("T")
_PATIENCE = 10.0
"""Seconds in which a server must be reached."""
_SETTINGS = {
    "spark.sql.ansi.enabled": "true",
    "spark.sql.caseSensitive": "true",
    "spark.sql.groupByOrdinal": "true",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.timestampType": "TIMESTAMP_NTZ",
    "spark.sql.parquet.mergeSchema": "true",  # else a column that one file of a folder lacks may be lost in silence
    "spark.sql.parquet.inferTimestampNTZ.enabled": "true",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
}
_LOGGERS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
"""They would write what the server says of an error, values and all."""


class SparkServer:
    """One session of a server, in which views of ours live until they are let go."""

    def __init__(self, address: SparkAddress) -> None:
        self.name = address.name
        try:
            with warnings.catch_warnings(), _as_a_program():
                warnings.simplefilter("ignore")  # of the versions of pandas, which nothing here comes from
                from pyspark.errors import PySparkException
                from pyspark.sql.connect.client.retries import DefaultPolicy
                from pyspark.sql.connect.session import SparkSession
        except ImportError:
            raise Unavailable(
                f"{self.name}: Spark needs pyspark-client; install it with: pip install 'sfumato[spark]'."
            ) from None
        import grpc

        self._errors: tuple[type[Exception], ...] = (PySparkException, grpc.RpcError, OSError, pa.ArrowException)
        self._serial = itertools.count()
        self._gone: list[str] = []
        self._tag = f"sfumato-{uuid.uuid4().hex}"
        for logger in _LOGGERS:
            logging.getLogger(logger).disabled = True
        _check_reached(address)

        def begin() -> Any:
            session = SparkSession.builder.remote(address.server).config(map=_SETTINGS).create()
            session.client.set_retry_policies([DefaultPolicy(max_retries=6, max_backoff=5000)])
            return session

        with turn:
            self._session = self._told(lambda: patiently(begin, _Nothing()))
        atexit.register(self.close)

    def close(self) -> None:
        """End the session; what it held goes."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it tells of each attempt where the server is gone
            with suppress(Exception):
                self._session.client.release_session()
            with suppress(Exception):
                self._session.client.close()

    @contextmanager
    def asked_about(self, name: str) -> Iterator[None]:
        """Inside it sentences name a table."""
        before, self.name = self.name, name
        try:
            yield
        finally:
            self.name = before

    def interrupt(self) -> None:
        """Stop what runs: the server goes on working for a client that is gone."""
        with suppress(Exception):
            self._session.interruptTag(self._tag)

    def fetch(self, sql: str) -> pa.Table:
        """The answer to a SELECT, refused where it is larger than this machine should hold."""
        return self._asked(lambda session: self._fetched(session, sql))

    def run(self, sql: str) -> None:
        """A statement without an answer."""
        self._asked(lambda session: session.sql(sql) and None)

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """A small answer as plain values."""
        answer = self.fetch(sql)
        columns = [answer.column(i).to_pylist() for i in range(answer.num_columns)]
        return list(zip(*columns, strict=True))

    def bring(self, table: pa.Table) -> str:
        """A table of ours on the server, as a view of this session. Its name there."""
        name = self.new_name()
        self._asked(lambda session: session.createDataFrame(table).createTempView(name))
        return name

    def hold(self, sql: str) -> str:
        """The rows of a SELECT, kept by the cluster while this session wants them. Its name."""
        name = self.new_name()
        self.run(f"CACHE TABLE {name} AS {sql}")
        return name

    def new_name(self) -> str:
        """A name that no view of this session has."""
        return f"sfumato_{next(self._serial)}"

    def drop_later(self, table: str) -> None:
        """Let go of a view of this session, when the server is next asked something: whoever lets go may be anywhere."""
        self._gone.append(table)

    def _fetched(self, session: Any, sql: str) -> pa.Table:
        frame = session.sql(sql)
        parts, held = [], 0
        for part in session.client.to_table_as_iterator(frame._plan.to_proto(session.client), {}):
            if isinstance(part, pa.Table):
                held += part.nbytes
                if held > MOST_BYTES:
                    raise InputError(
                        f"{self.name}: the answer is larger than {MOST_BYTES >> 30} GB, more than is held here; take fewer columns, or coarser ones."
                    )
                parts.append(part)
        return pa.concat_tables(parts) if parts else frame.toArrow()

    def _asked(self, work: Callable[[Any], T]) -> T:
        def call() -> T:
            self._session.addTag(self._tag)  # of this thread, which does nothing else
            while self._gone:
                self._session.sql(f"DROP VIEW IF EXISTS {self._gone.pop()}")
            return work(self._session)

        with turn:
            return self._told(lambda: patiently(call, self))

    def _told(self, work: Callable[[], T]) -> T:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return work()
        except self._errors as error:
            raise explain(error, self.name) from None


@contextmanager
def _as_a_program() -> Iterator[None]:
    """Inside it the main module has a file: where it has none, as in `python -c`, the client library takes us for its own tests, and exits."""
    main = sys.modules["__main__"]
    bare = not hasattr(main, "__file__")
    if bare:
        main.__file__ = os.devnull
    try:
        yield
    finally:
        if bare:
            del main.__file__


class _Nothing:
    """What cannot be stopped, since it does not work yet."""

    def interrupt(self) -> None:
        """Nothing to stop."""


_sessions: dict[str, SparkServer] = {}


def server(address: SparkAddress) -> SparkServer:
    """The session of this process with the server of an address, whatever tables of it are opened."""
    with turn:
        if address.server not in _sessions:
            _sessions[address.server] = SparkServer(address)
            _sessions[address.server].name = "Spark"
        return _sessions[address.server]


def _check_reached(address: SparkAddress) -> None:
    """Refuse at once where nothing listens: the client library would try for ten minutes."""
    try:
        socket.create_connection((address.host.strip("[]"), address.port), _PATIENCE).close()
    except OSError:
        raise InputError(
            f"{address.name}: no Spark Connect server answers there; does it run, and are host and port those of the address?"
        ) from None


def explain(error: Exception, name: str) -> SfumatoError:
    """What the server or its client says, as a sentence of ours that holds neither a value nor the statement."""
    text = str(error)
    condition = str(getattr(error, "getCondition", lambda: None)() or "")
    state = str(getattr(error, "getSqlState", lambda: None)() or "")
    if condition.startswith(("TABLE_OR_VIEW_NOT_FOUND", "SCHEMA_NOT_FOUND", "CATALOG_NOT_FOUND", "PATH_NOT_FOUND")) or (
        "REQUIRES_SINGLE_PART_NAMESPACE" in condition or "NAMESPACE_NOT_FOUND" in condition
    ):
        return InputError(
            f"{name}: no table or folder of that name; name it as catalog.schema.table, or as ?parquet=FOLDER as the server sees it."
        )
    if condition.startswith("UNABLE_TO_INFER_SCHEMA"):
        return InputError(f"{name}: the folder holds no Parquet files.")
    if "MERGE" in condition or ("MERGE" in text and "SCHEMA" in text.upper()):
        return InputError(
            f"{name}: its files do not agree on the types of their columns; write them again with one schema."
        )
    if "FAILED_READ_FILE" in condition or "FAILED_READ_FILE" in text or "not a Parquet file" in text:
        return InputError(
            f"{name}: a file of the folder cannot be read, or is gone; is each of them a whole Parquet file, and is nobody writing there?"
        )
    if state.startswith("22"):
        return InputError(
            f"{name}: a value cannot be read as its column's type says; make a view that leaves it out or mends it."
        )
    if "UNAUTHENTICATED" in text or "Invalid token" in text or "PERMISSION_DENIED" in text:
        given = "does not let this token in" if os.environ.get(TOKEN) else "asks for a token"
        return InputError(f"{name}: the server {given}; set {TOKEN}.")
    if "OPERATION_CANCELED" in condition or "OPERATION_CANCELED" in text:
        return InputError(f"{name}: the work was stopped on the server; nothing was written.")
    if "OutOfMemory" in text or "No space left" in text or "maxResultSize" in text:
        return InputError(f"{name}: the cluster ran out of memory or disk; give it more, or count fewer columns.")
    if "UNRESOLVED" in condition or "NUM_COLUMNS" in condition or "INCOMPATIBLE_VIEW_SCHEMA" in condition:
        return InputError(f"{name}: its columns changed; open it again.")
    if (
        "UNAVAILABLE" in text
        or "RETRIES_EXCEEDED" in condition
        or "RetriesExceeded" in type(error).__name__
        or "INVALID_HANDLE" in condition
        or "DEADLINE" in text
    ):
        return InputError(f"{name}: the server ended the connection; nothing was written. Does it still run?")
    if "Access denied" in text or "AccessControl" in text or "AccessDenied" in text or "Permission denied" in text:
        return InputError(f"{name}: the server may not read or write there; give it the right.")
    if "UNIMPLEMENTED" in text:
        return InputError(f"{name}: what answers there is no Spark Connect server of version 4.")
    return InputError(f"{name}: the server cannot answer that (condition {condition or 'unknown'}).")
