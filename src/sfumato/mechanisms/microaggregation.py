"""Microaggregation: groups of at least k rows that are alike, each released as its group's centre.

Several columns: MDAV-generic (Domingo-Ferrer and Torra 2005, after Domingo-Ferrer and Mateo-Sanz 2002). Numbers, and values
with an order, are divided by their deviation; other values are at distance 1 or 0. One column: the best grouping there is,
by Hansen and Mukherjee's shortest path (2003). MDAV costs distinct tuples squared by columns over k; tables of more than
`block` distinct tuples are halved along their widest column first, and then the cost grows with the rows alone.

A missing number stands at the mean, a deviation apart from all others. It takes its group's centre; the group is released as
missing where all are. The files stay comparable by `SSE/SST`, the share of the variance that is lost, in the notes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar, Literal

import numpy as np

from ..core.column import FloatArray, IntArray
from ..core.counts import pack
from ..core.cover import BoolArray
from ..core.errors import Infeasible, InputError
from ..core.mechanism import MechanismCard, Offer, Progress, check_choices, check_whole, unheard
from ..core.metric import TOLERANCE, Requirement, spell_bound
from ..core.noun import dataclass
from ..core.randomness import Chance, Rng
from ..core.release import Release
from ..core.roles import Roles
from ..core.table import Table
from ..core.words import percent
from ..metrics.privacy.k_anonymity import k_anonymity
from ..metrics.privacy.marketer_risk import marketer_risk
from .microdata.group_error import GroupError
from .microdata.mdav import GroupMembers, Points, along, mdav
from .microdata.numeric_columns import (
    check_size,
    columns_of,
    grid_note,
    grid_of,
    is_whole,
    names_in,
    released,
    released_columns,
    round_to,
)
from .microdata.rows import Rows
from .parameters.class_requirements import Steered
from .partition.improvement import Improvement
from .partition.mean_steering import MeanSteering


@dataclass(frozen=True, kw_only=True)
class Microaggregation(Steered):
    """Groups of k rows or more over all columns together, or over each alone (individual ranking)."""

    k: int | None = None
    columns: str | None = None
    how: Literal["together", "alone"] = "together"
    centre: Literal["mean", "median"] = "mean"
    whole: bool = False
    block: int = 20_000
    improve: bool = False
    require: tuple[Requirement, ...] = ()

    card: ClassVar[MechanismCard] = MechanismCard(
        name="microaggregation",
        title="Microaggregation (MDAV)",
        promise="at least k rows share their released quasi-identifiers (k_anonymity >= k), and a limit on marketer_risk is met and used "
        "up; if you name columns, only a required k_anonymity is promised; with how=alone, only that at least k rows share each column's number",
        against="an adversary who knows all quasi-identifiers of a person and that the person is in the release",
        cost="every number becomes the mean or median of its group, every category the most frequent one of its group: means "
        "stay, variances shrink, and the release contains numbers that nobody had; no sensitive value changes. With more "
        "than `block` distinct tuples, groups do not reach across blocks, which loses a little more",
        source="Domingo-Ferrer and Torra 2005 (MDAV-generic); Domingo-Ferrer and Mateo-Sanz 2002; Hansen and Mukherjee 2003 "
        "(one column, optimal)",
        chance="some",
        tunable=("k", "how", "centre", "improve"),
        offer=Offer(70, lambda trial: [{"k": trial.few}], wide=True),
        parameters={
            "k": "the smallest size of a group; short for the requirement k_anonymity >= k",
            "columns": "the columns to aggregate, as a list: age,salary; by default all quasi-identifiers",
            "how": "together: groups over all columns; alone: each column of numbers by itself, which loses little and hides less",
            "centre": "what a group releases for numbers: mean, which keeps the column's mean, or median; other values with an order "
            "always become their median, all others the most frequent value",
            "whole": "round the released numbers of a column where all numbers are whole; other columns are rounded to their own "
            "precision or a tenth of the column's deviation, whichever is finer, as the notes state",
            "block": "MDAV is exact up to this many distinct tuples; larger tables are cut into blocks of at most this many",
            "improve": "improve the groups afterwards: two groups that are near each other are put together and divided anew where that "
            "brings their rows nearer to one another, until nothing helps or a fixed amount of work is done; groups of several columns only",
        },
    )

    def __post_init__(self) -> None:
        check_choices(self)
        check_whole(self, "block", least=2)
        if self.columns is not None:
            names_in(self.columns, "microaggregation")
        self.check_steering(
            cannot="with how=together it can by k_anonymity, over all quasi-identifiers also by marketer_risk"
        )

    def honours(self, requirement: Requirement) -> bool:
        """k-anonymity, where groups are made over all columns; and over all quasi-identifiers a limit on the mean risk."""
        mean = requirement.metric.card is marketer_risk.card and self.columns is None
        return self.how == "together" and (mean or requirement.metric.card is k_anonymity.card)

    @property
    def promises(self) -> tuple[Requirement, ...]:
        """k, where it holds of all quasi-identifiers; and what is required."""
        if self.k is None or self.columns is not None or self.how == "alone":
            return self.require
        return (k_anonymity.at_least(self.k), *self.require)

    def sanitize(self, table: Table, roles: Roles, rng: Rng, *, progress: Progress) -> Release:
        """Sanitize; which of several equal rows goes into which group is left to chance."""
        sizes = [math.ceil(r.bound) for r in self.require if r.metric.card is k_anonymity.card]
        mean = min((r.bound for r in self.require if r.metric.card is marketer_risk.card), default=1.0)
        k = max([self.k or 1, *sizes])
        if self.k is None and not self.require:
            raise InputError(
                "microaggregation needs something to meet: set k, or require for example k_anonymity >= 5."
            )
        rows, chance = Rows.of(table, roles, "microaggregation"), Chance(rng)
        names = self._names(rows)
        for name in names:
            if rows.columns[name].numbers is not None:
                check_size(rows, name, rows.numbers(name, "microaggregation"), "microaggregation")
        if len(rows) < k:
            raise Infeasible(f"microaggregation cannot make groups of {k} rows: {table.name} has only {len(rows)}.")
        if len(rows) * mean < 1:
            raise Infeasible(
                f"microaggregation cannot bring the mean risk to {spell_bound(mean)}: {table.name} has only {len(rows)} rows."
            )

        def most_of_progress(share: float) -> None:
            progress(0.9 * share)

        parts = [names] if self.how == "together" else [(name,) for name in names]
        changed: dict[str, Any] = {}
        steps: dict[str, float] = {}
        error = spread = 0.0
        filled = moved = cells = 0
        blocks, divided = 1, False
        for part in parts:
            group, cut, dealt = self._groups(rows, part, k, mean, chance, most_of_progress)
            blocks, divided = max(blocks, cut), divided or dealt
            for name in part:
                number = rows.columns[name].numbers
                if number is None:
                    codes = self._middle(rows, name, group)
                    texts = rows.columns[name].texts
                    changed[name] = [texts[code] for code in codes.tolist()]
                    moved, cells = moved + int((codes != rows.codes[name]).sum()), cells + len(rows)
                    continue
                x = number[rows.codes[name]]
                y = self._centres(x, group)
                changed[name] = released(y)
                steps[name] = self._step(x)
                known = ~np.isnan(x)
                filled += int((~known & ~np.isnan(y)).sum())
                if (deviation := float(np.std(x[known]))) > 0:
                    error += float(np.sum((x[known] - y[known]) ** 2)) / deviation**2
                    spread += int(known.sum())
        notes = (
            [f"SSE/SST, the share of the numbers' variance that is lost, is {error / spread:.4g}."] if spread else []
        )
        if steps:
            notes.append(grid_note(steps))
        if cells:
            notes.append(f"Of the values that are not numbers {percent(moved / cells)} were changed to their group's.")
        if filled:
            notes.append(f"{filled} missing numbers became their group's {self.centre}.")
        if blocks > 1:
            notes.append(
                f"MDAV ran in {blocks} blocks of at most {max(self.block, 2 * k):,} distinct tuples, an approximation."
            )
        return rows.release(
            self,
            changed,
            notes=(*notes, *(chance.notes if divided else ())),
        )

    def _names(self, rows: Rows) -> tuple[str, ...]:
        """The columns to aggregate; refused where a promise would not be about them."""
        roles, who = rows.roles, "microaggregation"
        if self.how == "alone":
            return tuple(columns_of(rows, self.columns, who))
        if self.columns is None:
            roles.check_quasi()
            return roles.quasi
        names = released_columns(rows, self.columns, who)
        if self.require and not set(roles.quasi) <= set(names):
            raise Infeasible(
                f"microaggregation cannot meet {self.require[0]}: that is about all quasi-identifiers, and columns leaves some "
                "out."
            )
        return names

    def _groups(
        self, rows: Rows, names: Sequence[str], k: int, mean: float, chance: Chance, progress: Progress
    ) -> tuple[IntArray, int, bool]:
        """The group of every row, in how many blocks they were found, and whether chance divided equal rows."""
        codes = [rows.codes[name] for name in names]
        key = pack(codes, [len(rows.columns[name]) for name in names], len(rows))
        _, first, member, n = np.unique(key, return_index=True, return_inverse=True, return_counts=True)
        numbers = rows.columns[names[0]].numbers
        if len(names) == 1 and numbers is not None and mean >= 1 / k:
            order, share = _line(numbers[codes[0][first]], n.astype(np.int64), k)
            at, blocks = np.argsort(order)[member], 1
        else:
            points = _points(rows, names, [code[first] for code in codes], n.astype(np.int64))
            shares, blocks = mdav(points, k, self.block, progress)
            if self.improve or len(np.unique(shares.group)) > mean * len(rows):
                shares = self._improved(points, shares, k, mean)
            turn = np.argsort(shares.point, kind="stable")
            at, share = member, np.repeat(shares.group[turn], shares.n[turn])
        group = np.empty(len(rows), dtype=np.int64)
        group[np.lexsort((chance.bits(len(rows)), at))] = share  # equal rows are dealt out in a random order
        divided = len(np.unique(member * (int(group.max()) + 1) + group)) > len(n)
        return group, blocks, divided

    def _improved(self, points: Points, shares: GroupMembers, k: int, mean: float) -> GroupMembers:
        """Groups whose rows are no further from one another, made by the improvement pass, and no more of them than the mean risk allows."""
        pieces = np.minimum(shares.n, k)
        rows = np.ones(int(pieces.sum()), dtype=np.int64)
        rows[np.cumsum(pieces) - 1] = shares.n - pieces + 1

        def stands(_: IntArray, n: IntArray, member: IntArray, count: int) -> BoolArray:
            return np.bincount(member, weights=n, minlength=count) >= k

        def added(_: IntArray, n: IntArray, member: IntArray, count: int) -> FloatArray:
            return np.full((1, count), 1 / points.n.sum())

        loss, unit, group = GroupError(points), np.repeat(shares.point, pieces), np.repeat(shares.group, pieces)
        better = (
            Improvement(loss, stands, unit, rows, group, k)
            if mean >= 1 / k
            else MeanSteering(loss, stands, unit, rows, group, k, added=added, limits=np.array([mean + TOLERANCE]))
        )
        better.run(unheard)
        return GroupMembers(better.unit, better.member, better.rows)

    def _step(self, x: FloatArray) -> float:
        """What the centres are multiples of: the exact mean of a group gives away its sum, and with it the last of k known numbers."""
        return 1.0 if self.whole and is_whole(x) else grid_of(x, float(np.nanstd(x)))

    def _centres(self, x: FloatArray, group: IntArray) -> FloatArray:
        """Every row's group mean or median of the numbers that are known, NaN where none is."""
        known = np.flatnonzero(~np.isnan(x))
        order = known[np.lexsort((x[known], group[known]))]
        held = group[order]
        start = np.flatnonzero(np.diff(held, prepend=-1))
        size = np.diff(np.append(start, len(order)))
        values = x[order]
        if self.centre == "mean":  # from the first of the group: the mean of equal numbers is that number
            centre = values[start] + np.add.reduceat(values - np.repeat(values[start], size), start) / size
        else:
            centre = (values[start + (size - 1) // 2] + values[start + size // 2]) / 2
        centre = round_to(centre, self._step(x))
        centres = np.full(int(group.max()) + 1, np.nan)
        centres[held[start]] = centre
        return centres[group]

    def _middle(self, rows: Rows, name: str, group: IntArray) -> IntArray:
        """The code of every row's group: the lower median where there is an order, else the most frequent."""
        column, codes, rank = rows.columns[name], rows.codes[name], _rank(rows, name)
        if rank is None:
            key, n = np.unique(group * len(column) + codes, return_counts=True)
            order = np.lexsort((key % len(column), -n, key // len(column)))
            first = order[np.flatnonzero(np.diff(key[order] // len(column), prepend=-1))]
            most: IntArray = (key[first] % len(column))[group]
            return most
        place = np.argsort(rank)
        order = np.lexsort((rank[codes], group))
        start = np.flatnonzero(np.diff(group[order], prepend=-1))
        size = np.diff(np.append(start, len(order)))
        middle: IntArray = place[rank[codes[order[start + (size - 1) // 2]]]][group]
        return middle


def _line(values: FloatArray, n: IntArray, k: int) -> tuple[IntArray, IntArray]:
    """One column: the order of its values along the line, and the groups of the rows in that order.

    Missing rows are a group of their own where there are k of them and k others, else they stand at the mean.
    """
    gone = np.isnan(values)
    count = int(n[gone].sum())
    if not count:
        order = np.argsort(values, kind="stable")
        return order, along(values[order], n[order], k)
    if gone.all() or (count >= k and int(n.sum()) - count >= k):
        order = np.argsort(values, kind="stable")  # NaN last
        known = order[~gone[order]]
        groups = along(values[known], n[known], k) if len(known) else np.zeros(0, dtype=np.int64)
        return order, np.append(groups, np.full(count, (groups[-1] if len(groups) else -1) + 1))
    filled = np.where(gone, float(np.average(values[~gone], weights=n[~gone])), values)
    order = np.argsort(filled, kind="stable")
    return order, along(filled[order], n[order], k)


def _rank(rows: Rows, name: str) -> IntArray | None:
    """The order of a column's values, stated or of dates and quantities; that there are only two makes no order here."""
    column, stated = rows.columns[name], rows.roles.orders.get(name)
    return column.rank(stated) if stated is not None or column.dates or column.quantities is not None else None


def _points(rows: Rows, names: Sequence[str], codes: Sequence[IntArray], n: IntArray) -> Points:
    """The tuples as points: numbers and ranks in deviations, a missing one at the mean and apart; other values as kinds."""
    at, kind = [], []
    for name, code in zip(names, codes, strict=True):
        column, rank = rows.columns[name], _rank(rows, name)
        if column.numbers is not None:
            value = column.numbers[code]
        elif rank is not None:
            value = rank[code].astype(np.float64)
        else:
            kind.append(code)
            continue
        gone = code == len(column.values)
        if gone.all():
            continue
        mean = float(np.average(value[~gone], weights=n[~gone]))
        deviation = math.sqrt(float(np.average((value[~gone] - mean) ** 2, weights=n[~gone])))
        at.append(np.where(gone, 0.0, (value - mean) / (deviation or 1.0)))
        if gone.any():
            kind.append(gone.astype(np.int64))
    shape = (len(at), len(n)), (len(kind), len(n))
    return Points(np.array(at).reshape(shape[0]), np.array(kind, dtype=np.int64).reshape(shape[1]), n)
