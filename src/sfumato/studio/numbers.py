"""Numbers that an owner types, with a comma or a point."""

from __future__ import annotations

import math

from ..core.errors import InputError
from ..core.metric import Requirement, spell_number
from ..metrics import require


def typed_number(text: str) -> float | None:
    """What was typed as a number; None where it is none."""
    try:
        number = float(text.strip().replace(",", "."))
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def limit_number(text: str) -> str:
    """A bound as a requirement spells it."""
    number = typed_number(text)
    if number is None:
        raise InputError("A limit must be a number, such as 5 or 0.1.")
    return spell_number(number)


def moved_limit(limit: Requirement, text: str) -> Requirement:
    """A limit at another bound; the same where the page only rounded it."""
    moved = require(f"{limit.metric} {limit.sign} {limit_number(text)}")
    return limit if text.strip() == f"{limit.bound:g}" else moved
