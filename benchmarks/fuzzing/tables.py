"""Random columns: every kind of value an owner may have, and how a file spells it."""

from __future__ import annotations

import datetime
import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

KINDS = ("integer", "decimal", "money", "date", "category", "code", "text", "constant")
_LABELS = ("flu", "cold", "asthma", "HIV", "none", "diabetes", "Grippe", "ulcer", "gastritis", "cancer")
_NASTY = (
    '=1+1', '@cmd', '+49 89', '-5 C', 'said "no"', "O'Neil", "a,b", "a;b", "line\nbreak", "tab\there", "car\rriage", "crlf\r\nx", "nul\x00l", "\ufeffbom", "\\N", "\x1b[31m", "'", '"', '""', ",", "\n", "  ", "+1", "1.", ".5", "1,5", "1e400", "-", "0x1F", "１２", "$5", "5%", "12:30", "2020-02-30", "1/2", "naïve", "😀", "007", "00", " lead", "trail ",
    "NA", "NULL", "null", "nan", "None", "*", "**", "{a, b}", "[1,2)", "[1,2]", "<5", ">=7", "1-2", "2020s", "2020", "1e5", "-0.0", "0", "1", "true",
    "inf", "-inf", "a\\b", "%s", "{}", "<b>x</b>", "𝔘", "é", "é", "x" * 60, "12*", "?", "-", "A|B", "a=b", "#", "--", "\u200b", "٣", "ﬁ",
)  # fmt: skip
MARK = "zq"
"""Every planted text begins so, and every planted number with NUMBER_MARK: no sentence of the product has a reason to."""
NUMBER_MARK = "98765"


@dataclass(frozen=True, kw_only=True)
class Field:
    """A column: its kind, what each cell means (None: missing) and how the file spells it."""

    name: str
    kind: str
    meant: tuple[Any, ...]
    spelled: tuple[str, ...]

    @property
    def numeric(self) -> bool:
        return self.kind in ("integer", "decimal", "money")


def marker(rng: random.Random) -> str:
    """A text that occurs nowhere else."""
    return f"{MARK}{rng.getrandbits(32):08x}"


def number_marker(rng: random.Random) -> int:
    """A number that occurs nowhere else."""
    return int(NUMBER_MARK) * 10_000 + rng.randrange(10_000)


def _draw(rng: random.Random, pool: list[Any], rows: int) -> list[Any]:
    """From a pool, evenly or with a few frequent values."""
    if rng.random() < 0.5:
        return rng.choices(pool, k=rows)
    return rng.choices(pool, weights=[1 / (i + 1) for i in range(len(pool))], k=rows)


def _integers(rng: random.Random, rows: int) -> tuple[list[Any], Callable[[Any], str]]:
    low, high = rng.choice([(0, 99), (17, 90), (0, 5), (-20, 20), (1950, 2010), (0, 100_000), (10**15, 10**17)])
    pool = [rng.randint(low, high) for _ in range(rng.choice([2, 5, 12, 40, 200]))]
    values = _draw(rng, pool, rows)
    if rng.random() < 0.25 and rows:
        values[rng.randrange(rows)] = number_marker(rng)
    return values, str


def _decimals(rng: random.Random, rows: int) -> tuple[list[Any], Callable[[Any], str]]:
    digits = rng.choice([1, 1, 2, 3])
    pool = [Decimal(rng.randint(-500, 9_999)).scaleb(-digits) for _ in range(rng.choice([3, 8, 30, 300]))]
    values = _draw(rng, pool, rows)
    if rng.random() < 0.15 and rows:
        odd = rng.choice(
            ["-0.0", "1e16", "1E-7", "1e300", "0.1", "0.30000000000000004", "5e-324", "123456789012345678"]
        )
        values[rng.randrange(rows)] = Decimal(odd)
        return values, lambda value: odd if value == Decimal(odd) and rng.random() < 0.9 else str(value)
    return values, str


def _money(rng: random.Random, rows: int) -> tuple[list[Any], Callable[[Any], str]]:
    pool = [Decimal(rng.randint(0, 9_999_999)).scaleb(-2) for _ in range(rng.choice([6, 30, 500]))]
    values = _draw(rng, pool, rows)
    if rng.random() < 0.2 and rows:
        values[rng.randrange(rows)] = Decimal(number_marker(rng)).scaleb(-2)
    german = str.maketrans(",.", ".,")
    style = rng.choice(
        [
            lambda v: f"{v:.2f}",
            lambda v: f"{v:,.2f}",
            lambda v: f"{v:,.2f}".translate(german),
            lambda v: f"{v:.2f}".replace(".", ","),
        ]
    )
    return values, style


