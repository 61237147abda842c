"""Find columns that compute others: a multiple, an offset, a sum or a difference of up to four columns is constant.

The search looks at differences between rows, in which a constant falls away: a few dozen rows rule nearly every set of columns out, and what
is left is looked at in two thousand. What is found there is checked on all rows by whoever asks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from ..core.column import FloatArray, IntArray
from ..core.counts import shuffled
from ..core.noun import dataclass
from ..core.sizes import LARGEST
from .column_views import ColumnView
from .relations import Arithmetic

SCREENED = 32
"""Differences by which sets of columns are ruled out."""
LOOKED_AT = 2_048
MOST_VIEWS = 64
"""Numeric columns up to which sets of four are looked at; beyond it, sets of three."""
_HITS = 0.8
_SPREAD = 8
"""Units over which a column must spread for a relation to be one that holds within a unit: an age and a birth year."""


@dataclass(frozen=True, eq=False)
class Numbers:
    """A view over rows, and whether its column is free."""

    view: ColumnView
    rows: FloatArray
    free: bool

    @property
    def spread(self) -> float:
        """How many units nearly all values lie within."""
        known = self.rows[np.isfinite(self.rows)]
        low, high = np.quantile(known, [0.025, 0.975]) if len(known) else (0.0, 0.0)
        return float(high - low) / self.view.unit if self.view.unit else float("inf")


def numbers_of(view: ColumnView, codes: IntArray, *, free: bool) -> Numbers:
    """A view over rows of these codes; numbers that no sum or product can be taken of count as missing."""
    rows = view.numbers[codes]
    return Numbers(view, np.where(np.abs(rows) <= LARGEST, rows, np.nan), free)


def chosen_rows(n: IntArray) -> IntArray:
    """At most so many rows of weighted tuples, in an order that says nothing, the same for the same counts."""
    ends = np.cumsum(n)
    total = int(ends[-1]) if len(ends) else 0
    at = np.linspace(0, max(total - 1, 0), min(total, LOOKED_AT)).astype(np.int64)
    at = at[np.diff(at, prepend=-1) > 0]
    return np.searchsorted(ends, at, side="right")[shuffled(len(at))]


def lines(numbers: Sequence[Numbers]) -> Iterator[Arithmetic]:
    """Pairs of a free and a protected view of which one is a multiple of the other, with an offset, up to rounding."""
    for free in (each for each in numbers if each.free):
        for protected in (each for each in numbers if not each.free):
            relation = _line(free, protected)
            if relation is not None:
                yield relation


def _line(free: Numbers, protected: Numbers) -> Arithmetic | None:
    known = np.isfinite(free.rows) & np.isfinite(protected.rows)
    x, y = free.rows[known], protected.rows[known]
    if len(x) < 8:
        return None
    dx, dy = x - np.roll(x, 1), y - np.roll(y, 1)
    wide = np.abs(dx) >= max(float(np.median(np.abs(dx))), 1e-12)
    if not wide.any():
        return None
    slope = float(np.median(dy[wide] / dx[wide]))
    if not np.isfinite(slope) or slope == 0:
        return None
    for nice in (1.0, -1.0):  # a rounded difference of one has a slope of nearly one
        slope = nice if abs(slope - nice) < 1e-3 else slope
    rest = y - slope * x
    low, high = np.quantile(rest, [0.02, 0.98])
    unit = protected.view.unit
    exact = 1e-9 * (1 + float(np.abs(y).max()))
    within = 1.25 * unit if protected.spread >= _SPREAD and free.spread >= _SPREAD else exact
    if high - low > max(within, exact):
        return None
    terms = ((free.view, -slope), (protected.view, 1.0))
    names = ((free.view.column,), (protected.view.column,))
    return Arithmetic(*names, terms, float(low + high) / 2, float(high - low) / 2 + exact)


def sums(numbers: Sequence[Numbers]) -> Iterator[Arithmetic]:
    """Sets of three or four views whose signed sum is constant, smaller sets first; every view must matter."""
    usable = [each for each in numbers if np.isfinite(each.rows).mean() > 0.5 and each.spread > 1]
    if len(usable) < 3:
        return
    rows = np.stack([each.rows for each in usable], axis=1)
    steps = np.diff(rows, axis=0)
    parts: list[frozenset[int]] = []
    sizes = (3, 4) if len(usable) <= MOST_VIEWS else (3,)
    for size in sizes:
        for at, signs in _screened(steps[:SCREENED], usable, size):
            if any(smaller <= frozenset(at) for smaller in parts):
                continue
            relation = _sum([usable[i] for i in at], signs)
            if relation is not None:
                parts.append(frozenset(at))
                yield relation


def _screened(
    steps: FloatArray, numbers: Sequence[Numbers], size: int
) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Sets whose signed differences vanish in most of a few rows: pairs against single views, or against pairs."""
    at = list(combinations(range(len(numbers)), 2))
    pairs = [(i, j, sign) for i, j in at for sign in (1, -1)]
    left = np.stack([steps[:, i] + sign * steps[:, j] for i, j, sign in pairs], axis=1)
    right = steps if size == 3 else left
    others: list[tuple[int, ...]] = [(k,) for k in range(len(numbers))] if size == 3 else [(i, j) for i, j, _ in pairs]
    last = np.array([other[0] for other in others])
    loose = np.array([any(numbers[k].view.coarse for k in other) for other in others])
    for p, (i, j, sign) in enumerate(pairs):
        beyond = np.flatnonzero(last > j)  # each set once: the second part lies behind the first
        if not len(beyond):
            continue
        coarse = numbers[i].view.coarse or numbers[j].view.coarse
        for turn in (1, -1):
            total = left[:, p, None] + turn * right[:, beyond]
            known = np.isfinite(total)
            slack = 1e-9 * (1 + np.nanmax(np.abs(left[:, p]), initial=0.0)) + (loose[beyond] | coarse)
            with np.errstate(invalid="ignore"):
                hits = (np.abs(total) <= slack).sum(axis=0)
            asked = known.sum(axis=0)
            for q in beyond[(hits >= _HITS * asked) & (asked >= 6)]:
                whole = (i, j, *others[q])
                signs = (1, sign, turn) if size == 3 else (1, sign, turn, turn * pairs[q][2])
                if len({numbers[k].view.column for k in whole}) == len(whole) and _mixed(numbers, whole):
                    yield whole, signs


