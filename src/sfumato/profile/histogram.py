"""How the rows of a column spread over its values, in a dozen bars, for the owner's eyes: the labels are values of the table."""

from __future__ import annotations

import math

import numpy as np

from ..core.column import FloatArray, IntArray
from ..core.counts import Counts
from ..core.noun import ClassVar, dataclass

MOST = 12
"""Bars, the missing value aside."""
_FEW = 8
"""Of values without an order so many are shown by name, the most frequent first."""


@dataclass(frozen=True)
class Bar:
    """One bar: what it stands for, and its rows."""

    shows: ClassVar[tuple[str, ...]] = ("rows",)
    label: str
    rows: int


def bars(counts: Counts) -> tuple[Bar, ...]:
    """The bars of a column that was counted alone.

    Numbers of more than a dozen values go into at most a dozen ranges of one round width, each from its lower end up to the next.
    Values with an order stand in it. Of others the most frequent stand by themselves and the rest together. Missing is a bar of its own.
    Extremes: no row, no bar; one value, one bar; the rows of the bars add up to those of the column.
    """
    column = counts.columns[0]
    n = np.zeros(len(column), dtype=np.int64)
    n[counts.codes[0]] = counts.n
    known, missing = n[: len(column.values)], int(n[len(column.values) :].sum())
    texts = [text or "" for text in column.texts[: len(column.values)]]
    rank = column.rank()
    made: list[Bar] = []
    if column.numbers is not None and len(known) > MOST:
        made = _ranges(column.numbers[: len(known)], known)
    elif rank is not None and len(known) <= MOST:
        made = [Bar(texts[i], int(known[i])) for i in np.argsort(rank[: len(known)], kind="stable")]
    else:
        order = np.argsort(-known, kind="stable")
        first = order if len(order) <= _FEW + 1 else order[:_FEW]
        made = [Bar(texts[i], int(known[i])) for i in first]
        if len(first) < len(order):
            made.append(Bar(f"{len(order) - len(first):,} other values", int(known[order[len(first) :]].sum())))
    return (*made, *([Bar("missing", missing)] if missing else []))


def _ranges(numbers: FloatArray, rows: IntArray) -> list[Bar]:
    """Ranges of the least width of 1, 2 or 5 times a power of ten that needs no more than a dozen of them."""
    low, high = float(numbers.min()), float(numbers.max())
    unit = 10.0 ** math.floor(math.log10((high - low) / MOST))
    width = next(
        unit * step
        for step in (1, 2, 5, 10, 20)
        if math.floor(high / (unit * step)) - math.floor(low / (unit * step)) < MOST
    )
    place = np.floor(numbers / width).astype(np.int64)
    first = int(place.min())
    counted = np.bincount(place - first, weights=rows).astype(np.int64).tolist()
    whole = width >= 1 and bool((numbers == np.floor(numbers)).all())
    ends = [(width * (first + i), width * (first + i + 1)) for i in range(len(counted))]
    return [
        Bar(f"{a:,.0f} to {b - 1:,.0f}" if whole else f"{a:g} to below {b:g}", n)
        for (a, b), n in zip(ends, counted, strict=True)
    ]
