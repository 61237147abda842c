"""The lattice search: `./run bench search`.

(a) Adult, and Adult resampled to 300,000, 1,000,000 and 3,000,000 rows, eight quasi-identifiers, 4,320 nodes: the search as a
    multiple of one bare DuckDB GROUP BY of the same columns from the same CSV file; the whole cold run beside it
(b) lattices too large to exhaust: the best node and the bound after 30 seconds
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from _bench import ADULT, child, peak, serve, timed

COLUMNS = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass", "salary-class"]
TASKS = {
    "k = 5, none": (["k_anonymity >= 5"], 0.0),
    "k = 5, 5%": (["k_anonymity >= 5"], 0.05),
    "l = 3 distinct, 5%": (["distinct_l_diversity >= 3"], 0.05),
    "t = 0.2 equal, none": (["t_closeness[equal] <= 0.2"], 0.0),
    "t = 0.2 equal, 5%": (["t_closeness[equal] <= 0.2"], 0.05),
}


def resample(path: Path, rows: int) -> None:
    """Rows drawn from Adult; in one of 12 the age is another row's, so that distinct rows go on growing."""
    import duckdb

    source = f"SELECT *, row_number() OVER () - 1 AS i FROM read_csv('{ADULT}', delim=';', all_varchar=true)"
    others = ", ".join(f'a."{c}"' for c in COLUMNS if c != "age")
    duckdb.execute(
        f"COPY (SELECT {others}, CASE WHEN hash(r.i * 7 + 3) % 12 = 0 THEN b.age ELSE a.age END AS age, a.occupation "
        f"FROM range({rows}) r(i) JOIN ({source}) a ON a.i = hash(r.i * 7 + 1) % 30162 "
        f"JOIN ({source}) b ON b.i = hash(r.i * 7 + 2) % 30162) TO '{path}' (FORMAT csv, HEADER, DELIMITER ';')"
    )


def bare(path: str) -> dict[str, Any]:
    import duckdb
    import pyarrow  # noqa: F401

    keys = ", ".join(f'"{column}"' for column in [*COLUMNS, "occupation"])
    connection = duckdb.connect()
    sql = f"SELECT {keys}, count(*) AS n FROM read_csv('{path}', delim=';', header=true, all_varchar=true) GROUP BY ALL"
    wall, cpu = timed(lambda: connection.sql(sql).to_arrow_table())
    return {"wall": wall, "cpu": cpu, "mb": peak()}


def roles_file(folder: Path) -> Path:
    lines = ["[roles]", f"quasi = {json.dumps(COLUMNS)}", 'sensitive = ["occupation"]', "", "[hierarchies]"]
    lines += [f"{column} = {json.dumps(str(ADULT.with_name(f'hierarchy_{column}.csv')))}" for column in COLUMNS]
    path = folder / "roles.toml"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def ours(path: str, roles: str, task: str) -> dict[str, Any]:
    """Counting and searching apart, the second of two searches: warm, as a Java tool is measured."""
    import sfumato as sf
    from sfumato.search.optimal import explore
    from sfumato.search.problem import pose

    texts, suppression = TASKS[task]
    named, table = sf.Roles.read(roles), sf.read(path)
    require = [sf.require(text) for text in texts]
    found: dict[str, Any] = {}
    for _ in range(2):
        wall = time.perf_counter()
        problem = pose(table, named, require=require, minimise="loss", suppression=suppression)
        counted = time.perf_counter() - wall
        search, cpu = timed(lambda: explore(problem))  # noqa: B023
        assert problem.best is not None
        found = {
            "count": counted,
            "search": search,
            "cpu": cpu,
            "mb": peak(),
            "checked": problem.checked,
            "tuples": len(problem.judge.original.counts),
            "loss": problem.best.loss,
            "suppressed": problem.best.verdict.suppressed,
        }
    return found


def cold(path: Path, roles: Path, task: str) -> tuple[float, float, float]:
    """Wall and CPU seconds and peak MB of the whole command, from starting Python to the written and verified release;
    the faster of two."""
    texts, suppression = TASKS[task]
    words = [str(Path(sys.executable).with_name("sfumato")), "search", str(path), "--roles", str(roles), "--json"]
    for text in texts:
        words += ["--require", text]
    words += ["--suppression", str(suppression), "--out", str(path.with_name("release.csv"))]
    # as after any installation: Python may keep its compiled files, and the first run has made them
    plain = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    subprocess.run([words[0], "--version"], env=plain, stdout=subprocess.DEVNULL, check=True)
    best = (float("inf"), 0.0, 0.0)
    for _ in range(2):
        started = time.perf_counter()
        job = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=plain)
        _, code, usage = os.wait4(job.pid, 0)
        if code:
            raise SystemExit(job.stderr.read().decode() if job.stderr else "the search failed")
        best = min(best, (time.perf_counter() - started, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024))
    return best


