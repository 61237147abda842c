"""Design under a bound on mutual information: the channel that degrades least among those that tell at most so many bits (Shannon 1959).

Bezzi measures leakage as information about the whole input, not as the luck of one guess; this is the design for that measure, beside
the linear programs for the error of a guess. For a price s of degradation, `min_C I(X;Y) + s D(C)` is found by Blahut's iteration
(Blahut 1972): `C_xy = q_y A_xy / Z_x` with `A_xy = 2^(-s d_xy)` and `Z_x = sum_y q_y A_xy`, then `q_y = sum_x pi_x C_xy`.

**Certificate.** For every q, whatever its origin, `F(s) = -sum_x pi_x log2 Z_x - log2 max_y sum_x pi_x A_xy / Z_x` is at most I + s D of any
channel (Csiszar 1974), so that no channel of at most R bits degrades by less than `(F(s) - R) / s`. The best of these over all prices tried
is the bound; the channel is measured by arithmetic, and the gap between both is reported.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..core.column import FloatArray
from ..core.errors import InputError
from ..core.noun import dataclass
from .channel import Channel, Names
from .design_program import MET, Design, Task
from .leakage import mutual_information
from .prior import Prior

ROUNDS = 3_000
"""Of Blahut's iteration at one price; it stops earlier where its bounds meet."""
PRICES = 60
"""Halvings between a price that tells too little and one that tells too much."""


@dataclass(frozen=True, eq=False)
class Priced:
    """What the iteration found at one price: a channel, what it tells and costs, and what no channel goes below."""

    price: float
    matrix: FloatArray
    bits: float
    degradation: float
    floor: float
    """At most `I + price D` of any channel."""


def least_degradation_within(
    prior: Prior, degradation: FloatArray, *, bits: float, inputs: Names | None = None, outputs: Names | None = None
) -> Design:
    """The channel that degrades least among those with `I(X;Y) <= bits`.

    Extremes: with 0 bits all inputs are released alike, as what costs least on average; with H(X) bits or more each is released as what is
    cheapest for it.
    """
    task = Task.of(prior, degradation, None, "all", None, inputs, outputs)
    if not (math.isfinite(bits) and bits >= 0):
        raise InputError("The limit of mutual information is a finite number of bits, 0 or more.")
    alike = np.zeros_like(task.cost)
    alike[:, int((task.pi @ task.cost).argmin())] = 1.0
    cheapest = np.eye(task.cost.shape[1])[task.cost.argmin(axis=1)]
    if bits == 0:  # then Y does not depend on X, and its cost is an average of the columns' own
        return _measured(task, alike, bits, float((task.pi @ task.cost).min()))
    floor = float(task.pi @ task.cost.min(axis=1))
    if _bits(task, cheapest) <= bits:
        return _measured(task, cheapest, bits, floor)
    low: FloatArray = alike
    high: FloatArray = cheapest
    for found in _prices(task, bits):
        floor = max(floor, (found.floor - bits) / found.price)
        if found.bits <= bits:
            low = found.matrix
        else:
            high = found.matrix
        best = _between(task, low, high, bits)
        if float((task.pi[:, None] * task.cost * best).sum()) - floor <= MET / 10:
            break
    return _measured(task, best, bits, floor)


def _prices(task: Task, bits: float) -> Iterator[Priced]:
    """The iteration at prices that close in on the one at which a channel tells so many bits; each starts from the last."""
    pi, q = task.pi, np.full(task.cost.shape[1], 1.0 / task.cost.shape[1])
    spread = float((task.cost - task.cost.min(axis=1, keepdims=True)).max())
    below, above, price = 0.0, math.inf, 1.0 / spread
    for _ in range(PRICES):
        found, q = _at(task, pi, price, q)
        yield found
        below, above = (price, above) if found.bits <= bits else (below, price)
        price = 2 * below if math.isinf(above) else (below + above) / 2
        if math.isfinite(above) and above - below <= 1e-15 * above:
            return


def _at(task: Task, pi: FloatArray, price: float, q: FloatArray) -> tuple[Priced, FloatArray]:
    least = task.cost.min(axis=1, keepdims=True)
    weight = np.exp2(-price * (task.cost - least))
    offset = price * float(pi @ least[:, 0])
    q = 0.99 * q + 0.01 / len(q)  # an output that has fallen out at another price may come back
    floor, reached, step = -math.inf, math.inf, 1.0
    z = weight @ q
    gain = (pi / z) @ weight
    for _ in range(ROUNDS):
        value = -float(pi @ np.log2(z)) + offset
        floor = max(floor, value - math.log2(float(gain.max())))
        if math.log2(float(gain.max())) <= 1e-11:
            break
        reached = value
        moved = q * gain**step
        moved = moved / moved.sum()
        z = weight @ moved
        if (
            step > 1 and -float(pi @ np.log2(z)) + offset > reached
        ):  # too far: from here again, in a step that is proved to descend
            step, moved = 1.0, q * gain
            z = weight @ moved
        else:
            step = min(step * 1.2, 1e4)
        q = moved
        gain = (pi / z) @ weight
    matrix = weight * q / (weight @ q)[:, None]
    matrix = matrix / matrix.sum(axis=1, keepdims=True)
    return Priced(price, matrix, _bits(task, matrix), float((pi[:, None] * task.cost * matrix).sum()), floor), q


def _bits(task: Task, matrix: FloatArray) -> float:
    return mutual_information(Channel(matrix=matrix), task.pi)


def _between(task: Task, low: FloatArray, high: FloatArray, bits: float) -> FloatArray:
    """As much of the channel that tells too much as the limit allows; information is convex in the channel, and the cost linear."""
    least, most = 0.0, 1.0
    for _ in range(50):
        share = (least + most) / 2
        least, most = (share, most) if _bits(task, (1 - share) * low + share * high) <= bits else (least, share)
    mixed: FloatArray = (1 - least) * low + least * high
    return mixed


def _measured(task: Task, matrix: Any, bits: float, bound: float) -> Design:
    matrix = np.where((task.pi > 0)[:, None], matrix, np.eye(task.cost.shape[1])[task.cost.argmin(axis=1)])
    design = task.measured(matrix, "degradation", -math.inf, bound, "blahut-arimoto")
    over = max(_bits(task, matrix) - bits, 0.0)
    return Design(design.channel, design.error, design.degradation, "degradation", bound, over, design.solver)
