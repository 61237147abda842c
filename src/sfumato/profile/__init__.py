"""Look at a raw table before anything is published: column kinds, suggested roles, uniqueness, risky combinations.

The room and its one verb share a name, so the room itself can be called: `sfumato.profile(table)` means
`sfumato.profile.table.profile(table)`, whichever of the two was imported first.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


class _Room(ModuleType):
    def __call__(self, *given: Any, **options: Any) -> Any:
        from .table import profile

        return profile(*given, **options)


sys.modules[__name__].__class__ = _Room
