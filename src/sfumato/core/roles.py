"""What each column is: the owner's word, in a small TOML file or in Python."""

from __future__ import annotations

import datetime
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta

from . import ladders
from .column import Column
from .errors import InputError, hint
from .hierarchy import Hierarchy
from .label_kinds import stated_kinds
from .memory import remembered
from .noun import Sheet, dataclass
from .row_choice import RowChoice
from .rules import KEYS, check_rule
from .stated_reading import MissingCodes, StatedReading, missing_codes
from .toml import checked, known, opened, section

Rule = Annotated[str | dict[str, Any], Meta(description="a file name or a rule such as { widths = [5, 10] }")]
Ordered = Annotated[list[Any], Meta(description="a list of the values, in order")]
KINDS = ("identifiers", "quasi", "sensitive", "insensitive")
_SINGLE = ("person", "household", "guarding", "weight")
_STATED = "one_row_per_person"
_ASSIGNED = (*_SINGLE, _STATED, "orders", "weights", "reading", "domains", "labels", "people", "survey")
"""What else `Roles.assign` changes."""
PEOPLE_ROWS = {
    "unlinked": "the number is left out, rows of a person cannot be joined, and each class holds k different people",
    "linked": "rows of a person stay joined by a fresh random number, and each class holds k people of whom all rows say the same",
    "one": "one row is made of each person's, as keep and by, or aggregates, say: one row per person from then on",
}
"""What `[people] rows` may say of people with several rows, and what each promises."""
_PEOPLE_KEYS: Mapping[str, tuple[str, ...]] = {
    "unlinked": ("most_rows", "count"),
    "linked": ("most_rows", "pseudonyms"),
    "one": ("keep", "by", "aggregates", "count"),
    "None": ("most_rows", "count"),
}
"""What else `[people]` may say, by what it says of rows."""


@dataclass(frozen=True)
class _RolesFile:
    """The sections of a roles file."""

    roles: Mapping[str, Any]
    hierarchies: Mapping[str, Rule] = field(default_factory=dict)
    orders: Mapping[str, Ordered] = field(default_factory=dict)
    weights: Mapping[str, Any] = field(default_factory=dict)
    reading: Mapping[str, Any] = field(default_factory=dict)
    domains: Mapping[str, Any] = field(default_factory=dict)
    labels: Mapping[str, Any] = field(default_factory=dict)
    people: Mapping[str, Any] = field(default_factory=dict)
    survey: Mapping[str, Any] = field(default_factory=dict)


SURVEY_WEIGHTS = ("calibrated", "rounded", "exact")
"""What `[survey] weights` may say of the weight in a release (core.survey_weights); without it the weight stays in the house."""
_SECTIONS = tuple(_RolesFile.__dataclass_fields__)