def wide(path: Path, columns: int, rows: int = 20_000) -> tuple[Path, int]:
    """A table of correlated columns of 6 to 96 values in ladders of 3 to 5 levels, and its roles."""
    import numpy as np

    rng = np.random.default_rng(columns)
    hidden = rng.normal(size=(rows, 3))
    names, data, rules, nodes = [], [], [], 1
    for j in range(columns):
        heights = [3, 4, 3, 3, 2][j % 5]
        step = 2
        values = [96, 48, 12, 24, 6][j % 5]
        x = hidden @ rng.normal(size=3) + rng.normal(size=rows)
        data.append(np.clip((x + 3) / 6 * values, 0, values - 1).astype(int))
        names.append(f"c{j}")
        rules.append(f"c{j} = {{ widths = {[step * 2**h for h in range(heights - 1)]} }}")
        nodes *= heights + 1
    lines = [",".join(names)] + [",".join(map(str, row)) for row in np.array(data).T.tolist()]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    roles = path.with_suffix(".toml")
    roles.write_text(
        f"[roles]\nquasi = {json.dumps(names)}\n\n[hierarchies]\n" + "\n".join(rules) + "\n", encoding="utf-8"
    )
    return roles, nodes


def large(path: str, roles: str) -> dict[str, Any]:
    import sfumato as sf

    found = sf.optimal_generalization(
        sf.read(path),
        sf.Roles.read(roles),
        require=[sf.require("k_anonymity >= 5")],
        suppression=0.05,
        time_limit=30.0,
    )
    return {"nodes": found.nodes, "loss": found.loss, "bound": found.bound, "checked": found.checked, "mb": peak()}


def main() -> None:
    if not ADULT.is_file():
        raise SystemExit("This benchmark reads Adult from ../shared/data/adult, which is not beside this checkout.")
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        roles = roles_file(folder)
        print(
            "(a) eight quasi-identifiers, 4,320 nodes, occupation sensitive; seconds, and multiples of the bare GROUP BY"
        )
        for rows in (30_162, 300_000, 1_000_000, 3_000_000):
            path = folder / f"adult{rows}.csv"
            if rows == 30_162:
                path.write_bytes(ADULT.read_bytes())
            else:
                resample(path, rows)
            engine = min((child(__file__, "bare", str(path)) for _ in range(3)), key=lambda b: b["wall"])
            print(
                f"  {rows:,} rows: bare GROUP BY {engine['wall']:.3f} s ({engine['cpu']:.2f} CPU), {engine['mb']:.0f} MB"
            )
            for task in TASKS:
                got = child(__file__, "ours", str(path), str(roles), task)
                wall, cpu, mb = cold(path, roles, task)
                print(
                    f"    {task:20} {got['checked']:4d} nodes checked of {got['tuples']:,} tuples, search {got['search']:.3f} s "
                    f"({got['cpu']:.2f} CPU) = {got['search'] / engine['wall']:.2f}x; whole cold run with the verified file "
                    f"{wall:.2f} s ({cpu:.2f} CPU) = {wall / engine['wall']:.1f}x, {mb:.0f} MB; loss {got['loss']:.4f}, "
                    f"{got['suppressed']:,} suppressed"
                )
            path.unlink()
        print("(b) lattices too large to exhaust, 20,000 rows, k = 5, 5%: after 30 seconds")
        for columns in (16, 24):
            path = folder / f"wide{columns}.csv"
            rules, _ = wide(path, columns)
            got = child(__file__, "large", str(path), str(rules))
            print(
                f"    {columns} quasi-identifiers, {got['nodes']:.2e} nodes: loss {got['loss']:.4f}, none below {got['bound']:.4f}; "
                f"{got['checked']:,} checked, {got['mb']:.0f} MB"
            )


if __name__ == "__main__":
    serve({"bare": bare, "ours": ours, "large": large}, main)
