"""The Pareto frontier and its knee, on two axes of which less is better."""

from __future__ import annotations

import numpy as np

from ..core.column import FloatArray, IntArray


def ten_digits(value: float) -> float:
    """A value to ten digits, and no trace of 0: what differs by less came by another way of adding up, and is the same."""
    return float(f"{value:.10g}") if abs(value) > 1e-12 else 0.0


def frontier(risk: FloatArray, loss: FloatArray) -> IntArray:
    """The points that no other point beats on one axis without being beaten on the other, by ascending loss.

    Of points that are equal on both axes the first stands for all.
    """
    order = np.lexsort([np.arange(len(risk)), risk, loss])
    kept: list[int] = []
    lowest = np.inf
    for i in order:
        if not kept or risk[i] < lowest:  # the first may be infinite, too
            kept.append(int(i))
            lowest = risk[i]
    return np.array(kept, dtype=np.int64)


def knee(risk: FloatArray, loss: FloatArray, on: IntArray) -> int | None:
    """The sharpest turn of a frontier: the point farthest below the line through its two ends.

    Both axes are first stretched to run from 0 to 1 over the frontier, so that units do not matter. Of equal distances the
    lower risk counts. A frontier of fewer than three points, or one that nowhere bends inwards, has no knee. What is infinite
    has no place on such an axis, and is left out.
    """
    on = np.asarray(on, dtype=np.int64)
    on = on[np.isfinite(risk[on]) & np.isfinite(loss[on])]
    if len(on) < 3:
        return None
    x, y = _stretch(loss[on]), _stretch(risk[on])
    below = 1.0 - x - y  # the line through (0, 1) and (1, 0), up to a factor
    best = np.flatnonzero(below >= below.max() - 1e-12)
    return int(on[best[-1]]) if below.max() > 1e-12 else None


def _stretch(values: FloatArray) -> FloatArray:
    low, high = float(values.min()), float(values.max())
    return (values - low) / (high - low) if high > low else np.zeros(len(values))
