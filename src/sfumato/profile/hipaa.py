"""Which of HIPAA's rules on identifiers a column breaks (45 CFR 164.514(b)(2)(i)), judged from its name and its distinct values.

How the rules are read here (HHS, Guidance Regarding Methods for De-identification of Protected Health Information, 2012):

    identifiers    the name is one of those that name, number or reach people; or some value holds an e-mail or web address or
                   a social security number; or at least half of the rows have telephone numbers, IBANs, IP or MAC addresses,
                   vehicle or card numbers, UUIDs
    places         the name says a unit smaller than a state (city, county, precinct, ...), and not all values are states
    postal codes   more than three digits, or three that are those of one of the 17 areas of 20,000 people or fewer
    dates          something finer than a year: a day, month, quarter, week or time; intervals of whole years are years
    ages           a label wholly above 89, but for one that begins at 90 and has no end, or one of at least 120
    birth years    where the year is given that ages refer to: a label wholly of people who are 90 in it, but for one that
                   holds all of them

Missing values, and `*`, break nothing. Values are looked at one by one and never told.
"""

from __future__ import annotations

import math
import re

import numpy as np
import pyarrow as pa

from ..core.arrow import strings
from ..core.column import Column, FloatArray, IntArray
from ..core.cover import read_set
from ..core.hierarchy import TOP
from . import words
from .kinds import DIRECT, Mask, matches


def _set(text: str, by: str | None = None) -> frozenset[str]:
    return frozenset(part.strip() for part in text.split(by))


SMALL_AREAS = _set("036 059 063 102 203 556 692 790 821 823 830 831 878 879 884 890 893")
"""Three-digit ZIP code areas of 20,000 people or fewer by the census of 2000, as HHS lists them."""
OLDEST = 120
"""An interval of ages that reaches so far has no end that tells anything."""
HALF = 0.5
"""The share of the rows with a value from which on a shape that may also be something else is taken for what it looks like."""

_PLACES = _set("""city town hometown village hamlet municipality borough parish county district precinct neighborhood neighbourhood
    suburb tract blockgroup fips geocode geoid latitude longitude lat lon lng gps coordinates wohnort stadt gemeinde landkreis
    kreis ville commune departement ciudad municipio citta comune cidade concelho gemeente plaats 城市""")  # fmt: skip
_STATES = _set("""al ak az ar ca co ct de fl ga hi id il in ia ks ky la me md ma mi mn ms mo mt ne nv nh nj nm ny nc nd oh ok or pa
    ri sc sd tn tx ut vt va wa wv wi wy dc pr gu vi as mp us usa""") | _set("""alabama,alaska,arizona,arkansas,california,
    colorado,connecticut,delaware,florida,georgia,hawaii,idaho,illinois,indiana,iowa,kansas,kentucky,louisiana,maine,maryland,
    massachusetts,michigan,minnesota,mississippi,missouri,montana,nebraska,nevada,new hampshire,new jersey,new mexico,new york,
    north carolina,north dakota,ohio,oklahoma,oregon,pennsylvania,rhode island,south carolina,south dakota,tennessee,texas,utah,
    vermont,virginia,washington,west virginia,wisconsin,wyoming,district of columbia,puerto rico,guam,american samoa,
    united states""", ",")  # fmt: skip
_UNITS = _set("month months mo weeks week wk days day hours")
_PARTS = _set("month day weekday dow quarter week monat tag mois jour mes dia mese giorno maand dag")

