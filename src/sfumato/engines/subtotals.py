"""Totals in the middle of a table: a row after each block of rows that is called a total and holds their sums.

A name alone is no evidence, since a category may be called Total, and a sum alone is none, since numbers happen to add up. So both are
asked for, of every number in the row, and that the row is unlike the others: a cell is empty that mostly is not (some of the numbers may be
means then), or the same holds of every other row that is called so. A block begins at the top or behind an earlier total, so that totals of totals are known, too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ..core.spelling import MARKS, decide, look

Cells = Sequence[Sequence[Any]]
_CALLED = re.compile(
    r"(?i)^\s*((grand |sub[- ]?)?totals?|totale|totaal|(zwischen|teil|gesamt)?summen?|gesamt(zahl|ergebnis)?|insgesamt|somme|sous-total|suma|soma|"
    r"Σ)\b.{0,80}$|^\s*\S.{0,80}\s(totals?|(zwischen|teil|gesamt)?summe|ergebnis|insgesamt)\s*:?\s*$"
)
"""How such rows are called: Summe, Subtotal, Summe Station 3, and as spreadsheets write it, Station 3 Ergebnis."""
TOTAL_WORDS = re.compile(r"(?i)total|totaal|summe|gesamt|somme|suma|soma|ergebnis|Σ")
"""What is in the name of each of them."""
_MOST = 10_000
"""Rows called totals from which on it is a category, and no report."""
_NESTED = 100
"""Earlier totals behind which a sum may begin, beside the top."""
_LEAST = 2
"""Rows with numbers above one of them at least: else a row would be the total of itself alone."""


def called_subtotal(row: Sequence[Any]) -> bool:
    """Whether the first cell of a row that is not empty calls it a total."""
    name = next((cell for cell in row if not _empty(cell)), None)
    return isinstance(name, str) and _CALLED.match(name) is not None


def subtotals(cells: Cells, body: Sequence[int], wide: Sequence[int]) -> tuple[list[int], list[int]]:
    """Rows of the body that are totals of the rows above them, and rows that are called so and are not; neither where no row is.

    Extremes: none in a table that has no row called a total, none where no number adds up, and none where all stand at the end: those are
    judged as the last rows.
    """
    named = [i for i in body if called_subtotal([cells[i][j] for j in wide if j < len(cells[i])])]
    if not named or len(named) > _MOST:
        return [], []
    suspects = set(named)
    rows = [i for i in body if i not in suspects]
    numbers = {j: values for j in wide if (values := _numbers(cells, body, rows, j))}
    full = [j for j in wide if 2 * sum(not _empty(_cell(cells, i, j)) for i in rows) > len(rows)]
    sums = _RunningSums(numbers)
    found, settled, whole = [], False, False
    for i in body:
        if i not in suspects:
            sums.add(i)
            continue
        there = {j: values[i] for j, values in numbers.items() if i in values}
        hits = {j: sums.rows_of(j, value) for j, value in there.items()}
        lacks = any(_empty(_cell(cells, i, j)) for j in full)
        if any(hits.values()) and all(n or (lacks and sums.is_mean(j, there[j])) for j, n in hits.items()):
            found.append(i)
            whole |= not lacks
            settled |= any(n >= _LEAST and there[j] for j, n in hits.items())
            sums.close()
        elif lacks:  # a total that is wrong, or of something else: the next block may begin behind it
            sums.close()
        else:  # a row like any other
            sums.add(i)
    if not settled or found[0] > max(i for i in body if i not in set(found)):
        return [], []
    others = [i for i in named if i not in set(found)]
    return ([], []) if others and whole else (found, others)


class _RunningSums:
    """Sums of each column over the rows since the top and since every total so far."""

    def __init__(self, numbers: Mapping[int, Mapping[int, float]]) -> None:
        self._numbers = numbers
        self._upto = dict.fromkeys(numbers, 0.0)
        self._rows = dict.fromkeys(numbers, 0)
        self._starts = [(dict(self._upto), dict(self._rows))]

    def add(self, row: int) -> None:
        """Count a row."""
        for j, values in self._numbers.items():
            if row in values:
                self._upto[j] += values[row]
                self._rows[j] += 1

    def close(self) -> None:
        """A total stands here."""
        self._starts.append((dict(self._upto), dict(self._rows)))

    def rows_of(self, j: int, value: float) -> int:
        """How many rows up to here add up to a value, from the last total or an earlier one on; 0 where none do."""
        for upto, rows in (*reversed(self._starts[-_NESTED:]), self._starts[0]):
            n = self._rows[j] - rows[j]
            if n and abs(self._upto[j] - upto[j] - value) <= 1e-9 * max(1.0, abs(self._upto[j]), abs(value)):
                return n
        return 0

    def is_mean(self, j: int, value: float) -> bool:
        """Whether a value is the mean of the rows since the last total, as far as it is spelled out."""
        upto, rows = self._starts[-1]
        n = self._rows[j] - rows[j]
        mean = (self._upto[j] - upto[j]) / max(n, 1)
        return bool(n) and any(
            abs(round(mean, digits) - value) <= 1e-9 * max(1.0, abs(value)) for digits in (0, 1, 2, 3)
        )


def _numbers(cells: Cells, body: Sequence[int], rows: Sequence[int], j: int) -> dict[int, float]:
    """The numbers of a column by row; none where it is no column of numbers. Texts are read as the column spells numbers."""
    texts = [cell for i in body if isinstance(cell := _cell(cells, i, j), str)]
    way = decide(look(text.strip() for text in texts)).way if texts else None
    numbers = {}
    for i in body:
        cell = _cell(cells, i, j)
        if isinstance(cell, bool) or _empty(cell):
            continue
        if isinstance(cell, int | float):
            numbers[i] = float(cell)
        elif isinstance(cell, str) and (way is None or not way.sign):
            plain = cell.strip() if way is None else way.plain(cell.strip())
            if re.fullmatch(r"[+-]?[0-9]+(\.[0-9]+)?", plain):
                numbers[i] = float(plain)
            elif not re.fullmatch(MARKS, plain):
                return {}
        else:
            return {}
    return numbers if any(i in numbers for i in rows) else {}


def _cell(cells: Cells, i: int, j: int) -> Any:
    return cells[i][j] if j < len(cells[i]) else None


def _empty(cell: Any) -> bool:
    return cell is None or (isinstance(cell, str) and not cell.strip())
