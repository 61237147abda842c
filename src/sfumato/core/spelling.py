"""How dates and numbers are spelled elsewhere, and what they are here: 1980-12-31 and 1234.56.

    31.12.1980               the day first, always
    31/12/1980  12/31/1980   the day or the month first, as all values together settle it (also with hyphens)
    1.234,56  1 234,56       a decimal comma, with or without a point or a space between thousands
    1,234.56                 a comma between thousands
    1.234,50 €  CHF 12.50    an amount, with the sign or the code of its currency on either side

A column is read so only where every value fits one of these, and only one; missing values, `*`, NA and NULL aside. What fits two is
left as it stands, and so is a date with a year of two digits, and a code with leading zeros. `1.234` alone is a plain number, but
`1.234 €` may be either. Amounts are numbers only where every value names the same currency.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Sequence

from .noun import dataclass

MISSING_WORDS = "|".join(
    (
        r"\?+|-+|\.+|#?n/?\.?\s?a\.?|nan|nil|null|none|#null!|unknown|unk|missing|not (?:available|known|stated|recorded|specified|done|measured)",
        r"no (?:answer|data|response|opinion)|dk|d/k|don['’]?t know|refus(?:ed|al)|prefer not to (?:say|answer)|not applicable|blank|\(blank\)",
        r"k\.?\s?a\.?|o\.\s?a\.|n\.\s?[bdeg]\.|keine?\s(?:angaben?|werte?|daten)|ohne\sangabe|unbekannt|nicht\s(?:bekannt|erfasst|angegeben|bestimmt|erhoben)",
        r"nicht\s(?:gemessen|durchgeführt|zutreffend|verfügbar)|weiß\snicht|verweigert|trifft\snicht\szu|entfällt|fehlt|\(leer\)|ne\ssait\spas|no\ssabe",
        r"no\scontesta|ns/nc|inconnue?|non\srenseignée?|desconocid[oa]|sin\sdato|s/d|sconosciut[oa]|desconhecid[oa]|onbekend",
    )
)
"""Words that people write where a value is missing, in whatever case: they keep a column of numbers from being one no more than nothing does."""
MARKS = rf"\*+|NA|NULL|(?i:{MISSING_WORDS})|"
"""What may stand among the values of any column; the last is nothing at all."""
DAY = {sign: rf"[0-9]{{1,2}}{re.escape(sign)}[0-9]{{1,2}}{re.escape(sign)}[1-9][0-9]{{3}}" for sign in "./-"}
"""Two numbers and a year, and the sign between them."""
_PART = "(?:0?[1-9]|[12][0-9]|3[01])"
SHORT = "|".join(rf"{_PART}{re.escape(sign)}{_PART}{re.escape(sign)}[0-9]{{2}}" for sign in "./-")
GROUPS = ". \u00a0\u202f"
"""What stands between thousands where the comma is decimal: a point or a space, as wide as it may be."""
_NUMBER = "[+-]?(?:0|[1-9][0-9]*|[1-9][0-9]{{0,2}}(?:[{groups}][0-9]{{3}})+)(?:[{point}][0-9]+)?"
COMMA, POINT = _NUMBER.format(groups=GROUPS, point=","), _NUMBER.format(groups=",", point=".")
_CURRENCIES = {
    **{
        sign: sign
        for sign in ["€", "£", "$", "¥", "₹", "₽", "₺", "₩", "₪", "₫", "₴", "₱", "₦", "₡", "₵", "₸", "฿", "kr"]
    },
    **dict.fromkeys(("EUR", "Eur", "eur", "Euro", "EURO", "euro"), "€"),
    **dict.fromkeys(("CHF", "SFr.", "sFr.", "Fr."), "CHF"),
    **dict.fromkeys(("USD", "US$"), "USD"),
    "GBP": "£",
    "kr.": "kr",
    "zł": "PLN",
    "Kč": "CZK",
    "Ft": "HUF",
    "R$": "BRL",
    "A$": "AUD",
    "C$": "CAD",
    "руб.": "RUB",
    **{
        code: code
        for code in [
            "AED",
            "ARS",
            "AUD",
            "BGN",
            "BRL",
            "CAD",
            "CLP",
            "CNY",
            "COP",
            "CZK",
            "DKK",
            "EGP",
            "HKD",
            "HUF",
            "IDR",
            "ILS",
            "INR",
            "ISK",
            "JPY",
            "KES",
            "KRW",
            "KWD",
            "MAD",
            "MXN",
            "MYR",
            "NGN",
            "NOK",
            "NZD",
            "PEN",
            "PHP",
            "PLN",
            "QAR",
            "RON",
            "RSD",
            "RUB",
            "SAR",
            "SEK",
            "SGD",
            "THB",
            "TND",
            "TRY",
            "TWD",
            "UAH",
            "UYU",
            "VND",
            "ZAR",
        ]
    },
}
"""What names a currency beside an amount, and the currency; codes that are words besides (ALL, TOP, CUP) are none."""
CURRENCY = "|".join(re.escape(name) for name in sorted(_CURRENCIES, key=lambda name: (-len(name), name)))
_AMOUNT = "[+-]?(?:{currency})[ \u00a0\u202f]?{number}|(?:{currency})[ \u00a0\u202f]?[+-]{number}|[+-]?{number}[ \u00a0\u202f]?(?:{currency})"
_MONEY_GROUPS = {"comma": GROUPS, "point": ",'\u2019"}
"""What stands between thousands of an amount; in Switzerland that is an apostrophe."""
AMOUNTS = {
    name: _AMOUNT.format(
        currency=CURRENCY, number=_NUMBER.format(groups=_MONEY_GROUPS[name], point=point)[len("[+-]?") :]
    )
    for name, point in (("comma", ","), ("point", "."))
}
BLANKS = " \t\u00a0\u202f"
"""What is no part of a value at its ends."""
DATES = ("day-first", "month-first", "text")
DECIMALS = ("comma", "point", "text")


@dataclass(frozen=True)
class Way:
    """A spelling: what it is called; of dates the sign between the parts and which is first; of numbers whether the comma is decimal.

    `currency` is what every amount is in, where they are amounts.
    """

    name: str
    sign: str = ""
    first: str = ""
    comma: bool = False
    currency: str = ""

    def plain(self, text: str) -> str:
        """A value as it is spelled here; what is no value of this spelling stays."""
        if self.sign:
            day = _day(text, self.sign, self.first) if re.fullmatch(DAY[self.sign], text) else None
            return text if day is None else day.isoformat()
        if self.currency:
            name = "comma" if self.comma else "point"
            bare = re.sub(NOT_OF_NUMBERS[name], "", text) if re.fullmatch(AMOUNTS[name], text) else text
            return bare.replace(",", ".")
        if self.comma:
            return text.translate(_NO_GROUPS).replace(",", ".") if re.fullmatch(COMMA, text) else text
        return text.replace(",", "") if re.fullmatch(POINT, text) else text


_NO_GROUPS = str.maketrans("", "", GROUPS)
NOT_OF_NUMBERS = {"comma": f"{CURRENCY}|[^0-9,+-]", "point": f"{CURRENCY}|[^0-9.+-]"}
"""What an amount has beside its number, once it is known which sign is decimal."""
DECIMAL = Way("numbers with a decimal comma", comma=True)
THOUSANDS = Way("numbers with a comma between thousands")
_ORDERED = {
    (sign, first): Way(f"dates as {sign.join(('DD', 'MM') if first == 'day' else ('MM', 'DD'))}{sign}YYYY", sign, first)
    for sign in "./-"
    for first in ("day", "month")
    if sign != "." or first == "day"
}
DAY_FIRST = _ORDERED[".", "day"]


@dataclass(frozen=True)
class ColumnSpelling:
    """What a column was read as, if it was; what it might have been, if that is open; and what there is to say of it."""

    way: Way | None = None
    open: tuple[Way, ...] = ()
    said: str = ""


Evidence = dict[str, bool]
"""What holds of every value of a column that is looked at, and `some`: there is a value; `signs`: one has a comma.

    shape. day.  shape/ day/ month/ same/  shape- ...   three numbers; a day in that order; the same day in either order
    short  comma  point                                 a year of two digits; a number with a decimal comma, or point
    money  money comma  money point                     an amount in some currency; one with a decimal comma, or point

