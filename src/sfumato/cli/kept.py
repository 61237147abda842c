"""Results that a run keeps in a folder, so that the same command goes on after an interruption."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

after_interruption: list[str] = []
"""What a user should know whose interruption ends the run; the command line says it."""


@contextmanager
def keeping(folder: Path | None, *, shared: bool = False) -> Iterator[None]:
    """A part of a run whose results are kept in a folder: who interrupts it, or sees it fail, is told that they are.

    A folder that this run made is removed again, and those above it, if nothing of worth came to lie there. A `shared` one holds
    results of other runs, too, so that only what is new is this one's.
    """
    from ..core.errors import SfumatoError

    if folder is None:
        yield
        return
    made = [each for each in (folder, *folder.parents) if not each.exists()]
    before = {path.name for path in folder.glob("*")}
    try:
        yield
    except BaseException as error:
        kept = _kept(folder)
        if isinstance(error, KeyboardInterrupt) and (kept - before if shared else kept):
            after_interruption.append(f"what was computed is kept in {folder}, and the same command goes on from there")
        elif isinstance(error, SfumatoError) and kept - before:
            error.args = (f"{error} What was measured is kept in {folder}.",)
        _clear(folder, made)
        raise


def _kept(folder: Path) -> set[str]:
    """The files of a folder that keep a result; that something cannot be made is none."""
    from ..core.kept_files import unsealed

    names = {path.name for path in folder.glob("*.npz")}
    for path in folder.glob("*.json"):
        try:
            entry = unsealed(path.read_bytes())
            content = {} if entry is None else json.loads(entry)
        except (OSError, ValueError):
            continue
        if not (isinstance(content, dict) and content.get("failure")):
            names.add(path.name)
    return names


def _clear(folder: Path, made: list[Path]) -> None:
    """Remove what this run made and has nothing of worth in it; a folder that is not empty stays."""
    if folder in made and folder.is_dir() and not _kept(folder):
        for path in (*folder.glob("*.json"), *folder.glob("*.jsonl")):
            path.unlink(missing_ok=True)
    for each in made:
        try:
            each.rmdir()
        except OSError:
            return
