"""`fuzz.py N`: run N random cases through the command line, and let a checker that shares no code with the package read what was written.

    python benchmarks/fuzz.py 100000 --workers 2        the whole run
    python benchmarks/fuzz.py --case 1/17/mondrian      one case again, with all it did
    python benchmarks/fuzz.py 2000 --only k_member      one mechanism

Exit 1 if a promise was broken, an exception was foreign, a raw value was shown or a file was left behind.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import faulthandler
import inspect
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from multiprocessing.connection import Connection
from pathlib import Path

from fuzzing.check import Finding, check
from fuzzing.generate import Case, make
from fuzzing.run import PATIENCE, ROOT, inside, prepared, run
from fuzzing.workers import work

from fuzzing import parameters

CHUNK = 20
Task = tuple[int, int, str, str]
PACKAGED = 600
"""One case of so many is a study that writes a package, which costs as much as fifty others."""
AGAIN = 20
"""One release of so many is verified by the verb that a recipient has, and made once more from shuffled rows."""
Result = tuple[str, str, int, list[Finding], float, str]


def known() -> tuple[list[str], dict[str, str]]:
    """The mechanisms and metrics of the registry; a mechanism that nobody drew parameters for is an error."""
    from sfumato import metrics
    from sfumato.mechanisms import registry

    names = sorted(registry())
    if lacking := [name for name in names if name not in parameters.DRAWS]:
        raise SystemExit(f"fuzzing/parameters.py draws nothing for {', '.join(lacking)}; add it.")
    return names, {name: metric.card.better for name, metric in metrics.registry().items()}


@cache
def guarded() -> bool:
    """Whether the command line guards free columns, and so takes waivers."""
    from sfumato.cli import sanitize

    return "waive" in inspect.signature(sanitize.run).parameters


def one(task: Task, metrics: dict[str, str], *, alone: bool = False, keep: Path | None = None) -> Result:
    """A case: made, run, checked."""
    seed, index, mechanism, verb = task
    case = make(seed, index, mechanism, metrics, verb, guarded=guarded())
    begun = time.perf_counter()
    with prepared(case, keep) as folder:
        outcome = run(case, folder, alone=alone)
        spent = time.perf_counter() - begun
        try:
            findings = check(case, outcome)
            if outcome.code == 0 and index % AGAIN == 0:
                texts = (verified(case, folder), shuffled(case, folder))
                findings += [Finding(kind="promise", text=text) for text in texts if text is not None]
        except Exception as error:
            if keep is not None:
                raise
            findings = [Finding(kind="checker", text=f"{type(error).__name__}: {error}")]
        said = outcome.stderr.strip().splitlines()
        return case.name, case.mechanism, outcome.code, findings, spent, said[-1] if said else ""


OF_CLASSES = (
    "mondrian",
    "k_member",
    "generalize_full_domain",
    "generalize_to_levels",
    "local_suppression",
    "cut_points",
)
SETTLED = (*OF_CLASSES, "top_down_specialization", "top_bottom_coding", "hipaa", "personalize")
"""Mechanisms that leave nothing to chance."""


def verified(case: Case, folder: Path) -> str | None:
    """What `verify` says of a release of classes, if it does not hold there."""
    asked = [
        text
        for text in case.require
        if text.startswith(("k_anonymity", "distinct_l", "entropy_l", "t_closeness", "alpha_"))
    ]
    asked += [f"k_anonymity >= {case.settings['k']}"] if "k" in case.settings else []
    counted = (
        case.people is not None
        and case.people.rows != "linked"
        and (case.people.rows, case.people.household) != ("one", None)
    )
    if not asked or counted or {case.mechanism, case.second or "mondrian"} - set(OF_CLASSES):
        return None  # of people whose rows nobody joins the file alone tells nothing
    words = ["verify", case.out, "--roles", "roles.toml", "--dates", "text", "--decimal", "text"]
    words += ["--neutralise-formulas"] * case.neutral
    words += (
        ["--header", "--delimiter", ",", "--quote", '"', "--encoding", "utf-8"] if case.out.endswith(".csv") else []
    )
    words += [word for column in sorted(case.waived) for word in ("--waive", f"{column}: it is tried")]
    code, _, stderr, _ = inside(folder, [*words, *(word for text in asked for word in ("--require", text))])
    return None if code == 0 else f"verify exits {code}: {stderr.strip()[-200:]}"


def shuffled(case: Case, folder: Path) -> str | None:
    """Whether the release tells in which order the rows came: shuffled ones must give the same file."""
    drawn = case.people is not None and case.people.rows == "linked"  # the numbers that join rows are drawn
    if (
        drawn
        or {case.mechanism, case.second or "mondrian"} - set(SETTLED)
        or case.verb != "sanitize"
        or "table.csv" not in case.files
    ):
        return None
    if (
        "relaxed" in (case.settings.get("mode"), case.then.get("mode")) and "--seed" not in case.call
    ):  # equal rows are divided by a fresh draw
        return None
    if any(odd in case.files["table.csv"] for odd in (b"\0", b"\r")):  # read by where they stand in the file
        return None
    before = (folder / case.out).read_bytes()
    delimiter = case.call[case.call.index("--delimiter") + 1] if "--delimiter" in case.call else ","
    with (folder / "table.csv").open(encoding="utf-8-sig", newline="") as file:
        head, *rows = list(csv.reader(file, delimiter=delimiter))
    random.Random(case.name).shuffle(rows)
    with (folder / "table.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=delimiter, lineterminator="\n").writerows([head, *rows])
    code, _, stderr, _ = inside(folder, case.call)
    if code != 0:
        return f"with the rows in another order exit {code}: {stderr.strip()[-200:]}"
    return (
        None if (folder / case.out).read_bytes() == before else "with the rows in another order the release is another"
    )


def serve(pipe: Connection, metrics: dict[str, str]) -> None:
    """Run what comes through a pipe, case by case, until it is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent says when to stop
    faulthandler.enable()
    with contextlib.suppress(EOFError, OSError):
        while True:
            for task in pipe.recv():
                pipe.send(one(task, metrics, alone=task[1] % 400 == 0))


