"""How many rows lie in any range of an ordered domain, all ranges at once, with noise.

Blum, Ligett, Roth 2008, the case that they solve efficiently: interval queries over a finite ordered domain of m points. The
domain is cut from left to right into intervals that hold about alpha/6 of the rows, each cut found by binary search with a
noisy count at every step: at most 4/(3 alpha/6) cuts of log2(m) steps share the budget. Here, different from the paper:
neighbours differ by a row added or removed, so that the number of rows is secret and counted with noise first; the last point
of an interval stands for itself, so that a single heavy point does no harm; and the intervals, which are disjoint, are counted
once more with a share of the budget instead of being given alpha/6 each.

A tree of counts (Hay, Rastogi, Miklau, Suciu 2010) answers the same queries from noisy counts of halves, quarters, ... made
consistent by least squares; its error is far smaller unless m is huge. Both release counts that are monotone when summed up.

**(alpha, delta)-usefulness** (survey, definition 16): with probability 1 - delta the share of the rows in every range is off
by at most alpha. `error` measures one release on all m (m + 1)/2 ranges, `usefulness` the probability over many releases.
The cost follows m, 10 us a point.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import field
from fractions import Fraction
from typing import ClassVar, Literal

import numpy as np
import pyarrow as pa

from ..core.arrow import integers, strings, take
from ..core.column import FloatArray, IntArray
from ..core.errors import Infeasible, InputError, Unavailable
from ..core.mechanism import MechanismCard, Progress
from ..core.metric import Requirement, Score
from ..core.noun import dataclass
from ..core.randomness import Rng
from ..core.release import Release
from ..core.roles import Roles
from ..core.stated_reading import StatedReading
from ..core.table import Table
from .differential_privacy.budget import Budget
from .differential_privacy.noise import Noise, ceiling, half_width, scale_of
from .differential_privacy.private_release import AS_STATED, BUDGET, EPSILON, PROMISED, Private
from .parameters.stated_domains import StatedDomain, cells

SHARES = {"total": Fraction(1, 10), "search": Fraction(7, 10), "counts": Fraction(1, 5)}
"""Of the budget of a search, for the number of rows, the cuts and the counts between them."""
SURE = 0.95
"""The probability 1 - delta for which the notes say how many rows a search takes."""
Cuts = list[tuple[int, int]]
"""Intervals of points, both ends inside."""


@dataclass(frozen=True, kw_only=True)
class DpRanges(Private):
    """One ordered column, released so that every range of it can be counted."""

    column: str = ""
    domain: str = ""
    method: Literal["search", "tree"] = "search"
    alpha: float = 0.3
    give: Literal["ranges", "rows"] = "ranges"
    epsilon: float | None = None
    budget: Budget | None = field(default=None, compare=False)
    require: tuple[Requirement, ...] = ()

    card: ClassVar[MechanismCard] = MechanismCard(
        name="dp_ranges",
        title="Differentially private release for range queries",
        promise=f"epsilon-differential privacy of the answers to all ranges together, {PROMISED}; this holds by construction, and "
        f"no file can show it; how useful the answers are is measured, not promised. {AS_STATED}",
        against="an adversary who knows everything else, even all other rows, and wants to tell whether a person's row is in "
        "the table, or what it says",
        cost="only one column is released; rows inside an interval are taken as spread evenly; search needs very many rows for "
        "a small alpha, and tree is usually far more accurate for the same epsilon",
        source="Blum, Ligett, Roth 2008 (interval queries), with the changes that the source file tells; Hay, Rastogi, Miklau, "
        "Suciu 2010 (tree); Manta 2013, 4.4, definition 16; sampled by OpenDP after Canonne, Kamath, Steinke 2020",
        chance="always",
        private=True,
        place="last",
        parameters={
            "column": "the column whose ranges are counted",
            "domain": "its values in order, as a list such as low|middle|high, or low:high (whole numbers) or low:high:width; by "
            "default those of its order in the roles file or of its hierarchy file, never those of the data",
            "method": "search: intervals with about equal counts, found by noisy binary search; tree: noisy counts of halves, quarters "
            "and so on",
            "alpha": "search: the target error, as a share of the rows; an interval holds about a sixth of it",
            "give": "ranges: intervals with their counts; rows: synthetic rows with these counts",
            "epsilon": EPSILON,
            "budget": BUDGET,
        },
    )

    def __post_init__(self) -> None:
        self._check()
        if not self.column:
            raise InputError("dp_ranges needs the column that ranges are asked of.")
        if not 0 < self.alpha <= 1:
            raise InputError("dp_ranges: alpha must be a share of the rows above 0, at most 1.")

    def _make(self, table: Table, roles: Roles, rng: Rng, progress: Progress) -> Release:
        """Rows whose value is missing or not in the domain are left out."""
        domain = self._points(table, roles)
        noise, budget = self._open(roles, rng)
        exact = cells(table.count((self.column,)), [domain], table.reading)
        counts, cuts, more = self._made(exact, noise, budget)
        progress(0.9)
        out = "Rows with a missing value, or one outside the stated domain, are in no range."
        notes = self._notes(noise, budget, roles, out, *more)
        if self.give == "rows":
            return self._rows(table, domain, cuts, counts, notes)
        first, last = zip(*cuts, strict=True)
        return self._statistics(
            table,
            roles,
            {
                f"{self.column} from": strings([domain.values[i] for i in first]),
                f"{self.column} to": strings([domain.values[i] for i in last]),
                "rows": integers(counts),
            },
            notes,
        )

    def _made(self, exact: IntArray, noise: Noise, budget: Budget) -> tuple[IntArray, Cuts, tuple[str, ...]]:
        """The rows of each interval, the intervals, and what is to be said of them."""
        if self.method == "tree":
            reached, cuts = _tree(exact, noise, budget, self.cost)
            return _monotone(reached), cuts, ()
        reached, cuts, needed = _search(exact, noise, budget, self.cost, self.alpha)
        more = f"Aimed at an error of {self.alpha:g} of the rows in every range; {needed:,} rows or more would reach it with "
        return _monotone(reached), cuts, (more + f"probability {SURE:g}.",)

    def _points(self, table: Table, roles: Roles) -> StatedDomain:
        self._column(self.column, roles)
        if (
            not self.domain and self.column not in roles.domains and self.column in roles.orders
        ):  # a hierarchy's values need not stand in order
            return StatedDomain(self.column, tuple(roles.orders[self.column]), missing=False)
        given = {self.column: self.domain} if self.domain else {}
        return StatedDomain.find(self.column, given, roles, self.card.name, missing=False)

    def _rows(
        self, table: Table, domain: StatedDomain, cuts: Cuts, counts: IntArray, notes: tuple[str, ...]
    ) -> Release:
        """Synthetic rows: each interval's count spread over its points."""
        times = _spread(counts, cuts, len(domain))
        there = np.flatnonzero(times)
        if not len(there):
            raise Infeasible(
                "dp_ranges: the noisy counts are all 0, so there is no row to make; the table is too small for this epsilon, or take "
                "give=ranges."
            )
        rows = pa.Table.from_arrays([take(domain.array(), there)], names=[self.column])
        return self._synthetic(table, rows, times[there], (*notes, "Synthetic rows: no row is a person's."))

    def error(self, release: Release, roles: Roles) -> Score:
        """The largest error over all ranges of one release, as a share of the rows: for the owner, not for publication."""
        if release.original is None:
            raise Unavailable("How useful a release for ranges is can only be measured with the original table.")
        original = release.original.stated(roles.reading)
        domain = self._points(original, roles)
        true = cells(original.count((self.column,)), [domain], original.reading)
        return _score(_worst(true, self._answers(release, domain)), len(domain))

    def _answers(self, release: Release, domain: StatedDomain) -> IntArray:
        """The rows that a release gives each point."""
        if not release.statistics:
            return cells(release.table.count((self.column,)), [domain], StatedReading())
        counts = release.table.count(release.table.columns)
        place = {value: i for i, value in enumerate(domain.values)}
        texts = [[column.texts[c] for c in codes] for column, codes in zip(counts.columns, counts.codes, strict=True)]
        ranges = sorted((place[str(a)], place[str(b)], int(str(n))) for a, b, n in zip(*texts, strict=True))
        return _spread(np.array([n for *_, n in ranges]), [(a, b) for a, b, _ in ranges], len(domain))

    def usefulness(
        self,
        table: Table,
        roles: Roles,
        *,
        delta: float = 0.05,
        runs: int = 200,
        rng: np.random.Generator | None = None,
    ) -> Score:
        """The alpha for which releases of this table are (alpha, delta)-useful for all ranges, estimated from many of them.

        The value is the (1 - delta) quantile of the largest error, its interval by order statistics (95%). The releases are
        made, measured and thrown away: nothing of them may be published, so no budget is charged.
        """
        if not 0 < delta < 1 or runs < 1:
            raise InputError("dp_ranges: usefulness needs a delta between 0 and 1 and at least one run.")
        table = self._used(table.stated(roles.reading), roles, rng)
        domain = self._points(table, roles)
        true = cells(table.count((self.column,)), [domain], table.reading)
        noise, errors = Noise(rng, self.card.name, rows=roles.most_rows), []
        for _run in range(runs):
            counts, cuts, _ = self._made(true, noise, Budget(self.cost))
            errors.append(_worst(true, _spread(counts, cuts, len(domain))))
        ordered = np.sort(errors)
        at = min(math.ceil((1 - delta) * runs), runs) - 1
        off = 1.96 * math.sqrt(runs * delta * (1 - delta))  # the count of errors below a quantile is binomial
        low, high = max(math.floor(at - off), 0), min(math.ceil(at + off) + 1, runs - 1)
        score = _score(float(ordered[at]), len(domain))
        details = {**score.details, "delta": delta, "runs": runs}
        return Score(
            score.value, score.unit, "estimate", ci=(float(ordered[low]), float(ordered[high])), details=details
        )


