"""Utility and anti-utility by mining, the paper's whole experiment: how long it takes, how it resumes, what it finds.

    .venv/bin/python benchmarks/mining.py [--rows N] [--data FOLDER] [--cache FOLDER]

Eight releases of Adult's 45,222 complete rows (greedy clustering with k = 2, 10, 50, 100; local noise with epsilon = 0.5, 0.1, 0.05,
0.01); on each the three miners of the good utility and a whole reference set of the bad one (33 classifiers and their fusion, or 10
regressors and theirs), ten folds. Timed once from nothing and once more from what was kept. Times are also given as a multiple of
training the slowest kind of miner once on all rows (a random forest of 60 trees), since machines differ; CPU time is that of all
processes. How far it is goes to the error output. With --cache the predictions stay, for `sfumato reproduce sramka --cache FOLDER --json`.
"""

from __future__ import annotations

import argparse
import os
import resource
import sys
import tempfile
import time
from pathlib import Path

from joblib.externals.loky import get_reusable_executor

from sfumato.mining.features import features
from sfumato.mining.miners import miners
from sfumato.mining.rows import align
from sfumato.reproduce.sramka import FIELD, releases, reproduce
from sfumato.reproduce.tables import folder


def forest_seconds(data: Path) -> float:
    """One random forest on all rows of the release with k = 10: the yardstick."""
    (made, roles), _ = releases(data)
    sides = align(made["k = 10"], roles)
    _, after = features(sides, roles, [name for name in sides.released.names if name != FIELD])
    estimator = miners("classes")["random_forest"].make(0, after.numeric)
    started = time.perf_counter()
    estimator.fit(after.dense, sides.released.codes[FIELD])
    return time.perf_counter() - started


def used() -> tuple[float, float]:
    """CPU seconds of this process and of the workers that it had, and the memory of the largest, in MB; ends the workers."""
    get_reusable_executor().shutdown(wait=True)  # only what has ended is counted
    both = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in both), max(one.ru_maxrss for one in both) / 1024


class Steps:
    """Says when a further twentieth is done."""

    def __init__(self) -> None:
        self.started, self.next = time.perf_counter(), 0.0

    def __call__(self, share: float, text: str) -> None:
        if share >= self.next:
            self.next = share + 0.05
            print(
                f"{100 * share:3.0f}%, {(time.perf_counter() - self.started) / 60:.1f} min ({text})",
                file=sys.stderr,
                flush=True,
            )


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--rows", type=int, default=None, help="a sample of so many people")
    options.add_argument("--data", type=Path, default=None, help="the folder with adult_48842.csv")
    options.add_argument("--cache", type=Path, default=None, help="an empty folder to keep the predictions in")
    given = options.parse_args()
    data = folder(given.data)
    if given.cache is not None and given.cache.exists() and any(given.cache.iterdir()):
        options.error(f"{given.cache} is not empty, so nothing would be timed from nothing")
    unit = forest_seconds(data)
    print(f"yardstick: a random forest of 60 trees on 45,222 rows, one core: {unit:.1f} s", flush=True)
    with tempfile.TemporaryDirectory() as scratch:
        kept = given.cache or scratch
        for title in ("from nothing", "from what was kept"):
            before, _ = used()
            started = time.perf_counter()
            found = reproduce(data, rows=given.rows, cache=Path(kept), progress=Steps())
            seconds = time.perf_counter() - started
            after, _ = used()
            print(
                f"{title}: {seconds / 60:.1f} min on {os.cpu_count()} cores ({seconds / unit:.0f} forests), "
                f"{(after - before) / 60:.1f} min of CPU, {found.rows:,} people, 8 releases",
                flush=True,
            )
    for check in found.checks:
        print(f"{'ok ' if check.holds else 'NOT'} {check.text}: {check.seen}")
    print(f"peak memory of one process: {used()[1]:.0f} MB")


if __name__ == "__main__":
    main()
