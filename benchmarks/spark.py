"""Counting with Spark beside its own bare GROUP BY, in turns in one run; a release that Spark writes and counts again; and a worker that is killed meanwhile.

    python benchmarks/spark.py [rows] [rounds]

The rows are made by Spark. A master and two workers of one core run on this machine. CPU seconds are those of all of their processes, so
that other work on the machine matters less. The memory of the client is this process's.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from pathlib import Path
from statistics import median
from typing import Any

import _bench
from _spark_cluster import Spark

import sfumato as sf
from sfumato.core.errors import SfumatoError
from sfumato.core.spark_address import SparkAddress
from sfumato.core.table import Table
from sfumato.engines.spark_server import server as session_of

_COLUMNS = [*_bench.WIDE, "q7"]
_SIZES = (74, 2, 5, 16, 7, 41, 8, 9)
TARGET, MEMORY = 1.2, 500
K5 = [sf.require("k_anonymity >= 5")]


def _rows(salt: int, size: int, letter: str) -> str:
    """A column as those of `_bench.rows_file`: skewed, and the same for the rows of one of 70,000 persons."""
    share = f"pmod(xxhash64(id % 70000 * 31 + {salt}), 1000003) / 1000003.0D"
    return f"concat('{letter}', CAST(floor({size} * pow({share}, {1.5 + salt / 4}D)) AS string))"


def cpu(spark: Spark) -> float:
    """CPU seconds of all its processes that still run."""
    groups, ticks = set(spark.processes.values()), 0
    for entry in Path("/proc").iterdir():
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split() if entry.name.isdigit() else []
        except OSError:
            continue
        if fields and int(fields[2]) in groups:
            ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    spark = Spark(workers=2)
    try:
        spark.start()
        _measure(spark, rows, rounds)
    finally:
        spark.stop()


def _measure(spark: Spark, rows: int, rounds: int) -> None:
    text = spark.address(folder=spark.data / "big")
    address = SparkAddress.of(text)
    assert address is not None
    session = session_of(address)
    made = [f"{_rows(i, size, 'v')} AS q{i}" for i, size in enumerate(_SIZES)]
    made.append("concat('s', CAST(pmod(xxhash64(id % 70000 + 977, id % 3), 14) AS string)) AS s")
    session.run(
        f"INSERT OVERWRITE DIRECTORY '{spark.data / 'big'}' USING parquet SELECT {', '.join(made)} FROM range({rows})"
    )
    table, by = sf.read(text), [*_COLUMNS, "s"]
    keys = ", ".join(f"c{table.columns.index(name)}" for name in by)
    bare = f"SELECT count(*) AS n FROM (SELECT {keys}, count(*) AS n FROM ({table.sql}) t GROUP BY {keys}) g"
    tuples: list[int] = []
    actions: dict[str, Any] = {
        "bare GROUP BY": lambda: session.rows(bare),
        "counted": lambda: tuples.append(len(table.scan(by))),
    }
    taken: dict[str, list[tuple[float, float, float]]] = {name: [] for name in actions}
    for _ in range(rounds + 1):  # the first round warms up
        for name, action in actions.items():
            before, ours, started = cpu(spark), time.process_time(), time.perf_counter()
            action()
            taken[name].append((cpu(spark) - before, time.process_time() - ours, time.perf_counter() - started))
    print(f"{rows:,} rows, {tuples[0]:,} tuples over {len(by)} columns; medians of {rounds} rounds in turns")
    for name in actions:
        one, two, three = (median(each[i] for each in taken[name][1:]) for i in range(3))
        print(f"{name:<15} cluster {one:7.2f} CPU s   client {two:6.2f} CPU s   {three:7.2f} s by the clock")
    ratio = median(a[0] / b[0] for a, b in zip(taken["counted"][1:], taken["bare GROUP BY"][1:], strict=True))
    print(f"cluster CPU, counted : bare = {ratio:.2f} (target {TARGET})", flush=True)
    _release(spark, table)
    print(f"the most memory of the client until here: {_bench.peak():,.0f} MB (target {MEMORY})", flush=True)
    _killed(spark, table)
    _duckdb(spark, by)


def _roles(table: Table) -> sf.Roles:
    """Hierarchies of one shorter spelling each."""
    spelled = {name: [text for text in table.count((name,)).columns[0].texts if text] for name in _COLUMNS}
    trees = {name: sf.Hierarchy.of(name, [(t, t[:2], "*") for t in texts]) for name, texts in spelled.items()}
    return sf.Roles(quasi=tuple(_COLUMNS), sensitive=("s",), hierarchies=trees)


def _release(spark: Spark, table: Table) -> None:
    before, ours, started = cpu(spark), time.process_time(), time.perf_counter()
    roles = _roles(table)
    node = sf.optimal_generalization(table, roles, require=K5, suppression=0.05)
    searched = time.perf_counter() - started
    sf.publish(node.release(table, roles), roles, K5, spark.address(folder=spark.data / "released"))
    print(
        f"full-domain release: searched {searched:.1f} s, written and verified {time.perf_counter() - started - searched:.1f} s by the clock; "
        f"cluster {cpu(spark) - before:.1f} CPU s, client {time.process_time() - ours:.1f} CPU s",
        flush=True,
    )


def _killed(spark: Spark, table: Table) -> None:
    """One of the two workers goes while the release is written; it is then right, or not there."""
    expected = sf.read(spark.address(folder=spark.data / "released")).digest()
    roles, target = _roles(table), spark.data / "released while one was killed"
    node = sf.optimal_generalization(table, roles, require=K5, suppression=0.05)

    def kill() -> None:
        while not any(spark.data.glob(".sfumato-*/rows/_temporary/*/*/*")):  # a task has begun to write
            time.sleep(0.02)
        spark.kill("worker0")
        print("worker killed while its parts were written", flush=True)

    threading.Thread(target=kill, daemon=True).start()
    started = time.perf_counter()
    try:
        sf.publish(node.release(table, roles), roles, K5, spark.address(folder=target))
        again = sf.read(spark.address(folder=target)).digest()
        print(
            f"release after {time.perf_counter() - started:.1f} s: {'the same rows' if again == expected else 'OTHER ROWS'}"
        )
    except SfumatoError as error:
        print(
            f"release refused after {time.perf_counter() - started:.1f} s, {'left behind' if target.exists() else 'absent'}: {error}"
        )
    hidden = [path.name for path in spark.data.iterdir() if path.name.startswith(".")]
    print(f"hidden folders left: {len(hidden)}", flush=True)


def _duckdb(spark: Spark, by: list[str]) -> None:
    """The same files counted in this process."""
    import duckdb

    here = sf.read(duckdb.sql(f"SELECT * FROM '{spark.data / 'big'}/*.parquet'"))
    wall, seconds = _bench.timed(lambda: here.count(by))
    print(f"DuckDB on the same files: {seconds:.2f} CPU s, {wall:.2f} s by the clock")


if __name__ == "__main__":
    main()
