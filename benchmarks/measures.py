"""The whole battery of measures: `./run bench measures`.

(a) every metric that a release alone can be asked, on 10,000,000 Parquet rows, against the bare DuckDB GROUP BY
(b) the same on a release of 1,000,000 classes and 1,000 sensitive values: it works, and never holds classes x values
"""

from __future__ import annotations

import json
import statistics
import tempfile
from pathlib import Path
from typing import Any

from _bench import WIDE, bare, child, peak, rows_file, serve, timed


def battery(path: str, columns: str) -> dict[str, Any]:
    import sfumato as sf

    *quasi, sensitive = json.loads(columns)
    sf.registry()
    roles = sf.Roles(quasi=tuple(quasi), sensitive=(sensitive,), orders={})
    table = sf.read(path)
    found: dict[str, Any] = {}
    wall, cpu = timed(lambda: found.update(scores=sf.measure(sf.Release(table=table), roles)[0]))
    sizes = found["scores"]["k_anonymity"][1].per_class
    return {"wall": wall, "cpu": cpu, "mb": peak(), "metrics": len(found["scores"]), "classes": len(sizes)}


def many_classes(path: Path) -> None:
    """About 1,000,000 classes and 1,000 sensitive values in 4,000,000 rows."""
    import duckdb

    duckdb.execute(
        "COPY (SELECT CAST(i % 1000000 // 1000 AS INT) AS q0, CAST(i % 1000 AS INT) AS q1, CAST(hash(i) % 1000 AS INT) AS s "
        f"FROM range(4000000) t(i)) TO '{path}' (FORMAT parquet)"
    )


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        big, wide = Path(folder) / "rows.parquet", Path(folder) / "classes.parquet"
        print("(a) every metric that a release alone can be asked, 10,000,000 Parquet rows")
        rows_file(big, 10_000_000)
        columns = json.dumps([*WIDE, "s"])
        engine, ours = [], []
        for _ in range(3):
            engine.append(child(__file__, "bare", str(big), columns))
            ours.append(child(__file__, "battery", str(big), columns))
        ratio = statistics.median(o["wall"] / b["wall"] for o, b in zip(ours, engine, strict=True))
        times = [statistics.median(x["wall"] for x in side) for side in (engine, ours)]
        print(
            f"    bare GROUP BY {times[0]:.2f} s, {ours[0]['metrics']} metrics {times[1]:.2f} s: {ratio:.1f}x "
            f"(target: at most 10x); peak {max(o['mb'] for o in ours):.0f} MB (target: under 2000)"
        )
        many_classes(wide)
        got = child(__file__, "battery", str(wide), json.dumps(["q0", "q1", "s"]))
        print("(b) 1,000,000 classes, 1,000 sensitive values")
        print(f"    {got['classes']:,} classes, {got['metrics']} metrics: {got['wall']:.1f} s, peak {got['mb']:.0f} MB")


if __name__ == "__main__":
    serve({"bare": bare, "battery": battery}, main)
