"""Codes that stand for a missing value, offered and never silently taken: 999, -9, 9999-12-31, `k.A.`, `unknown`, `-`.

A word is known by what it says. A number or a day is known by how it lies: it is one that people choose as a code, several rows have it,
and it stands off the range of all others. 9 is one beside the levels 1 to 6, and 99 is none among hours that go up to 98.

The codes themselves are told, in the profile and in the suggested roles: who reads a table has to know them. Other values never are.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence

import numpy as np

from ..core.column import Column, FloatArray, IntArray
from ..core.counts import Counts
from ..core.noun import dataclass
from ..core.spelling import MISSING_WORDS
from ..core.words import counted
from .orders import MOST_LEVELS, order

_WORDS = re.compile(MISSING_WORDS, re.IGNORECASE)
_LABELS = ("None", "none", "NONE", "Nil", "-")
"""What is no word for missing where somebody wrote it as the label of a code: none of the schools, none of the illnesses."""
_HIGH = re.compile(r"(9+|9*[678]|([678])\2*)([.]0+)?|9+[.]9+")
_LOW = re.compile(r"-(9+|9*[678]|([678])\2*|[1-5])([.]0+)?")
_DAYS = ("9999-12-31", "9999-01-01", "9999-09-09", "2999-12-31", "2099-12-31", "1111-11-11", "1900-01-01", "1899-12-30", "1899-12-31", "1901-01-01",
         "0001-01-01", "1000-01-01", "1970-01-01", "1800-01-01")  # fmt: skip
_ENOUGH = 20
"""Rows with a value from which on a pile-up says something."""
_PILE = 5
_FEW = 20
"""Distinct values up to which a column holds levels rather than quantities."""
_FAR = 5
"""How many of the largest steps within the nearer half of the others lie between them and a code, at least."""


_NEAR = 5
"""How far from the next value a code is not called far: -1 from 0, -5 from 0."""


@dataclass(frozen=True)
class Sentinels:
    """The codes of a column, in its spelling, the rows that have them, and why they look like codes."""

    column: str
    codes: tuple[str, ...]
    rows: int
    why: str

    @property
    def reason(self) -> str:
        """How many rows have them, and why they look like codes."""
        return f"{counted(self.rows, 'row')}, {self.why}"

    @property
    def sentence(self) -> str:
        """What they are and where."""
        has = "has" if self.rows == 1 else "have"
        return f"Column {self.column!r}: {counted(self.rows, 'row')} {has} {' or '.join(self.codes)}, {self.why}; that may mean missing."


def sentinels(counts: Counts, *, labels: bool = False) -> tuple[Sentinels | None, Counts]:
    """The codes in a column that was counted, if any, and its counts with them as missing; `labels`: its values are labels of codes."""
    column, n = counts.columns[0], np.zeros(len(counts.columns[0]), dtype=np.int64)
    n[counts.codes[0]] = counts.n
    texts = column.texts[: len(column.values)]
    words = _words(texts)
    if labels:
        words &= np.array([text not in _LABELS for text in texts], dtype=bool)
    rest = _without(column, words)
    numbers = _numbers(rest, n[: len(texts)][~words]) if len(rest.values) else np.zeros(0, dtype=bool)
    chosen = words.copy()
    chosen[~words] = numbers
    if not chosen.any():
        return None, counts
    codes = tuple(text for text, code in zip(texts, chosen, strict=True) if code and text is not None)
    why = (
        "a word for missing"
        if not numbers.any()
        else _how_far(numbers, rest)
        if not words.any()
        else "a word or a far code"
    )
    left, at = _without(column, chosen), np.cumsum(~chosen) - 1
    place = np.append(np.where(chosen, len(left.values), at), len(left.values))
    counted = Counts.of([left], [place[counts.codes[0]].astype(np.int64)], counts.n)
    return Sentinels(column.name, codes, int(n[: len(texts)][chosen].sum()), why), counted


def _how_far(codes: np.ndarray[tuple[int], np.dtype[np.bool_]], column: Column) -> str:
    """What is true of codes that are numbers or days; -1 beside 0 is not far from it."""
    if column.numbers is None:
        return "far from all other values"
    x = column.numbers[: len(codes)]
    near = [code for code in x[codes] if np.abs(x[~codes] - code).min() <= _NEAR]
    return "which are the only values below zero" if near and min(near) < 0 else "far from all other values"


def _words(texts: Sequence[str | None]) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which texts are words for missing; none where all are, or where they are levels of a scale."""
    hits = np.array([_WORDS.fullmatch((text or "").strip()) is not None for text in texts], dtype=bool)
    few = [text for text in texts if text is not None] if len(texts) <= MOST_LEVELS else []
    return hits & (not hits.all() and not (hits.any() and order(few)))  # "none" is also a level


def _without(column: Column, codes: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Column:
    kept = np.flatnonzero(~codes).astype(np.int64)
    left = column.only(kept)
    return Column(column.name, left.values, column.has_missing or bool(codes.any()))


def _numbers(column: Column, n: IntArray) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which numbers or days are codes: at most one group of them above all others, and one below."""
    texts = [text for text in column.texts if text is not None]
    codes = np.zeros(len(texts), dtype=bool)
    if n.sum() < _ENOUGH or len(texts) < 3:
        return codes
    if column.dates:
        x = np.array([_day(text) for text in texts])
        like_high = like_low = np.array([text[:10] in _DAYS for text in texts])
    elif column.numbers is not None:
        x = column.numbers[: len(texts)]
        like_high, like_low = (
            np.array([shape.fullmatch(text) is not None for text in texts]) for shape in (_HIGH, _LOW)
        )
    else:
        return codes
    for sign, like in ((1.0, like_high), (-1.0, like_low)):
        rank = np.argsort(sign * x, kind="stable")
        rank = rank[np.isfinite(x[rank])]
        size = 0
        while size < len(rank) - 2 and like[rank[len(rank) - 1 - size]]:
            size += 1
        if size and texts[rank[-1]] in ("6", "7", "8"):  # of single digits the last code is 9; below it they are levels
            size = 0
        for many in range(min(size, 4), 0, -1):  # 97, 98 and 99 together, else the outermost alone
            if _apart(sign * x[rank], n[rank], many, signed=sign < 0 and not column.dates):
                codes[rank[len(rank) - many :]] = True
                break
    return codes


def _apart(x: FloatArray, n: IntArray, many: int, *, signed: bool) -> bool:
    """Whether the last `many` of these ascending numbers lie off the range of the others and pile up there."""
    others, rows, outer = x[:-many], n[:-many], n[-many:]
    if outer.sum() < 2 or len(others) < 2:
        return False
    gap = float(x[-many] - others[-1])
    if signed and others[-1] <= 0 and (others < 0).any():  # turned round: below zero where nothing else is
        return True
    ends = np.searchsorted(np.cumsum(rows), [0.05 * rows.sum(), 0.95 * rows.sum()])
    spread = float(others[ends[1]] - others[ends[0]])
    if gap > max(spread, float(others[-1] - others[0]) / 2) > 0:
        return True
    if outer.sum() <= rows[-1] and outer.sum() < max(_PILE, 0.02 * n.sum()):
        return False
    steps = np.diff(others)
    return gap > float(steps.max() if len(others) <= _FEW else _FAR * steps[len(steps) // 2 :].max())


def _day(text: str) -> float:
    try:
        return float(datetime.date.fromisoformat(text[:10]).toordinal())
    except ValueError:
        return float("nan")
