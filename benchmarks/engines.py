"""Counting on a PostgreSQL server beside the server's own bare GROUP BY, in turns in one run, and a search on these counts beside DuckDB's.

    python benchmarks/engines.py [rows] [rounds]

CPU seconds of the server are those of its process (one each: no parallel workers), so that other work on the machine matters less.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

import _bench
import _cluster
import pyarrow as pa

import sfumato as sf
from sfumato.core.database_address import DatabaseAddress
from sfumato.engines.postgres_server import server as session_of

_COLUMNS = [*_bench.WIDE, "q7"]
TARGET = 1.2


def _rows(folder: Path, rows: int) -> pa.Table:
    """Eight quasi-identifiers and a sensitive column."""
    import duckdb

    file = folder / "rows.parquet"
    _bench.rows_file(file, rows)
    return duckdb.sql(f"SELECT *, 'w' || (length(q0) + length(q3)) AS q7 FROM '{file}'").to_arrow_table()


def _cpu(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 3_000_000
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    postgres = _cluster.Postgres()
    with tempfile.TemporaryDirectory() as folder:
        try:
            postgres.start()
            _measure(postgres, _rows(Path(folder), rows), rounds)
        finally:
            postgres.stop()


def _measure(postgres: _cluster.Postgres, data: pa.Table, rounds: int) -> None:
    address = DatabaseAddress.of(postgres.address("big"))
    assert address is not None
    session = session_of(address.server, address.database)
    session.bring(data, schema="public", name="big")
    session.run("ANALYZE big")
    session.run("SET max_parallel_workers_per_gather = 0")
    process = int(session.rows("SELECT pg_backend_pid()")[0][0])
    table, here = sf.read(address.text), sf.read(data)
    by = [*_COLUMNS, "s"]
    bare = f"SELECT count(*) FROM (SELECT {', '.join(by)}, count(*) FROM big GROUP BY {', '.join(by)}) g"
    tuples: list[int] = []
    actions: dict[str, Any] = {
        "bare GROUP BY": lambda: session.rows(bare),
        "counted": lambda: tuples.append(len(table.scan(by))),
    }
    server: dict[str, list[float]] = {name: [] for name in actions}
    wall: dict[str, list[float]] = {name: [] for name in actions}
    client: dict[str, list[float]] = {name: [] for name in actions}
    for _ in range(rounds + 1):  # the first round warms up
        for name, action in actions.items():
            before, cpu, started = _cpu(process), time.process_time(), time.perf_counter()
            action()
            wall[name].append(time.perf_counter() - started)
            client[name].append(time.process_time() - cpu)
            server[name].append(_cpu(process) - before)
    print(f"{data.num_rows:,} rows, {tuples[0]:,} tuples over {len(by)} columns; medians of {rounds} rounds in turns")
    for name in actions:
        one, two, three = (median(each[name][1:]) for each in (server, client, wall))
        print(f"{name:<15} server {one:6.2f} CPU s   client {two:6.2f} CPU s   {three:6.2f} s by the clock")
    ratio = median(a / b for a, b in zip(server["counted"][1:], server["bare GROUP BY"][1:], strict=True))
    print(f"server CPU, counted : bare = {ratio:.2f} (target {TARGET})")
    roles = sf.Roles(
        quasi=tuple(_COLUMNS),
        sensitive=("s",),
        hierarchies={
            name: sf.Hierarchy.of(
                name, [(text, text[:2], "*") for text in here.count((name,)).columns[0].texts if text]
            )
            for name in _COLUMNS
        },
    )
    require = [sf.require("k_anonymity >= 5")]
    for name, each in (("DuckDB", sf.read(data)), ("PostgreSQL", sf.read(address.text))):
        started, cpu = time.perf_counter(), time.process_time()
        each.count(by)
        counted = time.perf_counter() - started
        node = sf.optimal_generalization(each, roles, require=require, suppression=0.05)
        print(
            f"search on {name:<11} {time.perf_counter() - started:6.2f} s by the clock, of which counting {counted:.2f}; client {time.process_time() - cpu:.2f} CPU s; {node.minimise} {node.loss:.6f}"
        )
    print(f"the most memory of the client, with the rows in it that were made here: {_bench.peak():,.0f} MB")


if __name__ == "__main__":
    main()
