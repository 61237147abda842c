"""Is the advice good? Tables, limits, and a search outside the study with the same mechanisms for something that beats it.

    .venv/bin/python benchmarks/decision.py [ROWS]

For every table and set of limits the study of `sfumato advise` is run, then a wide grid of parameters of every mechanism in it,
five to ten times as many candidates. Printed is whether the advised release meets every limit when it is measured again, and how many of
the others meet them all and beat it: at least as good on both axes, and better on one.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import numpy as np

import sfumato as sf
from sfumato.cli.demo_table import write_town
from sfumato.core.errors import SfumatoError
from sfumato.core.roles import Roles
from sfumato.core.table import Table
from sfumato.metrics import metric, require
from sfumato.study.candidate import Candidate, product, steered
from sfumato.study.context import smallest_k
from sfumato.study.default_candidates import candidates
from sfumato.study.runner import run
from sfumato.study.score_store import Kept
from sfumato.study.study import Study

LIMITS = (
    ("prosecutor_risk <= 0.1",),
    ("marketer_risk <= 0.1", "k_anonymity >= 3"),
    ("k_anonymity >= 5", "distinct_l_diversity >= 2"),
    ("k_anonymity >= 4", "t_closeness[equal] <= 0.45"),
)


def numbers(rows: int) -> tuple[Table, Roles]:
    """Three correlated numbers, two categories, a sensitive column that depends on them; no hierarchies."""
    import pyarrow as pa

    rng = np.random.default_rng(5)
    age = rng.integers(18, 91, rows)
    pay = np.round(np.exp(rng.normal(10 + age / 200, 0.5, rows)), -3).astype(int)
    region = rng.choice([f"r{i}" for i in range(12)], rows, p=np.arange(12, 0, -1) / 78)
    sex = rng.choice(["f", "m"], rows)
    ill = np.where(rng.random(rows) < age / 150, rng.choice(list("abc"), rows), rng.choice(list("cdefg"), rows))
    table = sf.read(pa.table({"age": age, "pay": pay, "region": region, "sex": sex, "ill": ill}))
    return table, Roles(quasi=("age", "pay", "region", "sex"), sensitive=("ill",))


def town(rows: int, folder: Path) -> tuple[Table, Roles]:
    """The demo's made-up town, with its hierarchies."""
    write_town(folder, rows=rows, seed=7)
    return sf.read(folder / "people.csv"), Roles.read(folder / "roles.toml")


def outside(least: int, texts: set[str], asked: tuple[str, ...], families: set[str]) -> list[Candidate]:
    """A wide grid of the same mechanisms, less what the study had."""
    ks = sorted({*range(least, least + 12), *(round(least * f) for f in (1.5, 1.75, 2, 2.5, 3, 4))})
    wide = {
        "generalize_full_domain": {"k": [least, least + 1, 2 * least], "minimise": ["iloss", "loss"], "suppression": [0.0, 0.02, 0.07, 0.15, 0.3]},
        "mondrian": {"k": ks, "mode": ["strict", "relaxed"], "choose": ["loss", "width"], "bounds": ["data", "cuts"]},
        "k_member": {"k": ks},
        "local_suppression": {"k": ks, "suppression": [0.0, 0.05]},
        "top_down_specialization": {"k": ks},
    }  # fmt: skip
    found: dict[str, Candidate] = {}
    for name in sorted(families & set(wide)):
        for text in product(name, wide[name]):
            try:
                told = steered(text, [require(r) for r in asked])
                found.setdefault(told, Candidate.of(told))
            except SfumatoError:
                continue
    return [candidate for text, candidate in found.items() if text not in texts]


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 3000
    workers = os.cpu_count() or 1
    beaten = 0
    with tempfile.TemporaryDirectory() as name:
        tables = {"town": town(rows, Path(name)), "numbers": numbers(rows)}
        for title, (table, roles) in tables.items():
            for asked in LIMITS:
                limits = tuple(require(text) for text in asked)
                utility, risk = metric("iloss"), metric(asked[0].split(" ")[0])
                study = Study(
                    table=table,
                    roles=roles,
                    candidates=candidates(table, roles, limits, utility),
                    risk=risk,
                    utility=utility,
                    require=limits,
                    measures=(),
                )
                result = study.run(workers=workers, refine=4)
                chosen = result.recommended[0]
                if chosen is None:
                    print(f"{title}, {' and '.join(asked)}: {result.recommended[1]}")
                    continue
                release = result.release(chosen)
                met = all(limit.check(release, roles).met for limit in limits)
                texts = {point.candidate.text for point in result.points}
                more = outside(smallest_k(limits), texts, asked, {p.candidate.family for p in result.points})
                found = run(study.bench(None), more, list(study.decisive), kept=Kept(None), workers=workers)
                points = [study.point(c, m) for c, m in zip(more, found, strict=True)]
                best = result.points[chosen]
                rivals = [p for p in points if p.met and p.has(risk, utility) and _beats(p, best, risk, utility)]
                beaten += len(rivals)
                print(
                    f"{title}, {rows:,} rows, {' and '.join(asked)}: {best.candidate.name}, {risk} {best.value(risk):.4g}, iloss "
                    f"{best.value(utility):.4f}, limits {'met' if met else 'NOT MET'}; {len(result.points)} in the study, "
                    f"{result.looked} around it, {sum(p.met for p in points)} of {len(points)} outside meet the limits, {len(rivals)} beat it"
                )
                for p in rivals[:3]:
                    print(f"    {p.candidate.name}: {p.value(risk):.4g}, {p.value(utility):.4f}")
    print(f"{beaten} releases outside the studies beat what was advised (target: 0)")


def _beats(a: object, b: object, *axes: object) -> bool:
    sides = []
    for axis in axes:
        x, y = a.value(axis), b.value(axis)  # type: ignore[attr-defined]
        sides.append((-x, -y) if axis.card.better == "higher" else (x, y))  # type: ignore[attr-defined]
    return all(x <= y + 1e-12 for x, y in sides) and any(x < y - 1e-12 for x, y in sides)


if __name__ == "__main__":
    main()
