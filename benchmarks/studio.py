"""The studio as its user meets it: `./run bench studio`, or `benchmarks/studio.py [--rows N ...] [--studies N] [--json]`.

A real server in a process of its own, asked over HTTP. (a) A file is opened: from the command to the first page, beside the bare engine's
GROUP BY of its quasi-identifiers from the same CSV. (b) A level is moved: from the request to the answer, six metrics, class sizes and
verdicts, in multiples of the same. (c) One studio goes through many studies, each with other limits, roles and candidates; what its process holds
after the first tenth and at the end.
"""

from __future__ import annotations

import argparse
import http.client
import json
import random
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb

import sfumato as sf
from sfumato.core.toml import opened
from sfumato.studio.work_folder import study_toml

MOVES = 40
TENTH = 0.1


class Studio:
    """A browser that has entered, as far as requests go."""

    def __init__(self, address: str, process: int) -> None:
        self.host, self.process = address.split("/")[2], process
        self.cookie = ""
        _, headers = self._ask("GET", address.split(self.host)[1])
        self.cookie = headers["set-cookie"].partition(";")[0]

    def _ask(self, method: str, path: str, body: str | None = None) -> tuple[str, Any]:
        connection = http.client.HTTPConnection(self.host, timeout=1800)
        headers = {"Cookie": self.cookie} if self.cookie else {}
        if body is not None:
            headers |= {"Origin": f"http://{self.host}", "Content-Type": "application/json"}
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        if answer.status >= 400:
            raise SystemExit(f"{path}: {answer.status} {re.sub('<[^>]*>', '', text)[-400:]}")
        return text, answer.headers

    def get(self, path: str) -> str:
        return self._ask("GET", path)[0]

    def post(self, path: str, content: Any) -> Any:
        return json.loads(self._ask("POST", path, json.dumps(content))[0])

    @property
    def megabytes(self) -> float:
        """What its process holds in memory now."""
        status = Path(f"/proc/{self.process}/status").read_text()
        return int(re.findall(r"VmRSS:\s+(\d+)", status)[0]) / 1024


@contextmanager
def studio(table: Path, folder: Path) -> Iterator[Studio]:
    script = str(Path(sys.executable).with_name("sfumato"))
    words = [script, "studio", str(table), "--folder", str(folder), "--no-browser"]
    child = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert child.stdout is not None
    try:
        yield Studio(child.stdout.readline().strip(), child.pid)
    finally:
        child.send_signal(signal.SIGINT)
        child.wait()


def bare(table: Path, quasi: list[str]) -> float:
    keys = ", ".join(f'"{name}"' for name in quasi)
    started = time.perf_counter()
    duckdb.connect().sql(f"SELECT {keys}, count(*) FROM read_csv('{table}') GROUP BY ALL").to_arrow_table()
    return time.perf_counter() - started


def limits(impact: str) -> dict[str, str]:
    return {"guidance": "questions", "to": "public", "impact": impact, "controls": "medium", "motives": "medium"}


def latency(rows: int, folder: Path) -> dict[str, Any]:
    """Opening and moving, and the bare engine, in turns."""
    table = sf.write_town(folder / "town", rows=rows)["people"]
    quasi = list(sf.Roles.read(table.with_name("roles.toml")).quasi)
    ready, counted, moved = [], [], []
    for turn in range(3):
        counted.append(bare(table, quasi))
        started = time.perf_counter()
        with studio(table, folder / f"work{turn}") as page:
            page.get("/open")
            ready.append(time.perf_counter() - started)
            page.post("/limits/answers", limits("medium"))
            tops = [int(top) for top in re.findall(r'name="levels" min="0" max="(\d+)"', page.get("/look"))]
            draw = random.Random(turn)
            for _ in range(MOVES):
                levels = [str(draw.randint(0, top)) for top in tops]
                started = time.perf_counter()
                page.post("/look/at", {"levels": levels, "suppression": "2"})
                moved.append(time.perf_counter() - started)
            held = page.megabytes
        counted.append(bare(table, quasi))
    count = statistics.median(counted)
    return {
        "rows": rows,
        "bare": count,
        "open": statistics.median(ready),
        "move": statistics.median(moved),
        "move_slowest": max(moved),
        "mb": held,
    }


def memory(studies: int, folder: Path) -> dict[str, Any]:
    """One studio, many studies of a small town."""
    table = sf.write_town(folder / "small", rows=300)["people"]
    held = []
    with studio(table, folder / "work") as page:
        study = folder / "work" / "study.toml"
        names = sf.read(table).columns
        suggested = sf.Roles.read(folder / "work" / "roles.toml")
        for i in range(studies):
            roles = [
                "quasi" if n in suggested.quasi else "sensitive" if n == "diagnosis" else "identifiers" for n in names
            ]
            if i % 2:
                roles[names.index("occupation")] = "identifiers"
            page.post("/columns/roles", {"roles": roles})
            page.post("/limits/answers", limits(("low", "medium", "high")[i % 3]))
            page.get("/look")
            plan = {"refine": 0, "measures": ["k_anonymity"], "candidate": [{"mechanism": "mondrian", "k": 20 + i % 7}]}
            study.write_text(study_toml({**opened(study, "study file"), **plan}))
            page.post("/run/start", {})
            while '"over": true' not in page.get("/run/events"):
                pass
            page.get("/map")
            page.get("/decide")
            held.append(page.megabytes)
    first = held[max(0, int(TENTH * studies) - 1)]
    return {"studies": studies, "first": first, "last": held[-1], "growth": held[-1] / first}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="*", default=[30_000, 1_000_000])
    parser.add_argument("--studies", type=int, default=100)
    parser.add_argument("--json", action="store_true")
    told = parser.parse_args()
    results: dict[str, Any] = {"latency": [], "memory": None}
    for rows in told.rows:
        with tempfile.TemporaryDirectory() as place:
            one = latency(rows, Path(place))
        results["latency"].append(one)
        if not told.json:
            count = one["bare"]
            print(
                f"{rows:,} rows, 7 quasi-identifiers: bare GROUP BY from CSV {count:.3f} s; open, from the command to the first page, {one['open']:.2f} s "
                f"= {one['open'] / count:.1f}x\n    move a level: median {one['move'] * 1000:.0f} ms = {one['move'] / count:.2f}x, "
                f"slowest {one['move_slowest'] * 1000:.0f} ms (target: under {200 if rows < 100_000 else 1000} ms); the server holds {one['mb']:.0f} MB"
            )
    if told.studies:
        with tempfile.TemporaryDirectory() as place:
            results["memory"] = one = memory(told.studies, Path(place))
        if not told.json:
            print(
                f"{one['studies']} studies in one studio: {one['first']:.0f} MB after a tenth of them, {one['last']:.0f} MB at the end, {one['growth']:.2f}x"
            )
    if told.json:
        print(json.dumps(results))


if __name__ == "__main__":
    main()
