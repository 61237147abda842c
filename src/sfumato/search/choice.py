"""Which quasi-identifiers to release: the best release of every set of candidates, from one count.

Afifi, Zhou, Ren 2018 compare four sets of quasi-identifiers by what they leak (Fig. 4) and leave open which set is best
(sec. 7). A release of some columns only is a node of the lattice over all of them, the others at `*`: every set is a face
of one lattice, and a smaller set is a face of a larger one's. So each node is judged once at most, in the set of just
those columns that it releases; and what is ruled out there is ruled out in every larger set (Incognito's subset property,
LeFevre, DeWitt, Ramakrishnan 2005).
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ..core.errors import InputError, hint
from ..core.metric import Metric, Requirement, Score
from ..core.noun import dataclass
from ..core.roles import Roles
from ..core.table import Table
from ..metrics import metric
from ..metrics.privacy.distribution_leakage import distribution_leakage
from ..metrics.privacy.entropy_leakage import entropy_leakage
from ..metrics.privacy.k_anonymity import k_anonymity
from ..metrics.privacy.marketer_risk import marketer_risk
from ..metrics.privacy.mutual_information import mutual_information
from ..metrics.privacy.prosecutor_risk import prosecutor_risk
from .faces import At, best_of_faces, face
from .lattice import Lattice
from .losses import Wanted
from .pareto import frontier, ten_digits
from .problem import Best, Problem, pose
from .scores import score

METRICS = (k_anonymity, prosecutor_risk, marketer_risk, distribution_leakage, entropy_leakage, mutual_information)
"""What is measured of every best release unless others are named; of a table without a sensitive column, the first three."""

CANDIDATES = 12
"""More candidates than these need a limit on the size of a set."""
_SETS = 100_000
_NODES = 5_000_000


@dataclass(frozen=True, eq=False)
class QidRelease:
    """The best release of one set of quasi-identifiers, the others left out; without one, all but `columns` is None.

    levels      of the columns in the set; one that is `*` is in the set and still not released
    loss        over the columns of the set alone
    loss_all    over all candidates: what is left out is lost
    suppressed  rows that are left out
    classes     how many there are in the release
    scores      what the metrics say of it
    """

    columns: tuple[str, ...]
    levels: dict[str, int] | None = None
    released: tuple[str, ...] = ()
    loss: float | None = None
    loss_all: float | None = None
    suppressed: int | None = None
    classes: int | None = None
    scores: dict[str, Score] = dataclasses.field(default_factory=dict)

    @property
    def feasible(self) -> bool:
        """Whether some release of this set meets everything."""
        return self.levels is not None

    def to_dict(self) -> dict[str, Any]:
        """The same as plain numbers and texts."""
        return {
            "columns": list(self.columns),
            "feasible": self.feasible,
            "levels": self.levels,
            "released": list(self.released),
            "loss": self.loss,
            "loss_all": self.loss_all,
            "suppressed": self.suppressed,
            "classes": self.classes,
            "scores": {name: {"value": s.value, "exactness": s.exactness} for name, s in self.scores.items()},
        }


@dataclass(frozen=True, eq=False)
class QuasiChoice:
    """The best release of every set, smaller sets first; `checked` of the `nodes` over all sets had to be judged."""

    candidates: tuple[str, ...]
    minimise: str
    require: tuple[Requirement, ...]
    metrics: tuple[Metric, ...]
    releases: tuple[QidRelease, ...]
    rows: int
    nodes: int
    checked: int
    seconds: float
    why: str | None = None
    """What keeps them from being proved: which classes to leave out was decided by a rule."""

    def of(self, *columns: str) -> QidRelease:
        """The release of one set, in whatever order it is named."""
        for release in self.releases:
            if set(release.columns) == set(columns):
                return release
        raise InputError(f"No set of just {', '.join(columns) or 'nothing'} was compared.")

    def frontier(self, by: str) -> tuple[QidRelease, ...]:
        """The sets that no other beats on a metric and on the loss over all candidates, by ascending loss.

        Of sets that come out equal the first stands for all: the smallest, then the first in the order of the candidates.
        """
        wanted = next((m for m in self.metrics if str(m) == by), None)
        if wanted is None:
            raise InputError(f"{by} was not measured; measured are {', '.join(map(str, self.metrics))}.")
        made = [release for release in self.releases if release.feasible]
        sign = 1.0 if wanted.card.better == "lower" else -1.0
        risk = [ten_digits(sign * release.scores[by].value) for release in made]
        loss = [ten_digits(release.loss_all) for release in made if release.loss_all is not None]
        return tuple(made[i] for i in frontier(np.array(risk), np.array(loss)))

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain numbers and texts, for machines."""
        return {
            "candidates": list(self.candidates),
            "minimise": self.minimise,
            "requirements": [str(requirement) for requirement in self.require],
            "metrics": {str(m): {"unit": m.card.unit, "better": m.card.better} for m in self.metrics},
            "status": "optimal" if self.why is None else "rule",
            "why": self.why,
            "rows": self.rows,
            "nodes": self.nodes,
            "checked": self.checked,
            "seconds": self.seconds,
            "sets": [release.to_dict() for release in self.releases],
            "frontiers": {
                str(m): [list(release.columns) for release in self.frontier(str(m))]
                for m in self.metrics
                if m.card.about == "privacy"
            },
        }


