"""What the owner states before anyone looks at the data: bounds of numbers, and the values that a column may have.

    bounds    age=17:99, rate=0.00:1.00, income=0:200000:100       low:high, or low:high:step
    domains   sex=Female|Male, age=17:99:10, "odd, name"="a|b"|c     values, or low:high:width of a bin

Differential privacy holds only if none of this comes from the table. What the table has outside is moved in: a number to the
nearest bound, any other value, a text among numbers too, to *missing* (or its row is not counted).
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Literal

import numpy as np
import pyarrow as pa

from ...core.arrow import integers, strings
from ...core.column import Column, FloatArray, IntArray
from ...core.counts import Counts, exact
from ...core.errors import InputError
from ...core.metric import spell_number
from ...core.noun import dataclass
from ...core.roles import Roles
from ...core.stated_reading import StatedReading
from ...core.table import Table

MOST_STEPS = 2**32
"""Steps between 0 and a bound at most, so that sums over a table fit 64 bits."""
MOST_VALUES = 1_000_000
"""Values of one domain at most."""

_NUMBER = r"\s*([+-]?\d+(?:\.\d+)?)\s*"
_RANGE = re.compile(rf"^{_NUMBER}:{_NUMBER}(?::{_NUMBER})?$")
_QUOTED = re.compile(r'^\s*"((?:[^"]|"")*)"\s*$')


def split(text: str, by: str) -> list[str]:
    """The parts of a text between separators, those in double quotes aside."""
    parts, quoted = [""], False
    for letter in text:
        quoted ^= letter == '"'
        if letter == by and not quoted:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def bare(part: str) -> str:
    """A part without the spaces or the quotes around it."""
    quoted = _QUOTED.match(part)
    return quoted[1].replace('""', '"') if quoted else part.strip()


def entries(text: str, who: str, key: str) -> dict[str, str]:
    """`name=..., name=...` by name."""
    found: dict[str, str] = {}
    for part in split(text, ","):
        name, *rest = split(part, "=")
        if not bare(name) or not rest:
            raise InputError(f"{who}: {key} reads NAME=..., with a comma between columns and odd names in quotes.")
        if bare(name) in found:
            raise InputError(f"{who}: {key} states column {bare(name)!r} twice.")
        found[bare(name)] = "=".join(rest)
    return found


@dataclass(frozen=True)
class NumberGrid:
    """Numbers from low to high in steps: `code` counts the steps from 0, so code times step is the number."""

    name: str
    first: int
    last: int
    step: Fraction

    @classmethod
    def read(cls, name: str, text: str, who: str) -> NumberGrid:
        """From `low:high` or `low:high:step`; the step unless stated is the last digit that the bounds are given with."""
        match = _RANGE.match(text)
        if match is None:
            raise InputError(f"{who}: the bounds of {name!r} read low:high or low:high:step, in numbers.")
        digits = max(len(part.partition(".")[2]) for part in (match[1], match[2]))
        low, high, step = Fraction(match[1]), Fraction(match[2]), Fraction(match[3] or Fraction(1, 10**digits))
        if not low < high:
            raise InputError(f"{who}: the lower bound of {name!r} must be below the upper one.")
        if step <= 0 or low % step or high % step:
            raise InputError(f"{who}: the bounds of {name!r} must be whole multiples of a step above 0.")
        if max(abs(low), abs(high)) / step > MOST_STEPS:
            raise InputError(f"{who}: the step of {name!r} is too fine for its bounds; take a larger one.")
        return cls(name, int(low / step), int(high / step), step)

    @property
    def width(self) -> int:
        """Steps from the lower to the upper bound."""
        return self.last - self.first

    def codes(self, numbers: FloatArray) -> IntArray:
        """The nearest steps, clamped to the bounds; numbers must not be missing."""
        steps = np.rint(np.clip(numbers / float(self.step), self.first, self.last))
        return steps.astype(np.int64)

    def numbers(self, codes: IntArray) -> IntArray | FloatArray:
        """Steps as numbers: a function of the step alone, so that nothing but the noisy step shows."""
        top, bottom = self.step.numerator, self.step.denominator
        return codes * top if bottom == 1 else codes * top / bottom


def number_range(text: str) -> tuple[Fraction, Fraction] | None:
    """Both ends of `low:high`; None for anything else."""
    match = _RANGE.match(text)
    return None if match is None or match[3] else (Fraction(match[1]), Fraction(match[2]))


def grids(text: str, who: str) -> dict[str, NumberGrid]:
    """The bounds of columns."""
    return {name: NumberGrid.read(name, part, who) for name, part in entries(text, who, "bounds").items()}


def bounds_of(name: str, stated: Mapping[str, NumberGrid], roles: Roles, who: str, what: str) -> NumberGrid:
    """A column's bounds: as stated in the parameter, else as a range under [domains] of the roles file. Never the data's."""
    given = roles.domains.get(name)
    if name in stated:
        return stated[name]
    if not isinstance(given, str):
        raise InputError(
            f'{who}: {what} needs bounds that do not come from the data: bounds={name}=low:high, or {name} = "low:high" under '
            f"[domains] in {roles.source}."
        )
    ends = ":".join(given.split(":")[:2])  # the third part is the width of bins, which a sum does not need
    return NumberGrid.read(name, ends, f"{who}, [domains] in {roles.source}")


@dataclass(frozen=True, eq=False)
class StatedDomain:
    """The values that a column may have, in their order, and perhaps *missing* behind them."""

    name: str
    values: tuple[str, ...]
    edges: FloatArray | None = None
    """Where each bin begins, if the values are bins of numbers."""
    whole: bool = False
    """Whether the values are whole numbers, to be released as such."""
    missing: bool = True
    top: float = math.inf
    """Where the last bin ends."""

    @classmethod
    def read(cls, name: str, text: str, who: str, *, missing: bool = True) -> StatedDomain:
        """From `a|b|c`, or from `low:high` and `low:high:width` for numbers; the width is 1 unless stated."""
        match = _RANGE.match(text)
        if match is None:
            return cls._of(name, [bare(part) for part in split(text, "|")], who, missing)
        low, high, width = Fraction(match[1]), Fraction(match[2]), Fraction(match[3] or 1)
        if not low < high or width <= 0:
            raise InputError(f"{who}: the domain of {name!r} needs a lower bound below the upper and a width above 0.")
        points = width == 1 and low.denominator == 1
        count = -((low - high) // width) if not points else int(high - low) + 1
        _check_size(name, count, who)
        parts = math.lcm(low.denominator, width.denominator)
        first, wide = int(low * parts), int(width * parts)
        start = [(first + i * wide) / parts for i in range(count)]  # division of whole numbers rounds once
        if points:
            labels = [str(first + i) for i in range(count)]
        else:
            labels = [f"[{a},{b})" for a, b in itertools.pairwise(map(spell_number, (*start, float(high))))]
            labels[-1] = f"{labels[-1][:-1]}]"
        return cls(name, tuple(labels), np.array(start), points, missing, float(high))

    @classmethod
    def _of(cls, name: str, values: Sequence[str], who: str, missing: bool) -> StatedDomain:
        _check_size(name, len(values), who)
        if not all(values) or len(set(values)) < len(values):
            raise InputError(f"{who}: the domain of {name!r} has an empty value or one that is stated twice.")
        return cls(name, tuple(values), missing=missing)

    @classmethod
    def find(
        cls, name: str, stated: Mapping[str, str], roles: Roles, who: str, *, missing: bool = True
    ) -> StatedDomain:
        """A column's domain: as stated, else the values of its hierarchy file, else its stated order. Never the data's."""
        if name in stated:
            return cls.read(name, stated[name], who, missing=missing)
        given = roles.domains.get(name)
        if given is not None:
            where = f"{who}, [domains] in {roles.source}"
            read = cls.read(name, given, where, missing=missing) if isinstance(given, str) else None
            return read or cls._of(name, given, where, missing)
        taxonomy = roles.taxonomy(name)
        if taxonomy is not None:
            return cls._of(name, taxonomy.levels[0], who, missing)
        if name in roles.orders:
            return cls._of(name, roles.orders[name], who, missing)
        raise InputError(
            f"{who}: the values that {name!r} may have are not stated, and they are never taken from the data; state them "
            f'as {name} = "low:high" or "a|b" under [domains] in the roles file, by a hierarchy file or an order there, or in the '
            "mechanism's own parameter."
        )

    def __len__(self) -> int:
        return len(self.values) + int(self.missing)

    @property
    def texts(self) -> tuple[str | None, ...]:
        """The values as they are released, None for missing."""
        return (*self.values, None) if self.missing else self.values

    def codes(self, column: Column, reading: StatedReading) -> IntArray:
        """Where each value of a counted column stands; -1 for one that is neither in the domain nor counted as missing."""
        outside = len(self.values) if self.missing else -1
        if self.edges is None:
            place = {value: i for i, value in enumerate(self.values)}
            return np.array([place.get(t, outside) if t is not None else outside for t in column.texts], dtype=np.int64)
        numbers = reading.numbers(column)
        bins = np.searchsorted(self.edges, numbers, side="right") - 1
        return np.where(np.isnan(numbers), outside, np.clip(bins, 0, len(self.values) - 1)).astype(np.int64)

    def array(self) -> pa.Array:
        """The values as Arrow holds them; a code past the end is missing."""
        return integers(np.array([int(v) for v in self.values])) if self.whole else strings(self.values)


def domains_of(
    table: Table, roles: Roles, who: str, stated: str, *, names: Sequence[str] | None = None, missing: bool
) -> tuple[StatedDomain, ...]:
    """The domains of the columns named, else of every column of the table that may be released."""
    released = roles.released(table.columns)
    names = released if names is None else names
    if not names:
        raise InputError(f"{roles.source} names no column to release; set quasi, sensitive or insensitive.")
    known = entries(stated, who, "domains") if stated else {}
    for name in known:
        if name not in released:
            raise InputError(f"{who}: domains states column {name!r}, which is not released.")
    return tuple(StatedDomain.find(name, known, roles, who, missing=missing) for name in names)


def _check_size(name: str, count: int, who: str) -> None:
    if count > MOST_VALUES:
        raise InputError(f"{who}: the domain of {name!r} has more than {MOST_VALUES:,} values; make them coarser.")


def cells(counts: Counts, domains: Sequence[StatedDomain], reading: StatedReading) -> IntArray:
    """How many rows each cell of the product of these domains has, as an array with an axis for each."""
    shape = [len(domain) for domain in domains]
    at = np.zeros(len(counts), dtype=np.int64)
    inside = np.ones(len(counts), dtype=bool)
    for domain, size in zip(domains, shape, strict=True):
        code = domain.codes(counts.column(domain.name), reading)[counts.codes[counts.names.index(domain.name)]]
        inside &= code >= 0
        at = at * size + np.maximum(code, 0)
    rows_of_cells = np.bincount(at[inside], weights=counts.n[inside], minlength=int(np.prod(shape)))
    return exact(rows_of_cells).reshape(shape)


Outside = Literal["missing", "drop"]
