"""A release that is its original with some tuples replaced."""

from __future__ import annotations

from typing import Any

from .release import Release
from .roles import Roles
from .table import Recoding, Table


def recoded(table: Table, roles: Roles, recoding: Recoding, **more: Any) -> Release:
    """The columns that may be released, recoded, with the original beside them for measuring."""
    kept = table.keep(roles.released(table.columns))
    return Release(table=kept.recode(recoding), original=table, recoding=recoding, **more)
