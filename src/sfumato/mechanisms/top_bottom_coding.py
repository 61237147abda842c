"""Top and bottom coding: numbers at or beyond a bound become `>=x` or `<=x`, so that extremes no longer stand out.

Hundepool et al. 2024, ch. 3. A bound is the owner's (`90` years, whoever there is), or the value that at least a share
or a number of people reach. All rows are held in memory; the cost is that of counting them once.
"""

from __future__ import annotations

import math
from typing import ClassVar, Literal

import numpy as np

from ..core.arrow import strings, take
from ..core.column import FloatArray, IntArray
from ..core.cover import BoolArray
from ..core.errors import Infeasible, InputError
from ..core.hierarchy import TOP
from ..core.ladders import number
from ..core.mechanism import Mechanism, MechanismCard, Progress, check_whole
from ..core.noun import dataclass
from ..core.randomness import Chance, Rng
from ..core.range_ends import Ends
from ..core.release import Release
from ..core.roles import Roles
from ..core.table import Table
from .microdata.numeric_columns import columns_of
from .microdata.rows import Rows
from .parameters.column_numbers import one_or_by_column

_WHO = "top_bottom_coding"
End = Literal["top", "bottom"]


@dataclass(frozen=True, kw_only=True)
class TopBottomCoding(Mechanism):
    """Extreme numbers replaced by the bound that they reach."""

    columns: str | None = None
    top: str | float | None = None
    bottom: str | float | None = None
    top_share: float | None = None
    bottom_share: float | None = None
    people: int = 1

    card: ClassVar[MechanismCard] = MechanismCard(
        name=_WHO,
        title="Top and bottom coding",
        promise="at least `people` people stand behind every code, and no number beyond it is released (rows are people, unless the roles "
        "say that people with several rows are counted); nothing is promised about other values or about combinations of columns",
        against="an adversary who knows that someone has an extreme value, such as the highest income of a town",
        cost="numbers at or beyond a bound become >=x or <=x, and all others stay as they are; sums and means can no longer be "
        "exact",
        source="Hundepool et al. 2024, Handbook on Statistical Disclosure Control, ch. 3 (microdata)",
        chance="some",
        people=True,
        links=True,
        parameters={
            "columns": "the columns of numbers, such as age,salary; by default those that a bound names, else the quasi-identifiers that "
            "are numbers",
            "top": "numbers from this bound on become >=x: one number, or one for each column such as age=90,salary=150000",
            "bottom": "numbers up to this bound become <=x, written the same way",
            "top_share": "instead of top: the bound is the highest value that at least this share of the people reach (0: as few as "
            "`people` allows), and the code ends between it and the next value, so that it is nobody's own",
            "bottom_share": "instead of bottom: the same from below",
            "people": "the smallest number of people behind a code: a stated bound that fewer people reach is refused, a share is "
            "widened",
        },
    )

    def __post_init__(self) -> None:
        check_whole(self, "people")
        for end in ("top", "bottom"):
            share, bound = getattr(self, f"{end}_share"), getattr(self, end)
            if share is not None and not 0 <= share <= 1:
                raise InputError(f"{_WHO}: {end}_share must be a share of the people between 0 and 1.")
            if share is not None and bound is not None:
                raise InputError(f"{_WHO}: {end} and {end}_share both give a bound; set one of them.")
            _bounds(bound, end)

    def sanitize(self, table: Table, roles: Roles, rng: Rng, *, progress: Progress) -> Release:
        """Sanitize; a missing value stays missing and is nobody's extreme. Only numbers that join the rows of a person are drawn."""
        given = {end: _bounds(getattr(self, end), end) for end in ("top", "bottom")}
        shares = {end: getattr(self, f"{end}_share") for end in ("top", "bottom")}
        if not any(given.values()) and all(share is None for share in shares.values()):
            raise InputError(f"{_WHO} needs a bound: set top, bottom, top_share or bottom_share.")
        rows, chance = Rows.of_people(table, roles, _WHO), Chance(rng)
        names = self._names(rows, given)
        changed, notes = {}, []
        for i, name in enumerate(names):
            column, codes = rows.columns[name], rows.codes[name]
            numbers, known = rows.numbers(name, _WHO), column.numbers
            assert known is not None
            texts = list(column.texts)
            reached: dict[End, BoolArray] = {}
            for end in ("top", "bottom"):
                bound = given[end].get(name, given[end].get("")) if given[end] else None
                label = "" if bound is None else f"{'>=' if end == 'top' else '<='}{number(bound)}"
                if bound is None and shares[end] is not None:
                    bound = self._ranked(_furthest(numbers, rows.owner, end), name, end, shares[end])
                    label = _between(known, bound, end)
                if bound is None:
                    continue
                reached[end] = known >= bound if end == "top" else known <= bound
                texts = [label if beyond else text for beyond, text in zip(reached[end], texts, strict=True)]
                hit = reached[end][codes]
                people = int(hit.sum()) if rows.owner is None else len(np.unique(rows.owner[hit]))
                notes.append(self._count(int(hit.sum()), people, name, end))
            if len(reached) == 2 and (reached["top"] & reached["bottom"]).any():
                raise InputError(
                    f"{_WHO}: the two bounds of {name!r} meet, so some values are beyond both; set them apart."
                )
            if any(hit.any() for hit in reached.values()):
                changed[name] = take(strings(texts), codes)
            progress((i + 1) / len(names))
        fresh = rows.joined_anew(chance)
        return rows.release(self, changed, added=fresh, notes=(*notes, *(chance.notes if fresh else ())))

    def _names(self, rows: Rows, given: dict[str, dict[str, float]]) -> tuple[str, ...]:
        """The columns to be coded."""
        bounded = [name for bounds in given.values() for name in bounds if name]
        if self.columns is None and bounded:
            for name in bounded:
                rows.numbers(name, _WHO)
            return tuple(dict.fromkeys(bounded))
        names = tuple(columns_of(rows, self.columns, _WHO))
        for name in bounded:
            if name not in names:
                raise InputError(f"{_WHO}: a bound names {name!r}, which columns does not; add it there.")
        return names

    def _ranked(self, numbers: FloatArray, name: str, end: End, share: float) -> float:
        """The value furthest out that enough people reach."""
        known = np.sort(numbers[~np.isnan(numbers)])
        need = max(math.ceil(share * len(known) - 1e-9), self.people)
        if need > len(known):
            raise Infeasible(f"{_WHO}: {len(known):,} people have a value in {name!r}, fewer than the {need:,} wanted.")
        return float(known[-need] if end == "top" else known[need - 1])

    def _count(self, rows: int, people: int, name: str, end: End) -> str:
        """What the release says of an end; refused if too few people are behind its code."""
        if 0 < people < self.people:
            raise Infeasible(
                f"{_WHO}: only {people:,} people reach the {end} bound of {name!r}, fewer than {self.people:,}; move it inwards."
            )
        return f"Column {name!r}: {rows:,} rows are {end}-coded."