def _dates(rng: random.Random, rows: int) -> tuple[list[Any], Callable[[Any], str]]:
    first = datetime.date(rng.choice([1797, 1890, 1930, 1990, 2015]), 1, 1).toordinal()
    pool = [
        datetime.date.fromordinal(first + rng.randrange(rng.choice([40, 4_000, 20_000])))
        for _ in range(rng.choice([3, 20, 200]))
    ]
    form = rng.choice(["%Y-%m-%d", "%Y-%m-%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y"])
    return (
        _draw(rng, pool, rows),
        lambda day: (
            form.replace("%Y", f"{day.year:04d}").replace("%m", f"{day.month:02d}").replace("%d", f"{day.day:02d}")
        ),
    )


def _categories(rng: random.Random, rows: int) -> tuple[list[Any], Callable[[Any], str]]:
    pool = rng.sample(_LABELS, rng.randint(2, 8))
    values = _draw(rng, pool, rows)
    if rng.random() < 0.3 and rows:
        values[rng.randrange(rows)] = marker(rng)
    return values, str


def _codes(rng: random.Random, rows: int) -> tuple[list[Any], Callable[[Any], str]]:
    length = rng.choice([3, 5])
    if rng.random() < 0.7:
        pool = [f"{rng.randrange(10 ** rng.choice([2, length])):0{length}d}" for _ in range(rng.choice([4, 20, 150]))]
    else:
        pool = [
            f"{rng.choice('ABC')}{rng.randrange(100):02d}{rng.choice(['', 'x', '-1'])}"
            for _ in range(rng.choice([4, 20]))
        ]
    return _draw(rng, pool, rows), str


def _texts(rng: random.Random, rows: int) -> tuple[list[Any], Callable[[Any], str]]:
    values = _draw(rng, rng.sample(_NASTY, rng.randint(2, 12)), rows)
    if rng.random() < 0.5 and rows:
        values[rng.randrange(rows)] = marker(rng)
    return values, str


def _constant(rng: random.Random, rows: int) -> tuple[list[Any], Callable[[Any], str]]:
    return [rng.choice([7, "same", "0", "x y"])] * rows, str


_MAKE = {
    "integer": _integers, "decimal": _decimals, "money": _money, "date": _dates,
    "category": _categories, "code": _codes, "text": _texts, "constant": _constant,
}  # fmt: skip


def column(rng: random.Random, name: str, kind: str, rows: int, *, missing: str = "") -> Field:
    """A random column of a kind; some cells are missing, spelled as `missing`."""
    values, spell = _MAKE[kind](rng, rows)
    share = rng.choice([0, 0, 0, 0.05, 0.3, 1.0 if rng.random() < 0.05 else 0])
    meant = [None if rng.random() < share else value for value in values]
    spelled = [missing if value is None else spell(value) for value in meant]
    if kind == "date" and rows and rng.random() < 0.05:
        at = rng.randrange(rows)  # a day that no calendar has
        meant[at] = spelled[at] = "29.02.1981"
    meant = [None if text in ("", missing) else value for value, text in zip(meant, spelled, strict=True)]
    return Field(name=name, kind=kind, meant=tuple(meant), spelled=tuple(spelled))


def identifier(rng: random.Random, name: str, rows: int) -> Field:
    """A name or number that is one row's own."""
    values = [marker(rng) if rng.random() < 0.7 else str(number_marker(rng)) for _ in range(rows)]
    return Field(name=name, kind="identifier", meant=tuple(values), spelled=tuple(values))


def person(rng: random.Random, name: str, rows: int) -> Field:
    """Whose each row is: several rows of some people, or one of each."""
    people = [
        marker(rng)
        for _ in range(max(1, rows if rng.random() < 0.3 else math.ceil(rows * rng.choice([0.3, 0.6, 0.9]))))
    ]
    values = people[:rows] if len(people) >= rows else [*people, *rng.choices(people, k=rows - len(people))]
    rng.shuffle(values)
    return Field(name=name, kind="person", meant=tuple(values), spelled=tuple(values))


def typed(field: Field) -> list[Any]:
    """The cells as a typed file holds them."""
    if (
        field.numeric
        and all(isinstance(v, int) or v is None for v in field.meant)
        and all(abs(v or 0) < 2**62 for v in field.meant)
    ):
        return list(field.meant)
    if field.numeric:
        return [None if v is None else float(v) for v in field.meant]
    if field.kind == "date" and all(isinstance(v, datetime.date) or v is None for v in field.meant):
        return list(field.meant)
    return [None if v is None else str(v) for v in field.meant]
