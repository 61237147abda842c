"""Every behaviour test of the engines runs for each of them by one fixture, `table`; where a server is missing, the tests say so."""

from __future__ import annotations

import fcntl
import itertools
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.core.table import Table

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

import _cluster
import _spark_cluster

ENGINES = ("duckdb", "postgres", pytest.param("spark", marks=pytest.mark.full))
CANARY = "Quixotic7741"
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


class Lake:
    """Folders of Parquet files, and the Spark server of the tests' own that reads them."""

    def __init__(self, server: _spark_cluster.Spark, folder: Path) -> None:
        self.server, self.folder = server, folder

    @property
    def session(self) -> Any:
        """What asks the server."""
        from sfumato.core.spark_address import SparkAddress
        from sfumato.engines.spark_server import server as session

        address = SparkAddress.of(self.server.address("x"))
        assert address is not None
        return session(address)

    def bring(self, columns: Mapping[str, Any] | pa.Table, name: str = "", files: int = 2) -> str:
        """A folder of a few files; its address."""
        rows = columns if isinstance(columns, pa.Table) else pa.table(dict(columns))
        folder = self.folder / (name or f"t{next(_serial)}")
        folder.mkdir()
        size = max(1, -(-rows.num_rows // files))
        for i in range(files):
            pq.write_table(rows.slice(i * size, size), folder / f"{i}.parquet")
        return self.server.address(folder=folder)

    def table(self, columns: Mapping[str, Any] | pa.Table) -> Table:
        """A table there, opened."""
        return sf.read(self.bring(columns))


@pytest.fixture(scope="session")
def lake(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Iterator[Lake]:
    """One server for all processes of the tests: who comes first starts it, who goes last stops it."""
    if _spark_cluster.home() is None:
        pytest.skip("Spark (./run setup --spark) or Java is not installed here")
    pytest.importorskip("pyspark")
    ours = tmp_path_factory.getbasetemp()
    shared = ours if worker_id == "master" else ours.parent
    before = os.environ.get(_spark_cluster.TOKEN)
    os.environ[_spark_cluster.TOKEN] = CANARY  # `refusal` looks for it in every sentence
    server = _spark_cluster.Spark(shared / "spark")
    state = shared / "spark.json"
    with _alone(shared):
        known = json.loads(state.read_text()) if state.exists() else {"users": 0}
        if known["users"]:
            server.port, server.processes = known["port"], known["processes"]
        else:
            server.start(until=os.getpid() if worker_id == "master" else os.getppid())
        state.write_text(json.dumps({"users": known["users"] + 1, "port": server.port, "processes": server.processes}))
    folder = server.data / worker_id
    folder.mkdir()
    made = Lake(server, folder)
    yield made
    made.session.close()
    os.environ.pop(_spark_cluster.TOKEN)
    os.environ.update({} if before is None else {_spark_cluster.TOKEN: before})
    with _alone(shared):
        known = json.loads(state.read_text()) | {"users": json.loads(state.read_text())["users"] - 1}
        state.write_text(json.dumps(known))
        if not known["users"]:
            server.stop()


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    with (folder / "spark.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@pytest.fixture(scope="session", params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    """The name of each engine in turn."""
    return str(request.param)


@pytest.fixture(scope="session")
def engine_name(engine: str) -> str:
    """The same, where a module has something else called engine."""
    return engine


@pytest.fixture(scope="session")
def table(engine: str, request: pytest.FixtureRequest) -> Callable[[Mapping[str, Any]], Table]:
    """A table of an engine from its columns."""
    if engine == "postgres":
        made: Callable[[Mapping[str, Any]], Table] = request.getfixturevalue("database").table
        return made
    if engine == "spark":
        made = request.getfixturevalue("lake").table
        return made
    return lambda columns: sf.read(pa.table(dict(columns)))
