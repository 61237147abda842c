"""An interruption that comes while the engine's thread is being started must stop the engine as any other does."""

from __future__ import annotations

import threading
import time

import pytest

from sfumato.engines.duckdb import patiently


class Engine:
    """Works until it is told to stop."""

    def __init__(self) -> None:
        self.stop = threading.Event()
        self.works = False

    def work(self) -> None:
        self.works = True
        self.stop.wait(60)
        time.sleep(0.1)
        self.works = False

    def interrupt(self) -> None:
        self.stop.set()


def test_nothing_works_on_after_it(monkeypatch: pytest.MonkeyPatch) -> None:
    real = threading.Thread.start

    def interrupted(thread: threading.Thread) -> None:
        real(thread)
        until = time.monotonic() + 30
        while not engine.works and time.monotonic() < until:
            time.sleep(0.001)
        raise KeyboardInterrupt

    engine = Engine()
    monkeypatch.setattr(threading.Thread, "start", interrupted)
    with pytest.raises(KeyboardInterrupt):
        patiently(engine.work, engine)
    assert engine.stop.is_set()
    assert not engine.works


def test_what_was_never_started_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(thread: threading.Thread) -> None:
        raise KeyboardInterrupt

    engine = Engine()
    monkeypatch.setattr(threading.Thread, "start", interrupted)
    with pytest.raises(KeyboardInterrupt):
        patiently(engine.work, engine)
    assert not engine.works
