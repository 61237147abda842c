"""What happens while a study runs: one source that the command line's progress, a page and a log file all read.

A listener is any callable that takes an event; `Study.run(listen=...)` tells it what happens in the order in which it happens. An
`EventLog` is a listener that appends a line of JSON for each event to a file and never changes a line; the verbs `study` and `advise` keep
one, `events.jsonl`, in their work folder (`OUT/.kept` unless `--cache` names another). `replay` reads it back, also while it is written:

    {"event": "began", "seconds": 0.0, "at": "2026-11-19T14:00:00+00:00", "table": "people.csv", "risk": "prosecutor_risk", ...}
    {"event": "planned", "seconds": 0.1, "total": 27, "families": ["mondrian", ...], "workers": 2}
    {"event": "stage", "seconds": 0.1, "name": "candidates"}
    {"event": "started", "seconds": 0.1, "name": "mondrian k=20", "family": "mondrian"}
    {"event": "measured", "seconds": 2.6, "name": "mondrian k=20", "family": "mondrian", "risk": 0.05, "utility": 0.31, "met": true, ...}
    {"event": "failed", "seconds": 2.9, "name": "k_member k=20", "family": "k_member", "reason": "..."}
    {"event": "done", "seconds": 3.1, "measured": 26, "failed": 1, "total": 27, "cut": ""}

`seconds` count from the first event of the run. A file holds one run after the other, each from its `began` on. Events name candidates,
scores and reasons, never a value of the table.
"""

from __future__ import annotations

import dataclasses
import json
import math
import os
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar

from ..core.errors import InputError
from ..core.noun import dataclass
from .score_store import decoded

FILE = "events.jsonl"
"""The log's name in a work folder."""


@dataclass(frozen=True)
class Began:
    """A run begins: when, of which table, on which axes, and what it requires."""

    kind: ClassVar[str] = "began"
    at: str
    table: str
    risk: str
    utility: str
    require: tuple[str, ...] = ()

    @staticmethod
    def now() -> str:
        """The moment in ISO format, in UTC."""
        return datetime.now(UTC).isoformat(timespec="seconds")


@dataclass(frozen=True)
class Planned:
    """So many candidates are known of by now; told again whenever more are to be tried.

    `families` are the mechanisms of those that are planned anew, in the order in which they are begun.
    """

    kind: ClassVar[str] = "planned"
    total: int
    families: tuple[str, ...] = ()
    workers: int = 1


@dataclass(frozen=True)
class Stage:
    """What is done from now on: candidates, neighbours (more near the best), finalist (measure the rest of it); a verb goes on with documents,
    package, and finished once everything is written."""

    kind: ClassVar[str] = "stage"
    name: str


@dataclass(frozen=True)
class Started:
    """A candidate is being made and measured; with several workers, it was handed to one."""

    kind: ClassVar[str] = "started"
    name: str
    family: str


@dataclass(frozen=True)
class Measured:
    """A candidate was made and measured: where it stands on the map, what it misses, and the seconds that it took.

    An axis that could not be measured is None. `kept` says that an earlier run measured it.
    """

    kind: ClassVar[str] = "measured"
    name: str
    family: str
    risk: float | None
    utility: float | None
    met: bool
    misses: tuple[str, ...] = ()
    took: float = 0.0
    kept: bool = False


@dataclass(frozen=True)
class Failed:
    """A candidate could not be made, and why."""

    kind: ClassVar[str] = "failed"
    name: str
    family: str
    reason: str
    took: float = 0.0
    kept: bool = False


@dataclass(frozen=True)
class Done:
    """All candidates are measured, or the run was cut: by "interrupt" or "time"."""

    kind: ClassVar[str] = "done"
    measured: int
    failed: int
    total: int
    cut: str = ""


Event = Began | Planned | Stage | Started | Measured | Failed | Done
Listener = Callable[[Event], None]

_KINDS: dict[str, type[Event]] = {each.kind: each for each in (Began, Planned, Stage, Started, Measured, Failed, Done)}


def unheard(event: Event) -> None:
    """A listener for nobody."""


def to_dict(event: Event) -> dict[str, Any]:
    """For JSON: the kind and the fields; a number that JSON lacks is null."""
    fields = dataclasses.asdict(event)
    plain = {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in fields.items()}
    return {"event": event.kind, **plain}


class EventLog:
    """A listener that appends each event to a file that only its owner may read, a whole line at a time."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._began = time.monotonic()

    def __call__(self, event: Event) -> None:
        """Append it."""
        if isinstance(event, Began):
            self._began = time.monotonic()
        content = to_dict(event)
        line = {"event": content.pop("event"), "seconds": round(time.monotonic() - self._began, 3), **content}
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            try:
                os.write(file, json.dumps(line, ensure_ascii=False).encode() + b"\n")
            finally:
                os.close(file)
        except OSError as error:
            raise InputError(
                f"{self.path}: the progress of the study cannot be kept there ({type(error).__name__})."
            ) from None


def replay(path: Path, *, last: bool = True) -> Iterator[tuple[float, Event]]:
    """The events of a log with their seconds, of its last run alone unless told; what is no whole line of ours is passed over."""
    try:
        lines = path.read_bytes().split(b"\n")[
            :-1
        ]  # behind the last line break stands nothing, or what is being written
    except OSError:
        return
    events = [event for line in lines if (event := _read(line)) is not None]
    begins = [i for i, (_, event) in enumerate(events) if isinstance(event, Began)]
    yield from events[begins[-1] if last and begins else 0 :]


def _read(line: bytes) -> tuple[float, Event] | None:
    try:
        content = json.loads(line)
        kind = _KINDS[content.pop("event")]
        return float(content.pop("seconds")), decoded(kind, content)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None
