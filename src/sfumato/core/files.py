"""Write a file completely or not at all."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path

from .errors import InputError
from .leftovers import hidden_beside


def write_whole(path: Path, text: str) -> None:
    """Write a text under a hidden name beside its own, then rename."""
    _written(path, lambda hidden: hidden.write_text(text, encoding="utf-8"))


def write_whole_bytes(path: Path, content: bytes) -> None:
    """The same for bytes."""
    _written(path, lambda hidden: hidden.write_bytes(content))


def _written(path: Path, write: Callable[[Path], object]) -> None:
    hidden = hidden_beside(path)
    try:
        write(hidden)
        hidden.replace(path)
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({type(error).__name__}).") from None
    finally:
        with contextlib.suppress(OSError):
            hidden.unlink(missing_ok=True)
