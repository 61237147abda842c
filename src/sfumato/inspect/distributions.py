"""Each column before and after: the shape of its distribution, how far it moved, and how far off a count of one value is.

A user who reads a released range spreads its rows evenly over the values that it covers; the counts after are those. No value is named:
bins stand in the column's own order where it has one, else from the most frequent value to the rarest.
"""

from __future__ import annotations

import numpy as np

from ..core.column import Column, FloatArray, IntArray
from ..core.errors import SfumatoError
from ..core.noun import dataclass
from ..core.release import Evidence, Release
from ..core.roles import Roles
from ..metrics.utility.column_distance import margin, spread
from ..metrics.utility.entropy_utility import expected, joint, shared_columns

BINS = 24
COUNTED = 10
"""Rows from which a value's count is one that users ask for."""
WHY = "before and after"


@dataclass(frozen=True, kw_only=True)
class ColumnShape:
    """Of one column: shares of the rows in bins, before and after; `reason` says why it could not be drawn."""

    name: str
    ordered: bool = False
    before: tuple[float, ...] = ()
    after: tuple[float, ...] = ()
    values: int = 0
    moved: float = 0.0
    """The share of the rows that would have to change their value to restore the original shares."""
    typical: float | None = None
    """The median relative error of a count of one value, over the values of at least `COUNTED` rows."""
    worst: float | None = None
    """The largest of these errors."""
    worst_rows: int | None = None
    """How many rows have that value in the original."""
    reason: str = ""


def distributions(release: Release, roles: Roles) -> tuple[ColumnShape, ...]:
    """Every column that both tables have and that has a role as quasi-identifier or sensitive column.

    Extremes: for the identity nothing moved and every count is right; a suppressed column is spread evenly over its values.
    """
    evidence = release.evidence(roles)
    original = evidence.original(WHY)
    shapes = []
    for name in shared_columns(evidence, release.table, original):
        try:
            shapes.append(_of(evidence, name))
        except SfumatoError as reason:
            shapes.append(ColumnShape(name=name, reason=str(reason)))
    return tuple(shapes)


def _of(evidence: Evidence, name: str) -> ColumnShape:
    known, released = joint(evidence.original(WHY), (name,), WHY), expected(evidence, (name,), WHY)
    column, n = known.column(name), margin(known, name)
    after = spread(evidence, column, released.column(name), WHY).mass(margin(released, name))
    rank = column.rank(evidence.roles.orders.get(name))
    place = _bins(column, n, rank)
    before, then = (
        np.bincount(place, weights=mass, minlength=int(place.max()) + 1) / max(float(mass.sum()), 1.0)
        for mass in (n.astype(np.float64), after)
    )
    total = max(float(after.sum()), 1e-9)
    counted = n >= COUNTED
    errors = np.abs(after[counted] - n[counted]) / n[counted]
    at = int(np.argmax(errors)) if errors.size else None
    return ColumnShape(
        name=name,
        ordered=rank is not None,
        before=tuple(before.tolist()),
        after=tuple(then.tolist()),
        values=len(column),
        moved=min(float(np.maximum(n / n.sum() - after / total, 0.0).sum()), 1.0),
        typical=float(np.median(errors)) if errors.size else None,
        worst=None if at is None else float(errors[at]),
        worst_rows=None if at is None else int(n[counted][at]),
    )


def _bins(column: Column, n: IntArray, rank: IntArray | None) -> IntArray:
    """Which bin each value is drawn in: ranges of equal width for numbers, neighbours in an order, else by how frequent a value is."""
    numbers: FloatArray | None = column.numbers
    if len(column) > BINS and numbers is not None and np.isfinite(numbers).any():
        low, high = float(np.nanmin(numbers)), float(np.nanmax(numbers))
        place = np.floor((numbers - low) / max(high - low, 1e-12) * BINS)
        return np.where(np.isnan(place), BINS, np.minimum(place, BINS - 1)).astype(
            np.int64
        )  # a missing value comes last
    order = np.lexsort((np.arange(len(column)), -n)) if rank is None else np.argsort(rank, kind="stable")
    position = np.empty(len(column), dtype=np.int64)
    position[order] = np.arange(len(column))
    return position if len(column) <= BINS else position * BINS // len(column)
