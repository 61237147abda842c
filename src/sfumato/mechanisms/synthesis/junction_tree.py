"""Junction trees: a distribution over many columns, held as tables over a few columns each that agree where they overlap.

Columns that are measured together are joined by an edge; the graph is made chordal by eliminating one column after the other (the
one whose table is smallest, or that adds fewest edges: whichever order ends with fewer cells), and its cliques are joined by a
spanning tree of widest overlaps, which is a junction tree (Lauritzen, Spiegelhalter 1988; Koller, Friedman 2009, ch. 10). Belief
propagation on it is exact: two messages an edge, time and memory follow the cells of the cliques.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property

import numpy as np

from ...core.column import FloatArray
from ...core.cover import BoolArray
from ...core.noun import dataclass

TINY = 1e-290
"""What is less likely counts as impossible, so that no ratio overflows."""
Columns = tuple[int, ...]
"""Columns by number, ascending."""


@dataclass(frozen=True)
class JunctionTree:
    """The cliques, each behind its parent; the first is the root. `shared` are the columns that a clique has in common with its parent."""

    sizes: tuple[int, ...]
    cliques: tuple[Columns, ...]
    parents: tuple[int, ...]
    shared: tuple[Columns, ...]

    @classmethod
    def over(cls, sizes: Sequence[int], together: Iterable[Columns]) -> JunctionTree:
        """The smaller of two trees in which every set of columns that is named together lies in a clique."""
        together = list(together)
        both = [_cliques(sizes, together, order) for order in (_smallest_table, _fewest_edges)]
        cliques = min(both, key=lambda some: cells_of(sizes, some))
        return cls(tuple(sizes), *_joined(cliques))

    @cached_property
    def cells(self) -> int:
        """The cells of all cliques together: what a pass of belief propagation costs."""
        return cells_of(self.sizes, self.cliques)

    def home(self, columns: Columns) -> int:
        """The smallest clique that holds these columns."""
        within = [i for i, clique in enumerate(self.cliques) if set(columns) <= set(clique)]
        return min(within, key=lambda i: self.size(self.cliques[i]))

    def size(self, columns: Columns) -> int:
        """The cells of a table over some columns."""
        return math.prod(self.sizes[i] for i in columns)

    def spread(self, table: FloatArray, columns: Columns, clique: int) -> FloatArray:
        """A table over some columns of a clique, with an axis of length 1 for every other column of it."""
        shape = [self.sizes[i] if i in columns else 1 for i in self.cliques[clique]]
        return table.reshape(shape)

    def margin(self, table: FloatArray, clique: int, columns: Columns) -> FloatArray:
        """The sums of a clique's table over the columns that are not named."""
        away = tuple(axis for axis, i in enumerate(self.cliques[clique]) if i not in columns)
        return table.sum(axis=away) if away else table

    def walls(self, impossible: Mapping[Columns, BoolArray]) -> list[FloatArray]:
        """Potentials that say of each cell only whether it is impossible."""
        walls = [np.zeros([self.sizes[i] for i in clique]) for clique in self.cliques]
        for columns, cells in impossible.items():
            at = self.home(columns)
            walls[at] += self.spread(np.where(cells, -np.inf, 0.0), columns, at)
        return walls

    def beliefs(self, potentials: Sequence[FloatArray]) -> tuple[list[FloatArray], float]:
        """The probabilities of each clique's cells under p ~ exp(sum of potentials), and the logarithm of the normalizing sum.

        A potential of minus infinity makes a cell impossible. Extremes: no potentials give every combination the same probability.
        """
        log = 0.0
        tables: list[FloatArray] = []
        for potential in potentials:
            top = float(potential.max())
            if top == -math.inf:  # nothing is possible
                return list(potentials), -math.inf
            log += top
            tables.append(np.exp(potential - top))
        up: list[FloatArray] = [np.ones(())] * len(tables)
        for i in range(len(tables) - 1, 0, -1):  # towards the root
            message = self.margin(tables[i], i, self.shared[i])
            top = float(message.max())
            if top == 0:
                return tables, -math.inf
            log += math.log(top)
            up[i] = message / top
            parent = self.parents[i]
            tables[parent] *= self.spread(up[i], self.shared[i], parent)
        whole = float(tables[0].sum())
        if whole == 0:
            return tables, -math.inf
        tables[0] /= whole
        for i in range(1, len(tables)):  # and back: what the parent says, without what it was told
            parent = self.parents[i]
            said = self.margin(tables[parent], parent, self.shared[i])
            mine = self.margin(tables[i], i, self.shared[i])
            ratio = np.divide(said, mine, out=np.zeros_like(said), where=mine > TINY)
            tables[i] *= self.spread(ratio, self.shared[i], i)
        return tables, log + math.log(whole)


def cells_of(sizes: Sequence[int], cliques: Iterable[Columns]) -> int:
    """The cells of tables over these columns."""
    return sum(math.prod(sizes[i] for i in clique) for clique in cliques)


Order = Callable[[int, dict[int, set[int]], Sequence[int]], tuple[int, int]]


def _smallest_table(column: int, near: dict[int, set[int]], sizes: Sequence[int]) -> tuple[int, int]:
    return math.prod(sizes[i] for i in near[column]) * sizes[column], column


def _fewest_edges(column: int, near: dict[int, set[int]], sizes: Sequence[int]) -> tuple[int, int]:
    around = near[column]
    return sum(len(around - near[i]) - 1 for i in around), _smallest_table(column, near, sizes)[0]


def _cliques(sizes: Sequence[int], together: Sequence[Columns], order: Order) -> list[Columns]:
    """The maximal cliques of the graph that eliminating columns in this order makes chordal."""
    near: dict[int, set[int]] = {i: set() for i in range(len(sizes))}
    for columns in together:
        for i in columns:
            near[i] |= set(columns) - {i}
    made: list[Columns] = []
    while near:
        column = min(near, key=lambda i: (*order(i, near, sizes), i))
        around = near.pop(column)
        made.append(tuple(sorted({column, *around})))
        for i in around:
            near[i] |= around - {i}
            near[i].discard(column)
    return [clique for clique in made if not any(set(clique) < set(other) for other in made)]


def _joined(cliques: Sequence[Columns]) -> tuple[tuple[Columns, ...], tuple[int, ...], tuple[Columns, ...]]:
    """The cliques in an order that begins at the first, each with its parent and what they share: widest overlaps first (Prim)."""
    there, parents = [cliques[0]], [-1]
    shared: list[Columns] = [()]
    left = list(cliques[1:])
    while left:
        overlaps = [(len(set(a) & set(b)), -j, -i) for j, a in enumerate(left) for i, b in enumerate(there)]
        _, j, i = max(overlaps)
        clique = left.pop(-j)
        parents.append(-i)
        shared.append(tuple(sorted(set(clique) & set(there[-i]))))
        there.append(clique)
    return tuple(there), tuple(parents), tuple(shared)
