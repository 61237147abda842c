"""An ordered attribute as a line of places, and the classes that any range of places forms.

The rows before each place are summed up once, by class and sensitive value; what is inside a range is then the difference
of two lines of that table, for as many ranges at once as fit in a block.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np

from ..core.classes import Classes, Sensitive
from ..core.column import Column, FloatArray, IntArray
from ..core.counts import Counts, exact
from ..core.cover import BoolArray
from ..core.errors import InputError
from ..core.hierarchy import TOP
from ..core.ladders import number
from ..core.metric import Requirement
from ..core.noun import dataclass
from ..core.range_ends import Ends
from ..core.roles import Roles
from ..core.value_sets import spell_set
from .additive import Additive, Spans

_BLOCK = 2_000_000
"""Entries that are looked at together."""
_ROOM = 50_000_000
"""Sums that are kept."""

Demands = Mapping[str | None, Sequence[Requirement]]
"""Requirements by the sensitive column that they look at, those that look at none first."""


@dataclass(frozen=True, eq=False)
class OrderedLine:
    """The values of a column in their order: `place` of each code. Equal numbers share one; the missing value is last."""

    column: Column
    place: IntArray
    numbers: FloatArray | None
    """The number at each place, if they are numbers."""
    bounds: tuple[str, str] | None = None
    """The owner's, if any are stated."""

    @classmethod
    def of(cls, column: Column, roles: Roles) -> OrderedLine:
        """In the order that the roles state, else by number, date or quantity; a column without an order is refused."""
        stated = roles.orders.get(column.name)
        given = len(column.values)
        if not given:
            raise InputError(f"Column {column.name!r} has no value at all, so there is nothing to cut.")
        rank = column.rank(stated)
        if rank is None:
            raise InputError(
                f"Column {column.name!r} has no order: its values are neither numbers nor dates. "
                f"State one under [orders] in {roles.source}, or generalize it by a taxonomy."
            )
        if stated is None and column.numbers is not None:
            numbers, place = np.unique(column.numbers[:given], return_inverse=True)
            if not np.isfinite(numbers).all():
                raise InputError(f"Column {column.name!r} holds an infinite number; correct it before it is cut.")
            return cls(
                column,
                np.append(place, [len(numbers)] * column.has_missing).astype(np.int64),
                numbers,
                roles.bounds(column),
            )
        return cls(column, rank, None, roles.bounds(column) if stated is None and column.dates else None)

    def __len__(self) -> int:
        """The places, without that of the missing value."""
        return int(self.place.max()) + 1 - int(self.column.has_missing)

    @property
    def ends(self) -> int:
        """The places with that of the missing value, if there is one."""
        return len(self) + int(self.column.has_missing)

    def texts(self, low: int, high: int) -> list[str]:
        """The values from one place to before another, in order."""
        first, last = np.searchsorted(self.place, [low, high], sorter=self._order)
        return [str(self.column.texts[i]) for i in self._order[first:last]]

    @cached_property
    def _order(self) -> IntArray:
        return np.argsort(self.place, kind="stable")

    def start(self, place: int) -> int | float | str:
        """Where a range from a place on starts: between its first value and the one before it where they have an order of size."""
        text = self.texts(place, place + 1)[0] if self._ends is None else self._ends.edge(place)
        if self.numbers is None:
            return text or self.texts(place, place + 1)[0]
        x = float(self.numbers[place] if text is None else text)
        return int(x) if x.is_integer() and abs(x) < 1e15 else x

    def label(self, low: int, high: int) -> str:
        """How a range is released: numbers and dates as `core.range_ends` has it, else a set; one date stays as it is.

        All values are `*`; where some are missing, which `*` would cover too, they are spelled like any other range.
        """
        if self._ends is None or (self.numbers is None and high - low == 1):
            texts = self.texts(low, high)
            whole = (low, high) == (0, len(self)) and not self.column.has_missing
            return TOP if whole else texts[0] if len(texts) == 1 else spell_set(texts)
        return self._ends.label(low, high - 1)

    @cached_property
    def _ends(self) -> Ends | None:
        """How ranges are spelled where the places follow the size of numbers or the calendar, not an order that was stated."""
        by_date = self.numbers is None and self.column.dates and bool((np.diff(self.place) > 0).all())
        if self.numbers is None and not by_date:
            return None
        texts = self.texts(0, len(self)) if self.numbers is None else [number(x) for x in self.numbers]
        return Ends(texts, by_date, self.column.has_missing, bounds=self.bounds)


