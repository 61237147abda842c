"""A measure, its card, its score; and a privacy model, which is a measure and a bound."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field, replace
from fractions import Fraction
from typing import Any, Literal, overload

import numpy as np

from .cell_loss import CellLoss
from .classes import Classes
from .column import Column, FloatArray, IntArray
from .errors import InputError, RequirementError, Unavailable, hint
from .noun import Sheet, dataclass
from .parameter import Choice, Parameter
from .release import Evidence, Release, check_release
from .roles import Roles

Exactness = Literal["exact", "bound", "estimate"]
Family = Literal[
    "Who can be found",
    "Who can be found with other tables",
    "What classes tell about sensitive values",
    "What classes tell, in bits",
    "What perturbed values still tell",
    "What can be mined",
    "What it is worth",
]
"""The headings that metrics stand under, in order."""
QUASI_KNOWN = "all quasi-identifiers of a person, and that the person is in the release"
"""What most adversaries have to know."""
TOLERANCE = 1e-12
"""Rounding in floating point must not fail a release that meets its limit exactly."""


@dataclass(frozen=True, eq=False)
class PerValue:
    """A number for every pair of a class and a sensitive value, where only the pairs that occur take room.

    `number[i]` belongs to class `member[i]` and value `value[i]`, by class and then by value; a class that lacks value w
    has `absent[w]`. Classes are numbered as in `Score.per_class`, values as in `column`, which knows their spelling.
    """

    column: Column
    member: IntArray
    value: IntArray
    number: FloatArray
    absent: FloatArray

    def of(self, member: int) -> FloatArray:
        """The numbers of one class, one for each value of the table."""
        numbers = self.absent.copy()
        first, end = np.searchsorted(self.member, [member, member + 1])
        numbers[self.value[first:end]] = self.number[first:end]
        return numbers


@dataclass(frozen=True, eq=False)
class Score:
    """A measured number that says what it is: never a bare float."""

    value: float
    unit: str
    exactness: Exactness = "exact"
    per_class: FloatArray | None = None
    ci: tuple[float, float] | None = None
    details: Mapping[str, Any] = field(default_factory=dict)
    per_value: PerValue | None = None

    def _about(self) -> list[str]:
        return [f"{self.value:.6g} {self.unit}", self.exactness]

    def _repr_html_(self) -> str:
        rows = [("value", f"{self.value:.6g} {self.unit}"), ("how sure", self.exactness)]
        if self.ci is not None:
            rows.append(("interval", f"{self.ci[0]:.6g} to {self.ci[1]:.6g}"))
        if self.per_class is not None:
            rows.append(("classes", f"{len(self.per_class):,}"))
        return Sheet("Score", rows).html()

    def plot(self) -> Any:
        """How many classes have which number, as an Altair chart."""
        if self.per_class is None:
            raise Unavailable("This score is one number for the whole table; there is none per class to draw.")
        from .figure import histogram

        return histogram(self.per_class, unit=self.unit)

    @property
    def where(self) -> str:
        """The columns behind the number, where a metric counts columns that break rules: `zip (postal codes), born (dates)`."""
        broken: Mapping[str, list[str]] = self.details.get("broken", {})
        return ", ".join(f"{name} ({', '.join(rules)})" for name, rules in broken.items())


@dataclass(frozen=True)
class Usual:
    """How a metric is asked where nobody names what to measure."""

    place: int
    """Its place among the metrics that are asked so."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    each_column: bool = False
    """Whether it is asked of every sensitive column by itself."""
    target: str = ""
    """The parameter that takes the field which users will predict: it is asked only where there is one."""
    compared: bool = False
    """Whether it is a column of the table that compares candidates."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Card:
    """Everything that help, report, page, docs, pruning and the conformance tests need to know of a metric."""

    name: str
    title: str
    question: str
    """What it asks, in the owner's words."""
    about: Literal["privacy", "utility"] = "privacy"
    better: Literal["higher", "lower"] = "lower"
    unit: str
    bounds: tuple[float, float] = (0, 1)
    monotone: bool = False
    """Whether merging classes can never make it worse: then a lattice search may prune by it."""
    source: str
    sentence: Callable[[float], str]
    """What a value means, true for every value within the bounds."""
    misleads: str
    gamed: str = ""
    """Of a utility metric, how a release can score well without being of use."""
    needs: frozenset[Literal["sensitive", "original", "pairs", "population"]] = frozenset()
    scope: Literal["class", "classes", "table"] = "class"
    """What a value is of. `class`: of each class, from the class and the overall distribution. `classes`: of each class too,
    but found with all classes at once, so that a sanitizer cannot ask it of a single one. `table`: of the whole table. Unless the
    card says so, a kernel that takes Classes is of each class, and one that takes Evidence of the table."""
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    inherited: bool | Callable[..., bool] = False
    """Whether a class that holds a class which meets a bound meets it too, whatever the rest of the table: then the rows
    that must be suppressed only become fewer as classes are merged."""
    convex: bool | Callable[..., bool] = False
    """Whether a class is at most the mean of its parts, by their rows, given the overall distribution, and only the shares
    of the sensitive values count: then a class that misses a bound by much has many rows that miss it in any part."""
    alone: bool | Callable[..., bool] = False
    """Whether the number of a class depends on that class alone, whatever other rows are released: then a class that misses a
    bound must go, and which rows must be suppressed is no matter of choice. Of a mean, whether what a class costs does so."""
    costs: Callable[..., FloatArray] | None = None
    """For a mean over the rows, what each class adds to it: the value is the sum of these by the rows. However a class is cut,
    parts that hold a share of its rows must cost at least that share of what it costs."""
    covers: bool = False
    """Whether it looks at whom of a population the classes cover, where one is given."""
    more: Callable[..., Mapping[str, Any]] | None = None
    """Of a class metric, what its score says besides the numbers: from the classes, the numbers and the parameters."""
    people: bool = False
    """Whether it counts people, and not rows, where people have several rows that nobody can join; every class metric does."""
    joins: bool = False
    """Whether it looks at the person's column in the release by itself, such as to join the rows of a person by it."""
    noise: bool = False
    """Whether it can be asked where a quasi-identifier was perturbed: it looks at distances, and counts no classes."""
    apart: bool = True
    """Whether it can be asked where only groups join the sensitive columns to the quasi-identifiers (Anatomy): its classes
    are then the groups."""
    family: Family | None = None
    """The heading that it stands under, where that does not follow from what it needs and from its unit."""
    knows: str = ""
    """What an adversary would have to know for the risk to be real: all quasi-identifiers, unless the card of a privacy metric says otherwise."""
    usual: Usual | None = None
    """How it is asked where nobody names what to measure; None if it is asked only by name."""
    audience: Literal["owner", "recipient"] = "owner"
    """Who may read its sentence. `recipient`: a note that leaves the house may show it, since it tells shares, never classes."""
    limit: Callable[[float], str] | None = None
    """What a limit says, in words for a recipient; else the title and the number."""
    keeps: Literal["variety", "certainty"] | None = None
    """What a limit keeps a class from: having one sensitive value only (variety), or making a value nearly certain (certainty)."""
    cells: CellLoss | Callable[..., CellLoss] | None = None
    """Of a mean over the cells, what a cell loses: a search then knows what levels cost before anything is counted."""
    adds: Callable[[Classes], FloatArray] | None = None
    """Of a sum over the classes, what each adds where no row is suppressed: ranges of values can then be priced one by one."""
    of_classes: Callable[[Classes], float] | None = None
    """Of a table metric that looks at nothing but the classes, the value from them: a search then needs no release."""
    definition: str = ""
    """The formula, from the docstring of the kernel."""

    @property
    def heading(self) -> Family:
        """The heading that the metric stands under."""
        if self.family is not None:
            return self.family
        if self.about == "utility":
            return "What it is worth"
        if "pairs" in self.needs:
            return "What perturbed values still tell"
        if "population" in self.needs:
            return "Who can be found with other tables"
        if self.unit == "bits":
            return "What classes tell, in bits"
        return "What classes tell about sensitive values" if "sensitive" in self.needs else "Who can be found"

    @property
    def counts_people(self) -> bool:
        """Whether it can be asked of people with several rows: a class metric is given people and weights instead of rows."""
        return self.people or self.scope == "class"

    @property
    def steers(self) -> bool:
        """Whether it can be asked of a class before it is made: from its rows alone, without whom it covers of a population."""
        return self.scope == "class" and "population" not in self.needs

    def worst(self, values: FloatArray) -> Any:
        """The worst of some values."""
        return values.min() if self.better == "higher" else values.max()


