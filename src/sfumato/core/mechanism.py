"""A sanitizer: parameters in the constructor, `(table, roles, rng) -> Release`, and a card that says what it promises."""

from __future__ import annotations

import dataclasses
import typing
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Literal, Self

from .errors import InputError
from .metric import Requirement, listed
from .noun import Sheet, dataclass
from .parameter import from_text, types_of
from .people import check_linking, one_row_each
from .progress_line import progress_line
from .pseudonyms import pseudonymised
from .randomness import SEEDED, Rng
from .release import Release
from .roles import Roles, check_roles
from .source import Source, as_table
from .survey_weights import inside, weighed
from .table import Table

Progress = Callable[[float], None]
"""Told the share of the work that is done, from 0 to 1."""

DRAWS = {
    "none": "nothing is drawn at random",
    "some": "some releases depend on random draws: through the parameters, where equal rows are divided, or where fresh numbers join rows",
    "always": "every release is drawn at random",
}
"""What a card says of chance, in words."""


@dataclass(frozen=True)
class Trial:
    """What a study without candidates of its own knows when it asks each mechanism for settings to try."""

    ks: list[int]
    """Sizes of the smallest class that may do, ascending."""
    few: list[int]
    """Some of them, for what costs time or gains little by more."""
    minimise: str
    """What a search makes as small as possible."""
    checks: int | None
    """How many generalizations a search may check, where it cannot go through all of them."""
    tuples: int
    """Different combinations of quasi-identifiers."""
    numbers: list[str]
    """Quasi-identifiers of numbers."""
    require: tuple[Requirement, ...]
    hierarchies: bool
    """Whether a quasi-identifier has a taxonomy, masks or a calendar, without which classes could say something else."""
    linked: bool
    """Whether the rows of a person stay joined."""
    large: bool = False
    """Whether a candidate takes so long that few can be tried: `ks` and `few` are short then."""
    one_secret: bool = True
    """Whether exactly one column is sensitive, so that it need not be named."""


@dataclass(frozen=True)
class Offer:
    """How a mechanism is tried where nobody names candidates: settings, in which a list is one value after the other."""

    place: int
    """Its place among the candidates."""
    settings: Callable[[Trial], list[dict[str, Any]]]
    wide: bool = False
    """Whether it is tried only where noise and synthetic rows are wanted, too."""
    first: bool = False
    """Whether the others are also tried on what it released."""


@dataclass(frozen=True)
class MechanismCard:
    """What a mechanism promises, against whom, at what cost, and where it was published."""

    name: str
    title: str
    promise: str
    against: str
    cost: str
    source: str
    parameters: Mapping[str, str]
    chance: Literal["none", "some", "always"] = "always"
    """Whether releases hang on random draws: none does; some do, by the parameters or where equal rows are divided, and a seeded one
    then says so in its notes; or always. What a card does not say is taken for the worst."""
    tunable: tuple[str, ...] = ()
    """The parameters that a search for a better candidate may change: what they trade is measured on the map. Others are the owner's word, as
    an epsilon is, or give away something that no requirement sees, as ranges that end at somebody's value do."""
    offer: Offer | None = None
    """How it is tried where nobody names candidates; None if it is tried only by name."""
    files: tuple[str, ...] = ()
    """The parameters that name a file of the owner's: a document that leaves the house shows the file's name, not where it lies."""
    people: bool = False
    """Whether what it promises holds of people where the roles say that the rows of a person are unlinked: classes of different people, for one."""
    links: bool = False
    """Whether it keeps the rows of a person joined where the roles say so; what forms classes does so of people by all their rows."""
    place: Literal["any", "first", "last"] = "any"
    """Where it can stand in a chain: `first` if it reads columns that are never released, `last` if it does not release whole rows."""
    samples: bool = False
    """Whether it draws at random who is in the release: the table that it is given is then the population of what it releases."""
    private: bool = False
    """Whether its promise is differential privacy: then no number of the original may be told beside the release."""

    def drew(self, notes: Sequence[str]) -> bool:
        """Whether a release with these notes hangs on random draws."""
        return self.chance == "always" or (self.chance == "some" and SEEDED in notes)


def unheard(share: float) -> None:
    """Progress that nobody asked to hear of."""


