"""Phone numbers, addresses and account numbers inside texts that repeat: such a column is never suggested for release."""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.core.arrow import strings
from sfumato.core.column import encode
from sfumato.profile.person_numbers import KINDS, PersonNumber
from sfumato.profile.personal_texts import personal

PLAIN = [
    "ward A",
    "ward B",
    "0012345678",
    "2023-11-18",
    "E11.9",
    "10.000,50",
    "[20, 30)",
    "DE12 3456 7890 1234 5678 90",
    "1-2 tablets",
    "0143-9918-01",
    "01.02.2023 0815",
    "0171234567",
    "Prof-specialty",
    "Frau",
    "Dr. med.",
    "Sr Engineer",
    "St. Anna Hospital",
    "Martin County",
    "James City",
    "Charles Park",
]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("ward A, call +49 170 1234567", "phone numbers"),
        ("Tel.: 030/1234567", "phone numbers"),
        ("{ward A | 0049 30 1234567}", "phone numbers"),
        ("write to ann@example.org", "e-mail addresses"),
        ("paid from DE89 3704 0044 0532 0130 00", "IBANs"),
        ("paid from GB82WEST12345698765432", "IBANs"),
        ("ssn 078-05-1120", "social security numbers"),
        ("Rückruf; 0171 2345678", "phone numbers"),
        ("Rückruf 01712345678", "phone numbers"),
        ("joindre au 06.12.34.56.78", "phone numbers"),
        ("huisarts; bel 06-12345678", "phone numbers"),
        ("call 020 7946 0123", "phone numbers"),
        ("richiamare 347 1234567", "phone numbers"),
        ("ask 415 555 0199", "phone numbers"),
        ("Herr Müller bittet um Rückruf", "names of people"),
        ("seen by Dr. A. Patel", "names of people"),
        ("Mevrouw de Vries", "names of people"),
        ("{ward A | Anna Schmidt | John Smith | Peter van den Berg}", "names of people"),
        ("CPF 529.982.247-25", "official numbers of people"),
        ("RSSMRA85T10A562S", "official numbers of people"),
    ],
)
def test_what_texts_hold(text: str, what: str) -> None:
    assert personal(encode("note", strings([*PLAIN, text]))[0]) == (what, 1)
    assert personal(encode("note", strings(PLAIN))[0]) is None  # codes, dates, numbers and a wrong check digit are none


def test_a_repeated_text_with_a_number_is_kept_in_the_house() -> None:
    number = "call +49 170 1234567"
    table = sf.read(pa.table({"age": [20, 30, 40, 50] * 30, "ward": ["ward A", "ward B", "ward C", number] * 30}))
    found = sf.profile(table)
    assert "ward" in found.roles.identifiers
    assert "1 of its texts holds phone numbers" in found.toml()
    assert number not in found.toml()


BSN = [n for n in range(111222333, 111222500) if sum((9 - i) * int(d) for i, d in enumerate(str(n)[:8])) % 11 == n % 10]


def test_payment_cards_pass_their_check() -> None:
    cards = ["paid by 4111 1111 1111 1111", "paid by 5500-0000-0000-0004", "4012 8888 8888 1881"]
    assert personal(encode("note", strings(cards))[0]) == ("official numbers of people", 3)
    assert personal(encode("note", strings([*cards, "4012 8888 8888 1882"]))[0]) is None


def test_numbers_with_check_digits_are_official_only_where_all_pass() -> None:
    numbers = [f"bsn {number}" for number in BSN[:8]]
    assert personal(encode("note", strings(numbers))[0]) == ("official numbers of people", 8)
    assert personal(encode("note", strings(numbers[:4]))[0]) is None  # four may be a coincidence
    neighbours = [f"no {number + 1}" for number in BSN[:8]]
    assert personal(encode("note", strings([*numbers, *neighbours]))[0]) is None


@pytest.mark.parametrize(
    "numbers",
    [
        ["3809320651", "6831020245", "1524060092", "4900230483", "7850371459", "5309260583", "1237010180"],  # Austria
        ["25095960971", "090126 01988", "05089398535", "130947 40260", "130533 03980"],  # Norway
        ["081022A497X", "240180A2201", "241144+6323", "180993A0981", "110202-5532", "180960-500F"],  # Finland
        ["50311970882", "16825200846", "83146607432", "43586340160", "83231228986"],  # Turkey
    ],
)
def test_numbers_of_other_countries_and_one_digit_off(numbers: list[str]) -> None:
    assert personal(encode("note", strings([f"id {number}" for number in numbers]))[0]) == (
        "official numbers of people",
        len(numbers),
    )
    wrong = [number[:-1] + ("7" if number[-1] != "7" else "3") for number in numbers]
    assert personal(encode("note", strings([f"id {number}" for number in wrong]))[0]) is None


SHAPES = {"ch.ssn": "7560000000000", "es.dni": "00000000A", "es.nie": "X0000000A", "fr.nir": "000000000000000", "se.personnummer": "000000-0000",
          "fi.hetu": "000000-000A", "cz.rc": "000000/0000", "ro.cnp": "0000000000000", "luhn": "0000000000000000"}  # fmt: skip


@pytest.mark.parametrize(
    "kind", [kind for kind in KINDS if kind.module and kind.chance > 1e-2], ids=lambda kind: kind.module
)
def test_how_often_random_digits_pass_is_not_understated(kind: PersonNumber) -> None:
    shape = SHAPES.get(
        kind.module, "0" * (9 if kind.module == "nl.bsn" else 10 if kind.module in ("gb.nhs", "at.vnr") else 11)
    )
    rng = np.random.default_rng(3)
    digits, letters = rng.integers(0, 10, (4000, len(shape))), rng.integers(65, 91, 4000)
    drawn = [
        "".join(
            str(digit) if sign == "0" else chr(letter) if sign == "A" else sign
            for sign, digit in zip(shape, row, strict=True)
        )
        for row, letter in zip(digits.tolist(), letters.tolist(), strict=True)
    ]
    fitting = [number for number in drawn if re.fullmatch(kind.pattern, number)]
    assert len(fitting) >= 50
    expected = kind.chance * len(fitting)
    assert sum(map(kind.checks, fitting)) <= expected + 4 * expected**0.5


@pytest.mark.parametrize("width", range(6, 18))
def test_random_codes_are_no_official_numbers(width: int) -> None:
    rng = np.random.default_rng(width)
    codes = ["".join(map(str, rng.integers(0, 10, width))) for _ in range(400)]
    assert personal(encode("code", strings(codes))[0]) is None
