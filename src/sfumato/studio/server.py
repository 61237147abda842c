"""Serve a studio on this machine's own address until it is interrupted."""

from __future__ import annotations

import logging
import os
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from html import escape
from pathlib import Path

from ..core.errors import InputError, SfumatoError
from ..report.html import javascript
from .app import application
from .desk import Desk
from .security import Keys

LOOPBACK = "127.0.0.1"


def serve(desk: Desk, *, port: int, browser: bool, tell: Callable[[str], None]) -> None:
    """Listen, tell the address, and answer until an interruption; then end the children."""
    import uvicorn

    # what is not HTTP was answered with a 4xx; a line for each would flood a terminal, or stop a server whose lines nobody reads
    logging.getLogger("uvicorn").addHandler(logging.NullHandler())
    listener = _listener(port)
    keys = Keys.new(listener.getsockname()[1])
    config = uvicorn.Config(
        application(desk, keys),
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=False,
        proxy_headers=False,
        ws="none",
        http="h11",
        lifespan="off",
        limit_concurrency=64,
        h11_max_incomplete_event_size=1 << 16,
        timeout_graceful_shutdown=1,
    )
    with _entrance(desk, keys) as entrance:
        tell(keys.address)
        threading.Thread(target=_prepare, daemon=True).start()
        if browser and _has_screen():
            webbrowser.open(entrance.absolute().as_uri())
        try:
            with suppress(KeyboardInterrupt):
                uvicorn.Server(config).run(sockets=[listener])
        finally:
            listener.close()
            desk.jobs.close()


def _prepare() -> None:
    """Build what draws the map while the owner looks at the first pages; without it the map's table stands alone."""
    with suppress(SfumatoError):
        javascript()


def _listener(port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    if os.name != "nt":  # there it would let another program take the port, too
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((LOOPBACK, port))
        listener.listen(128)
    except OSError as error:
        listener.close()
        raise InputError(
            f"--port {port}: this port cannot be used ({error.strerror or type(error).__name__}); take another, or leave it out."
        ) from None
    return listener


@contextmanager
def _entrance(desk: Desk, keys: Keys) -> Iterator[Path]:
    """A page, for the owner alone to read, that leads a browser in: an address on a command line could be read by every user."""
    path = desk.folder.private / "enter.html"
    path.unlink(missing_ok=True)
    text = f'<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0;url={escape(keys.address)}"><title>Sfumato</title>'
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
    try:
        yield path
    finally:
        path.unlink(missing_ok=True)


def _has_screen() -> bool:
    """Whether a browser would open in a window, and not in this terminal."""
    return sys.platform in ("win32", "darwin") or any(name in os.environ for name in ("DISPLAY", "WAYLAND_DISPLAY"))
