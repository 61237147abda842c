"""Every published sanitizer, one file each. A file that defines the class of its own name is registered."""

from __future__ import annotations

import difflib
import importlib
import pkgutil
from collections.abc import Mapping
from functools import cache

from ..core.errors import InputError
from ..core.mechanism import Mechanism


@cache
def registry() -> Mapping[str, type[Mechanism]]:
    """Every mechanism by name."""
    found: dict[str, type[Mechanism]] = {}
    for info in pkgutil.iter_modules(__path__):
        if not info.ispkg:
            module = importlib.import_module(f"{__name__}.{info.name}")
            found[info.name] = getattr(module, "".join(part.title() for part in info.name.split("_")))
    return found


def mechanism(name: str) -> type[Mechanism]:
    """A mechanism by name."""
    if name not in registry():
        near = difflib.get_close_matches(name, registry(), n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(registry())}."
        raise InputError(f"No mechanism {name!r}; {hint}")
    return registry()[name]
