"""One distribution behind many noisy marginals that contradict one another.

Of a table with N rows the marginals y_r = N mu_r + noise of deviation s_r are known. The fit is the flattest distribution that explains
them, maximum entropy with relaxed constraints (Chen, Rosenfeld 2000; Dudik, Phillips, Schapire 2007):

    argmin over p   N KL(p, uniform) + sum_r |N mu_r(p) - y_r|^2 / (2 c_r),      c_r = 8 s_r^(3/2) / sqrt(N)                  (1)

McKenna, Sheldon, Miklau 2019 (Private-PGM) and MST and AIM after it minimize the squares alone, c_r -> 0, and stop before the noise is
fitted. Here c_r says how far the noise may be off: in shares of N it does not change where N and all s_r grow together, and the 8, which we
chose by the error on Adult at epsilon 0.1, 1 and 10, may be off by half or twice with little harm. The solution is p ~ exp(sum_r theta_r)
with theta_r = (y_r - N mu_r) / c_r, and theta minimizes the dual of (1),

    F(theta) = N log Z(theta) - sum_r <theta_r, y_r> + sum_r c_r |theta_r|^2 / 2,                                            (2)

smooth, convex and without constraints: L-BFGS (Liu, Nocedal 1989), each coordinate scaled by its curvature, needs tens of passes of belief
propagation where mirror descent needs hundreds, and starts again from the last solution when a marginal is added.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence

import numpy as np

from ...core.column import FloatArray
from ...core.cover import BoolArray
from ...core.noun import dataclass
from .junction_tree import Columns, JunctionTree

SLACK = 8.0
MEMORY = 12
"""Steps whose curvature L-BFGS remembers."""


@dataclass(frozen=True, eq=False)
class NoisyMarginal:
    """Counts over some columns, each off by noise of this variance."""

    columns: Columns
    counts: FloatArray
    variance: float


@dataclass(frozen=True, eq=False)
class Fit:
    """A distribution: the tree, the probabilities of its cliques, and the potentials to start the next fit from."""

    tree: JunctionTree
    beliefs: list[FloatArray]
    potentials: dict[Columns, FloatArray]

    def marginal(self, columns: Columns) -> FloatArray:
        """The probabilities over columns that lie in one clique."""
        home = self.tree.home(columns)
        return self.tree.margin(self.beliefs[home], home, columns)


def merged(marginals: Sequence[NoisyMarginal]) -> list[NoisyMarginal]:
    """One marginal for all measurements of the same columns, weighted by their precision."""
    by_columns: dict[Columns, list[NoisyMarginal]] = {}
    for marginal in marginals:
        by_columns.setdefault(marginal.columns, []).append(marginal)
    together = []
    for columns, some in by_columns.items():
        precision = sum(1 / one.variance for one in some)
        counts = sum((one.counts / one.variance for one in some), np.zeros_like(some[0].counts)) / precision
        together.append(NoisyMarginal(columns, counts, 1 / precision))
    return together


def rows_in(marginals: Sequence[NoisyMarginal]) -> float:
    """The number of rows that marginals tell: their sums, each weighted by the precision that the noise of its cells leaves."""
    weights = [1 / (marginal.variance * marginal.counts.size) for marginal in marginals]
    sums = [float(marginal.counts.sum()) for marginal in marginals]
    return float(np.dot(weights, sums) / sum(weights))


def fit(
    sizes: Sequence[int],
    marginals: Sequence[NoisyMarginal],
    *,
    rows: float,
    impossible: Mapping[Columns, BoolArray] | None = None,
    start: Mapping[Columns, FloatArray] | None = None,
    steps: int = 100,
    near: float = 0.05,
) -> Fit:
    """The minimum of (2), to within `near` deviations of the noise on average, or after so many steps.

    `impossible` marks cells that have probability 0 whatever was measured. Extremes: marginals without noise are met; nothing but noise
    gives about the uniform distribution.
    """
    impossible = impossible or {}
    start = start or {}
    some = merged(marginals)
    rows = max(rows, 1.0)
    tree = JunctionTree.over(sizes, [*(m.columns for m in some), *impossible])
    homes = [tree.home(m.columns) for m in some]
    shapes = [m.counts.shape for m in some]
    ends = np.cumsum([m.counts.size for m in some])[:-1]
    variance = np.concatenate([np.full(m.counts.size, m.variance) for m in some])
    ridge = SLACK * variance**0.75 / rows**0.5
    counts = np.concatenate([m.counts.ravel() for m in some])
    scale = 1 / np.sqrt(ridge + np.clip(counts, 0, rows))

    walls = tree.walls(impossible)

    def tables(theta: FloatArray) -> list[FloatArray]:
        return [part.reshape(shape) for part, shape in zip(np.split(theta, ends), shapes, strict=True)]

    def look(theta: FloatArray) -> tuple[float, FloatArray, list[FloatArray]]:
        potentials = [wall.copy() for wall in walls]
        for marginal, home, table in zip(some, homes, tables(theta), strict=True):
            potentials[home] += tree.spread(table, marginal.columns, home)
        beliefs, log = tree.beliefs(potentials)
        means = [tree.margin(beliefs[home], home, m.columns).ravel() for m, home in zip(some, homes, strict=True)]
        pull = ridge * theta
        value = rows * log + float((theta * (0.5 * pull - counts)).sum())
        return value, rows * np.concatenate(means) - counts + pull, beliefs

    theta = np.concatenate([np.asarray(start.get(m.columns, np.zeros(m.counts.shape))).ravel() for m in some])
    value, slope, beliefs = look(theta)
    past: deque[tuple[FloatArray, FloatArray, float]] = deque(maxlen=MEMORY)
    for _ in range(steps):
        if float(np.sqrt(np.mean(slope**2 / variance))) < near:
            break
        way = -_towards(slope * scale, past) * scale
        down = float((way * slope).sum())
        length = 1.0
        while length > 1e-6:
            ahead = theta + length * way
            new_value, new_slope, new_beliefs = look(ahead)
            if new_value <= value + 1e-4 * length * down:
                break
            length /= 2
        else:
            break  # as near as rounding lets it come
        moved, turned = (ahead - theta) / scale, (new_slope - slope) * scale
        curvature = float((moved * turned).sum())
        if curvature > 0:
            past.append((moved, turned, curvature))
        theta, value, slope, beliefs = ahead, new_value, new_slope, new_beliefs
    return Fit(tree, beliefs, {m.columns: table for m, table in zip(some, tables(theta), strict=True)})


def _towards(slope: FloatArray, past: deque[tuple[FloatArray, FloatArray, float]]) -> FloatArray:
    """The slope times an inverse curvature that agrees with the last steps (the two loops of L-BFGS)."""
    way, parts = slope.copy(), []
    for moved, turned, curvature in reversed(past):
        part = float((moved * way).sum()) / curvature
        way -= part * turned
        parts.append(part)
    if past:
        _, turned, curvature = past[-1]
        way *= curvature / float((turned**2).sum())
    for (moved, turned, curvature), part in zip(past, reversed(parts), strict=True):
        way += moved * (part - float((turned * way).sum()) / curvature)
    return way
