"""The risk of a raw table: every set of eight quasi-identifiers, minimal uniques and population estimates, against one scan.

    .venv/bin/python benchmarks/risk.py [ROWS ...]

Adult (30,162 rows) and Adult resampled, each value kept with chance 0.95 and else drawn anew from its column, so that distinct rows grow
with the table. All sets are rolled up from one count; the bare engine's GROUP BY of the same columns from the same file is the yardstick.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from _bench import ADULT, bare, child, peak, serve, timed

EIGHT = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass", "salary-class"]


def resample(path: Path, rows: int) -> None:
    """A CSV file of so many rows."""
    import duckdb

    columns = [*EIGHT, "occupation"]
    names = ", ".join(f'"{c}"' for c in columns)
    duckdb.execute(f"CREATE OR REPLACE TABLE adult AS SELECT {names} FROM read_csv('{ADULT}', all_varchar=true)")
    count = duckdb.sql("SELECT count(*) FROM adult").fetchall()[0][0]
    duckdb.execute("CREATE OR REPLACE TABLE numbered AS SELECT *, row_number() OVER () - 1 AS r FROM adult")
    terms, joins = [], []
    for i, column in enumerate(columns):
        other = f"hash(i * 97 + {i}) % 100 < 5"
        at = f"CASE WHEN {other} THEN hash(i * 131 + {i * 7 + 1}) % {count} ELSE hash(i * 17) % {count} END"
        terms.append(f'n{i}."{column}"')
        joins.append(f"JOIN numbered n{i} ON n{i}.r = {at}")
    sql = f"SELECT {', '.join(terms)} FROM range({rows}) t(i) {' '.join(joins)}"
    duckdb.execute(f"COPY ({sql}) TO '{path}' (HEADER, DELIMITER ';')")


def sets(path: str) -> dict[str, Any]:
    """A task: read, count, and look at all 255 sets; then minimal uniques and the estimates."""
    import sfumato as sf
    from sfumato.profile.combinations import set_risks
    from sfumato.profile.population import population_uniques
    from sfumato.profile.suda import suda

    made: dict[str, Any] = {}

    def everything() -> None:
        made["counts"] = sf.read(path).count(EIGHT)
        made["sets"] = set_risks(made["counts"])

    wall, cpu = timed(everything)
    minimal, _ = timed(lambda: made.update(suda=suda(made["counts"])))
    estimates, _ = timed(lambda: population_uniques(made["counts"].n, 0.1))
    return {
        "wall": wall, "cpu": cpu, "mb": peak(), "suda": minimal, "estimates": estimates, "sets": len(made["sets"]),
        "tuples": len(made["counts"]), "alone": made["sets"][0].alone,
    }  # fmt: skip


def main() -> None:
    sizes = [int(text) for text in sys.argv[1:]] or [30_162, 300_000, 1_000_000, 3_000_000]
    print(
        "rows       tuples   scan s (CPU)   255 sets with reading s (CPU)   times the scan   minimal uniques s   estimates s   MB"
    )
    with tempfile.TemporaryDirectory() as folder:
        for rows in sizes:
            path = ADULT
            if rows != 30_162:
                path = Path(folder) / f"{rows}.csv"
                resample(path, rows)
            engine = min(
                (child(__file__, "bare", str(path), json.dumps(EIGHT)) for _ in range(3)),
                key=lambda found: found["cpu"],
            )
            ours = min((child(__file__, "sets", str(path)) for _ in range(3)), key=lambda found: found["cpu"])
            print(
                f"{rows:<10,} {ours['tuples']:<8,} {engine['wall']:.2f} ({engine['cpu']:.2f})    {ours['wall']:.2f} ({ours['cpu']:.2f})"
                f"                     {ours['wall'] / engine['wall']:.1f} wall, {ours['cpu'] / engine['cpu']:.1f} CPU"
                f"   {ours['suda']:.2f}                {ours['estimates']:.2f}          {ours['mb']:.0f}"
            )


serve({"bare": bare, "sets": sets}, main)
