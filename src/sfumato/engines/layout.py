"""Where the table lies among the cells of a sheet or the lines of a file: titles above it, one header row or two, totals below it.

People write reports, not tables. What is left out and which row names the columns is guessed by shape alone, told in a note with
the number of the row, and corrected by an option. Rows are never dropped without such a note, except empty ones.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

from ..core.errors import InputError
from ..core.noun import dataclass
from ..core.sheet_places import cell_range, checked_skip, header_rows, joined_names, spell_rows
from ..core.spelling import MARKS
from .subtotals import subtotals

Cells = Sequence[Sequence[Any]]
_VALUE = re.compile(r"^\s*[+-]?\d[\d.,:/ -]*\s*%?$")  # a number or a date as text
_TOTAL = re.compile(
    r"(?i)^\s*(grand |sub[- ]?)?(totals?|totale|totaal|summe|gesamt(summe|zahl|ergebnis)?|insgesamt|somme|suma|sum|soma|"
    r"total g[ée]n[ée]ral|zwischensumme|Σ)\s*:?\s*$"
)
_SUMMARY = re.compile(
    r"(?i)^\s*((grand |sub[- ]?)?totals?|summen?|gesamt|insgesamt|anzahl|mittelwert|durchschnitt|standardabweichung|average|mean|median|count|"
    r"min(imum)?|max(imum)?|moyenne|media|promedio|gemiddelde)\b"
)
"""What begins a row of figures about the column above; a row may begin so, too, so its other cells must mostly be empty."""
_NOTE = re.compile(
    r"(?i)^\s*([*†‡¹²³]+\s*[^\W\d]|\d\)|(quelle|source|stand|hinweise?|anmerkung(en)?|notes?|legende|fuente|fonte|bron|printed|erstellt|created)\b)"
)
_MARK = re.compile(rf"\s*({MARKS}|(?i:[*.:?/_–—-]+|x|empty|leer|suppressed|withheld|confidential))\s*")
"""What stands in a cell instead of its value: it names no column."""
_LOOKED_AT = 200
"""Rows below the header that tell what a column holds."""
_FAR = 30
"""Rows from the top among which the header is looked for."""
_span = range  # an option has that name


@dataclass(frozen=True)
class Layout:
    """Rows and columns by position, from 0: the header's rows (none where there is no header), the body, the columns, their names."""

    header: tuple[int, ...]
    body: tuple[int, ...]
    columns: tuple[int, ...]
    names: tuple[str, ...]
    notes: tuple[str, ...]
    stated: Mapping[str, Any] = field(default_factory=dict)
    """What its owner would state to have it read so: `header_row`, `totals`."""


