"""How an attack went, and what that proves: one judgement for the command line, the WP29 sheet and every other document.

The success of an attack on people is a share with an interval. Beside it stand two others: the same attack on people who are not in the
release (the control: what can be said of anybody), and an adversary who never saw the release (the baseline). What the release itself
gives away of the people in it is what lies above the control; without a control, what lies above the baseline.

An attack that fails proves little: a better one may work. So only an attack that does at least as well as blind guessing, and no
measurably better than that and than on people outside the release, counts as one that the release withstands.

| standing | the attack is measurably | what follows |
|---|---|---|
| works | above people outside the release, or above the baseline where there are none; or it is certain of somebody | the release gives people away |
| general | above the baseline, and no better than on people outside | it tells a fact about people in general |
| fails | above nothing, and no weaker than the baseline; or the release leaves nobody to attack | this attack gains nothing from the release |
| inconclusive | weaker than the baseline, or there is nothing to compare it with | it says nothing about the release |
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, ClassVar, Literal, Self

import numpy as np

from .metric import Exactness
from .noun import Sheet, dataclass
from .words import counted, percent

Standings = Literal["works", "general", "fails", "inconclusive"]
MARKS: dict[Standings, str] = {"works": "✗", "general": "~", "fails": "✓", "inconclusive": "?"}


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


@dataclass(frozen=True)
class Standing:
    """How an attack is judged, and what it was held against, in words."""

    verdict: Standings
    words: str

    @property
    def worked(self) -> bool | None:
        """Whether the release made the attack on its people better; None where the attack cannot tell."""
        return None if self.verdict == "inconclusive" else self.verdict == "works"


def standing(
    *, attacked: int, over_baseline: bool | None, over_control: bool | None, weaker: bool = False, certain: int = 0
) -> Standing:
    """Judge an attack by whether it is measurably above the baseline and above people outside the release (None: not known).

    `weaker`: its success lies below the baseline's. `certain`: people of whom the release tells the secret for certain, which a rate
    of right guesses does not show: a blind guess of the most frequent value is right for many of them.

    >>> standing(attacked=9, over_baseline=True, over_control=None)
    Standing(verdict='works', words='above the baseline')
    >>> standing(attacked=9, over_baseline=False, over_control=None, weaker=True).words
    'inconclusive: the attack does worse than guessing blindly'
    """
    words = _compared(attacked, over_baseline, over_control)
    if certain:
        sure = f"the class of {counted(certain, 'person', 'people')} tells the value for certain"
        return Standing("works", f"{words}, but {sure}" if attacked and not over_baseline else f"{words}; {sure}")
    if not attacked:
        return Standing("fails", words)
    if over_baseline is None and over_control is None:
        return Standing("inconclusive", words)
    if over_control or (over_baseline and over_control is None):
        return Standing("works", words)
    if over_baseline:
        return Standing("general", words)
    if weaker:
        return Standing("inconclusive", "inconclusive: the attack does worse than guessing blindly")
    return Standing("fails", words)


def _compared(attacked: int, over_baseline: bool | None, over_control: bool | None) -> str:
    """In words whether an attack is measurably better on people in the release than on others, and than without it."""
    if not attacked:
        return "nobody to attack"
    known = {"people outside the release": over_control, "the baseline": over_baseline}
    higher = [name for name, over in known.items() if over]
    lower = [name for name, over in known.items() if over is False]
    if not higher and not lower:
        return "nothing to compare with"
    if not higher:
        return f"not measurably above {' or '.join(lower)}"
    if not lower:
        return f"above {' and '.join(higher)}"
    if over_control:
        return f"above {higher[0]}, not measurably above {lower[0]}"
    return f"not measurably above {lower[0]}, though above {higher[0]}"


@dataclass(frozen=True, kw_only=True)
class AttackDetails:
    """What an attack counted beside its rates; every attack has a record of its own. None: it was not asked for, or there is none."""

    owners: ClassVar[tuple[str, ...]] = ("found", "shown")
    """Fields with names, classes or values, which only `reveal` fills: for the owner's eyes only."""

    column: str | None = None
    """The sensitive column that was attacked."""

    @property
    def attacked_column(self) -> str | None:
        """The column whose values were to be learned, if the attack is on one."""
        return self.column

    @property
    def certain_people(self) -> int:
        """People of whom the release tells the secret for certain, where the attack counted them."""
        return 0

    @property
    def revealed(self) -> Any:
        """What `reveal` showed; None without it."""
        return next((value for name in self.owners if (value := getattr(self, name, None)) is not None), None)

    def without_values(self) -> Self:
        """The same without what `reveal` showed."""
        return dataclasses.replace(self, **{name: None for name in self.owners if hasattr(self, name)})

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready: what there is."""
        content = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return {name: value for name, value in content.items() if value is not None}


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How an attack went. What it leaves empty of name, title, knew, effort and source is the card's word."""

    name: str = ""
    title: str = ""
    knew: str = ""
    """What the adversary knew, in the owner's words."""
    effort: str = ""
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
    details: AttackDetails = AttackDetails()

    @classmethod
    def of(cls, fell: float, people: int, blind: float, **more: Any) -> Outcome:
        """So many people attacked, so many of them fell, and so many would have fallen to one who never saw the release."""
        return cls(attacked=people, fell=fell, success=Rate.of(fell, people), baseline=Rate.of(blind, people), **more)

    def _about(self) -> list[str]:
        return [self.name, str(self.success), f"{self.attacked:,} attacked"]

    def _repr_html_(self) -> str:
        rates = {"success": self.success, "blind guessing": self.baseline, "people outside the release": self.control}
        rows = [(name, str(rate)) for name, rate in rates.items() if rate is not None]
        rows += [("the adversary knows", self.knew), ("standing", self.standing.words), ("how sure", self.exactness)]
        return Sheet(f"{self.title}: {self.attacked:,} attacked", rows).html()

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
        return self.details.certain_people

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

    @property
    def column(self) -> str | None:
        """The sensitive column that was attacked, if the attack is on one."""
        return self.details.attacked_column

    def as_dict(self) -> dict[str, Any]:
        """Everything, as plain data."""
        content = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        for name in ("success", "baseline", "control"):
            content[name] = None if content[name] is None else dataclasses.asdict(content[name])
        return {
            **content,
            "details": self.details.to_dict(),
            "above": self.above,
            "worked": self.worked,
            "verdict": self.standing.verdict,
        }


def worst(outcomes: Sequence[Outcome]) -> Outcome:
    """The outcome that counts: one that works, if any does; of several the one furthest above what is possible without the release."""
    return max(outcomes, key=lambda one: (bool(one.worked), one.above, one.success.value))
