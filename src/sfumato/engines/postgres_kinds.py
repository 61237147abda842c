"""How the types of PostgreSQL are grouped, fetched and compared, each written once.

Rows are grouped by a value as the server holds it, and texts by their bytes, whatever their collation. What comes back is spelled in
Python by `core.column`. What PostgreSQL itself must spell, to compare it with a text of ours, it spells in the same way.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation

import pyarrow as pa

from ..core.arrow import floats, strings
from ..core.column import number_of
from ..core.noun import dataclass


@dataclass(frozen=True)
class Kind:
    """SQL over a value `{}`: what rows are grouped and ordered by, what is fetched of a group, missing as NULL, and what it is compared by, without NULL."""

    key: str = "{}"
    ordered: str = "{}"
    fetched: str = "{}"
    value: str = "{}"
    compared: str = "COALESCE({}::text, '') COLLATE \"C\""
    arrow: pa.DataType | None = None
    """The type that fetched texts stand for."""
    number: str = ""
    """How a number is compared, "float" or "decimal", so that 1.50 is 1.5."""

    def reads(self, text: str) -> bool:
        """Whether a text can be a value of it."""
        return not self.number or not math.isnan(number_of(text))

    def spelled(self, texts: Sequence[str | None]) -> pa.Array:
        """Values of ours as `compared` says those of the server."""
        if self.number == "float":
            return floats([number_of(text) for text in texts])  # NaN stands for missing, and is equal to itself there
        if self.number == "decimal":
            return strings([_plain(text) for text in texts])
        return strings(["" if text is None else text for text in texts])


def _plain(text: str | None) -> str:
    """A number without an exponent and without zeros behind, as trim_scale spells it."""
    try:
        number = Decimal(text or "")
    except InvalidOperation:
        return text or ""
    spelled = f"{number:f}"
    return (spelled.rstrip("0").rstrip(".") if "." in spelled else spelled) if number.is_finite() and number else "0"


_C = '({})::text COLLATE "C"'
PLAIN = Kind()
TEXT = Kind(key=_C, ordered=_C, value=f"NULLIF({_C}, '')", compared=f"COALESCE({_C}, '')")
FLOAT = Kind(
    key="({})::float8",
    value="NULLIF(({})::float8, 'NaN') + 0.0::float8",  # -0 is 0; single precision is spelled by its double
    compared="COALESCE(({})::float8 + 0.0::float8, 'NaN')",
    number="float",
)
SHOWN = Kind(ordered=_C, fetched="({})::text")
"""Grouped as the server holds it, spelled by the server."""
_MOMENT = 'YYYY-MM-DD"T"HH24:MI:SS'
TIMESTAMP = Kind(
    compared=f"COALESCE(CASE WHEN {{0}} = date_trunc('second', {{0}}) THEN to_char({{0}}, '{_MOMENT}') "
    f"ELSE to_char({{0}}, '{_MOMENT}.US') END, '') COLLATE \"C\""
)
_KINDS = {
    **dict.fromkeys(("int2", "int4", "int8", "bool", "date"), PLAIN),
    **dict.fromkeys(("text", "varchar", "bpchar", "name", "char", "citext", "interval", "unknown"), TEXT),
    **dict.fromkeys(("uuid", "timestamptz", "time", "timetz", "oid", "inet", "cidr", "macaddr", "macaddr8"), SHOWN),
    **dict.fromkeys(("float4", "float8"), FLOAT),
    "timestamp": TIMESTAMP,
}
_SCALED = re.compile(r"numeric\((\d+),(\d+)\)")


def kind_of(name: str, whole: str, sort: str) -> Kind | None:
    """The kind of a column by its base type, that type with its modifiers, and what sort of type it is ("e": an enumeration); None for one that is not counted.

    Extremes: numeric(10,2) comes as decimals of that scale; numeric without a scale as texts without zeros behind.
    """
    if name != "numeric":
        return SHOWN if sort == "e" else _KINDS.get(name)
    known = "NULLIF({}, 'NaN')"
    compared = f"COALESCE(trim_scale({known})::text, '') COLLATE \"C\""
    scaled = _SCALED.fullmatch(whole)
    if scaled is not None and int(scaled[2]) <= int(scaled[1]) <= 38:
        kept = pa.decimal128(int(scaled[1]), int(scaled[2]))
        return Kind(fetched=f"({known})::text", value=known, compared=compared, arrow=kept, number="decimal")
    return Kind(fetched=f"trim_scale({known})::text", value=known, compared=compared, number="decimal")
