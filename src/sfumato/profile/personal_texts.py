"""What reaches, names or numbers one person inside texts, also where a text repeats: in a note, a category, the label of a set."""

from __future__ import annotations

import re

import pyarrow as pa
from stdnum import iban

from ..core.column import Column
from ..core.people import words_of
from .given_names import GIVEN
from .hipaa_patterns import ANYWHERE
from .kinds import matches
from .person_numbers import numbers_of_people

_MAIL, _SOCIAL, _NATIONAL = ANYWHERE[0], ANYWHERE[2], ANYWHERE[4]
_PHONES = (
    r"(?:^|[^0-9A-Za-z+])\+[1-9](?:[ ()./-]{0,2}[0-9]){7,14}(?:$|[^0-9])",
    r"(?:^|[^0-9A-Za-z.,-])00[1-9][0-9]{0,2}[ /-](?:[ ()/-]{0,2}[0-9]){6,12}(?:$|[^0-9])",
    r"(?i)\b(?:tel|tél|phone|mobile|cell|fon|telefon|telefono|telefoon|teléfono|mobil|mobiel|handy|natel|gsm|rufnummer|whatsapp|call|ring|bel|"
    r"llamar|appeler|chiamare)\b[ .:#]{0,4}(?:[ ()./+-]{0,2}[0-9]){6,15}(?:$|[^0-9])",
    _NATIONAL,
)
# Shapes, and no library of numbering plans: that would have to be told each number's country, and would pass over one that is mistyped.
# Numbers as they are dialled at home. With a 0 before the area, 9 to 12 digits in all (Germany, France, Britain, the Netherlands, ...);
# without one in groups that are used for telephones only (3-3-4, 3-7, 3-2-2-2).
_AT_HOME = (
    r"(?:^|[^0-9A-Za-z.,/+-])(\(?0[1-9](?:[ ()./-]{0,2}[0-9]){7,10})(?:$|[^0-9A-Za-z])",
    r"(?:^|[^0-9A-Za-z.,/+-])([2-9][0-9]{2}[ .][2-9][0-9]{2}[ .][0-9]{4}|3[0-9]{2}[ ./-][0-9]{6,7}|[679][0-9]{2}[ .-][0-9]{2}[ .-][0-9]{2}[ .-][0-9]{2})"
    r"(?:$|[^0-9A-Za-z.,])",
)
_OTHERWISE = re.compile(  # a day, a drug code (NDC), or groups of thousands
    r"^[0-9]{1,2}[./-][0-9]{1,2}[./-][0-9]{4}|^[0-9]{4}-[0-9]{4}-[0-9]{2}$|^[0-9]{5}-[0-9]{3,4}-[0-9]{1,2}$"
)
_SEVERAL = 3
"""Texts from which values that are nothing but digits count as phone numbers, and given names that must occur."""
_LETTERS = r"[A-Za-z]{3}"
_IBAN = r"\b[A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b"
_SURNAME = r"(?:(?:von|van|de|der|den|di|da|del|le|la|el|al)[ -]){0,2}\p{Lu}[\p{L}'’-]*\p{Ll}{2}"
_TITLED = (
    r"\b(?:Herrn?|Frau|Mr|Mrs|Ms|Dr|Prof|Mme|Mlle|Monsieur|Madame|Madam|Señora?|Sra|Sig|Signora?|Dhr|Mevr|Mw|Mevrouw|[Dd]e heer)\.? "
    rf"(?:\p{{Lu}}\. ?|Dr\. ?|Prof\. ?){{0,2}}{_SURNAME}"
)
_NAMED = rf"\b(?:{'|'.join(sorted(GIVEN))}) (?:\p{{Lu}}\. ?)?{_SURNAME}"
_NO_SURNAMES = words_of(
    """City County Town Village Island Islands Park Place Square Street Avenue Road Lane Hall House Hotel Hospital Hospice Clinic Klinik Klinikum
    Krankenhaus School Schule College University Universität Institute Institut Center Centre Zentrum Church Kirche Parish Platz Stift
    Haus Heim Luther Curie River Lake Bay Beach Point Hill Hills Valley North South East West Nord Süd Ost Ward Team Group Company"""
)
_SAINTS = words_of("St St. Ste Saint Sainte San Santa Sankt Sint São")


def personal(column: Column) -> tuple[str, int] | None:
    """What was found inside the texts of a column, and in how many of its distinct values; no value is told."""
    values = column.values
    if not len(values) or not pa.types.is_string(values.type):
        return None
    # accounts first: their groups of digits can look like a phone number
    accounts = _with(column, _IBAN)
    if texts := sum(any(map(iban.is_valid, re.findall(_IBAN, text))) for text in accounts):
        return "IBANs", texts
    kinds = {"e-mail addresses": (_MAIL,), "phone numbers": _PHONES, "social security numbers": (_SOCIAL,)}
    for what, patterns in kinds.items():
        if texts := int(matches(values, "|".join(f"(?:{pattern})" for pattern in patterns)).sum()):
            return what, texts
    if (numbers := numbers_of_people(column)) is not None:
        return numbers
    dialled = [text for pattern in _AT_HOME for text in _with(column, pattern) if _dialled(text, pattern)]
    if len(dialled) >= _SEVERAL or any(re.search(_LETTERS, text) for text in dialled):
        return "phone numbers", len(dialled)
    if texts := int(matches(values, _TITLED).sum()):
        return "names of people", texts
    full = [names for text in _with(column, _NAMED) if (names := _full_names(text))]
    if len(set().union(*full)) >= _SEVERAL:
        return "names of people", len(full)
    return None


def _with(column: Column, pattern: str) -> list[str]:
    """The distinct texts that hold a match."""
    return [text for text, hit in zip(column.texts, matches(column.values, pattern), strict=False) if hit and text]


def _full_names(text: str) -> set[str]:
    """The given names in a text that a surname follows; `St. Anna Hospital` and `James City` are places."""
    words = [word.strip(",;:|{}()") for word in text.split()]
    return {
        word
        for before, word, after in zip(["", *words], words, words[1:], strict=False)
        if word in GIVEN and before not in _SAINTS and after not in _NO_SURNAMES and after not in GIVEN
    }


def _dialled(text: str, pattern: str) -> bool:
    """Whether one of the matches in a text is no day, drug code or other thing that looks like a phone number, and the text no bare code."""
    return not text.isdecimal() and any(not _OTHERWISE.search(number) for number in re.findall(pattern, text))
