"""Official numbers of people inside texts, recognised by their shape and their check digits, which python-stdnum knows country by country.

A single number may pass a check by chance, so all that have the shape must, and so many that chance would let them pass once in a million.
"""

from __future__ import annotations

import re

from stdnum import get_cc_module, luhn

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
    """A kind of number: its shape, who checks it (a module of stdnum; none where the shape says enough), and how often that shape passes by chance."""

    pattern: str
    module: str
    chance: float

    def checks(self, number: str) -> bool:
        """Whether it may be a number of this kind, as far as its digits tell."""
        if not self.module:
            return True
        if self.module == "luhn":
            return bool(luhn.is_valid(re.sub("[ -]", "", number)))
        return bool(get_cc_module(*self.module.split(".")).is_valid(number))


_DAY = "[0-3][0-9][01][0-9]"
KINDS = (
    PersonNumber(r"[0-9]{9}", "nl.bsn", 1 / 10),
    PersonNumber(r"[0-9]{3} ?[0-9]{3} ?[0-9]{4}", "gb.nhs", 1 / 10),
    PersonNumber(r"[1-9][0-9]{10}", "de.idnr", 1 / 20),
    PersonNumber(
        r"[0-9]{2} [0-3][0-9][01][0-9]{3} [A-Z] [0-9]{3}", "", 1e-6
    ),  # pension number (Germany), as it is printed
    PersonNumber(r"[0-9]{2}[0-3][0-9][01][0-9]{3}[A-Z][0-9]{3}", "", 1e-2),
    PersonNumber(rf"[1-9][0-9]{{3}} ?{_DAY}[0-9]{{2}}", "at.vnr", 1 / 10),
    PersonNumber(r"756\.[0-9]{4}\.[0-9]{4}\.[0-9]{2}", "", 1e-6),  # AHV (Switzerland), as it is printed
    PersonNumber(r"756[0-9]{10}", "ch.ssn", 1 / 10),
    PersonNumber(r"[0-9]{2}[0-3][0-9][01][0-9]{6}", "pl.pesel", 1 / 10),
    PersonNumber(r"[0-9]{8}-?[A-Z]", "es.dni", 1 / 23),
    PersonNumber(r"[XYZ][0-9]{7}-?[A-Z]", "es.nie", 1 / 23),
    PersonNumber(r"[12] ?[0-9]{2} ?(?:0[1-9]|1[0-2]) ?[0-9]{2} ?[0-9]{3} ?[0-9]{3} ?[0-9]{2}", "fr.nir", 1 / 90),
    PersonNumber(r"[0-9]{2}\.?[0-1][0-9]\.?[0-3][0-9]-?[0-9]{3}[.-]?[0-9]{2}", "be.nn", 1 / 45),
    PersonNumber(r"[A-Z]{6}[0-9]{2}[A-EHLMPRST][0-7][0-9][A-Z][0-9]{3}[A-Z]", "", 1e-6),  # codice fiscale (Italy)
    PersonNumber(r"[0-9]{2}[01][0-9][0-3][0-9][-+][0-9]{4}", "se.personnummer", 1 / 10),
    PersonNumber(rf"{_DAY}[0-9]{{2}} ?[0-9]{{5}}", "no.fodselsnummer", 1 / 90),
    PersonNumber(rf"{_DAY}[0-9]{{2}}[-+A][0-9]{{3}}[0-9A-Y]", "fi.hetu", 1 / 20),
    PersonNumber(r"[0-9]{2}[0156][0-9][0-3][0-9]/[0-9]{4}", "cz.rc", 1 / 10),
    PersonNumber(r"[1-9][0-9]{2}[01][0-9][0-3][0-9]{7}", "ro.cnp", 1 / 10),
    PersonNumber(r"[1-9][0-9]{10}", "tr.tckimlik", 1 / 90),
    PersonNumber(r"[0-9]{3}\.[0-9]{3}\.[0-9]{3}-[0-9]{2}", "br.cpf", 1e-6),  # as it is printed
    PersonNumber(r"[0-9]{11}", "br.cpf", 1 / 90),
    PersonNumber(r"[3-6][0-9]{3}(?:[ -][0-9]{4}){3}", "luhn", 1e-3),  # payment cards, as they are printed
    PersonNumber(r"[3-6][0-9]{15}", "luhn", 1 / 10),
)


def numbers_of_people(column: Column) -> tuple[str, int] | None:
    """What was found, and in how many of the distinct texts."""
    for kind in KINDS:
        whole = rf"(?:^|[^0-9A-Za-z.-])({kind.pattern})(?:$|[^0-9A-Za-z-])"
        texts = [text for text, hit in zip(column.texts, matches(column.values, whole), strict=False) if hit and text]
        numbers = sorted({number for text in texts for number in re.findall(whole, text)})[:_LOOKED_AT]
        right = sum(map(kind.checks, numbers))
        if right and right >= _ALL * len(numbers) and kind.chance**right <= BY_CHANCE:
            return "official numbers of people", len(texts)
    return None
