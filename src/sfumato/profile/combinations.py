"""The risk of every set of columns: how many rows are alone, in small classes, told apart.

The table is counted once over all columns. A set is rolled up from the smallest set already grouped that holds it: columns are
left out one after the other, and what is grouped gets smaller all the way. 255 sets of eight columns cost about as much as one scan.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..core.column import IntArray
from ..core.counts import Counts, exact, pack
from ..core.errors import InputError
from ..core.noun import dataclass
from .subsets import sets_up_to

MOST = 100_000
"""Sets that are looked at: all of 16 columns."""


@dataclass(frozen=True)
class SetRisk:
    """What an adversary who knows these columns of everybody can tell apart."""

    columns: tuple[str, ...]
    classes: int
    smallest: int
    """Rows of the smallest class: the k of the set."""
    alone: int
    """Rows in a class of one."""
    below: tuple[int, ...]
    """Rows in classes below each threshold."""
    distinction: float
    """Classes by rows: 1 if all rows differ (Motwani and Xu 2007). It is also the mean risk of a row, the marketer's."""
    separation: float
    """Share of the pairs of rows that differ somewhere in these columns (Motwani and Xu 2007)."""

    def to_dict(self, thresholds: Sequence[int]) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "columns": list(self.columns),
            "classes": self.classes,
            "smallest_class": self.smallest,
            "alone": self.alone,
            "below": {str(k): n for k, n in zip(thresholds, self.below, strict=True)},
            "distinction": self.distinction,
            "separation": self.separation,
        }


def set_risks(
    counts: Counts, *, most: int | None = None, thresholds: Sequence[int] = (3, 5, 10), person: bool = False
) -> list[SetRisk]:
    """Every set of the counted columns (of at most `most` of them), worst first: most rows alone, then fewest columns.

    With `person` the last counted column says whose row it is, belongs to no set, and people are counted instead of rows.
    """
    width = len(counts.names) - int(person)
    if not width or not counts.rows:
        raise InputError("The table has no rows or no columns to look at.")
    size = width if most is None else min(most, width)
    if size < 1:
        raise InputError("A set needs at least one column.")
    number = sets_up_to(width, size)
    if number > MOST:
        raise InputError(
            f"{width} columns have {number:,} sets of up to {size}; name fewer columns, or choose a smaller set size."
        )
    walk = _down(counts, person) if size == width else _up(counts, size, person)
    risks = [risk_of(tuple(counts.names[i] for i in at), n, thresholds) for at, n in walk]
    place = {name: i for i, name in enumerate(counts.names)}
    return sorted(risks, key=lambda r: (-r.alone, -r.classes, len(r.columns), [place[c] for c in r.columns]))


def risk_of(columns: tuple[str, ...], n: IntArray, thresholds: Sequence[int]) -> SetRisk:
    """From the class sizes of one set."""
    rows = int(n.sum())
    pairs = int((n * (n - 1)).sum())
    return SetRisk(
        columns=columns,
        classes=len(n),
        smallest=int(n.min()),
        alone=int((n == 1).sum()),
        below=tuple(int(n[n < k].sum()) for k in thresholds),
        distinction=len(n) / rows,
        separation=1 - pairs / (rows * (rows - 1)) if rows > 1 else 0.0,
    )


def _down(counts: Counts, person: bool) -> Iterator[tuple[tuple[int, ...], IntArray]]:
    """All sets, each once: columns are left out in order, the one with most values first, so that tables shrink early."""
    sizes = [len(column) for column in counts.columns]
    last = len(sizes) - int(person)
    order = sorted(range(last), key=lambda i: (-sizes[i], i))
    who = [last] if person else []

    def visit(
        at: list[int], codes: list[IntArray], n: IntArray, first: int
    ) -> Iterator[tuple[tuple[int, ...], IntArray]]:
        if person:  # a person's rows that are alike on the set count once
            yield tuple(sorted(at)), _group(codes[:-1], [sizes[c] for c in at], np.ones(len(n), dtype=np.int64))[1]
        else:
            yield tuple(sorted(at)), n
        for i in range(first, len(at)):
            rest = [*at[:i], *at[i + 1 :]]
            if rest:
                grouped, fewer = _group([*codes[:i], *codes[i + 1 :]], [sizes[c] for c in [*rest, *who]], n)
                yield from visit(rest, grouped, fewer, i)

    yield from visit(order, [counts.codes[i] for i in [*order, *who]], counts.n, 0)


def _up(counts: Counts, size: int, person: bool) -> Iterator[tuple[tuple[int, ...], IntArray]]:
    """Sets of up to `size` columns; once all tuples of a set differ, they do in every set that holds it."""
    sizes = [len(column) for column in counts.columns]
    last = len(sizes) - int(person)

    def visit(at: tuple[int, ...], key: IntArray, room: int) -> Iterator[tuple[tuple[int, ...], IntArray]]:
        for c in range(at[-1] + 1 if at else 0, last):
            inverse, distinct = key, room
            if room < len(counts):
                values, inverse = np.unique(
                    pack([key, counts.codes[c]], [room, sizes[c]], len(counts)), return_inverse=True
                )
                distinct = len(values)
            if person:
                theirs = np.unique(pack([inverse, counts.codes[last]], [distinct, sizes[last]], len(counts)))
                n = np.bincount(theirs // max(sizes[last], 1), minlength=distinct).astype(np.int64)
            else:
                n = exact(np.bincount(inverse, weights=counts.n))
            yield (*at, c), n
            if len(at) + 1 < size:
                yield from visit((*at, c), inverse, distinct)

    yield from visit((), np.zeros(len(counts), dtype=np.int64), 1)


def _group(codes: list[IntArray], sizes: Sequence[int], n: IntArray) -> tuple[list[IntArray], IntArray]:
    """The distinct tuples and the rows of each."""
    room = 1
    for size in sizes:
        room *= max(size, 1)
    key = pack(codes, sizes, len(n))
    if room <= max(4 * len(n), 1 << 16):
        rows = exact(np.bincount(key, weights=n, minlength=1))
        there = np.flatnonzero(rows)
        groups: list[IntArray] = []
        left = there
        for size in reversed(sizes):
            groups.append((left % max(size, 1)).astype(np.int64))
            left = left // max(size, 1)
        return groups[::-1], rows[there]
    order = np.argsort(key, kind="stable")
    ordered = key[order]
    first = np.flatnonzero(np.diff(ordered, prepend=ordered[0] - 1))
    return [code[order[first]] for code in codes], np.add.reduceat(n[order], first)
