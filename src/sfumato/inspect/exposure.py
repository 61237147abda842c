"""Which classes of a release give most away: leakage class by class (Afifi Fig. 2-3), for the figure and the table."""

from __future__ import annotations

import numpy as np

from ..core.noun import dataclass
from ..core.release import Release
from ..core.roles import Roles
from ..metrics.privacy.distribution_leakage import distribution_leakage
from ..metrics.privacy.entropy_leakage import entropy_leakage

BINS = 24
MOST = 10
"""Classes that are named as the most exposed."""
MEASURES = (distribution_leakage, entropy_leakage)


@dataclass(frozen=True)
class ExposureBin:
    """Rows and classes whose leakage by a measure lies between two numbers."""

    measure: str
    low: float
    high: float
    rows: int
    classes: int


@dataclass(frozen=True, kw_only=True)
class ExposedClass:
    """A class by its number in the order of the released values."""

    number: int
    rows: int
    values: int
    """Different sensitive values."""
    distribution_leakage: float
    entropy_leakage: float


@dataclass(frozen=True)
class Exposure:
    """For one sensitive column: rows by leakage, and the most exposed classes (by number, never by value)."""

    column: str
    bins: tuple[ExposureBin, ...]
    worst: tuple[ExposedClass, ...]


def exposure(release: Release, roles: Roles) -> tuple[Exposure, ...]:
    """The exposure of each sensitive column."""
    exposures = []
    for column in roles.sensitive:
        classes = release.evidence(roles).classes(column)
        leakage = {str(measure): measure.per_class(classes) for measure in MEASURES}
        bins: list[ExposureBin] = []
        for name, values in leakage.items():
            edges = np.linspace(0.0, max(float(values.max()), 1e-9), BINS + 1)
            rows, _ = np.histogram(values, edges, weights=classes.size)
            count, _ = np.histogram(values, edges)
            bins += [
                ExposureBin(name, float(a), float(b), int(r), int(c))
                for a, b, r, c in zip(edges, edges[1:], rows, count, strict=False)
            ]
        order = np.lexsort([np.arange(len(classes)), -classes.size, -leakage[str(distribution_leakage)]])[:MOST]
        worst = [
            ExposedClass(
                number=int(i) + 1,
                rows=int(classes.size[i]),
                values=int(classes.distinct[i]),
                **{name: float(values[i]) for name, values in leakage.items()},
            )
            for i in order
        ]
        exposures.append(Exposure(column, tuple(bins), tuple(worst)))
    return tuple(exposures)
