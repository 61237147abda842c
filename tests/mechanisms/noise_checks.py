"""Checks of noise from the outside: by the distribution of many draws, and by telling neighbours apart."""

from __future__ import annotations

import csv
import math
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy import stats

from sfumato.core.release import Release

Draws = npt.NDArray[np.int64]


def fits(draws: Draws, scale: float) -> bool:
    """Whether whole-number draws look like P(z) ~ exp(-|z|/scale): a chi-square test that is wrong once in a million."""
    law = stats.dlaplace(1 / scale)
    edges = np.unique(law.ppf(np.linspace(0, 1, 22)[1:-1]))  # cells of about equal probability
    expected = np.diff(np.concatenate([[0.0], law.cdf(edges), [1.0]])) * len(draws)
    seen = np.bincount(np.searchsorted(edges, draws, side="left"), minlength=len(edges) + 1)
    return bool(stats.chisquare(seen, expected).pvalue > 1e-6)


def rejects_other_scales(draws: Draws, scale: float) -> bool:
    """Whether the same test says no to scales that are 30% off, either way."""
    return not any(fits(draws, scale * off) for off in (1.3, 1 / 1.3, 0.7))


def epsilon_at_least(one: Draws, other: Draws, *, sure: float = 1e-6) -> float:
    """An epsilon that the mechanism behind these draws from neighbouring tables surely exceeds.

    Over the events "at least t" and "at most t", log of the lowest believable probability under one table over the highest
    under the other (Clopper and Pearson's intervals, shared over all events).
    """
    points = np.unique(np.concatenate([one, other]))
    points = points[:: max(1, len(points) // 60)]
    each = sure / (8 * len(points))
    found = 0.0
    for a, b in ((one, other), (other, one)):
        for t in points:
            for hit_a, hit_b in ((a >= t, b >= t), (a <= t, b <= t)):
                low = stats.beta.ppf(each, hit_a.sum(), (~hit_a).sum() + 1) if hit_a.any() else 0.0
                high = stats.beta.ppf(1 - each, hit_b.sum() + 1, (~hit_b).sum()) if not hit_b.all() else 1.0
                if low > 0:
                    found = max(found, math.log(low / high))
    return found


def written(release: Release, folder: Path, name: str = "release.csv") -> list[dict[str, str]]:
    """The rows of the file that a release is written to, by Python's own reader."""
    path = folder / name
    release.table.write(path)
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