Of amounts there is besides, as of some value only, `in €` and the like: one is in this currency; `parted`: one has a comma or a point.
"""
_OF_A_DATE = ("shape", "day", "month", "same")
MONEY = {"money": "|".join(AMOUNTS.values()), "money comma": AMOUNTS["comma"], "money point": AMOUNTS["point"]}
KINDS = ("shape.", "shape/", "shape-", "short", "comma", "point", *MONEY)


def telling(decimal: str | None) -> str:
    """The signs without which a number is spelled the same either way; a point alone is decimal unless the owner says otherwise."""
    return "," + GROUPS if decimal == "comma" else ","


def look(texts: Iterable[str | None], *, decimal: str | None = None) -> Evidence:
    """The evidence of these values; of none, everything holds of all and nothing of some."""
    evidence = {f"{what}{sign}": True for sign in "./-" for what in _OF_A_DATE} | dict.fromkeys(KINDS[3:], True)
    evidence |= {"some": False, "signs": False, "parted": False}
    for text in dict.fromkeys(texts):
        if text is None or re.fullmatch(MARKS, text):
            continue
        evidence["some"] = True
        evidence["signs"] |= any(sign in text for sign in telling(decimal))
        for sign in "./-":
            if evidence[f"shape{sign}"]:
                fits = re.fullmatch(DAY[sign], text) is not None
                day, month = (_day(text, sign, first) if fits else None for first in ("day", "month"))
                held = (fits, day is not None, month is not None, day == month)
                evidence |= {
                    f"{what}{sign}": evidence[f"{what}{sign}"] and h for what, h in zip(_OF_A_DATE, held, strict=True)
                }
        for name, pattern in (("short", SHORT), ("comma", COMMA), ("point", POINT), *MONEY.items()):
            evidence[name] = evidence[name] and re.fullmatch(pattern, text) is not None
        if evidence["money"]:
            evidence |= in_currencies(re.findall(CURRENCY, text))
            evidence["parted"] |= re.search(PARTED, text) is not None
        if not hopeful(evidence):
            break
    return evidence


PARTED = "[.,][0-9]"
"""A comma or a point that may be decimal or stand between thousands; the point of Fr. is neither."""


def in_currencies(names: Iterable[str]) -> Evidence:
    """The evidence that one value is in each of these currencies, as they are written beside an amount."""
    return {f"in {_CURRENCIES[name]}": True for name in names if name}


def hopeful(evidence: Evidence) -> bool:
    """Whether a column may still be something else than text as it stands."""
    return any(evidence[name] for name in KINDS)


def decide(evidence: Evidence, *, dates: str | None = None, decimal: str | None = None) -> ColumnSpelling:
    """What the column is, from all of its values: the one spelling that fits, or none and why.

    What the values settle stands; `dates` and `decimal` settle what they leave open, and "text" leaves all as it is.
    """
    if not evidence["some"]:
        return ColumnSpelling()
    sign = next((sign for sign in "./-" if evidence[f"shape{sign}"]), None)
    if sign is not None and dates != "text":
        fit = tuple(way for (s, first), way in _ORDERED.items() if s == sign and evidence[f"{first}{sign}"])
        if not fit:
            return ColumnSpelling(
                said="looks like dates, but not every value is a day of the calendar: read as text; mend those that are none"
            )
        if len(fit) > 1 and not evidence[f"same{sign}"]:
            chosen = [way for way in fit if dates == f"{way.first}-first"]
            if not chosen:
                return ColumnSpelling(
                    open=fit,
                    said="looks like dates, and its values do not settle whether the day or the month comes first: read as text; "
                    "say it with --dates day-first or --dates month-first",
                )
            fit = tuple(chosen)
        return ColumnSpelling(
            fit[0], said=f"holds {fit[0].name}, read as YYYY-MM-DD; to leave them as they are: --dates text"
        )
    if evidence["short"] and dates != "text":
        return ColumnSpelling(
            said="looks like dates with years of two digits, which do not tell the century: read as text; write the years in full"
        )
    if decimal != "text" and evidence["money"]:
        return _amounts(evidence, decimal)
    if decimal == "text" or not evidence["signs"]:
        return ColumnSpelling()
    ways = {"comma": DECIMAL, "point": THOUSANDS}
    both = tuple(way for name, way in ways.items() if evidence[name])
    if not both:
        return ColumnSpelling()
    if len(both) > 1:
        if decimal is None:
            return ColumnSpelling(
                open=both,
                said="looks like numbers, and its values do not settle whether the comma is decimal or stands between thousands: left as "
                "they are; say it with --decimal comma or --decimal point",
            )
        both = (ways[decimal],)
    way = both[0]
    if decimal is not None and way is not ways[decimal]:
        return ColumnSpelling()  # a decimal comma is none, the owner says
    return ColumnSpelling(
        way,
        said=f"holds {way.name}, read with a point and without signs between thousands; to leave them as they are: --decimal text",
    )


def _amounts(evidence: Evidence, decimal: str | None) -> ColumnSpelling:
    """What a column of amounts is: numbers where all are in one currency, and what is decimal is settled as of other numbers."""
    currencies = sorted(name.removeprefix("in ") for name in evidence if name.startswith("in "))
    if len(currencies) > 1:
        named = ", ".join(currencies[:-1]) + f" and {currencies[-1]}"
        return ColumnSpelling(
            said=f"holds amounts in {named}: read as text, since one number would mean different sums; convert them to one currency"
        )
    (currency,) = currencies
    ways = {
        "comma": Way(f"amounts in {currency} with a decimal comma", comma=True, currency=currency),
        "point": Way(f"amounts in {currency}", currency=currency),
    }
    fit = {name: way for name, way in ways.items() if evidence[f"money {name}"]}
    if len(fit) > 1 and not evidence["parted"]:
        fit = {"point": ways["point"]}  # whole numbers without any sign between thousands are the same either way
    elif len(fit) > 1 and decimal is None:
        return ColumnSpelling(
            open=tuple(fit.values()),
            said=f"looks like amounts in {currency}, and its values do not settle whether the comma or the point is decimal or stands "
            "between thousands: read as text; say it with --decimal comma or --decimal point",
        )
    elif decimal is not None:
        fit = {name: way for name, way in fit.items() if name == decimal}
    if not fit:
        return ColumnSpelling()
    (way,) = fit.values()
    return ColumnSpelling(
        way,
        said=f"holds {way.name}, read as numbers with a point, without {currency} and without signs between thousands; to leave them as "
        "they are: --decimal text",
    )


def plain(texts: Sequence[str]) -> tuple[str, ...]:
    """A list of values by the same rule as a column; as it stands where they do not settle it."""
    way = decide(look(texts)).way
    return tuple(texts) if way is None else tuple(map(way.plain, texts))


def _day(text: str, sign: str, first: str) -> datetime.date | None:
    a, b, year = map(int, text.split(sign))
    try:
        return datetime.date(year, b, a) if first == "day" else datetime.date(year, a, b)
    except ValueError:
        return None
