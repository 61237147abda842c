"""Advice that arrives: CPU seconds and memory of `sfumato advise` on tables that are wide, long, or of many values.

    .venv/bin/python benchmarks/advise.py [PART] [TABLE...]     # PART: advise, cluster or mine; all of them unless named

advise    the whole command, public and high impact, in one process: CPU seconds, peak memory, when the first candidate met every limit, and
          the recommended release
cluster   `k_member` for one k: CPU seconds, peak memory, ILoss and query error
mine      `mine --miners quick` of the release that `mondrian` makes
hipaa     on 2,000 hospital stays (`stays:ROWS` for others): `sanitize hipaa | mondrian k=11`, and `advise` under HIPAA's rules with k >= 11, each
          as a multiple of `sanitize mondrian k=11`

Each line is a process of its own. Tables are made up: hidden traits, from which numbers, codes with masks and letters with a taxonomy
follow. `NAME:ROWS` cuts a table.

    ten       50,000 rows, 10 quasi-identifiers
    many      30,000 rows,  8 quasi-identifiers of many values
    twelve   200,000 rows, 12 quasi-identifiers
    fifteen   20,000 rows, 15 quasi-identifiers
    twenty    20,000 rows, 20 quasi-identifiers
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from _bench import child, peak, timed

SHAPES = {
    "ten": (50_000, 10, 1.0),
    "many": (30_000, 8, 12.0),
    "twelve": (200_000, 12, 1.0),
    "fifteen": (20_000, 15, 1.0),
    "twenty": (20_000, 20, 1.0),
}
"""Rows, quasi-identifiers, and how many times more values the columns have."""


def write(folder: Path, name: str) -> int:
    """people.csv and roles.toml of a table in a folder; its rows."""
    import pyarrow as pa
    from pyarrow import csv

    shape, _, cut = name.partition(":")
    rows, width, finer = SHAPES[shape]
    rows = int(cut or rows)
    rng = np.random.default_rng(31)
    traits = rng.normal(size=(rows, 3))
    columns: dict[str, Any] = {}
    rules = []
    for j in range(width):
        mix = traits @ rng.normal(size=3) / 1.5 + rng.normal(size=rows)
        if j % 3 == 0:
            columns[f"n{j}"] = np.round(50 + 12 * finer * mix).astype(int)
        elif j % 3 == 1:
            columns[f"c{j}"] = [
                f"K{v:05d}" for v in np.clip(np.round(40_000 + 60 * finer * mix), 0, 99_999).astype(int)
            ]
            rules.append(f"c{j} = {{ prefix = [1, 2, 3, 4, 5] }}")
        else:
            columns[f"t{j}"] = np.array(list("abcdefgh"))[np.clip(np.round(3.5 + 1.5 * mix), 0, 7).astype(int)]
            rules.append(f't{j} = "tree.csv"')
    quasi = list(columns)
    chance = 1 / (1 + np.exp(-traits[:, 0]))
    columns["ill"] = np.where(rng.random(rows) < chance, rng.choice(list("uvw"), rows), rng.choice(list("wxyz"), rows))
    csv.write_csv(pa.table(columns), folder / "people.csv")
    tree = [f"{x};{'a-d' if x < 'e' else 'e-h'};*" for x in "abcdefgh"]
    (folder / "tree.csv").write_text("\n".join(tree) + "\n")
    (folder / "roles.toml").write_text(
        f'[roles]\nquasi = {json.dumps(quasi)}\nsensitive = ["ill"]\n\n[hierarchies]\n' + "\n".join(rules) + "\n"
    )
    return rows


def stays(folder: Path, rows: int) -> None:
    """people.csv and roles.toml of hospital stays in the United States."""
    import pyarrow as pa
    from pyarrow import csv

    rng = np.random.default_rng(45)
    places = np.array([f"{zone}{end:02d}" for zone in (100, 112, 606, 752, 941) for end in range(0, 40, 3)])
    day = np.datetime64("2023-01-01") + rng.integers(0, 730, rows)
    age = np.clip(rng.gamma(8, 8, rows), 0, 101).astype(int)
    table = {
        "age": age,
        "sex": rng.choice(["F", "M"], rows),
        "zip": rng.choice(places, rows),
        "admitted": day.astype(str),
        "discharged": (day + rng.geometric(0.2, rows)).astype(str),
        "payer": rng.choice(["public", "private", "none"], rows, p=[0.5, 0.4, 0.1]),
        "diagnosis": rng.choice(list("abcdefghij"), rows),
    }
    csv.write_csv(pa.table(table), folder / "people.csv")
    quasi = [name for name in table if name != "diagnosis"]
    rules = (
        "age = { widths = [5, 10, 20] }",
        "zip = { prefix = [1, 2, 3] }",
        *(f'{name} = {{ dates = ["month", "quarter", "year"] }}' for name in ("admitted", "discharged")),
    )
    (folder / "roles.toml").write_text(
        f'[roles]\none_row_per_person = true\nquasi = {json.dumps(quasi)}\nsensitive = ["diagnosis"]\n\n[hierarchies]\n'
        + "\n".join(rules)
        + "\n"
    )


def hipaa(name: str) -> dict[str, Any]:
    """HIPAA's rules and k = 11, as multiples of the simplest sanitizing of the same table."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        stays(folder, int(name.partition(":")[2] or 2000))
        words = ("people.csv", "--roles", "roles.toml")
        plain = _verb(folder, "sanitize", *words, "--mechanism", "mondrian k=11", "--out", "plain.csv")
        chain = _verb(folder, "sanitize", *words, "--mechanism", "hipaa | mondrian k=11", "--out", "chain.csv")
        told = _verb(folder, "advise", *words, "--preset", "hipaa", "--require", "k_anonymity >= 11", "--workers", "1", "--out", "out", "--json")  # fmt: skip
        result = json.loads(told["out"])
    return {
        "plain_cpu": plain["cpu"],
        "chain_cpu": chain["cpu"],
        "chain": f"{chain['cpu'] / plain['cpu']:.1f}x",
        "advise_cpu": told["cpu"],
        "advise": f"{told['cpu'] / plain['cpu']:.1f}x",
        "candidates": len(result["candidates"]),
        "recommended": result["recommended"],
    }


