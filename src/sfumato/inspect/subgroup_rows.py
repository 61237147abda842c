"""The rows of a release by groups of the original: what each lost, who was left out, how many look the same."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import numpy.typing as npt

from ..core.cell_loss import ILOSS
from ..core.column import Column, FloatArray, IntArray, number_of, text_of
from ..core.counts import Counts
from ..core.cover import Domain
from ..core.noun import dataclass
from ..core.release import Evidence

WHY = "subgroups"
BANDS = 4
PLAIN = 10
"""A column of numbers with at most so many values is taken value by value, not by quarters."""


@dataclass(frozen=True)
class GroupSide:
    """People who are in at least one small group, or the rest."""

    people: int
    suppressed: int
    loss: float | None
    class_size: float | None
    risk: float | None


@dataclass(frozen=True, eq=False)
class SubgroupRows:
    """Released rows, counted: `n` of each entry, its loss, whether all of it is `*`, its class size; `top` the loss of a row left out."""

    n: IntArray
    lost: FloatArray
    stars: npt.NDArray[np.bool_]
    size: FloatArray | None
    top: float

    def figures(self, group: IntArray, people: IntArray) -> list[GroupSide]:
        """The figures of each group: its entries are what is left of so many people."""
        many = len(people)

        def total(values: FloatArray) -> FloatArray:
            return np.bincount(group, weights=self.n * values, minlength=many).astype(np.float64)

        here, starred = total(np.ones(len(self.n))), total(self.stars.astype(np.float64))
        gone = people - here
        loss = np.clip((total(self.lost) + gone * self.top) / np.maximum(people, 1), 0.0, 1.0)
        size = None if self.size is None else total(self.size) / np.maximum(here, 1)
        risk = None if self.size is None else total(1.0 / self.size) / np.maximum(here, 1)
        return [
            GroupSide(
                int(people[g]),
                round(float(gone[g] + starred[g])),
                float(loss[g]) if people[g] else None,
                None if size is None or not here[g] else float(size[g]),
                None if risk is None or not here[g] else float(risk[g]),
            )
            for g in range(many)
        ]

    def spread(self, mean: float, people: int) -> float:
        """The deviation of the loss over all people."""
        gone = people - int(self.n.sum())
        return float(np.sqrt((self.n @ (self.lost - mean) ** 2 + gone * (self.top - mean) ** 2) / people))


@dataclass(frozen=True, eq=False)
class ColumnLoss:
    """How the loss of one quasi-identifier is read off its released value, and its true one where it was perturbed."""

    domain: Domain
    by_distance: bool

    @classmethod
    def of(cls, evidence: Evidence, name: str) -> ColumnLoss:
        """The loss of one column."""
        domain = evidence.domain(name, WHY)
        noisy = name in evidence.release.perturbed
        return cls(domain, noisy or any(domain.leaves(text) is None for text in evidence.tuples.column(name).texts))

    @property
    def top(self) -> float:
        """Of a row that was left out."""
        return ILOSS.whole(self.domain.size)

    def lost(self, column: Column, codes: IntArray, true: tuple[Column, IntArray] | None) -> FloatArray:
        """`(leaves - 1)/|D|`, or the distance: `|x' - x|` by the range, 0 for the same text, 1 for one that does not cover it."""
        leaves = np.array([self.domain.leaves(text) for text in column.texts], dtype=np.float64)  # None is nan
        open_share = ILOSS.of(leaves, self.domain.size)
        if true is None:
            return open_share[codes]
        before, own = true
        place = self.domain.column.places(column)
        mine = self.domain.column.places(before)[own]
        same = place[codes] == mine
        lost = np.where(same, 0.0, 1.0)
        numbers = np.array([number_of(text) for text in column.texts], dtype=np.float64)
        if before.numbers is not None:
            known = before.numbers[~np.isnan(before.numbers)]
            away = np.abs(numbers[codes] - before.numbers[own]) / (np.ptp(known) or 1.0)
            lost = np.where(np.isnan(away), lost, np.minimum(away, 1.0))
        labels = [
            i
            for i, text in enumerate(column.texts)
            if place[i] < 0 and (np.isnan(numbers[i]) or before.numbers is None)
        ]
        if labels:  # what is neither a value of the original nor a number: an interval, a set, a mask
            masks = np.array([self.domain.mask(column.texts[i]) for i in labels], dtype=bool)
            row = np.full(len(column), -1, dtype=np.int64)
            row[labels] = np.arange(len(labels))
            at = np.flatnonzero(row[codes] >= 0)
            covers = masks[row[codes[at]], mine[at]]
            lost[at] = np.where(covers, np.nan_to_num(open_share[codes[at]], nan=1.0), 1.0)
        return lost


@dataclass(frozen=True, eq=False)
class Labels:
    """The groups of one column: the group of each of its values, the names, and how many people there are in each."""

    column: str
    names: list[str]
    place: dict[str | None, int]
    group: IntArray
    """Of each tuple of the original that was counted."""
    people: IntArray
    values: bool
    """Whether a group is one value."""

    @classmethod
    def of(cls, whole: Counts, name: str) -> Labels:
        """The labels of one column, counted."""
        column, codes = whole.column(name), whole.code(name)
        n = np.bincount(codes, weights=whole.n, minlength=len(column)).astype(np.float64)
        ordered = column.numbers is not None or column.dates
        if not ordered or len(column) <= PLAIN:
            names = ["(missing)" if text is None else text for text in column.texts]
            at, values = np.arange(len(column)), True
        else:
            names, at = _quarters(column, n)
            values = False
        people = np.rint(np.bincount(at, weights=n, minlength=len(names))).astype(np.int64)
        return cls(name, names, dict(zip(column.texts, at.tolist(), strict=True)), at[codes], people, values)

    def of_codes(self, column: Column, codes: IntArray) -> IntArray:
        """The group of each entry of other counts of the same column."""
        return np.array([self.place[text] for text in column.texts], dtype=np.int64)[codes]


def _quarters(column: Column, n: FloatArray) -> tuple[list[str], IntArray]:
    """The values of numbers or dates in quarters of the people: names that tell no extreme, and the quarter of each value."""
    rank = column.rank()
    assert rank is not None
    order = np.argsort(rank)[: len(column.values)]  # missing stands last
    upto = np.cumsum(n[order])
    ends = np.unique(np.searchsorted(upto, upto[-1] * np.arange(1, BANDS) / BANDS))
    ends = ends[ends < len(order) - 1]
    at = np.empty(len(column), dtype=np.int64)
    at[order] = np.searchsorted(ends, np.arange(len(order)))
    edge = [str(text_of(column.texts[i])) for i in order[ends]]
    between = [f"above {a} to {b}" for a, b in itertools.pairwise(edge)]
    names = [f"at most {edge[0]}", *between, f"above {edge[-1]}"] if edge else ["all"]
    if column.has_missing:
        at[len(column.values)] = len(names)
        names.append("(missing)")
    return names, at


def class_sizes(evidence: Evidence, counts: Counts, both: Any, released: dict[str, str]) -> FloatArray:
    """The rows, or the people where the release carries them, of the class of each entry."""
    quasi = [released[name] for name in evidence.tuples.names]
    classes, member = counts.group(quasi)
    size = classes.n
    person = evidence.roles.person
    if person is not None and person in released:
        _, class_of = both.count((*quasi, released[person])).group(quasi)
        size = np.bincount(class_of, minlength=len(classes)).astype(np.int64)
    return size[member].astype(np.float64)


def deviation(n: int, of: int) -> float:
    """The deviation of the mean of n drawn from a finite population, by that of one."""
    return ((of - n) / (n * (of - 1))) ** 0.5 if of > 1 and n else 0.0


def apart(n: int, of: int) -> float:
    """The same for the mean of n less the mean of the others."""
    return deviation(n, of) * of / (of - n) if of > n else 0.0


def spearman(people: IntArray, losses: list[float]) -> float | None:
    """The correlation of ranks, ties sharing theirs."""
    if len(people) < 3:
        return None
    ranks = []
    for values in (people.astype(np.float64), np.round(np.array(losses), 12)):
        _, inverse, count = np.unique(values, return_inverse=True, return_counts=True)
        ranks.append((np.cumsum(count) - (count - 1) / 2)[inverse])
    a, b = (rank - rank.mean() for rank in ranks)
    scale = float((a @ a) * (b @ b)) ** 0.5
    return None if scale == 0 else float(np.clip(float(a @ b) / scale, -1.0, 1.0))
