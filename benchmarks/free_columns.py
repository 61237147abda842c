"""What columns give away that no requirement limits: a million rows of thirty columns, as a multiple of one scan.

    .venv/bin/python benchmarks/free_columns.py [ROWS ...]

The table is made up: eight quasi-identifiers, an identifier, three sensitive and eighteen other columns, among them a survey weight, a
copy with slips, a difference of two amounts that equals a quasi-identifier, a map of the postal code, a code with the birth year in it and a
number that rises with the rows. The yardstick is a bare DuckDB scan that groups every column by itself, from the same Parquet file.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from _bench import child, peak, serve, timed

QUASI = ("age", "postal", "income", "sex", "born", "job", "size", "rent")
PLANTED = ("weight", "copy", "gross", "district", "case", "entry")


def make(path: Path, rows: int) -> None:
    """A Parquet file of so many people."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(1)
    age, postal = rng.integers(0, 95, rows), rng.integers(1000, 9999, rows)
    income, tax = rng.integers(10_000, 90_000, rows), rng.integers(0, 900, rows) * 10
    table: dict[str, Any] = {
        "id": [f"P{i:08d}" for i in rng.permutation(rows)],
        "age": age,
        "postal": postal,
        "income": income,
        "sex": rng.choice(["f", "m"], rows),
        "born": np.datetime64("1930-01-01") + rng.integers(0, 34_000, rows),
        "job": rng.integers(0, 400, rows),
        "size": rng.integers(1, 9, rows),
        "rent": rng.integers(200, 3_000, rows),
        "weight": np.round(rng.gamma(4.0, 30.0, rows), 4),
        "copy": np.where(rng.random(rows) < 0.02, 0, age),
        "gross": income + tax,
        "tax": tax,
        "district": postal // 30,
        "case": [f"{a}{(2024 - b) % 100:02d}Q" for a, b in zip(rng.integers(100, 999, rows), age, strict=True)],
        "entry": np.arange(rows) // 2,
        "diagnosis": rng.integers(0, 60, rows),
        "grade": rng.integers(0, 6, rows),
        "debt": rng.integers(0, 40, rows) * 1000,
    }
    for i in range(30 - len(table)):
        table[f"answer{i}"] = rng.integers(0, 2 + i, rows)
    pq.write_table(pa.table(table), path)


def scan(path: str) -> dict[str, Any]:
    """Every column grouped by itself, in the bare engine."""
    import duckdb

    names = [row[0] for row in duckdb.sql(f"DESCRIBE SELECT * FROM '{path}'").fetchall()]
    sets = ", ".join(f'("{name}")' for name in names)
    grouped = f"SELECT count(*) AS n FROM '{path}' GROUP BY GROUPING SETS ({sets})"
    wall, cpu = timed(lambda: duckdb.sql(f"SELECT count(*), sum(n) FROM ({grouped})").fetchall())
    return {"wall": wall, "cpu": cpu, "peak": peak()}


def ours(path: str) -> dict[str, Any]:
    """The whole look at what is left free."""
    import sfumato as sf
    from sfumato.profile.free_release import free_of_table

    table = sf.read(path)
    sensitive = ("diagnosis", "grade", "debt")
    others = tuple(name for name in table.columns if name not in (*QUASI, *sensitive, "id"))
    roles = sf.Roles(identifiers=("id",), quasi=QUASI, sensitive=sensitive, insensitive=others)
    free = free_of_table(table, roles)
    wall, cpu = timed(lambda: free.findings)
    return {"wall": wall, "cpu": cpu, "peak": peak(), "found": sorted({f.column for f in free.findings})}


def main() -> None:
    for rows in [int(text) for text in sys.argv[1:]] or [1_000_000]:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "people.parquet"
            make(path, rows)
            bare, found = child(__file__, "scan", str(path)), child(__file__, "ours", str(path))
        missed = [name for name in PLANTED if name not in found["found"]]
        print(
            f"{rows:,} rows x 30 columns: {found['wall']:.1f} s ({found['cpu']:.1f} CPU s, {found['peak']:.0f} MB), "
            f"{found['cpu'] / bare['cpu']:.1f} times the CPU of one scan of every column ({bare['cpu']:.1f} s); "
            f"planted {len(PLANTED)}, missed {', '.join(missed) or 'none'}"
        )


serve({"scan": scan, "ours": ours}, main)
