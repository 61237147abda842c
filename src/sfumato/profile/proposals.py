"""What an owner is to confirm in the roles file: people with several rows, codes for missing, and, in comments, what differential privacy needs.

How the file is written was seen in its rows, and so were the ends of its numbers, which are rounded outwards. A mechanism that
took them as they are would let one row decide. In a comment they wait for somebody who knows what is public. No value is written but
the codes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..core.people import PEOPLE_ROWS, Repeated
from ..core.roles import Roles, spell_key, spell_toml
from ..core.sizes import LARGEST
from ..core.stated_reading import missing_codes
from .suggestions import ProfiledColumn

_SAID = (
    "For mechanisms with differential privacy alone (dp_... and local_noise), which learn nothing from the rows. What follows was read",
    "from this table, so that a single row may have decided it: hold each line against what is public knowledge, correct it, and only then",
    'take its # away. What is not stated is fixed: utf-8, a comma, ", a header, decimal points, dates as they stand.',
)


def proposals(
    seen: Sequence[ProfiledColumn], roles: Roles, written: Mapping[str, Any], repeated: Repeated | None = None
) -> str:
    """What is to be confirmed, to stand behind the roles: people with several rows and codes for missing, which hold, and the comments."""
    missing = _missing(seen, roles, written)
    if missing:
        written = {key: value for key, value in written.items() if key != "missing"}
    lines = [*_SAID, "[reading]", *(f"{key} = {spell_toml(value)}" for key, value in written.items()), "", "[domains]"]
    there = (*roles.quasi, *roles.sensitive, *roles.insensitive)
    for column in seen:
        if column.name in there and column.name not in roles.orders and roles.taxonomy(column.name) is None:
            lines.append(_domain(column))
    held = [*_people(roles, repeated), *_households(roles), *missing]
    return "\n".join([*held, "", *(f"# {line}".rstrip() for line in lines), ""])


def _people(roles: Roles, repeated: Repeated | None) -> list[str]:
    if repeated is None or not roles.people:
        return []
    rows = f"{repeated.rows:,} rows are of {repeated.people:,} people, by {repeated.column!r}"
    return [
        "",
        f"[people]  # {rows}",
        *(f"{key} = {spell_toml(value)}  # {PEOPLE_ROWS[value]}" for key, value in roles.people.items()),
        "# If each row is another person all the same, take out [people] and person, and write one_row_per_person = true in [roles].",
    ]


def _households(roles: Roles) -> list[str]:
    """How to count households, for an owner to whom one of them is what must be hidden."""
    if roles.household is None:
        return []
    if roles.people:
        return ['# count = "households"  # in [people]: each class then holds k different households']
    return [
        "",
        "# [people]",
        '# count = "households"  # each class then holds k different households, not only k different people',
    ]


def _missing(seen: Sequence[ProfiledColumn], roles: Roles, written: Mapping[str, Any]) -> list[str]:
    codes = {column.name: column.codes.reason for column in seen if column.codes}
    if not codes or not roles.missing:
        return []
    lines = [f"{spell_key(name)} = {spell_toml(texts)}  # {codes[name]}" for name, texts in roles.missing]
    lines += [
        f"{spell_key(name)} = {spell_toml(texts)}  # as it was said when the table was read"
        for name, texts in missing_codes(written.get("missing", ()))
    ]
    return ["", "[reading.missing]  # read as missing in every verb: take out what is a value", *lines]


def _domain(seen: ProfiledColumn) -> str:
    """A range for numbers; of other columns only that their values are to be stated."""
    key, numbers = spell_key(seen.name), seen.column.numbers
    known = numbers[np.isfinite(numbers)] if numbers is not None else np.zeros(0)
    if seen.guess.kind not in ("numeric", "ordinal") or not len(known):
        return f'{key} = ["...", "..."]  # the values that it may have, in the spelling of the file'
    if np.abs(known).max() > LARGEST:
        return f'{key} = "...:..."  # the range that it may have; some of its numbers cannot be meant'
    low, high = outwards(float(known.min()), float(known.max()))
    return f'{key} = "{low}:{high}"'


def outwards(low: float, high: float) -> tuple[str, str]:
    """Two numbers around these with one digit of their distance: 17 and 90 lie between 10 and 90."""
    places = math.floor(math.log10(high - low)) if high > low else 0
    unit = 10.0**places
    ends = math.floor(low / unit) * unit, (math.floor(high / unit) + 1) * unit
    digits = max(0, -places)
    return f"{ends[0]:.{digits}f}", f"{ends[1]:.{digits}f}"
