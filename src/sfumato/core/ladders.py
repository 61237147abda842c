"""Hierarchies that build themselves: intervals for numbers, calendars for dates, masks for codes.

A rule is what stands in a roles file (`age = { widths = [5, 10, 20] }`); `build` turns it into a Hierarchy over the
values a column really has. Nesting is checked by the Hierarchy itself.

Released values are values, too: an interval, a side, a calendar label, a mask, a set or `*` takes a level's label where all that it
covers has that label, and stands for itself below.
"""

from __future__ import annotations

import datetime
import decimal
import functools
import math
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any, ParamSpec, TypeVar

import numpy as np

from .column import Column, FloatArray, IntArray
from .cover import day_span, number_span
from .errors import InputError
from .hierarchy import TOP, Hierarchy
from .range_ends import Ends
from .rules import check_rule
from .value_sets import read_set

_MANY_ZEROS = 0.25
"""The share of rows from which on a zero is a class of its own."""
_PARTS = 8
"""Parts with about as many rows each, where values pile up."""
_NO_DATES = "is not all dates written YYYY-MM-DD, so dates cannot build its hierarchy"
P = ParamSpec("P")
R = TypeVar("R")


def number(x: float) -> str:
    """A number as an interval's edge spells it: no trailing zeros."""
    return str(int(x)) if float(x).is_integer() and abs(x) < 1e15 else repr(float(x))


def interval(low: float, high: float) -> str:
    """The half-open interval [low,high); an infinite end is left empty-handed as `<high` or `>=low`."""
    if math.isinf(low) and math.isinf(high):
        return TOP
    if math.isinf(low):
        return f"<{number(high)}"
    if math.isinf(high):
        return f">={number(low)}"
    return f"[{number(low)},{number(high)})"


def _exactly(rule: Callable[P, R]) -> Callable[P, R]:
    """Give decimals the digits that the largest float needs."""

    @functools.wraps(rule)
    def wide(*args: P.args, **options: P.kwargs) -> R:
        with decimal.localcontext(prec=700):
            return rule(*args, **options)

    return wide


def _known(column: Column) -> list[str]:
    return [text for text in column.texts if text is not None]


def _ends(column: Column, rule: str) -> tuple[FloatArray, FloatArray]:
    """The least and the largest number that each value covers."""
    if column.numbers is not None:
        x = column.numbers[~np.isnan(column.numbers)]
        return x, x
    spans = [number_span(text) for text in _known(column)]
    if None in spans:
        raise InputError(
            f"Column {column.name!r} is not all numbers, so {rule} cannot build its hierarchy; use a taxonomy file or prefix."
        )
    return np.array([s.low for s in spans if s]), np.array([s.last for s in spans if s])


def _shared(column: Column, first: Sequence[str], last: Sequence[str]) -> list[str]:
    """The label that both ends of each value have, else the value."""
    if first is last:
        return list(first)
    return [a if a == b else text for a, b, text in zip(first, last, _known(column), strict=True)]


def _cut(x: FloatArray, edges: Sequence[float]) -> list[str]:
    """Each number as the interval between the edges around it, the ends open."""
    bounds = [-math.inf, *sorted(edges), math.inf]
    return [interval(bounds[i], bounds[i + 1]) for i in np.searchsorted(bounds[1:-1], x, side="right")]


def _between(column: Column, low: FloatArray, high: FloatArray, edges: Sequence[float]) -> list[str]:
    first = _cut(low, edges)
    return _shared(column, first, first if low is high else _cut(high, edges))


@_exactly
def widths(column: Column, steps: Sequence[float], *, origin: float = 0.0) -> list[list[str]]:
    """One level per width; each must be a multiple of the one before it, or levels would not nest."""
    low, high = _ends(column, "widths")
    if column.numbers is not None and not np.isfinite(low).all():
        raise InputError(f"Column {column.name!r} holds an infinite number, so widths cannot build its hierarchy.")
    start = Decimal(repr(float(origin)))
    ladder = []
    for step in (Decimal(repr(float(s))) for s in steps):  # decimals: 3 times 0.1 is 0.3

        def labels(x: FloatArray, step: Decimal = step) -> list[str]:
            labels = []
            for value in x:
                if math.isinf(value):  # `90+` is in no interval: the other end has no such label
                    labels.append(number(value) if value > 0 else TOP)
                    continue
                from_start = Decimal(repr(float(value))) - start
                whole, rest = from_start // step, from_start % step
                low = start + (whole - (rest < 0)) * step  # // cuts towards 0, intervals towards below
                labels.append(interval(float(low), float(low + step)))
            return labels

        first = labels(low)
        ladder.append(_shared(column, first, first if low is high else labels(high)))
    return ladder


