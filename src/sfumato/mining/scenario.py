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
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field
from pathlib import Path
from typing import Any

from ..core.errors import InputError
from ..core.noun import dataclass
from ..core.toml import opened
from .weights import Implication, Weights


@dataclass(frozen=True, kw_only=True)
class Good:
    """The good utility (sec. 2.3): a field that users predict, the worth of a prediction, and what each person counts."""

    field: str
    error: Any = "equal"
    weights: Any = None
    miners: Any = "paper"
    groups: tuple[str, ...] = ()
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

    def __post_init__(self) -> None:
        if not 0 <= self.nearer <= 100:
            raise InputError(f"Aim {self.name}: nearer is a percentage, from 0 (strictly nearer) to 100 (exact).")
        if self.chosen is not None and not 0 < self.chosen <= 1:
            raise InputError(f"Aim {self.name}: chosen is a share of the people, above 0 and at most 1.")
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


_READING = ("delimiter", "quote", "encoding", "header", "missing", "dates", "decimal", "sheet", "query")


def read(path: Path) -> MiningPlan:
    """A scenario file; what is wrong in it is said with its place."""
    content = opened(path, "scenario file")
    known = {"table", "roles", "candidate", "good", "bad", "folds", "seed", "rows", *_READING}
    _only(content, known, str(path))
    for name in ("table", "roles"):
        if not isinstance(content.get(name), str):
            raise InputError(f'{path}: name the {name} file: {name} = "...".')
    listed = content.get("candidate", [])
    if not isinstance(listed, list) or not listed:
        raise InputError(f"{path}: no [[candidate]] in it; name a mechanism or a file.")
    candidates = tuple(_candidate(entry, path, i) for i, entry in enumerate(listed, 1))
    if len({candidate.name for candidate in candidates}) < len(candidates):
        raise InputError(f"{path}: two candidates have the same name; give them names.")
    more = {name: content[name] for name in ("folds", "seed", "rows") if name in content}
    for name, value in more.items():
        if not isinstance(value, int) or isinstance(value, bool):
            raise InputError(f"{path}: {name} must be a whole number.")
    with _in(str(path)):
        scenario = Scenario(good=_good(content.get("good"), path), bad=_bad(content.get("bad"), path), **more)
    return MiningPlan(
        table=path.parent / content["table"],
        roles=path.parent / content["roles"],
        candidates=candidates,
        scenario=scenario,
        reading={name: _way(name, content[name], path) for name in _READING if name in content},
    )


def _way(name: str, given: Any, path: Path) -> Any:
    """How tables are read, checked."""
    if name == "missing":
        return list(_texts(given, f"{path}: missing"))
    if not isinstance(given, bool if name == "header" else str):
        raise InputError(f"{path}: {name} is {'true or false' if name == 'header' else 'a text, in quotes'}.")
    return given


def _only(given: Mapping[str, Any], known: set[str], where: str) -> None:
    for name in given:
        if name not in known:
            raise InputError(f"{where}: {name!r} is not known there; known are {', '.join(sorted(known))}.")


def _candidate(entry: Any, path: Path, number: int) -> MiningCandidate:
    where = f"{path}, candidate {number}"
    if not isinstance(entry, dict):
        raise InputError(f"{where}: write [[candidate]] with mechanism = ... or file = ....")
    _only(entry, {"name", "mechanism", "set", "require", "file", "pair", "perturbed"}, where)
    if ("mechanism" in entry) == ("file" in entry):
        raise InputError(f"{where}: name a mechanism or a file, one of both.")
    for name in ("name", "mechanism", "file", "pair"):
        if not isinstance(entry.get(name, ""), str):
            raise InputError(f"{where}: {name} is a text, in quotes.")
    idle = {"set", "require"} if "file" in entry else {"pair", "perturbed"}
    for name in idle & set(entry):
        other = "mechanism" if "file" in entry else "file"
        raise InputError(f"{where}: {name} belongs to a {other}.")
    if "file" in entry:
        file = path.parent / entry["file"]
        pair = entry.get("pair", "none")
        if pair not in ("position", "none") and not pair.startswith("key:"):
            raise InputError(f"{where}: pair is position, none or key:COLUMN.")
        perturbed = frozenset(_texts(entry.get("perturbed", ()), f"{where}: perturbed"))
        return MiningCandidate(name=entry.get("name", file.name), file=file, pair=pair, perturbed=perturbed)
    settings = entry.get("set", {})
    if not isinstance(settings, dict):
        raise InputError(f"{where}: set is a table such as {{ k = 10 }}.")
    spelled = "".join(f" {key}={value}" for key, value in settings.items())
    return MiningCandidate(
        name=entry.get("name", f"{entry['mechanism']}{spelled}"),
        mechanism=entry["mechanism"],
        parameters=settings,
        require=_texts(entry.get("require", ()), f"{where}: require"),
    )


def _texts(given: Any, where: str) -> tuple[str, ...]:
    """A text or a list of texts."""
    listed = [given] if isinstance(given, str) else given
    if not isinstance(listed, list | tuple) or not all(isinstance(text, str) for text in listed):
        raise InputError(f"{where} is a text or a list of texts.")
    return tuple(listed)


@contextmanager
def _in(where: str) -> Iterator[None]:
    """What is refused inside is said with its place."""
    try:
        yield
    except InputError as error:
        text = str(error)
        raise InputError(text if text.startswith(where) else f"{where}: {text}") from None


def _good(given: Any, path: Path) -> Good | None:
    if given is None:
        return None
    where = f"{path}, [good]"
    _check(given, {"field", "error", "weights", "miners", "groups", "transfer"}, where)
    if not isinstance(given.get("transfer", True), bool):
        raise InputError(f"{where}: transfer is true or false.")
    if not isinstance(given.get("error", ""), str):
        raise InputError(f'{where}: error is a text, such as "predicted >= true".')
    lists = {name: _texts(given[name], f"{where}: {name}") for name in ("groups", "miners") if name in given}
    with _in(where):
        return Good(**{**given, **lists})


def _bad(given: Any, path: Path) -> Bad | None:
    if given is None:
        return None
    where = f"{path}, [bad]"
    _check(given, {"field", "aims", "miners"}, where)
    aims: tuple[Aim, ...] = AIMS
    if "aims" in given:
        if not isinstance(given["aims"], dict):
            raise InputError(f"{where}: aims are tables, [bad.aims.NAME].")
        for name, aim in given["aims"].items():
            if not isinstance(aim, dict):
                raise InputError(f"{where}: aims are tables, [bad.aims.NAME].")
            _only(aim, {"nearer", "weights", "chosen"}, f"{where}, aim {name}")
            for key in ("nearer", "chosen"):
                if not isinstance(aim.get(key, 0), int | float) or isinstance(aim.get(key), bool):
                    raise InputError(f"{where}, aim {name}: {key} must be a number.")
        with _in(where):
            aims = tuple(Aim(name=name, **aim) for name, aim in given["aims"].items())
    miners = _texts(given.get("miners", "reference"), f"{where}: miners")
    with _in(where):
        return Bad(field=given["field"], aims=aims, miners=miners)


def _check(given: Any, known: set[str], where: str) -> None:
    if not isinstance(given, dict) or not isinstance(given.get("field"), str):
        raise InputError(f'{where}: name the field: field = "...".')
    _only(given, known, where)
