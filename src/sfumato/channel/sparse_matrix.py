"""Sparse matrices, loaded when they are needed, and what compositions of channels are made of."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from types import ModuleType
from typing import Any

import numpy as np

from ..core.errors import Unavailable

Names = Sequence[Hashable]


def sparse() -> ModuleType:
    """scipy.sparse, or a sentence that says how to get it."""
    try:
        import scipy.sparse
    except ImportError:
        raise Unavailable(
            "Sparse channels and linear programs need the package scipy, which is not installed; install sfumato[channel]."
        ) from None
    module: ModuleType = scipy.sparse
    return module


def pairs(left: Names, right: Names) -> Names:
    """Names of pairs, the second running fastest; numbers where there are too many to spell out."""
    if len(left) * len(right) > 1_000_000:
        return range(len(left) * len(right))
    return [(a, b) for a in left for b in right]


def row_products(left: Any, right: Any) -> Any:
    """Row by row, every entry of one times every entry of the other, as (value, (row, column))."""
    count = np.diff(left.indptr) * np.diff(right.indptr)
    row = np.repeat(np.arange(left.shape[0]), count)
    step = np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count)
    width = np.diff(right.indptr)[row]
    a, b = left.indptr[row] + step // width, right.indptr[row] + step % width
    column = left.indices[a].astype(np.int64) * right.shape[1] + right.indices[b]
    return left.data[a] * right.data[b], (row, column)


def renormalised(matrix: Any) -> Any:
    """Rows that rounding brought off 1 by little are brought back, so that long compositions stay channels."""
    total = np.asarray(matrix.sum(axis=1)).ravel()
    if isinstance(matrix, np.ndarray):
        return matrix / total[:, None]
    return sparse().csr_array(sparse().diags_array(1 / total) @ matrix)
