"""Every behaviour test of the engines runs for each of them by one fixture, `table`; where a server is missing, the tests say so."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.core.table import Table

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

import _cluster

ENGINES = ("duckdb", "postgres")
_serial = itertools.count()


class Database:
    """A server of the tests' own: tables go there, addresses come back."""

    def __init__(self, server: _cluster.Postgres) -> None:
        from sfumato.core.database_address import DatabaseAddress
        from sfumato.engines.postgres_server import server as session

        self.server = server
        address = DatabaseAddress.of(server.address("x"))
        assert address is not None
        self.session = session(address.server, address.database)

    def bring(self, columns: Mapping[str, Any] | pa.Table, name: str = "") -> str:
        """A table under a name of its own; its address."""
        rows = columns if isinstance(columns, pa.Table) else pa.table(dict(columns))
        name = name or f"t{next(_serial)}"
        self.session.bring(rows, schema="public", name=name)
        for field in rows.schema:
            kind = "float4" if pa.types.is_float32(field.type) else ""
            if pa.types.is_decimal(field.type):
                kind = f"numeric({field.type.precision},{field.type.scale})"
            if kind:
                quoted = field.name.replace('"', '""')
                self.session.run(f'ALTER TABLE {name} ALTER COLUMN "{quoted}" TYPE {kind}')
        return self.server.address(name)

    def table(self, columns: Mapping[str, Any] | pa.Table) -> Table:
        """A table there, opened."""
        return sf.read(self.bring(columns))


@pytest.fixture(scope="session")
def database() -> Iterator[Database]:
    if _cluster.programs() is None:
        pytest.skip("PostgreSQL is not installed here")
    pytest.importorskip("adbc_driver_postgresql")
    server = _cluster.Postgres()
    try:
        server.start()
        made = Database(server)
        yield made
        made.session.close()
    finally:
        server.stop()


@pytest.fixture(scope="session", params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    """The name of each engine in turn."""
    return str(request.param)


@pytest.fixture(scope="session")
def table(engine: str, request: pytest.FixtureRequest) -> Callable[[Mapping[str, Any]], Table]:
    """A table of an engine from its columns."""
    if engine == "postgres":
        made: Callable[[Mapping[str, Any]], Table] = request.getfixturevalue("database").table
        return made
    return lambda columns: sf.read(pa.table(dict(columns)))