def cuts(column: Column, edges: Sequence[float] | Sequence[Sequence[float]]) -> list[list[str]]:
    """Given cut points: one list, or one list per level from fine to coarse, each a subset of the one before."""
    low, high = _ends(column, "cuts")
    nested = bool(edges) and not isinstance(edges[0], int | float)
    ladder: list[list[Any]] = [list(level) for level in edges] if nested else [list(edges)]  # type: ignore[arg-type]
    return [_between(column, low, high, level) for level in ladder]


def quantiles(column: Column, parts: Sequence[int]) -> list[list[str]]:
    """About equally many distinct values in each of `parts` intervals; each number of parts divides the one before it.

    An interval ends between two values, at the roundest number there, and the outermost have no end.
    """
    low, high = _ends(column, "quantiles")
    ladder = []
    x = low[np.isfinite(low)] if column.numbers is None else low
    values = np.unique(x)
    ends = Ends([number(value) for value in values])
    for count in parts:
        at = {
            int(np.searchsorted(values, np.quantile(x, i / count, method="higher"))) for i in range(1, count) if len(x)
        }
        # between two values, and below the least there is nothing to cut
        ladder.append(_between(column, low, high, sorted(float(ends.edge(i) or values[i]) for i in at if i)))
    return ladder


def dates(column: Column, units: Sequence[str]) -> list[list[str]]:
    """Calendar levels from fine to coarse, out of day, month, quarter, year and decade."""
    spans = [day_span(text) for text in _known(column)]
    if None in spans:
        bad = "holds a day that no calendar has; correct it first" if column.dates else _NO_DATES
        raise InputError(f"Column {column.name!r} {bad}.")
    first, last = datetime.date.min.toordinal(), datetime.date.max.toordinal()
    ends = [(max(span.low, first), min(span.high, last)) for span in spans if span is not None]
    spell: dict[str, Callable[[datetime.date], str]] = {
        "day": lambda d: d.isoformat(),
        "month": lambda d: f"{d.year:04d}-{d.month:02d}",
        "quarter": lambda d: f"{d.year:04d}-Q{(d.month + 2) // 3}",
        "year": lambda d: f"{d.year:04d}",
        "decade": lambda d: f"{d.year // 10 * 10:04d}s",
    }
    return [
        _shared(column, *([spell[unit](datetime.date.fromordinal(int(end[i]))) for end in ends] for i in (0, 1)))
        for unit in units
    ]


def prefix(column: Column, masked: Sequence[int] | bool) -> list[list[str]]:
    """Mask characters from the right: 47678 -> 4767* -> 476**. Shorter codes are padded, so that lengths tell nothing."""
    members = [read_set(text) if text[:1] + text[-1:] == "{}" else [text] for text in _known(column)]
    longest = max((len(code) for codes in members for code in codes), default=0)
    steps = list(range(1, longest)) if isinstance(masked, bool) else sorted(masked)

    def mask(code: str, s: int) -> str:
        return TOP if set(code) == {TOP} else code.ljust(longest, "_")[: max(longest - s, 0)] + "*" * min(s, longest)

    masks = [[{mask(code, s) for code in codes} for codes in members] for s in steps]
    return [
        [starts.pop() if len(starts) == 1 else text for starts, text in zip(level, _known(column), strict=True)]
        for level in masks
    ]


RULES: dict[str, Callable[..., list[list[str]]]] = {
    "widths": widths,
    "cuts": cuts,
    "quantiles": quantiles,
    "dates": dates,
    "prefix": prefix,
}


def build(column: Column, rule: dict[str, Any]) -> Hierarchy:
    """The hierarchy that an inline rule gives over a column's values: the values, the rule's levels, `*`."""
    texts = [text for text in column.texts if text is not None]
    source = f"[hierarchies] {column.name}"
    if not texts:  # a column of missing values only: there is nothing to generalize but to *
        return Hierarchy(column.name, ((), ()), source)
    check_rule(f"Column {column.name!r}", rule)
    named = [name for name in RULES if name in rule]
    levels: list[list[str]] = []
    if named:
        given = rule[named[0]]
        if named[0] != "prefix" and not isinstance(given, list | tuple):
            given = [given]
        try:
            extra = {"origin": float(rule["origin"])} if named[0] == "widths" and "origin" in rule else {}
            levels = RULES[named[0]](column, given, **extra)
        except (TypeError, ValueError):
            raise InputError(
                f"Column {column.name!r}: {named[0]} takes a list of numbers or names; see the guide."
            ) from None
    levels = [level for level in levels if set(level) != {TOP}]
    return Hierarchy.of(column.name, list(zip(texts, *levels, [TOP] * len(texts), strict=True)), source=source)


