"""What an adversary knows before the release: a distribution over the inputs of a channel (sec. 3.2.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from ..core.column import FloatArray
from ..core.errors import InputError
from .channel import TOLERANCE, Channel

Prior = FloatArray | Sequence[float] | Mapping[Any, float] | Literal["uniform"] | None
"""None and "uniform" are no knowledge; a vector has a number for each input; a mapping names inputs, all others have 0."""


def distribution(prior: Prior, channel: Channel) -> FloatArray:
    """The prior as an array of one probability an input, checked: finite, at least 0, summing to 1 within 1e-9."""
    n = channel.shape[0]
    if prior is None or (isinstance(prior, str) and prior == "uniform"):
        return np.full(n, 1.0 / n)
    if isinstance(prior, str):
        raise InputError('A prior is "uniform", a number for each input, or a mapping from inputs to numbers.')
    if isinstance(prior, Mapping):
        place = {name: i for i, name in enumerate(channel.input_names)}
        strange = sum(name not in place for name in prior)
        if strange:
            raise InputError(f"The prior names {strange} inputs that the channel does not have.")
        p = np.zeros(n)
        p[[place[name] for name in prior]] = [float(value) for value in prior.values()]
    else:
        try:
            p = np.array(prior, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputError("A prior is made of numbers, one for each input.") from None
        if p.shape != (n,):
            raise InputError(f"The channel has {n:,} inputs, but the prior has another number of probabilities.")
    flawed = ~np.isfinite(p) | (p < 0)
    if flawed.any():
        raise InputError(f"The prior of input {int(np.argmax(flawed)) + 1} is not a number from 0 to 1.")
    if abs(p.sum() - 1.0) > TOLERANCE:
        raise InputError(f"The prior sums to {p.sum():.12g}; the probabilities of all inputs must sum to 1.")
    return p
