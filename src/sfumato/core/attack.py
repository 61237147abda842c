"""An attack: `(release, roles, knows=...) -> Outcome`, and a card that says what the adversary knows and what a success means."""

from __future__ import annotations

import functools
import inspect
import re
import typing
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from typing import Any, Generic, Literal, ParamSpec

from .errors import InputError, Unavailable, hint
from .metric import NOTATION, Metric, Score, measure, unquoted
from .noun import dataclass
from .outcome import Outcome, worst
from .parameter import from_text
from .people import one_row_a_person
from .release import Evidence, Release, check_release
from .roles import Roles
from .table import Table

P = ParamSpec("P")
Needs = Literal["sensitive", "original", "population", "previous", "mechanism"]

SHARED: Mapping[str, str] = {
    "sensitive": "The column whose values are to be learned; each sensitive column in turn unless named, and the worst counts.",
    "knows": "The columns that the adversary knows of people.",
    "identity": "The column that names people in the original and in other tables.",
    "control": "A table of people who are not in the release, with the columns of the original.",
    "attacks": "How many people are attacked, or how many descriptions are tried.",
    "seed": "Seed for random draws.",
    "reveal": "Whether names, classes and values stand in the details: for the owner's eyes only.",
}
"""What the arguments mean that several attacks take."""


@dataclass(frozen=True, eq=False)
class AttackCard:
    """Everything that command line, documents, docs and the conformance tests need to know of an attack."""

    name: str
    title: str
    question: str
    """What it asks, in the owner's words."""
    how: str
    """How it is played, and when it works."""
    knows: str
    """What the adversary must know."""
    effort: str
    """What the adversary must have and do."""
    source: str
    sentence: Callable[[float], str]
    """What a success means, true for every share from 0 to 1."""
    misleads: str
    needs: frozenset[Needs] = frozenset()
    """What must be given besides release and roles."""
    unit: str = "share of people"
    """What the success is a share of."""
    people: bool = False
    """Whether people are attacked, each once, where they have several rows that nobody can join; else it is rows."""
    parameters: Mapping[str, str] = field(default_factory=dict)
    """What its own arguments mean; `SHARED` has the others."""
    classes: bool = False
    """Whether it looks at nothing of people but their class: then it can be played on all that a release says of a person."""
    wp29: tuple[int, str] | None = None
    """Which test of the Article 29 Working Party's Opinion 05/2014 it is, and the question as the Opinion puts it."""
    definition: str = ""
    """The docstring: who falls, the baseline, the control, the extremes."""


