"""What noise leaves of a column that no requirement limits: whom it still lets one find, and whether it can be taken off.

Perturbed quasi-identifiers are limited by what is required of them. Of any other column its noise is all that hides a value, and a mechanism
adds as little of it as it is told to. Both questions are asked of the pairs of an original and a released value.
"""

from __future__ import annotations

import numpy as np

from ..core.arrow import numpy
from ..core.column import Column, FloatArray, IntArray, encode
from ..core.noun import dataclass
from ..core.release import Release
from .column_views import views


@dataclass(frozen=True)
class NoiseLeft:
    """Rows of a perturbed column that its values still give away."""

    found: int
    """Rows that stand alone nearest to their own original value: whoever knows it finds them."""
    undone: int
    """Rows of which the nearest original value is their own: there the noise hides nothing."""
    rows: int


def noise_left(release: Release, name: str) -> NoiseLeft | None:
    """What is left of a perturbed column; None where the release has no pairs of it."""
    recoding = release.recoding
    if recoding is None or name not in recoding.by or name not in recoding.to:
        return None
    places = (recoding.by.index(name), len(recoding.by) + recoding.to.index(name))
    (before, x), (after, y) = (encode(name, recoding.table.column(place)) for place in places)
    n = numpy(recoding.table.column("n")).astype(np.int64)
    own, released = _numbers(before, after)
    known = ~np.isnan(own[x]) & ~np.isnan(released[y])
    own, released, n = own[x][known], released[y][known], n[known]
    back = _nearest(np.unique(own), released) == own
    values, of = np.unique(released, return_inverse=True)
    alone = np.bincount(of, weights=n, minlength=len(values))[of] == 1
    undone = alone & (_nearest(values, own) == released)
    return NoiseLeft(int(n[undone].sum()), int(n[back].sum()), int(numpy(recoding.table.column("n")).sum()))


def _numbers(before: Column, after: Column) -> tuple[FloatArray, FloatArray]:
    """Both columns on one scale: numbers, days, or a place of its own for each text. Missing is NaN."""
    scales = [views(column, parts=False)[:1] for column in (before, after)]
    if scales[0] and scales[1]:
        return scales[0][0].numbers, scales[1][0].numbers
    place: dict[str, int] = {}
    both = [
        np.array([np.nan if t is None else float(4 * place.setdefault(t, len(place))) for t in column.texts])
        for column in (before, after)
    ]
    return both[0], both[1]


def _nearest(values: FloatArray, to: FloatArray) -> FloatArray:
    """Of sorted values the one nearest to each number, the smaller of two."""
    if not len(values):
        return np.full(len(to), np.nan)
    right: IntArray = np.minimum(np.searchsorted(values, to), len(values) - 1)
    left = np.maximum(right - 1, 0)
    return np.where(to - values[left] <= values[right] - to, values[left], values[right])
