"""Worst priors and designed channels: `./run bench channel`; `benchmarks/channel.py quick` leaves out what takes minutes.

(a) worst prior of random channels, inputs = outputs, ten entries a row: interior point (exact), the game (an interval), PDLP
(b) the largest error under a budget of degradation, n ordered values: without and with differential privacy
(c) the record-level channel of a million rows, and its capacity

Each line in a fresh process: seconds, memory, the value, and the gap between the bounds that were checked.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from _bench import child, peak, serve, timed


def random_channel(inputs: int, entries: int = 10) -> Any:
    import numpy as np
    import scipy.sparse

    from sfumato.channel.channel import Channel

    rng = np.random.default_rng(0)
    row = np.repeat(np.arange(inputs), entries)
    place = (row, rng.integers(0, inputs, len(row)))
    matrix = scipy.sparse.csr_array((rng.exponential(size=len(row)), place), shape=(inputs, inputs))
    matrix.sum_duplicates()
    return Channel(matrix=scipy.sparse.diags_array(1 / matrix.sum(axis=1)) @ matrix)


def measured(action: Callable[[], Any]) -> dict[str, Any]:
    """What an action that finds an error takes, and what it finds."""
    made: list[Any] = []
    seconds, cpu = timed(lambda: made.append(action()))
    found = {"value": made[0].error, "gap": made[0].gap, "exactness": made[0].exactness}
    return {"seconds": seconds, "cpu": cpu, **found, "memory": peak()}


def worst(inputs: str, solver: str) -> dict[str, Any]:
    from sfumato.channel.worst_prior import worst_prior

    channel = random_channel(int(inputs))
    return measured(lambda: worst_prior(channel, solver=solver))  # type: ignore[arg-type]


def design(values: str, kind: str) -> dict[str, Any]:
    import numpy as np

    from sfumato.channel.design import most_private
    from sfumato.channel.mechanisms import distances

    n = int(values)
    privacy: dict[str, Any] = {"plain": {}, "local": {"eps": 2.0}, "next": {"eps": 10 / n, "neighbours": "next"}}[kind]
    prior = np.random.default_rng(0).dirichlet(np.full(n, 2.0))
    return measured(lambda: most_private(prior, distances(n), budget=0.05 if kind == "plain" else 0.16, **privacy))


def record(rows: str) -> dict[str, Any]:
    import numpy as np
    import pyarrow as pa

    import sfumato as sf
    from sfumato.channel.record import record_channel

    rng = np.random.default_rng(0)
    columns = {"age": rng.integers(0, 90, int(rows)), "zip": rng.integers(0, 900, int(rows))}
    noisy = {"age": columns["age"] + rng.integers(-1, 2, int(rows)), "zip": columns["zip"] // 10}
    original, released = (sf.read(pa.table({n: pa.array(v) for n, v in side.items()})) for side in (columns, noisy))
    roles = sf.Roles(quasi=("age", "zip"))
    start, busy = time.perf_counter(), time.process_time()
    found = record_channel(sf.Release(table=released, original=original, pairing="position"), roles)
    most = found.capacity()
    spent = {"seconds": time.perf_counter() - start, "cpu": time.process_time() - busy}
    return {**spent, "value": found.error, "gap": most.high - most.low, "exactness": "exact", "memory": peak()}


def main() -> None:
    quick = "quick" in sys.argv
    file = str(Path(__file__))
    tasks: list[tuple[str, list[str]]] = [
        ("worst", ["1000", "ipm"]),
        ("worst", ["1000", "game"]),
        ("worst", ["10000", "ipm"]),
        ("worst", ["10000", "game"]),
        ("design", ["50", "plain"]),
        ("design", ["50", "local"]),
        ("design", ["50", "next"]),
        ("record", ["1000000"]),
    ]
    if not quick:
        tasks += [("worst", ["10000", "pdlp"]), ("worst", ["100000", "game"])]
        tasks += [("design", ["200", kind]) for kind in ("plain", "local", "next")]
    print(f"{'task':30}{'seconds':>9}{'CPU':>9}{'MB':>8}{'value':>12}{'gap':>11}  exactness")
    for task, arguments in tasks:
        found = child(file, task, *arguments)
        print(
            f"{' '.join((task, *arguments)):30}{found['seconds']:9.2f}{found['cpu']:9.2f}{found['memory']:8.0f}"
            f"{found['value']:12.6f}{found['gap']:11.1e}  {found['exactness']}",
            flush=True,
        )


if __name__ == "__main__":
    serve({"worst": worst, "design": design, "record": record}, main)