def suggest(column: Column, kind: str, n: IntArray | None = None) -> dict[str, Any]:
    """A rule that suits a column's kind and its values, with `n` rows of each: no level that changes nothing, or leaves one label.

    Numbers get round widths; where they pile up, so that one interval would hold most rows, cuts with about as many rows between them,
    and a class of its own for a zero that many have. Dates get a calendar, codes masks, everything else only `*`.
    """
    rule: dict[str, Any] = {}
    if kind == "numeric" and column.numbers is not None:
        ascending = np.argsort(column.numbers, kind="stable")  # texts are not in the order of their numbers
        ascending = ascending[np.isfinite(column.numbers[ascending])]
        x, rows = column.numbers[ascending], (np.ones(len(column)) if n is None else n)[ascending]
        rule = _piled(x, rows) or ({} if np.isinf(column.numbers).any() else _round(x))  # no width reaches infinity
    elif kind == "date" and column.dates:
        rule = {"dates": ["month", "quarter", "year", "decade"]}
    elif kind == "code":
        longest = max((len(text) for text in column.texts if text is not None), default=0)
        rule = {"prefix": list(range(1, max(longest, 2)))}
    return _telling(column, rule) or {"suppress": True}


def _telling(column: Column, rule: dict[str, Any]) -> dict[str, Any]:
    """A rule without the levels that merge nothing, or all there is; nothing if no level is left."""
    for name, steps in rule.items():
        try:
            ladder = RULES[name](column, steps)
        except InputError:  # a day that no calendar has
            return rule
        kept: list[Any] = []
        labels = len(column.values)
        for step, level in zip(steps, ladder, strict=True):
            if 1 < len(set(level)) < labels:
                kept, labels = [*kept, step], len(set(level))
        return {name: kept} if kept else {}
    return {}


def _round(x: FloatArray) -> dict[str, Any]:
    """Widths by where most values lie, twice the distance between the first and the last tenth, if the extremes lie further apart.

    A few far values would else put all the others into one interval.
    """
    spread = 0.0
    if len(x):
        first, last = np.quantile(x, [0.1, 0.9])
        # halves: the distance between the largest numbers there are is none
        spread = 2 * min(float(x.max() / 2 - x.min() / 2), 2 * float(last / 2 - first / 2))
    if not 0 < spread < math.inf:
        return {}
    step = 10.0 ** math.floor(math.log10(spread / 10))
    nice = next(step * f for f in (1, 2, 5, 10, 20) if spread / (step * f) <= 20)
    if np.all(x == np.floor(x)):
        nice = max(nice, 2.0)
    return {"widths": [int(w) if float(w).is_integer() else w for w in (nice, nice * 2, nice * 4) if w <= spread]}


def _piled(x: FloatArray, rows: FloatArray | IntArray) -> dict[str, Any]:
    """Cuts by the rows where a zero, or one round width, would hold too many of them; nothing where none does.

    `x` ascends. A cut lies at a number of two digits, and each level keeps every other cut of the one below.
    """
    total, zero = float(rows.sum()), float(rows[x == 0].sum())
    own = len(x) > 4 and x[0] == 0 and zero >= _MANY_ZEROS * total
    widths = _round(x).get("widths", [])
    fullest = (
        np.bincount((np.floor(x / widths[0]) - np.floor(x[0] / widths[0])).astype(np.int64), weights=rows).max()
        if widths and x[-1] / 2 - x[0] / 2 < 5e5 * widths[0]  # halves, since the difference may overflow
        else 0.0
    )
    if not own and (len(x) <= 2 * _PARTS or not widths or fullest <= 0.5 * total):
        return {}
    above, many = (x[1:], rows[1:]) if own else (x, rows)
    share = np.cumsum(many) / many.sum()
    at = [above[min(int(np.searchsorted(share, i / _PARTS)), len(above) - 1)] for i in range(1, _PARTS)]
    rounded = [_two_digits(float(cut)) for cut in at]
    levels: list[list[float]] = []
    for step in (1, 2, 4):
        cuts = sorted({cut for cut in rounded[step - 1 :: step] if above[0] < cut <= above[-1]})
        if own:
            cuts = [_below(float(above[0])), *(cut for cut in cuts if cut > above[0])]
        levels.append(cuts)
    if own:
        levels.append(levels[0][:1])
    return {"cuts": [[int(cut) if float(cut).is_integer() else cut for cut in level] for level in levels if level]}


def _two_digits(x: float) -> float:
    return float(f"{x:.1e}") if x else 0.0


def _below(x: float) -> float:
    """A number of one digit above zero and not above this one."""
    unit = 10.0 ** math.floor(math.log10(x))
    return float(f"{math.floor(x / unit) * unit:.0e}")
