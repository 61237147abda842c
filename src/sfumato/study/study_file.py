"""A study from a TOML file: table, roles, context, candidates, metrics and requirements.

table = "people.csv"
roles = "roles.toml"
risk = "prosecutor_risk"                # the axes of the map; these unless said
utility = "iloss"
measures = ["k_anonymity", "query_error[ranges]"]   # for the table; everything that can be asked unless said
require = ["k_anonymity >= 10"]
purpose = "teaching"                     # for the decision sheet, like date = "2026-11-19" and title
maps = [["singling_out_risk[size=3]", "query_error[ranges]"]]   # more maps

[context]                               # the two questions; their limits join `require`
to = "public"
impact = "medium"

[accept]                                # why open points of the decision sheet are accepted, by the key it prints
"wp29.singling_out" = "the recipients sign an agreement"

[waive]                                 # columns that may go out although something was found in them, and why
weight = "the survey office publishes it"

[[candidate]]
mechanism = "mondrian"
k = [5, 10, 20]                         # a list is a grid
steer = true                            # told to meet what is required, where it can

[[candidate]]
mechanism = "hipaa | mondrian k=11"     # a chain, its parameters in its text

[[candidate]]
file = "theirs.csv"                     # a release made elsewhere
name = "ARX"
pair = "position"

[[candidate]]
frontier = 10                           # so many nodes of the lattice's policy frontier
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from msgspec import Meta

from .. import metrics
from ..core.addresses import beside, place_name
from ..core.errors import InputError, SfumatoError
from ..core.metric import Requirement
from ..core.noun import dataclass
from ..core.people import one_row_each
from ..core.release import Release
from ..core.roles import Roles
from ..core.table import Table
from ..core.toml import FileOptions, Sections, Share, Text, Texts, Whole, opened, placed, section
from ..engines import read as open_table
from ..inspect.audit import read as read_checks
from ..publishing.waivers import check_waivers
from .candidate import Candidate, grid, product, spelled, steered
from .context import WP29, Context
from .inference import with_inference
from .study import RISK, ROUNDS, UTILITY, Study

Pairs = Annotated[tuple[tuple[str, str], ...], Meta(description='a list of pairs, [["RISK METRIC", "UTILITY METRIC"]]')]
Nodes = Annotated[int, Meta(ge=1, description="a whole number of at least 1: how many nodes to take")]


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


@dataclass(frozen=True, kw_only=True)
class _StudyKeys(FileOptions):
    table: Text
    roles: Text
    title: Text | None = None
    purpose: Text | None = None
    date: Text | None = None
    accept: Mapping[str, Text] = field(default_factory=dict)
    audit: Text | None = None
    risk: Text | None = None
    utility: Text = UTILITY
    measures: Texts | None = None
    maps: Pairs = ()
    require: Texts = ()
    seed: Whole | None = None
    allow_seeded: bool = False
    neutralise_formulas: bool = False
    refine: Whole = ROUNDS
    population: Text | None = None
    context: Mapping[str, Any] | None = None
    waive: Any = None
    candidate: Sections = ()


@dataclass(frozen=True, kw_only=True)
class _MadeHere:
    mechanism: Text
    name: Text | None = None
    steer: bool = True
    require: Texts = ()


@dataclass(frozen=True, kw_only=True)
class _FromElsewhere:
    file: Text
    name: Text | None = None
    pair: Text = "none"
    perturbed: Texts = ()
    joined_by: Text | None = None
    companions: Mapping[str, Text] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class _Frontier:
    frontier: Nodes
    suppression: Share = 0.0


def read_study(path: Path | str) -> StudyFile:
    """Read a study file; files named in it are found relative to it, and what is wrong in it is said with its place."""
    path = Path(path)
    return of(opened(path, "study file"), where=str(path), folder=path.parent)


def of(content: Mapping[str, Any], *, where: str, folder: Path) -> StudyFile:
    """A study from the parsed content of a study file."""
    try:
        return _of(section(_StudyKeys, content, where), where=where, folder=folder)
    except SfumatoError as error:
        raise placed(error, where, str(folder)) from None


def _of(keys: _StudyKeys, *, where: str, folder: Path) -> StudyFile:
    roles = Roles.read(folder / keys.roles)
    table = open_table(beside(folder, keys.table), roles=roles, **keys.options)
    one_row_each(table, roles, "a study", counts_people=True)
    context = _context(keys.context, f"{where}, [context]")
    require = tuple(metrics.require(text) for text in keys.require)
    waive = check_waivers(keys.waive or {}, table.columns, where=f"{where}, [waive]")
    if context is not None:
        roles.check(table.columns, where=table.name)
        context = with_inference(context, table, roles, require=require, waive=waive)
    require = tuple(dict.fromkeys([*(context.require if context else ()), *require]))
    study = Study(
        table=table,
        roles=roles,
        candidates=_candidates(keys, table, roles, require, where, folder),
        risk=metrics.metric(keys.risk or (context.axis if context else RISK)),
        utility=metrics.metric(keys.utility),
        require=require,
        measures=None if keys.measures is None else tuple(map(metrics.metric, keys.measures)),
        maps=tuple((metrics.metric(risk), metrics.metric(utility)) for risk, utility in keys.maps),
        population=None
        if keys.population is None
        else open_table(beside(folder, keys.population), roles=roles.elsewhere, **keys.options),
        context=context,
        title=keys.title,
        checks={} if keys.audit is None else read_checks(folder / keys.audit),
        arguments=_arguments(keys.options),
        waive=waive,
        purpose=keys.purpose,
        date=keys.date,
        accept=keys.accept,
    )
    return StudyFile(study, keys.seed, keys.allow_seeded, keys.refine, keys.neutralise_formulas)


def _context(given: Mapping[str, Any] | None, where: str) -> Context | None:
    if given is None:
        return None
    context = section(Context, given, where, inference=())
    if context.preset in (None, WP29) and not {"to", "impact"} <= given.keys():
        raise InputError(f"{where}: answer both questions, `to` and `impact`, or name a preset.")
    return context


def _candidates(
    keys: _StudyKeys, table: Table, roles: Roles, require: Sequence[Requirement], where: str, folder: Path
) -> tuple[Candidate, ...]:
    candidates: dict[str, Candidate] = {}
    for i, entry in enumerate(keys.candidate, 1):
        at = f"{where}, candidate {i}"
        try:
            for candidate in _candidate(entry, table, roles, require, at, folder, keys.options):
                key = candidate.text if candidate.release is None else f"file {i}"
                if (
                    key not in candidates or candidate.label is not None
                ):  # a name is not lost to a grid that has the same
                    candidates[key] = candidate
        except SfumatoError as error:
            raise placed(error, at, where) from None
    labels = [candidate.label for candidate in candidates.values() if candidate.label is not None]
    for label in labels:
        if labels.count(label) > 1:
            raise InputError(f"{where}: two candidates are named {label!r}; give each its own name.")
    return tuple(candidates.values())


def _candidate(
    entry: Mapping[str, Any],
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
        return [_file(section(_FromElsewhere, entry, at), table, roles, at, folder, options)]
    if kinds == ["frontier"]:
        return _frontier(section(_Frontier, entry, at), table, roles, require)
    own = {key: value for key, value in entry.items() if key in _MadeHere.__dataclass_fields__}
    settings = {key: value for key, value in entry.items() if key not in own}
    made = section(_MadeHere, own, at)
    for key, value in settings.items():
        if value == []:
            raise InputError(f"{at}: {key} is an empty list, so there is no candidate; give it a value.")
    if "|" in made.mechanism:
        if settings:
            raise InputError(f"{at}: a chain takes its parameters in its text, such as 'hipaa | mondrian k=11'.")
        texts = [" ".join([made.mechanism, *(f"require={shlex.quote(text)}" for text in made.require)])]
    else:
        texts = product(made.mechanism, settings, list(made.require))
    if made.name is not None and len(texts) > 1:
        raise InputError(f"{at}: a grid of {len(texts)} candidates cannot share one name; leave the name out.")
    if made.steer:
        texts = [steered(text, require) for text in texts]
    return [Candidate.of(texts[0], label=made.name)] if made.name is not None else grid(texts)


def _file(
    entry: _FromElsewhere, table: Table, roles: Roles, at: str, folder: Path, options: Mapping[str, Any]
) -> Candidate:
    from ..engines.missing_codes import recognise

    theirs = recognise(
        open_table(beside(folder, entry.file), roles=roles.elsewhere, **options),
        table,
        quasi=[q for q in roles.quasi if q not in entry.perturbed],
        others=[c for c in (*roles.sensitive, *roles.insensitive) if c not in entry.perturbed],
    )
    for column in entry.perturbed:
        if column not in theirs.columns:
            raise InputError(f"{at}: no column {column!r} in {entry.file}, which perturbed names.")
    release = Release(
        table=theirs,
        original=table,
        pairing=entry.pair,
        perturbed=frozenset(entry.perturbed),
        joined_by=entry.joined_by,
        companions={
            key: open_table(beside(folder, file), roles=roles.elsewhere, **options)
            for key, file in entry.companions.items()
        },
    )
    return Candidate(place_name(beside(folder, entry.file)), release=release, label=entry.name)


def _frontier(entry: _Frontier, table: Table, roles: Roles, require: Sequence[Requirement]) -> Sequence[Candidate]:
    """Nodes of the policy frontier, evenly taken from its most useful to its least risky end: releases of this study."""
    from ..mechanisms.generalize_to_levels import GeneralizeToLevels
    from ..search.frontier import policy_frontier

    share = entry.suppression
    nodes = policy_frontier(table, roles, require=require if share else (), suppression=share).nodes
    last = len(nodes) - 1
    # both ends, unless one is asked for
    chosen = np.unique(np.linspace(0, last, min(entry.frontier, last + 1)).round().astype(int))
    texts = []
    for node in (nodes[i] for i in chosen):
        levels = ",".join(str(node.levels[name]) for name in roles.quasi)
        settings = {"levels": levels, **({"suppression": share} if share else {})}
        texts.append(steered(spelled(GeneralizeToLevels.card.name, settings), require if share else ()))
    return grid(texts)


def _arguments(options: Mapping[str, Any]) -> tuple[str, ...]:
    words: list[str] = []
    for name, value in options.items():
        if name == "header":
            words.append("--header" if value else "--no-header")
        else:
            for text in value if isinstance(value, tuple) else [value]:
                words += [f"--{name}", str(text)]
    return tuple(words)
