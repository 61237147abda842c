"""Blanks around the fields of a file: they are no part of a value, so they are left out, and that is told column by column."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ..core.errors import InputError
from ..core.spelling import BLANKS
from ..core.words import counted
from .duckdb import DuckTable, literal, name_of, run


def trimmed(table: DuckTable, blanks: Callable[[], bool]) -> DuckTable:
    """The table without blanks around its values; a value of nothing but blanks is missing.

    `blanks` tells whether there can be some at all: most files have none, and their rows are not looked at.
    """
    names = [name for name in table.columns if table.types[name] == "VARCHAR"]
    if not names or not blanks():
        return table
    source, _, times = table._source()
    rows = "1" if times is None else name_of(times)
    cells = {name: f"trim({name_of(name)}, {literal(BLANKS)})" for name in names}
    sums = ", ".join(f"sum({rows}) FILTER (WHERE {name_of(name)} <> {cell})" for name, cell in cells.items())
    try:
        (fields,) = run(f"SELECT {sums} FROM ({source})", table.name)
    except InputError:  # the file cannot be read: said, with the line, by whoever first needs its rows
        return table
    many = {name: int(n) for name, n in zip(names, fields, strict=True) if n}
    if not many:
        return table
    return table.each({name: cells[name] for name in many}, [blanks_note(many)])


def blanks_note(fields: Mapping[str, int]) -> str:
    """What is said of so many fields of these columns."""
    where = ", ".join(f"{name!r} ({counted(n, 'field')})" for name, n in fields.items())
    return f"blanks around values left out: {where}"
