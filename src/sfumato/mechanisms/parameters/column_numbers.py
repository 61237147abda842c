"""A number for each of several columns in one text, `age=3, sex=1`, so that the command line can give them."""

from __future__ import annotations

import math

from ...core.errors import InputError
from .stated_domains import entries


def by_column(text: str, who: str, key: str) -> dict[str, float]:
    """The numbers by column; an odd name stands in quotes: `"a, b"=3, sex=1`."""
    numbers = {}
    for name, part in entries(text, who, key).items():
        try:
            numbers[name] = float(part)
        except ValueError:
            numbers[name] = math.nan
        if math.isnan(numbers[name]):
            raise InputError(f"{who}: {key} gives column {name!r} no number; write for example {key}=age=3,sex=1.")
    return numbers


def one_or_by_column(given: str | float, who: str, key: str) -> dict[str, float]:
    """The same, or a single number for every column, under the empty name."""
    try:
        return {"": float(given)}
    except ValueError:
        return by_column(str(given), who, key)
