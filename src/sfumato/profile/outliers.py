"""Values of a column of numbers that lie far from the others, by distance (Knorr and Ng 1998): such a value may name a person by itself.

A row is an outlier if nearly all other rows are further away than D: a DB(p, D)-outlier with p = 99% and D the column's standard deviation.
A rule on the distance from the middle alone (so many deviations from the median) calls the whole tail of a skewed column far, 16% of the
rows in a real one, though its rows lie close together.
"""

from __future__ import annotations

import numpy as np

from ..core.counts import Counts
from ..core.noun import dataclass
from ..core.words import counted

NEAR = 0.01
"""Of a far row fewer than this share of the others are near."""


@dataclass(frozen=True)
class Outliers:
    """A column of numbers: rows far from the others."""

    column: str
    far: int
    """Rows that fewer than 1% of the other rows come within one standard deviation of."""
    isolated: int
    """Of these, rows that no other row comes so near to."""

    @property
    def sentence(self) -> str:
        """What was found; an empty text if nothing is far."""
        if not self.far:
            return ""
        rows = f"{counted(self.far, 'row')} {'lies' if self.far == 1 else 'lie'} far from the others"
        near = f"fewer than {100 * NEAR:g}% of the other rows are within one standard deviation"
        if not self.isolated:
            return f"{self.column}: {rows} ({near})."
        if self.isolated == self.far:
            return f"{self.column}: {rows} (no other row is within one standard deviation)."
        return f"{self.column}: {rows} ({near}); {self.isolated:,} of them {'has' if self.isolated == 1 else 'have'} no row that near."


def outliers(counts: Counts) -> Outliers | None:
    """Far and isolated rows of a counted column of numbers; None for another column.

    Extremes: none if all values are equal or spread evenly; one value far away from many is far and isolated.
    """
    numbers = counts.columns[0].numbers
    if numbers is None:
        return None
    value, n = numbers[counts.codes[0]], counts.n
    known = np.isfinite(value)
    value, n = value[known], n[known]
    rows = int(n.sum())
    if rows < 2:
        return Outliers(counts.names[0], 0, 0)
    order = np.argsort(value)
    value, n = value[order], n[order]
    scale = float(np.abs(value).max()) or 1.0  # so that squares of extreme numbers stay finite
    value = value / scale
    mean = float(value @ n) / rows
    reach = float(np.sqrt((value - mean) ** 2 @ n / rows))
    if reach <= 0:
        return Outliers(counts.names[0], 0, 0)
    reach *= 1 + 1e-12
    until = np.concatenate([[0], np.cumsum(n)])
    low, high = np.searchsorted(value, value - reach, "left"), np.searchsorted(value, value + reach, "right")
    others = until[high] - until[low] - 1
    far = others < NEAR * (rows - 1)
    return Outliers(counts.names[0], int(n[far].sum()), int(n[far & (others == 0)].sum()))
