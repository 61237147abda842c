"""The best way along a line in steps that each have a worth: dynamic programming, ties by a stated rule."""

from __future__ import annotations

import numpy as np

from ..core.column import FloatArray

ROUNDING = 1e-12
"""What a further step must bring, times the largest worth of a step where that is above 1: less is rounding."""


def best_path(rows: list[FloatArray], most: int) -> list[int] | None:
    """The best way from the first place to the last in at most so many steps, as places; None if there is none.

    `rows[i][j]` is the worth of the step from i to i + 1 + j. Each step costs a rounding error, so that of ways that are
    equally good the shortest is best; of those the lexicographically smallest is taken.
    """
    last = len(rows)
    largest = max((float(np.abs(row[np.isfinite(row)]).max(initial=0.0)) for row in rows), default=0.0)
    rounding = ROUNDING * max(1.0, largest)
    ahead = np.full((1, last + 1), -np.inf)
    ahead[0, last] = 0.0
    for i in reversed(range(last)):
        ahead[0, i] = (rows[i] + ahead[0, i + 1 :]).max() - rounding
    if not np.isfinite(ahead[0, 0]):
        return None
    path = _trace(rows, ahead, rounding)
    if len(path) - 1 <= most:
        return path
    ahead = np.full((most + 1, last + 1), -np.inf)  # ahead[m, i]: from i to the last place in at most m steps
    ahead[:, last] = 0.0
    for i in reversed(range(last)):
        ahead[1:, i] = (rows[i] + ahead[:-1, i + 1 :]).max(axis=1) - rounding
    return _trace(rows, ahead, rounding) if np.isfinite(ahead[-1, 0]) else None


def _trace(rows: list[FloatArray], ahead: FloatArray, rounding: float) -> list[int]:
    """The way whose every step is the shortest that can still lead to the best worth."""
    left, path, worth = len(ahead) - 1, [0], 0.0
    goal = ahead[left, 0] - rounding / 2
    while path[-1] < len(rows):
        at, left = path[-1], max(left - 1, 0)
        total = worth + rows[at] - rounding + ahead[left, at + 1 :]
        step = int(np.argmax(total >= min(goal, total.max())))
        worth += rows[at][step] - rounding
        path.append(at + 1 + step)
    return path
