"""What a released value stands for: the values of the original domain that it covers.

Notations read, ours and those of ARX, sdcMicro and the papers:

    *  ****                  every value, missing included
    Bachelors                itself, or every value under it if it is a label of the hierarchy
    [20,30)  [20,30]  [20,30[  20-29  (20,Inf]   numbers between two edges
    <30  <=30  >40  >=40  ≤30  ≥40  40+          numbers on one side of an edge
    1e+05                    the same number, however it is spelled
    476**  3*                codes that agree where there is no asterisk
    2024-05  2024-Q2  2024  2020s  05/2024  Q2 2024   dates of a month, quarter, year, decade
    [2024-05-01,2024-06-30]  [2024-05-01, 2024-07-01[  dates between two days
    [2020, 2030[  [2020.0, 2030.0)               dates between two years (with a point: from 1800 to 2200)
    <2024-05-01  >=2024-05-01  <2024  >=2024     dates on one side of a day, or of a year
    {a, b}                   any of these

A day may also be spelled 31.12.2024 in any of these.
"""

from __future__ import annotations

import calendar
import datetime
import math
import operator
import re
from collections.abc import Callable
from functools import cached_property

import numpy as np
import numpy.typing as npt

from .column import Column, IntArray
from .hierarchy import TOP, Hierarchy
from .noun import dataclass
from .spelling import DAY, DAY_FIRST
from .value_sets import read_set

BoolArray = npt.NDArray[np.bool_]
_N = r"([+-]?(?:\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|[iI]nf))"
_INTERVAL = re.compile(rf"^([\[\](])\s*{_N}\s*[,;:]\s*{_N}\s*([\[\])])$")
_INTERVAL_DASH = re.compile(rf"^([\[\](])\s*{_N}\s*[-–]\s*{_N}\s*([\[\])])$")
_DASH = re.compile(rf"^\[?\s*{_N}\s*(?:-|–|\.\.)\s*{_N}\s*\]?$")
_SIDE = re.compile(rf"^(<=|>=|<|>|≤|≥)\s*{_N}$")
_UP = re.compile(rf"^{_N}\s*\+$")
_DAY = r"(\d{4}-\d{2}-\d{2}[T\d:.+-]*)"
_MIDNIGHT = r"(?: 00:00:00)?"  # as pandas.cut spells a day
_DAYS = re.compile(rf"^([\[\](])\s*{_DAY}{_MIDNIGHT}\s*,\s*{_DAY}{_MIDNIGHT}\s*([\[\])])$")
_YEAR = r"(\d{4}(?!\.)|(?:1[89]\d\d|2[01]\d\d|2200)(?=\.0))(?:\.0+)?"
_YEARS = re.compile(rf"^([\[\](])\s*{_YEAR}\s*,\s*{_YEAR}\s*([\[\])])$")
_DOTTED = re.compile(rf"(?<![\d.]){DAY['.']}(?![\d.])")
_DAY_SIDE = re.compile(rf"^(<=|>=|<|>|≤|≥)\s*(?:{_DAY}|(\d{{4}}))$")
_CALENDAR = re.compile(r"^\d{4}(-\d{2}|-Q[1-4]|s)?$")
_CALENDAR_ARX = re.compile(r"^(?:(\d{2})/|(Q[1-4]) )(\d{4})$")


