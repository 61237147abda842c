"""Optimal cut points: one ordered column in the ranges that keep most, the others held at levels of their hierarchies.

Bezzi 2010, sec. 4; the search (dynamic programming over all ranges, proved) is in `search/cuts.py`, and its cost is there.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ..core.arrow import strings, take
from ..core.column import IntArray
from ..core.counts import Counts
from ..core.errors import InputError
from ..core.hierarchy import TOP
from ..core.mechanism import MechanismCard, Progress
from ..core.metric import Requirement
from ..core.noun import dataclass
from ..core.randomness import Rng
from ..core.release import Release
from ..core.roles import Roles
from ..core.table import Recoding, Table
from ..metrics.privacy.mutual_information import mutual_information
from ..search.additive import objective as named_objective
from ..search.cuts import Cuts, optimal_cuts
from ..search.lattice import Ladder
from .parameters.class_requirements import Steered
from .parameters.column_numbers import by_column


@dataclass(frozen=True, kw_only=True)
class CutPoints(Steered):
    """The best ranges of one column under any conjunction of class requirements."""

    column: str | None = None
    objective: str = str(mutual_information)
    max_ranges: int | None = None
    levels: str | None = None
    sensitive: str | None = None
    k: int | None = None
    require: tuple[Requirement, ...] = ()

    card: ClassVar[MechanismCard] = MechanismCard(
        name="cut_points",
        title="Optimal cut points",
        promise="each class meets all class requirements that you set (k_anonymity >= k, l-diversity, t-closeness, leakages, "
        "...), and no other division of the column into ranges has a better objective",
        against="an adversary who knows all quasi-identifiers of a person and that the person is in the release",
        cost="the column becomes ranges that are the same in all rows (global recoding); they end between two of its values, "
        "and the outermost are open; the other quasi-identifiers become * or the labels of the level you choose; nothing "
        "is suppressed, and no sensitive value changes",
        source="Bezzi 2010, sec. 4 (age ranges of variable size); exact by dynamic programming",
        chance="none",
        tunable=("k",),
        parameters={
            "column": "the quasi-identifier to cut: numbers, dates, or values with a stated order",
            "objective": "what the ranges optimize: mutual_information, loss, granularity, iloss or discernibility",
            "max_ranges": "the largest number of ranges",
            "levels": "the levels of other quasi-identifiers, such as sex=0,education=2; those not named become *",
            "sensitive": "the column that the mutual information is about, if the roles file names several sensitive ones",
            "k": "short for the requirement k_anonymity >= k",
        },
    )

    def __post_init__(self) -> None:
        named_objective(self.objective)
        self._levels()
        self.check_steering("max_ranges")

    def _levels(self) -> dict[str, int]:
        """The level at which each of the other columns is held."""
        stated = by_column(self.levels, "cut_points", "levels") if self.levels is not None else {}
        for name, level in stated.items():
            if not level.is_integer() or level < 0:
                raise InputError(f"cut_points: the level of {name!r} must be at least 0, and whole.")
        return {name: int(level) for name, level in stated.items()}

    def sanitize(self, table: Table, roles: Roles, rng: Rng, *, progress: Progress) -> Release:
        """Sanitize; nothing is left to chance, so `rng` is not used.

        Missing values of the column stay missing, a class of their own; those of a held column do below its highest level.
        """
        if self.column is None:
            raise InputError("cut_points needs to know what to cut: set column.")
        if not self.promises and self.max_ranges is None:
            raise InputError(
                "cut_points needs something to meet: set k, max_ranges, or require for example k_anonymity >= 5."
            )
        roles.check(table.columns, where=table.name, need=("identifiers", "quasi", "sensitive", "insensitive"))
        cuts = optimal_cuts(
            table,
            roles,
            self.column,
            objective=self.objective,
            require=self.promises,
            max_ranges=self.max_ranges,
            levels=self._levels(),
            sensitive=self.sensitive,
            progress=progress,
        )
        recoding = self._recoding(table.count(roles.quasi), cuts, roles)
        note = (
            f"Column {self.column!r} in {cuts.ranges} ranges: {cuts.aim.name} {cuts.objective:.6g} {cuts.aim.unit}; "
            "no other ranges that meet everything are better."
        )
        return self.released(table, roles, recoding, (note,))

    def _recoding(self, counts: Counts, found: Cuts, roles: Roles) -> Recoding:
        """What each tuple of quasi-identifiers becomes."""
        before, after = [], []
        levels = self._levels()
        for column, codes in zip(counts.columns, counts.codes, strict=True):
            before.append(take(column.values, codes))
            if column.name == self.column:
                texts, of = _ranges(found)
            elif column.name in levels:
                ladder, level = Ladder.of(column, counts.margin(column.name), roles), levels[column.name]
                texts, of = list(ladder.labels[level]), ladder.codes[level]
            else:
                texts, of = [TOP], np.zeros(len(column), dtype=np.int64)
            after.append(take(strings(texts), of[codes]))
        return Recoding.of(roles.quasi, roles.quasi, [*before, *after], counts.n)


def _ranges(found: Cuts) -> tuple[list[str | None], IntArray]:
    """The labels of the ranges, None for missing, and which of them each value of the column gets."""
    line = found.search.ranges.line
    inside = np.searchsorted(found.places, line.place, side="right") - 1
    return [*found.labels, None], np.minimum(inside, len(found.labels)).astype(np.int64)
