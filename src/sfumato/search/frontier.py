"""The policy frontier: every generalization that no other beats on risk and on utility, and fixed policies beside them.

Xia, Heatherly, Ding, Li, Malin 2015 look in a lattice of de-identification policies for those that no other dominates, and
find some with less risk and more utility than Safe Harbor. Their lattice has every way of cutting a domain and is sampled;
here it is that of the owner's hierarchies, and one of moderate size is settled: every node is measured, or is beaten
whatever it measures. What it measures is bounded from what was seen: a specialization has no less risk than a node above it
if the risk is monotone and nothing is suppressed, and every node loses at least what its levels alone say.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any, Literal

import numpy as np

from ..core.column import FloatArray
from ..core.errors import Infeasible, InputError
from ..core.metric import Exactness, Metric, Requirement
from ..core.noun import dataclass
from ..core.roles import Roles
from ..core.table import Table
from ..metrics import metric
from ..metrics.privacy.marketer_risk import marketer_risk
from .advice import nearest
from .frontier_walk import CHECKS, MeasuredNode, Walk
from .lattice import Levels
from .losses import Wanted, named
from .pareto import knee, ten_digits
from .problem import Problem, check_limits, pose

Stopped = Literal["time", "checks", "interrupt"]


@dataclass(frozen=True)
class FrontierAxis:
    """What one axis measures."""

    name: str
    title: str
    unit: str
    better: Literal["higher", "lower"]
    exactness: Exactness = "exact"

    @property
    def sign(self) -> float:
        """By this the value is made one of which less is better."""
        return 1.0 if self.better == "lower" else -1.0


@dataclass(frozen=True, eq=False)
class Node:
    """A generalization that was measured; `same` are others with the same risk and utility (to ten digits)."""

    levels: dict[str, int]
    risk: float
    utility: float
    suppressed: int
    classes: int
    same: tuple[dict[str, int], ...] = ()


@dataclass(frozen=True, eq=False)
class Beaten:
    """A node of the frontier that beats a policy, and by how much on each axis: never less than 0."""

    node: Node
    risk: float
    utility: float


@dataclass(frozen=True, eq=False)
class Policy:
    """A fixed policy among the generalizations. One that misses a requirement is measured with nothing suppressed."""

    name: str
    node: Node
    missed: tuple[Requirement, ...]
    on_frontier: bool
    beaten_by: tuple[Beaten, ...]


@dataclass(frozen=True, eq=False)
class Frontier:
    """The nodes that no other beats, from the best utility to the least risk.

    `status`: "exact" if every node of the lattice was measured or is beaten for certain; "anytime" if the search was stopped,
    and then nodes may be missing and a node that stands here may be beaten by one that was not seen. "rule" if every node was,
    but which of its classes to leave out was decided by a rule, and `why` says for which requirement.
    """

    risk: FrontierAxis
    utility: FrontierAxis
    nodes: tuple[Node, ...]
    knee: int | None
    policies: tuple[Policy, ...]
    require: tuple[Requirement, ...]
    status: Literal["exact", "rule", "anytime"]
    stopped: Stopped | None
    lattice: int
    checked: int
    rows: int
    seconds: float
    seen: tuple[FloatArray, FloatArray] = field(repr=False)
    """Risk and utility of every node that was measured and meets the requirements."""
    why: str | None = None
    """What keeps a rule from being a proof."""

    def __len__(self) -> int:
        return len(self.nodes)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain numbers and texts, for machines."""
        return {
            "risk": dataclasses.asdict(self.risk),
            "utility": dataclasses.asdict(self.utility),
            "requirements": [str(requirement) for requirement in self.require],
            "status": self.status,
            "why": self.why,
            "stopped": self.stopped,
            "rows": self.rows,
            "nodes": self.lattice,
            "checked": self.checked,
            "seconds": self.seconds,
            "frontier": [dataclasses.asdict(node) for node in self.nodes],
            "knee": None if self.knee is None else self.nodes[self.knee].levels,
            "policies": [
                {
                    "name": policy.name,
                    **{key: value for key, value in dataclasses.asdict(policy.node).items() if key != "same"},
                    "missed": [str(requirement) for requirement in policy.missed],
                    "on_frontier": policy.on_frontier,
                    "beaten_by": [
                        {"levels": b.node.levels, "risk_better_by": b.risk, "utility_better_by": b.utility}
                        for b in policy.beaten_by
                    ],
                }
                for policy in self.policies
            ],
        }


