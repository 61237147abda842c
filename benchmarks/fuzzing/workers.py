"""Cases on all cores: a process that dies or hangs costs its case a finding, and the run goes on."""

from __future__ import annotations

import contextlib
import multiprocessing
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any

FRESH = 4_000
"""Cases after which a process makes room for a new one."""


@dataclass(kw_only=True)
class _Worker:
    process: BaseProcess
    pipe: Connection
    pending: deque[Any] = field(default_factory=deque)
    done: int = 0
    since: float = field(default_factory=time.monotonic)


def work(
    chunks: Iterator[list[Any]], serve: Callable[..., None], given: tuple[Any, ...], *, workers: int, patience: float
) -> Iterator[tuple[Any, Any, str]]:
    """The task, the result and, where a process was lost over it, how; `serve(pipe, *given)` answers task by task."""
    context = multiprocessing.get_context("spawn")
    left: deque[list[Any]] = deque()
    crew: list[_Worker] = []

    def start() -> _Worker:
        here, there = context.Pipe()
        process = context.Process(target=serve, args=(there, *given), daemon=True)
        process.start()
        there.close()
        return _Worker(process=process, pipe=here)

    try:
        crew += [start() for _ in range(workers)]
        while True:
            for i, worker in enumerate(crew):
                if not worker.pending:
                    if worker.done >= FRESH:
                        _end(worker)
                        crew[i] = worker = start()
                    chunk = left.popleft() if left else next(chunks, None)
                    if chunk:
                        worker.pending, worker.since = deque(chunk), time.monotonic()
                        with contextlib.suppress(OSError):  # it is gone: seen below
                            worker.pipe.send(chunk)
            busy = [worker for worker in crew if worker.pending]
            if not busy:
                return
            ready = wait([worker.pipe for worker in busy], timeout=5)
            for i, worker in enumerate(crew):
                if not worker.pending:
                    continue
                lost = ""
                if worker.pipe in ready:
                    try:
                        result = worker.pipe.recv()
                    except (EOFError, OSError):
                        worker.process.join(10)
                        lost = f"its process died with {worker.process.exitcode}"
                    else:
                        worker.done, worker.since = worker.done + 1, time.monotonic()
                        yield worker.pending.popleft(), result, ""
                elif time.monotonic() - worker.since > patience:
                    lost = f"its process said nothing for {patience:.0f} s"
                if lost:
                    task = worker.pending.popleft()
                    if worker.pending:
                        left.append(list(worker.pending))
                    _end(worker)
                    crew[i] = start()
                    yield task, None, lost
    finally:
        for worker in crew:
            _end(worker)


def _end(worker: _Worker) -> None:
    worker.pipe.close()
    worker.process.kill()
    worker.process.join()
