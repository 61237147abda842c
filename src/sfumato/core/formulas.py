"""Cells that a spreadsheet would run: those that begin with = + - @, a tab or a carriage return and are no numbers."""

from __future__ import annotations

import math

from .table import Table

SIGNS = ("=", "+", "-", "@", "\t", "\r")


def formula_cells(table: Table) -> dict[str, int]:
    """How many cells of each column a spreadsheet may take for a formula; the column's own name counts as one of them.

    Over the distinct values of every column, which a release has few of.
    """
    found = {}
    kinds = getattr(table, "types", {})  # where the engine knows them, numbers and dates need no look
    for name in table.columns:
        if kinds.get(name, "VARCHAR") != "VARCHAR":
            if _runs(name):
                found[name] = 1
            continue
        counts = table.count((name,))
        texts = counts.columns[0].texts
        cells = sum(int(n) for code, n in zip(counts.codes[0], counts.n, strict=True) if _runs(texts[code]))
        if cells := cells + _runs(name):
            found[name] = cells
    return found


def formula_warning(found: dict[str, int], where: str) -> str:
    """A sentence: how many and in which columns, never which."""
    columns = ", ".join(repr(name) for name in found)
    cells = sum(found.values())
    return (
        f"{where}: {cells:,} {'cell begins' if cells == 1 else 'cells begin'} with = + - @, a tab or a line end ({columns}); a spreadsheet "
        "may run them as formulas: open the file as text, or give these values other names."
    )


def _runs(text: str | None) -> bool:
    if text is None or not text.startswith(SIGNS):
        return False
    try:
        return math.isnan(float(text))
    except ValueError:
        return True
