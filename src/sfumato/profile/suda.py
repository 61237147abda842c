"""Minimal sample uniques and a SUDA score for every record (Elliot, Manning and Ford 2002; SUDA2: Manning, Haglin and Keane 2008).

A minimal sample unique (MSU) of a record is a set of columns on which it is alone and on no part of which it is. The fewer columns it
needs and the more such sets it has, the riskier the record: `score = sum over its MSUs of prod_{i=|MSU|}^{M} (ATT - i)` with
ATT columns and sets of up to M of them looked at.
"""

from __future__ import annotations

import itertools
from math import prod
from typing import Any

import numpy as np

from ..core.column import FloatArray, IntArray
from ..core.counts import Counts, pack
from ..core.errors import InputError
from ..core.memory import remembered
from ..core.noun import dataclass
from ..core.words import counted
from .subsets import sets_up_to

MOST = 20_000
"""Sets of columns that are looked at."""


@dataclass(frozen=True, eq=False)
class Suda:
    """For the records that are alone on all columns (the others have no MSU): their score and their MSUs of at most `most` columns."""

    columns: tuple[str, ...]
    most: int
    records: int
    """Records that are alone on some set of up to `most` columns."""
    alone: int
    """Records that are alone on all columns: the others of these stand out by larger sets only."""
    score: FloatArray
    """A score for each distinct tuple of the counts; 0 if it has no MSU."""
    by_size: tuple[int, ...]
    """How many MSUs there are of each size, from 1 column on."""
    by_column: dict[str, float]
    """The share of all score that is due to sets with this column."""
    sets: tuple[tuple[tuple[str, ...], IntArray], ...] = ()
    """The sets of columns that are minimal for some record, small ones first, and of which tuples of the counts."""

    def minimal(self, at: int) -> list[tuple[str, ...]]:
        """The minimal uniques of one tuple, small ones first."""
        return [names for names, whose in self.sets if at in whose]

    @property
    def sentence(self) -> str:
        """Who stands out on few columns, and who only on more; minimal uniques of more than `most` columns were not looked for."""
        columns = f"all {len(self.columns)} quasi-identifiers" if len(self.columns) > 1 else "the one quasi-identifier"
        if not self.alone:
            return f"Minimal uniques: none, because no row is alone on {columns}."
        sets = ", ".join(f"{n:,} of {counted(i, 'column')}" for i, n in enumerate(self.by_size, 1))
        few = "one column" if self.most == 1 else f"at most {self.most} columns"
        text = f"{counted(self.records, 'row')} {'has' if self.records == 1 else 'have'} one of {few} ({sets})"
        rest = self.alone - self.records
        if not rest:
            return f"Minimal uniques: {text}; no other row is alone on {columns}."
        more = f"{counted(rest, 'more row')} {'is' if rest == 1 else 'are'} alone on {columns}, but on no set of {few}"
        return f"Minimal uniques: {text}; {more}."

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready, without any value of the table."""
        there = self.score[self.score > 0]
        quantiles = np.quantile(there, [0.5, 0.9, 0.99, 1.0]).tolist() if len(there) else [0.0] * 4
        return {
            "columns": list(self.columns),
            "largest_set": self.most,
            "records_with_a_minimal_unique": self.records,
            "records_alone_on_all_columns": self.alone,
            "minimal_uniques_by_size": list(self.by_size),
            "score_median_p90_p99_max": quantiles,
            "share_by_column": self.by_column,
        }


@remembered
def suda(counts: Counts, *, most: int = 3, person: bool = False) -> Suda:
    """Scores of all records; sets of up to `most` columns. No row is looked at: a set is grouped on the counted tuples.

    With `person` the last counted column says whose record it is, and a record is alone where no other person has its values.
    """
    names = counts.names[: len(counts.names) - int(person)]
    width = len(names)
    size = min(most, width)
    if size < 1:
        raise InputError("A set needs at least one column.")
    if sets_up_to(width, size) > MOST:
        raise InputError(
            f"{width} columns have too many sets of up to {size}; name fewer columns, or choose a smaller set size."
        )
    sizes = [len(column) for column in counts.columns]
    everything = np.arange(len(counts))
    # only a record that is alone on all columns can be alone on some
    single = np.flatnonzero(_alone(counts, tuple(range(width)), sizes, everything, person))
    score, by_size = np.zeros(len(counts)), []
    sets: list[tuple[tuple[str, ...], IntArray]] = []
    by_column = np.zeros(width)
    below: dict[tuple[int, ...], Any] = {(): np.zeros(len(single), dtype=bool)}
    alone_somewhere = np.zeros(len(single), dtype=bool)
    for s in range(1, size + 1):
        here: dict[tuple[int, ...], Any] = {}
        hit_count = 0
        worth = float(prod(max(width - i, 1) for i in range(s, size + 1)))
        for at in itertools.combinations(range(width), s):
            parts = [at[:i] + at[i + 1 :] for i in range(s)]
            covered = np.logical_or.reduce([below[part] for part in parts])
            if covered.all():
                here[at] = covered
                continue
            alone = _alone(counts, at, sizes, single, person)
            whose = single[alone & ~covered]
            if len(whose):
                sets.append((tuple(names[i] for i in at), whose))
            score[whose] += worth
            hits = len(whose)
            hit_count += hits
            by_column[list(at)] += worth * hits
            alone_somewhere |= alone
            here[at] = alone | covered
        by_size.append(hit_count)
        below = here
    total = float(score.sum())
    shares = {name: float(by_column[i] / total) if total else 0.0 for i, name in enumerate(names)}
    return Suda(names, size, int(alone_somewhere.sum()), len(single), score, tuple(by_size), shares, tuple(sets))


def _alone(counts: Counts, at: tuple[int, ...], sizes: list[int], asked: IntArray, person: bool) -> Any:
    """Which of the records in `asked` are alone on the columns `at`."""
    key = pack([counts.codes[i] for i in at], [sizes[i] for i in at], len(counts))
    room = prod(max(sizes[i], 1) for i in at)
    if room > max(4 * len(counts), 1 << 16):
        values, key = np.unique(key, return_inverse=True)
        room = len(values)
    if not person:
        return (np.bincount(key, weights=counts.n, minlength=room) == 1)[key[asked]]
    theirs = np.unique(pack([key, counts.codes[-1]], [room, sizes[-1]], len(counts)))
    return (np.bincount(theirs // max(sizes[-1], 1), minlength=room) == 1)[key[asked]]
