"""What the metrics that play an adversary share: an attack as a score."""

from __future__ import annotations

from ...core.metric import Score
from ...core.parameter import Number
from ..attack import Attack

ATTACKS = Number(2000, low=1, high=1_000_000, whole=True)


def scored(attack: Attack, unit: str) -> Score:
    """The success of an attack with its interval, and what an adversary without the release does."""
    assert attack.baseline is not None
    details = {
        "attacked": attack.attacked,
        "fell": attack.fell,
        "baseline": attack.baseline.value,
        "above_baseline": attack.above,
        **attack.details,
    }
    return Score(
        attack.success.value, unit, attack.exactness, ci=(attack.success.low, attack.success.high), details=details
    )
