"""Official numbers of people inside texts, recognised by their shape and their check digits.

A single number may pass a check by chance, so all that have the shape must, and so many that chance would let them pass once in a million.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from ..core.column import Column
from ..core.noun import dataclass
from .kinds import matches

BY_CHANCE = 1e-6
"""How unlikely it must be that numbers of no meaning pass."""
_ALL = 0.95
"""The share of them that must: a few may be typed wrongly."""
_LOOKED_AT = 1_000


@dataclass(frozen=True)
class PersonNumber:
    """A kind of number: its shape, its check, and how often a number of that shape passes by chance."""

    pattern: str
    checks: Callable[[str], bool]
    chance: float


def checks_mod_97(plain: str) -> bool:
    """Whether the number, letters from 10 on, leaves 1 when divided by 97 (ISO 7064)."""
    return int("".join(str(int(sign, 36)) for sign in plain)) % 97 == 1


def _weighted(digits: str, weights: tuple[int, ...]) -> int:
    return sum(int(digit) * weight for digit, weight in zip(digits, weights, strict=True))


def _luhn(digits: str) -> bool:
    """ISO/IEC 7812: every second digit from the right doubled, its digits added up."""
    doubled = (int(digit) * (1 + i % 2) for i, digit in enumerate(reversed(digits)))
    return sum(number // 10 + number % 10 for number in doubled) % 10 == 0


def _mod_11_10(digits: str) -> bool:
    """ISO 7064, MOD 11,10: German tax numbers, of which one digit occurs twice or three times."""
    product = 10
    for digit in digits[:-1]:
        product = 2 * ((int(digit) + product) % 10 or 10) % 11
    repeats = sorted(digits[:-1].count(digit) for digit in set(digits[:-1]))
    return (11 - product) % 10 == int(digits[-1]) and repeats[-1] in (2, 3) and repeats[:-1][-1:] == [1]


def _cpf(digits: str) -> bool:
    first = _weighted(digits[:9], tuple(range(10, 1, -1))) * 10 % 11 % 10
    second = _weighted(digits[:10], tuple(range(11, 1, -1))) * 10 % 11 % 10
    return len(set(digits)) > 1 and (first, second) == (int(digits[9]), int(digits[10]))


def _letter(plain: str) -> bool:
    """Spain: the letter is the number modulo 23; X, Y and Z stand for 0, 1 and 2."""
    number = plain[:-1].translate(str.maketrans("XYZ", "012"))
    return "TRWAGMYFPDXBNJZSQVHLCKE"[int(number) % 23] == plain[-1]


_KINDS = (
    PersonNumber(
        r"[0-9]{9}", lambda d: _weighted(d, (9, 8, 7, 6, 5, 4, 3, 2, -1)) % 11 == 0, 1 / 11
    ),  # BSN (Netherlands)
    PersonNumber(
        r"[0-9]{3} ?[0-9]{3} ?[0-9]{4}", lambda d: _weighted(d, (10, 9, 8, 7, 6, 5, 4, 3, 2, 1)) % 11 == 0, 1 / 11
    ),  # NHS (Britain)
    PersonNumber(r"[1-9][0-9]{10}", _mod_11_10, 1 / 20),  # tax number (Germany)
    PersonNumber(
        r"[0-9]{2}[0-3][0-9][01][0-9]{6}", lambda d: _weighted(d, (1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1)) % 10 == 0, 1 / 10
    ),  # PESEL (Poland)
    PersonNumber(r"[XYZ0-9][0-9]{7}-?[A-Z]", _letter, 1 / 23),  # DNI, NIE (Spain)
    PersonNumber(
        r"[12] ?[0-9]{2} ?(?:0[1-9]|1[0-2]) ?[0-9]{2} ?[0-9]{3} ?[0-9]{3} ?[0-9]{2}",
        lambda d: 97 - int(d[:13]) % 97 == int(d[13:]),
        1 / 97,
    ),  # NIR (France)
    PersonNumber(
        r"[0-9]{2}\.?[0-1][0-9]\.?[0-3][0-9]-?[0-9]{3}[.-]?[0-9]{2}",
        lambda d: int(d[9:]) in (97 - int(d[:9]) % 97, 97 - int("2" + d[:9]) % 97),
        2 / 97,
    ),  # national register (Belgium)
    PersonNumber(r"[0-9]{3}\.[0-9]{3}\.[0-9]{3}-[0-9]{2}", _cpf, 1e-6),  # CPF (Brazil), as it is printed
    PersonNumber(r"[0-9]{11}", _cpf, 1 / 100),
    PersonNumber(r"756\.[0-9]{4}\.[0-9]{4}\.[0-9]{2}", lambda _: True, 1e-6),  # AHV (Switzerland), as it is printed
    PersonNumber(r"756[0-9]{10}", lambda d: _weighted(d, (1, 3) * 6 + (1,)) % 10 == 0, 1 / 1000),
    PersonNumber(r"[0-9]{2}[01][0-9][0-3][0-9][-+][0-9]{4}", _luhn, 1 / 50),  # personnummer (Sweden)
    PersonNumber(
        r"[A-Z]{6}[0-9]{2}[A-EHLMPRST][0-7][0-9][A-Z][0-9]{3}[A-Z]", lambda _: True, 1e-6
    ),  # codice fiscale (Italy)
    PersonNumber(r"[0-9]{2} [0-3][0-9][01][0-9]{3} [A-Z] [0-9]{3}", lambda _: True, 1e-6),  # pension number (Germany)
    PersonNumber(r"[0-9]{2}[0-3][0-9][01][0-9]{3}[A-Z][0-9]{3}", lambda _: True, 1e-2),
    PersonNumber(r"[3-6][0-9]{3}(?:[ -][0-9]{4}){3}", _luhn, 1e-3),  # payment cards, as they are printed
    PersonNumber(r"[3-6][0-9]{15}", _luhn, 1 / 10),
)


def numbers_of_people(column: Column) -> tuple[str, int] | None:
    """What was found, and in how many of the distinct texts."""
    for kind in _KINDS:
        whole = rf"(?:^|[^0-9A-Za-z.-])({kind.pattern})(?:$|[^0-9A-Za-z-])"
        texts = [text for text, hit in zip(column.texts, matches(column.values, whole), strict=False) if hit and text]
        numbers = sorted({re.sub(r"[ .+-]", "", number) for text in texts for number in re.findall(whole, text)})[
            :_LOOKED_AT
        ]
        right = sum(map(kind.checks, numbers))
        if right and right >= _ALL * len(numbers) and kind.chance**right <= BY_CHANCE:
            return "official numbers of people", len(texts)
    return None