def policy_frontier(
    table: Table,
    roles: Roles,
    *,
    risk: str | Metric = marketer_risk,
    utility: str = "loss",
    require: Sequence[Requirement] = (),
    suppression: float = 0.0,
    policies: Mapping[str, Mapping[str, int]] | None = None,
    time_limit: float | None = None,
    max_checks: int | None = None,
    population: Table | None = None,
    progress: Callable[[float], None] | None = None,
    catch: bool = True,
) -> Frontier:
    """All generalizations that no other beats on the two axes, among those that meet every requirement.

    `risk` is a privacy metric; `utility` a utility metric, which is better as its card says, or anything that
    `optimal_generalization` minimises. `policies` are levels by column; columns that a policy does not name stay as they
    are. Without a limit at most 50,000 nodes are measured; `max_checks` and `time_limit` (seconds) set another one. Ctrl-C
    returns what was found, unless `catch` is False. Raises Infeasible if no node meets the requirements.
    """
    check_limits(time_limit, max_checks)
    started = time.monotonic()
    risk_metric, across, minimise = _axes(risk, utility)
    problem = pose(
        table,
        roles,
        require=require,
        minimise=minimise,
        suppression=suppression,
        population=population,
        also=[risk_metric],
    )
    problem.deadline = None if time_limit is None else started + time_limit
    problem.most = CHECKS if time_limit is None and max_checks is None else max_checks
    fixed = {name: _levels(problem, name, given) for name, given in (policies or {}).items()}
    walk = Walk(problem, risk_metric, progress, started)
    for levels in fixed.values():  # what is asked for by name is measured whatever the limits
        walk.visit(levels, certainly=True)
    stopped: Stopped | None = None
    try:
        if not walk.run():
            stopped = problem.stopped_by
    except KeyboardInterrupt:
        if not catch or not walk.front.nodes:
            raise
        stopped = "interrupt"
    if not walk.front.nodes:
        raise Infeasible(nearest(problem, proved=stopped is None, suppression=suppression))
    down = FrontierAxis(
        str(risk_metric), risk_metric.card.title, risk_metric.card.unit, risk_metric.card.better, walk.exactness
    )
    across = dataclasses.replace(across, exactness=_exactness(problem, minimise))
    nodes = tuple(_node(walk, same, down, across) for same in walk.front.nodes)
    risks = np.array([down.sign * node.risk for node in nodes])
    losses = np.array([across.sign * node.utility for node in nodes])
    return Frontier(
        risk=down,
        utility=across,
        nodes=nodes,
        knee=knee(risks, losses, np.arange(len(nodes))) if np.isfinite([risks, losses]).all() else None,
        policies=tuple(_policy(walk, name, levels, nodes, down, across) for name, levels in fixed.items()),
        require=tuple(require),
        status="anytime" if stopped is not None else "rule" if problem.doubtful else "exact",
        why=problem.why if problem.doubtful else None,
        stopped=stopped,
        lattice=problem.lattice.nodes,
        checked=problem.checked,
        rows=problem.judge.rollup.rows,
        seconds=time.monotonic() - started,
        seen=_cloud(walk, down, across),
    )


# --- the two axes ----------------------------------------------------------------------------------------------------


