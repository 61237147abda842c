"""Isolation noise: the crowd around a row sets the noise it gets (Chawla, Dwork, McSherry, Smith, Wee 2005; Manta 4.1).

The rows are divided at random into halves A and B. A cube around all rows is halved along every column at once, again and
again, as long as a cell holds more than 2t rows of B. A row v of A, in a cell of side rho, is released as `v + N` with N
Gaussian of deviation rho in every column; B is not released. So noise is small where rows are dense, and what is added to a
row of A is learned from others only.

The paper's bound on isolation holds on average and in many dimensions. Here it is a promise: a released row that
(c,t)-isolates a real one is drawn again, a little wider each time, and left out if that never helps. In few dimensions d
that takes many draws, since among evenly spread rows about t/c^d of them isolate. The paper also publishes the counts of B's
cells; here they stay in, since a cell may hold a single row. The cost follows rows squared.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ..core.column import FloatArray, IntArray
from ..core.counts import pack
from ..core.cover import BoolArray
from ..core.errors import Infeasible, InputError
from ..core.mechanism import Mechanism, MechanismCard, Progress, check_whole
from ..core.metric import Requirement
from ..core.noun import dataclass
from ..core.randomness import Chance, Rng
from ..core.release import Release
from ..core.roles import Roles
from ..core.table import Table
from ..metrics.privacy.isolation import MOST, crowd, isolation
from .microdata.numeric_columns import columns_of, grid_note, grid_of, is_whole, released, round_to
from .microdata.rows import Rows

DRAWS = 100
"""How often a row that isolates is drawn again, at most."""
WIDER = 1.03
"""By what its noise grows every time."""
DEEPEST = 50
"""How often the cube is halved at most: beyond, its cells have no room for two different numbers."""


@dataclass(frozen=True, kw_only=True)
class IsolationNoise(Mechanism):
    """One half of the rows, with Gaussian noise as wide as their cell in a histogram of the other half."""

    t: int = 5
    c: float = 2.0
    suppression: float = 0.05
    whole: bool = False

    card: ClassVar[MechanismCard] = MechanismCard(
        name="isolation_noise",
        title="Isolation noise (histogram on one half, noise on the other)",
        promise="no released row (c,t)-isolates a real one: within c times its distance to the nearest real row there are at "
        "least t real rows (isolation >= t)",
        against="an adversary who knows nothing further about a person and takes released rows as guesses of real ones",
        cost="half of the rows are not released; every quasi-identifier of numbers changes, most where rows are sparse, and "
        "the noise grows with the number of columns; other columns and missing values stay as they are",
        source="Chawla, Dwork, McSherry, Smith, Wee 2005 (sanitization by cross-training); Manta 2013, sec. 4.1",
        chance="always",
        tunable=("c", "suppression"),
        parameters={
            "t": "the smallest crowd; a cell of the histogram holds at most 2t rows",
            "c": "how far from a released row the crowd may stand, as a multiple of the row's distance to the nearest real row",
            "suppression": "the largest share of the half that may be left out because every draw isolates someone",
            "whole": "round the released numbers of a column where all numbers are whole; other columns are rounded to their own "
            "precision or a tenth of the noise, whichever is finer, as the notes state",
        },
    )

    def __post_init__(self) -> None:
        check_whole(self, "t")
        if not isinstance(self.c, int | float) or isinstance(self.c, bool) or not 1 <= self.c <= 1e6:
            raise InputError("isolation_noise: c must be a number from 1 to 1,000,000.")
        if not isinstance(self.suppression, int | float) or not 0 <= self.suppression < 1:
            raise InputError("isolation_noise: suppression must be a share of the rows from 0 to below 1.")

    @property
    def promises(self) -> tuple[Requirement, ...]:
        """t, for this c."""
        return (isolation.set(c=float(self.c)).at_least(self.t),)

    def sanitize(self, table: Table, roles: Roles, rng: Rng, *, progress: Progress) -> Release:
        """Sanitize; a missing number stays missing, and stands beyond the largest by the column's range."""
        rows, chance = Rows.of(table, roles, "isolation_noise"), Chance(rng)
        x = columns_of(rows, None, "isolation_noise")
        if len(rows) < self.t:
            raise Infeasible(f"isolation_noise cannot meet {self.promises[0]}: {table.name} has only {len(rows)} rows.")
        real = _Real.of(np.column_stack(list(x.values())))
        ours = np.sort(chance.order(len(rows))[len(rows) // 2 :])  # A, in the order of the rows' values
        if len(ours) * len(real.points) > MOST:
            raise InputError(
                f"{table.name}: isolation_noise compares every released row with every real one, and {len(ours):,} times "
                f"{len(real.points):,} is beyond {MOST:,}; sample or split the table."
            )
        theirs = np.ones(len(rows), dtype=bool)
        theirs[ours] = False
        rho = self._sides(real, theirs)[ours]
        steps = {
            name: 1.0
            if self.whole and is_whole(values)
            else grid_of(values, float(np.median(rho)) * float(real.deviation[j]))
            for j, (name, values) in enumerate(x.items())
        }
        y, again, kept = self._drawn(real, real.rows[ours], rho, list(steps.values()), chance, progress)
        if not kept.any() or (~kept).mean() > self.suppression:
            raise Infeasible(
                f"isolation_noise cannot meet {self.promises[0]}: {int((~kept).sum())} of {len(kept)} rows isolate another "
                "however they are drawn; a larger c, a smaller t or more columns of numbers make that rarer."
            )
        there = np.zeros(len(rows), dtype=bool)
        there[ours[kept]] = True
        changed = np.full(real.rows.shape, np.nan)
        changed[ours] = y
        for j, name in enumerate(x):
            if np.isnan(changed[there, j]).all():
                raise Infeasible(f"isolation_noise: no number of column {name!r} is left in the half that it releases.")
        notes = (
            f"{int(there.sum())} of {len(rows)} rows are released; {len(rows) - len(ours)} set the scale of the noise and stay "
            f"in, {int((~kept).sum())} were left out because they isolated another however they were drawn.",
            f"{again} released rows were drawn more than once.",
            grid_note(steps),
        )
        return rows.release(
            self,
            {name: released(changed[:, j]) for j, name in enumerate(x)},
            kept=there,
            perturbed=tuple(x),
            notes=(*notes, *chance.notes),
        )

    def _sides(self, real: _Real, theirs: BoolArray) -> FloatArray:
        """The side of every row's cell in the histogram of `theirs`, in deviations."""
        at = real.filled(real.rows, real.rows)
        low = at.min(axis=0)
        side = float((at.max(axis=0) - low).max())
        rest = (at - low) / (side or 1.0)  # where the row is in its cell, from 0 to 1
        depth, cell = np.zeros(len(at), dtype=np.int64), np.zeros(len(at), dtype=np.int64)
        active = np.arange(len(at))
        for h in range(1, DEEPEST + 1):
            there = active[theirs[active]]
            held = np.bincount(cell[there], minlength=int(cell[active].max(initial=0)) + 1)
            first, last = np.full(len(held), len(at)), np.full(len(held), -1)
            np.minimum.at(first, cell[there], real.member[there])
            np.maximum.at(last, cell[there], real.member[there])
            crowded = (held > 2 * self.t) & (
                first < last
            )  # rows that are all alike are not told apart by smaller cells
            active = active[crowded[cell[active]]]
            if not len(active):
                break
            rest[active] *= 2
            half = rest[active] >= 1
            rest[active] -= half
            key = cell[active]
            for j in range(at.shape[1]):
                key = np.unique(2 * key + half[:, j], return_inverse=True)[1]
            cell[active], depth[active] = key, h
        return np.asarray(side * 0.5**depth, dtype=np.float64)

    def _drawn(
        self,
        real: _Real,
        x: FloatArray,
        rho: FloatArray,
        steps: list[float],
        chance: Chance,
        progress: Progress,
    ) -> tuple[FloatArray, int, BoolArray]:
        """The rows with their noise, how many were drawn more than once, and which of them isolate nobody."""
        y, wide = x.copy(), rho.copy()
        bad = np.arange(len(x))
        again = np.zeros(len(x), dtype=bool)
        for draw in range(DRAWS):
            noise = chance.normal(len(bad) * x.shape[1]).reshape(len(bad), -1)
            y[bad] = x[bad] + noise * wide[bad, None] * real.deviation
            for j, step in enumerate(steps):
                y[:, j] = round_to(y[:, j], step)
            # a missing value stands beyond the largest released one: then every draw may move all distances
            among = np.arange(len(x)) if real.gaps else bad
            bad = among[real.crowds(y[among], y, self.c) < self.t]
            if not len(bad):
                break
            again[bad] = True
            wide[bad] *= WIDER
            progress(0.9 * (draw + 1) / DRAWS)
        kept = np.ones(len(x), dtype=bool)
        kept[bad] = False
        while real.gaps and kept.any():  # without the rows that are left out the missing ones stand elsewhere
            isolates = real.crowds(y[kept], y[kept], self.c) < self.t
            if not isolates.any():
                break
            kept[np.flatnonzero(kept)[isolates]] = False
        return y, int((again & kept).sum()), kept


@dataclass(frozen=True, eq=False)
class _Real:
    """The real rows as points, NaN where missing: all of them, and the distinct ones with their copies."""

    rows: FloatArray
    member: IntArray
    points: FloatArray
    n: IntArray
    deviation: FloatArray

    @classmethod
    def of(cls, rows: FloatArray) -> _Real:
        codes = [np.unique(column, return_inverse=True)[1] for column in rows.T]  # all missing ones are one
        key = pack(codes, [int(code.max()) + 1 for code in codes], len(rows))
        _, first, member, n = np.unique(key, return_index=True, return_inverse=True, return_counts=True)
        deviation = np.array([float(np.nanstd(column)) or 1.0 for column in rows.T])
        return cls(rows, member, rows[first], n.astype(np.int64), deviation)

    @property
    def gaps(self) -> bool:
        """Whether a number is missing anywhere."""
        return bool(np.isnan(self.points).any())

    def filled(self, values: FloatArray, beside: FloatArray) -> FloatArray:
        """In deviations, missing numbers beyond the largest by the range, as the metric has it."""
        both = np.vstack([beside, self.points])
        low, top = np.nanmin(both, axis=0), np.nanmax(both, axis=0)
        beyond = top + np.where(top > low, top - low, 1.0)
        return np.asarray(np.where(np.isnan(values), beyond, values) / self.deviation)

    def crowds(self, some: FloatArray, everyone: FloatArray, c: float) -> IntArray:
        """The crowd around some of the released rows, given all of them."""
        return crowd(self.filled(some, everyone), self.filled(self.points, everyone), self.n, c)
