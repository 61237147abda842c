"""Where metrics, mechanisms and attacks are found: one file each in their room, and in any installed package by an entry point.

A room's file `my_measure.py` defines its item under a name that follows from the file's. Another package names its items in the
groups `sfumato.metrics`, `sfumato.mechanisms` and `sfumato.attacks`, under the name on the card. What cannot be loaded is an error
that names the package: a requirement must never be dropped because its metric is missing.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from .errors import InputError


def room_modules(*rooms: ModuleType) -> Iterator[tuple[str, ModuleType]]:
    """The files of these rooms that hold an item each, by name; folders and files with an underscore hold helpers."""
    for room in rooms:
        for name in sorted(info.name for info in pkgutil.iter_modules(room.__path__) if not info.ispkg):
            if not name.startswith("_"):
                yield name, importlib.import_module(f"{room.__name__}.{name}")


def room_module(name: str, *rooms: ModuleType) -> ModuleType | None:
    """The file of this name in these rooms, imported alone; None where there is none."""
    for room in rooms:
        where = f"{room.__name__}.{name}"
        if name.isidentifier() and not name.startswith("_") and find_spec(where) is not None:
            return importlib.import_module(where)
    return None


_HUNG: dict[str, tuple[str, ...]] = {}


def hang(group: str, *rooms: str) -> None:
    """Let the items of further rooms count to a group. The package says so, which knows all rooms: no room names one below it."""
    _HUNG[group] = rooms


def hung(group: str) -> list[ModuleType]:
    """The rooms that were hung into a group."""
    return [importlib.import_module(room) for room in _HUNG.get(group, ())]


def plugins(group: str, kind: type, taken: Iterable[str]) -> dict[str, Any]:
    """What installed packages add to a group: instances or subclasses of `kind` by name, none of which is `taken`."""
    from importlib.metadata import entry_points

    items: dict[str, Any] = {}
    for entry in sorted(entry_points(group=group), key=lambda entry: entry.name):
        where = f"{entry.dist.name if entry.dist else 'A package'}: the entry point {entry.name!r} of {group!r}"
        if entry.name in (*taken, *items):
            raise InputError(f"{where} takes a name that another item has; rename one, or uninstall the package.")
        try:
            item: Any = entry.load()
        except Exception as failure:
            raise InputError(
                f"{where} cannot be loaded ({type(failure).__name__}); mend or uninstall the package."
            ) from failure
        if not issubclass(item if isinstance(item, type) else type(item), kind):
            raise InputError(f"{where} is no {kind.__name__}; see CONTRIBUTING.md.")
        if item.card.name != entry.name:
            raise InputError(f"{where} is called {item.card.name!r} on its card; both must be the same.")
        items[entry.name] = item
    return items
