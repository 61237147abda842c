"""Fit classes to counting queries: rows of two near classes are divided anew where all classes together then answer better.

ILoss is a sum over classes, and wants each to be small. What a query is answered is a sum over classes, too, but its error is not: what one class
takes away from a range another may give back. So the answers of all classes are held, and a division of two classes is judged by the error
of every query of a fixed workload (`query_workload`) after it. Tried are the cuts of the improvement pass, single rows that move, pairs of
rows that change places, and both classes as one.

**What holds.** As in the improvement pass: a division is made only if the error becomes less, both classes meet everything, and no mean
that is limited rises above its limit. It ends when nothing gains, or after a fixed amount of work. Nothing is drawn at random.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field

import numpy as np

from ...core.column import FloatArray, IntArray
from ...core.mechanism import Progress
from ...core.noun import dataclass
from .improvement import Improvement
from .mean_steering import Added, nothing
from .query_workload import QueryWorkload

WORK = 60_000_000
"""Answers to queries that are computed, after which the fit ends."""
_PLACES = 6
"""Places where an order is cut."""
_ROWS = 5
"""Rows of a class that are moved or change places, those first that suit the other class best."""
_TRIES = 3
"""Divisions of a pool that gain, of which the best that may be released is taken."""
_GAIN = 1e-9
_AGAIN = 0.002
"""Once nothing gains, pairs that were tried are tried again if so large a share of the error went away since."""


@dataclass(eq=False)
class QueryFit(Improvement):
    """`code` (axes x units) is where units stand, `told` what a row of each tells of its sensitive values."""

    workload: QueryWorkload | None = None
    code: IntArray = field(default_factory=lambda: np.zeros((0, 0), dtype=np.int64))
    told: FloatArray = field(default_factory=lambda: np.zeros((0, 0, 0)))
    added: Added = nothing
    limits: FloatArray = field(default_factory=lambda: np.zeros(0))

    def run(self, progress: Progress, most: int | None = None) -> None:
        """Fit until nothing gains."""
        most = WORK if most is None else most
        self._answers()
        while True:
            before = self.error
            super().run(progress, most)
            if self.stopped or self.error >= before * (1 - _AGAIN):  # also where no error is left at all
                return

    @property
    def error(self) -> float:
        """The mean error of the queries."""
        assert self.workload is not None
        return self.workload.mean(self._missed)

    def _answers(self) -> None:
        """By how much the answers of all classes are off; and what they add to means that are limited."""
        assert self.workload is not None
        unit, count = self.unit, int(self.member.max()) + 1
        self._missed = self.workload.missed(self.code[:, unit], self.told[unit], self.rows, self.member)
        self._sum = self.added(unit, self.rows, self.member, count).sum(axis=1)

    def _of(self, at: IntArray, side: FloatArray) -> FloatArray:
        assert self.workload is not None
        unit = self.unit[at]
        return self.workload.answers(self.code[:, unit], self.told[unit], self.rows[at], side)

    def _sides(
        self, at: IntArray, pool: IntArray, a: IntArray, b: IntArray, now: FloatArray, keys: list[FloatArray]
    ) -> IntArray:
        side = np.full(len(at), -1)
        start = np.append(np.flatnonzero(np.diff(pool, prepend=-1)), len(pool))
        for p, (begin, end) in enumerate(zip(start[:-1].tolist(), start[1:].tolist(), strict=True)):
            inside = at[begin:end]
            own = (self.member[inside] != a[p]).astype(np.int64)
            best = self._divided(inside, own, [key[begin:end] for key in keys], alone=bool(a[p] == b[p]))
            if best is not None:
                side[begin:end] = best
        return side

    def _divided(self, at: IntArray, own: IntArray, keys: list[FloatArray], *, alone: bool) -> IntArray | None:
        """The side of each unit of a pool after the best division that gains and that may be; `own` is which side it is on now."""
        assert self.workload is not None
        rows = self.rows[at]
        sides = np.unique(np.array(list(self._tried(own, rows, keys, alone=alone))).reshape(-1, len(at)), axis=0)
        if not len(sides):
            return None
        both = np.concatenate([own[None, :], sides])
        flat = np.concatenate([1 - both, both]).astype(np.float64)
        answers = self._of(at, flat)
        answers = answers[: len(both)] + answers[len(both) :]
        self.work += answers.size
        rest = self._missed - answers[0]
        errors = np.abs(rest + answers).reshape(len(both), -1) @ self.workload.weight.ravel()
        order = np.argsort(errors, kind="stable")
        for way in order[:_TRIES].tolist():
            if errors[way] >= errors[0] * (1 - _GAIN):
                return None
            new, count = _numbered(both[way])
            unit = self.unit[at]
            if not self.stands(unit, rows, new, count).all():
                continue
            more = self.added(unit, rows, new, count).sum(axis=1) - self.added(unit, rows, *_numbered(own)).sum(axis=1)
            if len(more) and not ((more <= 0) | (self._sum + more <= self.limits)).all():
                continue
            self._sum = self._sum + more
            self._missed = rest + answers[way]
            return new
        return None

    def _tried(self, own: IntArray, rows: IntArray, keys: list[FloatArray], *, alone: bool) -> Iterator[IntArray]:
        """Divisions of a pool that leave enough rows on both sides, and the pool as one class."""
        everything = int(rows.sum())
        for key in keys:
            order = np.argsort(key, kind="stable")
            left = np.cumsum(rows[order])[:-1]
            places = np.flatnonzero((left >= self.least) & (everything - left >= self.least))
            if len(places) > _PLACES:
                places = places[np.unique(np.linspace(0, len(places) - 1, _PLACES).round().astype(int))]
            for place in places.tolist():
                side = np.zeros(len(own), dtype=np.int64)
                side[order[place + 1 :]] = 1
                yield side
        if alone:
            return
        yield np.zeros_like(own)
        leaning = keys[-1]  # how much worse a unit suits the first class
        ready = [np.flatnonzero(own == 0), np.flatnonzero(own == 1)]
        ready[0] = ready[0][np.argsort(-leaning[ready[0]], kind="stable")][:_ROWS]
        ready[1] = ready[1][np.argsort(leaning[ready[1]], kind="stable")][:_ROWS]
        right = int(rows[own == 1].sum())
        for one in (*ready[0].tolist(), None):
            for other in (*ready[1].tolist(), None):
                if one is None and other is None:
                    continue
                side, now = own.copy(), right
                if one is not None:
                    side[one], now = 1, now + int(rows[one])
                if other is not None:
                    side[other], now = 0, now - int(rows[other])
                if now >= self.least and everything - now >= self.least:
                    yield side


def _numbered(side: IntArray) -> tuple[IntArray, int]:
    """The class of each unit, and how many there are: two, or one that holds everything."""
    if side.any() and not side.all():
        return side, 2
    return np.zeros_like(side), 1
