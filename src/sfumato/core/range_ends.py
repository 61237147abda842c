"""Where released ranges end: between two values, never at one that somebody has, and nowhere on the outside.

A range that spans exactly what its people have prints two of their values, and the outermost one prints the extreme: `[54,117]` is
somebody's exact age. So a range ends at an edge in the gap between its last value and the next one of the column, at the roundest
number (or first day of a decade, year or month) there, which belongs to the range above it; the same values are covered, so nothing is
lost. The outermost ranges have no end, `<20` and `>=54`, unless the owner states bounds, which are public: then `[0,20)` and `[54,120]`.

    values 1 2 3 50 51 117      ranges of three: <10 and >=10;  with bounds 0 and 120: [0,10) and [10,120]

Where the values stand next to each other (20 and 21 in whole years) there is nothing between them, and the edge is the upper one.
"""

from __future__ import annotations

import datetime
import itertools
import math
from collections.abc import Sequence
from dataclasses import field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from .column import Column, text_of
from .cover import Span, day_span, number_span
from .hierarchy import TOP
from .noun import dataclass

if TYPE_CHECKING:
    from .roles import Roles

Style = Literal["open", "tight"]
STYLES = (
    "open: a range ends between two values of the column, and the outermost ones have no end (<20, >=54) or end at the bounds in the "
    "roles file; tight: a range goes from the smallest to the largest value of its people, as the papers print it, which gives both away"
)
EVERY_NUMBER, EVERY_DAY = "(-Inf,Inf)", ">=0001-01-01"
"""All known values of a column in which some are missing, which * would cover too."""


