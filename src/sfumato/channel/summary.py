"""Everything that is asked of a channel, in one mapping: what `sfumato channel` prints."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from .adversary import adversaries, bounds, santhi_vardy
from .channel import Channel
from .leakage import (
    additive_leakage,
    bayes_capacity,
    capacity,
    conditional_entropy,
    min_entropy_leakage,
    multiplicative_leakage,
    mutual_information,
)
from .prior import Prior, distribution
from .worst_prior import worst_prior

LISTED = 1_000
"""Inputs up to which the worst prior is spelled out."""


def summary(channel: Channel, prior: Prior = None, *, worst: bool = True) -> dict[str, Any]:
    """Errors, bounds, leakages, capacities and, unless it is not wanted, the worst prior; entropies in bits."""
    pi = distribution(prior, channel)
    four, limits, most = adversaries(channel, pi), bounds(channel), capacity(channel)
    content: dict[str, Any] = {
        "inputs": channel.shape[0],
        "outputs": channel.shape[1],
        "entries": len(channel.entries[0]),
        "error": four.both,
        "exactness": "exact",
        "adversaries": asdict(four),
        "bounds": [limits.low, limits.high],
        "place": limits.place,
        "santhi_vardy": santhi_vardy(channel, pi),
        "conditional_entropy": conditional_entropy(channel, pi),
        "mutual_information": mutual_information(channel, pi),
        "additive_leakage": additive_leakage(channel, pi),
        "multiplicative_leakage": multiplicative_leakage(channel, pi),
        "min_entropy_leakage": min_entropy_leakage(channel, pi),
        "bayes_capacity": bayes_capacity(channel),
        "capacity": {"low": most.low, "high": most.high, "exactness": most.exactness},
    }
    if worst:
        hardest = worst_prior(channel)
        content["worst_prior"] = {
            "error": hardest.error,
            "low": hardest.low,
            "high": hardest.high,
            "exactness": hardest.exactness,
            "solver": hardest.solver,
        }
        if channel.shape[0] <= LISTED:
            content["worst_prior"]["prior"] = hardest.prior.tolist()
    return content
