"""Phone numbers, addresses and account numbers inside texts that repeat: such a column is never suggested for release."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.core.arrow import strings
from sfumato.core.column import encode
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


@pytest.mark.parametrize("width", range(6, 18))
def test_random_codes_are_no_official_numbers(width: int) -> None:
    rng = np.random.default_rng(width)
    codes = ["".join(map(str, rng.integers(0, 10, width))) for _ in range(400)]
    assert personal(encode("code", strings(codes))[0]) is None
