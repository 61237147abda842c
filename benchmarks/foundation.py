"""The foundation's figures, each a ratio measured in this one run: `./run bench foundation`.

(a) all class metrics on 10,000,000 Parquet rows against the bare DuckDB GROUP BY of the same columns, and peak memory
(b) the same metrics on Adult against pyCANON's full report
(c) Mondrian k = 5 on Adult against anonypy, with the ILoss of both; and on 1,000,000 rows

Adult is read from ../shared/data/adult; without it the demo's town of 30,162 people stands in, and the output says so.
"""

from __future__ import annotations

import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

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


def child(task: str, *arguments: str) -> dict:
    """Run one task of this file in a fresh process, so that memory and caches are its own."""
    done = subprocess.run([sys.executable, __file__, task, *arguments], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def peer(name: str, source: Path, out: Path, quasi: list[str], sensitive: str) -> dict:
    python = ROOT / ".venv-bench" / "bin" / "python"
    command = [python, ROOT / "benchmarks" / "_peer.py", name, source, out, json.dumps(quasi), sensitive]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[-1])


def timed(action) -> tuple[float, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    action()
    return time.perf_counter() - wall, time.process_time() - cpu


def task_bare(path: str) -> dict:
    import duckdb
    import pyarrow  # noqa: F401

    columns = ", ".join(json.loads(sys.argv[3]))
    connection = duckdb.connect()
    wall, cpu = timed(
        lambda: connection.sql(
            f"SELECT {columns}, count(*) AS n FROM read_parquet('{path}') GROUP BY ALL"
        ).to_arrow_table()
    )
    return {"wall": wall, "cpu": cpu, "mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}


def task_metrics(path: str) -> dict:
    import sfumato as sf

    quasi, sensitive = json.loads(sys.argv[3])[:-1], json.loads(sys.argv[3])[-1]
    sf.registry()
    roles = sf.Roles(quasi=tuple(quasi), sensitive=(sensitive,))
    table = sf.read(path)
    scores = {}
    wall, cpu = timed(lambda: scores.update(sf.measure(sf.Release(table=table), roles)[0]))
    return {
        "wall": wall,
        "cpu": cpu,
        "mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "metrics": len(scores),
        "k": scores["k_anonymity"][1].value,
        "t": scores["t_closeness[equal]"][1].value,
        "classes": len(scores["k_anonymity"][1].per_class),
    }


def task_mondrian(path: str) -> dict:
    import sfumato as sf

    quasi, sensitive = json.loads(sys.argv[3])[:-1], json.loads(sys.argv[3])[-1]
    roles = sf.Roles(quasi=tuple(quasi), sensitive=(sensitive,))
    table = sf.read(path)
    made = {}
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "release.csv"
        made["partition"], _ = timed(lambda: made.update(release=sf.Mondrian(k=5)(table, roles)))
        made["write"], _ = timed(lambda: sf.publish(made["release"], roles, [sf.require("k_anonymity >= 5")], out))
    return {
        "seconds": made["partition"],
        "published": made["write"],
        "iloss": sf.iloss(made["release"], roles).value,
        "tuples": len(table.count(tuple(quasi))),
        "mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def main() -> None:
    import sfumato as sf

    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        big, million, release = here / "rows.parquet", here / "million.parquet", here / "anonypy.csv"

        print("(a) all class metrics, 10,000,000 Parquet rows, 7 quasi-identifiers and 1 sensitive column")
        rows_file(big, 10_000_000)
        columns = json.dumps([*WIDE, "s"])
        bare, ours = [], []
        for _ in range(5):  # in turns, so that the machine's moods meet both alike
            bare.append(child("bare", str(big), columns))
            ours.append(child("metrics", str(big), columns))
        for clock in ("wall", "cpu"):
            ratio = statistics.median(o[clock] / b[clock] for o, b in zip(ours, bare, strict=True))
            times = [statistics.median(x[clock] for x in side) for side in (bare, ours)]
            print(
                f"    {clock}: bare GROUP BY {times[0]:.2f} s, {ours[0]['metrics']} metrics {times[1]:.2f} s: {ratio:.2f}x (target: at most 3x)"
            )
        print(
            f"    peak memory {max(o['mb'] for o in ours):.0f} MB (target: under 1000), bare {max(b['mb'] for b in bare):.0f} MB; "
            f"{ours[0]['classes']:,} classes"
        )

        if ADULT.exists():
            table, quasi, sensitive, name = ADULT, QUASI, "occupation", "Adult, 30,162 rows"
        else:
            from sfumato.demo import write

            write(here, rows=30_162)
            table = here / "people.csv"
            quasi = ["age", "sex", "postal_code", "birth_country", "education", "marital_status", "occupation"]
            sensitive, name = "diagnosis", "the demo's town (Adult is not here), 30,162 rows"
        columns = json.dumps([*quasi, sensitive])

        print(f"(b) the same metrics on {name}, against pyCANON 1.3.6's full report")
        ours_small = [child("metrics", str(table), columns) for _ in range(5)]
        theirs = peer("pycanon", table, release, quasi, sensitive)
        mine = statistics.median(o["wall"] for o in ours_small)
        print(
            f"    pyCANON {theirs['seconds']:.1f} s, sfumato {mine:.3f} s: {theirs['seconds'] / mine:.0f}x faster (target: at least 300x)"
        )

        print(f"(c) Mondrian, k = 5, on {name}, against anonypy 0.2.1")
        ours_cut = [child("mondrian", str(table), columns) for _ in range(3)]
        theirs = peer("anonypy", table, release, quasi, sensitive)
        mine = statistics.median(o["seconds"] for o in ours_cut)
        roles = sf.Roles(quasi=tuple(quasi), sensitive=(sensitive,))
        loss = sf.iloss(sf.Release(table=sf.read(release), original=sf.read(table)), roles).value
        print(
            f"    anonypy {theirs['seconds']:.1f} s, sfumato {mine:.3f} s: {theirs['seconds'] / mine:.0f}x faster (target: at least 50x)"
        )
        print(f"    ILoss: anonypy {loss:.4f}, sfumato {ours_cut[0]['iloss']:.4f} (target: no worse)")
        rows_file(million, 1_000_000)
        got = child("mondrian", str(million), json.dumps([*WIDE, "s"]))
        print(
            f"    1,000,000 rows, {got['tuples']:,} distinct tuples: {got['seconds']:.1f} s to partition, {got['published']:.1f} s to write "
            f"and verify, peak {got['mb']:.0f} MB (target: seconds)"
        )


if __name__ == "__main__":
    if len(sys.argv) > 2:
        print(json.dumps(globals()[f"task_{sys.argv[1]}"](sys.argv[2])))
    else:
        main()
