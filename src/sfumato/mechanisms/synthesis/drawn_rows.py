"""Rows drawn from a junction tree, evenly: as many of each kind as expected, up to about one.

Independent draws would add the error of a sample to that of the noise, although nothing asks for it: what is drawn from private
counts costs no privacy, however it is drawn. Each clique's new columns follow from those that it shares with its parent by
inversion of P(new | shared). The rows are put in order by what they share, then by what else is drawn, and the uniform number of
the i-th is u + i g modulo 1, g the golden ratio: over any stretch of that order these numbers are spread evenly (discrepancy log n / n;
Kuipers, Niederreiter 1974, ch. 2), hence so are the new values over the rows that are alike.
"""

from __future__ import annotations

import numpy as np

from ...core.column import FloatArray, IntArray
from ...core.counts import pack
from ...core.randomness import Chance
from .junction_tree import JunctionTree

GOLDEN = (5**0.5 - 1) / 2


def draw(tree: JunctionTree, beliefs: list[FloatArray], rows: int, chance: Chance) -> list[IntArray]:
    """A code for each row and column. What has probability 0 is not drawn."""
    codes: dict[int, IntArray] = {}
    for i, clique in enumerate(tree.cliques):
        shared = tree.shared[i]
        new = tuple(column for column in clique if column not in shared)
        given = pack([codes[c] for c in shared], [tree.sizes[c] for c in shared], rows)
        axes = [clique.index(c) for c in (*shared, *new)]
        lines = beliefs[i].transpose(axes).reshape(tree.size(shared), tree.size(new))
        keys = [codes[c] for c in codes if c not in shared]
        order = np.lexsort([*reversed(keys), given])
        spread = np.empty(rows)
        spread[order] = (float(chance.uniform(1)[0]) + GOLDEN * np.arange(1, rows + 1)) % 1.0
        drawn = _invert(lines, given, spread)
        for column in reversed(new):
            drawn, codes[column] = np.divmod(drawn, tree.sizes[column])
    return [codes[i] for i in range(len(tree.sizes))]


def _invert(lines: FloatArray, given: IntArray, uniform: FloatArray) -> IntArray:
    """For each row, the cell of its line of weights that a uniform number falls into; never one of weight 0."""
    reached = np.cumsum(lines, axis=1)
    whole = reached[:, -1:]
    reached = np.divide(reached, whole, out=np.ones_like(reached), where=whole > 0)
    ascending = (reached + np.arange(len(lines))[:, None]).ravel()
    at = np.searchsorted(ascending, given + uniform, side="right") - given * lines.shape[1]
    cell: IntArray = np.clip(at, 0, lines.shape[1] - 1).astype(np.int64)
    return cell
