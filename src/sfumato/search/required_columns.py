"""What a sanitizer must look at before it starts: the sensitive columns that its requirements ask for."""

from __future__ import annotations

from collections.abc import Iterable

from ..core.errors import InputError
from ..core.metric import Metric
from ..core.roles import Roles


def sensitive_columns(metrics: Iterable[Metric], roles: Roles) -> tuple[str, ...]:
    """The sensitive columns that these metrics look at."""
    found: dict[str, None] = {}
    for metric in metrics:
        if "sensitive" in metric.card.needs:
            columns = [metric.column] if metric.column else roles.sensitive
            if not columns:
                raise InputError(f"{metric} needs a sensitive column; {roles.source} names none.")
            for column in columns:
                if column in roles.quasi:
                    raise InputError(f"{metric}: column {column!r} is a quasi-identifier in {roles.source}.")
                if column not in (*roles.sensitive, *roles.insensitive):
                    raise InputError(
                        f"{metric}: column {column!r} is neither sensitive nor insensitive in {roles.source}, so it is not "
                        "released and cannot be measured; give it a role."
                    )
                found[column] = None
    return tuple(found)