def _verb(folder: Path, *words: str) -> dict[str, Any]:
    """Run a verb in a process of its own: CPU seconds, peak megabytes, exit code and the last line of its errors."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run = [sys.executable, "-c", "from sfumato.cli import main; main()", *words]
    started = time.perf_counter()
    done = subprocess.run(run, cwd=folder, capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    wall = time.perf_counter() - started
    if done.returncode > 1:
        raise SystemExit(done.stderr)
    return {"cpu": cpu, "wall": wall, "mb": after.ru_maxrss / 1024, "out": done.stdout, "err": done.stderr}


def advise(name: str) -> dict[str, Any]:
    """The whole command."""
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder), name)
        made = _verb(Path(folder), "advise", "people.csv", "--roles", "roles.toml", "--to", "public", "--impact", "high",
                     "--workers", "1", "--out", "out", "--json")  # fmt: skip
        result = json.loads(made["out"])
        best = next((c for c in result["candidates"] if c["name"] == result["recommended"]), None)
    scores = {} if best is None else {key: value["value"] for key, value in best["scores"].items()}
    return {
        "cpu": made["cpu"],
        "wall": made["wall"],
        "mb": made["mb"],
        "candidates": len(result["candidates"]),
        "recommended": result["recommended"],
        "iloss": scores.get("iloss"),
        "error": scores.get(result["utility"]),
    }


def cluster(name: str) -> dict[str, Any]:
    """k_member with k = 10."""
    import sfumato as sf

    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder), name)
        table, roles = sf.read(Path(folder) / "people.csv"), sf.Roles.read(Path(folder) / "roles.toml")
        table.count(roles.quasi)
        made: dict[str, Any] = {}
        _, cpu = timed(lambda: made.update(release=sf.KMember(k=10)(table, roles)))
        memory, release = peak(), made["release"]
        error = sf.metric("query_error[ranges]")(release, roles).value
        return {"cpu": cpu, "mb": memory, "iloss": sf.iloss(release, roles).value, "error": error}


def mine(name: str) -> dict[str, Any]:
    """What users and adversaries mine from a release of Mondrian, with the quick miners."""
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder), name)
        _verb(Path(folder), "sanitize", "people.csv", "--roles", "roles.toml", "--mechanism", "mondrian", "--set", "k=10", "--out", "release.csv")  # fmt: skip
        made = _verb(Path(folder), "mine", "release.csv", "--original", "people.csv", "--roles", "roles.toml", "--target", "n0",
                     "--secret", "ill", "--miners", "quick", "--workers", "1")  # fmt: skip
    return {"cpu": made["cpu"], "mb": made["mb"]}


PARTS = {"advise": advise, "cluster": cluster, "mine": mine, "hipaa": hipaa}
OWN = {"hipaa": "stays"}
"""The table of a part that has one of its own."""


def main() -> None:
    asked = sys.argv[1:]
    parts = [word for word in asked if word in PARTS] or list(PARTS)
    tables = [word for word in asked if word not in PARTS] or list(SHAPES)
    for word in tables:
        if word.partition(":")[0] not in (*SHAPES, *OWN.values()):
            raise SystemExit(
                f"There is no part or table {word!r}; there are {', '.join((*PARTS, *SHAPES, *OWN.values()))}."
            )
    for part in parts:
        asked = (
            [name for name in tables if name.partition(":")[0] == OWN[part]] or [OWN[part]] if part in OWN else tables
        )
        for name in asked:
            numbers = child(__file__, "_run", part, name)
            shown = [
                f"{key} {value:.4g}" if isinstance(value, float) else f"{key} {value}" for key, value in numbers.items()
            ]
            print(f"{part:8} {name:14} " + "   ".join(shown), flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["_run"]:
        print(json.dumps(PARTS[sys.argv[2]](sys.argv[3])))
    else:
        main()
