"""Whose a hidden name is: it carries the machine, the process and when that began.

So the next run can tell what a process that is no more has left behind from what one still works on.
"""

from __future__ import annotations

import functools
import hashlib
import os
import re
import socket
import uuid

_OURS = re.compile(r"^\.?sfumato-([0-9a-f]{8})-(\d+)-([0-9a-f]+)-")


def owner() -> str:
    """This process, as a part of names: `sfumato-MACHINE-PROCESS-BEGINNING-`."""
    return f"sfumato-{_machine()}-{os.getpid()}-{_beginning(os.getpid())}-"


def hidden_name(suffix: str = "") -> str:
    """A new hidden name of this process."""
    return f".{owner()}{uuid.uuid4().hex[:12]}{suffix}"


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


def user() -> int:
    """The user whose files are ours."""
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