_ANYWHERE = (
    r"[^@\s]+@[^@\s]+\.[A-Za-z]{2,}",
    r"(?i)\b(https?://|www\.)\S+",
    r"(^|[^0-9-])[0-9]{3}-[0-9]{2}-[0-9]{4}($|[^0-9-])",
)
_MOSTLY = (
    *(pattern for what, pattern in DIRECT.items() if what != "phone numbers"),
    # as elsewhere, but 00 must be followed by a country: drug codes such as 0002-1433-80 are no telephone numbers
    r"^(\+|00[1-9])[0-9 ()./-]{6,18}[0-9]$|^\(?0?[0-9]{2,4}\)?[ ./-][0-9]{3,4}[ ./-][0-9]{3,4}([ .-][0-9]{2,4})?$",
    r"(?i)^([0-9a-f]{2}[:-]){5}[0-9a-f]{2}$",
    r"^[0-9]{4}[ -][0-9]{4}[ -][0-9]{4}[ -][0-9]{4}$",
    r"^[A-HJ-NPR-Z0-9]{9}[0-9X][A-HJ-NPR-Z0-9]{3}[0-9]{4}$",
)
_ANY_SHAPE = "|".join(f"(?:{pattern})" for pattern in (*_ANYWHERE, *_MOSTLY))
_Y = r"(?:1[6-9]|20|21)[0-9]{2}"
_M, _D = r"(?:0[1-9]|1[0-2])", r"(?:0[1-9]|[12][0-9]|3[01])"
_LOOSE = r"(?:0?[1-9]|[12][0-9]|3[01])"
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?"
    r"|dec(?:ember)?)"
)
_WEEKDAY = r"(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?"
_SURE = (
    rf"(?:^|[^0-9A-Za-z.-]){_Y}-{_M}-{_D}(?:$|[^0-9])"
    rf"|(?:^|[^0-9./-]){_LOOSE}[./-]{_LOOSE}[./-]{_Y}(?:$|[^0-9])"
    rf"|(?:^|[^0-9./-]){_Y}[./]{_LOOSE}[./]{_LOOSE}(?:$|[^0-9])"
    rf"|(?i)\b{_MONTH}[ .,/-]+(?:[0-9]{{1,2}}(?:st|nd|rd|th)?[ .,/-]+)?{_Y}\b"
)
"""Dates, or texts with one in them, that can hardly be anything else."""
_PERHAPS = (
    rf"(?:^|[^0-9-]){_Y}-{_M}(?:$|[^0-9-])"
    rf"|(?:^|[^0-9A-Za-z]){_Y}[- ]?[QqWw][0-9]{{1,2}}\b|\b[Qq][1-4][ /-]{_Y}\b"
    rf"|(?:^|[^0-9/.]){_M}[/.]{_Y}(?:$|[^0-9])"
    rf"|^{_LOOSE}[./-]{_LOOSE}[./-][0-9]{{2}}(?: .*)?$"
    rf"|^{_Y}{_M}{_D}$"
    r"|^[0-9]{1,2}:[0-9]{2}(?::[0-9.]+)?(?: ?[AaPp][Mm])?$"
    rf"|(?i)^(?:{_WEEKDAY}|{_MONTH})$"
)
"""What may be a part of a date, and may be something else."""
_WHOLE_YEARS = (
    r"^\[\s*[0-9]{4}-01-01\s*,\s*[0-9]{4}-(?:01-01\s*[)\[]|12-31\s*\])$"
    r"|^(?:<|>=|≥)\s*[0-9]{4}-01-01$|^(?:<=|>|≤)\s*[0-9]{4}-12-31$"
)
_LETTERS = re.compile(r"[^\W\d_]+")
_IN_DATES = re.compile(rf"(?i){_MONTH}|{_WEEKDAY}|[tzqws]|am|pm|utc|gmt|st|nd|rd|th")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_MASKED = re.compile(r"^(\d+)(\*+)$")
_OPEN = re.compile(r"(?i)^\D*[>≥]|\+\s*\D*$|\b(?:over|older|above|more|plus|(?:and|or) up)\b|\binf\b")
_BELOW = re.compile(r"(?i)^\s*[<≤]|\b(?:under|below|younger|less|up to|at most)\b")
_BEYOND = re.compile(r"(?i)^\s*(?:[(\]]|>\s*\d|(?:over|older than|above|more than)\b)")
_FOUR = re.compile(rf"(?<!\d)({_Y})(s?)(?!\d)")
_CODE = re.compile(r"^(\d{1,3})([*_xX -]*)$")
_CODES = re.compile(r"^[\[(]\s*(\d{1,5})\s*,\s*(\d{1,5})\s*([\])\[])$")


# --- which column is what ------------------------------------------------------------------------------------------------


def _key(name: str) -> str:
    concept = words.concept(name)
    return concept.key if concept is not None else ""


def is_age(name: str) -> bool:
    """Whether a column is named after ages, in years."""
    return _key(name) == "age" and not set(words.tokens(name)) & _UNITS


def is_postal(column: Column, n: IntArray) -> bool:
    """Whether a column is named after postal codes, or mostly holds ZIP codes of nine digits."""
    return _key(column.name) == "postal" or _mostly(column, n, r"^[0-9]{5}-[0-9]{4}$")


def is_birth(name: str) -> bool:
    """Whether a column is named after births."""
    return _key(name) == "birth"


def is_date(name: str) -> bool:
    """Whether a column is named after when something happened."""
    return _key(name) in ("birth", "event")


def is_place(column: Column) -> bool:
    """Whether a column is named after units smaller than a state, and holds something else than states."""
    named = bool(set(words.tokens(column.name)) & _PLACES)
    return named and any(text.casefold().strip() not in _STATES for text in texts(column))


def is_direct(column: Column, n: IntArray) -> bool:
    """Whether a column names, numbers or reaches people, by its name or its values."""
    if not _says(column).any():
        return False
    concept = words.concept(column.name)
    if concept is not None and concept.role == "identifiers":
        return True
    if column.numbers is not None:
        return False
    values = _spelled(column)
    if not matches(values, _ANY_SHAPE).any():  # one look instead of a dozen: nearly every column ends here
        return False
    return any(matches(values, pattern).any() for pattern in _ANYWHERE) or any(
        _mostly(column, n, pattern) for pattern in _MOSTLY
    )


# --- which of its values break a rule --------------------------------------------------------------------------------------


def texts(column: Column) -> list[str]:
    """Its values that say something: neither missing nor `*`."""
    return [text for text in column.texts if text is not None and set(text) != {TOP}]


