"""Kill, starve and fill: whatever happens to a run, each of its outputs is the old one or the new one whole, never half.

    .venv/bin/python benchmarks/faults.py [KILLS]        (12 kills unless said; 200 are recorded in README.md)

Each of the four jobs (sanitize, compare, study, advise; the last two with a package) is run once to measure its time. Then it is killed with SIGKILL at moments
spread evenly over that time, shifted by a seed. After each kill the outputs are looked at, the next run must end as the first did
and leave nothing of ours behind, in its folders or in the temporary one. Then the same without room on the disk (RLIMIT_FSIZE) and
with little memory (RLIMIT_AS): the exit code is one of those documented, and no output is half.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

CODES = (0, 1, 2, 130)
ROLES = """[roles]
identifiers = ["id"]
quasi = ["age", "zip"]
sensitive = ["ill"]
"""
STUDY = """table = "people.csv"
roles = "roles.toml"
measures = ["k_anonymity"]
require = ["k_anonymity >= 3"]
refine = 0
[[candidate]]
mechanism = "mondrian"
k = [3, 6]
"""


@dataclass(frozen=True)
class Job:
    """A command, and what it writes: files and folders that appear whole or not at all."""

    name: str
    words: tuple[str, ...]
    outputs: tuple[str, ...]


JOBS = (
    Job("sanitize", ("sanitize", "people.csv", "--roles", "roles.toml", "--mechanism", "mondrian", "--set", "k=3", "--out", "out.csv"), ("out.csv",)),
    Job("compare", ("compare", "people.csv", "--roles", "roles.toml", "--candidate", "mondrian k=3", "--out", "map"), ("map",)),
    Job("study", ("study", "study.toml", "--out", "study", "--workers", "1", "--formats", "md", "--package", "package"), ("package", "package.house")),
    Job("advise", ("advise", "people.csv", "--roles", "roles.toml", "--to", "onsite", "--impact", "low", "--out", "advice", "--workers", "1", "--formats", "md", "--refine", "0", "--package", "advised"), ("advised", "advised.house")),
)  # fmt: skip


@dataclass
class Found:
    """What came of it."""

    runs: int = 0
    codes: Counter[int] = field(default_factory=Counter)
    states: Counter[str] = field(default_factory=Counter)
    broken: list[str] = field(default_factory=list)


def people(folder: Path, rows: int = 400) -> None:
    draw = random.Random(7)
    lines = [f"{i},{draw.randint(18, 90)},{draw.randint(10, 20)}000,{draw.choice(['flu', 'cold', 'gout'])}" for i in range(rows)]  # fmt: skip
    (folder / "people.csv").write_text("\n".join(["id,age,zip,ill", *lines, ""]))
    (folder / "roles.toml").write_text(ROLES)
    (folder / "study.toml").write_text(STUDY)


def content(path: Path) -> str | None:
    """A hash of the names and, for a single file, the bytes of an output; None where there is none.

    Documents hold times, so that a folder is judged by being complete: the names of its files, and the checksums it carries.
    """
    if not path.exists():
        return None
    if path.is_file():
        return hashlib.sha256(path.read_bytes()).hexdigest()
    sums = path / "SHA256SUMS"
    if sums.is_file():
        for line in sums.read_text(encoding="utf-8").splitlines():
            digest, name = line.split(maxsplit=1)
            if hashlib.sha256((path / name.lstrip("*")).read_bytes()).hexdigest() != digest:
                return "half"
    return " ".join(sorted(str(file.relative_to(path)) for file in visible(path)))


def visible(folder: Path) -> Iterator[Path]:
    return (file for file in folder.rglob("*") if file.is_file() and not any(p.startswith(".") for p in file.relative_to(folder).parts))  # fmt: skip


def ours(*folders: Path) -> list[str]:
    """Whatever carries our name for what is unfinished."""
    return [
        str(path) for folder in folders for path in folder.rglob("*") if path.name.lstrip(".").startswith("sfumato-")
    ]


class Bench:
    """A folder to work in and one for temporary files; the command line as a user runs it."""

    def __init__(self, folder: Path) -> None:
        self.work, self.temporary = folder / "work", folder / "tmp"
        for each in (self.work, self.temporary):
            each.mkdir()
        people(self.work)
        state = {"TMPDIR": str(self.temporary), "XDG_STATE_HOME": str(folder / "state")}
        self.environment = {**os.environ, **state, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}

    def start(self, job: Job, limits: Callable[[], None] | None = None) -> subprocess.Popen[bytes]:
        script = Path(sys.executable).with_name("sfumato")
        return subprocess.Popen(
            [script, *job.words], cwd=self.work, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            start_new_session=True, preexec_fn=limits,
        )  # fmt: skip

    def finish(self, job: Job, limits: Callable[[], None] | None = None) -> tuple[int, str]:
        process = self.start(job, limits)
        _, said = process.communicate(timeout=300)
        return process.returncode, said.decode(errors="replace")

    def remove(self, job: Job) -> None:
        for name in job.outputs:
            path = self.work / name
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)

    def outputs(self, job: Job) -> list[str | None]:
        return [content(self.work / name) for name in job.outputs]


def kill(bench: Bench, job: Job, kills: int, draw: random.Random, found: Found) -> None:
    """So many kills of one job."""
    bench.finish(job)  # the first run compiles and fills caches
    bench.remove(job)
    begun = time.perf_counter()
    code, said = bench.finish(job)
    seconds = time.perf_counter() - begun
    new = bench.outputs(job)
    if code not in (0, 1) or None in new:
        found.broken.append(f"{job.name}: the undisturbed run ended with {code}: {said[-300:]}")
        return
    for i in range(kills):
        keep = len(job.outputs) == 1 and i % 2  # every other time an old output is there to be replaced
        old: list[str | None] = [None] * len(job.outputs)
        bench.remove(job)
        if keep:
            for name in job.outputs:
                path = bench.work / name
                if path.suffix:
                    path.write_text("the old one\n")
            old = bench.outputs(job)
        process = bench.start(job)
        time.sleep(seconds * (i + draw.random()) / kills)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # the session that this process began, its workers too
        process.communicate()
        found.runs += 1
        after = bench.outputs(job)
        state = "new" if after == new else "old" if after == old else "part"
        if state == "part" and not (len(job.outputs) == 2 and after[0] is None) and job.outputs != ("map",):
            found.broken.append(f"{job.name}, kill {i}: neither old nor new")
        found.states["without its package" if state == "part" else state] += 1
        if after[0] is not None and len(job.outputs) == 2:
            bench.remove(job)  # a package is never overwritten
        code, said = bench.finish(job)
        if code not in (0, 1) or bench.outputs(job) != new:
            found.broken.append(f"{job.name}, kill {i}: the next run ended with {code}: {said[-200:]}")
        left = ours(bench.work, bench.temporary)
        if left:
            found.broken.append(f"{job.name}, kill {i}: left behind {left[:3]}")


def starve(bench: Bench, job: Job, name: str, limits: Callable[[], None], found: Found) -> None:
    """One run with a limit."""
    bench.remove(job)
    for folder in ("study", "advice", "map"):
        shutil.rmtree(bench.work / folder, ignore_errors=True)
    code, said = bench.finish(job, limits)
    found.runs += 1
    found.codes[code] += 1
    whole = bench.outputs(job)
    if code not in CODES or "Traceback" in said:
        found.broken.append(f"{job.name}, {name}: exit code {code}: {said[-200:]}")
    if "half" in whole or (
        code not in (0, 1) and job.outputs != ("map",) and any(output is not None for output in whole)
    ):
        found.broken.append(f"{job.name}, {name}: an output is there though it ended with {code}")
    bench.finish(JOBS[0])
    left = ours(bench.work, bench.temporary)
    if left:
        found.broken.append(f"{job.name}, {name}: left behind {left[:3]}")


def files_of_at_most(size: int) -> Callable[[], None]:
    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # then a write fails as on a full disk
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    return limit


def memory_of_at_most(size: int) -> Callable[[], None]:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (size, size))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    return limit


def main(kills: int, jobs: tuple[Job, ...] = JOBS, *, limits: bool = True) -> list[str]:
    """All of it; what is broken, a line each."""
    draw = random.Random(15)
    killed, disk, memory = Found(), Found(), Found()
    with tempfile.TemporaryDirectory(prefix="faults-") as folder:
        bench = Bench(Path(folder))
        for i, job in enumerate(jobs):
            kill(bench, job, kills // len(jobs) + (i < kills % len(jobs)), draw, killed)
            if limits:
                for size in (0, 512, 4096):
                    starve(bench, job, f"files of {size} bytes", files_of_at_most(size), disk)
                for megabytes in (150, 400, 800, 1500):
                    starve(bench, job, f"{megabytes} MB", memory_of_at_most(megabytes << 20), memory)
    broken = [*killed.broken, *disk.broken, *memory.broken]
    states = ", ".join(f"{n} {state}" for state, n in sorted(killed.states.items()))
    print(f"{killed.runs} kills over {', '.join(job.name for job in jobs)}: {states}; {len(killed.broken)} broken")
    if limits:
        for name, found in (("full disk", disk), ("memory limit", memory)):
            codes = ", ".join(f"exit {code}: {n}" for code, n in sorted(found.codes.items()))
            print(f"{name}: {found.runs} runs, {codes}; {len(found.broken)} broken")
    for line in broken:
        print(f"  {line}")
    return broken


if __name__ == "__main__":
    sys.exit(1 if main(int(sys.argv[1]) if len(sys.argv) > 1 else 12) else 0)