def _score(worst: float, points: int) -> Score:
    return Score(worst, "share of the rows", "exact", details={"ranges": points * (points + 1) // 2})


def _worst(true: IntArray, answered: IntArray) -> float:
    """max over a <= b of |share of [a, b] in one - share in the other|, from the differences of the summed-up shares.

    The error of [a, b] is d(b) - d(a - 1), so the largest is max d - min d, with d = 0 before the first point.
    """
    shares = [counts.cumsum() / max(int(counts.sum()), 1) for counts in (true, answered)]
    d = np.concatenate([[0.0], shares[1] - shares[0]])
    return float(d.max() - d.min())


def _monotone(reached: FloatArray) -> IntArray:
    """Counts from noisy summed-up counts: made monotone, at least 0 and whole.

    The middle of the running maximum and the running minimum from the right is nowhere farther from a monotone truth than
    the farthest noisy sum is.
    """
    up, down = np.maximum.accumulate(reached), np.minimum.accumulate(reached[::-1])[::-1]
    sums = np.rint(np.maximum((up + down) / 2, 0)).astype(np.int64)
    counts: IntArray = np.diff(sums, prepend=0)
    return counts


def _spread(counts: IntArray, cuts: Cuts, points: int) -> IntArray:
    """Each interval's rows over its points, as evenly as whole numbers allow."""
    sums = np.concatenate([[0], np.cumsum(counts)]).astype(np.float64)
    ends = np.array([-1, *(last for _, last in cuts)], dtype=np.float64)
    reached = np.rint(np.interp(np.arange(points), ends, sums)).astype(np.int64)
    times: IntArray = np.diff(reached, prepend=0)
    return times


def _tree(exact: IntArray, noise: Noise, budget: Budget, epsilon: Fraction) -> tuple[FloatArray, Cuts]:
    """Noisy counts of all halves, quarters, ... down to the points, made consistent (Hay et al. 2010, section 4)."""
    depth = max(1, math.ceil(math.log2(len(exact)))) if len(exact) > 1 else 0
    level = np.zeros(2**depth, dtype=np.int64)
    level[: len(exact)] = exact
    levels = [level]
    while len(levels[-1]) > 1:
        levels.append(levels[-1].reshape(-1, 2).sum(axis=1))
    share = epsilon / len(levels)
    noisy: list[FloatArray] = []
    for height, counts in enumerate(levels):
        budget.spend_parallel([(share, 0)], f"the counts of blocks of {2**height} points", times=len(counts))
        noisy.append(noise.laplace(counts, sensitivity=1, epsilon=share)[0].astype(np.float64))
    best = [noisy[0]]
    for height in range(1, len(levels)):  # upwards: a block's own count and the sum of its halves, by their variances
        below, k = best[-1].reshape(-1, 2).sum(axis=1), 2.0**height
        best.append((k * noisy[height] + (k - 1) * below) / (2 * k - 1))
    for height in reversed(range(len(levels) - 1)):  # downwards: halves share what is left equally
        left = best[height + 1] - best[height].reshape(-1, 2).sum(axis=1)
        best[height] = best[height] + np.repeat(left, 2) / 2
    return np.cumsum(best[0][: len(exact)]), [(i, i) for i in range(len(exact))]


def _search(
    exact: IntArray, noise: Noise, budget: Budget, epsilon: Fraction, alpha: float
) -> tuple[FloatArray, Cuts, int]:
    """Cuts by noisy binary search, then the noisy counts of what is between them, summed up; and how many rows it takes."""
    points, goal = len(exact), alpha / 6
    most = min(math.ceil(4 / (3 * goal)), points)
    steps = max(1, math.ceil(math.log2(points))) if points > 1 else 1
    parts = {name: epsilon * share for name, share in SHARES.items()}
    budget.spend(parts["total"], what="the number of rows")
    rows = int(noise.laplace(np.array([exact.sum()]), sensitivity=1, epsilon=parts["total"])[0][0])
    budget.spend(parts["search"], what=f"binary searches of {steps} steps for up to {most} cuts")
    every = parts["search"] / (most * steps)
    drawn, _ = noise.laplace(np.zeros(most * steps, dtype=np.int64), sensitivity=1, epsilon=every)
    sums = np.concatenate([[0], np.cumsum(exact)])
    ends, coins = [-1], iter(drawn.tolist())
    while len(ends) <= most and ends[-1] < points - 1:
        low, high = ends[-1] + 1, points - 1
        while low < high:  # the least point up to which enough rows are
            middle = (low + high) // 2
            enough = sums[middle + 1] - sums[ends[-1] + 1] + next(coins) >= goal * rows
            low, high = (low, middle) if enough else (middle + 1, high)
        ends.append(low)
    if ends[-1] < points - 1:
        ends.append(points - 1)
    cuts = []
    for before, last in itertools.pairwise(ends):  # the last point of an interval for itself
        cuts += [(before + 1, last - 1), (last, last)] if last > before + 1 else [(last, last)]
    inside = np.array([sums[last + 1] - sums[first] for first, last in cuts], dtype=np.int64)
    budget.spend_parallel([(parts["counts"], 0)], "the counts of the intervals", times=len(cuts))
    counts, _ = noise.laplace(inside, sensitivity=1, epsilon=parts["counts"])
    return np.cumsum(counts).astype(np.float64), cuts, _needed(goal, most, steps, parts, noise.rows)


def _needed(goal: float, most: int, steps: int, parts: Mapping[str, Fraction], rows: int) -> int:
    """The rows from which on a search is (6 goal, 1 - SURE)-useful for all ranges.

    Unless noise was rare, the total is off by at most t, every step of a search by s, every count by c. If goal t + s is at most
    a quarter of goal n, intervals hold from 3/4 to 5/4 of goal n before their last point, and `most` of them hold everything.
    A summed-up count is then off by b = pieces c + 1/2 where an interval ends, and by 5/4 goal n more inside one; a range has
    two ends, and the total in the denominator is off by b: 5/2 goal n + 3 b + 1 is at most 6 goal n.
    """
    pieces, each = 2 * most + 2, (1 - SURE) / 3
    t = half_width(ceiling(scale_of(rows, parts["total"])), each)
    s = half_width(ceiling(scale_of(rows * most * steps, parts["search"])), each / (most * steps))
    c = half_width(ceiling(scale_of(rows, parts["counts"])), each / pieces)
    return math.ceil(max(4 * (goal * t + s) / goal, (3 * (pieces * c + 0.5) + 1) / (3.5 * goal)))
