"""Channels in exact rationals: for small ones, and as the judge of the floating-point ones."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from ..core.errors import InputError
from ..core.noun import dataclass
from .channel import Channel, Names

Number = Fraction | int | str
"""A fraction may be written "5/17"; a float is refused, because it is not the number that it is printed as."""


@dataclass(frozen=True, eq=False, kw_only=True)
class ExactChannel:
    """`rows[x][y] = P(y|x)` as fractions; every row sums to exactly 1."""

    rows: Sequence[Sequence[Number]]
    inputs: Names | None = None
    outputs: Names | None = None

    def __post_init__(self) -> None:
        rows = tuple(tuple(_fraction(cell) for cell in row) for row in self.rows)
        if not rows or not rows[0]:
            raise InputError("A channel needs at least one input and one output.")
        for i, row in enumerate(rows):
            if len(row) != len(rows[0]):
                raise InputError(f"Row {i + 1} of the channel is of another length than the first.")
            if min(row) < 0:
                raise InputError(
                    f"Row {i + 1} of the channel has a negative entry; probabilities are numbers from 0 to 1."
                )
            if sum(row) != 1:
                raise InputError(f"Row {i + 1} of the channel does not sum to exactly 1.")
        object.__setattr__(self, "rows", rows)

    @property
    def cells(self) -> tuple[tuple[Fraction, ...], ...]:
        """The rows as fractions."""
        return self.rows  # type: ignore[return-value]

    def prior(self, prior: Sequence[Number] | None) -> list[Fraction]:
        """A prior as fractions that sum to exactly 1; uniform if none is given."""
        n = len(self.cells)
        probabilities = [Fraction(1, n)] * n if prior is None else [_fraction(p) for p in prior]
        if len(probabilities) != n or min(probabilities) < 0 or sum(probabilities) != 1:
            raise InputError("A prior has a fraction of at least 0 for each input, and they sum to exactly 1.")
        return probabilities

    def error(
        self, prior: Sequence[Number] | None = None, *, gain: Sequence[Sequence[Number]] | None = None
    ) -> Fraction:
        """Eq. 5, or `error_g` with a gain."""
        pi = self.prior(prior)
        inputs = range(len(pi))
        if gain is None:
            right = sum(max(pi[x] * self.cells[x][y] for x in inputs) for y in range(len(self.cells[0])))
        else:
            worth = [[_fraction(cell) for cell in row] for row in gain]
            right = sum(
                max(sum(pi[x] * self.cells[x][y] * row[x] for x in inputs) for row in worth)
                for y in range(len(self.cells[0]))
            )
        return 1 - Fraction(right)

    def posterior(self, output: int, prior: Sequence[Number] | None = None) -> list[Fraction]:
        """`P(x|y)` after one output."""
        joint = [p * row[output] for p, row in zip(self.prior(prior), self.cells, strict=True)]
        if not sum(joint):
            raise InputError(f"Output {output + 1} cannot be released under this prior, so nothing follows from it.")
        return [p / sum(joint) for p in joint]

    def bayes_capacity(self) -> Fraction:
        """`sum_y max_x C_xy`."""
        return sum((max(column) for column in zip(*self.cells, strict=True)), Fraction(0))

    def then(self, other: ExactChannel) -> ExactChannel:
        """The cascade."""
        columns = list(zip(*other.cells, strict=True))
        rows = [[sum((a * b for a, b in zip(row, column, strict=True)), Fraction(0)) for column in columns] for row in self.cells]  # fmt: skip
        return ExactChannel(rows=rows, inputs=self.inputs, outputs=other.outputs)

    def floats(self) -> Channel:
        """The same in floating point."""
        return Channel(
            matrix=np.array([[float(cell) for cell in row] for row in self.cells]),
            inputs=self.inputs,
            outputs=self.outputs,
        )


def _fraction(number: Number) -> Fraction:
    if isinstance(number, float):
        raise InputError("An exact channel is made of fractions such as 5/17, not of floating-point numbers.")
    try:
        return Fraction(number)
    except (TypeError, ValueError, ZeroDivisionError):
        raise InputError("An exact channel is made of fractions such as 5/17.") from None
