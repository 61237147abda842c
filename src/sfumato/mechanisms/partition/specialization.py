"""Top-down specialization: every column starts at one node for all its values, and one node after the other is divided.

The nodes of a column are a cut through its values: the same value is released alike in all rows (global recoding). What a
division costs and gains is the mechanism's word, its `DivisionPlan`. A group is the rows that share a node in every column; each
group is looked at once for each column, so a step costs what the groups that it divides hold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Protocol

import numpy as np

from ...core.column import FloatArray, IntArray
from ...core.cover import BoolArray
from ...core.mechanism import Progress, unheard
from ...core.noun import dataclass
from .axes import PartitionAxis
from .parts import Parts

_TIE = 1e-12
"""Scores that differ by less are equal: rounding must not choose."""


class DivisionPlan(Protocol):
    """What a mechanism says of divisions."""

    fold: np.ufunc
    """How the worth of several groups becomes one number: np.add, np.minimum."""
    lasting: bool
    """Whether a division that is not allowed never will be, however the other columns are divided."""

    def edge(self, axis: int, low: int, high: int) -> int:
        """Where a range of codes without a taxonomy is divided: the last code on the left, or -1 for nowhere."""

    def gain(self, axis: int, low: int, high: int, side: IntArray) -> float:
        """What dividing a range of codes gives, `side` being the child of each; -inf if there is no use in it."""

    def judge(self, entry: IntArray, n: IntArray, member: IntArray, count: int) -> tuple[BoolArray, FloatArray]:
        """For groups made of `n` rows of tuple `entry` in group `member`: which may stand, and what each is worth."""

    def score(self, gain: FloatArray, now: FloatArray, then: FloatArray, all_now: float) -> FloatArray:
        """How good divisions are, from their gain and what the groups they concern are worth now and then; -inf: not at all."""


@dataclass(eq=False)
class Cut:
    """The nodes of one column: node i is the codes from low[i] to high[i], or nothing any more if it was divided."""

    axis: PartitionAxis
    node: IntArray
    side: IntArray
    """For each code, the child of its node that it would go to."""
    low: list[int] = field(default_factory=list)
    high: list[int] = field(default_factory=list)
    gain: list[float] = field(default_factory=list)

    @classmethod
    def of(cls, axis: PartitionAxis, j: int, plan: DivisionPlan) -> Cut:
        """The cut that is one node."""
        cut = cls(axis, np.zeros(len(axis), dtype=np.int64), np.zeros(len(axis), dtype=np.int64))
        cut._add(j, 0, len(axis) - 1, plan)
        return cut

    def _add(self, j: int, low: int, high: int, plan: DivisionPlan) -> None:
        """A node more: where it would be divided, and what that gains."""
        side = np.zeros(high - low + 1, dtype=np.int64)
        if self.axis.levels:
            level = int(self.axis.level(np.array([low]), np.array([high]))[0])
            if level > 0:  # else a single value; the labels below are at least two
                side = np.unique(self.axis.levels[level - 1][low : high + 1], return_inverse=True)[1].astype(np.int64)
        elif high > low:
            edge = plan.edge(j, low, high)
            side = (np.arange(low, high + 1) > edge).astype(np.int64) if edge >= 0 else side
        self.node[low : high + 1], self.side[low : high + 1] = len(self.low), side
        self.low.append(low)
        self.high.append(high)
        self.gain.append(plan.gain(j, low, high, side) if side.any() else -np.inf)

    def divide(self, j: int, node: int, plan: DivisionPlan) -> None:
        """Put the children of a node in its place; codes of one child stand together."""
        first, end = self.low[node], self.high[node] + 1
        side = self.side[first:end].copy()
        starts = np.flatnonzero(np.diff(side, prepend=-1))
        for a, b in zip(starts.tolist(), [*starts[1:].tolist(), len(side)], strict=True):
            self._add(j, first + a, first + b - 1, plan)
        self.gain[node] = -np.inf

    def spell(self) -> list[str | None]:
        """What each code becomes."""
        nodes, at = np.unique(self.node, return_inverse=True)
        low, high = (np.array(ends, dtype=np.int64)[nodes] for ends in (self.low, self.high))
        order = np.argsort(at, kind="stable")
        spelled = self.axis.spell(low, high, at[order].astype(np.int64), order.astype(np.int64))
        return [spelled[i] for i in at.tolist()]


@dataclass(eq=False)
class _Groups:
    """Columns by groups: the node, whether dividing it is allowed to the group, what the parts are worth; and the group now."""

    node: IntArray
    good: BoolArray
    then: FloatArray
    now: FloatArray
    alive: BoolArray

    @classmethod
    def none(cls, axes: int) -> _Groups:
        wide = np.zeros((axes, 0))
        return cls(wide.astype(np.int64), wide.astype(bool), wide, np.zeros(0), np.zeros(0, dtype=bool))

    def add(self, node: IntArray, good: BoolArray, then: FloatArray, now: FloatArray) -> None:
        self.node, self.good = np.hstack([self.node, node]), np.hstack([self.good, good])
        self.then, self.now = np.hstack([self.then, then]), np.append(self.now, now)
        self.alive = np.append(self.alive, np.ones(len(now), dtype=bool))


def specialize(
    axes: Sequence[PartitionAxis], code: IntArray, n: IntArray, plan: DivisionPlan, *, progress: Progress = unheard
) -> tuple[list[Cut], IntArray]:
    """Divide nodes, the best score first, while one is allowed: the cuts, and the group of each tuple.

    `code` (axes x tuples) places each tuple, `n` are its rows. The one group that all rows are at first must be able to stand.
    """
    cuts = [Cut.of(axis, j, plan) for j, axis in enumerate(axes)]
    group = np.zeros(len(n), dtype=np.int64)
    groups = _Groups.none(len(axes))
    _look(cuts, code, n, np.arange(len(n)), group, groups, plan)
    while (found := _best(cuts, groups, plan)) is not None:
        j, node = found
        inside = np.flatnonzero(cuts[j].node[code[j]] == node)
        groups.alive[groups.node[j] == node] = False
        _, parts = np.unique(group[inside] * len(axes[j]) + cuts[j].side[code[j][inside]], return_inverse=True)
        group[inside] = len(groups.now) + parts
        cuts[j].divide(j, node, plan)
        _look(cuts, code, n, inside, group, groups, plan)
        progress(min(int(groups.alive.sum()) / len(n), 1.0))
    return cuts, np.unique(group, return_inverse=True)[1].astype(np.int64)


def _look(
    cuts: list[Cut], code: IntArray, n: IntArray, entry: IntArray, group: IntArray, groups: _Groups, plan: DivisionPlan
) -> None:
    """Judge new groups, made of these entries: as they are, and divided along each column."""
    start = len(groups.now)
    of, rows = group[entry] - start, n[entry]
    count = int(of.max()) + 1
    _, now = plan.judge(entry, rows, of, count)
    node = np.zeros((len(cuts), count), dtype=np.int64)
    good, then = np.zeros((len(cuts), count), dtype=bool), np.zeros((len(cuts), count))
    for j, cut in enumerate(cuts):
        at = code[j][entry]
        node[j, of] = cut.node[at]
        wanted = (np.array(cut.gain) > -np.inf)[node[j]][of]
        if wanted.any():
            sub, member = np.unique(of[wanted] * len(cut.axis) + cut.side[at[wanted]], return_inverse=True)
            stands, worth = plan.judge(entry[wanted], rows[wanted], member, len(sub))
            owner = sub // len(cut.axis)
            first = np.flatnonzero(np.diff(owner, prepend=-1))
            good[j, owner[first]] = np.logical_and.reduceat(stands, first)
            then[j, owner[first]] = plan.fold.reduceat(worth, first)
    groups.add(node, good, then, now)


def _best(cuts: list[Cut], groups: _Groups, plan: DivisionPlan) -> tuple[int, int] | None:
    """The column and the node of the best division that is allowed; the first of equals."""
    alive = np.flatnonzero(groups.alive)
    now_all = float(plan.fold.reduce(groups.now[alive]))
    best, found = -np.inf, None
    for j, cut in enumerate(cuts):
        gain = np.array(cut.gain)
        here = alive[gain[groups.node[j, alive]] > -np.inf]
        if not len(here):
            continue
        order = here[np.argsort(groups.node[j, here], kind="stable")]
        nodes = groups.node[j, order]
        first = np.flatnonzero(np.diff(nodes, prepend=-1))
        allowed = np.logical_and.reduceat(groups.good[j, order], first)
        if plan.lasting:
            for node in nodes[first[~allowed]].tolist():
                cut.gain[node] = -np.inf
        now, then = (plan.fold.reduceat(worth[order], first) for worth in (groups.now, groups.then[j]))
        score = np.where(allowed, plan.score(gain[nodes[first]], now, then, now_all), -np.inf)
        at = int(np.argmax(score >= score.max() - _TIE)) if score.max() > -np.inf else 0
        if score[at] > best + _TIE:
            best, found = float(score[at]), (j, int(nodes[first[at]]))
    return found


def as_parts(cuts: Sequence[Cut], code: IntArray, n: IntArray, group: IntArray) -> tuple[Parts, list[list[str | None]]]:
    """The groups as parts, and what each of them releases on each axis."""
    order = np.argsort(group, kind="stable").astype(np.int64)
    start = np.flatnonzero(np.diff(group[order], prepend=-1))
    labels, low, high = [], [], []
    for j, cut in enumerate(cuts):
        at = code[j][order[start]]
        texts, node = cut.spell(), cut.node[at]
        labels.append([texts[c] for c in at.tolist()])
        low.append(np.array(cut.low, dtype=np.int64)[node])
        high.append(np.array(cut.high, dtype=np.int64)[node])
    return Parts(order, n[order], start, np.array(low), np.array(high)), labels
