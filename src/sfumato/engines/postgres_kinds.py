"""How the types of PostgreSQL are grouped, fetched and compared, each written once.

Rows are grouped by a value as the server holds it, and texts by their bytes, whatever their collation. What comes back is spelled in
Python by `core.column`. What PostgreSQL itself must spell, to compare it with a text of ours, it spells in the same way.
"""

from __future__ import annotations

import re

import pyarrow as pa

from .server_table import Kind

_C = '({})::text COLLATE "C"'
_SHOWN = "COALESCE({}::text, '') COLLATE \"C\""
PLAIN = Kind(_SHOWN)
TEXT = Kind(key=_C, ordered=_C, value=f"NULLIF({_C}, '')", compared=f"COALESCE({_C}, '')")
FLOAT = Kind(
    key="({})::float8",
    value="NULLIF(({})::float8, 'NaN') + 0.0::float8",  # -0 is 0; single precision is spelled by its double
    compared="COALESCE(({})::float8 + 0.0::float8, 'NaN')",
    number="float",
)
SHOWN = Kind(_SHOWN, ordered=_C, fetched="({})::text")
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
