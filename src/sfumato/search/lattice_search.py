"""What a search saw of its lattice, height by height: which generalizations it checked, which it could leave out, and the one it chose."""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import reduce
from typing import Literal

import numpy as np

from ..core.errors import Infeasible
from ..core.noun import dataclass
from .full_domain import OptimalNode, solved
from .lattice import Lattice, Levels
from .problem import Problem

State = Literal["chosen", "met", "missed", "pruned"]


@dataclass(frozen=True)
class LatticeRow:
    """All generalizations whose levels add up to `height`: of `nodes`, so many were checked and met or missed the limits."""

    height: int
    nodes: int
    met: int
    missed: int

    @property
    def pruned(self) -> int:
        """Those that needed no look: what was known of others rules them out, or they lose more than the chosen one."""
        return self.nodes - self.met - self.missed


@dataclass(frozen=True, eq=False)
class LatticeSearch:
    """A search that is over. `best` is None where nothing meets the limits, or nothing was found in time; `why` says which."""

    lattice: Lattice
    best: OptimalNode | None
    why: str
    judged: Mapping[Levels, bool]
    rows: tuple[LatticeRow, ...]

    @property
    def checked(self) -> int:
        """How many different nodes were judged."""
        return len(self.judged)

    def state(self, levels: Levels) -> State:
        """What became of a node."""
        if self.best is not None and self.lattice.name(levels) == self.best.levels:
            return "chosen"
        feasible = self.judged.get(levels)
        return "pruned" if feasible is None else "met" if feasible else "missed"


def search_lattice(problem: Problem, *, suppression: float, time_limit: float | None) -> LatticeSearch:
    """Find the generalization of least loss, and remember what was looked at on the way."""
    started = time.monotonic()
    problem.judged = {}
    problem.deadline = None if time_limit is None else started + time_limit
    best, why = None, ""
    try:
        best = solved(problem, "loss", suppression=suppression, started=started)
        why = str(best)
    except Infeasible as reason:
        why = str(reason)
    return LatticeSearch(problem.lattice, best, why, problem.judged, _rows(problem.lattice, problem.judged))


def _rows(lattice: Lattice, judged: Mapping[Levels, bool]) -> tuple[LatticeRow, ...]:
    """How many nodes each height has: the coefficients of the product over the columns of 1 + x + ... + x^height."""
    nodes = reduce(np.convolve, [np.ones(n, dtype=object) for n in lattice.shape])
    seen = np.zeros((len(nodes), 2), dtype=np.int64)
    for levels, feasible in judged.items():
        seen[sum(levels), int(feasible)] += 1
    return tuple(LatticeRow(h, int(n), int(seen[h, 1]), int(seen[h, 0])) for h, n in enumerate(nodes))
