"""How one column gives away another: it equals it, contains it, is a map of it, or is computed from it by arithmetic.

Every kind of relation answers two questions of counted tuples: which rows keep it (`keeps`), and what a holder of the file computes from
the free columns of a row (`signature`), by which rows of one class can be told apart.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ..core.column import Column, IntArray
from ..core.counts import Counts, exact
from ..core.noun import dataclass
from .column_views import ColumnView, views

ENOUGH = 0.95
"""The share of rows in which a relation must hold to be one."""
GLANCE = 0.8
"""The same in a few rows, to rule out what is far from it."""
LESS_ERROR = 0.8
"""By how much it must lessen the errors of guessing the most frequent value: else nearly constant columns tell each other."""
BY_CHANCE = 1e-6
"""How unlikely it must be by chance: small tables are full of coincidences."""

_DENSE = 16
"""Possible pairs for each tuple, up to which pairs are added up in an array of all of them."""
_DEVIATIONS = 4.7534
"""Of the normal distribution, beyond which one in a million lies."""

BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Relation(ABC):
    """Between free columns of a release and columns that it protects."""

    free: tuple[str, ...]
    protected: tuple[str, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """All that must be counted to check it."""
        return (*self.free, *self.protected)

    @property
    @abstractmethod
    def words(self) -> str:
        """The relation in words, free columns first: "'fee' - 'tax' equals 'income'"."""

    @abstractmethod
    def evaluate(self, counts: Counts) -> tuple[BoolArray, IntArray]:
        """For each counted tuple whether it keeps the relation, and what its free columns say by it."""

    def holds(self, counts: Counts) -> bool:
        """Whether enough of the rows that have all its values keep it, and far more than by guessing the protected value."""
        there = self.known(counts)
        asked = int(counts.n[there].sum())
        if not asked:
            return False
        right = int(counts.n[self.evaluate(counts)[0]].sum())
        base = self.by_chance(counts.only(there))
        return (
            right >= ENOUGH * asked and right - base >= LESS_ERROR * (asked - base) > 0 and unlikely(right, asked, base)
        )

    def glance(self, counts: Counts) -> bool:
        """Whether a few rows leave it possible."""
        known = self.known(counts)
        return bool(counts.n[self.evaluate(counts)[0]].sum() >= GLANCE * counts.n[known].sum() > 0)

    def by_chance(self, counts: Counts) -> int:
        """The rows that would keep it if the free columns said nothing: those of the most frequent protected value."""
        return int(np.bincount(_grouped(counts, self.protected), weights=counts.n).max())

    def known(self, counts: Counts) -> BoolArray:
        """The tuples in which no column of it is missing."""
        there = np.ones(len(counts), dtype=bool)
        for name in self.columns:
            column = counts.column(name)
            if column.has_missing:
                there &= counts.code(name) < len(column) - 1
        return there


@dataclass(frozen=True)
class Equal(Relation):
    """The same value, spelled or as a number."""

    @property
    def words(self) -> str:
        """In words."""
        return f"{self.free[0]!r} equals {self.protected[0]!r}"

    def evaluate(self, counts: Counts) -> tuple[BoolArray, IntArray]:
        """Texts and numbers are compared by their distinct values."""
        (a, x), (b, y) = (_of(counts, name) for name in self.columns)
        keeps = _shared(a, b)[x] == _shared(b, a, second=True)[y]
        return keeps & self.known(counts), x

    def holds(self, counts: Counts) -> bool:
        """Also where the table is too small to rule out chance: two columns that agree in every row are one."""
        there = self.known(counts)
        agree = bool(there.any() and self.evaluate(counts)[0][there].all())
        return (agree and len(_of(counts, self.protected[0])[0]) > 1) or super().holds(counts)


@dataclass(frozen=True)
class Contains(Relation):
    """The text of one stands inside of the other's; `inside` is the column whose text is within."""

    inside: str = ""
    beginning: bool = False
    """Whether it is enough that codes begin alike: the first digits of a postal code."""

    @property
    def words(self) -> str:
        """In words."""
        other = self.free[0] if self.inside == self.protected[0] else self.protected[0]
        return f"{other!r} contains {'the beginning of ' if self.beginning else ''}{self.inside!r}"

    def evaluate(self, counts: Counts) -> tuple[BoolArray, IntArray]:
        """By the distinct pairs of values."""
        (a, x), (b, y) = (_of(counts, name) for name in self.columns)
        if min(len(a), len(b)) <= 2:  # short words and small numbers stand in everything
            return np.zeros(len(counts), dtype=bool), y
        first, second = _spellings(a), _beginnings(b) if self.beginning else _spellings(b)
        if not second:
            return np.zeros(len(counts), dtype=bool), y
        pairs = zip(x.tolist(), y.tolist(), strict=True)
        if self.inside == self.protected[0]:
            inside = [any(part in first[i][0] for part in second[j]) for i, j in pairs]
        else:
            inside = [any(first[i][0] in whole for whole in second[j]) for i, j in pairs]
        return np.array(inside, dtype=bool) & self.known(counts), y

    def by_chance(self, counts: Counts) -> int:
        """The rows that keep it beside the values of another row: short texts stand in many."""
        at = counts.names.index(self.protected[0])
        codes = list(counts.codes)
        codes[at] = np.roll(codes[at], len(counts) // 2)
        moved = Counts(counts.columns, tuple(codes), counts.n)
        return int(counts.n[self.evaluate(moved)[0]].sum())


@dataclass(frozen=True)
class Map(Relation):
    """Columns that determine another: free ones a protected one, or known ones a free one (`backwards`)."""

    backwards: bool = False

    @property
    def words(self) -> str:
        """In words."""
        if self.backwards:
            return (
                f"{_list(self.protected)} {'determine' if len(self.protected) > 1 else 'determines'} {self.free[0]!r}"
            )
        return f"{_list(self.free)} {'determine' if len(self.free) > 1 else 'determines'} {self.protected[0]!r}"

    def evaluate(self, counts: Counts) -> tuple[BoolArray, IntArray]:
        """Each determining value stands for the most frequent value beside it."""
        given, target = (self.protected, self.free) if self.backwards else (self.free, self.protected)
        groups = _grouped(counts, given)
        _, value = _of(counts, target[0])
        best, _ = most_frequent(groups, value, counts.n)
        return best[groups] == value, value if self.backwards else best[groups]

    def holds(self, counts: Counts) -> bool:
        """By what the other rows of a group say of each of its rows, against guessing without it."""
        given, target = (self.protected, self.free) if self.backwards else (self.free, self.protected)
        key = counts.key((*given, target[0]))
        return determines(Pairs(key, max(len(counts.column(target[0])), 1), counts.n))


@dataclass(frozen=True)
class Arithmetic(Relation):
    """`sum of signs * views` is constant, up to `slack`; one factor is free where there are two views."""

    terms: tuple[tuple[ColumnView, float], ...] = ()
    constant: float = 0.0
    slack: float = 0.0

    @property
    def words(self) -> str:
        """In words: the free side equals the protected one."""
        free = [(view, factor) for view, factor in self.terms if view.column in self.free]
        protected = [(view, factor) for view, factor in self.terms if view.column in self.protected]
        turned = -1.0 if protected[0][1] > 0 else 1.0
        offset = abs(self.constant) > self.slack + 1e-9
        left = _sum([(view, factor * turned) for view, factor in free], offset=offset)
        about = " within one" if self.slack and any(view.coarse for view, _ in self.terms) else ""
        return f"{left} equals {_sum([(view, -factor * turned) for view, factor in protected])}{about}"

    def evaluate(self, counts: Counts) -> tuple[BoolArray, IntArray]:
        """The signature is the protected side, as the free one gives it."""
        total, said = np.zeros(len(counts)), np.zeros(len(counts))
        for view, factor in self.terms:
            column, codes = _of(counts, view.column)
            same = next(v for v in views(column) if v.words == view.words)  # the view over the values counted here
            part = factor * same.numbers[codes]
            total = total + part
            if view.column in self.free:
                said = said + part
        with np.errstate(invalid="ignore"):
            keeps = np.abs(total - self.constant) <= self.slack + 1e-9 * (1 + np.abs(said))
        rounded = np.where(np.isfinite(said), said, 0.0)
        return keeps & np.isfinite(total), np.unique(np.round(rounded, 6), return_inverse=True)[1].astype(np.int64)


def determines(pairs: Pairs) -> bool:
    """Whether a row's value is what the other rows of its group say, nearly always, and far more often than by guessing.

    Rows alone in their group say nothing of this: a column of its own value for every row maps to anything.
    """
    right, asked = pairs.said_by_others, int(pairs.size[pairs.several].sum())
    if not asked or right < ENOUGH * asked:
        return False
    base = int(np.bincount(pairs.value, weights=pairs.rows * pairs.several[pairs.group]).max())
    if not right - base >= LESS_ERROR * (asked - base) > 0:
        return False
    return unlikely(right, asked, base) or dependent(pairs)


def dependent(pairs: Pairs) -> bool:
    """Whether rows in groups of several depend on the group more than `BY_CHANCE` allows: the G-test, chi-squared by Wilson and Hilferty.

    It sees a few rare values that go together in every row, where guessing the most frequent one is nearly always right.
    """
    some = pairs.several[pairs.group]
    values = np.bincount(pairs.value[some], weights=pairs.rows[some])
    sums = [pairs.rows[some], pairs.size[pairs.several], values[values > 0]]
    rows = float(sums[0].sum())
    entropy = [float(-(part * np.log(part / rows)).sum()) for part in sums]
    degrees = float((len(sums[1]) - 1) * (len(sums[2]) - 1))
    if degrees < 1:
        return False
    g = 2 * (entropy[1] + entropy[2] - entropy[0])
    spread = 2 / (9 * degrees)
    return bool((max(g, 0.0) / degrees) ** (1 / 3) - (1 - spread) > _DEVIATIONS * np.sqrt(spread))


class Pairs:
    """The distinct pairs of a group and a value, in this order, with the rows of each."""

    def __init__(self, key: IntArray, width: int, n: IntArray) -> None:
        """`key` is the group times `width`, more than there are values, plus the value."""
        if len(key) and int(key.max()) < _DENSE * len(key):  # adding up is quicker than sorting
            rows = np.bincount(key, weights=n)
            key = np.flatnonzero(rows)
            self.rows = exact(rows[key])
        else:
            order = np.argsort(key)
            key = key[order]
            first = np.flatnonzero(np.diff(key, prepend=-1))
            key, self.rows = key[first], np.add.reduceat(n[order], first) if len(first) else n
        groups, self.value = np.divmod(key, width)
        self.start = np.flatnonzero(np.diff(groups, prepend=-1))
        """Where each group begins."""
        self.names = groups[self.start]
        """What stands for each group in the key."""
        self.group = np.repeat(np.arange(len(self.start)), np.diff(np.append(self.start, len(groups))))
        self.size = self._of_groups(np.add, self.rows)
        self.most = self._of_groups(np.maximum, self.rows)
        """The rows of the most frequent value of each group."""

    @property
    def several(self) -> BoolArray:
        """Which groups have several rows."""
        return self.size > 1

    @property
    def said_by_others(self) -> int:
        """The rows whose value is the most frequent one among the other rows of their group."""
        near = self._of_groups(np.add, (self.rows >= self.most[self.group] - 1).astype(np.int64))
        return int(self.most[self.several & (near == 1)].sum())

    def _of_groups(self, sum_of: np.ufunc, values: IntArray) -> IntArray:
        return sum_of.reduceat(values, self.start) if len(values) else values


def most_frequent(groups: IntArray, value: IntArray, n: IntArray) -> tuple[IntArray, IntArray]:
    """Of each group the most frequent value, the first of several, and its rows."""
    width = int(value.max()) + 1 if len(value) else 1
    pairs = Pairs(groups * width + value, width, n)
    best, most = np.zeros((2, int(groups.max()) + 1 if len(groups) else 0), dtype=np.int64)
    top = np.flatnonzero(pairs.rows == pairs.most[pairs.group])[
        ::-1
    ]  # of values with the same rows the first is written last
    best[pairs.names[pairs.group[top]]] = pairs.value[top]
    most[pairs.names] = pairs.most
    return best, most


def unlikely(right: int, asked: int, base: int) -> bool:
    """Whether so many right guesses of so many are less likely than `BY_CHANCE` where each is right by `base / asked` (Chernoff)."""
    p, q = right / asked, min(max(base / asked, 1e-9), 1 - 1e-9)
    if p <= q:
        return False
    rest = (1 - p) * np.log((1 - p) / (1 - q)) if p < 1 else 0.0
    return bool(asked * (p * np.log(p / q) + rest) >= -np.log(BY_CHANCE))


def _of(counts: Counts, name: str) -> tuple[Column, IntArray]:
    return counts.column(name), counts.code(name)


def _grouped(counts: Counts, names: Sequence[str]) -> IntArray:
    return counts.code(names[0]) if len(names) == 1 else counts.group(names)[1]


def _shared(column: Column, other: Column, *, second: bool = False) -> IntArray:
    """A code for each value that equal values of two columns share, as numbers where both are."""
    if column.numbers is not None and other.numbers is not None:
        both = np.concatenate([other.numbers, column.numbers] if second else [column.numbers, other.numbers])
        codes = np.unique(both, return_inverse=True)[1].astype(np.int64)
    else:
        pair = (other, column) if second else (column, other)
        place: dict[str | None, int] = {}
        codes = np.array([place.setdefault(text, len(place)) for each in pair for text in each.texts], dtype=np.int64)
    return codes[len(other) :] if second else codes[: len(column)]


def _spellings(column: Column) -> list[list[str]]:
    """Each value as it may stand inside of another text: itself, and of a date its parts in the usual orders."""
    if not column.dates:
        return [["\0"] if text is None or len(text) < 2 else [text] for text in column.texts]
    spellings = []
    for text in column.texts:
        if text is None:
            spellings.append(["\0"])
            continue
        year, month, day = text[:4], text[5:7], text[8:10]
        short = year[2:]
        parts = [text[:10], year + month + day, day + month + year, short + month + day, day + month + short]
        spellings.append([*parts, year])
    return spellings


def _beginnings(column: Column) -> list[list[str]]:
    """Of codes of one length, more than half of the signs they begin with, at most two left out; none of anything else."""
    texts = [text for text in column.texts if text is not None]
    length = len(texts[0]) if texts else 0
    if column.dates or length < 4 or any(len(text) != length or not text.isalnum() for text in texts):
        return []
    if not any(sign.isdecimal() for text in texts for sign in text):
        return []
    least = max(3, length // 2 + 1, length - 2)
    return [["\0"] if text is None else [text[:most] for most in range(least, length)] for text in column.texts]


def _list(names: Sequence[str]) -> str:
    quoted = [repr(name) for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}"


def _sum(terms: Sequence[tuple[ColumnView, float]], *, offset: bool = False) -> str:
    """`'fee' - 'tax'`, or a multiple of one; a constant stands first where all else is taken away from it, or else last."""
    parts = [
        ("-" if factor < 0 else "+", view.words if abs(abs(factor) - 1) < 1e-12 else f"a multiple of {view.words}")
        for view, factor in sorted(terms, key=lambda term: -term[1])  # what is added before what is taken away
    ]
    if offset:
        parts.insert(0 if parts[0][0] == "-" else len(parts), ("+", "a constant"))
    text = " ".join(f"{sign} {name}" for sign, name in parts).removeprefix("+ ")
    return f"-{text[2:]}" if text.startswith("- ") else text