@dataclass(frozen=True)
class Metric:
    """`metric(release, roles)` is a Score; `metric(ground="equal")` sets a parameter; `metric.on("salary")` a column.

    A class metric's kernel takes `Classes` (and its parameters) and returns one number per class; the value is the worst
    class. A table metric's takes `Evidence` and the sensitive column, and returns the value.
    """

    card: Card
    kernel: Callable[..., Any] = field(compare=False)
    parameters: tuple[tuple[str, Any], ...] = ()
    column: str | None = None

    @overload
    def __call__(self, release: Release, roles: Roles, /) -> Score: ...
    @overload
    def __call__(self, /, **parameters: Any) -> Metric: ...
    def __call__(
        self, release: Release | None = None, roles: Roles | None = None, /, **parameters: Any
    ) -> Score | Metric:
        """Measure, or set parameters."""
        if release is None:
            return self.set(**parameters)
        if roles is None or parameters:
            raise TypeError(f"{self.card.name} takes (release, roles) to measure, or parameters to be set; not both")
        check_release(release, roles)
        return self.score(release.evidence(roles))

    def set(self, **parameters: Any) -> Metric:
        """The same metric with these parameters."""
        values = dict(self.parameters)
        for name, value in parameters.items():
            kind = self.card.parameters.get(name)
            if kind is None:
                raise RequirementError(f"{self.card.name} has no parameter {name!r}; it {written(self.card)}.")
            try:
                values[name] = kind.read(value)
            except RequirementError as wanted:
                raise RequirementError(f"{self.card.name}: {name} must be {wanted}; it {written(self.card)}.") from None
        # in the card's order, without what is the default anyway: one metric has one spelling
        kept = [(n, values[n]) for n, kind in self.card.parameters.items() if n in values and values[n] != kind.default]
        return replace(self, parameters=tuple(kept))

    def on(self, column: str) -> Metric:
        """The same metric for one sensitive column."""
        if "sensitive" not in self.card.needs:
            raise RequirementError(
                f"{self.card.name} does not look at a sensitive column; write it without ({column})."
            )
        return replace(self, column=column)

    def variants(self) -> list[Metric]:
        """The metric for every choice of the parameters that are not set; none if a number is missing."""
        variants = [self]
        for name, kind in self.card.parameters.items():
            if name not in dict(self.parameters):
                variants = [metric.set(**{name: value}) for metric in variants for value in kind.usual]
        return variants

    @property
    def usual(self) -> Metric:
        """The metric as it is asked where nobody names what to measure."""
        settings = {} if self.card.usual is None else self.card.usual.settings
        return replace(self, parameters=(), column=None).set(**settings)

    @property
    def arguments(self) -> dict[str, Any]:
        """Every parameter's value, the defaults included."""
        given = dict(self.parameters)
        return {name: given.get(name, kind.default) for name, kind in self.card.parameters.items()}

    @property
    def cells(self) -> CellLoss | None:
        """What a cell loses, for these parameters."""
        cells, arguments = self.card.cells, self.arguments
        if not callable(cells):
            return cells
        return None if None in arguments.values() else cells(**arguments)

    @property
    def inherited(self) -> bool:
        """The card's word for these parameters."""
        return self._said(self.card.inherited)

    @property
    def alone(self) -> bool:
        """The card's word for these parameters."""
        return self._said(self.card.alone)

    @property
    def convex(self) -> bool:
        """The card's word for these parameters."""
        return self._said(self.card.convex)

    def _said(self, word: bool | Callable[..., bool]) -> bool:
        return word(**self.arguments) if callable(word) else word

    def _about(self) -> list[str]:
        return [self.card.name]

    def _repr_html_(self) -> str:
        card = self.card
        rows = [
            ("asks", card.question),
            ("unit", f"{card.unit}; {card.better} is better"),
            ("misleads", card.misleads),
            *([("is gamed by", card.gamed)] if card.gamed else []),
            ("source", card.source),
        ]
        return Sheet(f"{card.name}: {card.title}", rows).html()

    def __str__(self) -> str:
        text = self.card.name
        if self.parameters:
            spelled = (self.card.parameters[name].spell(name, value) for name, value in self.parameters)
            text += f"[{','.join(spelled)}]"
        return text + f"({_quoted(self.column)})" if self.column else text

    def at_least(self, bound: float) -> Requirement:
        """Require a value of at least this."""
        return Requirement(self, ">=", float(bound))

    def at_most(self, bound: float) -> Requirement:
        """Require a value of at most this."""
        return Requirement(self, "<=", float(bound))

    def per_class(self, classes: Classes) -> FloatArray:
        """One number per class: what a sanitizer checks before it makes a cut."""
        if self.card.scope != "class":
            raise Unavailable(f"{self} is about the whole table, not about a class.")
        self.check_complete()
        values: FloatArray = self.kernel(classes, **self.arguments)
        return values

    def score(self, evidence: Evidence) -> Score:
        """Measure; over several sensitive columns, the worst of them."""
        self.check_complete()
        evidence = self._counted(evidence)
        self._check_countable(evidence)
        self._check_beside(evidence)
        if not len(evidence.tuples):
            raise Unavailable(f"{evidence.release.table.name} has no rows, so {self} has nothing to measure.")
        if "sensitive" not in self.card.needs:
            return self._score(evidence, None)
        columns = [self.column] if self.column else list(evidence.roles.sensitive)
        if not columns:
            raise Unavailable(
                f"{self} needs a sensitive column; name one in {evidence.roles.source} or as {self}(COLUMN)."
            )
        self._check_true(evidence, columns)
        scores = {column: self._score(evidence, column) for column in columns}
        worst = min if self.card.better == "higher" else max
        column = worst(scores, key=lambda name: scores[name].value)
        return replace(scores[column], details={**scores[column].details, "column": column})

    def _counted(self, evidence: Evidence) -> Evidence:
        """The evidence with people counted where the roles say so; a metric that can only count rows is refused there."""
        roles, card = evidence.roles, self.card
        if not roles.counts_people or (roles.linked and card.joins):
            return evidence
        if card.about == "utility" or card.unit == "columns":
            return evidence.by_rows
        if not card.counts_people:
            raise Unavailable(
                f"{self} counts rows, and {roles.source} says that {'households' if roles.counts_households else 'people'} are counted "
                f"([people] {', '.join(f'{key} = {value!r}' for key, value in roles.people.items() if key in ('rows', 'count'))})."
            )
        if not roles.linked:
            return evidence
        population = {"population"} if card.covers and evidence.release.population is not None else set()
        if beyond := sorted(card.needs & {"original", "pairs", "population"} | population):
            raise Unavailable(
                f'{self} also looks at the {beyond[0]}, where linked people are not counted (rows = "linked" in {roles.source}).'
            )
        return evidence.by_history(rows_apart="sensitive" in card.needs)

    def _check_countable(self, evidence: Evidence) -> None:
        """Refuse to count classes where a quasi-identifier was perturbed: who shares its values is then chance.

        Statistics have no rows of people to count at all.
        """
        if evidence.release.statistics:
            raise Unavailable(
                f"{self} counts rows, but this release holds statistics, not one row per person; its notes say what "
                f"{evidence.release.made_by} promises."
            )
        noisy = [name for name in evidence.roles.quasi if name in evidence.release.perturbed]
        if noisy and self.card.about == "privacy" and "pairs" not in self.card.needs and not self.card.noise:
            raise Unavailable(
                f"{self} counts rows that share their quasi-identifiers, but {noisy[0]!r} was perturbed, so that would say nothing "
                "about who can be found; use linkage_distance_risk or noise_interval, with the original and --pair."
            )

    def _check_true(self, evidence: Evidence, columns: list[str]) -> None:
        """Refuse to count perturbed sensitive values as if they were the people's own; joined by groups they are, as a group."""
        release = evidence.release
        changed = [name for name in columns if name in release.perturbed and release.joined_by is None]
        if changed and self.card.about == "privacy" and "pairs" not in self.card.needs and not self.card.noise:
            raise Unavailable(
                f"{self} counts the values of {changed[0]!r}, which was perturbed, so a value no longer belongs to the person in its "
                f"row; measure another column as {self.card.name}(COLUMN), or use noise_interval with the original."
            )

    def _check_beside(self, evidence: Evidence) -> None:
        """Refuse what looks at quasi-identifiers and sensitive columns together where they are only joined by group."""
        apart = [] if self.card.apart else [n for n in (self.column, *evidence.roles.sensitive) if n in evidence.apart]
        if apart:
            raise Unavailable(
                f"{self} looks at quasi-identifiers and sensitive columns side by side, but only the groups in "
                f"{evidence.release.joined_by!r} link {apart[0]!r} to them; use a metric on groups, such as alpha_anonymity."
            )

    def _score(self, evidence: Evidence, column: str | None) -> Score:
        unit, roles = self.card.unit, evidence.roles
        if unit == "rows" and roles.counts_people:
            unit = "households" if roles.counts_households else "people"
        if self.card.scope == "class":
            classes = evidence.classes(column)
            if self.card.covers:
                classes = replace(classes, cover=evidence.population_cover())
            values = self.per_class(classes)
            worst = float(self.card.worst(values))
            if self.card.more is not None:
                return Score(worst, unit, **{"per_class": values, **self.card.more(classes, values, **self.arguments)})
            hit = values == worst
            details = {"worst_classes": int(hit.sum()), "worst_rows": int(classes.people[hit].sum())}
            exactness: Exactness = "bound" if column is None and evidence.people_are_bounds else "exact"
            return Score(worst, unit, exactness, values, details=details)
        result = self.kernel(evidence, column, **self.arguments)
        return result if isinstance(result, Score) else Score(float(result), unit)

    def sentence(self, value: float) -> str:
        """The card's sentence for a value."""
        return self.card.sentence(value)

    def check_complete(self) -> None:
        """Raise if a parameter is not set."""
        if any(value is None for value in self.arguments.values()):
            raise RequirementError(f"{self.card.name} {written(self.card)}.")