def between(low: Fraction, high: Fraction, *, whole: bool) -> Fraction:
    """The roundest number above `low` and below `high`; `high` itself where there is none (of whole numbers).

    >>> [str(between(Fraction(a), Fraction(b), whole=True)) for a, b in ((50, 63), (89, 117), (-3, 4), (20, 21))]
    ['60', '100', '0', '21']
    >>> float(between(Fraction("0.12"), Fraction("0.13"), whole=False))
    0.125
    """
    if low >= high:
        return high
    ten = Fraction(10) ** len(str(int(max(abs(low), abs(high)))))
    while True:
        for step in (ten, ten / 2):
            if whole and step.denominator > 1:
                return high
            end = (low // step + 1) * step
            if end < high:
                return end
        ten /= 10


def between_days(low: str, high: str) -> str | None:
    """The first day of a decade, year or month after the day of `low` and before that of `high`, else any day between, else that of `high`.

    None where both are moments of one day.

    >>> between_days("1899-05-03", "1931-02-07"), between_days("2024-05-03", "2024-06-30"), between_days("2024-05-03", "2024-05-04")
    ('1900-01-01', '2024-06-01', '2024-05-04')
    """
    try:
        first, last = (datetime.date.fromisoformat(text[:10]) for text in (low, high))
    except ValueError:  # a day that no calendar has
        return None
    month = datetime.date(first.year + first.month // 12, first.month % 12 + 1, 1) if first.year < 9999 else last
    year = datetime.date(min(first.year + 1, 9999), 1, 1)
    decade = datetime.date(min(first.year // 10 * 10 + 10, 9999), 1, 1)
    for day in (decade, year, month, first + datetime.timedelta(days=1) if first < last else last):
        if first < day < last:
            return day.isoformat()
    return last.isoformat() if first < last else None


def ranges_in_order(column: Column) -> tuple[list[int], list[Span], bool] | None:
    """The codes and spans of a column's values in order, without `*` and missing, and whether they are days; None if there is no order.

    There is one where each value is a number (or a date) or a range of them with its lower end in it, and none overlap. Bare
    digits that are no numbers are codes such as 0131, not the years that they may look like.
    """
    texts = [(i, text) for i, text in enumerate(column.texts) if text is not None and set(text) != {TOP}]
    if all(text.isdigit() for _, text in texts):
        return None
    for read, dates in ((number_span, False), (day_span, True)):
        spans = [(span, i) for i, text in texts if not text.startswith("{") and (span := read(text)) is not None]
        if not texts or len(spans) < len(texts):
            continue
        spans.sort(key=lambda pair: pair[0].low)
        disjoint = all(a.last < b.low for (a, _), (b, _) in itertools.pairwise(spans))
        if disjoint and all(s.from_low and s.low <= s.last for s, _ in spans):
            return [i for _, i in spans], [span for span, _ in spans], dates
    return None


@dataclass(frozen=True, eq=False)
class Ends:
    """The ordered values of a column, spelled, and how ranges of them are: `missing` says that it has missing values besides."""

    texts: Sequence[str]
    dates: bool = False
    missing: bool = False
    style: Style = "open"
    bounds: tuple[str, str] | None = None
    spans: Sequence[Span] = ()
    """What each value covers, where some are ranges themselves."""
    _edges: dict[int, str | None] = field(default_factory=dict)

    @classmethod
    def of(cls, column: Column, texts: Sequence[str], roles: Roles, style: Style = "open") -> Ends:
        """Of a column of numbers or dates, its values in order."""
        return cls(texts, column.numbers is None, column.has_missing, style, roles.bounds(column))

    @classmethod
    def of_ranges(cls, column: Column, spans: Sequence[Span], *, dates: bool) -> Ends:
        """Of values of which some are ranges, in order, none of which overlap."""
        return cls([""] * len(spans), dates, column.has_missing, spans=spans)

    def edge(self, place: int) -> str | None:
        """What stands between the value at a place and the one before it; None if nothing can be written between them."""
        if place not in self._edges:
            self._edges[place] = (
                self._between_ranges(place) if self.spans else self._found(self.texts[place - 1], self.texts[place])
            )
        return self._edges[place]

    def _between_ranges(self, place: int) -> str:
        """The end of the lower range where it is printed already and belongs to nobody, else as between two values."""
        below, above = self.spans[place - 1], self.spans[place]
        if self.dates:
            low, high = (datetime.date.fromordinal(int(day)).isoformat() for day in (below.high, above.low))
            day = between_days(low, high) or high
            return day[:4] if self._years else day
        if not below.to_high:
            return str(text_of(below.high))
        return str(text_of(float(between(Fraction(below.high), Fraction(above.low), whole=self._whole))))

    @cached_property
    def _years(self) -> bool:
        """Whether all ranges of days go from year to year."""
        starts = (s.low for s in self.spans if math.isfinite(s.low))
        stops = (s.high + 1 for s in self.spans if math.isfinite(s.high))
        return all(datetime.date.fromordinal(int(day)).timetuple().tm_yday == 1 for day in (*starts, *stops))

    def _found(self, low: str, high: str) -> str | None:
        if self.dates:
            return between_days(low, high)
        try:
            a, b = Fraction(low), Fraction(high)
        except ValueError:  # an infinite number
            return None
        end = between(a, b, whole=self._whole)
        text = str(int(end)) if end.denominator == 1 else str(text_of(float(end)))
        return text if float(a) < float(text) <= float(b) else None

    @cached_property
    def _whole(self) -> bool:
        if self.spans:
            return all(end.is_integer() for s in self.spans for end in (s.low, s.high) if math.isfinite(end))
        return all(text.lstrip("+-").isdigit() for text in self.texts)

    def label(self, first: int, last: int) -> str:
        """The range from one place to another, both in it."""
        if self.style == "tight":
            return f"[{self.texts[first]},{self.texts[last]}]"
        below, above = first == 0, last == len(self.texts) - 1
        if below and above and self.bounds is None:
            return TOP if not self.missing else EVERY_DAY if self.dates else EVERY_NUMBER
        low = self.bounds[0] if below and self.bounds else None if below else self.edge(first) or self.texts[first]
        high, shut = (self.bounds[1] if self.bounds else None), "]"
        if not above:
            edge = self.edge(last + 1)
            high, shut = (self.texts[last], "]") if edge is None else (edge, ")")
        if low is None:
            return f"<{'=' if shut == ']' else ''}{high}"
        return f">={low}" if high is None else f"[{low},{high}{shut}"
