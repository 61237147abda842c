"""Random sampling: some of the rows, or all rows of some of the people, drawn at random, so that nobody knows who is in the release.

Cochran 1977, ch. 2 and 5. Whoever is drawn from is the population of the release: k_map, journalist_risk and delta_presence are measured
against the table. Rows are held in memory; the draw costs two sorts of them.
"""

from __future__ import annotations

from dataclasses import field, replace
from typing import ClassVar

import numpy as np

from ..core.column import IntArray
from ..core.counts import pack
from ..core.cover import BoolArray
from ..core.errors import Infeasible, InputError
from ..core.mechanism import Mechanism, MechanismCard, Progress
from ..core.noun import dataclass
from ..core.people import nobodys
from ..core.randomness import Chance, Rng
from ..core.release import Release
from ..core.roles import Roles
from ..core.table import Table
from ..core.words import counted, percent
from .microdata.numeric_columns import names_in
from .microdata.rows import Rows


@dataclass(frozen=True, kw_only=True)
class RandomSampling(Mechanism):
    """A share of the rows or people, each as likely as the next."""

    fraction: float | None = None
    by: str = ""
    each: bool = False
    population: Table | None = field(default=None, compare=False)
    """Whom the table itself is a part of, where the owner has a table of them; else the table is the population."""

    card: ClassVar[MechanismCard] = MechanismCard(
        name="random_sampling",
        title="Random sampling",
        promise="every row is in the release with the same probability, fraction, whatever it holds; where the roles name a person with several "
        "rows, every person with all of their rows. Of a row that is alone in the release this leaves open whether it is alone in the "
        "table; k_map and journalist_risk are then measured against the table",
        against="an adversary who does not know who is in the release; one who does faces k_anonymity, which sampling lowers. Knowing the "
        "fraction, as everyone may, changes nothing of it",
        cost="rows that were not drawn are missing, and losses count them as suppressed; what is counted in a sample is less precise, by "
        "the square root of the rows, and rare groups may be gone. No value is changed",
        source="Cochran 1977, Sampling Techniques, ch. 2 and 5; for disclosure Skinner, Marsh, Openshaw, Wymer 1994",
        chance="always",
        people=True,
        links=True,
        samples=True,
        parameters={
            "fraction": "the share that is drawn, such as 0.1: the probability of each row or person, which is published with the release",
            "by": "columns whose combinations are drawn from separately, each by the same share: region,sex; by default the table as a whole",
            "each": "true: each row or person is drawn by itself, so the number drawn is chance, too; false: the number is the share, rounded",
        },
    )

    def __post_init__(self) -> None:
        number = self.fraction
        if number is not None and (
            not isinstance(number, int | float) or isinstance(number, bool) or not 0 < number <= 1
        ):
            raise InputError("random_sampling: fraction must be above 0 and at most 1.")
        if self.each and self.by:
            raise InputError("random_sampling: with each=true nobody's draw depends on another's, so leave out by.")

    def sanitize(self, table: Table, roles: Roles, rng: Rng, *, progress: Progress) -> Release:
        """Sanitize; a missing value in a column of `by` is a value like any other."""
        if self.fraction is None:
            raise InputError("random_sampling needs fraction, the share that is drawn; set fraction=0.1.")
        strata = names_in(self.by, self.card.name) if self.by else ()
        for name in strata:
            if name not in table.columns:
                raise InputError(f"{table.name}: no column {name!r}, by which random_sampling should draw.")
        owner = roles.owner if roles.owner in table.columns else None
        keys = [key for key in (roles.person, roles.household) if key is not None and key in table.columns]
        rows = Rows.of(table, roles, self.card.name, house=dict.fromkeys((*keys, *strata)))
        chance = Chance(rng)
        unit = np.arange(len(rows)) if owner is None else rows.codes[owner]
        units = len(rows) if owner is None else len(rows.columns[owner])
        if roles.linked and owner is not None and rows.columns[owner].has_missing:
            raise InputError(nobodys(table, int((unit == units - 1).sum()), owner))
        part = self._parts(rows, strata, unit, units)
        drawn = _each(units, self.fraction, chance) if self.each else _of_each_part(part, self.fraction, chance)
        kept = drawn[unit]
        if not kept.any():
            raise Infeasible(
                f"random_sampling: none of {counted(units, 'row' if owner is None else 'person', 'rows' if owner is None else 'people')} was "
                "drawn; raise fraction."
            )
        progress(0.5)
        added = {}
        if roles.linked and owner is not None:
            added = {owner: chance.numbers(units, rows.columns[owner].texts)[unit]}
        release = rows.release(
            self, {}, kept=kept, added=added, notes=(*self._notes(drawn, kept, part, roles, owner), *chance.notes)
        )
        known = not roles.linked and not roles.counts_households  # whom classes cover is counted in people apart
        return replace(release, population=(self.population or table) if known else None)

    def _parts(self, rows: Rows, strata: tuple[str, ...], unit: IntArray, units: int) -> IntArray:
        """The stratum of each unit; a person who is in several is refused."""
        part = np.zeros(units, dtype=np.int64)
        if not strata:
            return part
        codes = [rows.codes[name] for name in strata]
        key = np.unique(pack(codes, [len(rows.columns[name]) for name in strata], len(rows)), return_inverse=True)[1]
        part[unit] = key
        several = len(np.unique(unit[part[unit] != key]))
        if several:
            raise InputError(
                f"{rows.table.name}: {counted(several, 'person has', 'people have')} rows in several parts of {', '.join(map(repr, strata))}, so "
                "people cannot be drawn by part; take columns that say the same in all rows of a person."
            )
        return part

    def _notes(self, drawn: BoolArray, kept: BoolArray, part: IntArray, roles: Roles, owner: str | None) -> list[str]:
        """What was drawn of what, and what that is the population of."""
        who = "rows" if owner is None else "households" if roles.counts_households else "people"
        of = f"{int(drawn.sum()):,} of {len(drawn):,} {who}"
        if owner is not None:
            of += f" with all of their rows, {int(kept.sum()):,} of {len(kept):,}"
        notes = [f"A random sample: {of}, each drawn with a probability of {percent(float(self.fraction or 0))}."]
        empty = len(np.unique(part)) - len(np.unique(part[drawn]))
        if empty:
            notes.append(f"Of {counted(empty, 'part')} of the table nobody was drawn, because so few are in it.")
        if not roles.linked and not roles.counts_households:
            whom = "the population that was given" if self.population is not None else "the table that was drawn from"
            notes.append(f"Metrics that look at a population look at {whom}.")
        return notes


def _each(units: int, fraction: float, chance: Chance) -> BoolArray:
    """Who is drawn where nobody's draw depends on another's."""
    return chance.uniform(units) < fraction


def _of_each_part(part: IntArray, fraction: float, chance: Chance) -> BoolArray:
    """Who is drawn where the number drawn of each part is its share, rounded up or down at random.

    The parts stand in a random order, and part h gets `floor(f C_h + u) - floor(f C_(h-1) + u)`, C_h the units up to it and u uniform: on
    average exactly `f N_h`, never one or more away from it, nor in all from `f N` (Cox 1987). So everybody is drawn with probability f.
    """
    sizes = np.bincount(part)
    turn = chance.order(len(sizes))
    upto = np.floor(fraction * np.cumsum(sizes[turn]) + chance.uniform(1))
    wanted = np.empty(len(sizes), dtype=np.int64)
    wanted[turn] = np.diff(upto, prepend=0.0).astype(np.int64)
    order = chance.order(len(part))
    order = order[np.argsort(part[order], kind="stable")]
    place = np.arange(len(part)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    drawn = np.zeros(len(part), dtype=bool)
    drawn[order] = place < np.repeat(wanted, sizes)
    return drawn
