"""What becomes of a child process: a JSON line for each turn, appended to a file of the work folder.

started {}, began {process}, and at the end done {...}, failed {error} or stopped {}. What a study does in between stands in its own
events (study/events.py). Whoever follows reads both files from their beginning, so a reload, a second tab and a restarted page see the same.
"""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

ENDS = ("done", "failed", "stopped")


class Journal:
    """The file that a child appends to."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def tell(self, event: str, **content: Any) -> None:
        """Append an event; a line is written at once, so that no reader sees half of one that stays."""
        line = json.dumps({"event": event, "at": round(time.time(), 3), **content}, ensure_ascii=False) + "\n"
        handle = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            os.write(handle, line.encode())
        finally:
            os.close(handle)


def read_events(path: Path) -> list[dict[str, Any]]:
    """All events so far; a line that is not whole yet, or was cut by a full disk, is none."""
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError:
        return []
    events = []
    for line in lines[:-1]:
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if isinstance(event, dict) and isinstance(event.get("event"), str):
            events.append(event)
    return events