@dataclass(frozen=True)
class Roles:
    """The survey's four kinds of attribute (Manta 2.3), the person behind the rows, and how columns generalize.

    identifiers  never leave the house
    quasi        what an adversary may know of a person; their released tuples form the classes
    sensitive    what must not be learned
    insensitive  the rest that may be published
    person       id of the individual where one person has several rows; never released (a fresh number is, where rows are linked)
    one_row_per_person  the owner's word that each row is another person, though a column repeats like a person's number
    household    what people of one household share, such as its number; never released
    guarding     what each row's person does not want to be linked to, a node of the sensitive taxonomy; never released
    weight       the survey weight, how many people of the population a row stands for; released as `survey` says, or not at all
    hierarchies  a column's taxonomy file, inline rule or Hierarchy
    orders       the order of a column's values, where neither numbers nor dates give one
    weights      how much a column counts in a loss (1 unless said)
    reading      how the file is spelled (encoding, delimiter, decimal, ...), for mechanisms that must not learn it from the rows
    domains      the values that a column may have, for the same mechanisms: "17:99", "17:99:10", "Female|Male" or a list;
                 public, so the outermost ranges that other mechanisms make of numbers and dates end there, too
    labels       what a class may say of a column where mechanisms form classes: "taxonomy", "ranges", "sets" or some of them
                 (core.label_kinds); each class takes the cheapest that is allowed
    people       what is promised to people with several rows: rows = "unlinked" counts people instead of rows, rows = "linked"
                 people of whom the release says the same over all their rows, rows = "one" makes one row of each person's
                 (core.row_choice); pseudonyms names where a key is, for the same number in several releases (core.pseudonyms); most_rows bounds the rows a person that are used with differential privacy;
                 count = "households" counts different households instead of different people
    survey       what goes out in the place of the survey weight: weights = "calibrated", "rounded" or "exact" (core.survey_weights)
    """

    quasi: tuple[str, ...] = ()
    sensitive: tuple[str, ...] = ()
    identifiers: tuple[str, ...] = ()
    insensitive: tuple[str, ...] = ()
    person: str | None = None
    household: str | None = None
    guarding: str | None = None
    weight: str | None = None
    one_row_per_person: bool = False
    hierarchies: Mapping[str, Any] = field(default_factory=dict)
    orders: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    weights: Mapping[str, float] = field(default_factory=dict)
    reading: Mapping[str, Any] = field(default_factory=dict)
    domains: Mapping[str, str | tuple[str, ...]] = field(default_factory=dict)
    labels: Mapping[str, Any] = field(default_factory=dict)
    people: Mapping[str, Any] = field(default_factory=dict)
    survey: Mapping[str, Any] = field(default_factory=dict)
    source: str = "roles"
    folder: Path = field(default_factory=Path)
    row_choice: RowChoice | None = field(default=None, init=False)
    """How one row a person is made, where `people` says so."""

    def __post_init__(self) -> None:
        for kind in KINDS:
            names = getattr(self, kind)
            object.__setattr__(self, kind, (names,) if isinstance(names, str) else tuple(names))
        orders = {name: tuple(map(str, values)) for name, values in self.orders.items()}
        object.__setattr__(self, "orders", orders)
        seen: dict[str, str] = {}
        for kind in KINDS:
            for name in getattr(self, kind):
                if name in seen:
                    where = f"{seen[name]} and {kind}" if seen[name] != kind else f"{kind} twice"
                    raise InputError(f"{self.source}: column {name!r} stands in {where}; give it one role.")
                seen[name] = kind
        for name, rule in self.hierarchies.items():
            if isinstance(rule, dict):
                check_rule(f"{self.source}, [hierarchies] {name}", rule)
        for name, weight in self.weights.items():
            if not isinstance(weight, int | float) or isinstance(weight, bool) or not 0 <= weight < math.inf:
                raise InputError(f"{self.source}: [weights] {name} must be a number of at least 0.")
        object.__setattr__(self, "labels", stated_kinds(self.labels, f"{self.source}, [labels]"))
        StatedReading.of(self.reading, f"{self.source}, [reading]")
        for name, values in self.domains.items():
            texts = [values] if isinstance(values, str) else values
            if not isinstance(texts, list | tuple) or not texts or not all(isinstance(text, str) for text in texts):
                raise InputError(
                    f'{self.source}, [domains] {name}: give the values that it may have, as "low:high", "a|b" or a list of texts.'
                )

        self._check_people()
        self._check_survey(seen)

    def _check_survey(self, seen: Mapping[str, str]) -> None:
        where = f"{self.source}, [survey]"
        known(self.survey, ("weights",), where)
        if self.survey and self.survey.get("weights") not in SURVEY_WEIGHTS:
            raise InputError(f"{where}: weights must be one of {', '.join(map(repr, SURVEY_WEIGHTS))}.")
        if self.survey and self.weight is None:
            raise InputError(f'{where}: name the column of the survey weight in [roles] first: weight = "...".')
        if self.weight in seen:
            raise InputError(
                f"{self.source}: column {self.weight!r} stands in weight and {seen[str(self.weight)]}; give it one role."
            )

    def _check_people(self) -> None:
        where = f"{self.source}, [people]"
        rows = self.people.get("rows")
        known(self.people, ("rows", *_PEOPLE_KEYS.get(str(rows), ())), where)
        most = self.people.get("most_rows", 1)
        if isinstance(most, bool) or not isinstance(most, int) or most < 1:
            raise InputError(
                f"{where}: most_rows is the number of rows per person that differential privacy uses; it must be a whole number of at least 1."
            )
        if (
            self.people
            and rows not in PEOPLE_ROWS
            and ("rows" in self.people or not {"most_rows", "count"} & set(self.people))
        ):
            raise InputError(f"{where}: rows must be one of {', '.join(map(repr, PEOPLE_ROWS))}.")
        if self.people.get("count", "people") not in ("people", "households"):
            raise InputError(f'{where}: count must be "people" or "households".')
        if self.counts_households and self.household is None:
            raise InputError(
                f'{where}: count = "households" needs their column; name it in [roles]: household = "...".'
            )
        if not str(self.people.get("pseudonyms", "env:KEY")).startswith(("env:", "file:")):
            raise InputError(
                f'{where}: pseudonyms says where the key is, "env:NAME" (an environment variable) or "file:PATH"; the key itself never stands here.'
            )
        if set(self.people) - {"count"} and self.person is None:
            raise InputError(f'{where}: name the column that identifies people in [roles] first: person = "...".')
        if self.person is not None and rows == "one":
            object.__setattr__(self, "row_choice", RowChoice.of(self.person, self.people, where))

    @property
    def most_rows(self) -> int:
        """How many rows a person count at most where differential privacy is promised."""
        return int(self.people.get("most_rows", 1))

    @property
    def by_rows(self) -> Roles:
        """The same with rows counted, whatever is said of people; where one row a person is made, rows are people."""
        if not self.people or (self.row_choice is not None and not self.counts_households):
            return self
        if self.row_choice is not None:
            return replace(self, people={key: value for key, value in self.people.items() if key != "count"})
        return replace(self, people={}, person=None if self.linked else self.person)

    @property
    def missing(self) -> MissingCodes:
        """The texts that mean missing, by column."""
        return missing_codes(self.reading.get("missing", ()))

    @property
    def elsewhere(self) -> Roles:
        """The same for other tables, a release or a population: what means missing does so there, too, and they are written as they are."""
        return replace(self, reading={"missing": self.missing} if self.missing else {})

    @property
    def of_release(self) -> Roles:
        """The same for a release, which is no report: its last row is a row, whatever it is called."""
        return replace(self, reading={**self.elsewhere.reading, "totals": False})

    @property
    def unlinked(self) -> bool:
        """Whether people, or households, have several rows that nobody can join: then these are counted, not rows."""
        return self.people.get("rows") == "unlinked" or self.counts_households

    @property
    def counts_households(self) -> bool:
        """Whether different households are counted where otherwise people are."""
        return self.people.get("count") == "households"

    @property
    def owner(self) -> str | None:
        """The column of those who are counted: households, or people."""
        return self.household if self.counts_households else self.person

    @property
    def house(self) -> tuple[str, ...]:
        """The columns that never leave the house as they are, whatever table they stand in."""
        single = (self.person, self.household, self.guarding, self.weight)
        return tuple(dict.fromkeys((*self.identifiers, *(name for name in single if name is not None))))

    @property
    def linked(self) -> bool:
        """Whether rows of a person stay joined in the release, by a fresh number in the person's column."""
        return self.people.get("rows") == "linked"

    @property
    def counts_people(self) -> bool:
        """Whether people are counted, not rows."""
        return self.unlinked or self.linked

    def _about(self) -> list[str]:
        return [f"{len(getattr(self, kind))} {kind}" for kind in KINDS if getattr(self, kind)]

    def _repr_html_(self) -> str:
        names = [(name, kind) for kind in KINDS for name in getattr(self, kind)]
        rows = [(name, kind, self._generalized(name)) for name, kind in names]
        single = [(name, kind, "") for kind in _SINGLE if (name := getattr(self, kind)) and name not in dict(names)]
        return Sheet("Roles", [*rows, *single], ("column", "role", "hierarchy")).html()

    def _generalized(self, name: str) -> str:
        """How a column generalizes: the kind of rule or the file, not the values in it."""
        rule = self.hierarchies.get(name)
        if rule is None:
            return "an order" if name in self.orders else ""
        if isinstance(rule, Hierarchy):
            return "a taxonomy"
        return ", ".join(rule) if isinstance(rule, Mapping) else rule

    def assign(
        self,
        *,
        quasi: str | Sequence[str] = (),
        sensitive: str | Sequence[str] = (),
        identifiers: str | Sequence[str] = (),
        insensitive: str | Sequence[str] = (),
        hierarchies: Mapping[str, Any] | None = None,
        **sections: Any,
    ) -> Roles:
        """The same roles, but these columns have these roles and no other, and these hierarchies are added or replaced.

        What else a roles file says is given by name, and stands in the place of what was said: `person="patient_id", people={"rows": "linked"}`.
        """
        if unknown := sorted(set(sections) - {*_ASSIGNED}):
            raise InputError(
                f"Roles.assign takes no {unknown[0]!r}; it takes {', '.join((*KINDS, 'hierarchies', *_ASSIGNED))}."
            )
        given = dict(zip(KINDS, (identifiers, quasi, sensitive, insensitive), strict=True))
        new = {kind: (names,) if isinstance(names, str) else tuple(names) for kind, names in given.items()}
        listed = {name for names in new.values() for name in names}
        rests_on = {"person": "people", "household": "people", "weight": "survey", "guarding": None}
        for kind, about in rests_on.items():
            if (
                kind not in sections and getattr(self, kind) in listed
            ):  # it has another role now, and what was said of it is void
                sections = {kind: None, **({} if about is None else {about: {}}), **sections}
        moved = listed | {sections[kind] for kind in _SINGLE if sections.get(kind)}
        columns: dict[str, Any] = {
            kind: (*(n for n in getattr(self, kind) if n not in moved), *new[kind]) for kind in KINDS
        }
        return replace(self, **columns, hierarchies={**self.hierarchies, **(hierarchies or {})}, **sections)

    @classmethod
    def read(cls, path: Path | str) -> Roles:
        """Read a roles file; hierarchies in it are found relative to it."""
        path = Path(path)
        content = opened(path, "roles file", hint=f"`sfumato profile INPUT --write-roles {path}` writes one")
        return cls.of(content, source=str(path), folder=path.parent)

    @classmethod
    def of(cls, content: Mapping[str, Any], *, source: str = "roles", folder: Path | None = None) -> Roles:
        """From the parsed content of a roles file."""
        if not isinstance(content.get("roles"), dict):
            known(content, _SECTIONS, source)
            raise InputError(f"{source}: no [roles] section; name at least quasi = [...] there.")
        sections = section(_RolesFile, content, source)
        columns = checked(cls, sections.roles, f"{source}, [roles]", (*KINDS, *_SINGLE, _STATED))
        columns |= {name: columns.get(name) or None for name in _SINGLE}
        for name, rule in sections.hierarchies.items():
            if isinstance(rule, dict):
                known(rule, KEYS, f"{source}, [hierarchies] {name}")
                if not isinstance(rule.get("file", ""), str):
                    raise InputError(f"{source}, [hierarchies] {name}: file must be a file's name, in quotes.")
        return cls(
            **columns,
            hierarchies=sections.hierarchies,
            orders={name: tuple(values) for name, values in sections.orders.items()},
            weights=sections.weights,
            reading=sections.reading,
            domains={
                name: tuple(map(str, values)) if isinstance(values, list) else values
                for name, values in sections.domains.items()
            },
            labels=sections.labels,
            people=sections.people,
            survey=sections.survey,
            source=source,
            folder=folder or Path(),
        )

    def toml(self, comments: Mapping[str, str] | None = None) -> str:
        """The roles file as text, with a comment behind a column's name where one is given."""
        said = comments or {}
        lines = ["[roles]"]
        for kind in KINDS:
            names = getattr(self, kind)
            if not any(name in said for name in names):
                lines.append(f"{kind} = [{', '.join(map(_quote, names))}]")
                continue
            width = max(len(_quote(name)) for name in names) + 1
            lines.append(f"{kind} = [")
            lines += [
                f"  {_quote(name) + ',':<{width}}  # {said[name]}" if name in said else f"  {_quote(name)},"
                for name in names
            ]
            lines.append("]")
        for kind in _SINGLE:
            name = getattr(self, kind)
            if name:
                lines.append(f"{kind} = {_quote(name)}" + (f"  # {said[name]}" if name in said else ""))
        if self.one_row_per_person:
            lines.append(f"{_STATED} = true")
        for title in _SECTIONS[1:]:
            entries = getattr(self, title)
            if entries:
                lines += [
                    "",
                    f"[{title}]",
                    *(f"{spell_key(name)} = {spell_toml(value)}" for name, value in entries.items()),
                ]
        return "\n".join(lines) + "\n"

    def check(self, columns: Sequence[str], *, where: str, need: Iterable[str] = ("quasi", "sensitive")) -> None:
        """Raise unless the table has the columns of these roles."""
        for kind in need:
            for name in getattr(self, kind):
                self.check_column(name, columns, where=where, kind=kind)

    def check_column(self, name: str, columns: Sequence[str], *, where: str, kind: str) -> None:
        """Raise unless the table has this column."""
        if name not in columns:
            meant = hint(name, columns, f"correct {kind} in {self.source}.")
            raise InputError(f"{where}: no column {name!r}, which {self.source} names in {kind}; {meant}")

    def one_sensitive(self, named: str | None, hint: str) -> str:
        """The column named, else the first sensitive one; refused where there is none."""
        column = named or next(iter(self.sensitive), None)
        if column is None:
            raise InputError(f"{self.source} names no sensitive column; {hint}.")
        return column

    def check_quasi(self) -> None:
        """Raise unless there is a quasi-identifier."""
        if not self.quasi:
            raise InputError(f"{self.source} names no quasi-identifier; set quasi = [...].")

    def released(self, columns: Sequence[str]) -> list[str]:
        """Of these columns those that may leave the house: quasi-identifiers, sensitive and insensitive ones."""
        return [name for name in columns if name in (*self.quasi, *self.sensitive, *self.insensitive)]

    def hierarchy(self, column: Column) -> Hierarchy | None:
        """The hierarchy of a column over the values it has, or None if none is given."""
        rule = self.hierarchies.get(column.name)
        if rule is None:
            return None
        if isinstance(rule, Hierarchy):
            return rule.fit(column.texts)
        if isinstance(rule, dict) and "file" not in rule:
            return ladders.build(column, rule)
        taxonomy = self.taxonomy(column.name)
        assert taxonomy is not None
        return taxonomy.fit(column.texts, unknown=rule.get("unknown", "error") if isinstance(rule, dict) else "error")

    def tree(self, column: Column) -> Hierarchy | None:
        """The taxonomy, masks or calendar of a column; rules that give intervals are no tree but ranges."""
        rule = self.hierarchies.get(column.name)
        if self.taxonomy(column.name) is not None or (isinstance(rule, dict) and {"prefix", "dates"} & set(rule)):
            return self.hierarchy(column)
        return None

    def bounds(self, column: Column) -> tuple[str, str] | None:
        """The least and the largest value that a column of numbers or dates may have, where its domain states them as `low:high`."""
        stated = self.domains.get(column.name)
        ends = stated.split(":")[:2] if isinstance(stated, str) and "|" not in stated else []
        if len(ends) < 2:
            return None
        low, high = (text.strip() for text in ends)
        texts = [text for text in column.texts if text is not None]
        try:
            if column.numbers is not None:
                outside = int(((column.numbers < float(low)) | (column.numbers > float(high))).sum())
                if not math.isfinite(float(low) + float(high)):
                    return None
            elif column.dates:
                datetime.date.fromisoformat(low), datetime.date.fromisoformat(high)
                outside = sum(not low <= text[:10] <= high for text in texts)
            else:
                return None
        except ValueError:
            return None  # the domain of another kind of column
        if outside:
            raise InputError(
                f"{self.source}, [domains] {column.name}: {outside} of its values lie outside; widen the domain, or correct them."
            )
        return low, high

    @remembered
    def taxonomy(self, name: str) -> Hierarchy | None:
        """The taxonomy that the owner supplied for a column (a file or an object), whole; None for rules and no hierarchy."""
        rule = self.hierarchies.get(name)
        if isinstance(rule, Hierarchy):
            return rule
        keys = rule if isinstance(rule, dict) else {"file": rule}
        if not isinstance(file := keys.get("file"), str):
            return None
        text, neutralised = bool(keys.get("text")), bool(keys.get("neutralised"))
        return Hierarchy.read(name, self.folder / file, as_text=text, neutralised=neutralised)


def check_roles(roles: object) -> None:
    """Refuse what is no Roles, such as the name of a roles file."""
    if not isinstance(roles, Roles):
        raise InputError(
            "roles must be Roles: read a file by sfumato.Roles.read('roles.toml'), or write sfumato.Roles(quasi=[...])."
        )


def _quote(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def spell_key(name: str) -> str:
    """A name as TOML writes it before `=`."""
    bare = name.isascii() and name.replace("-", "").replace("_", "").isalnum()
    return name if bare else _quote(name)


def spell_toml(value: Any) -> str:
    """A value as TOML writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str | Path):
        return _quote(str(value))
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{spell_key(k)} = {spell_toml(v)}" for k, v in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(spell_toml, value)) + "]"
    if isinstance(value, Hierarchy):
        return _quote(value.source)
    return repr(value)
