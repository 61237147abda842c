"""Kill, starve and fill: whatever happens to a run, each of its outputs is the old one or the new one, never half and never a mix.

    .venv/bin/python benchmarks/faults.py [KILLS]        (12 kills unless said; 200 are recorded in README.md)

Ten jobs: sanitize, sanitize with a companion file (anatomy), a chain of histories (linked rows), Excel and SPSS releases, a release that is entered in a
register, study of a table, study of a file, packaging (a study whose scores are kept) and advise with a package. Each is run undisturbed for what is new and how long it takes, and where it replaces something, with other parameters for
what is old. Then it is killed with SIGKILL

- at moments spread evenly over that time, shifted by a seed;
- before and after each of its last renames, where a kill hurts most (the process counts them and kills itself).

At once the names may show files of one run only; once the next run has looked at the folder, all of the old or all of the new. After
every third kill that run goes on, ends as the undisturbed one did and leaves nothing of ours. Then the same with files that may not grow (RLIMIT_FSIZE), on a
full disk and with a full temporary folder (tmpfs of 2 MB, where mounting is allowed), and with little memory (RLIMIT_AS): the exit
code is a documented one, no output is half, nothing is left behind.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import random
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from sfumato.core.leftovers import clear

CODES = (0, 1, 2, 130)
RENAMES = 5
"""So many last renames of a job are killed at, before and after each."""
ROLES = """[roles]
identifiers = ["id"]
quasi = ["age", "zip"]
sensitive = ["ill"]
"""
VISITS = """[roles]
person = "who"
quasi = ["age", "day"]
sensitive = ["ill"]
[people]
rows = "linked"
"""
STUDY = """table = "people.csv"
roles = "roles.toml"
measures = ["k_anonymity"]
require = ["k_anonymity >= {k}"]
refine = 0
[[candidate]]
mechanism = "mondrian"
k = [{k}, 9]
"""
COUNTING = """
import os, signal, sys
at, after, real, done = int(sys.argv.pop(1)), int(sys.argv.pop(1)), os.replace, 0
def replace(*args, **more):
    global done
    done += 1
    if done == at and not after:
        os.kill(os.getpid(), signal.SIGKILL)
    real(*args, **more)
    if done == at:
        os.kill(os.getpid(), signal.SIGKILL)
os.replace = replace
from sfumato.cli import main
try:
    main()
finally:
    print(f"renames: {done}", file=sys.stderr)
