"""A release that is its original with some tuples replaced."""

from __future__ import annotations

from typing import Any

from .release import Release
from .roles import Roles
from .table import Recoding, Table


def recoded(table: Table, roles: Roles, recoding: Recoding, **more: Any) -> Release:
    """The columns that may be released, recoded, with the original beside them for measuring."""
    released = roles.released(table.columns)
    house = [name for name in recoding.by if name not in released]  # rows may be told apart by whose they are
    kept = table.keep([*released, *house]).recode(recoding)
    joined = [str(roles.person)] if roles.linked and roles.person in recoding.to else []  # replaced by fresh numbers
    return Release(table=kept.keep([*released, *joined]) if house else kept, original=table, recoding=recoding, **more)
