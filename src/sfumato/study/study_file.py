"""A study from a TOML file: table, roles, context, candidates, metrics and requirements.

table = "people.csv"
roles = "roles.toml"
risk = "prosecutor_risk"                # the axes of the map; these unless said
utility = "iloss"
measures = ["k_anonymity", "query_error[ranges]"]   # for the table; everything that can be asked unless said
require = ["k_anonymity >= 10"]
maps = [["singling_out_risk[size=3]", "query_error[ranges]"]]   # more maps

[context]                               # the two questions; their limits join `require`
to = "public"
impact = "medium"

[waive]                                 # columns that may go out although something was found in them, and why
weight = "the survey office publishes it"

[[candidate]]
mechanism = "mondrian"
k = [5, 10, 20]                         # a list is a grid
steer = true                            # told to meet what is required, where it can

[[candidate]]
file = "theirs.csv"                     # a release made elsewhere
name = "ARX"
pair = "position"

[[candidate]]
frontier = 10                           # so many nodes of the lattice's policy frontier
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .. import metrics
from ..core.errors import InputError, SfumatoError
from ..core.metric import Requirement
from ..core.noun import dataclass
from ..core.people import one_row_each
from ..core.release import Release
from ..core.roles import Roles
from ..core.table import Table
from ..core.toml import opened
from ..core.waivers import check_waivers
from ..engines import read as open_table
from ..inspect.audit import read as read_checks
from .candidate import Candidate, grid, product, spelled, steered
from .context import WP29, Context
from .inference import with_inference
from .study import RISK, UTILITY, Study

_READING = ("delimiter", "quote", "encoding", "header", "missing", "dates", "decimal", "sheet", "query")
_KEYS = (
    "table",
    "roles",
    "title",
    "audit",
    "risk",
    "utility",
    "measures",
    "maps",
    "require",
    "seed",
    "allow_seeded",
    "neutralise_formulas",
    "refine",
    "population",
    "context",
    "waive",
    "candidate",
)
_FILE = ("file", "name", "pair", "perturbed", "joined_by", "companions")


ROUNDS = 4
"""How often a study looks around what it would recommend."""


@dataclass(frozen=True, eq=False)
class StudyFile:
    """A study and how the file wants it run."""

    study: Study
    seed: int | None = None
    allow_seeded: bool = False
    """Whether a release whose random choices were seeded may be packaged."""
    refine: int = ROUNDS
    neutralise_formulas: bool = False
    """Whether cells of a packaged release that a spreadsheet would run are written with an apostrophe before them."""


def read_study(path: Path | str) -> StudyFile:
    """Read a study file; files named in it are found relative to it, and what is wrong in it is said with its place."""
    path = Path(path)
    return of(opened(path, "study file"), where=str(path), folder=path.parent)


def of(content: Mapping[str, Any], *, where: str, folder: Path) -> StudyFile:
    """A study from the parsed content of a study file."""
    try:
        return _of(content, where=where, folder=folder)
    except SfumatoError as error:
        text = str(error)
        raise type(error)(text if text.startswith((where, str(folder))) else f"{where}: {text}") from None


def _of(content: Mapping[str, Any], *, where: str, folder: Path) -> StudyFile:
    _known(content, (*_KEYS, *_READING), where)
    for name in ("table", "roles"):
        _text(content, name, where)
    options = _options(content, where)
    roles = Roles.read(folder / content["roles"])
    table = open_table(folder / content["table"], **options)
    one_row_each(table, roles, "a study")
    context = _context(content.get("context"), where)
    require = tuple(metrics.require(text) for text in _texts(content, "require", where))
    waive = check_waivers(content.get("waive", {}), table.columns, where=f"{where}, [waive]")
    if context is not None:
        roles.check(table.columns, where=table.name)
        context = with_inference(context, table, roles, require=require, waive=waive)
    require = tuple(dict.fromkeys([*(context.require if context else ()), *require]))
    risk = _maybe(content, "risk", where) or (context.axis if context else RISK)
    measures = None
    if "measures" in content:
        measures = tuple(metrics.metric(text) for text in _texts(content, "measures", where))
    population = None
    if "population" in content:
        population = open_table(folder / _text(content, "population", where), **options)
    study = Study(
        table=table,
        roles=roles,
        candidates=_candidates(content.get("candidate", []), table, roles, require, where, folder, options),
        risk=metrics.metric(risk),
        utility=metrics.metric(_maybe(content, "utility", where) or UTILITY),
        require=require,
        measures=measures,
        maps=_maps(content.get("maps", []), where),
        population=population,
        context=context,
        title=_maybe(content, "title", where),
        checks=read_checks(folder / _text(content, "audit", where)) if "audit" in content else {},
        arguments=_arguments(options),
        waive=waive,
    )
    refine = _whole(content, "refine", where)
    return StudyFile(
        study,
        _whole(content, "seed", where),
        _switch(content, "allow_seeded", where),
        ROUNDS if refine is None else refine,
        _switch(content, "neutralise_formulas", where),
    )


def _switch(content: Mapping[str, Any], key: str, where: str) -> bool:
    if not isinstance(content.get(key, False), bool):
        raise InputError(f"{where}: {key} must be true or false.")
    return bool(content.get(key, False))


def _context(given: Any, where: str) -> Context | None:
    if given is None:
        return None
    if not isinstance(given, dict):
        raise InputError(f"{where}: context must be a section, [context], with `to` and `impact`.")
    _known(given, ("to", "impact", "controls", "motives", "known", "breach", "preset"), f"{where}, [context]")
    if given.get("preset") in (None, WP29) and not {"to", "impact"} <= given.keys():
        raise InputError(f"{where}, [context]: answer both questions, `to` and `impact`, or name a preset.")
    try:
        return Context(**given)
    except InputError as error:
        raise InputError(f"{where}, [context]: {error}") from None
    except TypeError:
        raise InputError(f"{where}, [context]: known and breach are numbers, the rest texts.") from None


def _candidates(
    listed: Any,
    table: Table,
    roles: Roles,
    require: Sequence[Requirement],
    where: str,
    folder: Path,
    options: Mapping[str, Any],
) -> tuple[Candidate, ...]:
    if not isinstance(listed, list) or not all(isinstance(entry, dict) for entry in listed):
        raise InputError(f"{where}: write each candidate under a heading of its own, [[candidate]].")
    found: dict[str, Candidate] = {}
    for i, entry in enumerate(listed, 1):
        at = f"{where}, candidate {i}"
        try:
            for candidate in _candidate(dict(entry), table, roles, require, at, folder, options):
                key = candidate.text if candidate.release is None else f"file {i}"
                if key not in found or candidate.label is not None:  # a name is not lost to a grid that has the same
                    found[key] = candidate
        except SfumatoError as error:
            text = str(error)
            raise type(error)(text if text.startswith(str(where)) else f"{at}: {text}") from None
    labels = [candidate.label for candidate in found.values() if candidate.label is not None]
    for label in labels:
        if labels.count(label) > 1:
            raise InputError(f"{where}: two candidates are named {label!r}; give each a name of its own.")
    return tuple(found.values())


def _candidate(
    entry: dict[str, Any],
    table: Table,
    roles: Roles,
    require: Sequence[Requirement],
    at: str,
    folder: Path,
    options: Mapping[str, Any],
) -> Sequence[Candidate]:
    kinds = [kind for kind in ("mechanism", "file", "frontier") if kind in entry]
    if len(kinds) != 1:
        raise InputError(f"{at}: name one of mechanism, file or frontier.")
    if kinds == ["file"]:
        _known(entry, _FILE, at)
        return [_file(entry, table, roles, at, folder, options)]
    if kinds == ["frontier"]:
        _known(entry, ("frontier", "suppression"), at)
        return _frontier(entry, table, roles, require, at)
    name = _text(entry, "mechanism", at)
    label = _maybe(entry, "name", at)
    steer, _ = entry.pop("steer", True), entry.pop("name", None)
    if not isinstance(steer, bool):
        raise InputError(f"{at}: steer must be true or false.")
    asked = _texts(entry, "require", at)
    settings = {key: value for key, value in entry.items() if key not in ("mechanism", "require")}
    for key, value in settings.items():
        if value == []:
            raise InputError(f"{at}: {key} is an empty list, so there is no candidate; give it a value.")
    texts = product(name, settings, asked)
    if label is not None and len(texts) > 1:
        raise InputError(f"{at}: a grid of {len(texts)} candidates cannot share one name; leave it out.")
    if steer:
        texts = [steered(text, require) for text in texts]
    return [Candidate.of(texts[0], label=label)] if label is not None else grid(texts)


def _file(
    entry: dict[str, Any], table: Table, roles: Roles, at: str, folder: Path, options: Mapping[str, Any]
) -> Candidate:
    from ..engines.missing_codes import recognise

    name = _text(entry, "file", at)
    perturbed = frozenset(_texts(entry, "perturbed", at))
    theirs = recognise(
        open_table(folder / name, **options),
        table,
        quasi=[q for q in roles.quasi if q not in perturbed],
        others=[c for c in (*roles.sensitive, *roles.insensitive) if c not in perturbed],
    )
    for column in perturbed:
        if column not in theirs.columns:
            raise InputError(f"{at}: no column {column!r} in {name}, which perturbed names.")
    companions = entry.get("companions", {})
    if not isinstance(companions, dict):
        raise InputError(f'{at}: companions must be {{ NAME = "FILE" }}.')
    release = Release(
        table=theirs,
        original=table,
        pairing=_maybe(entry, "pair", at) or "none",
        perturbed=perturbed,
        joined_by=_maybe(entry, "joined_by", at),
        companions={key: open_table(folder / str(value), **options) for key, value in companions.items()},
    )
    return Candidate(str(folder / name), release=release, label=_maybe(entry, "name", at))


def _frontier(
    entry: dict[str, Any], table: Table, roles: Roles, require: Sequence[Requirement], at: str
) -> Sequence[Candidate]:
    """Nodes of the policy frontier, evenly taken from its most useful to its least risky end: releases of this study."""
    from ..search.frontier import policy_frontier

    most = _whole(entry, "frontier", at) or 0
    if most < 1:
        raise InputError(f"{at}: frontier must be a whole number of at least 1: how many nodes to take.")
    share = entry.get("suppression", 0.0)
    if not isinstance(share, int | float) or isinstance(share, bool) or not 0 <= share <= 1:
        raise InputError(f"{at}: suppression must be a share of the rows between 0 and 1.")
    found = policy_frontier(table, roles, require=require if share else (), suppression=share)
    last = len(found.nodes) - 1
    chosen = np.unique(
        np.linspace(0, last, min(most, last + 1)).round().astype(int)
    )  # both ends, unless one is asked for
    texts = []
    for node in (found.nodes[i] for i in chosen):
        levels = ",".join(str(node.levels[name]) for name in roles.quasi)
        settings = {"levels": levels, **({"suppression": share} if share else {})}
        texts.append(steered(spelled("generalize_to_levels", settings), require if share else ()))
    return grid(texts)


def _maps(given: Any, where: str) -> tuple[tuple[Any, Any], ...]:
    if not isinstance(given, list) or not all(
        isinstance(p, list) and len(p) == 2 and all(isinstance(text, str) for text in p) for p in given
    ):
        raise InputError(f'{where}: maps is a list of pairs, [["RISK METRIC", "UTILITY METRIC"]].')
    return tuple((metrics.metric(risk), metrics.metric(utility)) for risk, utility in given)


def _arguments(options: Mapping[str, Any]) -> tuple[str, ...]:
    words: list[str] = []
    for name, value in options.items():
        if name == "header":
            words.append("--header" if value else "--no-header")
        else:
            for text in value if isinstance(value, list) else [value]:
                words += [f"--{name}", str(text)]
    return tuple(words)


def _known(given: Mapping[str, Any], known: Sequence[str], where: str) -> None:
    for name in given:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(known)}."
            raise InputError(f"{where}: {name!r} is not known there; {hint}")


def _text(given: Mapping[str, Any], name: str, where: str) -> str:
    value = given.get(name)
    if not isinstance(value, str) or not value:
        raise InputError(f'{where}: {name} must be a text: {name} = "...".')
    return value


def _maybe(given: Mapping[str, Any], name: str, where: str) -> str | None:
    return _text(given, name, where) if name in given else None


def _options(content: Mapping[str, Any], where: str) -> dict[str, Any]:
    """How the table is read."""
    found: dict[str, Any] = {}
    for name in _READING:
        if name not in content:
            continue
        if name == "header":
            if not isinstance(content[name], bool):
                raise InputError(f"{where}: header must be true or false.")
            found[name] = content[name]
        elif name == "missing":
            found[name] = _texts(content, name, where)
        elif not isinstance(content[name], str):
            raise InputError(f'{where}: {name} must be a text: {name} = "...".')
        else:
            found[name] = content[name]
    return found


def _texts(given: Mapping[str, Any], name: str, where: str) -> list[str]:
    value = given.get(name, [])
    value = [value] if isinstance(value, str) else value
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise InputError(f"{where}: {name} must be a list of texts.")
    return value


def _whole(given: Mapping[str, Any], name: str, where: str) -> int | None:
    value = given.get(name)
    if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 0):
        raise InputError(f"{where}: {name} must be a whole number of at least 0.")
    return value
