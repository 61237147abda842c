"""Which original rows became which class, read off the released values: each original tuple lies in one class, or which is not told."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .column import IntArray
from .counts import Counts
from .cover import BoolArray, Domain
from .noun import dataclass
from .population import covered_codes

_BLOCK = 50_000_000
_MOST = 4_000_000_000
"""Pairs of a class and a tuple that are compared at most."""


@dataclass(frozen=True, eq=False)
class Homes:
    """The class of each original tuple, -1 where none covers it; and whether that is certain for all of them."""

    member: IntArray
    certain: bool


def homes_by_cover(classes: Counts, domains: Sequence[Domain], tuples: Counts) -> Homes:
    """The class that covers each tuple, if only one does. Both are counted by the same columns, of which `domains` know the values."""
    member, times = np.full(len(tuples), -1, dtype=np.int64), np.zeros(len(tuples), dtype=np.int64)
    if len(classes) * len(tuples) > _MOST:
        return Homes(member, certain=False)
    matches = [_matches(domain, column.texts) for domain, column in zip(domains, classes.columns, strict=True)]
    block = max(1, _BLOCK // max(len(tuples), 1))
    for start in range(0, len(classes), block):
        part = slice(start, min(start + block, len(classes)))
        fits = np.ones((part.stop - start, len(tuples)), dtype=bool)
        for match, code, released in zip(matches, tuples.codes, classes.codes, strict=True):
            fits &= match[released[part]][:, code]
        there = fits.any(axis=0)
        member[there] = start + np.argmax(fits[:, there], axis=0)
        times += fits.sum(axis=0)
    return Homes(member, certain=bool((times <= 1).all()))


def _matches(domain: Domain, texts: Sequence[str | None]) -> BoolArray:
    """Which values of a column (across) each released text (down) covers."""
    found = np.zeros((len(texts), len(domain.column)), dtype=bool)
    for line, text in zip(found, texts, strict=True):
        line[covered_codes(domain, text)] = True
    return found