def fine_dates(column: Column, n: IntArray, *, named: bool) -> Mask:
    """Which values tell more of a date than its year; `named` says that the column is one of dates.

    What may also be something else (2010-11, 10:30, 12.05.60) is a date in a column of dates, or where half of the rows are such.
    """
    kind, count = column.values.type, len(column.values)
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind) or pa.types.is_time(kind):
        return np.ones(count, dtype=bool)
    if column.numbers is not None:
        return _fine_numbers(column, n, column.numbers[:count], named=named)
    values = _spelled(column)
    years = matches(values, _WHOLE_YEARS)
    sure, perhaps = matches(values, _SURE) & ~years, matches(values, _PERHAPS) & ~years
    return sure | perhaps if named or _share(column, n, sure | perhaps) >= HALF else sure


def _fine_numbers(column: Column, n: IntArray, x: FloatArray, *, named: bool) -> Mask:
    """Numbers that are dates: 20200304, and those of months, weeks or days in a column that is named so."""
    tokens = words.tokens(column.name)
    whole = x == np.floor(x)
    if is_date(column.name) and {tokens[0], tokens[-1]} & _PARTS and bool((whole & (x >= 1) & (x <= 53)).all()):
        return np.ones(len(x), dtype=bool)
    month, day = x // 100 % 100, x % 100
    dates: Mask = whole & (x > 1600_00_00) & (x < 2200_00_00) & (month >= 1) & (month <= 12) & (day >= 1) & (day <= 31)
    return dates if named or _share(column, n, dates) >= HALF else np.zeros(len(x), dtype=bool)


def old_ages(column: Column) -> tuple[Mask, Mask]:
    """Which labels are wholly above 89, and which of these hold every such age."""
    if column.numbers is not None:
        over = column.numbers[: len(column.values)] >= 90
        return over, np.zeros(len(over), dtype=bool)
    return _both([_age(text or "") for text in column.texts[: len(column.values)]])


def _age(text: str) -> tuple[bool, bool]:
    """Whether a label is wholly above 89, and whether it holds every such age."""
    if masked := _MASKED.match(text):
        low, high = (float(masked[1] + digit * len(masked[2])) for digit in "09")
        return low >= 90, False
    found = [float(x) for x in _NUMBER.findall(text)]
    if not found or _BELOW.search(text):
        return False, False
    low, beyond = min(found), bool(_BEYOND.search(text))
    high = math.inf if _OPEN.search(text) else max(found)
    over = low >= 90 or (beyond and low >= 89)
    return over, over and ((low == 90 and not beyond) or 89 <= low < 90) and high >= OLDEST


def old_births(column: Column, year: int) -> tuple[Mask, Mask]:
    """Which labels are wholly of people born so long ago that they are 90 in `year`, and which of these hold them all."""
    return _both([_born(text or "", year - 90) for text in column.texts[: len(column.values)]])


def _born(text: str, last: int) -> tuple[bool, bool]:
    found, sign = years(text), text.lstrip()[:2]
    if not found or sign[:1] in (">", "≥"):
        return False, False
    below = sign[:1] == "<" and sign != "<="
    latest = max(found) - below  # <1937 and <1937-01-01 are up to 1936
    return latest <= last, latest == last and (below or sign == "<=" or sign[:1] == "≤")


def only_dates(text: str) -> bool:
    """Whether a label holds no words beside dates."""
    return all(_IN_DATES.fullmatch(word) for word in _LETTERS.findall(text))


def years(text: str) -> list[int]:
    """The years that a label names; of a decade its first and last."""
    if re.fullmatch(rf"{_Y}{_M}{_D}", text):
        return [int(text[:4])]
    return [
        year for four, decade in _FOUR.findall(text) for year in ([int(four), int(four) + 9] if decade else [int(four)])
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
        elif found := _CODE.match(part):
            # 36 is 036 whose zero was lost, 36*** is not
            areas.append(found[1] if found[2].strip(" -") else found[1].zfill(3))
        elif (ends := _CODES.match(part)) and (between := _areas(int(ends[1]), int(ends[2]), closed=ends[3] == "]")):
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
    age: bool = False,
    postal: bool = False,
    date: bool = False,
    year: int = 0,
) -> tuple[str, ...]:
    """The rules that a released column breaks; `n` are the rows of each value.

    `house` says that the owner's roles keep it in the house; `age`, `postal` and `date` what it is whatever it is named; `year` is
    the one that ages refer to, 0 for unknown.
    """
    if not _says(column).any():
        return ()
    found = {
        "identifiers": house or is_direct(column, n),
        "places": is_place(column),
        "postal codes": (postal or is_postal(column, n)) and bool(fine_codes(column).any()),
        "dates": bool(fine_dates(column, n, named=date or is_date(column.name)).any()),
        "ages": (age or is_age(column.name)) and more_than_one(*old_ages(column)),
        "birth years": bool(year) and is_birth(column.name) and more_than_one(*old_births(column, year)),
    }
    return tuple(rule for rule, hit in found.items() if hit)


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
