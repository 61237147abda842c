"""Numbers in sentences, rounded so that the sentence stays true: a bound away from the claim, a share never to none or all."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal

from .noun import dataclass

LEAST = Decimal("1e-9")
"""What is smaller is not spelled out."""
FEWEST = Decimal("1e-4")
"""The same of per cent: one in a million."""
_FINEST = 12
"""Digits beyond this are the noise of floating point, as in `metric.TOLERANCE`."""


def up(x: float, digits: int = 3, *, short_of: float | None = None) -> str:
    """For "at most": never below x, and not up to `short_of` where x is below it, which would say nothing.

    Extremes: 0 is 0; 1/14 is 0.0715, not 0.0714, which it exceeds; 0.99996 short of 1 takes the digits that it needs.
    """
    return _spell(_away(_decimal(x), digits, ROUND_CEILING, short_of)) if math.isfinite(x) else "infinity"


def down(x: float, digits: int = 3, *, beyond: float | None = None) -> str:
    """For "at least": never above x, and not down to `beyond` where x is above it, which would say nothing."""
    return _spell(_away(_decimal(x), digits, ROUND_FLOOR, beyond)) if math.isfinite(x) else "infinity"


def about(x: float, digits: int = 3, *, apart: float | None = None) -> str:
    """What was measured, to the nearest; where it is not `apart` itself it does not read like it.

    For numbers from 0 on: one that is hardly there is less than something, never 0.
    """
    if not math.isfinite(x):
        return "infinity"
    exact = _decimal(x)
    if 0 < exact < LEAST:
        return f"less than {_spell(LEAST)}"
    if apart is not None and exact == _decimal(apart) and x != apart:
        return f"just {'above' if x > apart else 'below'} {_spell(exact)}"
    return _spell(_away(exact, digits, ROUND_HALF_EVEN, apart))


def percent(share: float, digits: int = 3) -> str:
    """A share that was measured, of a hundred: 100% is all of it and 0% none, and nothing else reads so."""
    if not math.isfinite(share):
        return "infinity%"
    exact = 100 * _decimal(share)
    if 0 < exact < FEWEST:
        return f"less than {_spell(FEWEST)}%"
    near = _round(exact, digits, ROUND_HALF_EVEN)
    if share < 1 and near >= 100:
        return f"more than {_spell(_round(Decimal(100) - FEWEST, digits, ROUND_FLOOR))}%"
    return f"{_spell(near)}%"


def percent_up(share: float, digits: int = 3) -> str:
    """For "at most", of a hundred; 100% only where it is, or is but for rounding."""
    return _spell(_away(100 * _decimal(share), digits, ROUND_CEILING, 100)) + "%"


def bits(x: float) -> str:
    """So many bits."""
    text = about(x)
    return "1 bit" if text == "1" else f"{text} bits"


def whole(x: float) -> int:
    """A count, of which there are at least so many: just below a whole number for rounding is that number."""
    return math.floor(x + 1e-9) if x < 2**53 else int(min(x, 2**63 - 1))


def counted(n: int, one: str, more: str | None = None) -> str:
    """So many of something: 1 row, 2 rows."""
    return f"{n:,} {one if n == 1 else more or one + 's'}"


@dataclass(frozen=True)
class Wording:
    """The sentence of a card: one for the end of the scale, else one with the number in the place of {}."""

    at_end: str
    otherwise: str
    number: Callable[[float], str]
    end: float
    upper: bool

    def __call__(self, value: float) -> str:
        """The sentence for a value, true for every one on the scale."""
        if value >= self.end if self.upper else value <= self.end:
            return self.at_end
        text = self.otherwise.replace("{}", self.number(value))
        return text[:1].upper() + text[1:]


def from_zero(none: str, some: str, number: Callable[[float], str] = percent) -> Wording:
    """Of a number from 0 on, where 0 says something of its own."""
    return Wording(none, some, number, end=0, upper=False)


def from_one(least: str, more: str, number: Callable[[float], str]) -> Wording:
    """The same of a number from 1 on."""
    return Wording(least, more, number, end=1, upper=False)


def below_one(certain: str, less: str, number: Callable[[float], str]) -> Wording:
    """Of a probability, where 1 says something of its own."""
    return Wording(certain, less, number, end=1, upper=True)


def _decimal(x: float) -> Decimal:
    return Decimal(f"{x:.{_FINEST - 1}e}")


def _round(x: Decimal, digits: int, how: str) -> Decimal:
    return x.quantize(Decimal((0, (1,), x.adjusted() - digits + 1)), rounding=how) if x else x


def _away(x: Decimal, digits: int, how: str, limit: float | None) -> Decimal:
    """Rounded to so many digits, or to as many more as keep it on its side of the limit."""
    if how == ROUND_CEILING and 0 < x < LEAST:
        return LEAST
    rounded = _round(x, digits, how)
    if limit is not None:
        edge = _decimal(limit)
        while digits < _FINEST and (x < edge <= rounded or x > edge >= rounded):
            digits += 1
            rounded = _round(x, digits, how)
    return rounded


def _spell(x: Decimal) -> str:
    """Without an exponent, unless it is out of all proportion."""
    if x and not LEAST <= abs(x) < Decimal("1e15"):
        return f"{x.normalize():e}"
    return f"{x.normalize():,f}"