_PLAIN = re.compile(rf"^{_N}$")
_SIDES: dict[str, Callable[[str, str], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    "≤": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "≥": operator.ge,
}


def _interval(text: str) -> re.Match[str] | None:
    """Two ends in brackets that say whether they belong to it; [20-29] is read as 20-29 is, both ends in it."""
    return _INTERVAL.match(text) or (None if text[:1] + text[-1:] == "[]" else _INTERVAL_DASH.match(text))


def edges(text: str) -> tuple[float, float] | None:
    """The two ends that an interval names, whether they belong to it or not; None if the text is no interval."""
    if m := _interval(text):
        return float(m[2]), float(m[3])
    if m := _DASH.match(text):
        return float(m[1]), float(m[2])
    return None


@dataclass(frozen=True)
class Span:
    """The numbers, or days counted from the year 1, that a text covers: from `low` to `high`, and whether these two belong to it."""

    low: float
    high: float
    from_low: bool = True
    to_high: bool = True

    @property
    def last(self) -> float:
        """The largest number in it, as near as floats come."""
        return self.high if self.to_high else math.nextafter(self.high, -math.inf)


_ALL = Span(-math.inf, math.inf)


def _joined(spans: list[Span | None]) -> Span | None:
    known = [span for span in spans if span is not None]
    if not known or len(known) < len(spans):
        return None
    low, high = min(known, key=lambda s: (s.low, not s.from_low)), max(known, key=lambda s: (s.high, s.to_high))
    return Span(low.low, high.high, low.from_low, high.to_high)


def number_span(text: str) -> Span | None:
    """The numbers from the least to the largest that a value, an interval, a side, a set of these or `*` covers; None for another text."""
    if set(text) == {TOP}:
        return _ALL
    if _PLAIN.match(text):
        code = text[:1] == "0" and text[1:2].isdigit()  # 00501 is a ZIP code, as in core.column
        return None if code or math.isinf(float(text)) else Span(float(text), float(text))
    if m := _interval(text):
        return Span(float(m[2]), float(m[3]), m[1] == "[", m[4] == "]")
    if m := _DASH.match(text):
        return Span(float(m[1]), float(m[2]))
    if m := _SIDE.match(text):
        shut = m[1] not in ("<", ">")
        return (
            Span(-math.inf, float(m[2]), True, shut) if m[1] in ("<", "<=", "≤") else Span(float(m[2]), math.inf, shut)
        )
    if m := _UP.match(text):
        return Span(float(m[1]), math.inf)
    return _joined([number_span(member) for member in read_set(text)]) if text[:1] + text[-1:] == "{}" else None


def day_span(text: str) -> Span | None:
    """The days (as ordinal numbers, ends included) that a date, a calendar label, an interval, a side, a set of these or `*` covers."""
    if set(text) == {TOP}:
        return _ALL
    if text[:1] + text[-1:] == "{}":
        return _joined([day_span(member) for member in read_set(text)])
    try:
        if m := _DAYS.match(text) or _YEARS.match(text):
            first, last = _calendar(m[2]), _calendar(m[3])
            return Span(first[m[1] != "["] + (m[1] != "["), last[m[4] == "]"] - (m[4] != "]"))
        if m := _DAY_SIDE.match(text):
            first_day, last_day = _calendar(m[2] or m[3])
            sides = {"<": Span(-math.inf, first_day - 1), ">": Span(last_day + 1, math.inf)}
            return sides.get(m[1]) or (Span(-math.inf, last_day) if m[1] in ("<=", "≤") else Span(first_day, math.inf))
        return Span(*_calendar(text))
    except ValueError:  # no date, or a day that no calendar has
        return None


def _calendar(text: str) -> tuple[int, int]:
    """The first and the last day of a day, month, quarter, year or decade."""
    if not _CALENDAR.match(text):
        day = datetime.date.fromisoformat(text[:10]).toordinal()
        return day, day
    year, rest = int(text[:4]), text[4:]
    if rest == "s":
        return datetime.date(year, 1, 1).toordinal(), datetime.date(year + 9, 12, 31).toordinal()
    first, last = (
        (1, 12) if not rest else (int(rest[2]) * 3 - 2, int(rest[2]) * 3) if "Q" in rest else (int(rest[1:]),) * 2
    )
    days = calendar.monthrange(year, last)[1]
    return datetime.date(year, first, 1).toordinal(), datetime.date(year, last, days).toordinal()


@dataclass(frozen=True, eq=False)
class Domain:
    """The values that a quasi-identifier may have had, and the hierarchy over them if there is one."""

    column: Column
    hierarchy: Hierarchy | None = None

    @cached_property
    def _index(self) -> dict[str, int]:
        return {text: i for i, text in enumerate(self.column.texts) if text is not None}

    @cached_property
    def _sorted(self) -> tuple[npt.NDArray[np.float64], IntArray] | None:
        if self.column.numbers is None:
            return None
        order = np.argsort(self.column.numbers, kind="stable")[
            : len(self.column.values)
        ]  # missing sorts last: left out
        return self.column.numbers[order], order.astype(np.int64)

    def _between(self, text: str) -> IntArray | None:
        """The codes inside an interval, or None if the text is none or the domain has no numbers."""
        if self._sorted is None:
            return None
        numbers, order = self._sorted
        low, high = 0, len(numbers)
        if m := _interval(text):
            low = int(np.searchsorted(numbers, float(m[2]), side="left" if m[1] == "[" else "right"))
            high = int(np.searchsorted(numbers, float(m[3]), side="right" if m[4] == "]" else "left"))
        elif m := _DASH.match(text):
            low = int(np.searchsorted(numbers, float(m[1]), side="left"))
            high = int(np.searchsorted(numbers, float(m[2]), side="right"))
        elif m := _SIDE.match(text):
            below = m[1] in ("<", "<=", "≤")
            edge = int(np.searchsorted(numbers, float(m[2]), side="left" if m[1] in ("<", ">=", "≥") else "right"))
            low, high = (0, edge) if below else (edge, len(numbers))
        elif m := _UP.match(text):
            low = int(np.searchsorted(numbers, float(m[1]), side="left"))
        elif _PLAIN.match(text):  # 1e+05 is 100000; a number that no value equals is not read
            low, high = (int(np.searchsorted(numbers, float(text), side=side)) for side in ("left", "right"))
            return order[low:high] if high > low else None
        else:
            return None
        return order[low:high]

    def _days(self, text: str) -> IntArray | None:
        """The codes of the dates that a calendar label, an interval or a side of a day holds; None if the text is none of these.

        Dates are compared as they are spelled, up to the length of the edge: a moment belongs to its day.
        """
        if m := _DAYS.match(text) or _YEARS.match(text):
            first, last = m[2], m[3]
            codes = [
                i
                for v, i in self._index.items()
                if (v[: len(first)] >= first if m[1] == "[" else v[: len(first)] > first)
                and (v[: len(last)] <= last if m[4] == "]" else v[: len(last)] < last)
            ]
        elif m := _DAY_SIDE.match(text):
            holds, edge = _SIDES[m[1]], m[2] or m[3]
            codes = [i for v, i in self._index.items() if holds(v[: len(edge)], edge)]
        elif text in self._index:
            codes = [self._index[text]]
        else:
            if m := _CALENDAR_ARX.match(text):
                text = f"{m[3]}-{m[1] or m[2]}"
            if not _CALENDAR.match(text):
                return None
            codes = [i for v, i in self._index.items() if _on(v, text)]
        return np.array(codes, dtype=np.int64)

    def covered(self, text: str | None) -> IntArray | None:
        """The codes that a released value covers; None if it cannot be read."""
        if text is None:
            return np.array([len(self.column.values)]) if self.column.has_missing else np.zeros(0, dtype=np.int64)
        if set(text) == {TOP}:
            return np.arange(len(self.column))
        if self.hierarchy is not None and text in self.hierarchy.leaves:
            return np.array([self._index[v] for v in self._under(text) if v in self._index], dtype=np.int64)
        if text in self._index:
            return np.array([self._index[text]])
        inside = self._between(text)
        if inside is not None:
            return inside
        if text.startswith("{") and text.endswith("}"):
            members = [self.covered(member or None) for member in read_set(text)]
            if not members or any(member is None for member in members):
                return None
            return np.unique(np.concatenate([m for m in members if m is not None]))
        if TOP in text:
            # _ is the blank that our masks pad shorter codes with, so that lengths tell nothing
            mask = re.compile("".join("." if c == TOP else re.escape(c) for c in text), re.DOTALL)
            return np.array(
                [i for v, i in self._index.items() if mask.fullmatch(v.ljust(len(text), "_"))],
                dtype=np.int64,
            )
        if not self.column.dates:
            return None
        # 31.12.2024 has one meaning, whatever stands around it
        return self._days(_DOTTED.sub(lambda day: DAY_FIRST.plain(day[0]), text))

    def _under(self, text: str) -> frozenset[str]:
        assert self.hierarchy is not None
        return self.hierarchy.under(text)

    @property
    def size(self) -> int:
        """|D_A|, the leaves of the hierarchy if there is one, else the values of the column; missing counts as one."""
        return len(self.hierarchy.levels[0]) + int(self.column.has_missing) if self.hierarchy else len(self.column)

    def leaves(self, text: str | None) -> int | None:
        """How many values of the domain a released value covers (at least 1: itself); None if it cannot be read."""
        if text is not None and set(text) == {TOP}:
            return self.size
        if text is not None and self.hierarchy is not None and text in self.hierarchy.leaves:
            return self.hierarchy.leaves[text]
        covered = self.covered(text)
        return None if covered is None else max(len(covered), 1)

    def mask(self, text: str | None) -> BoolArray:
        """Which codes a released value covers, as flags; a value that cannot be read covers nothing."""
        flags = np.zeros(len(self.column), dtype=bool)
        covered = self.covered(text)
        if covered is not None:
            flags[covered] = True
        return flags


def _on(day: str, label: str) -> bool:
    """Whether a date falls in a calendar label."""
    if label.endswith("s"):
        return day[:3] == label[:3]
    if "Q" in label:
        return day[:4] == label[:4] and (int(day[5:7]) + 2) // 3 == int(label[-1])
    return day.startswith(label)