def qid_choice(
    table: Table,
    roles: Roles,
    *,
    candidates: Sequence[str] | None = None,
    require: Sequence[Requirement],
    minimise: str = "loss",
    suppression: float = 0.0,
    metrics: Sequence[str | Metric] | None = None,
    max_columns: int | None = None,
    population: Table | None = None,
    progress: Callable[[float], None] | None = None,
) -> QuasiChoice:
    """The best release of every non-empty set of candidates (of at most `max_columns`), and what it gives away.

    That is proved, unless which classes to leave out had to be decided by a rule; then `why` says for which requirement.

    `candidates` are the roles' quasi-identifiers unless named; those not named are not released. Requirements and what is
    minimised are asked of the release in which the columns outside the set are `*`; a larger set is therefore never worse.
    Of equal losses the release with the smaller sum of levels is taken, then the first in the order of the candidates.
    A set without a release that meets everything is listed without one.
    """
    started = time.monotonic()
    named = _candidates(table, roles, candidates)
    if not named.quasi:
        raise InputError(f"{roles.source} names no quasi-identifier; give the candidates to choose from.")
    largest = _largest(named.quasi, max_columns)
    wanted = [m if isinstance(m, Metric) else metric(m) for m in (METRICS if metrics is None else metrics)]
    if metrics is None and not named.sensitive:
        wanted = [m for m in wanted if "sensitive" not in m.card.needs]
    problem = pose(
        table,
        named,
        require=require,
        minimise=minimise,
        suppression=suppression,
        population=population,
        also=wanted,
    )
    sets = [at for size in range(1, largest + 1) for at in itertools.combinations(range(len(named.quasi)), size)]
    nodes = _nodes(problem.lattice, sets, largest)
    loss, releases = Wanted.read(minimise), []
    for at, best in best_of_faces(problem, sets):
        releases.append(_measured(problem, loss, wanted, at, best))
        if progress is not None:
            progress(len(releases) / len(sets))
    return QuasiChoice(
        candidates=named.quasi,
        minimise=minimise,
        require=tuple(require),
        metrics=tuple(wanted),
        releases=tuple(releases),
        rows=problem.judge.rollup.rows,
        nodes=nodes,
        checked=problem.checked,
        why=problem.why if problem.doubtful else None,
        seconds=time.monotonic() - started,
    )


# --- what is asked ---------------------------------------------------------------------------------------------------


def _candidates(table: Table, roles: Roles, candidates: Sequence[str] | None) -> Roles:
    """The roles with the candidates as their quasi-identifiers."""
    if candidates is None:
        return roles
    names = tuple(candidates)
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"Candidate {name!r} is named twice.")
        if name not in table.columns:
            meant = hint(name, table.columns, "a candidate is one of its columns.")
            raise InputError(f"{table.name}: no column {name!r}; {meant}")
        if name in (*roles.sensitive, *roles.house):
            raise InputError(
                f"Column {name!r} is no candidate: it is sensitive, an identifier, the person, the guard or the weight in {roles.source}."
            )
    rest = tuple(name for name in roles.insensitive if name not in names)
    return dataclasses.replace(roles, quasi=names, insensitive=rest)


def _largest(names: tuple[str, ...], most: int | None) -> int:
    """The size of the largest set that is looked at."""
    if most is None and len(names) > CANDIDATES:
        raise InputError(
            f"{len(names)} candidates make {2 ** len(names) - 1:,} sets; "
            "say how many columns a set may have at most, such as 3, or name fewer candidates."
        )
    if most is not None and most < 1:
        raise InputError("A set has at least one column.")
    largest = min(len(names), most or len(names))
    sets = sum(math.comb(len(names), size) for size in range(1, largest + 1))
    if sets > _SETS:
        raise InputError(
            f"{len(names)} candidates make {sets:,} sets of at most {largest} columns, more than {_SETS:,}; "
            "allow fewer columns or name fewer candidates."
        )
    return largest


def _nodes(lattice: Lattice, sets: Iterable[At], largest: int) -> int:
    """How many nodes the sets have in all, each counted where it releases every column of the set, and the top."""
    nodes = 1 + sum(math.prod(lattice.top[j] for j in at) for at in sets)
    if nodes > _NODES:
        raise InputError(
            f"The sets of at most {largest} of {len(lattice.shape)} candidates have {nodes:,} generalizations, more than "
            f"{_NODES:,}; allow fewer columns in a set or name fewer candidates."
        )
    return nodes


# --- what the best releases are --------------------------------------------------------------------------------------


def _measured(problem: Problem, loss: Wanted, metrics: Sequence[Metric], at: At, best: Best | None) -> QidRelease:
    """The best release of a set, over the columns of the set."""
    lattice = problem.lattice
    columns = tuple(lattice.names[j] for j in at)
    if best is None:
        return QidRelease(columns)
    judge = face(problem.judge, at)
    levels = tuple(best.levels[j] for j in at)
    verdict = judge(judge.rollup(levels))
    return QidRelease(
        columns=columns,
        levels=dict(zip(columns, levels, strict=True)),
        released=tuple(lattice.names[j] for j in at if best.levels[j] < lattice.top[j]),
        loss=loss.prepare(judge).value(verdict),
        loss_all=best.loss,
        suppressed=best.verdict.suppressed,
        classes=int(best.verdict.kept.sum()),
        scores={str(m): score(judge, m, verdict) for m in metrics},
    )
