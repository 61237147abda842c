"""How the types of Spark are grouped, fetched and compared, each written once.

Rows are grouped by a value as Spark holds it, and texts by their bytes, whatever their collation. What comes back is spelled in Python
by `core.column`; what Spark itself must spell, to compare it with a text of ours, it spells in the same way.
"""

from __future__ import annotations

import re

import pyarrow as pa

from .server_table import Kind

_BYTES = "({} COLLATE UTF8_BINARY)"
_SHOWN = "COALESCE(CAST({} AS string), '')"
_DOUBLE = "CAST({} AS double)"
PLAIN = Kind(_SHOWN)
TEXT = Kind("COALESCE({}, '')", value="NULLIF({}, '')")
COLLATED = Kind(f"COALESCE({_BYTES}, '')", key=_BYTES, ordered=_BYTES, value=f"NULLIF({_BYTES}, '')")
_NUMBER = f"(CASE WHEN isnan({_DOUBLE.format('{0}')}) THEN NULL ELSE {_DOUBLE.format('{0}')} + 0.0D END)"
FLOAT = Kind(
    f"COALESCE({_DOUBLE} + 0.0D, double('NaN'))",
    key=_DOUBLE,  # single precision is spelled by its double
    ordered=_NUMBER,
    value=_NUMBER,  # -0 is 0
    number="float",
)
_MOMENT = "yyyy-MM-dd''T''HH:mm:ss".replace("''", "\\'")
MOMENT = Kind(
    f"COALESCE(CASE WHEN {{0}} = date_trunc('SECOND', {{0}}) THEN date_format({{0}}, '{_MOMENT}') "
    f"ELSE date_format({{0}}, '{_MOMENT}.SSSSSS') END, '')"
)
_IN_UTC = "CAST({} AS string) || '+00'"
INSTANT = Kind(f"COALESCE({_IN_UTC}, '')", fetched=_IN_UTC)
"""A moment that every time zone shows in another way, told as in PostgreSQL, at UTC."""
_KINDS = {
    **dict.fromkeys(("tinyint", "smallint", "int", "bigint", "boolean", "date"), PLAIN),
    **dict.fromkeys(("float", "double"), FLOAT),
    "string": TEXT,
    "timestamp": INSTANT,
    "timestamp_ntz": MOMENT,
}
_SCALED = re.compile(r"decimal\((\d+),(\d+)\)")
_LENGTH = re.compile(r"(?:var)?char\(\d+\)")


def kind_of(name: str) -> Kind | None:
    """The kind of a column by what Spark calls its type; None for one that is not counted.

    Extremes: decimal(10,2) comes as decimals of that scale; arrays, maps, structures, bytes, intervals and variants are refused.
    """
    scaled = _SCALED.fullmatch(name)
    if scaled is not None:
        text = "CAST({} AS string)"
        trimmed = f"trim(TRAILING '.' FROM trim(TRAILING '0' FROM {text}))" if int(scaled[2]) else text
        kept = pa.decimal128(int(scaled[1]), int(scaled[2]))
        return Kind(f"COALESCE({trimmed}, '')", arrow=kept, number="decimal")
    if name.startswith("string collate ") or _LENGTH.fullmatch(name):
        return COLLATED
    return _KINDS.get(name)
