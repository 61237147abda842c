"""Tables of JSON lines: an object on each line. Looked at once as a whole, since any line may have a key or a type of its own."""

from __future__ import annotations

import json
from pathlib import Path

from ..core.errors import InputError
from . import dialect
from .duckdb import DuckTable, folder, literal, name_of, run, serial, spell_path

_WHOLE, _NUMBERS = {"BIGINT", "UBIGINT"}, {"BIGINT", "UBIGINT", "DOUBLE"}


def are_json_lines(start: bytes) -> bool:
    """Whether a file begins with lines of objects: the second line, where there is one, begins like one, too."""
    lines = [line for line in start.removeprefix(b"\xef\xbb\xbf").split(b"\n", 4)[:3] if line.strip()]
    if not lines or not all(line.lstrip().startswith(b"{") for line in lines):
        return False
    try:
        return isinstance(json.loads(lines[0]), dict)
    except (ValueError, RecursionError):
        return False


def json_lines(path: Path) -> DuckTable:
    """A file of JSON lines, copied to the private folder; a key that a line does not have is missing there.

    A column is of numbers or of truth values where all of its values are; else of texts, as they stand, like integers of 2^63 and more.
    """
    rows = f"read_json_objects({spell_path(path)}, format = 'newline_delimited', compression = 'auto_detect')"
    copy = folder() / f"{next(serial)}.parquet"
    try:
        kinds = run(f"SELECT json_type(json), count(*) FROM {rows} GROUP BY ALL", str(path))
        if not kinds:
            raise InputError(f"{path}: the file is empty; a table needs one line per row.")
        if {kind for kind, _ in kinds} != {"OBJECT"}:
            raise InputError(
                f"{path}: one line is not an object; each line must be {{...}} with a value for each column."
            )
        entries = (
            f"SELECT map_entries(CAST(json AS MAP(VARCHAR, JSON))) AS pairs, row_number() OVER () AS i FROM {rows}"
        )
        each = f"SELECT unnest(pairs) AS pair, i, generate_subscripts(pairs, 1) AS place FROM ({entries})"
        fits = "bool_and(TRY_CAST(json_extract_string(pair.value, '$') AS BIGINT) IS NOT NULL)"
        asked = f"SELECT pair.key, json_type(pair.value), min(i * 100000 + place), {fits} FROM ({each}) GROUP BY ALL"
        fields = run(asked, str(path))
    except InputError as error:
        if "cannot read it" not in str(error):
            raise
        raise InputError(
            f"{path}: one line is not JSON, or is cut short; each line must be a whole object {{...}}."
        ) from None
    types: dict[str, set[str | None]] = {}
    large = {name for name, kind, _, fits in fields if kind in _WHOLE and not fits}
    for name, kind, *_ in sorted(fields, key=lambda row: row[2]):  # in the order in which the lines bring them
        types.setdefault(name, set()).add(kind)
    names = tuple(types)
    dialect.check_names(names, path)
    cells = []
    for name in names:
        kinds_of = types[name] - {"NULL", None}
        if kinds_of & {"OBJECT", "ARRAY"}:
            raise InputError(f"{path}: column {name!r} holds nested values; bring plain values only, a key for each.")
        text = f"json_extract_string(json, {literal(_pointer(name))})"
        kind = "VARCHAR"
        if kinds_of and kinds_of <= _NUMBERS and name not in large:
            kind = "BIGINT" if kinds_of <= _WHOLE else "DOUBLE"
        elif kinds_of == {"BOOLEAN"}:
            kind = "BOOLEAN"
        cells.append(f"CAST({text} AS {kind}) AS {name_of(name)}")
    run(f"COPY (SELECT {', '.join(cells)} FROM {rows}) TO {literal(str(copy))} (FORMAT parquet)", str(path))
    return DuckTable.of(str(path), f"SELECT * FROM read_parquet({spell_path(copy)})")


def _pointer(name: str) -> str:
    """A key as a JSON pointer."""
    return "/" + name.replace("~", "~0").replace("/", "~1")
