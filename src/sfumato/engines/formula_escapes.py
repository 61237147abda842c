"""A table as it is written when formulas are neutralised, and back: cells and column names, by the rule of core.formulas."""

from __future__ import annotations

from dataclasses import replace

from ..core.errors import InputError, Unavailable
from ..core.formulas import NUMBER, SIGNED, formula_cells, is_text, neutralised_text, plain_text
from ..core.table import Table
from .duckdb import DuckTable, literal, name_of


def neutralised(table: Table) -> Table:
    """The same rows, in which no cell and no column name runs as a formula; different values stay different."""
    plain = _duck(table)
    cells = {}
    for name in plain.columns:
        if is_text(plain.types[name]):
            text = f"CAST({name_of(name)} AS VARCHAR)"
            begins = f"regexp_matches({text}, {literal(SIGNED)}) AND NOT regexp_matches({text}, {literal(NUMBER)})"
            cells[name] = f"CASE WHEN {begins} THEN '''' || {text} ELSE {text} END"
    return plain.each(cells, names={name: neutralised_text(name) for name in plain.columns})


def plain(table: Table) -> Table:
    """The table that was neutralised; one with a cell that runs was not, and is refused."""
    if running := formula_cells(table):
        raise InputError(
            f"{table.name}: cells in {', '.join(map(repr, running))} begin with = + - @, a tab or a line end, so that it was not "
            "written with --neutralise-formulas; leave that out."
        )
    return _plain(_duck(table))


def _plain(table: DuckTable) -> DuckTable:
    cells = {}
    for name in table.columns:
        if table.types[name] == "VARCHAR":
            text = name_of(name)
            begins = f"starts_with({text}, '''') AND regexp_matches({text}, {literal(SIGNED)})"
            cells[name] = f"CASE WHEN {begins} THEN substr({text}, 2) ELSE {text} END"
    made = table.each(cells, names={name: plain_text(name) for name in table.columns})
    made = replace(made, reading=table.reading, written=table.written, points=frozenset(map(plain_text, table.points)))
    if table.spelled is None:
        return made
    before, spellings = table.spelled  # how it is spelled may still be settled by an original
    return replace(made, spelled=(_plain(before), {plain_text(name): each for name, each in spellings.items()}))


def _duck(table: Table) -> DuckTable:
    here = table.fetched()
    if not isinstance(here, DuckTable):
        raise Unavailable(f"{table.name}: this engine cannot neutralise formulas; use the DuckDB engine.")
    return here
