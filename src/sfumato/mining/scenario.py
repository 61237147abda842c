"""A scenario: which field a user wants to predict and which one the owner protects, for whom, how near, by which miners.

In Python:  Scenario(good=Good(field="salary-class"), bad=Bad(field="age"))
In a file (TOML):

    table = "adult.csv"                    # paths are relative to this file
    roles = "roles.toml"
    missing = ["?"]

    [[candidate]]
    mechanism = "k_member"                 # one of ours, made here, ...
    set = { k = 10 }
    [[candidate]]
    file = "release.csv"                   # ... or a file from elsewhere
    pair = "position"

    [good]
    field = "salary-class"
    error = "equal"                        # or "within 5", or an expression: "predicted >= true"
    weights = { "age > 55 and sex = 'F'" = 10, otherwise = 1 }
    miners = ["naive_bayes", "tree", "random_forest"]
    groups = ["sex", "race"]

    [bad]
    field = "age"
    miners = "reference"
    [bad.aims.A]                           # any nearer prediction, everyone
    nearer = 0
    [bad.aims.C]                           # a chosen 5%
    nearer = 0
    chosen = 0.05
    [bad.aims.classes]                     # any nearer prediction, each equivalence class counted once
    count = "classes"
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import Annotated, Any, Literal

from msgspec import Meta

from ..core.errors import InputError
from ..core.noun import dataclass
from ..core.toml import FileOptions, Sections, Texts, opened, placed, section
from .weights import Implication, Weights


@dataclass(frozen=True, kw_only=True)
class Good:
    """The good utility (sec. 2.3): a field that users predict, the worth of a prediction, and what each person counts."""

    field: str
    error: Any = "equal"
    weights: Any = None
    miners: Any = "paper"
    groups: Texts = ()
    """Columns whose values are looked at one by one: does the release serve some groups worse?"""
    transfer: bool = True
    """Whether miners are also trained on the release and asked of the original, and the other way."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "error", Implication.read(self.error))
        object.__setattr__(self, "weights", Weights.read(self.weights, "good"))


@dataclass(frozen=True, kw_only=True)
class Aim:
    """What an adversary counts as a success: a prediction that is `nearer` percent nearer, for whom it matters."""

    name: str
    nearer: float = 0.0
    weights: Any = None
    chosen: float | None = None
    """A share of the people, drawn by the seed, who alone count (scenario C)."""
    count: Literal["people", "classes"] = "people"
    """What is counted: people, or equivalence classes, each once however many people it has (the mean over them)."""

    def __post_init__(self) -> None:
        if not 0 <= self.nearer <= 100:
            raise InputError(f"Aim {self.name}: nearer is a percentage, from 0 (strictly nearer) to 100 (exact).")
        if self.chosen is not None and not 0 < self.chosen <= 1:
            raise InputError(f"Aim {self.name}: chosen is a share of the people, above 0 and at most 1.")
        if self.count not in ("people", "classes"):
            raise InputError(f"Aim {self.name}: count is people or classes.")
        object.__setattr__(self, "weights", Weights.read(self.weights, f"aim {self.name}"))


AIMS = (Aim(name="A"), Aim(name="B", nearer=100), Aim(name="C", chosen=0.05))
"""The three of Sramka et al., 4.4: any nearer prediction of anyone; an exact one; any nearer one of a chosen 5%."""


@dataclass(frozen=True, kw_only=True)
class Bad:
    """The bad utility (sec. 2.4): a field that the owner protects, and the adversary's aims and miners."""

    field: str
    aims: tuple[Aim, ...] = AIMS
    miners: Any = "reference"

    def __post_init__(self) -> None:
        if not self.aims:
            raise InputError("The bad utility has no aim; leave them out for the paper's three.")
        if len({aim.name for aim in self.aims}) < len(self.aims):
            raise InputError("Two aims have the same name.")


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """What is asked of a release."""

    good: Good | None = None
    bad: Bad | None = None
    folds: int = 10
    seed: int = 0
    rows: int | None = None
    """At most so many people are mined, drawn by the seed; None: all."""

    def __post_init__(self) -> None:
        if self.good is None and self.bad is None:
            raise InputError("A scenario needs a good field, a bad one, or both.")
        if not isinstance(self.folds, int) or self.folds < 2:
            raise InputError("Cross-validation needs at least 2 folds, and a whole number of them.")
        if self.seed < 0:
            raise InputError("The seed is a whole number of at least 0.")
        if self.rows is not None and self.rows < 2 * self.folds:
            raise InputError(f"Mine at least {2 * self.folds} rows: two a fold.")


