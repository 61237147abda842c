"""Mine releases: good and bad utility and the adversary's gains of each, miners in parallel, results kept by content."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..core.errors import InputError, Unavailable
from ..core.release import Release
from ..core.roles import Roles
from ..core.table import Table
from .bad_utility import BadWork
from .folds import Cache, Job, Progress, deal, predict
from .gains import gains
from .good_utility import GoodWork
from .miners import need
from .outcome import MiningOutcome
from .rows import align
from .scenario import MiningCandidate, MiningPlan, Scenario, read


def cache_folder() -> Path:
    """Where predictions are kept unless another folder is named."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(base) / "sfumato" / "mining"


def mine(
    releases: Release | Mapping[str, Release],
    roles: Roles,
    scenario: Scenario,
    *,
    cache: Path | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
) -> dict[str, MiningOutcome]:
    """What users and adversaries learn from each release; `cache` is a folder for what an interrupted run had done.

    Figures are estimates with 95% intervals from the folds; the same seed gives the same figures. Every miner runs on one core,
    and as many run at once as there are (or `workers`).
    """
    need()
    named = {"release": releases} if isinstance(releases, Release) else dict(releases)
    good: dict[str, GoodWork] = {}
    bad: dict[str, BadWork] = {}
    aligned, notes = {}, {}
    for name, release in named.items():
        sides = align(release, roles, rows=scenario.rows, seed=scenario.seed)
        aligned[name], notes[name] = sides, list(sides.notes)
        fold = deal(len(sides.original), scenario.folds, scenario.seed)
        there = (
            fold[sides.place] if sides.place is not None else deal(len(sides.released), scenario.folds, scenario.seed)
        )
        if scenario.good is not None:
            good[name] = GoodWork.of(name, sides, roles, scenario, fold, there)
        if scenario.bad is not None:
            try:
                bad[name] = BadWork.of(name, sides, roles, scenario, there)
            except Unavailable as why:
                if scenario.good is None and len(named) == 1:
                    raise
                notes[name].append(str(why))
    jobs: dict[tuple[Any, ...], Job] = {}
    for name, work in good.items():
        jobs |= {("good", name, *key): job for key, job in work.jobs.items()}
    for name, attack in bad.items():
        jobs |= {("bad", name, key): job for key, job in attack.jobs.items()}
    answers = dict(
        zip(jobs, predict(list(jobs.values()), cache=Cache(cache), workers=workers, progress=progress), strict=True)
    )
    outcomes = {}
    for name in named:
        sides = aligned[name]
        gained = None
        attacked = None
        if name in bad:
            for_adversary = {key[2]: answer for key, answer in answers.items() if key[:2] == ("bad", name)}
            attacked = bad[name].outcome(for_adversary)
            sensitive = _sensitive(roles, scenario)
            if sensitive is not None and sides.sampled:
                notes[name].append("Adversarial gains count whole classes, and only a sample was mined.")
            elif sensitive is not None:
                try:
                    gained = gains(bad[name], for_adversary, roles, sensitive)
                except Unavailable as why:
                    notes[name].append(str(why))
        useful = None
        if name in good:
            for_users = {(key[2], key[3]): answer for key, answer in answers.items() if key[:2] == ("good", name)}
            useful = good[name].outcome(for_users)
        outcomes[name] = MiningOutcome(
            name=name, rows=len(sides.original), suppressed=sides.suppressed, paired=sides.place is not None,
            folds=scenario.folds, seed=scenario.seed, good=useful, bad=attacked, gains=gained, notes=tuple(notes[name]),
        )  # fmt: skip
    return outcomes


def _sensitive(roles: Roles, scenario: Scenario) -> str | None:
    """The sensitive column of the adversarial gains: the good field if it is one, else the first that is not attacked."""
    attacked = scenario.bad.field if scenario.bad is not None else None
    if scenario.good is not None and scenario.good.field in roles.sensitive:
        return scenario.good.field
    return next((name for name in roles.sensitive if name != attacked), None)


# --- a scenario file


def mine_file(
    path: Path, *, cache: Path | None = None, workers: int | None = None, progress: Progress | None = None
) -> dict[str, MiningOutcome]:
    """Every candidate of a scenario file, mined. Mechanisms draw from its seed, so that a run can be repeated."""
    from ..engines import read as open_table

    plan = read(Path(path))
    roles = Roles.read(plan.roles)
    table = open_table(plan.table, roles=roles, **plan.reading)
    releases = {}
    for i, candidate in enumerate(plan.candidates):
        if progress is not None:
            progress(0.1 * i / len(plan.candidates), candidate.name)
        releases[candidate.name] = release_of(candidate, table, roles, plan)

    def later(share: float, text: str) -> None:
        if progress is not None:
            progress(0.1 + 0.9 * share, text)

    return mine(releases, roles, plan.scenario, cache=cache, workers=workers, progress=later)


def release_of(candidate: MiningCandidate, table: Table, roles: Roles, plan: MiningPlan) -> Release:
    """A candidate as a release."""
    from ..engines import read as open_table
    from ..engines.local_spelling import alike
    from ..mechanisms import mechanism
    from ..metrics import require

    if candidate.file is not None:
        released = alike(open_table(candidate.file, roles=roles.elsewhere, **plan.reading), table)
        return Release(table=released, original=table, pairing=candidate.pair, perturbed=candidate.perturbed)
    if candidate.mechanism is None:
        raise InputError(f"Candidate {candidate.name!r} names neither a mechanism nor a file.")
    wanted = tuple(require(text) for text in candidate.require)
    made_by = mechanism(candidate.mechanism).of({k: str(v) for k, v in candidate.parameters.items()}, wanted)
    return made_by(table, roles, np.random.default_rng(plan.scenario.seed))
