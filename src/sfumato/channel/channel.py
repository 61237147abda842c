"""A sanitization mechanism as a noisy channel: what is released, with which probability, for each possible input (sec. 3).

Inputs are possible tables, or possible records; outputs are releases. A matrix may be dense (numpy) or sparse (scipy); what
is computed from it costs what it holds, not the product of its sides.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from ..core.column import FloatArray, IntArray
from ..core.errors import InputError, Unavailable
from ..core.noun import dataclass
from ..mechanisms.parameters.matrix import read_matrix, write_matrix

Names = Sequence[Hashable]
TOLERANCE = 1e-9
"""How far the sum of a row may be from 1."""
CELLS = 25_000_000
"""A composition of dense channels that would have more cells is made sparse."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Channel:
    """`matrix[x, y] = P(y|x)`: row-stochastic, a numpy array or a scipy.sparse matrix (kept as csr_array).

    `inputs` and `outputs` are names, one for each row and column; numbers from 0 unless given.
    """

    matrix: Any
    inputs: Names | None = None
    outputs: Names | None = None

    def _about(self) -> list[str]:
        return [f"{self.matrix.shape[0]:,} inputs", f"{self.matrix.shape[1]:,} outputs"]

    def __post_init__(self) -> None:
        matrix = self.matrix
        if hasattr(matrix, "tocsr"):
            matrix = sparse().csr_array(matrix, dtype=np.float64, copy=True)
            matrix.sum_duplicates()
            self._check_entries(matrix.data, np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr)))
            matrix.eliminate_zeros()
        else:
            try:
                matrix = np.array(matrix, dtype=np.float64, order="C")
            except (TypeError, ValueError):
                raise InputError(
                    "A channel's matrix is made of numbers, and its rows are of the same length."
                ) from None
            if matrix.ndim != 2:
                raise InputError("A channel's matrix has two dimensions: inputs and outputs.")
            flawed = ~np.isfinite(matrix) | (matrix < 0)
            if flawed.any():
                self._check_entries(matrix.ravel(), np.arange(matrix.size) // max(matrix.shape[1], 1))
            matrix.setflags(write=False)
        if not matrix.shape[0] or not matrix.shape[1]:
            raise InputError("A channel needs at least one input and one output.")
        off = np.abs(np.asarray(matrix.sum(axis=1), dtype=np.float64).ravel() - 1.0)
        if (off > TOLERANCE).any():
            row = int(np.argmax(off))
            raise InputError(
                f"Row {row + 1} of the channel sums to 1 {'+' if matrix[[row], :].sum() > 1 else '-'} {off[row]:.3g}; "
                "the probabilities of what an input is released as must sum to 1."
            )
        object.__setattr__(self, "matrix", matrix)
        for name, size in (("inputs", matrix.shape[0]), ("outputs", matrix.shape[1])):
            names = getattr(self, name)
            if names is None:
                names = range(size)
            elif len(names) != size:
                raise InputError(f"The channel has {size:,} {name}, but {len(names):,} names for them.")
            object.__setattr__(self, name, names)

    @staticmethod
    def _check_entries(values: FloatArray, row: IntArray) -> None:
        for flawed, what in (
            (~np.isfinite(values), "an entry that is no finite number"),
            (values < 0, "a negative entry"),
        ):
            if flawed.any():
                raise InputError(
                    f"Row {int(row[np.argmax(flawed)]) + 1} of the channel has {what}; probabilities are numbers from 0 to 1."
                )

    @classmethod
    def read(cls, path: Path | str) -> Channel:
        """From a CSV matrix: outputs in the first line behind one cell, then a line for each input, its name first."""
        inputs, outputs, matrix = read_matrix(path, "channel")
        try:
            return cls(matrix=matrix, inputs=inputs, outputs=outputs)
        except InputError as error:
            raise InputError(f"{path}: {error}") from None

    def write(self, path: Path | str) -> None:
        """As `read` reads it."""
        write_matrix(path, list(self.input_names), list(self.output_names), self.dense())

    # --- its shape --------------------------------------------------------------------------------------------------

    @property
    def shape(self) -> tuple[int, int]:
        """Inputs and outputs, n and m."""
        n, m = self.matrix.shape
        return int(n), int(m)

    @property
    def is_sparse(self) -> bool:
        """Whether only the entries above 0 are kept."""
        return not isinstance(self.matrix, np.ndarray)

    @property
    def input_names(self) -> Names:
        """The inputs' names: numbers unless they were given."""
        assert self.inputs is not None
        return self.inputs

    @property
    def output_names(self) -> Names:
        """The outputs' names: numbers unless they were given."""
        assert self.outputs is not None
        return self.outputs

    def dense(self) -> FloatArray:
        """The matrix with all its cells."""
        return self.matrix.toarray() if self.is_sparse else self.matrix  # type: ignore[no-any-return]

    @cached_property
    def entries(self) -> tuple[IntArray, IntArray, FloatArray]:
        """Input, output and probability of every entry above 0, by input."""
        if self.is_sparse:
            row = np.repeat(np.arange(self.shape[0]), np.diff(self.matrix.indptr))
            return row, self.matrix.indices.astype(np.int64), self.matrix.data
        row, column = np.nonzero(self.matrix)
        return row, column, self.matrix[row, column]

    # --- what everything else is made of ----------------------------------------------------------------------------

    def largest(self, weight: FloatArray | float = 1.0) -> FloatArray:
        """`max_x weight_x C_xy` of each output y: what the best guess after y is worth."""
        if not self.is_sparse:
            scaled = self.matrix if np.ndim(weight) == 0 else self.matrix * np.asarray(weight)[:, None]
            largest: FloatArray = scaled.max(axis=0)
            return largest * weight if np.ndim(weight) == 0 else largest
        order, start = self._by_output
        row, _, value = self.entries
        joint = (value * np.broadcast_to(weight, self.shape[0])[row])[order]
        largest = np.zeros(self.shape[1])
        full = start[:-1] < start[1:]
        largest[full] = np.maximum.reduceat(joint, start[:-1][full])
        return largest

    @cached_property
    def _by_output(self) -> tuple[IntArray, IntArray]:
        _, column, _ = self.entries
        order = np.argsort(column, kind="stable")
        return order, np.searchsorted(column[order], np.arange(self.shape[1] + 1))

    @cached_property
    def parts(self) -> tuple[IntArray, IntArray]:
        """The part of each input and of each output, numbered from 0: inputs of different parts share no output.

        An output that cannot occur is of part 0. A dense channel is looked at as one part where scipy is not installed.
        """
        n, m = self.shape
        try:
            from scipy.sparse.csgraph import connected_components
        except ImportError:
            return np.zeros(n, dtype=np.int64), np.zeros(m, dtype=np.int64)
        row, column, _ = self.entries
        links = sparse().csr_array((np.ones(len(row)), (row, n + column)), shape=(n + m, n + m))
        _, part = np.unique(connected_components(links, directed=False)[1][:n], return_inverse=True)
        of_output = np.zeros(m, dtype=np.int64)
        of_output[column] = part[row]
        return part.astype(np.int64), of_output

    def outputs_under(self, prior: FloatArray) -> FloatArray:
        """`P(y) = sum_x pi_x C_xy`."""
        return np.asarray(prior @ self.matrix, dtype=np.float64).ravel()

    # --- composition ------------------------------------------------------------------------------------------------

    def then(self, other: Channel) -> Channel:
        """The cascade: what this one releases goes into the other. It never lowers the error (data processing)."""
        if self.shape[1] != other.shape[0]:
            raise InputError(
                f"A cascade needs a channel of {self.shape[1]:,} inputs behind one of as many outputs, not of {other.shape[0]:,}."
            )
        product = self.matrix @ other.matrix
        return Channel(matrix=_renormalised(product), inputs=self.inputs, outputs=other.outputs)

    def beside(self, other: Channel) -> Channel:
        """In parallel: both see the same input, and the adversary sees both outputs, drawn independently."""
        if self.shape[0] != other.shape[0]:
            raise InputError("Channels side by side take the same inputs.")
        outputs = _pairs(self.output_names, other.output_names)
        if self._fits(other, self.shape[0]):
            joint = (self.matrix[:, :, None] * other.matrix[:, None, :]).reshape(self.shape[0], -1)
        else:
            kit = sparse()
            left, right = kit.csr_array(self.matrix), kit.csr_array(other.matrix)
            joint = kit.csr_array(_row_products(left, right), shape=(self.shape[0], len(outputs)))
        return Channel(matrix=_renormalised(joint), inputs=self.inputs, outputs=outputs)

    def times(self, other: Channel) -> Channel:
        """The product of independent records: an input of each, and each is released by its own channel."""
        if self._fits(other, self.shape[0] * other.shape[0]):
            joint = np.kron(self.matrix, other.matrix)
        else:
            joint = sparse().csr_array(sparse().kron(self.matrix, other.matrix, format="csr"))
        return Channel(
            matrix=_renormalised(joint),
            inputs=_pairs(self.input_names, other.input_names),
            outputs=_pairs(self.output_names, other.output_names),
        )

    def _fits(self, other: Channel, rows: int) -> bool:
        """Whether a composition stays dense."""
        return not (self.is_sparse or other.is_sparse) and rows * self.shape[1] * other.shape[1] <= CELLS


def identity(size: int) -> Channel:
    """Everything is released as it is: the error is 0 whatever the prior."""
    matrix = np.eye(size) if size <= 1_000 else sparse().eye_array(size, format="csr")
    return Channel(matrix=matrix)


def constant(size: int) -> Channel:
    """Everything is released alike (`*`): the error is what the prior alone leaves, 1 - max pi."""
    return Channel(matrix=np.ones((size, 1)), outputs=("*",))


# --- sparse matrices


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


def _pairs(left: Names, right: Names) -> Names:
    """Names of pairs, the second running fastest; numbers where there are too many to spell out."""
    if len(left) * len(right) > 1_000_000:
        return range(len(left) * len(right))
    return [(a, b) for a in left for b in right]


def _row_products(left: Any, right: Any) -> Any:
    """Row by row, every entry of one times every entry of the other, as (value, (row, column))."""
    count = np.diff(left.indptr) * np.diff(right.indptr)
    row = np.repeat(np.arange(left.shape[0]), count)
    step = np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count)
    width = np.diff(right.indptr)[row]
    a, b = left.indptr[row] + step // width, right.indptr[row] + step % width
    column = left.indices[a].astype(np.int64) * right.shape[1] + right.indices[b]
    return left.data[a] * right.data[b], (row, column)


def _renormalised(matrix: Any) -> Any:
    """Rows that rounding brought off 1 by little are brought back, so that long compositions stay channels."""
    total = np.asarray(matrix.sum(axis=1)).ravel()
    if isinstance(matrix, np.ndarray):
        return matrix / total[:, None]
    return sparse().csr_array(sparse().diags_array(1 / total) @ matrix)