def find(
    cells: Cells,
    *,
    header: bool | None = None,
    header_row: str | int | None = None,
    skip: int | None = None,
    range: str | None = None,
    totals: bool | None = None,
    whole: bool = True,
    row: str = "row",
) -> Layout:
    """Where the table lies; what is not given is guessed.

    `cells` are the rows as they stand, the empty ones too. `whole`: whether these are all, so that the last one is the last.
    """
    top, left, right, bottom = (0, 0, None, None) if range is None else cell_range(range)
    top = max(top, checked_skip(skip))
    rows = [i for i, each in enumerate(cells) if i >= top and (bottom is None or i <= bottom)]
    wide = [j for j in _span(left, max((len(each) for each in cells), default=0)) if right is None or j <= right]
    rows = [i for i in rows if any(_filled(cells[i], j) for j in wide)]
    if range is None:
        wide = [j for j in wide if any(_filled(cells[i], j) for i in rows)]
    if not rows or not wide:
        return Layout((), (), tuple(wide), (), ())
    notes: list[str] = []
    if header is False:
        if header_row is not None:
            raise InputError("--no-header and --header-row contradict each other; give only one.")
        chosen: tuple[int, ...] = ()
    elif header_row is not None:
        chosen = header_rows(header_row)
        if not set(chosen) <= set(rows):
            raise InputError(f"--header-row: {row} {chosen[-1] + 1} is empty, or lies outside of what is read.")
    else:
        chosen = _header(cells, rows, wide) if range is None and skip is None else _two(cells, rows, wide, rows[0])
        notes += _header_notes(chosen, rows, row)
    start = chosen[-1] + 1 if chosen else 0
    body = [i for i in rows if i >= start]
    if range is None:  # a column that only a title reaches into is none
        wide = [j for j in wide if any(_filled(cells[i], j) for i in (*chosen, *body))]
    inside, others = subtotals(cells, body, wide) if whole and totals is not False else ([], [])
    if inside:
        body = [i for i in body if i not in set(inside)]
        notes += subtotal_notes([i + 1 for i in inside], [i + 1 for i in others], row)
    ends = _ending(cells, body, wide) if whole and totals is not False else []
    if totals and not ends:
        ends = body[-1:]
    if ends:
        body = body[: -len(ends)]
        notes.append(f"{_rows(ends, row)} below the table, totals or notes, left out; keep: --no-totals")
    rows_of_names = [[cells[i][j] if _filled(cells[i], j) else "" for j in wide] for i in chosen]
    names = joined_names(rows_of_names) if chosen else tuple(f"column{i}" for i, _ in enumerate(wide, 1))
    said: dict[str, Any] = {"header_row": spell_rows(chosen)} if chosen and (len(chosen) > 1 or chosen[0]) else {}
    said |= {"totals": True} if len(ends) == 1 else {}
    return Layout(chosen, tuple(body), tuple(wide), names, tuple(notes), said)


def subtotal_notes(found: Sequence[int], kept: Sequence[int], row: str) -> list[str]:
    """What is said of totals in the middle of a table, by the numbers of their rows."""
    notes = [f"{_listed(found, row)} called totals, with the sums of rows above them, left out; keep: --no-totals"]
    if kept:
        notes.append(
            f"{_listed(kept, row)} called totals too, but their numbers are no sums of rows above them: kept; look at them"
        )
    return notes


def _listed(at: Sequence[int], row: str) -> str:
    if len(at) == 1:
        return f"{row} {at[0]},"
    shown, more = at[:8], len(at) - 8
    named = (
        ", ".join(map(str, shown[:-1])) + f" and {shown[-1]}"
        if more <= 0
        else ", ".join(map(str, shown)) + f" and {more} more"
    )
    return f"{row}s {named},"


def _header_notes(chosen: tuple[int, ...], rows: Sequence[int], row: str) -> list[str]:
    above = [i for i in rows if i < chosen[0]]
    if not above and len(chosen) == 1:
        return []
    said = f"{_rows(above, row)} above the table left out; " if above else ""
    named = f"{_rows(chosen, row)} name{'s' if len(chosen) == 1 else ''} the columns"
    return [f"{said}{named}; another: --header-row"]


def _rows(at: Sequence[int], row: str) -> str:
    if len(at) == 1:
        return f"{row} {at[0] + 1}"
    return f"{row}s {at[0] + 1} {'and' if len(at) == 2 else 'to'} {at[-1] + 1}"


def _filled(line: Sequence[Any], j: int) -> bool:
    return j < len(line) and not (line[j] is None or (isinstance(line[j], str) and not line[j].strip()))


def _wordy(value: Any) -> bool:
    """Whether a cell can name a column in a report: a text that is no number and no date."""
    return isinstance(value, str) and not _VALUE.match(value)


def _header(cells: Cells, rows: Sequence[int], wide: Sequence[int]) -> tuple[int, ...]:
    """The first row that names at least half of the columns, and more than a title: what stands above it are titles."""
    most = max(sum(_filled(cells[i], j) for j in wide) for i in rows[: _LOOKED_AT + _FAR])
    for i in rows[:_FAR]:
        there = [j for j in wide if _filled(cells[i], j)]
        pair = _two(cells, rows, wide, i)
        if len(pair) == 2:
            return pair
        if 2 * len(there) > most or most <= 1:
            return (i,)
    return (rows[0],)


