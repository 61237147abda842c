"""One line of progress for a script or a notebook: what is being done, how far it is, and about how long it will take.

A carriage return rewrites the line, which terminals and notebooks both understand, so that neither needs a library.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

_PAUSE = 0.2
"""Seconds between two lines."""


@contextmanager
def progress_line(title: str, progress: Callable[..., None] | bool | None) -> Iterator[Any]:
    """Whom to tell the share that is done: a line on standard error for True, a function as it is, else nobody.

    What goes on for less than a fifth of a second shows nothing.
    """
    if progress is not True:
        yield progress or None
        return
    started = last = time.monotonic()
    width = 0

    def show(line: str) -> None:
        nonlocal width
        sys.stderr.write("\r" + line.ljust(width))
        sys.stderr.flush()
        width = len(line)

    def told(share: float, text: str = "") -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= _PAUSE:
            last = now
            left = f", about {duration((now - started) * (1 - share) / share)} left" if 0 < share < 1 else ""
            show(f"{title}: {share:.0%}{left}{f' ({text})' if text else ''}")

    try:
        yield told
    finally:
        if width:
            show(f"{title}: {duration(time.monotonic() - started)}")
            sys.stderr.write("\n")


def duration(seconds: float) -> str:
    """A duration as one says it.

    >>> [duration(s) for s in (0.4, 59, 61, 200, 7300)]
    ['1 second', '59 seconds', '1 minute', '3 minutes', '2 hours']
    """
    size, unit = next(
        ((size, unit) for size, unit in ((3600, "hour"), (60, "minute")) if seconds >= size), (1, "second")
    )
    n = max(1, round(seconds / size))
    return f"{n} {unit}{'' if n == 1 else 's'}"