def _mixed(numbers: Sequence[Numbers], at: Sequence[int]) -> bool:
    return len({numbers[i].free for i in at}) == 2


def _sum(numbers: Sequence[Numbers], signs: Sequence[int]) -> Arithmetic | None:
    """The relation over all the rows looked at, or None if it does not hold there, or would without one of its views."""
    rows = np.stack([each.rows for each in numbers], axis=1)
    rows = rows[np.isfinite(rows).all(axis=1)]
    if len(rows) < 8:
        return None
    total = rows @ np.array(signs, dtype=np.float64)
    exact = 1e-9 * (1 + float(np.abs(rows).max()))
    coarse = any(each.view.coarse for each in numbers)
    if coarse and min(each.spread for each in numbers) < _SPREAD:
        return None
    values, times = np.unique(np.round(total / max(exact, 1e-12)) * max(exact, 1e-12), return_counts=True)
    constant, slack = float(values[times.argmax()]), exact
    if coarse:  # two neighbouring years, whichever are the more frequent
        beside = [np.mean(np.abs(total - constant - half) <= 0.5 + exact) for half in (-0.5, 0.5)]
        constant, slack = constant + (-0.5, 0.5)[int(np.argmax(beside))], 0.5 + exact
    keeps = np.abs(total - constant) <= slack
    if keeps.mean() < 0.9:
        return None
    for i in range(len(numbers)):
        usual = np.median(rows[:, i])
        moved = np.abs(rows[:, i] - usual) > exact
        if moved.sum() < 5 or keeps[moved].mean() < _HITS:
            return None
    free = tuple(each.view.column for each in numbers if each.free)
    protected = tuple(each.view.column for each in numbers if not each.free)
    terms = tuple((each.view, float(sign)) for each, sign in zip(numbers, signs, strict=True))
    return Arithmetic(free, protected, terms, constant, slack)