def _axes(risk: str | Metric, utility: str) -> tuple[Metric, FrontierAxis, str]:
    """The risk's metric, the axis of the utility, and what is minimised for it."""
    risk_metric = risk if isinstance(risk, Metric) else metric(risk)
    if risk_metric.card.about != "privacy":
        raise InputError(f"{risk_metric} is about utility; the risk is a privacy metric, such as marketer_risk.")
    risk_metric.check_complete()
    wanted = Wanted.read(utility)
    text = str(wanted)
    if len(wanted.terms) > 1 or wanted.terms[0][0] != 1:
        return risk_metric, FrontierAxis(text, text, "", "lower"), text
    name = wanted.terms[0][1]
    if name == "height":
        return risk_metric, FrontierAxis(name, "sum of the levels", "levels", "lower"), text
    card = named(name).card
    return (
        risk_metric,
        FrontierAxis(name, card.title, card.unit, card.better),
        text if card.better == "lower" else f"-{text}",
    )


def _exactness(problem: Problem, minimise: str) -> Exactness:
    """How exact the utility is: of its metrics, what they say of the top; the rest is exact."""
    judge, lattice = problem.judge, problem.lattice
    for wanted in Wanted.read(minimise).metrics:
        grouped = judge.rollup(lattice.top)
        exactness = wanted.score(judge.evidence(grouped, np.ones(len(grouped), dtype=bool))).exactness
        if exactness != "exact":
            return exactness
    return "exact"


def _levels(problem: Problem, name: str, given: Mapping[str, int]) -> Levels:
    try:
        return problem.lattice.read({**dict.fromkeys(problem.lattice.names, 0), **given})
    except InputError as error:
        raise InputError(f"Policy {name!r}: {error}") from None


# --- what was found --------------------------------------------------------------------------------------------------


def _node(walk: Walk, same: Sequence[Levels], down: FrontierAxis, across: FrontierAxis) -> Node:
    """A node of the frontier, the first of equal ones: the smaller sum of levels, then the earlier levels."""
    first, *others = sorted(same, key=lambda levels: (sum(levels), levels))
    measured = walk.seen[first]
    assert measured is not None
    return _shown(walk, first, measured, down, across, others)


def _shown(
    walk: Walk,
    levels: Levels,
    measured: MeasuredNode,
    down: FrontierAxis,
    across: FrontierAxis,
    same: Sequence[Levels] = (),
) -> Node:
    """A measured node with its values as their metrics have them."""
    name = walk.lattice.name
    return Node(
        levels=name(levels),
        risk=down.sign * measured.risk + 0.0,  # no -0
        utility=across.sign * measured.loss + 0.0,
        suppressed=measured.suppressed,
        classes=measured.classes,
        same=tuple(map(name, same)),
    )


def _cloud(walk: Walk, down: FrontierAxis, across: FrontierAxis) -> tuple[FloatArray, FloatArray]:
    """Both values of every feasible node that was measured."""
    feasible = [seen for seen in walk.seen.values() if seen is not None]
    return np.array([down.sign * s.risk for s in feasible]), np.array([across.sign * s.loss for s in feasible])


def _policy(
    walk: Walk, name: str, levels: Levels, nodes: Sequence[Node], down: FrontierAxis, across: FrontierAxis
) -> Policy:
    """A fixed policy against the frontier."""
    measured, missed = walk.seen[levels], tuple[Requirement, ...]()
    if measured is None:
        verdict = walk.judge.whole(walk.judge(walk.judge.rollup(levels)))
        missed = verdict.missed
        whole = np.ones(len(verdict.grouped), dtype=bool)
        measured = walk.measure(dataclasses.replace(verdict, kept=whole, suppressed=0))
    ours = _shown(walk, levels, measured, down, across)
    mine = ten_digits(measured.risk), ten_digits(measured.loss)
    better = []
    for node in nodes:
        theirs = ten_digits(down.sign * node.risk), ten_digits(across.sign * node.utility)
        if theirs != mine and theirs[0] <= mine[0] and theirs[1] <= mine[1]:
            by = [0.0 if a == b else a - b for a, b in zip(mine, theirs, strict=True)]  # infinities may be the same
            better.append(Beaten(node, *by))
    return Policy(name, ours, missed, not missed and not better, tuple(better))
