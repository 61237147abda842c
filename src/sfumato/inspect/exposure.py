"""Which classes of a release give most away: leakage class by class (Afifi Fig. 2-3), for the figure and the table."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.noun import dataclass
from ..core.release import Release
from ..core.roles import Roles
from ..metrics.privacy.distribution_leakage import distribution_leakage
from ..metrics.privacy.entropy_leakage import entropy_leakage

BINS = 24
MEASURES = (distribution_leakage, entropy_leakage)


@dataclass(frozen=True)
class Exposure:
    """For one sensitive column: rows by leakage, and the most exposed classes (by number, never by value)."""

    column: str
    bins: list[dict[str, Any]]
    worst: list[dict[str, Any]]


def exposure(release: Release, roles: Roles, *, most: int = 10) -> list[Exposure]:
    """The exposure of each sensitive column."""
    found = []
    for column in roles.sensitive:
        classes = release.evidence(roles).classes(column)
        leakage = {str(measure): measure.per_class(classes) for measure in MEASURES}
        bins = []
        for name, values in leakage.items():
            edges = np.linspace(0.0, max(float(values.max()), 1e-9), BINS + 1)
            rows, _ = np.histogram(values, edges, weights=classes.size)
            count, _ = np.histogram(values, edges)
            bins += [
                {"measure": name, "from": float(a), "to": float(b), "rows": int(r), "classes": int(c)}
                for a, b, r, c in zip(edges, edges[1:], rows, count, strict=False)
            ]
        order = np.lexsort([np.arange(len(classes)), -classes.size, -leakage[str(distribution_leakage)]])[:most]
        worst = [
            {
                "class": int(i) + 1,
                "rows": int(classes.size[i]),
                "values": int(classes.distinct[i]),
                **{name: float(values[i]) for name, values in leakage.items()},
            }
            for i in order
        ]
        found.append(Exposure(column, bins, worst))
    return found
