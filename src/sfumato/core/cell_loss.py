"""What a released cell loses of its column's domain: the kernel of ILoss, of granularity (LM) and of ARX's Loss."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from .column import FloatArray, IntArray
from .noun import dataclass


@dataclass(frozen=True)
class CellLoss:
    """`(leaves(v) - 1)/(|D| - less)` of a released value v: 0 for a value of the domain, the most for `*`.

    With `less` 0 it is ILoss (Xiao and Tao 2006), with 1 LM (Iyengar 2002), where `*` costs 1, and a domain of one value has
    nothing to lose: 0/0 is 0 (as in ARX). A metric takes the mean over rows, and over columns by the owner's weights or all
    alike, or `prod(1 + L)^(1/m) - 1` of the columns' means L (ARX's geometric mean).
    """

    less: int = 0
    weighted: bool = True
    geometric: bool = False

    def of(self, leaves: FloatArray | IntArray | int, size: int) -> FloatArray:
        """The loss of values that stand for so many of the `size` values of a domain."""
        return np.clip((np.asarray(leaves, dtype=np.float64) - 1) / max(size - self.less, 1), 0.0, 1.0)

    def whole(self, size: int) -> float:
        """The loss of `*`, and of a row that is gone."""
        return float(self.of(size, size))

    def mean(self, means: Sequence[float], shares: Sequence[float] | None = None) -> float:
        """The loss of all columns, from their means and their shares of the weight, which a geometric mean takes as equal."""
        if self.geometric:
            return min(math.expm1(sum(map(math.log1p, means)) / len(means)), 1.0)
        if shares is None:
            return min(sum(means) / len(means), 1.0)
        return min(sum(share * mean for share, mean in zip(shares, means, strict=True)), 1.0)


ILOSS = CellLoss()
