"""Rows are not people: whether a table has several rows a person, by the roles or by a column that repeats like a person's number.

Nearly every measure counts rows, and the promise is about people: a class of six rows may hold two patients. A table whose roles name
the person tells how many people there are. One whose roles do not may still have a column that numbers them, by its name or, among
the identifiers, by its values. The owner then says what it is: `person = "..."`, or `one_row_per_person = true`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import cache

from .errors import InputError
from .memory import remembered
from .noun import dataclass
from .roles import PEOPLE_ROWS as PEOPLE_ROWS
from .roles import Roles
from .table import Table
from .words import counted

OWNERS_WORD = "The owner states that each row is another person (one_row_per_person = true); limits on rows are limits on people by that word."
"""What every document says where the roles say so."""
HOUSEHOLDS_WORD = (
    "Limits are on different households, each of which weighs the same; the owner counted them by a number that is not released. Whoever "
    "recognises one member of a household may still guess which rows are the others'."
)
"""What every document says where the roles say that households are counted."""
UNLINKED_WORD = (
    "A person may have several rows here, which no column joins. Limits are on different people, each of whom weighs the same; the owner "
    "counted them by a number that is not released."
)
"""What every document says where the roles say that the rows of a person are unlinked."""
LINKED_WORD = (
    "A person may have several rows here, which a random number joins. It was drawn for this release and says nothing else. Limits are on people "
    "of whom the release says the same over all their rows, each of whom weighs the same."
)
"""What every document says where the roles say that the rows of a person are linked."""
KEYED_WORD = (
    "A person may have several rows here, which a keyed pseudonym joins. It is the same in every release that is made with the owner's key, so "
    "whoever has several of them joins them; without the key it says nothing else. Limits are on people of whom this release says the same over all "
    "their rows, each of whom weighs the same."
)
"""What every document says where pseudonyms join them."""


def owners_word(roles: Roles, table: Table, *, counts: bool = False) -> str | None:
    """What every document says of rows and people, by the owner's word; `counts`: also how many there are of them."""
    if table.chosen is not None:
        said = table.chosen.sentence if counts else table.chosen.how
        return f"{said} {HOUSEHOLDS_WORD}" if roles.counts_households else said
    if roles.counts_households:
        return HOUSEHOLDS_WORD
    if roles.counts_people:
        joined = KEYED_WORD if "pseudonyms" in roles.people else LINKED_WORD
        return joined if roles.linked else UNLINKED_WORD
    return OWNERS_WORD if roles.one_row_per_person else None


FEW = 20
"""Fewer values than this do not number people, unless there are about as many as rows."""
_ABOUT = 0.1
_TYPICAL = 20
"""Rows of a value, on average, up to which an identifier without a telling name looks like one person's."""
_SAMPLE = 1_000


def words_of(text: str, by: str | None = None) -> frozenset[str]:
    """The words of a text, apart by white space or by a sign."""
    return frozenset(part.strip() for part in text.split(by))


PEOPLE = words_of("""person people patient subject participant respondent customer client user member employee worker student pupil
    citizen resident insured beneficiary individual personen patienten kunden mitglied versicherten mitarbeiter personne
    usager cliente persona paciente usuario paziente utente pessoa persoon klant proband probanden teilnehmer klient klienten
    bewohner schuler studierenden versicherte mitglieds burger spender mieter sujet assure eleve alumno""")
_SHORT = words_of("pat pt ptnt subj pers cust emp stud resp kd vers tn mitgl")
"""How people are called for short, before a word for a number: pat_id, Pers.-Nr."""
_HOUSEHOLDS = words_of(
    "hh household dwelling haushalt haushalts hushalt menage foyer hogar vivienda famiglia agregado huishouden"
)
OFFICIAL = words_of("""ssn socialsecurity passport nationalid taxid dni nif cpf bsn nhs nhsnumber mrn medicalrecord iban creditcard
    accountnumber licenseplate numberplate driverlicense codicefiscale steuernummer steuerid versichertennummer
    sozialversicherungsnummer ausweis reisepass kontonummer kennzeichen passeport pasaporte passaporto 身份证 护照""")
"""Official numbers of a person, as columns are named after them."""
BETWEEN = words_of("of at in on per for by from since von bei im am pro de du des del di da do van bij")
_ID = words_of("id ids identifier uid uuid guid number num no nr nummer numero key code kennung matricule matricola")
_ENDS = ("id", "nummer", "number", "nr", "no")
_BARE_ID = words_of("id ids pid uid uuid guid identifier matricule matricola 编号 号码")
_NUMBERED = r"^\S*[0-9]\S*$"  # one word with a digit in it: a number, a code; no name, address or text
_OPAQUE = (
    r"(?i)^\{?[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f-]*\}?$"  # UUIDs and hashes, which stand for one thing each
)


@cache
def tokens(name: str) -> tuple[str, ...]:
    """The words of a name, lower case, accents taken off: `Date_ofBirth` is date, of, birth."""
    plain = "".join(c for c in unicodedata.normalize("NFKD", name) if not unicodedata.combining(c))
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\d_A-Za-z]+", plain.replace("ß", "ss"))
    return tuple(word.casefold() for word in words)