def check_counted(require: Iterable[Requirement], roles: Roles, who: str) -> None:
    """Refuse to promise what can only count rows where people are counted."""
    for requirement in require if roles.counts_people else ():
        card = requirement.metric.card
        if card.about != "privacy" or card.unit == "columns" or (roles.linked and card.joins):
            continue
        if not card.counts_people:
            raise InputError(
                f"{who}: {requirement} counts rows, but {roles.source} says that people are counted "
                f'(rows = "{roles.people["rows"]}"); require something else.'
            )
        if roles.linked and card.needs & {"original", "pairs", "population"}:
            raise InputError(
                f"{who}: {requirement} needs more than the release, and linked people are counted in the release alone "
                f'(rows = "linked" in {roles.source}); require something else.'
            )


def measure(**card: Any) -> Callable[[Callable[..., Any]], Metric]:
    """Make a kernel a Metric: its name is the function's, its definition the docstring's, the rest of the card is given."""

    if card.get("about", "privacy") == "privacy":
        card.setdefault("knows", QUASI_KNOWN)

    def make(kernel: Callable[..., Any]) -> Metric:
        first = next(iter(inspect.signature(kernel).parameters.values()))
        if first.annotation in (Evidence, "Evidence"):
            card.setdefault("scope", "table")
        return Metric(Card(name=kernel.__name__, definition=inspect.getdoc(kernel) or "", **card), kernel)

    return make


