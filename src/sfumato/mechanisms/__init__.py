"""Every published sanitizer, one file each. A file that defines the class of its own name is registered.

So is what other packages name in the entry point group `sfumato.mechanisms`.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import cache

from ..core.errors import InputError, hint
from ..core.mechanism import Mechanism
from ..core.plugins import plugins, room_modules


@cache
def registry() -> Mapping[str, type[Mechanism]]:
    """Every mechanism by name."""
    items = {
        name: getattr(module, "".join(part.title() for part in name.split("_")))
        for name, module in room_modules(sys.modules[__name__])
    }
    return items | plugins("sfumato.mechanisms", Mechanism, items)


def mechanism(name: str) -> type[Mechanism]:
    """A mechanism by name."""
    if name not in registry():
        meant = hint(name, registry(), f"there are {', '.join(registry())}.")
        raise InputError(f"No mechanism {name!r}; {meant}")
    return registry()[name]