def numbers_people(words: tuple[str, ...]) -> bool:
    """Whether the words of a name say "number of a person": person_id, kundennummer, person or id alone; not store_id."""
    if not words or "of" in words[1:]:  # a name of signs alone says nothing, and number_of_people counts them
        return False
    if len(words) == 1:
        return words[0] in _BARE_ID or words[0] in PEOPLE or _compound(words[0])
    short = words[-2] in _SHORT and words[-1] not in ("code", "key")
    if _compound(words[-1]) or ((words[-2] in PEOPLE or short) and words[-1] in _ID):
        return True  # the name of a group of columns may stand before it: "Stammdaten Patientennummer"
    return bool(set(words) & _ID) and bool(set(words) & PEOPLE) and set(words) <= _ID | PEOPLE | BETWEEN


def numbers_households(words: tuple[str, ...]) -> bool:
    """Whether the words of a name say "number of a household": hhid, household_id, Haushaltsnummer; not household_size."""
    if not words or "of" in words[1:]:
        return False
    ends = any(words[-1].endswith(end) and words[-1].removesuffix(end) in _HOUSEHOLDS for end in _ENDS)
    return ends or (len(words) > 1 and words[-2] in _HOUSEHOLDS and words[-1] in _ID)


def _compound(word: str) -> bool:
    """Whether it is somebody and a number in one word: kundennummer, personid."""
    return any(word.endswith(end) and word.removesuffix(end) in PEOPLE | _SHORT for end in _ENDS)


@dataclass(frozen=True)
class Repeated:
    """A column that numbers people and repeats, so that there are more rows than people."""

    column: str
    rows: int
    people: int
    most: int
    """Rows of the person who has most of them."""
    named: bool
    """Whether the roles name it as the person; else it only looks so."""

    @property
    def sentence(self) -> str:
        """Rows and people, both."""
        if self.named:
            return f"{self.rows:,} rows are of {self.people:,} people, by {self.column!r}; one of them has {self.most:,} rows."
        return (
            f"Column {self.column!r} repeats like a person's number: {self.rows:,} rows may be of {self.people:,} people, "
            f"one of them with {self.most:,} rows."
        )


def one_row_a_person(table: Table, roles: Roles) -> Table:
    """The table of one row a person, where the roles say that one is made of each person's; else the table as it is."""
    choice = roles.row_choice
    if choice is None or (table.chosen is not None and table.chosen.choice == choice):
        return table
    choice.check(table, [*roles.quasi, *roles.sensitive, *roles.insensitive], f"[people] of {roles.source}")
    return table.one_row_by(choice)


def several_rows(table: Table, roles: Roles) -> Repeated | None:
    """The column that shows several rows a person; None where each row is another person, as far as can be seen or is said.

    The person of the roles decides where they name one that the table has. The owner's word that each row is another person is
    taken for columns that only look so, never against the person column itself.
    """
    if roles.person is not None and roles.person in table.columns:
        return _repeated(table, roles.person, named=True)
    if roles.one_row_per_person:
        return None
    return lookalike(table, roles)


def named_as_number(name: str) -> bool:
    """Whether a name says that its column numbers something, whatever that is: case_no, Fallnr."""
    words = tokens(name)
    return "of" not in words and (
        bool(set(words) & (_ID - {"code"}))
        or any(word.endswith(("id", "nr", "nummer", "number")) for word in words[-1:])
    )


def numbered_by(table: Table, names: Sequence[str], fixed: Sequence[str]) -> Repeated | None:
    """The coarsest of these columns in whose repeated values nothing that is fixed of a person changes: births, sexes, names.

    A number of a case or a bill would do, too, where one of the person is missing; it only counts too many people then.
    """
    if not fixed:
        return None
    found = []
    for name in names:
        repeated = _repeated(table, name, named=False)
        if repeated is None or repeated.people < FEW or repeated.rows > _TYPICAL * repeated.people:
            continue
        if all(len(table.count((name, each))) == len(table.count((name,))) for each in fixed):
            found.append(repeated)
    return min(found, key=lambda each: each.people, default=None)


def lookalike(table: Table, roles: Roles | None = None) -> Repeated | None:
    """The finest column that repeats like a person's number: by its name, or by its values where it is among the identifiers."""
    candidates = [repeated for name in table.columns if (repeated := _looks(table, name, roles)) is not None]
    return max(candidates, key=lambda each: each.people, default=None)


def check_linking(table: Table, roles: Roles, who: str, *, links: bool) -> None:
    """Refuse to keep rows joined for one who cannot, or where it is not known whose each is."""
    if not roles.linked:
        return
    if not links:
        raise InputError(
            f'{who} cannot keep the rows of a person joined (rows = "linked" in [people] of {roles.source}); use one that can: mondrian, generalize_full_domain or generalize_to_levels, and for numbers additive_noise, rounding or top_bottom_coding.'
        )
    person = str(roles.person)
    roles.check_column(person, table.columns, where=table.name, kind="person")
    if person in (*roles.quasi, *roles.sensitive, *roles.insensitive):
        raise InputError(
            f"{roles.source}: column {person!r} is the person and has another role; where rows are linked, only a fresh number stands there."
        )


