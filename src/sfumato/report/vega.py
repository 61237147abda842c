"""The library that draws, where the system lets it: its engine reserves address space by the tens of gigabytes, and aborts without.

What it reserves it does not use, so that only a limit of address space (ulimit -v) stands in its way, never the memory there is.
"""

from __future__ import annotations

from types import ModuleType

from ..core.errors import InputError
from ..core.processes import address_space

LEAST = 72 << 30
"""Bytes of address space; measured: 65 GB with everything else that is loaded."""


def check() -> None:
    """Refuse a limit under which drawing would abort the process, where nothing could be caught and said."""
    limit = address_space()
    if limit is not None and limit < LEAST:
        raise InputError(
            f"the system allows this process {limit >> 20:,} MB of address space (ulimit -v), but drawing figures reserves "
            f"{LEAST >> 30} GB, most of which it never uses; raise the limit, or write Markdown documents where the verb has --formats "
            "md."
        )


def vl_convert() -> ModuleType:
    """The library, loaded."""
    check()
    import vl_convert

    return vl_convert
