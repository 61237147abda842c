"""What an attack found, the same for all of them.

An attack on people is a share with an interval. Beside it stand two others: the same attack on people who are not in the release (the
control: what can be said of anybody), and an adversary who never saw the release (the baseline). What the release itself gives away
of the people in it is what lies above the control; without a control, what lies above the baseline.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

import numpy as np

from ..core.metric import Exactness
from ..core.noun import dataclass
from ..core.words import percent
from .standing import Standing, standing


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

    def exceeds(self, other: Rate) -> bool:
        """Whether it is measurably larger: the 95% interval of the difference lies above 0 (Newcombe 1998, from Wilson's two).

        >>> Rate.of(66, 100).exceeds(Rate.of(50, 100)), Rate.of(60, 100).exceeds(Rate.of(50, 100))
        (True, False)
        """
        if not self.people:
            return False
        error = float(np.hypot(self.value - self.low, other.high - other.value))
        return self.value - other.value > error

    def _about(self) -> list[str]:
        return [str(self)]

    def __str__(self) -> str:
        low, high = (percent(share).removesuffix("%") for share in (self.low, self.high))
        return f"{percent(self.value)} [{low}, {high}]"


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

    def _about(self) -> list[str]:
        return [self.name, str(self.success), f"{self.attacked:,} attacked"]

    @property
    def above(self) -> float:
        """How far the success lies above what can be done without the release: the larger of baseline and control."""
        others = [rate.value for rate in (self.baseline, self.control) if rate is not None]
        return self.success.value - max(others, default=0.0)

    @property
    def over_baseline(self) -> bool | None:
        """Whether it is measurably better than one who never saw the release; None without a baseline."""
        return None if self.baseline is None else self.success.exceeds(self.baseline)

    @property
    def over_control(self) -> bool | None:
        """Whether it is measurably better than on people who are not in the release; None without a control."""
        return None if self.control is None else self.success.exceeds(self.control)

    @property
    def weaker(self) -> bool:
        """Whether it does worse than one who never saw the release: then it is no attack worth the name, and proves nothing."""
        return self.baseline is not None and self.success.value < self.baseline.value

    @property
    def certain(self) -> int:
        """People of whom the release tells the secret for certain, where the attack counted them."""
        return int(self.details.get("certain_by_class", 0))

    @property
    def standing(self) -> Standing:
        """What the attack proves."""
        return standing(
            attacked=self.attacked,
            over_baseline=self.over_baseline,
            over_control=self.over_control,
            weaker=self.weaker,
            certain=self.certain,
        )

    @property
    def worked(self) -> bool | None:
        """Whether the release made the attack on its people better; None where the attack cannot tell."""
        return self.standing.worked

    @property
    def verdict(self) -> str:
        """What it was held against, and how that went, in words."""
        return self.standing.words
