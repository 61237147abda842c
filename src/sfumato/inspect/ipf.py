"""Iterative proportional fitting: the joint distribution that says no more than its margins (Deming and Stephan 1940)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..core.column import FloatArray
from ..core.errors import Unavailable

ROUNDS = 1000
"""Rounds after which the margins are taken to contradict each other."""


def ipf(
    margins: Sequence[tuple[tuple[int, ...], FloatArray]],
    shape: tuple[int, ...],
    *,
    tolerance: float = 1e-9,
) -> tuple[FloatArray, int]:
    """The table of this shape that has these margins and is otherwise as even as it can be, and the rounds it took.

    A margin is the axes that it keeps, in any order, and the sums over all others. Each round scales the table to one margin
    after the other; of all tables with the margins the limit has the largest entropy. It is reached when no cell of any margin
    is off by more than `tolerance` of the total. Margins that contradict each other have no such table, and are refused.
    """
    if not margins:
        return np.full(shape, 1.0 / max(int(np.prod(shape)), 1)), 0
    wanted = []
    for axes, sums in margins:
        if sums.shape != tuple(shape[a] for a in axes):
            raise ValueError(f"a margin over the axes {axes} has the shape {sums.shape}")
        order = np.argsort(axes)
        others = tuple(a for a in range(len(shape)) if a not in axes)
        wanted.append((others, np.expand_dims(np.transpose(np.asarray(sums, dtype=np.float64), order), others)))
    total = float(wanted[0][1].sum())
    if not total > 0 or any(np.any(sums < 0) for _, sums in wanted):
        raise Unavailable("The margins must be counts or probabilities of at least 0, and not all of them 0.")
    table = np.full(shape, total / np.prod(shape))
    for done in range(1, ROUNDS + 1):
        for others, sums in wanted:
            now = table.sum(axis=others, keepdims=True)
            table *= np.divide(
                sums, now, out=np.zeros_like(now), where=now > 0
            )  # an empty cell of a margin stays empty
        off = max(float(np.abs(table.sum(axis=others, keepdims=True) - sums).max()) for others, sums in wanted)
        if off <= tolerance * total:
            return table, done
    raise Unavailable(
        f"The margins do not fit together: after {ROUNDS} rounds of proportional fitting they are still off by "
        f"{off / total:.2g} of the total. Take them from one table, or state a smaller set of them."
    )
