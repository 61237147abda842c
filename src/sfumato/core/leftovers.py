"""The removal of what a killed run has left under hidden names, once it has been finished where that was possible.

A hidden name carries its owner (core/hidden_names.py). The next run that works in the same folder first finishes what was begun to be
renamed (core/atomic_files.py), then removes what belongs to processes of this machine and user that are no more, and says so. Whatever
has another name is not ours, and what belongs to a process that still runs, or to another machine, is left alone.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from .atomic_files import JOURNAL, finish_renames
from .hidden_names import hidden_name, owner, stale, user


def _silent(text: str) -> None:
    """Nobody listens, unless the command line does."""


report: Callable[[str], None] = _silent
"""Told what was removed or finished."""


def hidden_beside(path: Path) -> Path:
    """A hidden name beside a path that this process will give it, once it is whole; its suffix stays."""
    clear(path.parent)
    return path.with_name(hidden_name(path.suffix))


def private_folder() -> str:
    """A new folder for temporary files that names this process."""
    clear(Path(tempfile.gettempdir()))
    return tempfile.mkdtemp(prefix=owner())


def clear(folder: Path) -> list[Path]:
    """Finish or remove what processes of ours that are no more have left in a folder; what was removed."""
    needed: set[str] = set()
    for journal in [path for path in _stale_entries(folder) if path.name.endswith(JOURNAL)]:
        outcome = finish_renames(journal)
        needed |= outcome.needed
        if outcome.finished:
            report(
                f"{folder}: finished what an earlier run had begun when it was killed: {', '.join(outcome.finished)}."
            )
    gone = [path for path in _stale_entries(folder) if path.name not in needed and _removed(path)]
    if gone:
        things = "an unfinished file or folder" if len(gone) == 1 else f"{len(gone)} unfinished files and folders"
        report(f"{folder}: removed {things} that an earlier run had to leave when it was killed.")
    return gone


def _stale_entries(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            return [Path(e.path) for e in entries if stale(e.name) and e.stat(follow_symlinks=False).st_uid == user()]
    except OSError:
        return []


def _removed(path: Path) -> bool:
    """Whether it was there and could be removed; a link is removed and not followed."""
    with contextlib.suppress(OSError):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink()
        return not path.exists()
    return False
