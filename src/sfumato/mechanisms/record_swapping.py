"""Targeted record swapping: households that stand out in their area change places with alike ones elsewhere, all their members together.

Shlomo, Tudor, Groom 2010; the method that Eurostat recommends for the census. Rows are held in memory; the cost is a few sorts a level and, for each
household that is swapped, a look at the areas around it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from ..core.arrow import take
from ..core.column import IntArray
from ..core.counts import pack
from ..core.cover import BoolArray
from ..core.errors import InputError
from ..core.histories import same_histories
from ..core.mechanism import Mechanism, MechanismCard, Progress, check_whole
from ..core.noun import dataclass
from ..core.people import nobodys
from ..core.randomness import Chance, Rng
from ..core.release import Release
from ..core.roles import Roles
from ..core.table import Table
from ..core.words import counted
from .microdata.numeric_columns import names_in, released_columns
from .microdata.rows import Rows
from .parameters.stated_domains import split


@dataclass(frozen=True, kw_only=True)
class RecordSwapping(Mechanism):
    """Swap the areas of households at risk, level by level, with those of households that are alike."""

    areas: str = ""
    similar: str = ""
    risk: str = ""
    k: int = 3
    rate: float = 0.05

    card: ClassVar[MechanismCard] = MechanismCard(
        name="record_swapping",
        title="Targeted record swapping",
        promise="every household that stands out in its area (somebody in it shares the risk columns with fewer than k rows there) is released with the "
        "areas of a household elsewhere, if one of the same size and the same similar columns is left; at least rate of the households are swapped. "
        "How many found nobody, a note tells. It does not limit what can be learned from a row",
        against="an adversary who finds a rare person in a small area: it may be somebody else's household. Not one who ignores the area, nor one who "
        "takes a rare match for true with some probability, since most rows are where they were",
        cost="areas of some households are wrong. Every count of households by area, size and similar columns is exact at every level, and so is every "
        "count without areas; other columns by area are blurred, as pair_distance and query_error measure",
        source="Shlomo, Tudor, Groom 2010, Data swapping for protecting census tables; Dalenius and Reiss 1982",
        chance="always",
        links=True,
        people=True,
        tunable=("k", "rate"),
        parameters={
            "areas": "the columns that are swapped, from the largest area to the smallest, such as region,town,district",
            "similar": "the columns that must agree, member by member, such as age_group,sex; several lists, as in age_group,sex|sex, are tried in turn, "
            "and an empty one asks for the same size only",
            "risk": "the columns by which somebody may stand out; by default all quasi-identifiers that are no area",
            "k": "fewer rows than this of an area with the same risk columns put a household at risk; 1 puts none there",
            "rate": "the share of the households that are swapped at least, those at risk included; the rarer, the likelier",
        },
    )

    def __post_init__(self) -> None:
        check_whole(self, "k")
        if not isinstance(self.rate, int | float) or isinstance(self.rate, bool) or not 0 <= self.rate <= 1:
            raise InputError("record_swapping: rate is a share of the households between 0 and 1.")

    def sanitize(self, table: Table, roles: Roles, rng: Rng, *, progress: Progress) -> Release:
        """Sanitize; a missing value is a value like any other, and a row without a household is a household of its own."""
        if not self.areas:
            raise InputError(
                "record_swapping needs areas, from the largest to the smallest, such as areas=region,town."
            )
        keys = [key for key in (roles.household, roles.person) if key is not None and key in table.columns]
        rows, chance = Rows.of(table, roles, self.card.name, house=keys), Chance(rng)
        areas = released_columns(rows, self.areas, self.card.name)
        risky = self._columns(rows, self.risk) if self.risk else tuple(q for q in roles.quasi if q not in areas)
        profiles = [self._columns(rows, part) for part in split(self.similar, "|")] if self.similar else [()]
        for name in {name for part in (risky, *profiles) for name in part} & {*areas}:
            raise InputError(
                f"record_swapping: {name!r} is an area, which is swapped; it cannot be among similar or risk, too."
            )
        if roles.linked and rows.columns[str(roles.person)].has_missing:
            of_nobody = int((rows.codes[str(roles.person)] == len(rows.columns[str(roles.person)]) - 1).sum())
            raise InputError(nobodys(table, of_nobody, str(roles.person)))
        unit = self._units(rows, keys)
        swap = _Swap.of(rows, unit, areas, risky, [_profile(rows, part, unit) for part in profiles])
        partner = swap.partners(self.k, self.rate, chance, progress)
        changed: dict[str, Any] = {
            name: take(rows.columns[name].values, swap.area_of[name][partner][unit]) for name in areas
        }
        added = {}
        if roles.linked:
            person = str(roles.person)
            added = {person: chance.numbers(len(rows.columns[person]), rows.columns[person].texts)[rows.codes[person]]}
        return rows.release(
            self, changed, added=added, perturbed=areas, notes=(*swap.notes(partner, self.k, bool(keys)), *chance.notes)
        )

    def _columns(self, rows: Rows, text: str) -> tuple[str, ...]:
        if not text.strip():
            return ()
        names = names_in(text, self.card.name)
        for name in names:
            if name not in rows.names:
                raise InputError(
                    f"{rows.table.name}: no column {name!r} that may be released, which record_swapping should compare."
                )
        return names

    def _units(self, rows: Rows, keys: list[str]) -> IntArray:
        """The household of each row, numbered from 0; else the person; else each row by itself."""
        if not keys:
            return np.arange(len(rows))
        code, column = rows.codes[keys[0]], rows.columns[keys[0]]
        own = code == len(column) - 1 if column.has_missing else np.zeros(len(code), dtype=bool)
        return np.unique(np.where(own, len(column) + np.arange(len(code)), code), return_inverse=True)[1].astype(
            np.int64
        )


def _profile(rows: Rows, columns: tuple[str, ...], unit: IntArray) -> IntArray:
    """A number for what the members of each household have in these columns, whoever has it; households of other sizes differ."""
    what = np.zeros(len(rows), dtype=np.int64)
    if columns:
        codes = [rows.codes[name] for name in columns]
        what = np.unique(pack(codes, [len(rows.columns[name]) for name in columns], len(rows)), return_inverse=True)[1]
    key, times = np.unique(unit * (int(what.max()) + 1) + what, return_counts=True)
    who, value = np.divmod(key, int(what.max()) + 1)
    return same_histories(who, value, times.astype(np.int64))


class _Swap:
    """Households, where they are at each level, how rare each is there, and who is like whom."""

    def __init__(
        self, level: list[IntArray], rarest: list[IntArray], profiles: list[IntArray], area_of: dict[str, IntArray]
    ) -> None:
        self.level, self.rarest, self.profiles, self.area_of = level, rarest, profiles, area_of
        self.units = len(level[0])

    @classmethod
    def of(
        cls, rows: Rows, unit: IntArray, areas: tuple[str, ...], risky: tuple[str, ...], profiles: list[IntArray]
    ) -> _Swap:
        """Counted once: `level[h]` is the area of each household at level h, `rarest[h]` the rows there like its rarest member."""
        units, area_of = int(unit.max()) + 1, {}
        for name in areas:
            area = np.zeros(units, dtype=np.int64)
            area[unit] = rows.codes[name]
            if not np.array_equal(area[unit], rows.codes[name]):
                several = len(np.unique(unit[area[unit] != rows.codes[name]]))
                raise InputError(
                    f"{rows.table.name}: {counted(several, 'household lies', 'households lie')} in several areas of {name!r}, so they cannot be swapped as a whole."
                )
            area_of[name] = area
        level, rarest = [], []
        for depth in range(1, len(areas) + 1):
            names = (*areas[:depth], *risky)
            key = pack([rows.codes[name] for name in names], [len(rows.columns[name]) for name in names], len(rows))
            _, member, times = np.unique(key, return_inverse=True, return_counts=True)
            least = np.full(units, len(rows), dtype=np.int64)
            np.minimum.at(least, unit, times[member])
            rarest.append(least)
            own = [area_of[name] for name in areas[:depth]]
            level.append(
                np.unique(pack(own, [len(rows.columns[name]) for name in areas[:depth]], units), return_inverse=True)[1]
            )
        return cls(level, rarest, profiles, area_of)

    def partners(self, k: int, rate: float, chance: Chance, progress: Progress) -> IntArray:
        """Whose areas each household gets: its own where it is not swapped.

        From the largest areas down: who is at risk at a level changes with somebody in another area of it, of the same area one level up where
        one is left, so that larger areas stay right. Donors are drawn with probabilities as 1/(rows like their rarest member).
        """
        partner = np.arange(self.units)
        free = np.ones(self.units, dtype=bool)
        last = len(self.level) - 1
        for depth, area in enumerate(self.level):
            turn = -np.log(chance.uniform(self.units)) * self.rarest[depth]  # smallest first: exponential clocks
            order = np.argsort(turn, kind="stable")
            at_risk = (self.rarest[depth] < k) & free
            wanted = order[at_risk[order]]
            above = self.level[depth - 1] if depth else np.zeros(self.units, dtype=np.int64)
            donors = [_Donors(profile, above, area, order) for profile in self.profiles]
            _swap(wanted, donors, free, partner)
            if depth == last:
                left = int(np.ceil(rate * self.units)) - int((~free).sum())
                _swap(order, donors, free, partner, most=left)
            progress((depth + 1) / len(self.level))
        return partner

    def notes(self, partner: IntArray, k: int, named: bool) -> list[str]:
        """How many were swapped and how many that are at risk were not, as numbers."""
        moved = partner != np.arange(self.units)
        at_risk = np.minimum.reduce(self.rarest) < k
        who = ("household", "households") if named else ("row", "rows")
        left = int((at_risk & ~moved).sum())
        return [
            f"Of {counted(self.units, *who)} {int(moved.sum()):,} were swapped with one in another area; {int(at_risk.sum()):,} stood out in an area, and "
            f"{left:,} of these found none that is alike and stand where they were."
        ]


def _swap(wanted: IntArray, donors: list[_Donors], free: BoolArray, partner: IntArray, most: int | None = None) -> None:
    """Swap these households one after the other, `most` of them counting both sides."""
    for one in wanted.tolist():
        if most is not None and most <= 0:
            return
        if not free[one]:
            continue
        other = next((found for each in donors if (found := each.of(one, free)) is not None), None)
        if other is None:
            continue
        partner[one], partner[other] = other, one
        free[one] = free[other] = False
        most = None if most is None else most - 2


class _Donors:
    """Households in the order of their turn, by what they are like, the larger area that they are in, and the area."""

    def __init__(self, profile: IntArray, above: IntArray, area: IntArray, order: IntArray) -> None:
        self.profile, self.above, self.area = profile, above, area
        self.turn = np.empty(len(order), dtype=np.int64)
        self.turn[order] = np.arange(len(order))
        self.lines: dict[int, dict[int, dict[int, list[int]]]] = {}
        back = order[::-1]  # the next one stands last, where a list gives it up cheaply
        for one, *place in zip(
            *(code.tolist() for code in (back, profile[back], above[back], area[back])), strict=True
        ):
            self.lines.setdefault(place[0], {}).setdefault(place[1], {}).setdefault(place[2], []).append(one)

    def of(self, one: int, free: BoolArray) -> int | None:
        """The next one in another area: of the same larger area, else of any."""
        alike, near = self.lines[int(self.profile[one])], int(self.above[one])
        for larger in ([near], [other for other in alike if other != near]):
            heads = (head for each in larger for head in self._heads(alike.get(each, {}), int(self.area[one]), free))
            found = min(heads, key=lambda head: int(self.turn[head]), default=None)
            if found is not None:
                return found
        return None

    @staticmethod
    def _heads(places: dict[int, list[int]], own: int, free: BoolArray) -> Iterator[int]:
        """The next free household of each other area."""
        for place, line in [*places.items()]:
            while line and not free[line[-1]]:
                line.pop()
            if not line:
                del places[place]
            elif place != own:
                yield line[-1]
