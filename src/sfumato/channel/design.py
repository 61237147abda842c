"""Mechanisms made to measure: the channel with the largest error under a budget of degradation, or the reverse (sec. 6).

With `z_y >= sum_x pi_x C_xy g(w, x)` for every guess w the error is `1 - sum_y z_y`, and so both questions are linear
programs in C: maximise the error with `sum_x pi_x sum_y C_xy d(x, y) <= budget` (eq. 16 is that expectation), or minimise
the degradation with `sum_y z_y <= 1 - error`. Differential privacy is linear too: `C_xy <= e^eps C_x'y` for neighbours x, x';
where all inputs are neighbours (local differential privacy) `u_y <= C_xy <= e^eps u_y` says it with fewer rows.

**Certificates.** The channel is made feasible and measured by arithmetic. Guesses `q(w|y)`, a price of the budget and
multipliers of the privacy constraints, whatever their origin, prove how good any channel can be (weak duality): with them the
Lagrangian is a sum over inputs of a minimum over outputs. The gap between both is reported. 200 x 200 takes seconds.
"""

from __future__ import annotations

import math

import numpy as np

from ..core.column import FloatArray
from ..core.errors import Infeasible, InputError, Unavailable
from .channel import Names
from .design_program import MET, Design, Neighbours, Task
from .linear_program import Solver
from .prior import Prior

__all__ = ["Design", "Neighbours", "least_degradation", "most_private"]


def most_private(
    prior: Prior,
    degradation: FloatArray,
    *,
    budget: float,
    eps: float | None = None,
    neighbours: Neighbours = "all",
    gain: FloatArray | None = None,
    inputs: Names | None = None,
    outputs: Names | None = None,
    solver: Solver | None = None,
) -> Design:
    """The channel with the largest error among those whose expected degradation is at most `budget`.

    `degradation[x, y]` is what it costs that x is released as y. Extremes: without eps and with the least budget that can
    be met every input is released as what is cheapest for it; with a large one all are released alike and the error is that
    of the prior alone. Raises Infeasible if no channel keeps the budget.
    """
    task = Task.of(prior, degradation, eps, neighbours, gain, inputs, outputs)
    solver = solver or task.usual
    if not math.isfinite(budget):
        raise InputError("The budget is a finite number in the unit of the degradation matrix.")
    least = float(task.pi @ task.cost.min(axis=1))  # without eps this can be had
    design = task.solve("error", budget, solver) if budget >= least else None
    if design is not None and design.excess <= MET:
        return design
    # The budget is too small, or so near to that that the solver is lost: what degrades least of all tells which
    cheap = None if eps is None else task.solve("degradation", 0.0, solver)
    least = least if cheap is None else cheap.degradation
    if budget < least - MET * max(1.0, abs(least)):
        raise Infeasible(f"Every channel degrades by {least:.6g} at least; the budget of {budget:.6g} cannot be kept.")
    start = design.channel.matrix if design is not None else None
    end = cheap.channel.matrix if cheap is not None else np.eye(task.cost.shape[1])[task.cost.argmin(axis=1)]
    share = 1.0 if design is None else (design.degradation - budget) / max(design.degradation - least, 1e-300)
    matrix = end if start is None else (1 - min(share, 1.0)) * start + min(share, 1.0) * end
    return task.measured(matrix, "error", budget, task.blind if design is None else design.bound, solver)


def least_degradation(
    prior: Prior,
    degradation: FloatArray,
    *,
    error: float,
    eps: float | None = None,
    neighbours: Neighbours = "all",
    gain: FloatArray | None = None,
    inputs: Names | None = None,
    outputs: Names | None = None,
    solver: Solver | None = None,
) -> Design:
    """The channel that degrades least among those under which the adversary's error is at least `error`.

    Raises Infeasible if that is more than the prior leaves to an adversary who sees nothing.
    """
    task = Task.of(prior, degradation, eps, neighbours, gain, inputs, outputs)
    solver = solver or task.usual
    if not error <= task.blind + 1e-12:
        raise Infeasible(
            f"Under this prior nobody errs in more than {task.blind:.6g} of all cases, whatever is released; an error of "
            f"{error:.6g} cannot be reached."
        )
    if (design := task.solve("degradation", min(error, task.blind), solver)) is None:
        raise Unavailable(f"The solver {solver} found no channel; try another one, or a smaller error.")
    return design