@dataclass(frozen=True)
class Verdict:
    """A requirement and what was measured."""

    requirement: Requirement
    score: Score

    @property
    def met(self) -> bool:
        """Whether the release meets the requirement."""
        return self.requirement.holds(self.score.value)

    def _about(self) -> list[str]:
        return [*self.requirement._about(), "met" if self.met else "not met"]

    def __str__(self) -> str:
        word = "met" if self.met else "not met"
        # ten digits, so that a value next to its bound is not shown as the bound
        value = self.score.value
        measured = spell_number(value) if float(value).is_integer() else f"{value:.10g}"
        where = f": {self.score.where}" if self.score.where else ""
        return f"{self.requirement}: {word}, measured {measured} ({self.score.exactness}){where}"


@dataclass(frozen=True)
class Requirement:
    """A metric and a bound: what k-anonymity, l-diversity, t-closeness and all the others are."""

    metric: Metric
    sign: Literal[">=", "<="]
    bound: float

    def __post_init__(self) -> None:
        right = ">=" if self.metric.card.better == "higher" else "<="
        if self.sign != right:
            raise RequirementError(
                f"{self.metric} is better {self.metric.card.better}, so a limit reads: {self.metric} {right} {spell_bound(self.bound)}."
            )
        if math.isnan(self.bound):
            raise RequirementError(f"The limit of {self.metric} is not a number.")

    def _about(self) -> list[str]:
        return [f"{self.metric.card.name} {self.sign} {spell_bound(self.bound)}"]

    def __str__(self) -> str:
        return f"{self.metric} {self.sign} {spell_bound(self.bound)}"

    def holds(self, value: float) -> bool:
        """Whether a value meets the bound, rounding aside."""
        return bool(self.passes(value))

    def passes(self, values: Any) -> Any:
        """The same for an array of values."""
        slack = TOLERANCE * max(1.0, abs(self.bound))
        return values >= self.bound - slack if self.sign == ">=" else values <= self.bound + slack

    def implies(self, other: Requirement) -> bool:
        """Whether what meets this meets the other, too, since it asks no more of the same metric."""
        return self.metric == other.metric and other.holds(self.bound)

    def check(self, release: Release, roles: Roles) -> Verdict:
        """Measure and compare."""
        return Verdict(self, self.metric.score(release.evidence(roles)))


