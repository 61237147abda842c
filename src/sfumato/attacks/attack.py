"""What an attack found, the same for all of them.

An attack on people is a share with an interval. Beside it stand two others: the same attack on people who are not in the release (the
control: what can be said of anybody), and an adversary who never saw the release (the baseline). What the release itself gives away
is what lies above both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..core.metric import Exactness


@dataclass(frozen=True)
class Rate:
    """A share of people with its 95% interval."""

    value: float
    low: float
    high: float
    people: int

    @classmethod
    def of(cls, fell: float, people: int) -> Rate:
        """So many of so many fell; the interval is Wilson's, which is never empty and stays within 0 and 1.

        `fell` may be an expected number, where an adversary draws lots among several. Extremes: 0 of n has a low end of 0, n of n a high
        end of 1.
        """
        if people <= 0:
            return cls(0.0, 0.0, 1.0, 0)
        share = min(max(fell / people, 0.0), 1.0)
        z2 = 1.959963984540054**2
        middle = (share + z2 / (2 * people)) / (1 + z2 / people)
        half = float(np.sqrt(z2 * (share * (1 - share) / people + z2 / (4 * people**2)))) / (1 + z2 / people)
        low = 0.0 if share == 0 else max(middle - half, 0.0)
        high = 1.0 if share == 1 else min(middle + half, 1.0)
        return cls(share, low, high, people)

    def __str__(self) -> str:
        return f"{100 * self.value:.3g}% [{100 * self.low:.3g}, {100 * self.high:.3g}]"


@dataclass(frozen=True, kw_only=True)
class Attack:
    """An attack and how it went."""

    name: str
    title: str
    knew: str
    """What the adversary knew, in the owner's words."""
    effort: str
    """How hard it was: what had to be had and done."""
    attacked: int
    """People (or rows) that were attacked."""
    fell: float
    """Of them, so many fell; an expected number where the adversary has to guess among several."""
    success: Rate
    baseline: Rate | None
    """The same from an adversary who never saw the release."""
    control: Rate | None = None
    """The same against people who are not in the release; None if no such people are given."""
    exactness: Exactness = "exact"
    """exact: over everybody, by counting; bound; estimate: on a sample or by chance."""
    sentence: str = ""
    source: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)

    @property
    def above(self) -> float:
        """How far the success lies above what can be done without the release: the larger of baseline and control."""
        others = [rate.value for rate in (self.baseline, self.control) if rate is not None]
        return self.success.value - max(others, default=0.0)

    @property
    def worked(self) -> bool | None:
        """Whether the release made the attack better: its interval lies above those of baseline and control; None without both."""
        others = [rate.high for rate in (self.baseline, self.control) if rate is not None]
        return None if not others else self.success.low > max(others)
