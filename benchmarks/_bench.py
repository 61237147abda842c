"""What the benchmarks share: data of a known shape, tasks in fresh processes, clocks."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
ADULT = ROOT.parent / "shared" / "data" / "adult" / "adult_30162.csv"
QUASI = ["age", "sex", "race", "education", "marital-status", "native-country", "workclass"]
WIDE = [f"q{i}" for i in range(7)]


def rows_file(path: Path, rows: int) -> None:
    """Rows of 7 quasi-identifiers and a sensitive column, skewed and correlated, about 180,000 distinct tuples at 10M."""
    import duckdb

    sizes = [74, 2, 5, 16, 7, 41, 8]
    terms = [
        # skewed by a power of a uniform number made from the row's number, each column with its own salt
        f"'v' || CAST(floor({size} * pow(((hash(i % 70000 * 31 + {salt}) % 1000003) / 1000003.0), {1.5 + salt / 4})) AS INT) AS q{salt}"
        for salt, size in enumerate(sizes)
    ]
    sensitive = "'s' || CAST(floor(14 * pow((hash(i % 70000 + 977) % 1000003) / 1000003.0, 1 + (i % 3))) AS INT) AS s"
    duckdb.execute(
        f"COPY (SELECT {', '.join(terms)}, {sensitive} FROM range({rows}) t(i)) TO '{path}' (FORMAT parquet)"
    )


def child(file: str, task: str, *arguments: str) -> dict[str, Any]:
    """Run one task of a benchmark file in a fresh process, so that memory and caches are its own."""
    done = subprocess.run([sys.executable, file, task, *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout)


def serve(tasks: dict[str, Callable[..., dict[str, Any]]], main: Callable[[], None]) -> None:
    """In a child, do its task; else run the benchmark."""
    if len(sys.argv) > 1 and sys.argv[1] in tasks:
        print(json.dumps(tasks[sys.argv[1]](*sys.argv[2:])))
    else:
        main()


def timed(action: Callable[[], Any]) -> tuple[float, float]:
    """Wall and CPU seconds."""
    wall, cpu = time.perf_counter(), time.process_time()
    action()
    return time.perf_counter() - wall, time.process_time() - cpu


def peak() -> float:
    """The most memory this process has held, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def bare(path: str, columns: str) -> dict[str, Any]:
    """A task: the bare engine's GROUP BY of the same columns, handed over as Arrow."""
    import duckdb
    import pyarrow  # noqa: F401

    keys = ", ".join(f'"{column}"' for column in json.loads(columns))
    source = (
        f"read_parquet('{path}')"
        if path.endswith(".parquet")
        else f"read_csv('{path}', delim=';', header=true, all_varchar=true)"
    )
    connection = duckdb.connect()
    wall, cpu = timed(
        lambda: connection.sql(f"SELECT {keys}, count(*) AS n FROM {source} GROUP BY ALL").to_arrow_table()
    )
    return {"wall": wall, "cpu": cpu, "mb": peak()}


def need_adult() -> None:
    """Stop where Adult is not there."""
    if not ADULT.is_file():
        raise SystemExit("This benchmark reads Adult from ../shared/data/adult, which is not beside this checkout.")


def hierarchy(column: str) -> str:
    """The file of a column's taxonomy."""
    return str(ADULT.with_name(f"hierarchy_{column}.csv"))


def adult_roles(quasi: list[str], *, trees: bool = True) -> Any:
    """Adult with these quasi-identifiers and their taxonomies, occupation sensitive."""
    import sfumato as sf

    files = {column: hierarchy(column) for column in quasi} if trees else {}
    return sf.Roles(quasi=tuple(quasi), sensitive=("occupation",), hierarchies=files)


def peer(name: str, *arguments: str, seconds: int | None = None) -> subprocess.CompletedProcess[str]:
    """A peer in its own environment, stopped after so many CPU seconds: other work on the machine does not shorten them."""
    own = {"anjana": ".venv-anjana", "dpmm": ".venv-dpmm"}.get(name.partition("-")[0], ".venv-bench")
    python = ROOT / own / "bin" / "python"
    if not python.exists():
        raise FileNotFoundError(python)

    def limit() -> None:
        if seconds is not None:
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))

    words = [str(python), str(ROOT / "benchmarks" / "_peer.py"), name, *arguments]
    return subprocess.run(words, capture_output=True, text=True, check=False, preexec_fn=limit)
