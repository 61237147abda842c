"""A column of a table as a design problem: its values, how frequent they are, and what it costs to release one as another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from ..core.column import FloatArray
from ..core.errors import InputError, Unavailable
from ..core.noun import dataclass
from ..core.table import Table
from .channel import Channel

MOST = 500
"""Values of a column that a channel is designed for: the program has their square as variables."""

Cost = Literal["auto", "distance", "differ"]


@dataclass(frozen=True, eq=False)
class ColumnProblem:
    """`names` are the values as they are spelled, the missing one as the empty text, in the column's order if it has one."""

    names: tuple[str, ...]
    prior: FloatArray
    cost: FloatArray
    kind: Literal["distance", "differ"]


def column_problem(
    table: Table, column: str, *, cost: Cost = "auto", order: Sequence[str] | None = None
) -> ColumnProblem:
    """Values, their shares, and a degradation from 0 to 1: `differ` is 1 for any other value, `distance` how far it is.

    Distances are between numbers, else between places in the order, as a share of the largest; the missing value is as far as
    can be from all others. `auto` takes distances where the column has an order. The shares are those of the table: a channel
    designed with them tells about them, and so does its budget.
    """
    if column not in table.columns:
        raise InputError(f"{table.name}: no column {column!r}.")
    counts = table.count_some((column,))
    values, size = counts.columns[0], len(counts)
    if size > MOST:
        raise InputError(
            f"{table.name}: column {column!r} has {size:,} values, and a channel is designed for {MOST} at most; generalize it first."
        )
    rank = values.rank(order)
    if rank is None and cost == "distance":
        raise Unavailable(f"Column {column!r} has no order, so there are no distances; state one under [orders].")
    if rank is None or cost == "differ":
        return ColumnProblem(tuple(t or "" for t in values.texts), counts.n / counts.rows, 1.0 - np.eye(size), "differ")
    at = np.argsort(rank, kind="stable")
    texts = [values.texts[i] for i in at]
    numbers = values.numbers[at] if values.numbers is not None and order is None else np.arange(size, dtype=np.float64)
    apart = np.abs(np.subtract.outer(numbers, numbers))
    apart[:, [text is None for text in texts]] = np.nan
    apart[[text is None for text in texts]] = np.nan
    widest = np.nanmax(apart) if np.isfinite(apart).any() else 0.0
    apart = np.where(np.isnan(apart), 1.0, apart / widest if widest > 0 else 0.0)
    np.fill_diagonal(apart, 0.0)
    return ColumnProblem(tuple(t or "" for t in texts), counts.n[at] / counts.rows, apart, "distance")


def transition(channel: Channel) -> Channel:
    """The channel over its inputs and outputs together, as `pram` takes it with matrix=FILE.

    An output that is no input is released as itself, should it occur, and an input that is no output is never released.
    """
    inputs, outputs = list(channel.input_names), list(channel.output_names)
    known: set[Any] = set(inputs)
    names = [*inputs, *(name for name in outputs if name not in known)]
    place = {name: i for i, name in enumerate(names)}
    matrix = np.eye(len(names))
    matrix[: len(inputs)] = 0.0
    matrix[np.ix_(range(len(inputs)), [place[name] for name in outputs])] = channel.dense()
    return Channel(matrix=matrix, inputs=names, outputs=names)
