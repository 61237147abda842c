"""Phone numbers, addresses and account numbers inside texts that repeat: such a column is never suggested for release."""

from __future__ import annotations

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
