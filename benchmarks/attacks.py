"""Attacks at scale: a release of 1,000,000 rows against an external table of 1,000,000 people, on two cores.

    .venv/bin/python benchmarks/attacks.py [ROWS]

People have age (55 values), ZIP code (2,000), education (16), sex and hours (99): nearly all of them are alone in it. Releases: full-domain
generalization (a look-up), Mondrian (intervals and sets that overlap column by column), clusters of five like those of k_member
(overlapping boxes; dealt out along a coarse grid here, since clustering is not what is timed), and numbers with noise (by
distance, on a sample). The aim is less than a minute for each linkage. Each attack runs in a process of its own and its time includes counting
both tables; making the release is not in it.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np
import pyarrow as pa
from _bench import child, peak, serve

import sfumato as sf
from sfumato.attacks.composition import composition
from sfumato.attacks.linkage import linkage
from sfumato.attacks.membership import membership
from sfumato.core.release import Release
from sfumato.core.roles import Roles
from sfumato.core.table import Table

QUASI = ("age", "zip", "education", "sex", "hours")
ROLES = Roles(
    quasi=QUASI,
    sensitive=("disease",),
    identifiers=("name",),
    hierarchies={"age": {"widths": [5, 10, 20]}, "zip": {"widths": [50, 500]}, "hours": {"widths": [10, 50]}},
)
K = 5


def columns(rows: int, seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    return {
        "name": rng.permutation(rows),
        "age": 17 + rng.binomial(73, 0.35, rows) + rng.integers(-10, 10, rows),
        "zip": 10_000 + (rng.random(rows) ** 1.5 * 2000).astype(np.int64),
        "education": rng.integers(0, 16, rows),
        "sex": rng.integers(0, 2, rows),
        "hours": rng.integers(1, 100, rows),
        "disease": rng.integers(0, 12, rows),
    }


def table(made: dict[str, Any]) -> Table:
    words = {
        "education": [f"school {v:02d}" for v in range(16)],
        "sex": ["f", "m"],
        "disease": [f"d{v:02d}" for v in range(12)],
    }
    spelled = {n: pa.array(words[n]).take(pa.array(v)) if n in words else pa.array(v) for n, v in made.items()}
    return sf.read(pa.table(spelled))


def clusters(made: dict[str, Any], original: Table) -> Release:
    """Groups of five neighbours, each with the interval or set that its members span."""
    order = np.lexsort([made["hours"], made["education"], made["age"] // 4, made["sex"], made["zip"] // 50])
    starts = np.arange(0, len(order), K)
    group = np.empty(len(order), dtype=np.int64)
    group[order] = np.repeat(np.arange(len(starts)), K)[: len(order)]
    published: dict[str, Any] = {"name": pa.array(made["name"])}
    for name in QUASI:
        low, high = (f.reduceat(made[name][order], starts).tolist() for f in (np.minimum, np.maximum))
        if name == "sex":
            labels = ["fm"[a] if a == b else "*" for a, b in zip(low, high, strict=True)]
        elif name == "education":
            members = [sorted(set(part)) for part in np.split(made[name][order], starts[1:])]
            labels = ["{" + ", ".join(f"school {v:02d}" for v in some) + "}" for some in members]
        else:
            labels = [f"[{a},{b}]" for a, b in zip(low, high, strict=True)]
        published[name] = pa.array(labels).take(pa.array(group))
    published["disease"] = pa.array([f"d{v:02d}" for v in range(12)]).take(pa.array(made["disease"]))
    released = sf.read(pa.table(published))
    return Release(table=released.keep([*QUASI, "disease"]), original=original, pairing="position")


def noisy(made: dict[str, Any], original: Table) -> Release:
    rng = np.random.default_rng(1)
    moved = {name: made[name] + rng.integers(-2, 3, len(made[name])) for name in ("age", "zip", "hours")}
    return Release(
        table=table({**made, **moved}).keep([*QUASI, "disease"]),
        original=original,
        pairing="position",
        perturbed=frozenset(moved),
    )


def releases(kind: str, rows: int) -> tuple[Release, dict[str, Any]]:
    made = columns(rows)
    original = table(made)
    if kind == "full-domain":
        return sf.GeneralizeFullDomain(k=K, suppression=0.05)(original, ROLES), made
    if kind == "mondrian":
        return sf.Mondrian(k=K)(original, ROLES), made
    return (clusters if kind == "clusters" else noisy)(made, original), made


def attacked(name: str, kind: str, count: str) -> dict[str, Any]:
    rows = int(count)
    release, made = releases(kind, rows)
    if name == "external":  # half of them are in the release; the same table with other people besides
        other = columns(rows, 7)
        half = {n: np.concatenate([made[n][: rows // 2], other[n][rows // 2 :]]) for n in made}
        half["name"][rows // 2 :] = np.arange(rows, rows + rows - rows // 2)
        external = table(half)
    if name == "composition":
        previous = sf.Mondrian(k=K, choose="width")(release.original, ROLES)  # type: ignore[arg-type]
    if name == "membership":
        people = {n: np.concatenate([made[n], columns(rows, 7)[n]]) for n in made}
        population = table(people)
    start = time.perf_counter()
    if name == "original":
        attack = linkage(release, ROLES)
    elif name == "two known":
        attack = linkage(release, ROLES, knows=("zip", "age"))
    elif name == "external":
        attack = linkage(release, ROLES, external=external, identity="name")
    elif name == "membership":
        attack = membership(release, ROLES, population=population)
    else:
        attack = composition(release, ROLES, previous=previous)
    seconds = time.perf_counter() - start
    control = None if attack.control is None else attack.control.value
    classes = len(release.evidence(ROLES).tuples)
    return {"seconds": seconds, "mb": peak(), "classes": classes, "success": attack.success.value, "control": control}


CASES = [
    *(("original", kind) for kind in ("full-domain", "mondrian", "clusters", "noise")),
    *(("external", kind) for kind in ("full-domain", "mondrian", "clusters")),
    ("two known", "mondrian"),
    *(("membership", kind) for kind in ("full-domain", "mondrian")),
    ("composition", "mondrian"),
]


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    print(
        f"{rows:,} rows\n{'attack':<14}{'release':<14}{'seconds':>8}{'MB':>8}{'classes':>10}{'success':>10}{'control':>10}"
    )
    for name, kind in CASES:
        found = child(__file__, "attacked", name, kind, str(rows))
        control = "" if found["control"] is None else f"{found['control']:.4f}"
        print(
            f"{name:<14}{kind:<14}{found['seconds']:>8.1f}{found['mb']:>8.0f}{found['classes']:>10,}{found['success']:>10.4f}{control:>10}",
            flush=True,
        )


if __name__ == "__main__":
    serve({"attacked": attacked}, main)