@dataclass(frozen=True, kw_only=True)
class MiningCandidate:
    """A release to be mined: a mechanism of ours with its parameters, or a file."""

    name: str
    mechanism: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    require: tuple[str, ...] = ()
    file: Path | None = None
    pair: str = "none"
    perturbed: frozenset[str] = frozenset()


@dataclass(frozen=True, kw_only=True)
class MiningPlan:
    """A scenario file, read."""

    table: Path
    roles: Path
    candidates: tuple[MiningCandidate, ...]
    scenario: Scenario
    reading: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class _ScenarioKeys(FileOptions):
    table: str
    roles: str
    candidate: Sections = ()
    good: Mapping[str, Any] | None = None
    bad: Mapping[str, Any] | None = None
    folds: int = 10
    seed: int = 0
    rows: int | None = None


@dataclass(frozen=True, kw_only=True)
class _GoodKeys:
    field: str
    error: Annotated[str, Meta(description='a text, such as "predicted >= true"')] = "equal"
    weights: Any = None
    miners: Texts = ()
    groups: Texts = ()
    transfer: bool = True


@dataclass(frozen=True, kw_only=True)
class _BadKeys:
    field: str
    miners: Texts = ()


@dataclass(frozen=True, kw_only=True)
class _CandidateKeys:
    name: str | None = None
    mechanism: str = ""
    set: Mapping[str, Any] = field(default_factory=dict)
    require: Texts = ()
    file: str = ""
    pair: Annotated[str, Meta(pattern="^(position|none|key:.*)$", description="position, none or key:COLUMN")] = "none"
    perturbed: Texts = ()


def read(path: Path) -> MiningPlan:
    """A scenario file; what is wrong in it is said with its place."""
    keys = section(_ScenarioKeys, opened(path, "scenario file"), str(path))
    if not keys.candidate:
        raise InputError(f"{path}: no [[candidate]] in it; name a mechanism or a file.")
    candidates = tuple(_candidate(entry, path, i) for i, entry in enumerate(keys.candidate, 1))
    if len({candidate.name for candidate in candidates}) < len(candidates):
        raise InputError(f"{path}: two candidates have the same name; give them names.")
    good = None if keys.good is None else section(Good, keys.good, f"{path}, [good]", _GoodKeys)
    bad = None if keys.bad is None else _bad(keys.bad, f"{path}, [bad]")
    try:
        scenario = Scenario(good=good, bad=bad, folds=keys.folds, seed=keys.seed, rows=keys.rows)
    except InputError as error:
        raise placed(error, str(path)) from None
    return MiningPlan(
        table=path.parent / keys.table,
        roles=path.parent / keys.roles,
        candidates=candidates,
        scenario=scenario,
        reading=keys.options,
    )


def _candidate(entry: Mapping[str, Any], path: Path, number: int) -> MiningCandidate:
    where = f"{path}, candidate {number}"
    keys = section(_CandidateKeys, entry, where)
    if ("mechanism" in entry) == ("file" in entry):
        raise InputError(f"{where}: name a mechanism or a file, one of both.")
    idle, other = (("set", "require"), "mechanism") if "file" in entry else (("pair", "perturbed"), "file")
    for name in idle:
        if name in entry:
            raise InputError(f"{where}: {name} belongs to a {other}.")
    if "file" in entry:
        file = path.parent / keys.file
        return MiningCandidate(
            name=keys.name or file.name, file=file, pair=keys.pair, perturbed=frozenset(keys.perturbed)
        )
    spelled = "".join(f" {key}={value}" for key, value in keys.set.items())
    return MiningCandidate(
        name=keys.name or f"{keys.mechanism}{spelled}",
        mechanism=keys.mechanism,
        parameters=keys.set,
        require=keys.require,
    )


def _bad(given: Mapping[str, Any], where: str) -> Bad:
    aims = given.get("aims", {})
    if not isinstance(aims, dict) or not all(isinstance(aim, dict) for aim in aims.values()):
        raise InputError(f"{where}: aims are tables, [bad.aims.NAME].")
    rest = {key: value for key, value in given.items() if key != "aims"}
    if "aims" in given:
        listed = tuple(section(Aim, aim, f"{where}, aim {name}", name=name) for name, aim in aims.items())
        return section(Bad, rest, where, _BadKeys, aims=listed)
    return section(Bad, rest, where, _BadKeys)