def tasks(
    count: int, seed: int, names: list[str], published: Counter[str], every: int = PACKAGED
) -> Iterator[list[Task]]:
    """Chunks of cases; of two, one goes to a mechanism that has published least so far."""
    rng = random.Random(seed)
    for first in range(0, count, CHUNK):
        chunk = []
        for index in range(first, min(count, first + CHUNK)):
            lagging = min(names, key=lambda name: (published[name], rng.random()))
            verb = "study" if index % every == every - 1 else "sanitize"
            chunk.append((seed, index, lagging if rng.random() < 0.5 else rng.choice(names), verb))
        yield chunk


def summary(results: dict[str, Counter[str]], findings: list[tuple[str, Finding]], spent: float, count: int) -> bool:
    """Print the table; whether all is well."""
    heads = ("tried", "published", "refused", "rejected", "promise", "foreign", "raw", "left", "slow", "checker")
    print(f"{'mechanism':26}" + "".join(f"{head:>10}" for head in heads))
    total: Counter[str] = Counter()
    for name in sorted(results):
        total.update(results[name])
        print(f"{name:26}" + "".join(f"{results[name][head]:>10,}" for head in heads))
    print(f"{'all':26}" + "".join(f"{total[head]:>10,}" for head in heads))
    least = min((results[name]["published"] for name in results), default=0)
    print(
        f"{count:,} cases in {spent:,.0f} s ({count / max(spent, 1e-9):.1f} a second); every mechanism published at least {least:,} times"
    )
    for name, finding in findings[:60]:
        print(f"  {finding.kind:8} --case {name}: {finding.text}")
    if len(findings) > 60:
        print(f"  ... and {len(findings) - 60} more")
    return not findings


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("count", nargs="?", type=int, default=1000, metavar="N")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--only", help="a mechanism, or several with commas between")
    parser.add_argument("--case", help="rerun one case: SEED/INDEX/MECHANISM")
    parser.add_argument("--studies", action="store_true", help="only studies that write a package")
    parser.add_argument("--keep", type=Path, help="with --case: the folder that its files stay in")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # a stopped run still says what it saw
    names, metrics = known()
    if options.case:
        seed, index, mechanism, *verb = options.case.split("/")
        again((int(seed), int(index), mechanism, "".join(verb) or "sanitize"), metrics, options.keep)
        return
    names = options.only.split(",") if options.only else names
    results: dict[str, Counter[str]] = defaultdict(Counter)
    findings: list[tuple[str, Finding]] = []
    published: Counter[str] = Counter(dict.fromkeys(names, 0))
    begun, done, reasons = time.perf_counter(), 0, Counter[str]()
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    folder = tempfile.TemporaryDirectory(prefix="fuzz-", dir=memory, ignore_cleanup_errors=True)
    os.environ[ROOT] = folder.name
    todo = tasks(options.count, options.seed, names, published, every=1 if options.studies else PACKAGED)
    try:
        for task, result, lost in work(todo, serve, (metrics,), workers=options.workers, patience=PATIENCE):
            if result is None:
                kind = "slow" if "said nothing" in lost else "foreign"
                name = "/".join(map(str, task)).removesuffix("/sanitize")
                result = name, task[2], 3, [Finding(kind=kind, text=lost)], 0.0, lost
            name, mechanism, code, wrong, _, said = result
            done += 1
            results[mechanism]["tried"] += 1
            results[mechanism][{0: "published", 1: "refused", 2: "rejected"}.get(code, "failed")] += 1
            published[mechanism] += code == 0
            reasons[f"{mechanism}: {said}"] += code != 0
            for finding in wrong:
                results[mechanism][finding.kind] += 1
                findings.append((name, finding))
                print(f"{finding.kind:8} --case {name}: {finding.text}", flush=True)
            if done % 20 == 0:
                rate = done / (time.perf_counter() - begun)
                print(
                    f"\r{done:,} of {options.count:,}, {rate:.1f} a second, {len(findings)} findings ",
                    end="",
                    file=sys.stderr,
                    flush=True,
                )
    except KeyboardInterrupt:
        print("\ninterrupted", file=sys.stderr)
    folder.cleanup()
    print(file=sys.stderr)
    if os.environ.get("FUZZ_REASONS"):
        for reason, times in reasons.most_common(150):
            print(f"{times:6} {reason}")
    if not summary(results, findings, time.perf_counter() - begun, done):
        sys.exit(1)


def again(task: Task, metrics: dict[str, str], keep: Path | None) -> None:
    """Run one case again, and print all of it."""
    import shlex

    os.environ["SFUMATO_DEBUG"] = "1"
    case = make(task[0], task[1], task[2], metrics, task[3], guarded=guarded())
    folder = keep or Path(tempfile.mkdtemp(prefix="fuzz-case-"))
    with prepared(case, folder):
        print(f"{folder}: {case.rows} rows; sfumato {shlex.join(case.call)}")
        print(*(case.files[name].decode() for name in ("roles.toml", "study.toml") if name in case.files), sep="\n")
        outcome = run(case, folder)
        print(outcome.stdout + outcome.stderr + f"exit {outcome.code}; new: {', '.join(outcome.new)}")
        for finding in check(case, outcome):
            print(f"{finding.kind}: {finding.text}")


if __name__ == "__main__":
    main()
