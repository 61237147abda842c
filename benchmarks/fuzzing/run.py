"""Run a case as a user would: the command line, inside this process (fast) or in a process of its own."""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from .generate import Case

ROOT = "FUZZ_FOLDER"
"""The variable that names the folder of all cases, so that whoever ends the run clears it."""
LIMIT = 60
"""Seconds of CPU that a case may take: by the clock it may wait for others."""
PATIENCE = 900
"""Seconds by the clock after which nothing is waited for any more."""


class TooLong(BaseException):
    """No error of the product, so nothing in it may catch it."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a run gave: its code, its streams, and the files that are there now and were not before."""

    code: int
    stdout: str
    stderr: str
    new: tuple[str, ...]
    folder: Path
    late: bool = False


def _alarm(number: int, frame: FrameType | None) -> None:
    raise TooLong


@contextlib.contextmanager
def _at(folder: Path, argv: Sequence[str]) -> Iterator[tuple[io.StringIO, io.StringIO]]:
    """Work in a folder, with these words on the command line, streams captured and no signal handler left behind."""
    before, words, out, err = Path.cwd(), sys.argv, io.StringIO(), io.StringIO()
    handlers = {s: signal.getsignal(s) for s in (signal.SIGTERM, signal.SIGINT, signal.SIGPIPE, signal.SIGPROF)}
    os.chdir(folder)
    sys.argv = ["sfumato", *argv]
    signal.signal(signal.SIGPROF, _alarm)
    signal.setitimer(signal.ITIMER_PROF, LIMIT)
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), warnings.catch_warnings():
            warnings.simplefilter("always")
            yield out, err
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        for number, handler in handlers.items():
            signal.signal(number, handler)
        sys.argv = words
        os.chdir(before)


def inside(folder: Path, argv: Sequence[str]) -> tuple[int, str, str, bool]:
    """The exit code and the streams of a call in this process, and whether it took too long."""
    late, code = False, 0
    from sfumato.cli import main

    with _at(folder, argv) as (out, err):
        try:
            main()
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
        except TooLong:
            late = True
    return code, out.getvalue(), err.getvalue(), late


def outside(folder: Path, argv: Sequence[str]) -> tuple[int, str, str, bool]:
    """The same in a process of its own."""
    environment = {**os.environ, "TMPDIR": str(folder / "tmp")}
    (folder / "tmp").mkdir(exist_ok=True)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "sfumato", *argv],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return 0, "", "", True
    return done.returncode, done.stdout, done.stderr, False


def _files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.name != "tmp"}


@contextlib.contextmanager
def prepared(case: Case, keep: Path | None = None) -> Iterator[Path]:
    """A folder with the files of a case, gone afterwards unless it is to be kept."""
    folder = Path(tempfile.mkdtemp(prefix="fuzz-", dir=os.environ.get(ROOT))) if keep is None else keep
    folder.mkdir(exist_ok=True, parents=True)
    try:
        for name, content in case.files.items():
            (folder / name).write_bytes(content)
        yield folder
    finally:
        if keep is None:
            shutil.rmtree(folder, ignore_errors=True)


def run(case: Case, folder: Path, *, alone: bool = False) -> Outcome:
    """Run the case in its folder."""
    before = _files(folder)
    code, stdout, stderr, late = (outside if alone else inside)(folder, case.call)
    return Outcome(
        code=code, stdout=stdout, stderr=stderr, new=tuple(sorted(_files(folder) - before)), folder=folder, late=late
    )
