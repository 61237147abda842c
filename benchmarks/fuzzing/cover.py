"""Whether a released value can stand for an original one: the notations a release may use, read by plain Python.

Nothing of the package is used. A text may be read in several ways (`2020` is a number, a year, a label); it covers what any of them does.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

_NUMBER = r"([+-]?(?:\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|[iI]nf))"
_RANGE = re.compile(rf"^([\[(]){_NUMBER},\s*{_NUMBER}([\])])$")
_SIDE = re.compile(rf"^(<=|>=|<|>){_NUMBER}$")
_DAY = r"(\d{4}-\d{2}-\d{2})(?:[T ][\d:.+]*)?"
_DAYS = re.compile(rf"^([\[(]){_DAY},\s*{_DAY}([\])])$")
_DAY_SIDE = re.compile(rf"^(<=|>=|<|>){_DAY}$")
_YEARS = re.compile(r"^([\[(])(\d{4}),\s*(\d{4})([\])])$")
_CALENDAR = re.compile(r"^(\d{4})(?:-(\d{2})|-Q([1-4])|(s))?$")
_MEMBER = re.compile(r'\s*(?:"((?:[^"]|"")*)"|([^,]*?))\s*(?:,|$)', re.DOTALL)


def number(text: Any) -> float | None:
    """A value as a number, if it is one."""
    if isinstance(text, bool) or text is None:
        return None
    if isinstance(text, int | float | Decimal):
        return float(text)
    try:
        return float(Decimal(text)) if isinstance(text, str) and text.strip() == text else None
    except (InvalidOperation, ValueError, OverflowError):
        return None


def plain(value: Any) -> str | None:
    """A value as a release spells it where nothing was done to it."""
    if value is None:
        return None
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    return value.isoformat() if isinstance(value, datetime.date) else str(value)


def _within(low: Any, x: Any, high: Any, left: str, right: str) -> bool:
    return bool((low <= x if left == "[" else low < x) and (x <= high if right == "]" else x < high))


def _on_side(sign: str, x: Any, edge: Any) -> bool:
    return bool({"<": x < edge, "<=": x <= edge, ">": x > edge, ">=": x >= edge}[sign])


def _number_covers(released: str, x: float) -> bool:
    if m := _RANGE.match(released):
        return _within(float(m[2]), x, float(m[3]), m[1], m[4])
    if m := _SIDE.match(released):
        return _on_side(m[1], x, float(m[2]))
    if released.endswith("+") and (least := number(released[:-1])) is not None:
        return x >= least
    return number(released) == x


def ends(released: str) -> tuple[float | None, float | None]:
    """The values at which a range of numbers ends and which belong to it: somebody may have them."""
    if m := _RANGE.match(released):
        return float(m[2]) if m[1] == "[" else None, float(m[3]) if m[4] == "]" else None
    m = _SIDE.match(released)
    return (float(m[2]) if m and m[1] == ">=" else None), (float(m[2]) if m and m[1] == "<=" else None)


def _date_covers(released: str, day: datetime.date) -> bool:
    text = day.isoformat()
    if m := _DAYS.match(released):
        return _within(m[2], text[:10], m[3], m[1], m[4])
    if m := _DAY_SIDE.match(released):
        return _on_side(m[1], text[:10], m[2])
    if m := _YEARS.match(released):
        return _within(int(m[2]), day.year, int(m[3]), m[1], m[4])
    if m := re.match(r"^(<=|>=|<|>)(\d{4})$", released):
        return _on_side(m[1], day.year, int(m[2]))
    if released.startswith("<=") and released[2:].isdigit():
        return day.year <= int(released[2:])
    if not (m := _CALENDAR.match(released)):
        return False
    if m[4]:
        return day.year // 10 == int(m[1]) // 10
    same = day.year == int(m[1])
    return same and (m[2] is None or day.month == int(m[2])) and (m[3] is None or (day.month + 2) // 3 == int(m[3]))


def _day(meant: Any) -> datetime.date | None:
    """A date, also where its file holds texts."""
    if isinstance(meant, datetime.date):
        return meant
    try:
        return datetime.date.fromisoformat(meant) if isinstance(meant, str) and len(meant) == 10 else None
    except ValueError:
        return None


def members(released: str) -> list[str]:
    """The values of a set {a, b}."""
    inside, at, found = released[1:-1], 0, []
    while at < len(inside) and (m := _MEMBER.match(inside, at)) and m.end() > at:
        found.append(m[2] if m[1] is None else m[1].replace('""', '"'))
        at = m.end()
    return found


BLANKS = " \t\u00a0\u202f"


def covers(released: str | None, meant: Any, spelled: str, above: Mapping[str, frozenset[str]] | None = None) -> bool:
    """Whether the released text stands for the original cell; `above` has the labels of a taxonomy by value."""
    if released is None:
        return meant is None or (isinstance(meant, str) and not meant.strip(BLANKS))
    if set(released) == {"*"}:
        return True
    if meant is None:
        return False
    texts = {spelled, plain(meant)}
    texts |= {
        text.strip(BLANKS) for text in texts if text is not None
    }  # blanks around a field are no part of its value
    if released in texts:
        return True
    if above is not None and any(released in above.get(text, ()) for text in texts if text is not None):
        return True
    x = number(meant) if not isinstance(meant, datetime.date) else None
    if x is None and isinstance(meant, str) and re.fullmatch(r"-?\d+,\d+", meant):
        x = number(meant.replace(",", "."))  # a column of such texts is one of numbers with a decimal comma
    if x is not None and _number_covers(released, x):
        return True
    day = _day(meant)
    if day is not None and _date_covers(released, day):
        return True
    if re.fullmatch(r"\d{4}", released) and re.fullmatch(rf"\d+[./-]\d+[./-]{released}|{released}-\d+-\d+", spelled):
        return True  # the year of a day that no calendar has
    if (
        released.startswith("{")
        and released.endswith("}")
        and any(covers(m or None, meant, spelled, above) for m in members(released))
    ):
        return True
    if "*" in released:
        mask = re.compile("".join("." if c == "*" else re.escape(c) for c in released), re.DOTALL)
        return any(text is not None and mask.fullmatch(text.ljust(len(released), "_")) is not None for text in texts)
    return False
