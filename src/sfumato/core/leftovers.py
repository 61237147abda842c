"""Names for what is not finished yet, and the removal of what a killed run has left under them.

A hidden name carries its owner: the machine, the process and when that began. The next run that works in the same folder removes
what belongs to processes of this machine and user that are no more, and says so. Whatever has another name is not ours, and what
belongs to a process that still runs, or to another machine, is left alone.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import re
import shutil
import socket
import tempfile
import uuid
from collections.abc import Callable
from pathlib import Path

_OURS = re.compile(r"^\.?sfumato-([0-9a-f]{8})-(\d+)-([0-9a-f]+)-")
UNFINISHED = "-unfinished"


def _silent(text: str) -> None:
    """Nobody listens, unless the command line does."""


report: Callable[[str], None] = _silent
"""Told what was removed."""


def owner() -> str:
    """This process, as a part of names: `sfumato-MACHINE-PROCESS-BEGINNING-`."""
    return f"sfumato-{_machine()}-{os.getpid()}-{_beginning(os.getpid())}-"


def hidden_beside(path: Path) -> Path:
    """A hidden name beside a path that this process will give it, once it is whole; its suffix stays."""
    clear(path.parent)
    return path.with_name(f".{owner()}{uuid.uuid4().hex[:12]}{path.suffix}")


def private_folder() -> str:
    """A new folder for temporary files that names this process."""
    clear(Path(tempfile.gettempdir()))
    return tempfile.mkdtemp(prefix=owner())


def mark(folder: Path) -> Path:
    """Mark a folder as unfinished: until the mark is gone, it is a leftover if this process is."""
    marker = folder / f".{owner()}{UNFINISHED}"
    marker.touch(mode=0o600)
    return marker


def unfinished(folder: Path) -> bool:
    """Whether a folder was marked by a process that is no more."""
    with contextlib.suppress(OSError):
        return any(stale(path.name) for path in folder.glob(f".sfumato-*{UNFINISHED}"))
    return False


def clear(folder: Path) -> list[Path]:
    """Remove from a folder what processes of ours that are no more have left there."""
    gone = []
    with contextlib.suppress(OSError):
        for entry in os.scandir(folder):
            if not stale(entry.name) or entry.stat(follow_symlinks=False).st_uid != _user():
                continue
            if entry.is_dir(follow_symlinks=False):
                shutil.rmtree(entry.path, ignore_errors=True)
            else:
                os.unlink(entry.path)
            gone.append(Path(entry.path))
    if gone:
        things = "an unfinished file or folder" if len(gone) == 1 else f"{len(gone)} unfinished files and folders"
        report(f"{folder}: removed {things} that an earlier run had to leave when it was killed.")
    return gone


def stale(name: str) -> bool:
    """Whether a name is one of ours, of this machine, and its process is no more."""
    match = _OURS.match(name)
    if match is None or match[1] != _machine():
        return False
    process = int(match[2])
    if process == os.getpid() and match[3] == _beginning(process):
        return False
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return True
    except OSError:  # it runs, and is another user's
        return False
    return _beginning(process) != match[3]


@functools.cache
def _machine() -> str:
    return hashlib.sha256(socket.gethostname().encode()).hexdigest()[:8]


def _user() -> int:
    return os.getuid() if hasattr(os, "getuid") else 0


def _beginning(process: int) -> str:
    """When a process began, so that a later one of the same number is another; 0 where the system does not tell."""
    try:
        with open(f"/proc/{process}/stat", "rb") as file:
            ticks = int(file.read().rsplit(b")", 1)[1].split()[19])
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            boot = file.read(8)
        return f"{boot}{ticks:x}"
    except (OSError, ValueError, IndexError):
        return "0"
