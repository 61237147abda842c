"""Carry out a scenario file: make or read every candidate, then mine them all together."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ..core.errors import InputError
from ..core.release import Release
from ..core.roles import Roles
from ..core.table import Table
from .folds import Progress
from .mine import mine
from .outcome import MiningOutcome
from .scenario import MiningCandidate, MiningPlan, read


def mine_file(
    path: Path, *, cache: Path | None = None, workers: int | None = None, progress: Progress | None = None
) -> dict[str, MiningOutcome]:
    """Read a scenario file and carry it out."""
    return carry_out(read(Path(path)), cache=cache, workers=workers, progress=progress)


def carry_out(
    plan: MiningPlan, *, cache: Path | None = None, workers: int | None = None, progress: Progress | None = None
) -> dict[str, MiningOutcome]:
    """Every candidate of the plan, mined. Mechanisms draw from the scenario's seed, so that a run can be repeated."""
    from ..engines import read as open_table

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