@dataclass(frozen=True, eq=False)
class Attack(Generic[P]):
    """`attack(release, roles)` is an Outcome; `attack.set(share="0.9")` sets a parameter from its text, `attack.on("salary")` the column."""

    card: AttackCard
    play: Callable[P, Outcome]
    """On one sensitive column, if it is on one."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    metrics: list[Metric] = field(default_factory=list)
    """The numbers of it that are metrics."""

    def _about(self) -> list[str]:
        return [self.card.name]

    @functools.cached_property
    def takes(self) -> Mapping[str, str]:
        """What may be given besides release and roles, and what it means."""
        names = list(inspect.signature(self.play).parameters)[2:]
        return {name: self.card.parameters.get(name) or SHARED.get(name, "") for name in names}

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Outcome:
        """Play it; on several sensitive columns each in turn, and the worst counts."""
        given: dict[str, Any] = {**dict(zip(("release", "roles"), args, strict=False)), **self.settings, **kwargs}
        check_release(given.get("release"), given.get("roles"))
        roles = given["roles"]
        for name, value in given.items():  # a table of several rows a person that one row is made of
            if isinstance(value, Release):
                given[name] = value.one_row_each(roles)
            elif isinstance(value, Table) and roles.row_choice is not None and roles.row_choice.fits(value):
                given[name] = one_row_a_person(value, roles)
        if roles.linked:
            given = self._by_history(given)
        given["roles"] = given["roles"].by_rows  # an adversary has rows, and does not know whose they are
        if roles.people.get("rows") == "unlinked":
            return self._on_rows(given)
        return self._played(given)

    def _on_rows(self, given: dict[str, Any]) -> Outcome:
        """Where people have several rows that nobody can join: an attack that counts rows says so, and none replays what counted people."""
        if "mechanism" in self.card.needs:
            raise Unavailable(
                f'{self.card.name} makes the release again, row by row, but its mechanism counted people (rows = "unlinked"), so it cannot be played.'
            )
        outcome = self._played(given)
        if self.card.people:
            return outcome
        return replace(
            outcome, sentence=f"{_of_rows(outcome.sentence)} Rows are attacked, and a person may have several."
        )

    def _played(self, given: dict[str, Any]) -> Outcome:
        column = given.pop("sensitive", None)
        turns = self.columns(given["roles"]) if column is None else (column,)
        return worst([self._outcome(**given, **({} if turn is None else {"sensitive": turn})) for turn in turns])

    def _by_history(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """On the classes of people whose rows are joined: those of the history, by its rows that differ."""
        roles: Roles = given["roles"]
        beyond = [name for name in ("control", "population", "previous") if given.get(name) is not None]
        if not self.card.classes or beyond:
            what = f"with {beyond[0]} " if beyond else ""
            raise Unavailable(
                f'{self.card.name} {what}looks at single rows, but {roles.source} says that the rows of a person are joined (rows = "linked"); '
                "play homogeneity, skewness or similarity, and measure prosecutor_risk and marketer_risk to see who can be found."
            )
        by_history = given["release"].evidence(roles).by_history(rows_apart=True)
        rows = replace(by_history.roles, people={}, person=None, one_row_per_person=True)
        return {**given, "release": by_history.release, "roles": rows}

    def _outcome(self, **given: Any) -> Outcome:
        """How it went on one column, with the card's words where it says nothing else."""
        play: Callable[..., Outcome] = self.play
        outcome, card, column = play(**given), self.card, given.get("sensitive")
        return replace(
            outcome,
            details=replace(outcome.details, column=column) if column and outcome.column is None else outcome.details,
            name=outcome.name or card.name,
            title=outcome.title or card.title,
            knew=outcome.knew or card.knows,
            effort=outcome.effort or card.effort,
            source=outcome.source or card.source,
        )

    def columns(self, roles: Roles) -> tuple[str | None, ...]:
        """The sensitive columns that are attacked in turn; None stands for an attack on no column, or on one that is set."""
        on_column = "sensitive" in self.takes and "sensitive" not in self.settings
        return (roles.sensitive if on_column else ()) or (None,)

    def set(self, **texts: str) -> Attack[P]:
        """The same attack with these parameters, read from texts as the command line gives them."""
        hints = typing.get_type_hints(self.play)
        values: dict[str, Any] = {}
        for name, text in texts.items():
            if name not in self.takes:
                known = ", ".join(self.takes) or "none"
                raise InputError(f"{self.card.name} has no parameter {name!r}; it takes {known}.")
            values[name] = from_text(text, hints[name], f"{self.card.name}: {name}")
        return replace(self, settings={**self.settings, **values})

    def on(self, column: str) -> Attack[P]:
        """The same attack on one column."""
        if "sensitive" not in self.takes:
            raise InputError(f"{self.card.name} does not attack a single column; write it without ({column}).")
        return replace(self, settings={**self.settings, "sensitive": column})

    def as_dict(self) -> dict[str, Any]:
        """The card as plain data."""
        card = self.card
        return {
            "name": card.name,
            "title": card.title,
            "asks": card.question,
            "played": card.how,
            "adversary": f"must know {card.knows}",
            "effort": card.effort,
            "needs": ", ".join(sorted(card.needs)) or "the release and the roles only",
            "unit": card.unit,
            "definition": " ".join(card.definition.split()),
            "misleads": card.misleads,
            "metrics": ", ".join(metric.card.name for metric in self.metrics) or "none",
            "source": card.source,
            "parameters": dict(self.takes),
        }

    def metric(self, *, title: str, **card: Any) -> Callable[[Callable[..., Outcome | Score]], Metric]:
        """Make a number of the attack a metric, from an outcome or a score; what is not given of its card is the attack's."""
        own = self.card
        needs = frozenset(need for need in own.needs if need in ("sensitive", "original", "population"))
        both = {"question": own.question, "source": own.source, "misleads": own.misleads, "sentence": own.sentence}
        full = {**both, "scope": "table", "knows": own.knows, "unit": own.unit, "needs": needs, **card}

        def make(kernel: Callable[..., Outcome | Score]) -> Metric:
            @functools.wraps(kernel)
            def score(evidence: Evidence, column: str | None, **parameters: Any) -> Score:
                result = kernel(evidence, column, **parameters)
                return result if isinstance(result, Score) else success(result, full["unit"])

            metric = measure(title=title, **full)(score)
            self.metrics.append(metric)
            return metric

        return make


def _of_rows(sentence: str) -> str:
    """A sentence that counts people, of rows."""
    return re.sub(
        r"(\d )(people|persons?)\b", lambda found: found[1] + ("row" if found[2] == "person" else "rows"), sentence
    )


def attack(**card: Any) -> Callable[[Callable[P, Outcome]], Attack[P]]:
    """Make a function an Attack: its name is the function's, its definition the docstring's, the rest of the card is given."""

    def make(play: Callable[P, Outcome]) -> Attack[P]:
        return Attack(AttackCard(name=play.__name__, definition=inspect.getdoc(play) or "", **card), play)

    return make


def success(outcome: Outcome, unit: str) -> Score:
    """The success of an attack with its interval, and what an adversary without the release does."""
    assert outcome.baseline is not None
    numbers = {
        "attacked": outcome.attacked,
        "fell": outcome.fell,
        "baseline": outcome.baseline.value,
        "above_baseline": outcome.above,
    }
    rate = outcome.success
    ends = (rate.low, rate.high) if outcome.exactness == "estimate" else None
    return Score(rate.value, unit, outcome.exactness, ci=ends, details={**numbers, **outcome.details.to_dict()})


def parse(text: str, registry: Mapping[str, Attack[Any]]) -> Attack[Any]:
    """Read `name[key=value,...](column)`, as a metric is written; several words are separated by |."""
    match = NOTATION.match(text)
    if match is None or match["sign"]:
        raise InputError(f"Cannot read {text!r}; write an attack like homogeneity[share=0.9](salary).")
    if match["name"] not in registry:
        there = hint(match["name"], registry, f"there are {', '.join(registry)}.")
        raise InputError(f"No attack {match['name']!r}; {there}")
    attack = registry[match["name"]]
    settings: dict[str, str] = {}
    for part in (match["parameters"] or "").split(",") if match["parameters"] else ():
        key, sign, value = part.partition("=")
        if not sign:
            raise InputError(f"{text!r}: {part.strip()!r} is not key=value.")
        settings[key.strip()] = value.strip()
    attack = attack.set(**settings)
    return attack.on(unquoted(match["column"])) if match["column"] else attack