"""
"""The command line, with its renames counted; the process kills itself before or after one of them."""

State = dict[str, str]


@dataclass(frozen=True)
class Job:
    """A command, and the sets of what it writes: each set is of one run. `replaces` says with which other words it made the old ones."""

    name: str
    words: tuple[str, ...]
    sets: tuple[tuple[str, ...], ...]
    replaces: tuple[str, ...] = ()
    package: str | None = None
    kept: bool = False
    """Whether it starts with the scores of an earlier run."""
    before: tuple[str, ...] = ()
    """A command that comes before everything."""
    register: str | None = None
    """The register that must know each release that has its name."""
    share: int = 1
    """Its part of the kills: what is over sooner is killed more often."""


def _sanitize(out: str, mechanism: str, setting: str) -> tuple[str, ...]:
    return ("sanitize", "people.csv", "--roles", "roles.toml", "--mechanism", mechanism, "--set", setting, "--out", out)


def _study_table(k: int) -> tuple[str, ...]:
    return ("study", "people.csv", "--roles", "roles.toml", "--candidate", f"mondrian k={k}", "--metric", "k_anonymity", "--workers", "1", "--formats", "md", "--out", "map")  # fmt: skip


def _study(file: str, *more: str) -> tuple[str, ...]:
    return ("study", file, "--out", "study", "--workers", "1", "--formats", "md", *more)


def _advise(impact: str, *more: str) -> tuple[str, ...]:
    return (
        "advise", "people.csv", "--roles", "roles.toml", "--to", "onsite", "--impact", impact, "--out", "advice", "--workers", "1",
        "--formats", "md", "--refine", "0", *more,
    )  # fmt: skip


def _histories(k: int) -> tuple[str, ...]:
    return (
        "sanitize", "visits.csv", "--roles", "visits.toml", "--mechanism", f"shift_dates days=30 | mondrian k={k}", "--seed", "1", "--out", "joined.csv",
    )  # fmt: skip


def _registered(k: int) -> tuple[str, ...]:
    return (*_sanitize("out.csv", "mondrian", f"k={k}"), "--register", "town.sqlite")


JOBS = (
    Job("sanitize", _sanitize("out.csv", "mondrian", "k=3"), (("out.csv",),), _sanitize("out.csv", "mondrian", "k=5"), share=4),
    Job("companions", (*_sanitize("out.csv", "anatomy", "l=2"), "--seed", "1"), (("out.csv", "out.sensitive.csv"),), (*_sanitize("out.csv", "anatomy", "l=3"), "--seed", "1"), share=4),
    Job("chain", _histories(3), (("joined.csv",),), _histories(4), share=2),
    Job("excel", _sanitize("out.xlsx", "mondrian", "k=3"), (("out.xlsx",),), _sanitize("out.xlsx", "mondrian", "k=5"), share=2),
    Job("spss", _sanitize("out.sav", "mondrian", "k=3"), (("out.sav",),), _sanitize("out.sav", "mondrian", "k=5"), share=2),
    Job("register", _registered(3), (("out.csv",),), _registered(5), before=("register", "town.sqlite", "--epsilon", "2"), register="town.sqlite", share=3),
    Job("study of a table", _study_table(3), (("map",),), _study_table(5)),
    Job("study", _study("study.toml"), (("study",),), _study("old.toml")),
    Job("packaging", _study("study.toml", "--package", "package"), (("study",), ("package", "package.house")), (), "package", kept=True, share=3),
    Job("advise", _advise("low", "--package", "advised"), (("advice",), ("advised", "advised.house")), _advise("medium"), "advised"),
)  # fmt: skip


@dataclass
class Found:
    """What came of it."""

    runs: int = 0
    states: Counter[str] = field(default_factory=Counter)
    codes: Counter[int] = field(default_factory=Counter)
    broken: list[str] = field(default_factory=list)

    def add(self, other: Found) -> None:
        self.runs += other.runs
        self.states += other.states
        self.codes += other.codes
        self.broken += other.broken


def people(folder: Path, rows: int = 300) -> None:
    draw = random.Random(7)
    lines = [f"{i},{draw.randint(18, 90)},{draw.randint(10, 20)}000,{draw.choice(['flu', 'cold', 'gout', 'mumps'])}" for i in range(rows)]  # fmt: skip
    (folder / "people.csv").write_text("\n".join(["id,age,zip,ill", *lines, ""]))
    (folder / "roles.toml").write_text(ROLES)
    visits = [f"{i // 2},{draw.choice([20, 40, 60])},2024-0{1 + i % 2}-{draw.randint(1, 28):02d},{draw.choice(['flu', 'cold'])}" for i in range(120)]  # fmt: skip
    (folder / "visits.csv").write_text("\n".join(["who,age,day,ill", *visits, ""]))
    (folder / "visits.toml").write_text(VISITS)
    (folder / "study.toml").write_text(STUDY.format(k=3))
    (folder / "old.toml").write_text(STUDY.format(k=5))


def files(folder: Path, names: tuple[str, ...]) -> Iterator[Path]:
    """The files of a set that anybody sees."""
    for name in names:
        path = folder / name
        for file in path.rglob("*") if path.is_dir() else [path]:
            if file.is_file() and not any(part.startswith(".") for part in file.relative_to(folder).parts):
                yield file


def ours(*folders: Path) -> list[str]:
    """Whatever carries our name for what is unfinished."""
    return [
        str(path) for folder in folders for path in folder.rglob("*") if path.name.lstrip(".").startswith("sfumato-")
    ]


class Bench:
    """A folder to work in and one for temporary files; the command line as a user runs it, for one job."""

    def __init__(self, folder: Path, job: Job) -> None:
        self.job, self.folder = job, folder
        self.work, self.temporary = folder / "work", folder / "tmp"
        for each in (folder, self.work, self.temporary):
            each.mkdir()
        state = {"TMPDIR": str(self.temporary), "XDG_STATE_HOME": str(folder / "state")}
        self.environment = {**os.environ, **state, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        self.problem: str | None = None
        self.seconds = 0.0
        people(self.work)
        if job.before and self.finish(job.before)[0] != 0:
            self.problem = f"{job.name}: what comes before could not be done"
        if job.replaces and self.finish(job.replaces)[0] != 0:
            self.problem = f"{job.name}: what it replaces could not be made"
        self.old = self.state()
        self._keep("fresh")
        self.finish()  # the first run compiles
        if job.kept:
            self._remove_package()
            self._keep("fresh")
        self.restore()
        begun = time.perf_counter()
        code, said = self.finish()
        self.seconds = time.perf_counter() - begun
        self.new = self.state()
        if code != 0 or (
            any(not files or files == old for files, old in zip(self.new, self.old, strict=True)) and not job.kept
        ):
            self.problem = f"{job.name}: the undisturbed run ended with {code}: {said[-300:]}"

    def _keep(self, name: str) -> None:
        shutil.rmtree(self.folder / name, ignore_errors=True)
        shutil.copytree(self.work, self.folder / name)
        self.old = self.state()

    def restore(self) -> None:
        """The folder as it was before the job, and no temporary file."""
        for folder in (self.work, self.temporary):
            for path in folder.iterdir():
                shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
        shutil.copytree(self.folder / "fresh", self.work, dirs_exist_ok=True)

    def _remove_package(self) -> None:
        for name in (self.job.package, f"{self.job.package}.house") if self.job.package else ():
            shutil.rmtree(self.work / name, ignore_errors=True)

    def start(
        self,
        words: tuple[str, ...] | None = None,
        limits: Callable[[], None] | None = None,
        at: tuple[int, int] | None = None,
    ) -> subprocess.Popen[bytes]:
        command = [str(Path(sys.executable).with_name("sfumato"))]
        if at is not None:
            command = [sys.executable, "-c", COUNTING, *map(str, at)]
        return subprocess.Popen(
            [*command, *(words or self.job.words)], cwd=self.work, env=self.environment, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, start_new_session=True, preexec_fn=limits,
        )  # fmt: skip

    def finish(
        self,
        words: tuple[str, ...] | None = None,
        limits: Callable[[], None] | None = None,
        at: tuple[int, int] | None = None,
    ) -> tuple[int, str]:
        process = self.start(words, limits, at)
        _, said = process.communicate(timeout=300)
        return process.returncode, said.decode(errors="replace")

    def state(self) -> list[State]:
        """For each set its files with their checksums."""
        return [
            {str(f.relative_to(self.work)): hashlib.sha256(f.read_bytes()).hexdigest() for f in files(self.work, names)}
            for names in self.job.sets
        ]

    def unknown(self) -> str | None:
        """What is wrong with the register: it cannot be read, or a release has its name and the register knows nothing of it."""
        if self.job.register is None:
            return None
        try:
            with contextlib.closing(sqlite3.connect(self.work / self.job.register)) as register:
                known = " ".join(entry for (entry,) in register.execute("SELECT entry FROM release"))
        except sqlite3.Error as error:
            return f"the register cannot be read: {error}"
        released = [checksum for state in self.state() for checksum in state.values()]
        return None if all(checksum in known for checksum in released) else "a release that the register does not know"

    def judge(self, where: str, found: Found, *, again: bool = True) -> None:
        """Old or new: at once never a mix, and all of one once the folder was looked at; then the next run ends as the first."""
        for now, old, new in zip(self.state(), self.old, self.new, strict=True):
            if not (now.items() <= old.items() or now.items() <= new.items()):
                found.broken.append(f"{where}: files of two runs, or half of one")
        for folder in (self.work, *(path for path in self.work.iterdir() if path.is_dir())):
            clear(folder)
        states = []
        for now, old, new in zip(self.state(), self.old, self.new, strict=True):
            states.append("new" if now == new else "old" if now == old else "half")
        if "half" in states:
            found.broken.append(f"{where}: {', '.join(states)}")
        found.states[states[-1]] += 1
        if unknown := self.unknown():
            found.broken.append(f"{where}: {unknown}")
        if not again:
            return
        self._remove_package()  # a package is never overwritten
        code, said = self.finish()
        if code != 0 or self.state() != self.new:
            found.broken.append(f"{where}: the next run ended with {code}: {said[-200:]}")
        if left := ours(self.work, self.temporary):
            found.broken.append(f"{where}: left behind {left[:3]}")


def kill(bench: Bench, kills: int, draw: random.Random) -> Found:
    """So many kills of one job, over its time."""
    found = Found()
    for i in range(kills):
        bench.restore()
        process = bench.start()
        time.sleep(bench.seconds * (i + draw.random()) / kills)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # the session that this process began, its workers too
        process.communicate()
        found.runs += 1
        bench.judge(f"{bench.job.name}, kill {i + 1} of {kills}", found, again=i % 3 == 0)
    return found


def kill_at_renames(bench: Bench, most: int) -> Found:
    """A kill before and after each of the last renames."""
    found = Found()
    bench.restore()
    _, said = bench.finish(at=(-1, 0))
    total = int(said.rsplit("renames: ", 1)[1].split()[0])
    for at in range(max(1, total - most + 1), total + 1):
        for after in (0, 1):
            bench.restore()
            code, said = bench.finish(at=(at, after))
            if code != -signal.SIGKILL:
                found.broken.append(f"{bench.job.name}, rename {at}: not killed, ended with {code}")
            found.runs += 1
            bench.judge(f"{bench.job.name}, {'after' if after else 'before'} rename {at} of {total}", found, again=bool(after))  # fmt: skip
    return found


def starve(bench: Bench, name: str, limits: Callable[[], None] | None = None) -> Found:
    """One run with a limit; it was not killed, so that it cleans up itself."""
    found = Found(runs=1)
    code, said = bench.finish(limits=limits)
    found.codes[code] += 1
    where = f"{bench.job.name}, {name}"
    if code not in CODES or "Traceback" in said:
        found.broken.append(f"{where}: exit code {code}: {said[-300:]}")
    if left := ours(bench.work, bench.temporary):
        found.broken.append(f"{where}: left behind {left[:3]}")
    for now, old, new in zip(bench.state(), bench.old, bench.new, strict=True):
        if now not in (old, new) or (code == 0 and now != new):
            found.broken.append(f"{where}: an output is half, or not written though it ended with {code}")
    return found


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


@contextlib.contextmanager
def small_disk(folder: Path, room: int) -> Iterator[None]:
    """Put a tmpfs of 2 MB over a folder, with its content and so much room; OSError where that is not allowed."""
    content = folder.with_name(folder.name + ".content")
    shutil.copytree(folder, content)
    try:
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "faults", folder], capture_output=True).returncode:
            raise OSError("mounting is not allowed here")
        try:
            shutil.copytree(content, folder, dirs_exist_ok=True)
            free = os.statvfs(folder)
            (folder / "filling").write_bytes(b"x" * max(0, free.f_bavail * free.f_bsize - room))
            yield
        finally:
            subprocess.run(["umount", "-l", folder], check=True)
    finally:
        shutil.rmtree(content)


def fill(bench: Bench, rooms: tuple[int, ...], found: Found) -> str | None:
    """A full disk and a full temporary folder; why not, where mounting is not allowed."""
    for what in ("work", "temporary"):
        for room in rooms:
            bench.restore()
            try:
                with small_disk(getattr(bench, what), room):
                    found.add(starve(bench, f"{room} bytes left for {what} files"))
            except OSError as error:
                return str(error)
    return None


def main(kills: int, jobs: tuple[Job, ...] = JOBS, *, limits: bool = True, renames: int = RENAMES) -> list[str]:
    """All of it; what is broken, a line each."""
    killed, renamed, grown, full, memory = (Found() for _ in range(5))
    skipped = None
    parts = sum(job.share for job in jobs)
    shares = [kills * job.share // parts for job in jobs]
    shares[0] += kills - sum(shares)
    with tempfile.TemporaryDirectory(prefix="faults-") as folder:

        def one(i: int) -> tuple[Found, Found, Bench]:
            bench = Bench(Path(folder) / jobs[i].name, jobs[i])
            if bench.problem:
                return Found(broken=[bench.problem]), Found(), bench
            return kill(bench, shares[i], random.Random(15 + i)), kill_at_renames(bench, renames), bench

        with ThreadPoolExecutor(2) as pool:
            for by_time, by_rename, bench in pool.map(one, range(len(jobs))):
                killed.add(by_time)
                renamed.add(by_rename)
                print(f"  {bench.job.name}: {bench.seconds:.1f} s, {by_time.runs} + {by_rename.runs} kills", file=sys.stderr, flush=True)  # fmt: skip
                if not limits or bench.problem:
                    continue
                for size in (0, 512, 4096, 20_000):
                    bench.restore()
                    grown.add(starve(bench, f"files of {size} bytes", files_of_at_most(size)))
                for megabytes in (150, 800, 1500, 2500):
                    bench.restore()
                    memory.add(starve(bench, f"{megabytes} MB", memory_of_at_most(megabytes << 20)))
                skipped = skipped or fill(bench, (0, 4096, 16_384, 65_536), full)
    _print(f"{killed.runs} kills over {', '.join(job.name for job in jobs)}", killed)
    _print(f"{renamed.runs} kills before and after the last renames", renamed)
    if limits:
        _print(f"files that may not grow: {grown.runs} runs", grown)
        _print(f"full disk or temporary folder: {full.runs} runs{f' ({skipped})' if skipped else ''}", full)
        _print(f"memory limit: {memory.runs} runs", memory)
    broken = [line for found in (killed, renamed, grown, full, memory) for line in found.broken]
    for line in broken:
        print(f"  {line}")
    return broken


def _print(what: str, found: Found) -> None:
    counts = [f"{n} {state}" for state, n in sorted(found.states.items())]
    counts += [f"exit {code}: {n}" for code, n in sorted(found.codes.items())]
    print(f"{what}: {', '.join(counts) or 'none'}; {len(found.broken)} broken")


if __name__ == "__main__":
    sys.exit(1 if main(int(sys.argv[1]) if len(sys.argv) > 1 else 12) else 0)
