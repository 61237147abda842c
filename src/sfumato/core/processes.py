"""Calls side by side in other processes, which an interruption of this one ends: without a word of theirs, and nothing left behind.

A terminal interrupts all processes of a command at once. Only this one is to hear it: it ends the others itself. They begin with
the signal held back, since they would die of it with a traceback while they still load what they need. What they keep in
temporary files lies in a folder of this process, since one that is ended cannot clear away.
"""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import tempfile
import threading
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from .leftovers import private_folder

LEAST_MEMORY = 1400 << 20
"""Bytes of address space that the libraries need to load and to start their threads."""
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


def side_by_side(call: Callable[..., Any], arguments: Iterable[tuple[Any, ...]], workers: int) -> Generator[Any]:
    """What a call gives for each of these arguments, as it gets done. To close it, or an interruption, ends what still runs."""
    from joblib import Parallel, delayed

    # a process that grew is begun anew, which is nobody's concern; joblib says it from a thread of its own
    warnings.filterwarnings("ignore", "A worker stopped while some jobs were given")
    here = os.getpid()
    calls = (delayed(_away)(here, _folder(here), call, given) for given in arguments)
    results = None
    try:
        with _held():
            results = Parallel(n_jobs=workers, return_as="generator_unordered", batch_size=1)(calls)
        for result in results:  # noqa: UP028 (it would be closed before the warnings are caught)
            yield result
    finally:
        if results is not None:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # that calls are given up is what an interruption means
                results.close()


def address_space() -> int | None:
    """The bytes that the system lets this process take, where it sets a limit."""
    try:
        import resource
    except ImportError:  # a system without limits
        return None
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if soft == resource.RLIM_INFINITY else soft


@cache
def _folder(process: int) -> str:
    """Where the others keep temporary files; cleared away when this process ends."""
    folder = private_folder()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


@contextmanager
def _held() -> Iterator[None]:
    """Hold interruptions back: here until the end, in processes that begin meanwhile for good.

    The mask is what they inherit. It does not do here, where another thread may take the signal and this one would be interrupted
    between the start of a process and what it is told to do.
    """
    came: list[int] = []
    main = threading.current_thread() is threading.main_thread()
    handlers = {n: handler for n in _SIGNALS if main and (handler := signal.getsignal(n)) is not None}
    masks = hasattr(signal, "pthread_sigmask")
    if masks:
        from multiprocessing import resource_tracker

        resource_tracker.ensure_running()  # once it runs: in Python 3.11 its start would let the signals through again
    for number in handlers:
        signal.signal(number, lambda n, frame: came.append(n))
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS) if masks else set()
    try:
        yield
    finally:
        if masks:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        for number, handler in handlers.items():
            signal.signal(number, handler)
        for late in dict.fromkeys(came):
            signal.raise_signal(late)


def _away(started_by: int, folder: str, call: Callable[..., Any], given: tuple[Any, ...]) -> Any:
    if os.getpid() != started_by:  # within a process of a pool joblib may start none
        _begin(folder)
    return call(*given)


@cache
def _begin(folder: str) -> None:
    """The first thing that another process does."""
    if os.path.isdir(folder):
        tempfile.tempdir = folder
    if threading.current_thread() is threading.main_thread():
        for number in _SIGNALS:
            signal.signal(number, signal.SIG_IGN)