class Mechanism(ABC):
    """Subclasses are frozen dataclasses; what cannot be met raises Infeasible, never an empty table."""

    card: ClassVar[MechanismCard]
    refuses_several_rows: ClassVar[bool] = True
    """Whether a table with several rows a person is refused before any work: limits on rows do not hold of people."""

    def __call__(
        self, table: Source, roles: Roles, rng: Rng = None, *, progress: Progress | bool | None = None
    ) -> Release:
        """Sanitize a table, or whatever `sfumato.read` reads: a DataFrame, an Arrow table, a file. The input is untouched.

        `progress=True` shows a line of progress on standard error; a function is told the share that is done.
        """
        check_roles(roles)
        table = as_table(table, None if self.card.private else roles)
        check_linking(table, roles, self.card.name, links=self.card.links)
        if self.refuses_several_rows:
            counts_people = self.card.links if roles.linked else self.card.people
            one_row_each(table, roles, self.card.name, counts_people=counts_people)
        with progress_line(self.card.name, progress) as line:
            release = pseudonymised(
                weighed(self.sanitize(table, inside(roles), rng, progress=line or unheard), roles), roles
            )
        if table.chosen is None or release.neighbours is not None or table.chosen.sentence in release.notes:
            return release
        return replace(release, notes=(table.chosen.sentence, *release.notes))

    @abstractmethod
    def sanitize(self, table: Table, roles: Roles, rng: Rng, *, progress: Progress) -> Release:
        """What the mechanism does; `__call__` has opened the table and refused one that it is not for."""

    def __or__(self, other: Mechanism) -> Mechanism:
        """This mechanism, then the other on what it released."""
        from .chain import Chain

        if not isinstance(other, Mechanism):
            return NotImplemented
        links = [link for each in (self, other) for link in (each.links if isinstance(each, Chain) else (each,))]
        return Chain(tuple(links))

    def _about(self) -> list[str]:
        """The parameters that are numbers, switches or choices; a text may hold values of the data."""
        hints = typing.get_type_hints(type(self))
        settings = {key: value for key, value in self.settings().items() if str not in types_of(hints[key])}
        count = len(settings.pop("require", ()))
        return [*(f"{key}={value}" for key, value in settings.items() if isinstance(value, int | float | str))] + (
            [f"{count} more requirements"] if count else []
        )

    def _repr_html_(self) -> str:
        card, settings = self.card, ", ".join(self._about())
        rows = [
            ("promises", card.promise),
            ("against", card.against),
            ("costs", card.cost),
            ("settings", settings),
            ("source", card.source),
        ]
        return Sheet(f"{card.name}: {card.title}", rows).html()

    def against(self, population: Table | None) -> Self:
        """The same mechanism, which then looks at whom of a population its classes cover, if it can."""
        if population is None or "population" not in {f.name for f in dataclasses.fields(self)}:  # type: ignore[arg-type]
            return self
        return dataclasses.replace(self, population=population)  # type: ignore[type-var]

    def honours(self, requirement: Requirement) -> bool:
        """Whether the mechanism can steer by a requirement; others are only checked on what it made."""
        return False

    @property
    def promises(self) -> tuple[Requirement, ...]:
        """What a release of it meets, to be measured again on the file."""
        return ()

    @classmethod
    def of(cls, settings: Mapping[str, str], require: tuple[Requirement, ...] = ()) -> Mechanism:
        """From texts, as the command line and a study file give them; `require` only where the mechanism honours it."""
        fields = {f.name: f for f in dataclasses.fields(cls) if f.name not in ("require", "population")}  # type: ignore[arg-type]
        hints = typing.get_type_hints(cls)
        values: dict[str, Any] = {}
        for key, text in settings.items():
            if key not in fields:
                known = ", ".join(fields) or "none"
                raise InputError(f"{cls.card.name} has no parameter {key!r}; it takes {known}.")
            values[key] = from_text(text, hints[key], f"{cls.card.name}: {key}")
        made = cls(**values)
        if "require" not in {f.name for f in dataclasses.fields(cls)}:  # type: ignore[arg-type]
            return made
        return dataclasses.replace(made, require=tuple(r for r in require if made.honours(r)))  # type: ignore[type-var]

    def settings(self) -> dict[str, Any]:
        """The parameters that differ from their defaults, requirements as texts: what reproduces the release."""
        settings: dict[str, Any] = {}
        for f in dataclasses.fields(self):  # type: ignore[arg-type]
            value = getattr(self, f.name)
            if f.name == "require":
                if value:
                    settings["require"] = [str(requirement) for requirement in value]
            elif f.name != "population" and value != f.default:  # a table is no setting
                settings[f.name] = value
        return settings


def check_whole(mechanism: Mechanism, *names: str, least: int = 1) -> None:
    """Refuse a parameter that is given and is not a whole number of at least so much."""
    for name in names:
        value = getattr(mechanism, name)
        if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < least):
            raise InputError(f"{mechanism.card.name}: {name} must be at least {least}, and a whole number.")


def check_require(mechanism: Any, why: str) -> None:
    """Refuse a requirement that cannot be honoured; `why` is what the mechanism can do instead."""
    object.__setattr__(mechanism, "require", listed(mechanism.require))
    for requirement in mechanism.require:
        if not mechanism.honours(requirement):
            raise InputError(f"{mechanism.card.name} cannot steer by {requirement}: {why}.")


def check_choices(mechanism: Mechanism) -> None:
    """Refuse a parameter whose value is none of its choices."""
    for name, hint in typing.get_type_hints(type(mechanism)).items():
        choices = typing.get_args(hint)
        if typing.get_origin(hint) is typing.Literal and getattr(mechanism, name) not in choices:
            raise InputError(f"{mechanism.card.name}: {name} must be one of {', '.join(map(str, choices))}.")
