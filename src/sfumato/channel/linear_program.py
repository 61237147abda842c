"""Linear programs by HiGHS and Clarabel: what the solver found, primal and dual. Nobody believes it: every result is checked by its caller."""

from __future__ import annotations

from types import ModuleType
from typing import Any, Literal

import numpy as np

from ..core.column import FloatArray
from ..core.errors import InputError, Unavailable
from ..core.noun import dataclass
from .channel import sparse

Solver = Literal["simplex", "ipm", "pdlp", "clarabel"]


def highs() -> ModuleType:
    """The package highspy, or a sentence that says how to get it."""
    try:
        import highspy
    except ImportError:
        raise Unavailable(
            "Worst priors and designed channels need the package highspy, which is not installed; install sfumato[channel]."
        ) from None
    return highspy


@dataclass(frozen=True, eq=False)
class Solution:
    """Values of the variables, multipliers of the rows, and what the solver says of itself."""

    x: FloatArray
    multipliers: FloatArray
    status: str


def minimise(
    cost: FloatArray,
    rows: Any,
    low: FloatArray,
    high: FloatArray,
    *,
    solver: Solver,
    tolerance: float | None = None,
    seconds: float | None = None,
) -> Solution:
    """`min cost x` with `low <= rows x <= high` and `x >= 0`; one multiplier a row, at least 0 for a lower side.

    HiGHS has simplex, interior point and PDLP; Clarabel, another interior point, takes no bounds but 0, and is the quicker one
    where rows are many (differential privacy). An interior point is not moved to a vertex: the callers' certificates need none. `tolerance` is the relative one of PDLP.
    """
    matrix = sparse().csc_array(rows)
    if solver == "clarabel":
        return _clarabel(cost, matrix, low, high, seconds)
    kit = highs()
    problem = kit.HighsLp()
    problem.num_row_, problem.num_col_ = matrix.shape
    problem.col_cost_ = np.asarray(cost, dtype=np.float64)
    problem.col_lower_ = np.zeros(len(cost))
    problem.col_upper_ = np.full(len(cost), np.inf)
    problem.row_lower_, problem.row_upper_ = low, high
    problem.a_matrix_.format_ = kit.MatrixFormat.kColwise
    problem.a_matrix_.start_ = matrix.indptr.astype(np.int32)
    problem.a_matrix_.index_ = matrix.indices.astype(np.int32)
    problem.a_matrix_.value_ = matrix.data
    highs_ = kit.Highs()
    settings: dict[str, Any] = {"output_flag": False, "solver": solver}
    if solver == "ipm":
        settings |= {"run_crossover": "off", "ipm_optimality_tolerance": 1e-11}
    if solver == "pdlp" and tolerance is not None:
        settings["kkt_tolerance"] = tolerance
    if seconds is not None:
        settings["time_limit"] = float(seconds)
    for name, value in settings.items():
        if highs_.setOptionValue(name, value) != kit.HighsStatus.kOk:
            raise InputError(f"HiGHS does not take {name} = {value}; is it an older one?")
    highs_.passModel(problem)
    highs_.run()
    solution = highs_.getSolution()
    return Solution(
        np.array(solution.col_value, dtype=np.float64),
        np.array(solution.row_dual, dtype=np.float64),
        highs_.modelStatusToString(highs_.getModelStatus()),
    )


def _clarabel(cost: FloatArray, matrix: Any, low: FloatArray, high: FloatArray, seconds: float | None) -> Solution:
    """`min cost x` with `x >= 0` and rows that are equations or have one side."""
    try:
        import clarabel
    except ImportError:
        raise Unavailable(
            "Designed channels need the package clarabel, which is not installed; install sfumato[channel]."
        ) from None
    kit = sparse()
    rows = kit.csr_array(matrix)
    equal, above, below = low == high, (low != high) & np.isfinite(low), (low != high) & np.isfinite(high)
    size = len(cost)
    # clarabel asks for `A x + s = b` with s in a cone: 0 for equations, at least 0 for all others
    stacked = kit.csc_matrix(kit.vstack([rows[equal], -rows[above], rows[below], -kit.eye_array(size)]))
    side = np.concatenate([low[equal], -low[above], high[below], np.zeros(size)])
    count = int(equal.sum())
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
    settings.max_iter = 200
    if seconds is not None:
        settings.time_limit = float(seconds)
    cones = [clarabel.ZeroConeT(count), clarabel.NonnegativeConeT(len(side) - count)]
    solution = clarabel.DefaultSolver(kit.csc_matrix((size, size)), cost, stacked, side, cones, settings).solve()
    z = np.array(solution.z, dtype=np.float64)
    multipliers = np.zeros(len(low))
    ends = np.cumsum([count, int(above.sum()), int(below.sum())])
    multipliers[equal], multipliers[above], multipliers[below] = -z[:count], z[count : ends[1]], -z[ends[1] : ends[2]]
    return Solution(np.array(solution.x, dtype=np.float64), multipliers, str(solution.status))
