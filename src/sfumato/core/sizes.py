"""Numbers at the ends of floating point: which of them can be squared and summed, and how to take differences of the others."""

from __future__ import annotations

import numpy as np

from .column import FloatArray
from .errors import Unavailable

LARGEST = 1e150
"""Its square is the largest that can be summed over a table."""


def check_squares(values: FloatArray, name: str, why: str) -> None:
    """Refuse to measure a column whose variance no floating-point number holds."""
    if (np.abs(values[~np.isnan(values)]) > LARGEST).any():
        raise Unavailable(
            f"{why} squares the numbers of {name!r}, some of which are infinite or beyond {LARGEST:g}; correct them, or give the column "
            "another role."
        )


def in_proportion(values: FloatArray, name: str, why: str) -> FloatArray:
    """The numbers, or an eighth of each where their differences would overflow: for what looks at proportions alone."""
    if np.isinf(values).any():
        raise Unavailable(
            f"{why} needs distances of the numbers of {name!r}, some of which are infinite; correct them."
        )
    return values / 8 if (np.abs(values[~np.isnan(values)]) > 1e307).any() else values