def _furthest(numbers: FloatArray, owner: IntArray | None, end: End) -> FloatArray:
    """The number furthest out of each person; of each row where rows are people. NaN where there is none."""
    if owner is None:
        return numbers
    furthest = np.full(int(owner.max(initial=-1)) + 1, np.nan)
    (np.fmax if end == "top" else np.fmin).at(furthest, owner, numbers)
    return furthest


def _between(known: FloatArray, bound: float, end: End) -> str:
    """The code of a bound that comes from the data: it ends between two values, not at one that somebody has."""
    values = np.unique(known[np.isfinite(known)])
    first = int(np.searchsorted(values, bound)) + (end == "bottom")  # the least value above the edge
    if not 0 < first < len(values):
        return TOP  # everybody is beyond it
    edge = Ends([number(value) for value in values]).edge(first)
    return f">={edge or number(bound)}" if end == "top" else f"<={number(bound)}" if edge is None else f"<{edge}"


def _bounds(bound: str | float | None, end: str) -> dict[str, float]:
    """The bound by column; one that is for every column stands under the empty name."""
    bounds = {} if bound is None else one_or_by_column(bound, _WHO, end)
    if not all(math.isfinite(value) for value in bounds.values()):
        raise InputError(f"{_WHO}: {end} must be a finite number.")
    return bounds
