"""Top-down specialization: from everything suppressed, divide the value that tells most of a class column for the privacy it costs.

Fung, Wang, Yu 2005. The table is counted once into distinct weighted tuples; a step looks only at the groups that it divides
(`partition.specialization`), so Adult takes a second or two, and a million rows of few distinct tuples not more.
"""

from __future__ import annotations

from dataclasses import field
from typing import ClassVar

import numpy as np

from ..core.column import FloatArray, IntArray
from ..core.counts import Counts, exact
from ..core.cover import BoolArray
from ..core.errors import InputError
from ..core.mechanism import MechanismCard, Offer, Progress
from ..core.metric import Requirement
from ..core.noun import dataclass
from ..core.randomness import Rng
from ..core.release import Release
from ..core.roles import Roles
from ..core.table import Table
from ..search.row_owners import row_owners
from .parameters.class_requirements import Steered
from .partition.axes import PartitionAxis, axes_of
from .partition.class_demands import Demands
from .partition.covered_people import CoveredPeople, axis_labels
from .partition.parts import recoding_of
from .partition.specialization import as_parts, specialize


@dataclass(frozen=True, kw_only=True)
class TopDownSpecialization(Steered):
    """Global recoding for a classifier, guided by information gain per privacy loss."""

    k: int | None = None
    target: str | None = None
    require: tuple[Requirement, ...] = ()
    population: Table | None = field(default=None, compare=False)
    """Whom an adversary may take for a person in the release, for requirements that look at a population."""

    card: ClassVar[MechanismCard] = MechanismCard(
        name="top_down_specialization",
        title="Top-down specialization by information gain per privacy loss",
        promise="each class meets all class requirements that you set (k_anonymity >= k, l-diversity, t-closeness, leakages, ...)",
        against="an adversary who knows all quasi-identifiers of a person and that the person is in the release",
        cost="a value is generalized alike in all rows (global recoding; ranges end at nobody's value, and the outermost are "
        "open); what helps to predict one column is kept and the rest stays generalized, so the release suits a "
        "classifier of that column and little else; nothing is suppressed, and no other column changes",
        source="Fung, Wang, Yu 2005, algorithm TDS; IGPL as in Manta 2013, 5.2.3, with PL + 1 as Fung et al. have it",
        chance="none",
        people=True,
        tunable=("k",),
        offer=Offer(50, lambda trial: [{"k": trial.few}] if trial.one_secret else []),
        parameters={
            "k": "short for the requirement k_anonymity >= k",
            "target": "the column that the release should predict; by default the only sensitive column",
        },
    )

    def __post_init__(self) -> None:
        self.check_steering()

    def sanitize(self, table: Table, roles: Roles, rng: Rng, *, progress: Progress) -> Release:
        """Sanitize; ties go to the column that the roles name first, so nothing is left to chance and `rng` is not used.

        A missing value of the target is a class of its own; a missing quasi-identifier is a value that stands last.
        """
        target = self._target(roles)
        counts, split = self.count(table, roles, also=(target,))
        counts, owners = row_owners(counts, roles)
        axes, code = axes_of(counts, roles)
        people = CoveredPeople.of(self.looked_at, roles, axis_labels(axes, code))
        demands = Demands.of(counts, roles, split, self.promises, people, owners)
        demands.check_whole(self.card.name)
        cuts, group = specialize(
            axes, code, counts.n, _GainPlan.of(axes, code, counts, target, demands), progress=progress
        )
        parts, labels = as_parts(cuts, code, counts.n, group)
        return self.released(table, roles, recoding_of(parts, labels, counts, roles, divides=False))

    def _target(self, roles: Roles) -> str:
        who = self.card.name
        if self.target is None:
            if len(roles.sensitive) != 1:
                raise InputError(
                    f"{who} needs the column that the release should tell, and {roles.source} names "
                    f"{len(roles.sensitive) or 'no'} sensitive columns; set target."
                )
            return roles.sensitive[0]
        if self.target in roles.quasi:
            raise InputError(f"{who}: target {self.target!r} is a quasi-identifier in {roles.source}; name another.")
        if self.target not in (*roles.sensitive, *roles.insensitive):
            raise InputError(
                f"{who}: target {self.target!r} is not released; name it in {roles.source} as sensitive or insensitive."
            )
        return self.target


@dataclass(eq=False)
class _GainPlan:
    """Score = IG/(PL + 1): the entropy that a division takes from the target, per row that the smallest class loses (eq. 3 f.)."""

    tables: list[IntArray]
    """For each column, the rows of each code (down) and target value (across)."""
    demands: Demands
    least: int
    fold: np.ufunc = field(default=np.minimum)
    lasting: bool = False

    @classmethod
    def of(cls, axes: list[PartitionAxis], code: IntArray, counts: Counts, target: str, demands: Demands) -> _GainPlan:
        value, values = counts.codes[counts.names.index(target)], len(counts.column(target))
        tables = [
            exact(np.bincount(at * values + value, weights=counts.n, minlength=len(axis) * values)).reshape(-1, values)
            for axis, at in zip(axes, code, strict=True)
        ]
        lasting = all(requirement.metric.card.monotone for requirement, _, _ in demands.items)
        return cls(tables, demands, demands.least_rows(), lasting=lasting)

    def edge(self, axis: int, low: int, high: int) -> int:
        """The cut of largest information gain among those with rows enough for a class on either side."""
        rows = self.tables[axis][low : high + 1]
        left = np.cumsum(rows, axis=0)[:-1]
        right = rows.sum(axis=0) - left
        fits = np.minimum(left.sum(axis=1), right.sum(axis=1)) >= self.least
        if not fits.any():
            return -1
        return low + int(np.argmin(np.where(fits, _bits(left) + _bits(right), np.inf)))

    def gain(self, axis: int, low: int, high: int, side: IntArray) -> float:
        """InfoGain(v) = I(R_v) - sum_c |R_c|/|R_v| I(R_c); of no use where the rows have one value of the target only."""
        rows = self.tables[axis][low : high + 1]
        if np.count_nonzero(rows.sum(axis=0)) < 2:
            return -np.inf
        children = np.zeros((int(side.max()) + 1, rows.shape[1]))
        np.add.at(children, side, rows)
        before = float(_bits(rows.sum(axis=0, keepdims=True))[0])
        return max(before - float(_bits(children).sum()), 0.0) / float(rows.sum())

    def judge(self, entry: IntArray, n: IntArray, member: IntArray, count: int) -> tuple[BoolArray, FloatArray]:
        """Which classes meet everything, and their rows."""
        size = np.bincount(member, weights=n, minlength=count).astype(np.float64, copy=False)
        return self.demands.met(entry, n, member, count), size

    def score(self, gain: FloatArray, now: FloatArray, then: FloatArray, all_now: float) -> FloatArray:
        """IG/(PL + 1), where PL is what the smallest class loses: A(VID) - A_v(VID)."""
        return gain / (all_now - np.minimum(all_now, then) + 1.0)


def _bits(rows: IntArray | FloatArray) -> FloatArray:
    """|R| I(R) of each line of counts: the bits that it takes to tell the values of all its rows."""
    total = rows.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(rows > 0, rows * np.log2(rows), 0.0).sum(axis=1)
        bits: FloatArray = np.where(total > 0, total * np.log2(total), 0.0) - terms
    return np.maximum(bits, 0.0)