def listed(require: object) -> tuple[Requirement, ...]:
    """Requirements as a tuple; one alone may stand for a list of one, and a text is refused."""
    if isinstance(require, Requirement):
        return (require,)
    requirements = tuple(require) if isinstance(require, Iterable) else (require,)
    if not all(isinstance(each, Requirement) for each in requirements):
        raise RequirementError(
            "require takes a list of requirements; make one of a text by sfumato.require('k_anonymity >= 5'), or write sfumato.k_anonymity.at_least(5)."
        )
    return requirements


def spell_number(x: float) -> str:
    """A number that reads back as itself, whole numbers without a point."""
    return str(int(x)) if math.isfinite(x) and float(x).is_integer() and abs(x) < 1e15 else repr(float(x))


def spell_bound(x: float) -> str:
    """A bound that reads back as itself: 5, 0.2, and 1/3 rather than 0.3333333333333333.

    >>> [spell_bound(x) for x in (5.0, 0.2, 1 / 3, 0.05 / 0.3, 0.123456789)]
    ['5', '0.2', '1/3', '0.16666666666666669', '0.123456789']
    """
    text = spell_number(x)
    if len(text) < 10 or not math.isfinite(x):
        return text
    near = Fraction(x).limit_denominator(1000)
    return f"{near.numerator}/{near.denominator}" if near.numerator / near.denominator == x else text


