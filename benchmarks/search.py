"""The lattice search: `./run bench search`, or `benchmarks/search.py [--arx FOLDER] [ROWS ...]`.

(a) Adult, and Adult resampled to 300,000, 1,000,000 and 3,000,000 rows, eight quasi-identifiers, 4,320 nodes: the search as a
    multiple of one bare DuckDB GROUP BY of the same columns from the same CSV file; the whole cold run beside it
(b) a cold start: `sfumato --help`, and the smallest search with its verified file, beside the imports that no search does without;
    least of five, in CPU seconds, which a busy machine changes least

ARX runs in turns with ours where a folder is given (`--arx`, or SFUMATO_ARX) that holds what it was compiled to in `classes/`
and the libraries it needs in `lib/`; `Arx.java` is compiled against it. Sizes named are the only ones of (a). Lattices too large to exhaust: `wide_lattice.py`.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from _bench import ADULT, bare, child, hierarchy, need_adult, peak, serve, timed

COLUMNS = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass", "salary-class"]
TASKS = {
    "k = 5, none": (["k_anonymity >= 5"], 0.0),
    "k = 5, 5%": (["k_anonymity >= 5"], 0.05),
    "l = 3 distinct, 5%": (["distinct_l_diversity >= 3"], 0.05),
    "t = 0.2 equal, none": (["t_closeness[equal] <= 0.2"], 0.0),
    "t = 0.2 equal, 5%": (["t_closeness[equal] <= 0.2"], 0.05),
}
REPEAT = 11
THEIRS = {"k": ("k", "5"), "l": ("l", "3"), "t": ("t", "0.2")}
RECORDED = """  ARX was not measured: give its folder with --arx. Measured before (ARX 3.9.2, CPU seconds of the warm search):
    Adult 0.03 (k = 5, none), 0.24 (k = 5, 5%), 1.6 (t = 0.2, 5%); 1,000,000 rows 0.29 (k = 5, 5%), 4.6 (t = 0.2, 5%);
    3,000,000 rows 1.0 (k = 5, none), 10.4 (t = 0.2, 5%); whole cold run, wall seconds on two idle cores: Adult 1.9 (k = 5, 5%),
    3.6 (t = 0.2, 5%); 3,000,000 rows 6.1 (k = 5, 5%), 13.2 (t = 0.2, 5%)"""


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


def roles_file(folder: Path) -> Path:
    lines = ["[roles]", f"quasi = {json.dumps(COLUMNS)}", 'sensitive = ["occupation"]', "", "[hierarchies]"]
    lines += [f"{column} = {json.dumps(hierarchy(column))}" for column in COLUMNS]
    path = folder / "roles.toml"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def ours(path: str, roles: str, task: str) -> dict[str, Any]:
    """Counting and searching apart; the least of so many searches: warm, as a Java tool is measured."""
    import sfumato as sf
    from sfumato.core.counted_table import CountedTable
    from sfumato.search.optimal import explore
    from sfumato.search.problem import pose

    texts, suppression = TASKS[task]
    named, table = sf.Roles.read(roles), sf.read(path)
    require = [sf.require(text) for text in texts]
    counted: list[Any] = []
    count, _ = timed(lambda: counted.append(table.count((*named.quasi, *named.sensitive))))
    found: dict[str, Any] = {"search": float("inf"), "cpu": float("inf")}
    for _ in range(REPEAT):
        problem = pose(
            CountedTable(counted[0], name=path), named, require=require, minimise="loss", suppression=suppression
        )
        search, cpu = timed(lambda: explore(problem))  # noqa: B023
        assert problem.best is not None
        found = {
            "count": count,
            "search": min(search, found["search"]),
            "cpu": min(cpu, found["cpu"]),
            "mb": peak(),
            "checked": problem.checked,
            "tuples": len(problem.judge.original.counts),
            "loss": problem.best.loss,
            "suppressed": problem.best.verdict.suppressed,
        }
    return found


def run(words: list[str]) -> tuple[str, float, float, float]:
    """What a command prints, its wall and CPU seconds and its peak MB."""
    # as after any installation: Python may keep its compiled files, and the first run has made them
    plain = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    with tempfile.TemporaryFile() as told, tempfile.TemporaryFile() as complaint:
        started = time.perf_counter()
        job = subprocess.Popen(words, stdout=told, stderr=complaint, env=plain)
        _, code, usage = os.wait4(job.pid, 0)
        wall = time.perf_counter() - started
        job.returncode = code
        told.seek(0)
        complaint.seek(0)
        if code:
            raise SystemExit(complaint.read().decode() or "the search failed")
        return told.read().decode(), wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


class Arx:
    """The peer, compiled against the folder that was given."""

    def __init__(self, folder: Path, to: Path) -> None:
        libraries = [str(folder / "classes"), *map(str, sorted((folder / "lib").glob("*.jar")))]
        made = ["javac", "-nowarn", "-d", str(to), "-cp", os.pathsep.join(libraries)]
        done = subprocess.run([*made, str(Path(__file__).with_name("Arx.java"))], capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"{folder}: ARX cannot be used from there.\n{done.stderr}")
        self.words = ["java", "-cp", os.pathsep.join([str(to), *libraries]), "Arx"]

    def __call__(self, path: Path, task: str, repeat: int, *out: str) -> tuple[dict[str, Any], float, float, float]:
        """Its answer and its least times, and what the whole process took."""
        given = [str(path), str(ADULT.parent), ",".join(COLUMNS), "occupation", *THEIRS[task[0]]]
        told, wall, cpu, mb = run([*self.words, *given, str(TASKS[task][1]), str(repeat), *out])
        return json.loads(told), wall, cpu, mb


def beside(arx: Arx, path: Path, task: str, got: dict[str, Any], whole: tuple[float, float, float]) -> None:
    """The line of the peer: what it takes, and as a multiple of ours."""
    warm = arx(path, task, REPEAT if path.stat().st_size < 1 << 25 else 3)[0]  # each reads the file again
    out = str(path.with_name("arx.csv"))
    wall, cpu, mb = min(arx(path, task, 1, out)[1:] for _ in range(2))
    print(
        f"      ARX: {warm['checked']:4d} nodes checked, search {warm['wall']:.3f} s ({warm['cpu']:.3f} CPU) = "
        f"{warm['cpu'] / got['cpu']:.1f}x our CPU; whole cold run {wall:.2f} s ({cpu:.2f} CPU) = {wall / whole[0]:.1f}x ours "
        f"({cpu / whole[1]:.1f}x CPU), {mb:.0f} MB; loss {float(warm['loss']):.4f}"
    )


def cold(path: Path, roles: Path, task: str) -> tuple[float, float, float]:
    """Wall and CPU seconds and peak MB of the whole command, from starting Python to the written and verified release;
    the faster of two."""
    texts, suppression = TASKS[task]
    words = [str(Path(sys.executable).with_name("sfumato")), "search", str(path), "--roles", str(roles), "--json"]
    for text in texts:
        words += ["--require", text]
    words += ["--suppression", str(suppression), "--out", str(path.with_name("release.csv"))]
    run([words[0], "--version"])
    return min(run(words)[1:] for _ in range(2))


def start(folder: Path, roles: Path) -> None:
    """What a command costs before it does anything, and the smallest whole search."""
    sfumato, path = str(Path(sys.executable).with_name("sfumato")), folder / "adult.csv"
    path.write_bytes(ADULT.read_bytes())
    search = [
        sfumato,
        "search",
        str(path),
        "--roles",
        str(roles),
        "--require",
        "k_anonymity >= 5",
        "--suppression",
        "0.05",
    ]
    commands = {
        "numpy, DuckDB, Arrow": [sys.executable, "-c", "import numpy, duckdb, pyarrow"],
        "sfumato --help": [sfumato, "--help"],
        "sfumato search --out": [*search, "--out", str(folder / "release.csv"), "--json"],
    }
    seconds = {name: min(run(words)[2] for _ in range(5)) for name, words in commands.items()}
    imports = next(iter(seconds.values()))
    for name, cpu in seconds.items():
        print(f"    {name:22} {cpu:.2f} CPU seconds = {cpu / imports:.1f}x the imports")


def main() -> None:
    need_adult()
    asked = argparse.ArgumentParser()
    asked.add_argument("--arx", type=Path, default=os.environ.get("SFUMATO_ARX"))
    asked.add_argument("rows", type=int, nargs="*")
    options = asked.parse_args()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        roles = roles_file(folder)
        arx = None if options.arx is None else Arx(Path(options.arx), folder)
        print(
            "(a) eight quasi-identifiers, 4,320 nodes, occupation sensitive; seconds, and multiples of the bare GROUP BY"
        )
        if arx is None:
            print(RECORDED)
        for rows in options.rows or (30_162, 300_000, 1_000_000, 3_000_000):
            path = folder / f"adult{rows}.csv"
            if rows == 30_162:
                path.write_bytes(ADULT.read_bytes())
            else:
                resample(path, rows)
            engine = min(
                (child(__file__, "bare", str(path), json.dumps([*COLUMNS, "occupation"])) for _ in range(3)),
                key=lambda b: b["wall"],
            )
            print(
                f"  {rows:,} rows: bare GROUP BY {engine['wall']:.3f} s ({engine['cpu']:.2f} CPU), {engine['mb']:.0f} MB"
            )
            for task in TASKS:
                got = child(__file__, "ours", str(path), str(roles), task)
                wall, cpu, mb = cold(path, roles, task)
                print(
                    f"    {task:20} {got['checked']:4d} nodes checked of {got['tuples']:,} tuples, search {got['search']:.3f} s "
                    f"({got['cpu']:.3f} CPU) = {got['search'] / engine['wall']:.2f}x; whole cold run with the verified file "
                    f"{wall:.2f} s ({cpu:.2f} CPU) = {wall / engine['wall']:.1f}x, {mb:.0f} MB; loss {got['loss']:.4f}, "
                    f"{got['suppressed']:,} suppressed"
                )
                if arx is not None:
                    beside(arx, path, task, got, (wall, cpu, mb))
            path.unlink()
        print("(b) a cold start on Adult")
        start(folder, roles)


if __name__ == "__main__":
    serve({"bare": bare, "ours": ours}, main)
