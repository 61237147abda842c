"""Error against degradation: the frontier of designed channels, and how far published mechanisms stay below it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..core.column import FloatArray
from ..core.errors import InputError
from ..core.noun import dataclass
from .adversary import error as error_of
from .channel import Channel, Names
from .design import Design, least_degradation, most_private
from .prior import Prior, distribution
from .utility import degradation as degradation_of


def frontier(prior: Prior, degradation: FloatArray, *, points: int = 11, **privacy: Any) -> list[Design]:
    """Designs at equal steps of the budget, from the least degradation that can be had to the least with the largest error.

    The error as a function of the budget is concave and never falls. `privacy` is eps, neighbours, gain and names, as for
    `most_private`.
    """
    if points < 2:
        raise InputError("A frontier has at least two points.")
    first = least_degradation(prior, degradation, error=0.0, **privacy)
    cost = np.asarray(degradation, dtype=np.float64)
    pi = distribution(prior, first.channel)
    gain = privacy.get("gain")
    blind = 1.0 - float(pi.max() if gain is None else (np.asarray(gain) @ pi).max())
    last = least_degradation(pi, cost, error=blind, **privacy)
    budgets = np.linspace(first.degradation, max(last.degradation, first.degradation), points)
    return [most_private(pi, cost, budget=float(budget), **privacy) for budget in budgets]


@dataclass(frozen=True)
class Compared:
    """A mechanism and the design of the same degradation."""

    name: str
    degradation: float
    error: float
    designed: float
    """The error of the designed channel."""
    bound: float
    """No channel of that degradation has a larger one."""


def against(prior: Prior, degradation: FloatArray, others: Mapping[str, Channel], **privacy: Any) -> list[Compared]:
    """Each mechanism beside what could be had for its degradation. They must have the outputs of the degradation matrix."""
    lines = []
    for name, channel in others.items():
        pi = distribution(prior, channel)
        lost, error = degradation_of(channel, degradation, pi), error_of(channel, pi, gain=privacy.get("gain"))
        best = most_private(pi, degradation, budget=lost, **privacy)
        lines.append(Compared(name, lost, error, best.error, best.bound))
    return lines


def among(channels: Sequence[tuple[Channel, FloatArray]]) -> tuple[FloatArray, list[Channel], Names]:
    """Mechanisms of one set of inputs and different outputs over all of their outputs together, with the costs side by side.

    So PRAM, which releases values, and a generalization, which releases groups, become points of one design problem.
    """
    if len({channel.shape[0] for channel, _ in channels}) != 1:
        raise InputError("Mechanisms can be compared that have the same inputs.")
    width, start, wide = sum(channel.shape[1] for channel, _ in channels), 0, []
    names: list[Any] = []
    for i, (channel, _) in enumerate(channels):
        matrix = np.zeros((channel.shape[0], width))
        matrix[:, start : start + channel.shape[1]] = channel.dense()
        start += channel.shape[1]
        names += [(i, name) for name in channel.output_names]
        wide.append(matrix)
    cost = np.concatenate([np.asarray(each, dtype=np.float64) for _, each in channels], axis=1)
    made = [Channel(matrix=matrix, inputs=channels[0][0].inputs, outputs=names) for matrix in wide]
    return cost, made, names