@dataclass(frozen=True, eq=False)
class _RangeCells:
    """`before[p, i]` rows before place p in group `group[i]` with the sensitive value `value[i]`; by group, then value."""

    before: IntArray
    group: IntArray
    value: IntArray
    sensitive: Sensitive | None

    @classmethod
    def of(
        cls,
        line: OrderedLine,
        place: IntArray,
        group: IntArray,
        n: IntArray,
        attribute: Sensitive | None,
        value: IntArray,
    ) -> _RangeCells:
        m = 1 if attribute is None else len(attribute.total)
        key, cell = np.unique(group * m + value, return_inverse=True)
        if (line.ends + 1) * len(key) > _ROOM:
            raise InputError(
                f"Column {line.column.name!r} has {line.ends:,} values beside {len(key):,} combinations of the sensitive values and "
                f"the columns that are held, too many to sum up ({_ROOM:,} at most); bring fewer values, or hold fewer columns."
            )
        inside = np.bincount(place * len(key) + cell, weights=n, minlength=line.ends * len(key))
        before = np.zeros((line.ends + 1, len(key)), dtype=np.int64)
        np.cumsum(exact(inside).reshape(line.ends, len(key)), axis=0, out=before[1:])
        return cls(before, key // m, key % m, attribute)


@dataclass(frozen=True, eq=False)
class Ranges:
    """Every range of a line: what classes it forms, whether they meet requirements, and what they are worth.

    `groups` are the classes that the other columns form by themselves; a range has a class for each that occurs in it.
    """

    line: OrderedLine
    groups: int
    cells: Mapping[str | None, _RangeCells]
    width: IntArray
    """The values before each place."""
    rows: int

    @classmethod
    def of(cls, counts: Counts, line: OrderedLine, group: IntArray, split: Sequence[str], roles: Roles) -> Ranges:
        """From counts of the line's column, the other columns (`group` numbers their classes) and sensitive ones."""
        place = line.place[counts.codes[counts.names.index(line.column.name)]]
        nothing = np.zeros_like(group)
        cells: dict[str | None, _RangeCells] = {None: _RangeCells.of(line, place, group, counts.n, None, nothing)}
        for name in split:
            column, value = counts.column(name), counts.codes[counts.names.index(name)]
            attribute = Sensitive(column, counts.margin(name), roles.orders.get(name), roles.taxonomy(name))
            cells[name] = _RangeCells.of(line, place, group, counts.n, attribute, value)
        width = np.append(0, np.cumsum(np.bincount(line.place, minlength=line.ends))).astype(np.int64)
        return cls(line, int(group.max()) + 1, cells, width, counts.rows)

    def spans(self, low: IntArray, high: IntArray, name: str | None) -> Iterator[tuple[slice, Spans]]:
        """The classes of these ranges, split by a sensitive column if one is named, block by block."""
        plain, split = self.cells[None], self.cells[name]
        block = max(1, _BLOCK // max(len(plain.group), len(split.group)))
        for start in range(0, len(low), block):
            part = slice(start, min(start + block, len(low)))
            inside = plain.before[high[part]] - plain.before[low[part]]
            there = inside > 0
            of = np.nonzero(there)[0]
            classes = Classes(inside[there], whole=self.rows)
            if name is not None:
                number = np.cumsum(there.ravel()) - 1
                held = split.before[high[part]] - split.before[low[part]]
                at, cell = np.nonzero(held)
                member = number[at * self.groups + split.group[cell]]
                classes = Classes(classes.size, member, split.value[cell], held[at, cell], split.sensitive)
            width = (self.width[high[part]] - self.width[low[part]])[of]
            yield part, Spans(classes, of, width, len(self.line.column), self.rows)

    def work(self, ranges: int, names: Sequence[str | None]) -> int:
        """The entries that so many ranges take to look at."""
        return ranges * max(len(self.cells[name].group) for name in (None, *names))

    def met(self, low: IntArray, high: IntArray, demands: Demands) -> BoolArray:
        """Which of these ranges meet everything, in every class; what fails one requirement is not asked the next."""
        good = np.ones(len(low), dtype=bool)
        for name, requirements in demands.items():
            left = np.flatnonzero(good) if requirements else np.zeros(0, dtype=np.int64)
            for part, spans in self.spans(low[left], high[left], name):
                for requirement in requirements:
                    passes = requirement.passes(requirement.metric.per_class(spans.classes))
                    good[left[part][spans.of[~passes]]] = False
        return good

    def reached(
        self, low: IntArray, high: IntArray, requirement: Requirement, names: Sequence[str | None]
    ) -> FloatArray:
        """What each range reaches on a requirement: its worst class, over several sensitive columns the worst of them."""
        higher = requirement.metric.card.better == "higher"
        worse = np.minimum if higher else np.maximum
        reached = np.full(len(low), np.inf if higher else -np.inf)
        for name in names:
            for part, spans in self.spans(low, high, name):
                first = np.flatnonzero(np.diff(spans.of, prepend=-1))
                values = requirement.metric.per_class(spans.classes)
                reached[part] = worse(reached[part], worse.reduceat(values, first))
        return reached

    def worth(self, low: IntArray, high: IntArray, aim: Additive, name: str | None) -> FloatArray:
        """What each range adds to an objective."""
        worth = np.zeros(len(low))
        for part, spans in self.spans(low, high, name):
            worth[part] = np.bincount(spans.of, weights=aim.per_class(spans), minlength=part.stop - part.start)
        return worth
