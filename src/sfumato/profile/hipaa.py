"""Which of HIPAA's rules on identifiers a column breaks (45 CFR 164.514(b)(2)(i)), judged from its name and its distinct values.

How the rules are read here (HHS, Guidance Regarding Methods for De-identification of Protected Health Information, 2012):

    identifiers    the name is one of those that name, number or reach people; or it ends with id or number and nearly every row
                   has a value of its own; or some value holds an e-mail or web address, a social security, telephone or record
                   number; or at least half of the rows have IBANs, IP or MAC addresses, vehicle or card numbers, UUIDs, streets
    places         the name says a unit smaller than a state (city, county, precinct, ...), and not all values are states; or
                   half of the rows are like `Salem, MA` or `Essex County`
    postal codes   more than three digits, or three that are those of one of the 17 areas of 20,000 people or fewer
    dates          something finer than a year: a day, month, quarter, week or time; intervals of whole years are years; in a
                   column that is named a date, every digit that is not one of a year
    ages           a label wholly above 89, but for one that begins at 90 and has no end, or one of at least 120; months, weeks
                   and days are ages too, where the name or the label says so; and `91 year old` in any text
    birth years    where the year is given that ages refer to: a label wholly of people who are 90 in it, but for one that
                   holds all of them

Missing values, and `*`, break nothing. Values are looked at one by one and never told.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping

import numpy as np
import pyarrow as pa

from ..core.arrow import strings
from ..core.column import Column, FloatArray, IntArray
from ..core.hierarchy import TOP
from ..core.people import words_of
from ..core.value_sets import read_set
from . import hipaa_patterns, name_lexicon
from .kinds import Mask, matches

SMALL_AREAS = words_of("036 059 063 102 203 556 692 790 821 823 830 831 878 879 884 890 893")
"""Three-digit ZIP code areas of 20,000 people or fewer by the census of 2000, as HHS lists them."""
OLDEST = 120
"""An interval of ages that reaches so far has no end that tells anything."""
ALONE, ROWS = 0.9, 20
"""The share of values of their own, and from how many rows on, that make a number one of persons."""
HALF = 0.5
"""The share of the rows with a value from which on a shape that may also be something else is taken for what it looks like."""


# --- which column is what ------------------------------------------------------------------------------------------------


def _key(name: str) -> str:
    concept = name_lexicon.concept(name)
    return concept.key if concept is not None else ""


def _head(name: str) -> str:
    """The word of a name that says what it is: the last before "of" or "per", numbers aside."""
    tokens = [token for token in name_lexicon.tokens(name) if not token.isdigit()]
    cut = next((i for i, token in enumerate(tokens) if i and token in hipaa_patterns.BETWEEN), len(tokens))
    return tokens[cut - 1] if tokens else ""


def is_age(name: str) -> bool:
    """Whether a column is named after ages, in years or in parts of one."""
    tokens = set(name_lexicon.tokens(name))
    if tokens & {"percentile", "percent", "pct", "zscore"}:
        return False
    short = any(re.fullmatch(r"age(?:grp|gp|cat|bin|band|range|yrs?|years?|dx)", token) for token in tokens)
    return short or _key(name) == "age" or {"years", "old"} <= tokens


def per_year(name: str) -> int:
    """How many of the units that ages are told in are a year: 12 for months."""
    return next(
        (hipaa_patterns.PER_YEAR[token] for token in name_lexicon.tokens(name) if token in hipaa_patterns.PER_YEAR), 1
    )


def is_postal(column: Column, n: IntArray) -> bool:
    """Whether a column is named after postal codes, or mostly holds ZIP codes of nine digits or after a state."""
    named = _key(column.name) == "postal" or bool(set(name_lexicon.tokens(column.name)) & {"zcta", "pcode"})
    return named or _mostly(column, n, hipaa_patterns.AREAS)


def is_birth(name: str) -> bool:
    """Whether a column is named after births, and not after what was weighed or counted at one."""
    tokens = {*name_lexicon.tokens(name)}
    return _key(name) == "birth" or (
        bool(tokens & {"birth", "births", "born"}) and bool(tokens & {"year", "yr", "date", "dt"})
    )


def is_date(name: str) -> bool:
    """Whether a column is named after when something happened."""
    return _key(name) in ("birth", "event")


def _is_dated(name: str) -> bool:
    """Whether a name says a date itself, so that what is not a year tells a part of one."""
    head, tokens = _head(name), name_lexicon.tokens(name)
    if not tokens or set(tokens) & hipaa_patterns.RELATIVE or head in hipaa_patterns.NOT_DATED:
        return False
    return head in hipaa_patterns.DATED or head.endswith("date") or tokens[0] in ("date", "datetime", "timestamp")


def is_place(column: Column, n: IntArray) -> bool:
    """Whether a column is named after units smaller than a state, and holds something else than states; or its values say so."""
    tokens = set(name_lexicon.tokens(column.name))
    named = bool(tokens & hipaa_patterns.PLACES) or {"block", "group"} <= tokens
    if tokens & hipaa_patterns.PLACES <= {"fips", "geoid"} and "state" in tokens:
        named = False
    if named and any(
        text.casefold().strip() not in hipaa_patterns.STATES | hipaa_patterns.FLAGS for text in texts(column)
    ):
        return True
    return _mostly(column, n, hipaa_patterns.TOWNS)


def _named_direct(column: Column, n: IntArray) -> bool:
    """Whether a name says that a column names, numbers or reaches people."""
    concept, tokens = name_lexicon.concept(column.name), name_lexicon.tokens(column.name)
    if concept is not None and concept.role == "identifiers":
        return True
    said = set(tokens)
    if (
        said & hipaa_patterns.REACHES
        or "".join(tokens) in hipaa_patterns.BY_THEMSELVES
        or hipaa_patterns.NUMBERED.search("_".join(tokens))
    ):
        return True
    if "name" in said and said & hipaa_patterns.KIN:
        return True
    rows = int(n[: len(column.values)].sum())  # any other code: a number of its own for nearly every row
    return _head(column.name) in hipaa_patterns.ID and rows >= ROWS and len(column.values) >= ALONE * rows


def is_direct(column: Column, n: IntArray) -> bool:
    """Whether a column names, numbers or reaches people, by its name or its values."""
    if not _says(column).any():
        return False
    if _named_direct(column, n):
        return True
    if column.numbers is not None:
        x = column.numbers[: len(column.values)]
        x = np.where(np.isfinite(x), x, 0.0)  # nobody has an infinite number
        local = x - 1e10 * ((x >= 1e10) & (x < 2e10))  # telephone numbers, with the country's or without
        reaches = (local == np.floor(local)) & (local >= 2e9) & (local < 1e10) & (local % 1e7 >= 2e6)
        return _share(column, n, reaches) >= ALONE
    values = _spelled(column)
    if not matches(
        values, hipaa_patterns.ANY_SHAPE
    ).any():  # one look instead of a dozen: nearly every column ends here
        return False
    return any(matches(values, pattern).any() for pattern in hipaa_patterns.ANYWHERE) or any(
        _mostly(column, n, pattern) for pattern in hipaa_patterns.MOSTLY
    )


# --- which of its values break a rule --------------------------------------------------------------------------------------


def texts(column: Column) -> list[str]:
    """Its values that say something: neither missing nor `*`."""
    return [text for text in column.texts if text is not None and set(text) != {TOP}]


def fine_dates(column: Column, n: IntArray, *, date: bool = False) -> Mask:
    """Which values tell more of a date than its year; `date` says that the column is one of dates whatever it is named.

    What may also be something else (2010-11, 10:30, 12.05.60) is a date in a column of dates, or where half of the rows are such.
    """
    kind, count, named = column.values.type, len(column.values), date or is_date(column.name) or _is_dated(column.name)
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind) or pa.types.is_time(kind):
        return np.ones(count, dtype=bool)
    if column.numbers is not None:
        return _fine_numbers(column, n, column.numbers[:count], named=named, date=date)
    values = _spelled(column)
    years = matches(values, hipaa_patterns.WHOLE_YEARS)
    sure, perhaps = matches(values, hipaa_patterns.SURE) & ~years, matches(values, hipaa_patterns.PERHAPS) & ~years
    if (
        _head(column.name) in hipaa_patterns.PARTS
        and not set(name_lexicon.tokens(column.name)) & hipaa_patterns.RELATIVE
    ):
        return sure | perhaps | matches(values, r"^\s*(?:[QqWw]|[Qq]tr|[Ww]k)?[ .-]?[0-9]{1,2}\s*$")
    if named:
        perhaps |= matches(values, hipaa_patterns.IF_NAMED)
        if date or _is_dated(column.name):
            perhaps |= np.array([_left(text) for text in column.texts[:count]], dtype=bool) & ~years
    judged = sure | (perhaps & ~matches(values, hipaa_patterns.RATIO))  # 1:40 is a titer more often than a time
    return sure | perhaps if named or _share(column, n, judged) >= HALF else sure


def _left(text: str | None) -> bool:
    """Whether there is a digit in it that is not one of a year."""
    return bool(re.search(r"\d", hipaa_patterns.COARSE.sub("", text or "")))


def _fine_numbers(column: Column, n: IntArray, x: FloatArray, *, named: bool, date: bool) -> Mask:
    """Numbers that are dates: 20200304, and those of months, weeks or days in a column that is named so."""
    head, relative = _head(column.name), set(name_lexicon.tokens(column.name)) & hipaa_patterns.RELATIVE
    whole = x == np.floor(x)
    if (
        head in hipaa_patterns.PARTS
        and not relative
        and bool((whole & (x >= (head not in hipaa_patterns.FROM_ZERO)) & (x <= 53)).all())
    ):
        return np.ones(len(x), dtype=bool)
    if (date or _is_dated(column.name)) and not np.isin(x, (0, 1)).all():  # seconds since 1970, days since 1900, 200304
        years: Mask = whole & (x >= 1600) & (x < 2200)
        return ~years
    x = np.where(np.isfinite(x), x, 0.0)
    month, day = x // 100 % 100, x % 100
    dates: Mask = whole & (x > 1600_00_00) & (x < 2200_00_00) & (month >= 1) & (month <= 12) & (day >= 1) & (day <= 31)
    for tail in (1e4, 1e6):  # with hours and minutes, with seconds
        at = x // tail
        dates |= (
            whole
            & (at > 1900_00_00)
            & (at < 2100_00_00)
            & np.isin(at // 100 % 100, range(1, 13))
            & (x % tail < 24 * tail / 100)
        )
    months: Mask = whole & (x > 1900_00) & (x < 2100_00) & (day >= 1) & (day <= 12)
    if months.all():
        return months
    if named:  # seconds or milliseconds since 1970
        dates |= months | (whole & (((x > 3e8) & (x < 4.2e9)) | ((x > 3e11) & (x < 4.2e12))))
    return dates if named or _share(column, n, dates) >= HALF else np.zeros(len(x), dtype=bool)


def old_ages(column: Column) -> tuple[Mask, Mask]:
    """Which labels are wholly above 89, and which of these hold every such age."""
    per = per_year(column.name)
    if column.numbers is not None:
        over = column.numbers[: len(column.values)] >= 90 * per
        return over, np.zeros(len(over), dtype=bool)
    return _both([_age(text or "", per) for text in column.texts[: len(column.values)]])


def _age(text: str, per: int) -> tuple[bool, bool]:
    """Whether a label is wholly above 89, and whether it holds every such age."""
    if unit := hipaa_patterns.UNIT.search(text):
        per = next(many for short, many in hipaa_patterns.PER_YEAR.items() if unit[1].casefold().startswith(short))
    last = 89 if per == 1 else 90 * per - 1
    if masked := hipaa_patterns.MASKED.match(text):
        return float(masked[1] + "0" * len(masked[2])) > last, False
    numbers = [float(x) for x in hipaa_patterns.NUMBER.findall(text)]
    if not numbers or hipaa_patterns.BELOW.search(text):
        return not numbers and bool(hipaa_patterns.SPELLED.search(text)), False
    low, beyond = min(numbers), bool(hipaa_patterns.BEYOND.search(text))
    high = math.inf if hipaa_patterns.OPEN.search(text) else max(numbers)
    over = low >= last + 1 or (beyond and low >= last)
    return over, over and ((low == last + 1 and not beyond) or last <= low < last + 1) and high >= OLDEST * per


def ages_within(column: Column) -> bool:
    """Whether texts tell an age above 89: 91 year old."""
    return column.numbers is None and bool(matches(_spelled(column), hipaa_patterns.OLD).any())


def old_births(column: Column, year: int) -> tuple[Mask, Mask]:
    """Which labels are wholly of people born so long ago that they are 90 in `year`, and which of these hold them all."""
    return _both([_born(text or "", year - 90) for text in column.texts[: len(column.values)]])


def _born(text: str, last: int) -> tuple[bool, bool]:
    written, sign = years(text), text.lstrip()[:2]
    if not written or sign[:1] in (">", "≥"):
        return False, False
    below = sign[:1] == "<" and sign != "<="
    latest = max(written) - below  # <1937 and <1937-01-01 are up to 1936
    return latest <= last, latest == last and (below or sign == "<=" or sign[:1] == "≤")


def only_dates(text: str) -> bool:
    """Whether a label holds no words beside dates."""
    return all(hipaa_patterns.IN_DATES.fullmatch(word) for word in hipaa_patterns.LETTERS.findall(text))


def years(text: str) -> list[int]:
    """The years that a label names; of a decade its first and last."""
    if re.match(rf"{hipaa_patterns.Y}{hipaa_patterns.M}{hipaa_patterns.D}(?:T|$|[0-9]{{4}}$|[0-9]{{6}}$)", text):
        return [int(text[:4])]
    text = re.sub(r"^(\d+[./-]\d+[./-]\d+)[ T]\d{4}$", r"\1", text)  # a time without a colon is no year
    return [
        year
        for four, decade in hipaa_patterns.FOUR.findall(text)
        for year in ([int(four), int(four) + 9] if decade else [int(four)])
    ]


def _both(labels: list[tuple[bool, bool]]) -> tuple[Mask, Mask]:
    return np.array([over for over, _ in labels], dtype=bool), np.array([all_ for _, all_ in labels], dtype=bool)


def more_than_one(over: Mask, whole: Mask) -> bool:
    """Whether those who are wholly above a bound are told apart: any label but a single one that holds them all."""
    return bool(over.any()) and not (over.sum() == whole.sum() == 1)


def fine_codes(column: Column) -> Mask:
    """Which labels tell more of a postal code than the first three digits of a large area."""
    return np.array([_code(text) for text in column.texts[: len(column.values)]], dtype=bool)


def _code(text: str | None) -> bool:
    """A word without a digit is no code. A label of several areas is broken if all of them are small."""
    areas: list[str] = []
    for part in read_set(text) if text and text.startswith("{") and text.endswith("}") else [text or ""]:
        if not re.search(r"\d", part):
            areas.append("")
        elif match := hipaa_patterns.CODE.match(part):
            # 36 is 036 whose zero was lost, 36*** is not
            areas.append(match[1] if match[2].strip(" -") else match[1].zfill(3))
        elif (ends := hipaa_patterns.CODES.match(part)) and (
            between := _areas(int(ends[1]), int(ends[2]), closed=ends[3] == "]")
        ):
            areas += between
        else:
            return True
    return bool(areas) and all(area in SMALL_AREAS for area in areas)


def _areas(low: int, high: int, *, closed: bool) -> list[str]:
    """The three-digit areas that an interval of codes is made of; none if it is not made of whole ones."""
    high += closed
    if max(low, high) > 1000:
        if low % 100 or high % 100:
            return []
        low, high = low // 100, high // 100
    return [f"{area:03d}" for area in range(low, high)]


def broken(
    column: Column,
    n: IntArray,
    *,
    house: bool = False,
    ignore: bool = False,
    age: bool = False,
    postal: bool = False,
    date: bool = False,
    year: int = 0,
) -> tuple[str, ...]:
    """The rules that a released column breaks; `n` are the rows of each value.

    `house` says that the owner's roles keep it in the house, `ignore` that the owner answers for it otherwise; `age`, `postal` and
    `date` what it is whatever it is named; `year` is the one that ages refer to, 0 for unknown.
    """
    if not _says(column).any():
        return ()
    if ignore:
        return ("identifiers",) if house else ()
    breaks = {
        "identifiers": house or is_direct(column, n),
        "places": is_place(column, n),
        "postal codes": (postal or is_postal(column, n)) and bool(fine_codes(column).any()),
        "dates": bool(fine_dates(column, n, date=date).any()),
        "ages": more_than_one(*old_ages(column)) if age or is_age(column.name) else ages_within(column),
        "birth years": bool(year) and is_birth(column.name) and more_than_one(*old_births(column, year)),
    }
    return tuple(rule for rule, hit in breaks.items() if hit)


def latest_year(columns: Mapping[str, tuple[Column, IntArray]], date: Collection[str] = ()) -> int:
    """The latest year in the columns of dates, births among them; 0 if there is none.

    It is the year that ages are taken to refer to: no table is older than what happened in it, and a later year calls more people old.
    """
    dated = [
        column
        for name, (column, n) in columns.items()
        if name in date or is_date(name) or is_birth(name) or fine_dates(column, n).any()
    ]
    return max((year for column in dated for year in years_of(column)), default=0)


def years_of(column: Column) -> list[int]:
    """Every year that stands in a value."""
    return [year for text in texts(column) for year in years(text)]


# --- counting ----------------------------------------------------------------------------------------------------------------


def _spelled(column: Column) -> pa.Array:
    return column.values if pa.types.is_string(column.values.type) else strings(column.texts[: len(column.values)])


def _share(column: Column, n: IntArray, hit: Mask) -> float:
    """Of the rows that say something, the share whose value is hit."""
    if not hit.any():
        return 0.0
    said, rows = _says(column), n[: len(hit)]
    return float(rows[hit & said].sum() / max(rows[said].sum(), 1))


def _says(column: Column) -> Mask:
    """Which values say something: those that are not `*`."""
    if not pa.types.is_string(column.values.type):
        return np.ones(len(column.values), dtype=bool)
    return matches(column.values, r"[^*]")


def _mostly(column: Column, n: IntArray, pattern: str) -> bool:
    return column.numbers is None and _share(column, n, matches(_spelled(column), pattern)) >= HALF
