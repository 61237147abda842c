"""Write a file, or a set of files, completely or not at all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from .atomic_files import discard, rename_together
from .errors import InputError
from .leftovers import hidden_beside


def write_whole(path: Path, text: str) -> None:
    """Write a text under a hidden name beside its own, then rename."""
    write_whole_bytes(path, text.encode("utf-8"))


def write_whole_bytes(path: Path, content: bytes) -> None:
    """The same for bytes."""
    write_together(path.parent, {path.name: content})


def write_together(folder: Path, contents: Mapping[str, bytes], remove: Sequence[str] = ()) -> None:
    """Write files that belong together, by name: all old or all new. The last stands for the set; `remove` goes with the old ones."""
    hidden = {name: hidden_beside(folder / name) for name in contents}
    path = folder
    try:
        for name, content in contents.items():
            path = folder / name
            if path.is_dir():
                raise IsADirectoryError
            hidden[name].write_bytes(content)
        rename_together([(hidden[name], folder / name) for name in contents], [folder / name for name in remove])
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({type(error).__name__}).") from None
    finally:
        discard(*hidden.values())
