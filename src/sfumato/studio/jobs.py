"""Work in a child process: started, followed by its events, stopped by an interrupt; what it kept lets it go on.

A child belongs to the folder, not to the page: it goes on when the page is reloaded, and a studio that is started again finds it.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any

from ..core.errors import InputError
from ..core.noun import dataclass
from .job_log import ENDS, Journal, read_events
from .work_folder import WorkFolder

KINDS = ("study", "package", "compare", "check")


@dataclass(frozen=True)
class JobState:
    """Where a job stands."""

    kind: str = ""
    events: tuple[Mapping[str, Any], ...] = ()
    running: bool = False

    @property
    def last(self) -> Mapping[str, Any]:
        """The last event; empty where there is none."""
        return self.events[-1] if self.events else {}

    @property
    def ended(self) -> str:
        """How it ended: done, failed or stopped; `died` where it ended without a word; empty where it runs or never ran."""
        if self.running or not self.events:
            return ""
        word = str(self.last["event"])
        return word if word in ENDS else "died"


@dataclass(eq=False)
class Jobs:
    """The children of a work folder."""

    folder: WorkFolder
    _children: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    _turn: threading.Lock = field(default_factory=threading.Lock)

    def events_file(self, kind: str) -> Path:
        """What a kind of job tells."""
        return self.folder.private / f"{kind}.jsonl"

    def state(self, kind: str) -> JobState:
        """Where it stands, from its file and from whether its process runs."""
        events = tuple(read_events(self.events_file(kind)))
        ended = not events or events[-1]["event"] in ENDS
        return JobState(kind, events, not ended and self._process(kind, events) is not None)

    def start(self, kind: str, *words: str) -> None:
        """Start a job, unless one runs in this folder already."""
        with self._turn:
            for other in KINDS:
                if self.state(other).running:
                    raise InputError("Something is running in this folder already; wait for it, or stop it first.")
            path = self.events_file(kind)
            path.unlink(missing_ok=True)
            Journal(path).tell("started", words=words)
            with open(self.folder.private / f"{kind}.log", "wb") as log:
                child = subprocess.Popen(
                    [sys.executable, "-P", "-m", "sfumato.studio.job", kind, str(self.folder.path), *words],
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,  # a Ctrl-C in the terminal is for the page, which stops its children itself
                )
            self._children[kind] = child

    def stop(self, kind: str, *, patience: float = 20.0) -> None:
        """Interrupt a job and wait until it has put its things away."""
        process = self._process(kind, read_events(self.events_file(kind)))
        if process is None:
            return
        os.kill(process, signal.SIGINT)
        child = self._children.get(kind)
        if child is not None:
            try:
                child.wait(patience)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
        events = read_events(self.events_file(kind))
        if self._process(kind, events) is None and events and events[-1]["event"] not in ENDS:
            Journal(self.events_file(kind)).tell("stopped")  # before it could say so itself

    def close(self) -> None:
        """Stop whatever this page started."""
        for kind in list(self._children):
            self.stop(kind)

    def _process(self, kind: str, events: Sequence[Mapping[str, Any]]) -> int | None:
        """The process that works on it: a child of this page, or one that an earlier page of the folder started."""
        child = self._children.get(kind)
        if child is not None:
            return child.pid if child.poll() is None else None
        told = next((event["process"] for event in events if "process" in event), None)
        return told if isinstance(told, int) and told > 1 and _is_job(told) else None


def _is_job(process: int) -> bool:
    """Whether a process of this number runs, and is a job of ours, not another that got the number since."""
    try:
        os.kill(process, 0)
        return b"sfumato.studio.job" in Path(f"/proc/{process}/cmdline").read_bytes()
    except FileNotFoundError:
        return not Path("/proc/self").exists()  # a system that does not tell
    except OSError:
        return False