def left_out_note(roles: Roles, rows: int, of_rows: int, people: int, of_people: int) -> str:
    """What a release says whose rows of a person are joined."""
    return (
        f"Rows of a person are joined by {roles.person!r}, which holds no number of the original. Left out, so that enough people are alike "
        f"over all their rows: {counted(rows, 'row')} of {of_rows:,}, and with all of their rows {counted(people, 'person', 'people')} "
        f"of {of_people:,}."
    )


def nobodys(table: Table, rows: int, person: str) -> str:
    """Why rows without a person cannot be joined."""
    return f"{table.name}: {counted(rows, 'row')} without {person!r}: nobody knows whose; give each one, or leave them out."


def one_row_each(table: Table, roles: Roles, who: str, *, counts_people: bool = False) -> None:
    """Refuse several rows a person, named or seen: whoever counts rows promises nothing about people.

    Where the roles say that people are counted, whoever does so goes on.
    """
    if roles.counts_households:
        _check_households(table, roles, who, counts_people)
    repeated = several_rows(table, roles)
    if repeated is None:
        return
    bring = "bring one row per person, for example the latest of each (of a database with --query)"
    if repeated.named and roles.counts_people and "rows" in roles.people:
        if counts_people:
            return
        raise InputError(
            f"{table.name}: some people have several rows ({repeated.people:,} people in {repeated.rows:,} rows, by {repeated.column!r}), and {who} "
            f"cannot count people; {bring}, or take a mechanism that counts people, such as mondrian."
        )
    answers = "; ".join(f'"{rows}" ({promise})' for rows, promise in PEOPLE_ROWS.items())
    if repeated.named:
        raise InputError(
            f"{table.name}: some people have several rows ({repeated.people:,} people in {repeated.rows:,} rows, by {repeated.column!r}), and {who} "
            f"counts rows, so its limits would not hold of people; say in [people] of {roles.source} what is promised to them: rows = {answers}."
        )
    raise InputError(
        f"{table.name}: column {repeated.column!r} repeats like a person's number ({repeated.people:,} values in {repeated.rows:,} rows), and {who} "
        f"counts rows, so its limits may not hold of people; if each row is another person, say so in [roles] of {roles.source}: "
        f'one_row_per_person = true; else name the person there (person = "{repeated.column}"), and in [people] what is promised: rows = {answers}.'
    )


def _check_households(table: Table, roles: Roles, who: str, counts_people: bool) -> None:
    """Refuse to count households for one who cannot, or where somebody has several: different ones need not be different people then."""
    household, person = str(roles.household), roles.person
    roles.check_column(household, table.columns, where=table.name, kind="household")
    if not counts_people:
        raise InputError(
            f'{who} cannot count households (count = "households" in [people] of {roles.source}); take one that counts people, such as mondrian.'
        )
    if person is None or person not in table.columns:
        return
    several = len(table.count((person, household))) - len(table.count((person,)))
    if several:
        raise InputError(
            f"{table.name}: some people have rows in several households, by {person!r} and {household!r}; give each person one household, or "
            f"count people in [people] of {roles.source}."
        )


def _looks(table: Table, name: str, roles: Roles | None) -> Repeated | None:
    if roles is not None and name == roles.household:
        return None
    words = tokens(name)
    numbered = numbers_people(words) or "".join(words) in OFFICIAL
    if not numbered and (roles is None or name not in roles.identifiers or "of" in words):
        return None
    repeated = _repeated(table, name, named=False)
    if repeated is None or (repeated.people < FEW and repeated.people < _ABOUT * repeated.rows) or repeated.people < 2:
        return None
    if numbered:
        return repeated
    few_rows_each = repeated.people >= FEW and repeated.rows <= _TYPICAL * repeated.people
    return repeated if few_rows_each and _numbered(table, name) else None


def _numbered(table: Table, name: str) -> bool:
    """Whether the values are numbers or codes in a column named so (case_id), or opaque ones, rather than names, places or dates."""
    texts = table.head(_SAMPLE)[name]
    shape = _NUMBERED if named_as_number(name) else _OPAQUE
    return bool(texts) and all(re.match(shape, text) for text in texts)


@remembered
def _repeated(table: Table, name: str, *, named: bool) -> Repeated | None:
    """A column's repetition. In a column that is not named as the person a missing value is nobody's."""
    if table.unique_rows((name,))[0] == table.rows:
        return None
    counts = table.count((name,))
    lacks = 0 if named or not counts.columns[0].has_missing else int(counts.n[-1])
    n = counts.n[:-1] if lacks else counts.n
    return Repeated(name, int(n.sum()), len(n), int(n.max()), named) if len(n) and int(n.max()) > 1 else None
