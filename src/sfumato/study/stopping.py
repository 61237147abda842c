"""Stop a study at will: an interruption or a limit by the clock ends it, and what is measured by then is its result.

A mechanism may take an interruption for itself and end with the best that it has so far. What comes of that is not what its text says, so
the candidate that was at work is dropped, whatever it returned.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal

from ..core.errors import InputError

Cut = Literal["", "interrupt", "time"]
"""What ended a study before all was tried."""


class Stop:
    """When a study is to end early: `time_limit` is in seconds from now on, and `catch` says whether Ctrl-C gives a result, too."""

    def __init__(self, time_limit: float | None = None, *, catch: bool = False) -> None:
        if time_limit is not None and not time_limit > 0:
            raise InputError("The time limit of a study must be above 0 seconds.")
        self.limit, self.catch = time_limit, catch
        self.cut: Cut = ""
        self._deadline = None if time_limit is None else time.monotonic() + time_limit
        self._ready = self._broken = False

    @property
    def due(self) -> bool:
        """Whether the time is up and something is measured."""
        if self._ready and self._deadline is not None and time.monotonic() >= self._deadline:
            self.cut = self.cut or "time"
        return bool(self.cut)

    def measured(self) -> None:
        """A candidate is done; raises what the candidate may have kept from us."""
        if self._broken:
            raise KeyboardInterrupt
        self._ready = True

    @contextmanager
    def heeded(self) -> Iterator[None]:
        """Work that is given up where the study is to end; an interruption that is not caught goes on.

        The clock ends nothing before a first candidate is measured. Only the main thread can hear of either.
        """
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before: dict[int, Any] = {}
        for number, hear in ((signal.SIGINT, self._interrupted), (signal.SIGTERM, self._ended)):
            if callable(signal.getsignal(number)):  # neither ignored nor deadly
                before[number] = signal.signal(number, hear)
        alarm = hasattr(signal, "setitimer") and self._deadline is not None
        if alarm:
            before[signal.SIGALRM] = signal.signal(signal.SIGALRM, self._rang)
            signal.setitimer(signal.ITIMER_REAL, max((self._deadline or 0) - time.monotonic(), 0.001))
        try:
            yield
        except KeyboardInterrupt:
            if not self.cut:
                raise
        finally:
            if alarm:
                signal.setitimer(signal.ITIMER_REAL, 0)
            for heard, handler in before.items():
                signal.signal(heard, handler)

    def _interrupted(self, number: int, frame: Any) -> None:
        self._broken = True
        if self.catch and self._ready:
            self.cut = self.cut or "interrupt"
        raise KeyboardInterrupt

    def _ended(self, number: int, frame: Any) -> None:
        self._broken = True
        raise KeyboardInterrupt

    def _rang(self, number: int, frame: Any) -> None:
        if self.due and not self._broken:
            self._broken = True
            raise KeyboardInterrupt
