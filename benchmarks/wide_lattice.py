"""Lattices too large to exhaust: `./run bench wide_lattice`, or `benchmarks/wide_lattice.py [SHARE ...]`.

Two made-up tables of 30,000 rows with correlated columns in ladders of 2 to 4 levels: 16 quasi-identifiers with 8.5e7 nodes, and 24 with
5.0e13; k = 5, with at most these shares of the rows suppressed (0, 0.05 and 1 unless given). A line for the search, and one for a
challenger that shares no code with it: from `*` throughout, always to the neighbour (one column a level up or down) that costs
least, until none costs less. Loss is the mean of ARX's Loss; the seconds are CPU seconds.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np
from _bench import child, peak, serve

ROWS = 30_000
LADDERS: dict[int, list[tuple[int, list[int]]]] = {
    16: [(96, [4, 16]), (24, [4]), (8, [2]), (48, [4, 12]), (2, []), (60, [5, 20]), (30, [3, 9]), (4, [])],
    24: [(96, [4, 16]), (24, [2, 6]), (8, [2, 4]), (48, [4, 12]), (6, [2]), (60, [5, 20]), (30, [3, 9]), (9, [3])],
}
"""How many values the columns have about, and the widths of their levels, over and over."""


def columns(count: int) -> list[tuple[Any, list[int]]]:
    """Each column's values, and the widths of its levels."""
    rng = np.random.default_rng(count)
    hidden = rng.normal(size=(ROWS, 3))
    made = []
    for j in range(count):
        values, widths = LADDERS[count][j % 8]
        x = hidden @ rng.normal(size=3) + rng.normal(size=ROWS) * 0.6
        made.append((np.clip((x + 3.5) / 7 * values, 0, values - 1).astype(int), widths))
    return made


def ours(count: str, share: str) -> dict[str, Any]:
    """The search, as `sfumato search` does it."""
    import pyarrow as pa

    import sfumato as sf

    made = {f"c{j}": column for j, column in enumerate(columns(int(count)))}
    rules = {name: {"widths": widths} for name, (_, widths) in made.items() if widths}
    table = sf.read(pa.table({name: values for name, (values, _) in made.items()}))
    roles = sf.Roles(quasi=tuple(made), hierarchies=rules)
    started = time.process_time()
    node = sf.optimal_generalization(table, roles, require=[sf.require("k_anonymity >= 5")], suppression=float(share))
    return {
        "cpu": time.process_time() - started,
        "nodes": node.nodes,
        "loss": node.loss,
        "bound": node.bound,
        "checked": node.checked,
        "suppressed": node.suppressed,
        "mb": peak(),
    }


def challenger(count: str, share: str) -> dict[str, Any]:
    """The steepest way down."""
    started = time.process_time()
    codes, losses = [], []
    for values, widths in columns(int(count)):
        seen = np.unique(values)
        by_level, lost = [], []
        for width in [1, *widths, int(values.max()) + 1]:
            leaves = np.bincount(seen // width)[values // width]
            by_level.append(np.unique(values // width, return_inverse=True)[1])
            lost.append((leaves - 1) / (len(seen) - 1))
        codes.append(by_level)
        losses.append(lost)
    known: dict[tuple[int, ...], float] = {}

    def loss(node: tuple[int, ...]) -> float:
        if node not in known:
            key = np.zeros(ROWS, dtype=np.int64)
            for by_level, level in zip(codes, node, strict=True):
                labels = int(by_level[level].max()) + 1
                if int(key.max()) > 2**62 // labels:
                    key = np.unique(key, return_inverse=True)[1]
                key = key * labels + by_level[level]
            _, member, size = np.unique(key, return_inverse=True, return_counts=True)
            gone = size[member] < 5
            each = sum(lost[level] for lost, level in zip(losses, node, strict=True)) / len(node)
            fits = gone.sum() <= min(float(share) * ROWS + 1e-9, ROWS - 1)
            known[node] = float(np.where(gone, 1.0, each).mean()) if fits else np.inf
        return known[node]

    node = tuple(len(by_level) - 1 for by_level in codes)
    while True:
        near = [
            (*node[:j], level + by, *node[j + 1 :])
            for j, level in enumerate(node)
            for by in (-1, 1)
            if 0 <= level + by < len(codes[j])
        ]
        best = min(near, key=loss)
        if loss(best) >= loss(node):
            return {"loss": loss(node), "checked": len(known), "cpu": time.process_time() - started}
        node = best


def main() -> None:
    shares = sys.argv[1:] or ["0", "0.05", "1"]
    for count in LADDERS:
        for share in shares:
            got, other = (child(__file__, task, str(count), share) for task in ("ours", "challenger"))
            gap = got["loss"] - got["bound"]
            print(
                f"{count} quasi-identifiers, {got['nodes']:.1e} nodes, at most {100 * float(share):g}% suppressed\n"
                f"    search      loss {got['loss']:.4f}, none below {got['bound']:.4f} (gap {gap:.4f}, {100 * gap / got['loss']:.0f}% "
                f"of the loss); {got['suppressed']:,} suppressed, {got['checked']:,} nodes judged, {got['cpu']:.1f} s, {got['mb']:.0f} MB\n"
                f"    challenger  loss {other['loss']:.4f}, no bound; {other['checked']:,} nodes judged, {other['cpu']:.1f} s",
                flush=True,
            )


if __name__ == "__main__":
    serve({"ours": ours, "challenger": challenger}, main)
