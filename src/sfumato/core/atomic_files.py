"""Give several files their names together: whatever interrupts it, the names show old files only or new files only.

No file system renames two files at once. So a journal under a hidden name says what is going to happen. Before it stands there,
everything is as it was; from then on the new files are whole under hidden names, and whoever comes next can finish:

    1. the journal is written
    2. the old files are set aside under hidden names, the one that stands for the set (the last) first
    3. the new files get their names, that one last
    4. the old files and the journal are removed

At each moment the names show files of one run alone, and the last name stands only where all do. A failing disk leads back to the old
files, an interruption forward to the new ones; after a kill the next run goes forward (core/leftovers.py). It touches nothing that
was put there since: each file is known by its inode and time.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from .hidden_names import hidden_name, owner, stale
from .noun import dataclass

JOURNAL = "-renames"
"""How the name of a journal ends."""


@dataclass(frozen=True)
class Rename:
    """One step: `hidden` becomes `target`, and what has that name now goes `aside`. All are names in one folder."""

    hidden: str | None
    """None where the old file is only removed."""
    target: str
    aside: str
    new: tuple[int, ...] | None
    old: tuple[int, ...] | None


@dataclass(frozen=True)
class JournalState:
    """What became of a journal: which names were finished, and which hidden names are still needed for another attempt."""

    finished: tuple[str, ...] = ()
    needed: frozenset[str] = frozenset()


def rename_together(moves: Sequence[tuple[Path, Path]], remove: Sequence[Path] = ()) -> None:
    """Give hidden files or folders of one folder their names there, all or none; `remove` goes with what is replaced.

    The last target stands for the set. Where an OSError is raised, everything is as before.
    """
    folder = moves[-1][1].parent
    for hidden, _ in moves:
        _settle_all(hidden)
    if len(moves) == 1 and not remove:
        hidden, target = moves[0]
        if not (target.is_dir() and not target.is_symlink()):
            hidden.replace(target)
            settle(folder)
            return
        if exchange(hidden, target):  # the old folder has the hidden name now, and goes with it
            settle(folder)
            return
    steps = [Rename(None, path.name, hidden_name(), None, _identity(path)) for path in remove]
    steps += [Rename(h.name, path.name, hidden_name(), _identity(h), _identity(path)) for h, path in moves]
    journal = folder / hidden_name(JOURNAL)
    draft = folder / hidden_name()
    try:
        draft.write_text(json.dumps([vars(step) for step in steps]), encoding="utf-8")
        _settle_all(draft)
        draft.replace(journal)  # from here on it is going to happen
    finally:
        draft.unlink(missing_ok=True)
    try:
        settle(folder)
        _forward(folder, steps)
    except OSError:
        _back(folder, steps)
        journal.unlink()
        raise
    except BaseException:  # an interruption: the shortest way to a whole set is on
        _forward(folder, steps)
        _done(journal, steps)
        raise
    _done(journal, steps)


def exchange(one: Path, other: Path) -> bool:
    """Let two folders change their names at once, where the system can; whether it could."""
    library = ctypes.CDLL(None, use_errno=True)
    names = os.fsencode(one), os.fsencode(other)
    if hasattr(library, "renameat2"):  # Linux: RENAME_EXCHANGE is 2, AT_FDCWD is -100
        return bool(library.renameat2(-100, names[0], -100, names[1], ctypes.c_uint(2)) == 0)
    if hasattr(library, "renamex_np"):  # macOS: RENAME_SWAP is 2
        return bool(library.renamex_np(names[0], names[1], ctypes.c_uint(2)) == 0)
    return False


def discard(*paths: Path) -> None:
    """Remove what hidden names still hold, unless a journal of this process needs it, since neither way could be gone to its end."""
    for path in paths:
        if any(path.parent.glob(f".{owner()}*{JOURNAL}")):
            continue
        with contextlib.suppress(OSError):
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)


def finish_renames(journal: Path) -> JournalState:
    """Go on where a process that is no more was killed; only names of its own are moved, and nothing that it did not know is replaced."""
    folder = journal.parent
    try:
        steps = list(_read(journal))
    except (OSError, ValueError, TypeError, KeyError):
        return JournalState()
    if any(_identity(folder / step.target) not in (None, step.old, step.new) for step in steps):
        return JournalState()  # somebody has written there since: theirs stands, and what is hidden goes
    try:
        _forward(folder, steps)
    except OSError:
        return JournalState(needed=frozenset([journal.name, *_hidden_names(steps)]))
    return JournalState(finished=tuple(step.target for step in steps if step.new is not None))


def settle(folder: Path) -> None:
    """Make renames last through a power cut, where the system can."""
    if hasattr(os, "O_DIRECTORY"):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _forward(folder: Path, steps: Sequence[Rename]) -> None:
    for step in reversed(steps):
        if step.old is not None and _identity(folder / step.target) == step.old:
            (folder / step.target).replace(folder / step.aside)
    for step in steps:
        if step.hidden is not None and _identity(folder / step.hidden) == step.new:
            (folder / step.hidden).replace(folder / step.target)
    settle(folder)


def _back(folder: Path, steps: Sequence[Rename]) -> None:
    for step in reversed(steps):
        if step.hidden is not None and _identity(folder / step.target) == step.new:
            (folder / step.target).replace(folder / step.hidden)
    for step in steps:
        if step.old is not None and _identity(folder / step.aside) == step.old:
            (folder / step.aside).replace(folder / step.target)


def _done(journal: Path, steps: Iterable[Rename]) -> None:
    for step in steps:
        aside = journal.parent / step.aside
        with contextlib.suppress(OSError):
            shutil.rmtree(aside) if aside.is_dir() and not aside.is_symlink() else aside.unlink(missing_ok=True)
    journal.unlink(missing_ok=True)


def _read(journal: Path) -> Iterator[Rename]:
    """The steps of a journal; ValueError for whatever this program would not have written."""
    whose = journal.name[: journal.name.rindex("-", 0, -len(JOURNAL)) + 1]
    if journal.is_symlink():
        raise ValueError
    for entry in json.loads(journal.read_text(encoding="utf-8")):
        step = Rename(**{name: _plain(value) for name, value in entry.items()})
        if Path(step.target).name != step.target or step.target in ("", ".", ".."):
            raise ValueError
        for name in _hidden_names([step]):
            if not (name.startswith(whose) and stale(name) and Path(name).name == name):
                raise ValueError
        yield step


def _plain(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _hidden_names(steps: Iterable[Rename]) -> list[str]:
    return [name for step in steps for name in (step.hidden, step.aside) if name is not None]


def _identity(path: Path) -> tuple[int, ...] | None:
    """What stays of a file when it is renamed: its inode and the time of its content; None where there is none."""
    try:
        status = path.stat(follow_symlinks=False)
    except OSError:
        return None
    return (status.st_ino,) if path.is_dir() else (status.st_ino, status.st_mtime_ns)


def _settle_all(path: Path) -> None:
    """Have the content on the disk before its name is."""
    for file in path.rglob("*") if path.is_dir() else [path]:
        if file.is_file():
            with file.open("rb") as handle:
                os.fsync(handle.fileno())
