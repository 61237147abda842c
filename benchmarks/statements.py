"""Statements sent to the engine: `./run bench statements`, or `benchmarks/statements.py [--verb VERB] [--show] [--json] [ROWS ...]`.

Each verb runs on the demo's table, in a fresh process and with one worker, by the command a user would type. Every statement that
reaches DuckDB and asks something of the rows is counted (settings, descriptions and tables let go are not), and those that ask word
for word what was asked before are counted apart.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from _bench import child, serve

STUDY = """table = "people.csv"
roles = "roles.toml"
require = ["k_anonymity >= 5"]

[[candidate]]
mechanism = "mondrian"
k = [5, 10]

[[candidate]]
mechanism = "generalize_full_domain"
suppression = 0.05
require = ["k_anonymity >= 5"]
"""
ROLES = ["--roles", "roles.toml"]
VERBS: dict[str, list[str]] = {
    "advise": ["people.csv", *ROLES, "--to", "agreement", "--impact", "medium", "--workers", "1", "--out", "advice"],
    "study": ["study.toml", "--workers", "1", "--out", "study"],
    "search": [
        *("people.csv", *ROLES, "--require", "k_anonymity >= 5"),
        *("--suppression", "0.05", "--out", "release.csv"),
    ],
    "attack": ["release.csv", *ROLES, "--original", "people.csv"],
}
ASIDE = re.compile(r"(SET|DESCRIBE|DROP|CREATE VIEW)\b|SELECT current_setting")


class Recorder:
    """A connection that writes down what it is sent."""

    def __init__(self, connection: Any, sent: list[str]) -> None:
        self._connection, self._sent = connection, sent

    def execute(self, sql: str, *more: Any) -> Any:
        self._sent.append(sql)
        return self._connection.execute(sql, *more)

    def sql(self, sql: str, *more: Any) -> Any:
        self._sent.append(sql)
        return self._connection.sql(sql, *more)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)


def town(folder: str, rows: str) -> dict[str, Any]:
    """A task: the demo's table of so many people, its roles and a study of it."""
    from sfumato.cli.demo_table import write_town

    write_town(Path(folder), rows=int(rows), seed=2026)
    (Path(folder) / "study.toml").write_text(STUDY, encoding="utf-8")
    return {}


def sent(folder: str, *words: str) -> dict[str, Any]:
    """A task: what a command sends, and the seconds it takes."""
    import duckdb

    statements: list[str] = []
    connect = duckdb.connect
    duckdb.connect = lambda *a, **k: Recorder(connect(*a, **k), statements)  # type: ignore[assignment,misc]
    os.chdir(folder)
    from sfumato import cli

    sys.argv = ["sfumato", *words]
    out, sys.stdout = sys.stdout, sys.stderr
    wall, cpu = time.perf_counter(), time.process_time()
    try:
        cli.main()
    except SystemExit as end:
        if end.code not in (0, None, 1):
            raise
    finally:
        sys.stdout = out
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    rows = Counter(text for text in statements if not ASIDE.match(text))
    repeated = {text: n for text, n in rows.items() if n > 1}
    return {"seconds": wall, "cpu": cpu, "sent": rows.total(), "again": rows.total() - len(rows), "repeated": repeated}


def main() -> None:
    asked = argparse.ArgumentParser()
    asked.add_argument("--verb", choices=sorted(VERBS), action="append")
    asked.add_argument("--json", action="store_true")
    asked.add_argument("--show", action="store_true", help="also print what is repeated")
    asked.add_argument("rows", type=int, nargs="*")
    options = asked.parse_args()
    answers = []
    for rows in options.rows or (800, 30_000):
        with tempfile.TemporaryDirectory() as folder:
            child(__file__, "town", folder, str(rows))
            for verb in options.verb or VERBS:
                answers.append({"verb": verb, "rows": rows, **child(__file__, "sent", folder, verb, *VERBS[verb])})
                if not options.json:
                    show(answers[-1], options.show)
    if options.json:
        print(json.dumps(answers))


def show(answer: dict[str, Any], repeats: bool) -> None:
    print(
        f"  {answer['rows']:,} rows, {answer['verb']:7} {answer['sent']:4d} statements, {answer['again']} of them word for "
        f"word repeats; {answer['seconds']:.2f} s ({answer['cpu']:.2f} CPU)"
    )
    for text, n in answer["repeated"].items() if repeats else ():
        print(f"      {n}x {text[:200]} ... {text[-200:]}")


if __name__ == "__main__":
    serve({"town": town, "sent": sent}, main)
