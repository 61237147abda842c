"""Whether a hierarchy rule can be meant, before any column is looked at: `age = { widths = [5, 10] }`.

A rule that could build nothing, or levels that do not nest, is refused where it is written, whether or not it is ever used. An
empty list has no level but `*`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from typing import Any

from .errors import InputError

CALENDAR = ("day", "month", "quarter", "year", "decade")
BUILDING = ("widths", "cuts", "quantiles", "dates", "prefix")
KEYS = (*BUILDING, "origin", "suppress", "nominal", "file", "unknown", "text", "neutralised")


def check_rule(where: str, rule: Mapping[str, Any]) -> None:
    """Refuse a rule whose numbers or names cannot stand there; `where` is what the sentence begins with."""
    named = [name for name in BUILDING if name in rule]
    if len(named) > 1:
        raise InputError(f"{where}: {' and '.join(named)} are two rules; give one.")
    if "origin" in rule and not (named == ["widths"] and _finite(rule["origin"])):
        raise InputError(f"{where}: origin must be a number, and belongs to widths.")
    if rule.get("nominal") and named:
        raise InputError(
            f"{where}: nominal says that the values have no order, so {named[0]} cannot build levels; give one of them."
        )
    for name in ("suppress", "nominal", "text", "neutralised"):
        if not isinstance(rule.get(name, False), bool):
            raise InputError(f"{where}: {name} must be true or false.")
    if named:
        given = rule[named[0]]
        listed = list(given) if isinstance(given, list | tuple) else [given]
        _CHECKS[named[0]](where, listed)


def _finite(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < math.inf


def _widths(where: str, steps: list[Any]) -> None:
    if not all(_finite(step) for step in steps):
        raise InputError(f"{where}: widths takes a list of numbers.")
    if any(step <= 0 for step in steps):
        raise InputError(f"{where}: widths must be above 0.")
    for low, high in itertools.pairwise(steps):
        times = high / low
        if times < 1 or (times < 2**53 and not math.isclose(times, round(times), rel_tol=1e-9)):
            raise InputError(f"{where}: width {high:g} is no multiple of {low:g}, so its levels do not nest.")


def _cuts(where: str, edges: list[Any]) -> None:
    levels = [list(level) if isinstance(level, list | tuple) else None for level in edges]
    ladder = [edges] if all(level is None for level in levels) else levels
    if any(level is None or not all(_finite(edge) for edge in level) for level in ladder):
        raise InputError(f"{where}: cuts takes a list of numbers, or one list of numbers for each level.")
    for fine, coarse in itertools.pairwise(ladder):
        if not set(coarse or ()) <= set(fine or ()):
            raise InputError(f"{where}: every cut of a higher level must also be one of the level below it.")


def _quantiles(where: str, parts: list[Any]) -> None:
    if any(not isinstance(count, int) or isinstance(count, bool) or count < 1 for count in parts):
        raise InputError(f"{where}: quantiles takes numbers of parts, each at least 1.")
    if max(parts, default=0) > 1_000_000:
        raise InputError(f"{where}: quantiles takes at most 1,000,000 parts.")
    for fine, coarse in itertools.pairwise(parts):
        if fine % coarse:
            raise InputError(f"{where}: {coarse} parts do not divide {fine}, so its levels do not nest.")


def _dates(where: str, units: list[Any]) -> None:
    if any(unit not in CALENDAR for unit in units) or units != sorted(units, key=CALENDAR.index):
        raise InputError(f"{where}: dates takes, from fine to coarse, some of {', '.join(CALENDAR)}.")


def _prefix(where: str, masked: list[Any]) -> None:
    if len(masked) == 1 and isinstance(masked[0], bool):
        return
    if any(not isinstance(step, int) or isinstance(step, bool) or step <= 0 for step in masked):
        raise InputError(f"{where}: prefix counts the characters masked at each level, each above 0.")


_CHECKS = {"widths": _widths, "cuts": _cuts, "quantiles": _quantiles, "dates": _dates, "prefix": _prefix}
