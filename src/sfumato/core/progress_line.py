"""Progress for a script, a notebook or a log: what is being done, how far it is, and about how long it will take.

In a terminal and in a notebook one line is rewritten by a carriage return, so that neither needs a library. Anywhere else, as in a log
file, plain lines follow one another: the first after ten seconds, and later ones every half minute.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

_PAUSE = 0.2
"""Seconds between two states of the line that is rewritten."""
_PACES = ((60, 10), (float("inf"), 30))
"""Seconds between two plain lines, while a run is not older than so many seconds."""


@contextmanager
def progress_line(title: str, progress: Callable[..., None] | bool | None) -> Iterator[Any]:
    """Whom to tell the share that is done: standard error for True, a function as it is, else nobody.

    What goes on for less than a fifth of a second shows nothing.
    """
    if progress is not True:
        yield progress or None
        return
    if not _rewrites():
        yield plain_lines(title)
        return
    started = last = time.monotonic()
    width = 0

    def show(line: str) -> None:
        nonlocal width
        sys.stderr.write("\r" + line.ljust(width))
        sys.stderr.flush()
        width = len(line)

    def report(share: float, text: str = "", words: str = "") -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= _PAUSE:
            last = now
            show(_sentence(title, share, text, words, now - started))

    try:
        yield report
    finally:
        if width:
            show(f"{title}: {duration(time.monotonic() - started)}")
            sys.stderr.write("\n")


def plain_lines(title: str) -> Callable[..., None]:
    """What writes a line to standard error now and then: for a log."""
    started = last = time.monotonic()

    def report(share: float, text: str = "", words: str = "") -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= next(pause for age, pause in _PACES if now - started <= age):
            last = now
            sys.stderr.write(_sentence(title, share, text, words, now - started) + "\n")
            sys.stderr.flush()

    return report


def _rewrites() -> bool:
    """Whether standard error can rewrite a line."""
    return sys.stderr.isatty() or "ipykernel" in sys.modules


def _sentence(title: str, share: float, text: str, words: str, seconds: float) -> str:
    """`words` say how far it is, if they are given; else the share does, and what is left follows from the time that it took."""
    left = f", about {duration(seconds * (1 - share) / share)} left" if 0 < share < 1 else ""
    return f"{title}: {words or f'{share:.0%}{left}'}{f' ({text})' if text else ''}"


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
