"""The linear programs behind designed channels, how what a solver says is made feasible, and what proves how good it is.

Variables are the cells of C, a bound `z_y` of the best guess after each output and, for local differential privacy, `u_y`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from ..core.column import FloatArray, IntArray
from ..core.errors import InputError
from ..core.metric import Exactness
from ..core.noun import dataclass
from .adversary import error as error_of
from .adversary import gains
from .channel import Channel, Names, sparse
from .linear_program import Solver, minimise
from .prior import Prior, distribution
from .utility import degradation as degradation_of

MET = 1e-7
"""A gap, or an excess over a limit, that counts as none: what interior points leave."""
VERTEX = 2_000
"""Cells up to which the simplex method is used, which is exact to the last digits; beyond, the interior point of Clarabel."""

Neighbours = Literal["all", "next"] | Sequence[tuple[int, int]]
"""Which inputs eps is about: all pairs, each and the next in their order, or the pairs of numbers that are given."""


@dataclass(frozen=True, eq=False)
class Design:
    """A designed channel, with its error and its degradation as they are, and what no channel can do better than."""

    channel: Channel
    error: float
    degradation: float
    question: Literal["error", "degradation"]
    bound: float
    """The proved limit: of the largest error, or of the least degradation."""
    excess: float
    """How far the limit that was set, or e^eps, is overstepped by rounding."""
    solver: str

    @property
    def gap(self) -> float:
        """How much better any channel could possibly be."""
        return max(self.bound - self.error if self.question == "error" else self.degradation - self.bound, 0.0)

    @property
    def exactness(self) -> Exactness:
        """Exact if neither the gap nor the excess is more than 1e-7."""
        return "exact" if max(self.gap, self.excess) <= MET else "bound"


@dataclass(frozen=True, eq=False)
class Task:
    """The linear programs over one prior, degradation matrix, gain function and privacy constraint."""

    pi: FloatArray
    cost: FloatArray
    worth: FloatArray | None
    eps: float | None
    pairs: IntArray | None
    """Directed pairs of neighbours; None for all."""
    inputs: Names | None
    outputs: Names | None

    @classmethod
    def of(
        cls,
        prior: Prior,
        degradation: Any,
        eps: float | None,
        neighbours: Neighbours,
        gain: Any,
        inputs: Names | None,
        outputs: Names | None,
    ) -> Task:
        """The task of these arguments, each checked."""
        cost = np.asarray(degradation, dtype=np.float64)
        if cost.ndim != 2 or not cost.size or not np.isfinite(cost).all():
            raise InputError("The degradation matrix has a finite number for each input (row) and output (column).")
        n, m = cost.shape
        shell = Channel(matrix=np.full((n, m), 1.0 / m), inputs=inputs, outputs=outputs)
        if eps is not None and not (math.isfinite(eps) and eps >= 0):
            raise InputError("eps is a finite number of at least 0.")
        pairs = None
        if not isinstance(neighbours, str):
            pairs = np.array([tuple(pair) for pair in neighbours], dtype=np.int64).reshape(-1, 2)
            if len(pairs) and not ((pairs >= 0) & (pairs < n)).all():
                raise InputError(f"Neighbours are pairs of numbers of inputs, from 0 to {n - 1}.")
        elif neighbours == "next":
            pairs = np.stack([np.arange(n - 1), np.arange(1, n)], axis=1)
        elif neighbours != "all":
            raise InputError('Neighbours are "all", "next", or pairs of numbers of inputs.')
        if pairs is not None:
            pairs = np.unique(np.concatenate([pairs, pairs[:, ::-1]]), axis=0)
        worth = None if gain is None else gains(gain, shell)
        return cls(distribution(prior, shell), cost, worth, eps, pairs, inputs, outputs)

    @property
    def usual(self) -> Solver:
        """The solver unless another one is asked for."""
        return "simplex" if self.cost.size <= VERTEX else "clarabel"

    @property
    def blind(self) -> float:
        """The error of an adversary who sees nothing."""
        return 1.0 - float(self.pi.max() if self.worth is None else (self.worth @ self.pi).max())

    # --- the program --------------------------------------------------------------------------------------------------

    def solve(self, question: Literal["error", "degradation"], limit: float, solver: Solver) -> Design | None:
        """Build, solve, make feasible, and prove how good any channel can be; None where the solver finds no channel."""
        kit, (n, m) = sparse(), self.cost.shape
        cells = n * m
        weighted = kit.csr_array(kit.diags_array(self.pi) if self.worth is None else self.worth * self.pi)
        guesses, unit = weighted.shape[0], kit.eye_array(m)
        price = (self.pi[:, None] * self.cost).ravel()
        local = self.eps is not None and self.pairs is None
        top = self._top(question, limit)
        blocks: list[tuple[Any, Any, Any, float, float]] = [
            # z_y - sum_x pi_x g(w, x) C_xy >= 0
            (-kit.kron(weighted, unit), kit.kron(np.ones((guesses, 1)), unit), None, 0.0, np.inf)
            if top is None
            else (kit.kron(weighted[np.full(guesses, top)] - weighted, unit), None, None, 0.0, np.inf),
            (kit.kron(kit.eye_array(n), np.ones((1, m))), None, None, 1.0, 1.0),
        ]
        if question == "error":
            blocks.append((kit.csr_array(price[None]), None, None, -np.inf, limit))
            goal = np.concatenate([np.zeros(cells), np.ones(m)])
        else:
            blocks.append((None, kit.csr_array(np.ones((1, m))), None, -np.inf, 1.0 - limit))
            goal = np.concatenate([price, np.zeros(m)])
        if local:
            assert self.eps is not None
            spread = kit.kron(np.ones((n, 1)), unit)
            blocks.append((-kit.eye_array(cells), None, math.exp(self.eps) * spread, 0.0, np.inf))
            blocks.append((kit.eye_array(cells), None, -spread, 0.0, np.inf))
            goal = np.append(goal, np.zeros(m))
        elif self.eps is not None and self.pairs is not None and len(self.pairs):
            blocks.append((kit.kron(self._differences(), unit), None, None, 0.0, np.inf))
        widths = [cells, m, m][: 3 if local else 2]
        rows = []
        for *parts, _, _ in blocks:
            height = next(part.shape[0] for part in parts if part is not None)
            rows.append(kit.hstack([kit.csr_array((height, w)) if p is None else p for p, w in zip(parts, widths, strict=False)]))  # fmt: skip
        low = np.concatenate([np.full(row.shape[0], block[3]) for row, block in zip(rows, blocks, strict=True)])
        high = np.concatenate([np.full(row.shape[0], block[4]) for row, block in zip(rows, blocks, strict=True)])
        solution = minimise(goal, kit.vstack(rows), low, high, solver=solver)
        if "infeasible" in solution.status.lower() or not len(solution.x) or not np.isfinite(solution.x).all():
            return None
        ends = np.cumsum([row.shape[0] for row in rows])[:-1]
        multipliers = np.split(solution.multipliers, ends)
        matrix = self._feasible(solution.x[:cells].reshape(n, m), question, limit)
        return self.measured(matrix, question, limit, self._bound(question, limit, multipliers, guesses), solver)

    def measured(self, matrix: FloatArray, question: Literal["error", "degradation"], limit: float, bound: float, solver: str) -> Design:  # fmt: skip
        """A channel with what it is found to be."""
        channel = Channel(matrix=matrix, inputs=self.inputs, outputs=self.outputs)
        error = error_of(channel, self.pi, gain=self.worth)
        lost = degradation_of(channel, self.cost, self.pi)
        over = lost - limit if question == "error" else limit - error
        excess = max(over, self._overstepped(matrix), 0.0)
        return Design(channel, error, lost, question, bound, excess, solver)

    def _top(self, question: str, limit: float) -> int | None:
        """The guess that must be a best one after every output, where the error asked for is the largest that there is.

        The program has no interior there, and so the maximum is spelled out instead of bounded.
        """
        if question == "error" or limit < self.blind - 1e-9:
            return None
        return int(np.argmax(self.pi if self.worth is None else self.worth @ self.pi))

    def _differences(self) -> Any:
        """A row for each directed pair (x, x'): `e^eps C_x' - C_x`."""
        assert self.pairs is not None
        assert self.eps is not None
        each = np.arange(len(self.pairs))
        values = np.concatenate([np.full(len(each), -1.0), np.full(len(each), math.exp(self.eps))])
        place = (np.concatenate([each, each]), np.concatenate([self.pairs[:, 0], self.pairs[:, 1]]))
        return sparse().csr_array((values, place), shape=(len(each), len(self.pi)))

    # --- primal: a channel that keeps what was asked ------------------------------------------------------------------

    def _feasible(self, raw: FloatArray, question: str, limit: float) -> FloatArray:
        """Cut and scaled to a channel; then mixed with as little as is needed of one that keeps all limits."""
        matrix = np.where(raw > 1e-10, raw, 0.0)
        if self.eps is not None:
            matrix = self._ratios(matrix)
        else:  # an input that never occurs costs nothing, and is released as what would cost least
            matrix[self.pi == 0] = np.eye(matrix.shape[1])[self.cost[self.pi == 0].argmin(axis=1)]
        channel = Channel(matrix=matrix / matrix.sum(axis=1, keepdims=True))
        matrix = channel.matrix
        if question == "degradation":
            reached, all_alike = error_of(channel, self.pi, gain=self.worth), self.pi @ matrix
            if reached < limit and self.blind > reached:  # the error is concave in the channel
                share = min((limit - reached) / (self.blind - reached), 1.0)
                if share <= 1e-6 or limit - reached > MET:  # else it is rounding that would cost more than it is worth
                    matrix = (1 - share) * matrix + share * all_alike
        elif self.eps is None:
            lost, best = degradation_of(channel, self.cost, self.pi), float(self.pi @ self.cost.min(axis=1))
            if lost > limit and lost > best:
                share = min((lost - limit) / (lost - best), 1.0)
                matrix = (1 - share) * matrix + share * np.eye(matrix.shape[1])[self.cost.argmin(axis=1)]
        rows: FloatArray = matrix / matrix.sum(axis=1, keepdims=True)
        return rows

    def _ratios(self, matrix: FloatArray) -> FloatArray:
        """The same with all ratios kept: what is too small is raised, and what rows then lack of one another is shared out.

        The least matrix above C that keeps them is `max_x' C_x'y e^(-eps dist(x, x'))`, dist the steps between neighbours.
        """
        assert self.eps is not None
        if self.pairs is None:
            raised = np.maximum(matrix, math.exp(-self.eps) * matrix.max(axis=0))
        else:
            from scipy.sparse.csgraph import shortest_path

            n = len(matrix)
            ends = (np.ones(len(self.pairs)), (self.pairs[:, 0], self.pairs[:, 1]))
            apart = shortest_path(sparse().csr_array(ends, shape=(n, n)), unweighted=True)
            factor = np.where(np.isinf(apart), 0.0, np.exp(-self.eps * np.where(np.isinf(apart), 0.0, apart)))
            raised = np.stack([(row[:, None] * matrix).max(axis=0) for row in factor])
        total = raised.sum(axis=1)
        raised, lacking = raised / total.max(), 1.0 - total / total.max()
        middle = self.pi @ raised / (self.pi @ raised).sum()
        raised = raised + lacking[:, None] * middle
        share = (
            lacking.max() / (lacking.max() + math.expm1(self.eps)) if self.eps else 0.0
        )  # rows of neighbours are equal
        mixed: FloatArray = (1 - share) * raised + share * middle
        return mixed

    def _excess(self, matrix: FloatArray) -> FloatArray:
        """`C_xy - e^eps C_x'y` where it is above 0, the largest for each neighbour pair and output."""
        assert self.eps is not None
        factor = math.exp(self.eps)
        excess: FloatArray
        if self.pairs is None:
            excess = np.maximum(matrix.max(axis=0) - factor * matrix.min(axis=0), 0.0)[None]
            return excess
        if not len(self.pairs):
            return np.zeros((1, matrix.shape[1]))
        excess = np.maximum(matrix[self.pairs[:, 0]] - factor * matrix[self.pairs[:, 1]], 0.0)
        return excess

    def _overstepped(self, matrix: FloatArray) -> float:
        return 0.0 if self.eps is None else float(self._excess(matrix).max())

    # --- dual: what no channel can do better than -----------------------------------------------------------------------

    def _bound(self, question: str, limit: float, multipliers: list[FloatArray], guesses: int) -> float:
        """By weak duality, and never beyond what needs no proof: a blind guess, or the cheapest release of each input."""
        bound = self._dual(question, limit, multipliers, guesses)
        if question == "error":
            return min(bound, self.blind)
        return max(bound, float(self.pi @ self.cost.min(axis=1)))

    def _dual(self, question: str, limit: float, multipliers: list[FloatArray], guesses: int) -> float:
        """Weak duality, for whatever multipliers: guesses are made distributions, prices cut at 0."""
        n, m = self.cost.shape
        q = np.maximum(multipliers[0].reshape(guesses, m), 0.0)
        total = q.sum(axis=0)
        if (top := self._top(question, limit)) is not None:
            right = q if self.worth is None else self.worth.T @ q
            best = np.eye(n)[top] if self.worth is None else self.worth[top]
            return self._least(self.pi[:, None] * (self.cost + right - best[:, None] * total), multipliers)
        q = np.where(total > 0, q / np.where(total > 0, total, 1.0), 1.0 / guesses)
        right = q if self.worth is None else self.worth.T @ q  # sum_w q(w|y) g(w, x)
        price = max(-float(multipliers[2][0]), 0.0)
        cells = self.pi[:, None] * (right + price * self.cost if question == "error" else self.cost + price * right)
        least = self._least(cells, multipliers)
        return 1.0 - (least - price * limit) if question == "error" else least - price * (1.0 - limit)

    def _least(self, cells: FloatArray, multipliers: list[FloatArray]) -> float:
        """The Lagrangian's minimum: each input is released as what is cheapest for it, privacy's multipliers included."""
        n, m = self.cost.shape
        if self.eps is not None and len(multipliers) > 3:
            if self.pairs is None:
                above, below = (np.maximum(each.reshape(n, m), 0.0) for each in multipliers[3:])
                # the multiplier of u_y must not be negative: e^eps sum above <= sum below
                whole = math.exp(self.eps) * above.sum(axis=0)
                above = above * np.minimum(1.0, below.sum(axis=0) / np.where(whole > 0, whole, 1.0))
                cells = cells + above - below
            else:
                cells = cells - self._differences().T @ np.maximum(multipliers[3].reshape(-1, m), 0.0)
        return float(cells.min(axis=1).sum())
