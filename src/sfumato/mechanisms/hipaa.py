"""HIPAA's rules on identifiers applied: years for dates, 90+ for ages above 89, three digits for ZIP codes.

45 CFR 164.514(b)(2)(i), with the guidance of HHS of 2012. What no recoding can mend, direct identifiers and units smaller than a
state, is refused: only the owner can take a column out. All rows are held in memory; the cost is that of counting them once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Literal

import numpy as np

from ..core.arrow import strings, take
from ..core.column import Column, IntArray
from ..core.cover import BoolArray
from ..core.errors import InputError
from ..core.hierarchy import TOP
from ..core.mechanism import Mechanism, MechanismCard, Offer, Progress, Trial, check_choices, unheard
from ..core.metric import Requirement
from ..core.noun import dataclass
from ..core.randomness import Chance, Rng
from ..core.release import Release
from ..core.roles import Roles
from ..core.table import Table
from ..core.words import counted
from ..metrics.privacy.hipaa_rules import hipaa_rules
from ..profile import hipaa as rules
from .microdata.numeric_columns import names_in
from .microdata.rows import Rows

_WHO = "hipaa"
_LISTS = ("age", "zip", "date", "ignore")
_ELSE = "give such columns the role identifiers, or name them in ignore if they are something else."
_AREA = re.compile(r"^([0-9]{2,3})[*_xX -]*$")
_ZIP = re.compile(r"^([0-9]{3})[0-9]{2}(?:[- ]?(?:[0-9]{4}|[*xX]{4}))?$")


def _tried(trial: Trial) -> list[dict[str, Any]]:
    """For each requirement on the rules, told of the same columns and the same year."""
    tried = []
    for requirement in trial.require:
        if requirement.metric.card is hipaa_rules.card:
            given = dict(requirement.metric.parameters)
            year = {"year": given.pop("year")} if "year" in given else {}
            tried.append({**{key: ",".join(sorted(names)) for key, names in given.items()}, **year})
    return tried


@dataclass(frozen=True, kw_only=True)
class Hipaa(Mechanism):
    """Dates to years, high ages and small areas put together, as the rule writes it."""

    age: str | None = None
    zip: str | None = None
    date: str | None = None
    ignore: str | None = None
    year: int | None = None
    small: Literal["*", "000"] = "*"

    refuses_several_rows = False  # the rules are about columns, however many rows a person has
    card: ClassVar[MechanismCard] = MechanismCard(
        name=_WHO,
        title="HIPAA rules on identifiers",
        promise="hipaa_rules <= 0: the check finds no released column that breaks a rule of 45 CFR 164.514(b)(2)(i); nothing is "
        "promised about how many people share a combination, nor about what values do not show (names inside texts, other "
        "codes of a person)",
        against="an adversary who has a register of names with birth dates, ZIP codes or dates of events; not one who knows a rare "
        "combination of years, sex and diagnosis",
        cost="dates become years, ages of 90 and over become 90+, ZIP codes keep three digits, or none in the 17 areas with "
        "20,000 people or fewer; everything else stays as it is; direct identifiers and units smaller than a state are "
        "refused until they have the role identifiers",
        source="45 CFR 164.514(b)(2)(i); HHS 2012, Guidance Regarding Methods for De-identification of Protected Health Information",
        chance="some",
        links=True,
        offer=Offer(10, _tried, first=True),
        parameters={
            "age": "columns of ages whose names do not show it, as a list",
            "zip": "columns of ZIP codes whose names do not show it, as a list",
            "date": "columns of dates whose names and values do not show it, as a list",
            "ignore": "columns that are mistaken for something they are not, as a list: they are released as they are, and you answer "
            "for them",
            "year": "the year that ages refer to: everyone born 90 years before it, or earlier, gets one common birth year; by "
            "default the latest year in the columns of dates",
            "small": "what a ZIP code of a small area becomes: *, or 000 as HHS writes it, which our metrics cannot read back as codes",
        },
    )

    def __post_init__(self) -> None:
        check_choices(self)
        if self.year is not None and (isinstance(self.year, bool) or not 1600 <= self.year <= 2200):
            raise InputError(f"{_WHO}: year must be a year, such as 2024.")
        assert self.promises  # names that cannot be written in a requirement are refused now

    @property
    def promises(self) -> tuple[Requirement, ...]:
        """No rule seen to be broken, by the same columns and year."""
        named = {key: frozenset(self._named(key)) for key in _LISTS}
        return (hipaa_rules.set(**named, year=self.year or 0).at_most(0),)

    def _named(self, key: str) -> tuple[str, ...]:
        text = getattr(self, key)
        return () if text is None else names_in(text, f"{_WHO}, {key}")

    def sanitize(self, table: Table, roles: Roles, rng: Rng, *, progress: Progress) -> Release:
        """Sanitize; a missing value stays missing. Only the numbers that join the rows of a person are drawn (45 CFR 164.514(c))."""
        rows, chance = Rows.of_people(table, roles, _WHO), Chance(rng)
        changed, notes = self._changes(rows, progress)
        fresh = rows.joined_anew(chance)
        return rows.release(self, changed, added=fresh, notes=(*notes, *(chance.notes if fresh else ())))

    def check(self, table: Table, roles: Roles) -> None:
        """Refuse what this mechanism would refuse, without a release being made."""
        self._changes(Rows.of(table, roles, _WHO))

    def _changes(self, rows: Rows, progress: Progress = unheard) -> tuple[dict[str, Any], list[str]]:
        """The columns that change, and what is said of it."""
        table = rows.table
        named = {key: self._named(key) for key in _LISTS}
        for name in (name for names in named.values() for name in names):
            if name not in rows.names:
                raise InputError(f"{table.name}: no column {name!r} that may be released, which {_WHO} is told of.")
        for name in {*named["ignore"]} & {*named["age"], *named["zip"], *named["date"]}:
            raise InputError(f"{table.name}: {_WHO} is told both to ignore column {name!r} and to change it.")
        judged = {
            name: column for name, column in rows.columns.items() if name in rows.names and name not in named["ignore"]
        }
        n = {name: np.bincount(rows.codes[name], minlength=len(rows.columns[name])) for name in rows.names}
        _refuse(rows, judged, n, {*named["age"]})
        dates = {name: rules.fine_dates(column, n[name], date=name in named["date"]) for name, column in judged.items()}
        year = self.year or rules.latest_year(
            {name: (column, n[name]) for name, column in judged.items()}, named["date"]
        )
        changed: dict[str, Any] = {}
        notes: list[str] = []
        for i, (name, column) in enumerate(judged.items()):
            new: dict[int, str] = {}
            for said, part in self._parts(rows, column, n[name], named, dates[name], year):
                if part:
                    notes.append(f"Column {name!r}: {said.format(counted(int(n[name][list(part)].sum()), 'row'))}.")
                new |= part
            if new:
                texts = [new.get(at, text) for at, text in enumerate(column.texts[: len(column.values)])]
                changed[name] = take(strings(texts), rows.codes[name])
            progress((i + 1) / len(judged))
        if births := [repr(name) for name in judged if rules.is_birth(name)]:
            notes.append(_about(births, year, given=self.year is not None))
        if ignored := [repr(name) for name in rows.names if name in named["ignore"]]:
            notes.append(f"Not looked at, as told by ignore: {', '.join(ignored)}.")
        return changed, notes

    def _parts(
        self,
        rows: Rows,
        column: Column,
        n: IntArray,
        named: Mapping[str, tuple[str, ...]],
        dates: BoolArray,
        year: int,
    ) -> Iterator[tuple[str, dict[int, str]]]:
        """What is said of a change, and what each value that it concerns becomes."""
        name = column.name
        if name in named["zip"] or rules.is_postal(column, n):
            areas = self._areas(rows, column)
            yield (
                "{} with the first three digits of the ZIP code",
                {at: a for at, a in areas.items() if a != self.small},
            )
            yield (
                f"{{}} in an area of 20,000 people or fewer, now {self.small}",
                {at: a for at, a in areas.items() if a == self.small},
            )
        yield "{} with the year of a date", _years(rows, column, dates)
        if name in named["age"] or rules.is_age(name):
            over, whole = rules.old_ages(column)
            if rules.more_than_one(over, whole):
                label = f"{90 * rules.per_year(name)}+"
                yield f"{{}} of age 90 or over, now {label}", dict.fromkeys(np.flatnonzero(over).tolist(), label)
        if rules.is_birth(name) and year:
            over, whole = rules.old_births(column, year)
            if rules.more_than_one(over, whole):
                label = _born(column, year - 90)
                yield f"{{}} born up to {year - 90}, now {label}", dict.fromkeys(np.flatnonzero(over).tolist(), label)

    def _areas(self, rows: Rows, column: Column) -> dict[int, str]:
        """ZIP codes by their first three digits, masked as long as the longest so that no length tells anything."""
        texts, new = column.texts, {}
        numbers = column.numbers if column.numbers is not None else np.zeros(0)
        lost = bool((numbers > 999).any() and (numbers < 1000).any())  # 601 beside 60601 is 00601, not an area
        longest = max((len(text) for text in texts if text is not None), default=5)
        for at in np.flatnonzero(rules.fine_codes(column)).tolist():
            text = texts[at] or ""
            code = _ZIP.match(text) or _AREA.match(text)
            if code is None or lost:
                raise InputError(
                    f"{rows.table.name}: column {column.name!r} holds codes that are not US ZIP codes of five or nine digits; write them so "
                    "(leading zeros may be lost), give it the role identifiers, or name it in ignore if it is something else."
                )
            small = code[1].zfill(3) in rules.SMALL_AREAS
            new[at] = self.small if small else code[1] + TOP * (longest - 3)
        return new


def _refuse(rows: Rows, judged: Mapping[str, Column], n: Mapping[str, IntArray], ages: set[str]) -> None:
    """Refuse columns that no recoding mends."""
    direct = [
        repr(name)
        for name, column in judged.items()
        if rules.is_direct(column, n[name]) or rules.is_place(column, n[name])
    ]
    if direct:
        raise InputError(
            f"{rows.table.name}: {', '.join(direct)}: direct identifiers, or places smaller than a state, which may not be released "
            f"(45 CFR 164.514(b)(2)(i)); {_ELSE}"
        )
    ages_in_texts = [
        repr(name)
        for name, column in judged.items()
        if rules.ages_within(column) and name not in ages and not rules.is_age(name)
    ]
    if ages_in_texts:
        raise InputError(
            f"{rows.table.name}: {', '.join(ages_in_texts)}: texts with ages above 89, which cannot be recoded; {_ELSE}"
        )


def _years(rows: Rows, column: Column, fine: BoolArray) -> dict[int, str]:
    """Dates by their years; an interval or a set by the years it reaches over.

    A quasi-identifier whose dates are not read as such keeps their shape, 2021-**-** **:**, where all have the same: that is read back
    as what it stands for, so that a loss can be told.
    """
    new = {}
    for at in np.flatnonzero(fine).tolist():
        text = column.texts[at] or ""
        spelled = rules.years(text)
        if not spelled or not rules.only_dates(text):
            raise InputError(
                f"{rows.table.name}: column {column.name!r} holds dates within texts, or parts of dates without a year of four digits, "
                "which cannot be made years; write them as YYYY-MM-DD, give it the role identifiers, or name it in ignore if it is something else."
            )
        low, high = min(spelled), max(spelled)
        new[at] = f"{low}" if low == high else f"[{low}, {high}]"
    if column.dates or column.name not in rows.roles.quasi:
        return new
    shaped = {at: _masked(column.texts[at] or "", year) for at, year in new.items()}
    return (
        shaped
        if len({re.sub(r"\d", TOP, text) for text in shaped.values()}) == 1 and "" not in shaped.values()
        else new
    )


def _masked(text: str, year: str) -> str:
    """A date with all digits but the year's masked, and MAR or Wed; empty if it is not one date, or has words whose length tells."""
    before, found, after = text.partition(year)
    words = re.findall(r"[^\W\d_]+", text)
    telling = any(len(word) not in (1, 3) for word in words) or re.search(
        r"(?<!\d)\d(?!\d)", text
    )  # */*/2020 is before October
    if not found or year in after or text[:1] in tuple("[({<>≤≥") or telling:
        return ""
    before, after = (re.sub(r"\d|[A-Za-z](?=[A-Za-z])|(?<=[A-Za-z])[A-Za-z]", TOP, part) for part in (before, after))
    return before + year + after


def _born(column: Column, last: int) -> str:
    """All birth years up to one, spelled so that it is read back; * where nothing else would be."""
    if column.dates:
        return f"<{last + 1}-01-01"
    return TOP if column.numbers is None else f"<={last}"


def _about(births: Sequence[str], year: int, *, given: bool) -> str:
    """What was done about births that tell an age above 89."""
    if not year:
        return f"No year was found that ages refer to: set year, else births in {', '.join(births)} may tell ages above 89."
    source = "the year given" if given else "the latest year in the dates; set year if ages refer to another"
    return f"Whoever by {', '.join(births)} is 90 or older in {year} has one value with all others who are ({source})."
