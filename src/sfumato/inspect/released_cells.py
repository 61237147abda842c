"""Released rows as what they may stand for: the owner's expressions asked of generalized values.

A released value is spread evenly over the values of the original that it covers, as the metric query_error does (LeFevre et al. 2006).
A cell is one way to read a row; what holds in all cells of a row is certain, what holds in one is possible.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ..core.arrow import floats, take
from ..core.column import Column, FloatArray, IntArray
from ..core.counts import Counts
from ..core.errors import InputError, Unavailable
from ..core.group_join import Joined
from ..core.noun import dataclass
from ..core.release import Evidence
from ..core.runs import spread
from ..metrics.utility.column_distance import spread as spread_values
from ..metrics.utility.entropy_utility import expected, joint
from ..mining.weights import evaluate

MOST = 20_000_000
"""Cells that are looked at together."""
Flags = npt.NDArray[np.bool_]
_QUOTED = r"""'(?:[^']|'')*'|"(?:[^"]|"")*\""""


def named(expression: str, columns: Sequence[str], where: str) -> tuple[str, tuple[str, ...]]:
    """The expression with every column's name quoted that needs it (marital-status), and the columns that it names."""
    known = {name.casefold(): name for name in columns}
    odd = [name for name in columns if not re.fullmatch(r"[A-Za-z_]\w*", name)]
    names = "|".join(rf"(?<!\w){re.escape(name)}(?!\w)" for name in sorted(odd, key=len, reverse=True))
    named_columns: dict[str, None] = {}

    def quote(match: re.Match[str]) -> str:
        text = match[0]
        if text.startswith("'"):
            return text
        name = known.get((text[1:-1].replace('""', '"') if text.startswith('"') else text).casefold())
        if name is None:
            return text
        named_columns[name] = None
        return text if text.startswith('"') else '"' + name.replace('"', '""') + '"'

    pattern = "|".join([_QUOTED, *([names] if names else []), r"\b[^\W\d]\w*\b(?!\s*\()"])
    spelled = re.sub(pattern, quote, expression, flags=re.IGNORECASE)
    if not named_columns:
        raise InputError(f"{where}: {expression!r} names no column of the original.")
    return spelled, tuple(name for name in columns if name in named_columns)


@dataclass(frozen=True, eq=False)
class Cells:
    """`n` rows of each distinct tuple; the cells of tuple `row`, each with its share of the tuple and a value a column.

    `known` says where every value of a cell is one of the original's or a number; elsewhere nothing can be asked.
    """

    n: IntArray
    row: IntArray
    share: FloatArray
    columns: dict[str, Column]
    codes: dict[str, IntArray]
    """The place of each cell's value in the column, then in the numbers that only the release has."""
    elsewhere: dict[str, FloatArray]
    known: Flags

    @property
    def plain(self) -> bool:
        """Whether every row can be read in one way only."""
        return len(self.row) == len(self.n)

    @property
    def rows(self) -> int:
        """The rows behind the cells."""
        return int(self.n.sum())

    def holds(self, expression: str, where: str) -> Flags:
        """Where an expression over the columns is true; what is NULL is not."""
        arrays = {name: self._array(name) for name in self.codes}
        holds: Flags = (evaluate(expression, arrays, len(self.row), where) != 0) & self.known
        return holds

    def _array(self, name: str) -> pa.Array:
        column, codes = self.columns[name], self.codes[name]
        values = len(column.values)
        place = np.where(codes >= len(column), codes - (len(column) - values), codes)
        place = np.where((codes >= values) & (codes < len(column)), 2**40, place)  # missing
        if column.numbers is not None:
            return take(floats(np.append(column.numbers[:values], self.elsewhere[name])), place)
        return take(column.values, place)

    def numbers(self, name: str, where: str) -> FloatArray:
        """A column of numbers, one a cell; NaN where it is missing."""
        numbers = self.columns[name].numbers
        if numbers is None:
            raise InputError(f"{where}: column {name!r} is not all numbers in the original.")
        every = np.concatenate([numbers, self.elsewhere[name], [np.nan]])
        return every[np.minimum(self.codes[name], len(every) - 1)]

    def least(self, value: FloatArray) -> FloatArray:
        """For each tuple the least over its cells."""
        lowest = np.full(len(self.n), np.inf)
        np.minimum.at(lowest, self.row, value)
        return np.where(np.isfinite(lowest), lowest, 0.0)

    def largest(self, value: FloatArray) -> FloatArray:
        """For each tuple the largest over its cells."""
        return -self.least(-value)


def before(evidence: Evidence, columns: Sequence[str], why: str) -> Cells:
    """The original: every value stands for itself."""
    counts = joint(evidence.original(why), columns, why)
    codes = dict(zip(counts.names, counts.codes, strict=True))
    every, none = np.arange(len(counts)), {name: np.zeros(0) for name in codes}
    kept = {column.name: column for column in counts.columns}
    return Cells(counts.n, every, np.ones(len(counts)), kept, codes, none, np.ones(len(counts), dtype=bool))


def after(evidence: Evidence, columns: Sequence[str], why: str) -> Cells:
    """The release: every value stands for what it covers."""
    origin = joint(evidence.original(why), columns, why)
    counts, row, share, n = _tuples(expected(evidence, columns, why), columns, why)
    known = np.ones(len(row), dtype=bool)
    made: dict[str, IntArray] = {}
    kept, more = {}, {}
    for name in columns:
        column, code = counts[name]
        first = origin.column(name)
        even = spread_values(evidence, first, column, why)
        entry, at = _readings(np.bincount(even.released, minlength=len(column)), code, why)
        row, share, known = row[at], share[at] * even.share[entry], known[at]
        made = {other: codes[at] for other, codes in made.items()}
        counts = {other: (c, codes[at]) for other, (c, codes) in counts.items()}
        made[name] = even.value[entry]
        known &= made[name] < len(first) + len(even.elsewhere)
        kept[name], more[name] = first, even.elsewhere
    return Cells(n, row, share, kept, made, more, known)


def _readings(length: IntArray, code: IntArray, why: str) -> tuple[IntArray, IntArray]:
    """All that each code may stand for, `length` of each code one after the other: which, and of which entry."""
    if int(length[code].sum()) > MOST:
        raise Unavailable(f"{why}: the released values can be read in too many ways to look at them all.")
    start = np.cumsum(length) - length
    return spread(start[code], start[code] + length[code])


Coded = dict[str, tuple[Column, IntArray]]


def _tuples(counts: Counts | Joined, columns: Sequence[str], why: str) -> tuple[Coded, IntArray, FloatArray, IntArray]:
    """The released tuples; where groups alone join two files, each tuple of the first with all that its group may give it."""
    if isinstance(counts, Joined) and len(counts.parts) == 1:
        counts = counts.parts[0]
    if isinstance(counts, Counts):
        coded = {name: (counts.column(name), counts.code(name)) for name in columns}
        return coded, np.arange(len(counts)), np.ones(len(counts)), counts.n
    if len(counts.parts) != 2:
        raise Unavailable(f"{why} reads a release of two files at most.")
    (first, second), (g, h) = counts.parts, counts.group
    order = np.argsort(h, kind="stable")
    at, row = _readings(np.bincount(h, minlength=len(counts.size)), g, why)
    other = order[at]
    share = second.n[other] / counts.size[g[row]]
    coded = {}
    for part, which in ((first, row), (second, other)):
        for name in part.names[1:]:
            coded[name] = (part.column(name), part.code(name)[which])
    return coded, row, share, first.n
