"""A whole study of Adult, once from nothing and once from what was kept: minutes, size of the report, and does the release verify.

    .venv/bin/python benchmarks/study.py

At least 40 candidates of ten kinds of mechanism, 14 metrics, two of them mined on a sample of rows; the limits of a public release of
medium impact.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from _bench import ADULT, QUASI, hierarchy, need_adult

MINED = "field=salary-class,rows=3000,folds=3"
STUDY = """
title = "Adult"
table = "{table}"
roles = "roles.toml"
refine = 3
measures = ["k_anonymity", "prosecutor_risk", "marketer_risk", "distinct_l_diversity", "t_closeness[equal]", "mutual_information",
  "distribution_leakage", "singling_out_risk[size=3]", "anti_utility_worst[field=age,rows=3000,folds=3]",
  "iloss", "discernibility", "query_error[ranges]", "column_distance", "mining_utility_decline[{mined}]"]
maps = [["singling_out_risk[size=3]", "query_error[ranges]"],
  ["anti_utility_worst[field=age,rows=3000,folds=3]", "mining_utility_decline[{mined}]"]]

[context]
to = "public"
impact = "medium"
"""
GRIDS: list[tuple[str, dict[str, str]]] = [
    ("generalize_full_domain", {"k": "[5, 10, 14, 20]", "suppression": "[0.0, 0.05]", "minimise": '"iloss"'}),
    ("mondrian", {"k": "[5, 10, 14, 20, 50]", "choose": '["loss", "width"]'}),
    ("k_member", {"k": "[5, 10, 14, 20, 50]"}),
    ("local_suppression", {"k": "[5, 14, 20]"}),
    ("top_down_specialization", {"k": "[5, 14, 20]"}),
    ("rank_swapping", {"columns": '"age"', "p": "[2, 5, 10]"}),
    ("additive_noise", {"scale": "[0.1, 0.3, 0.5]"}),
    ("pram", {"columns": '"education,marital-status"', "keep": "[0.9, 0.7]"}),
    ("anatomy", {"l": "[3, 5]"}),
    ("dp_synthesis", {"epsilon": "[0.5, 1, 3]"}),
]


def files(folder: Path) -> Path:
    """The study file and its roles."""
    names = [*QUASI, "occupation", "salary-class"]
    rules = "".join(f'{name} = "{hierarchy(name)}"\n' for name in names)
    (folder / "roles.toml").write_text(
        f'[roles]\nquasi = {QUASI}\nsensitive = ["occupation"]\ninsensitive = ["salary-class"]\n\n[hierarchies]\n{rules}'
    )
    text = STUDY.format(table=ADULT, mined=MINED)
    for name, settings in GRIDS:
        lines = "".join(f"{key} = {value}\n" for key, value in settings.items())
        text += f'\n[[candidate]]\nmechanism = "{name}"\nsteer = false\n{lines}'
    text += "\n[[candidate]]\nfrontier = 6\n"
    path = folder / "study.toml"
    path.write_text(text)
    return path


def sfumato(*arguments: str) -> float:
    """Run a verb; the seconds it took."""
    started = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", "from sfumato.cli import main; main()", *arguments], check=False)
    if done.returncode:
        raise SystemExit(done.returncode)
    return time.perf_counter() - started


def main() -> None:
    need_adult()
    import json

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        study, out = files(folder), folder / "out"
        first = sfumato(
            "study", str(study), "--out", str(out), "--formats", "html,md,pdf", "--package", str(folder / "p1")
        )
        second = sfumato("study", str(study), "--out", str(out), "--formats", "html,md,pdf")
        found = json.loads((out / "report.json").read_text())
        size = (out / "report.html").stat().st_size / 1e6
        made = [c for c in found["candidates"] if c["made"]]
        families = {c["family"] for c in made}
        metrics = {name for c in made for name in c["scores"]}
    print(
        f"study of Adult: {len(found['candidates'])} candidates ({len(made)} made), {len(families)} kinds, {len(metrics)} metrics"
    )
    print(f"    from nothing {first / 60:.1f} min on {os.cpu_count()} cores (target: under 15)")
    print(f"    from what was kept {second:.1f} s (target: under 20); report.html {size:.2f} MB (target: under 5)")
    print(f"    recommended: {found['recommended']}; package written, so its limits were measured again from the file")


if __name__ == "__main__":
    main()
