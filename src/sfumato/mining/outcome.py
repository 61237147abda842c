"""What mining found of a release: every figure with an interval from the folds."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import numpy as np

from ..core.column import FloatArray, IntArray
from ..core.noun import dataclass
from .folds import interval


def sums(fold: IntArray, rows: FloatArray, folds: int) -> FloatArray:
    """The sum of each fold."""
    return np.bincount(fold, weights=rows, minlength=folds).astype(np.float64)


@dataclass(frozen=True)
class Estimate:
    """A number and its 95% interval."""

    value: float
    low: float
    high: float

    @classmethod
    def total(cls, rows: FloatArray, fold: IntArray, folds: int, *, at_least: float | None = None) -> Estimate:
        """The sum over rows, its interval from the sums of the folds."""
        per_fold = sums(fold, rows, folds)
        low, high = interval(per_fold)
        return cls(float(rows.sum()), low if at_least is None else max(low, at_least), high)

    @classmethod
    def mean(cls, rows: FloatArray, fold: IntArray, folds: int) -> Estimate:
        """The mean over rows, its interval from the means of the folds."""
        per_fold = sums(fold, rows, folds)
        n = np.bincount(fold, minlength=folds)
        low, high = interval(per_fold[n > 0] / n[n > 0], total=False)
        return cls(float(rows.mean()), low, high)

    def scaled(self, factor: float) -> Estimate:
        """The same in another unit."""
        return Estimate(self.value * factor, self.low * factor, self.high * factor)


def decline(before: FloatArray, after: FloatArray, *, paired: bool) -> Estimate:
    """`1 - after/before` of sums over folds, negative where the release gains; the interval of a ratio, linearized.

    Paired folds hold the same people on both sides, so what is hard about a fold cancels.
    """
    from scipy.stats import t

    whole = float(before.sum())
    if whole <= 0:
        return Estimate(np.nan, np.nan, np.nan)
    ratio = float(after.sum()) / whole
    folds = len(before)
    if paired:
        spread = float((after - ratio * before).var(ddof=1))
    else:
        spread = float(after.var(ddof=1) + ratio**2 * before.var(ddof=1))
    half = float(t.ppf(0.975, folds - 1) * np.sqrt(folds * spread) / whole)
    return Estimate(1 - ratio, 1 - ratio - half, 1 - ratio + half)


@dataclass(frozen=True)
class MinerUtility:
    """What one miner is worth to a user, before and after."""

    miner: str
    original: Estimate
    released: Estimate
    decline: Estimate
    """1 - released/original; below 0 where the release gains."""
    release_to_original: Estimate | None = None
    """Trained on the release, asked of the original rows."""
    original_to_release: Estimate | None = None
    trained_on: int = 0
    sampled: bool = False


@dataclass(frozen=True)
class MinedGroup:
    """The people with one value of a column, and what the deciding miner is worth for them, as a mean per unit of weight."""

    column: str
    value: str
    rows: int
    original: float
    released: float
    decline: Estimate


@dataclass(frozen=True)
class GoodOutcome:
    """`(1 - delta, L)`: for every miner of L the release keeps at least 1 - delta of the utility."""

    field: str
    task: str
    miners: tuple[MinerUtility, ...]
    delta: Estimate
    """The largest decline, 0 if no miner loses."""
    decided_by: str
    baseline: Estimate
    """A user who never saw a release and says the same of everybody."""
    total: float
    """The utility of being right about everybody; a figure divided by it is a share."""
    groups: tuple[MinedGroup, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class AimOutcome:
    """`(average, worst, the worst miner)` of one aim of the adversary, in people as they are weighted."""

    aim: str
    nearer: float
    average: Estimate
    worst: Estimate
    worst_miner: str
    baseline: Estimate
    """An adversary who never saw the release and says one thing of everybody, the best there is."""
    told: float
    """The weight of the people whose value the release itself tells exactly: nothing can be nearer."""
    total: float
    """The weight of all people."""
    miners: Mapping[str, Estimate] = dataclasses.field(default_factory=dict)

    @property
    def share(self) -> Estimate:
        """The worst miner's successes as a share of all weight."""
        return self.worst.scaled(1 / self.total if self.total else 0.0)


@dataclass(frozen=True)
class BadOutcome:
    """What an adversary learns of the protected field."""

    field: str
    task: str
    aims: tuple[AimOutcome, ...]
    trained_on: Mapping[str, int] = dataclasses.field(default_factory=dict)
    sampled: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()

    def aim(self, name: str) -> AimOutcome:
        """One aim by its name."""
        return next(aim for aim in self.aims if aim.aim == name)


@dataclass(frozen=True)
class Gains:
    """Brickell and Shmatikov's adversarial gains over the release, and over the release with the nearer predictions."""

    sensitive: str
    knowledge: float
    accuracy: float
    knowledge_mined: Estimate
    accuracy_mined: Estimate
    miner: str


@dataclass(frozen=True)
class MiningOutcome:
    """All that was asked of one release."""

    name: str
    rows: int
    suppressed: int
    paired: bool
    folds: int
    seed: int
    good: GoodOutcome | None = None
    bad: BadOutcome | None = None
    gains: Gains | None = None
    notes: tuple[str, ...] = ()