def written(card: Card) -> str:
    """How a metric with parameters is written."""
    if not card.parameters:
        return "takes no parameter"
    ways = [""]
    for name, kind in card.parameters.items():
        options = kind.options if isinstance(kind, Choice) else (f"{name}=...",)
        ways = [f"{way},{option}" if way else option for way in ways for option in options]
    return "is written " + " or ".join(f"{card.name}[{way}]" for way in ways)


def _quoted(column: str) -> str:
    """A column's name as it stands in parentheses; in quotes where it could not be read back."""
    plain = not set(column) & set('()[]"<>=') and column == column.strip()
    return column if plain else '"' + column.replace('"', '""') + '"'


def unquoted(column: str) -> str:
    """A column's name from what stands in parentheses."""
    return column[1:-1].replace('""', '"') if column.startswith('"') else column


NOTATION = re.compile(
    r"""^\s*(?P<name>[A-Za-z_]\w*)\s*
        (?:\[(?P<parameters>[^\]]*)\])?\s*
        (?:\(\s*(?P<column>"(?:[^"]|"")*"|[^()"]*?)\s*\))?\s*
        (?:(?P<sign>>=|<=|≥|≤|==?|<|>)\s*(?P<bound>\S.*?))?\s*$""",
    re.VERBOSE,
)
"""`name[parameters](column) >= bound`: how metrics, requirements and attacks are written."""