def _two(cells: Cells, rows: Sequence[int], wide: Sequence[int], first: int) -> tuple[int, ...]:
    """A row and the one right below it where both name columns together, else the row alone.

    They do where all their cells are words, both are not mere titles, the first alone does not tell the columns apart (a group's name
    stands once above its columns, or over each), together they name every one, and what is below tells that the second is no row of
    data: a column of numbers with a name there. A whole header is never joined with what is below it, or the first row of a table
    would be lost where it holds `NA` or `*`; nor is one that only lacks the name of the first column, as an index has it. What stands
    for a missing or suppressed value names nothing.
    """
    second = first + 1
    later = [i for i in rows if i > second][:_LOOKED_AT]
    used = [j for j in wide if any(_filled(cells[i], j) for i in later)]
    if second not in rows or not later or not used:
        return (first,)
    upper, lower = ({j for j in used if _filled(cells[i], j)} for i in (first, second))
    if not all(_wordy(cells[i][j]) for i, there in ((first, upper), (second, lower)) for j in there):
        return (first,)
    if len(upper) < 2 or not upper | lower >= set(used):
        return (first,)
    names = {str(cells[first][j]).strip() for j in upper}
    index = upper == set(used[1:]) and len(lower) == len(used)
    if len(names) == len(used) or (index and len(names) == len(upper)):
        return (first,)
    numbers = [j for j in used if all(not _wordy(cells[i][j]) for i in later if _filled(cells[i], j))]
    below = [cells[second][j] for j in numbers if j in lower]
    named = bool(below) and not any(_MARK.fullmatch(text) for text in below)
    return (first, second) if len(later) >= 3 and named else (first,)


def _ending(cells: Cells, body: Sequence[int], wide: Sequence[int]) -> list[int]:
    """The rows at the end that are no rows of the table: totals, and notes that an empty row sets apart, that stand below a total, or are called notes."""
    start = end = len(body)
    while start > 2:
        i = body[start - 1]
        there = [j for j in wide if _filled(cells[i], j)]
        lone = len(there) == 1 and len(wide) > 2 and _wordy(cells[i][there[0]])
        total = _total(cells, body[:start], wide)
        if (not lone and not total) or any(cells[i] == cells[other] for other in body[start:]):
            break  # of rows that are alike only one is the total
        start -= 1
        if total or body[start - 1] < i - 1 or _NOTE.match(cells[i][there[0]]):
            end = start
    return list(body[end:])


def below(cells: Cells, columns: int) -> list[int]:
    """The last rows that are no rows of a table of so many columns: totals and notes, as `find` leaves them out."""
    wide = range(columns)
    return _ending(cells, [i for i, row in enumerate(cells) if any(_filled(row, j) for j in wide)], wide)


def called_total(row: Sequence[str]) -> bool:
    """Whether the first field of a row that is not empty calls it a total."""
    there = [field for field in row if field.strip()]
    return bool(there) and bool(_TOTAL.match(there[0]))


def _total(cells: Cells, body: Sequence[int], wide: Sequence[int]) -> bool:
    """Whether the last row is called a total, and is unlike a row: cells are empty that mostly are not, or its numbers are sums."""
    *others, last = body
    there = [j for j in wide if _filled(cells[last], j)]
    name = cells[last][there[0]] if there else None
    if not isinstance(name, str) or not (_TOTAL.match(name) or _SUMMARY.match(name)):
        return False
    sample = others[-_LOOKED_AT:]
    full = [j for j in wide if 2 * sum(_filled(cells[i], j) for i in sample) > len(sample)]
    empty = sum(j not in there for j in full)
    if empty > (0 if _TOTAL.match(name) else len(full) / 2):
        return True
    if not _TOTAL.match(name):
        return False
    numbers = [j for j in there if isinstance(cells[last][j], int | float)]
    return any(
        abs(
            sum(cells[i][j] for i in others if _filled(cells[i], j) and isinstance(cells[i][j], int | float))
            - cells[last][j]
        )
        <= 1e-9 * abs(cells[last][j])
        for j in numbers
    )
