"""Cells that a spreadsheet would run: those that begin with = + - @, a tab or a line end and are no numbers.

They can be neutralised: such a cell is written with an apostrophe before it, and so is a cell that begins with apostrophes and then
one of these signs, so that no two values become equal. One apostrophe off every cell that begins with apostrophes and then a sign
undoes it, since no other cell of a neutralised file begins so.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from .table import Table

SIGNED = "^'*[=+\\-@\\t\\r\\n]"
"""How a cell begins that may run, or that looks as if it had been neutralised; in the words that the engines read, too."""
NUMBER = "^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?$"
_TEXTS = ("VARCHAR", "ENUM", "INTERVAL")
_SIGNED, _NUMBER = re.compile(SIGNED), re.compile(NUMBER[:-1] + "\\Z")


def runs(text: str | None) -> bool:
    """Whether a spreadsheet may take a cell for a formula."""
    return text is not None and not text.startswith("'") and neutralised_text(text) != text


def neutralised_text(text: str) -> str:
    """The text as it is written: `=a` is `'=a`, `'=a` is `''=a`; -5 and plain texts stay."""
    return f"'{text}" if _SIGNED.match(text) and not _NUMBER.match(text) else text


def plain_text(text: str) -> str:
    """The text that was neutralised."""
    return text[1:] if text.startswith("'") and _SIGNED.match(text) else text


def is_text(kind: str) -> bool:
    """Whether cells of this type may begin with a sign and be no numbers."""
    return kind.startswith(_TEXTS)


def formula_cells(table: Table, among: Callable[[str | None], bool] = runs) -> dict[str, int]:
    """How many cells of each column a spreadsheet may take for a formula; the column's own name counts as one of them.

    Over the distinct values of every column, which a release has few of.
    """
    by_column = {}
    kinds = getattr(table, "types", {})  # where the engine knows them, numbers and dates need no look
    for name in table.columns:
        cells = int(among(name))
        if is_text(kinds.get(name, "VARCHAR")):
            counts = table.count((name,))
            texts = counts.columns[0].texts
            cells += sum(int(n) for code, n in zip(counts.codes[0], counts.n, strict=True) if among(texts[code]))
        if cells:
            by_column[name] = cells
    return by_column


def neutralisable_cells(table: Table) -> dict[str, int]:
    """How many cells of each column, its name among them, are written otherwise when formulas are neutralised."""
    return formula_cells(table, lambda text: text is not None and neutralised_text(text) != text)


def apostrophes(table: Table) -> dict[str, int]:
    """How many cells of each column look as if formulas had been neutralised."""
    return formula_cells(table, lambda text: text is not None and plain_text(text) != text)


def formula_warning(cells: dict[str, int], where: str) -> str:
    """A sentence: how many and in which columns, never which."""
    return (
        f"{where}: {_counted(cells)} with = + - @, a tab or a line end ({_columns(cells)}); a spreadsheet "
        "may run them as formulas: open the file as text, give these values other names, or neutralise them with --neutralise-formulas."
    )


def neutralised_note(cells: dict[str, int], where: str) -> str:
    """A sentence for whoever gets the file: what was done to how many cells, and how to undo it."""
    return (
        f"{where}: {_counted(cells)} with = + - @, a tab or a line end ({_columns(cells)}) and would run as formulas in a spreadsheet; "
        "each is written with an apostrophe before it. To undo it, take one apostrophe off every cell and column name that begins with "
        "apostrophes followed by one of these signs; `sfumato verify --neutralise-formulas` does so before it measures."
    )


def _counted(by_column: dict[str, int]) -> str:
    cells = sum(by_column.values())
    return f"{cells:,} {'cell begins' if cells == 1 else 'cells begin'}"


def _columns(cells: dict[str, int]) -> str:
    return ", ".join(repr(name) for name in cells)
