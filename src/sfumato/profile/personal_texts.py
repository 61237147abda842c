"""What reaches or numbers one person inside texts, also where a text repeats: in a note, a category, the label of a set."""

from __future__ import annotations

import re

import pyarrow as pa

from ..core.column import Column
from .hipaa_patterns import ANYWHERE
from .kinds import matches

_MAIL, _SOCIAL, _NATIONAL = ANYWHERE[0], ANYWHERE[2], ANYWHERE[4]
_PHONES = (
    r"(?:^|[^0-9A-Za-z+])\+[1-9](?:[ ()./-]{0,2}[0-9]){7,14}(?:$|[^0-9])",
    r"(?:^|[^0-9A-Za-z.,-])00[1-9][0-9]{0,2}[ /-](?:[ ()/-]{0,2}[0-9]){6,12}(?:$|[^0-9])",
    r"(?i)\b(?:tel|phone|mobile|cell|fon|telefon|mobil|handy|rufnummer)\b[ .:#]{0,4}(?:[ ()./+-]{0,2}[0-9]){6,15}(?:$|[^0-9])",
    _NATIONAL,
)
_IBAN = r"\b[A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b"


def personal(column: Column) -> tuple[str, int] | None:
    """What was found inside the texts of a column, and in how many of its distinct values; no value is told."""
    values = column.values
    if not len(values) or not pa.types.is_string(values.type):
        return None
    # accounts first: their groups of digits can look like a phone number
    accounts = [text for text, hit in zip(column.texts, matches(values, _IBAN), strict=False) if hit and text]
    if texts := sum(any(map(_checks, re.findall(_IBAN, text))) for text in accounts):
        return "IBANs", texts
    kinds = {"e-mail addresses": (_MAIL,), "phone numbers": _PHONES, "social security numbers": (_SOCIAL,)}
    for what, patterns in kinds.items():
        if texts := int(matches(values, "|".join(f"(?:{pattern})" for pattern in patterns)).sum()):
            return what, texts
    return None


def _checks(iban: str) -> bool:
    """Whether its check digits are right: the number, letters from 10 on, leaves 1 when divided by 97 (ISO 13616)."""
    plain = iban.replace(" ", "")
    return int("".join(str(int(sign, 36)) for sign in plain[4:] + plain[:4])) % 97 == 1