def parse(text: str, registry: Mapping[str, Metric]) -> tuple[Metric, str | None, str | None]:
    """Read `name[parameters](column) >= bound`; the sign and the bound may be absent."""
    match = NOTATION.match(text)
    if not match:
        raise RequirementError(
            f"Cannot read {text!r}; write it like k_anonymity >= 5 or t_closeness[ordered](salary) <= 0.2."
        )
    name = match["name"]
    if name not in registry:
        known = hint(name, registry, f"known: {', '.join(registry)}.")
        raise RequirementError(f"No metric {name!r}; {known}")
    metric = registry[name]
    if match["parameters"] is not None:
        given: dict[str, str] = {}
        free = list(metric.card.parameters)
        for part in match["parameters"].split(","):
            key, sign, value = part.partition("=")
            if not sign:  # a bare word belongs to the first parameter that has none yet
                key, value = free[0] if free else "", part
            if key.strip() not in free:
                raise RequirementError(f"{text!r}: {name} {written(metric.card)}.")
            free.remove(key.strip())
            given[key.strip()] = value.strip()
        metric = metric.set(**given)
    if match["column"]:
        metric = metric.on(unquoted(match["column"]))
    return metric, match["sign"], match["bound"]


def parse_requirement(text: str, registry: Mapping[str, Metric]) -> Requirement:
    """Read a requirement; `str` of it gives the same text back."""
    metric, sign, bound = parse(text, registry)
    if sign is None or bound is None:
        raise RequirementError(
            f"{text!r} has no limit; write for example {metric} {'>=' if metric.card.better == 'higher' else '<='} 5."
        )
    signs: dict[str, Literal[">=", "<="]] = {">=": ">=", "≥": ">=", "<=": "<=", "≤": "<="}
    if sign not in signs:
        raise RequirementError(f"{text!r}: a limit is written with >= or <=.")
    try:
        over, slash, under = bound.partition("/")
        number = float(over) / float(under) if slash else float(bound)
    except (ValueError, ZeroDivisionError):
        raise RequirementError(f"{text!r}: the limit is not a number or a fraction such as 1/3.") from None
    metric.check_complete()
    return Requirement(metric, signs[sign], number)
