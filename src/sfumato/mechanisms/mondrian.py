"""Mondrian: cut the table along one quasi-identifier after the other, as long as every part meets every requirement.

LeFevre, DeWitt, Ramakrishnan 2006. The table is counted once into distinct weighted tuples; `partition.parts` cuts these, and
the engine replaces the rows' values by one join. The cost follows distinct tuples, not rows. Under (n,t)-closeness a cut is
judged by what the part was cut from (`partition.lineage`), and cuts that the metric does not agree to are undone.
"""

from __future__ import annotations

from dataclasses import field
from typing import Any, ClassVar, Literal

import numpy as np

from ..core.arrow import strings
from ..core.column import IntArray, encode
from ..core.counted_table import CountedTable
from ..core.counts import Counts, pack
from ..core.cover import BoolArray
from ..core.errors import Infeasible, InputError
from ..core.label_kinds import LABELS, Labels
from ..core.mechanism import MechanismCard, Offer, Progress, Trial, check_choices, unheard
from ..core.metric import Requirement, spell_number
from ..core.noun import dataclass
from ..core.randomness import Chance, Rng
from ..core.range_ends import STYLES, Style
from ..core.release import Release
from ..core.roles import Roles
from ..core.table import Table
from ..metrics.privacy.n_t_closeness import n_t_closeness
from ..search.row_owners import row_owners
from .parameters.class_requirements import Steered
from .parameters.column_weights import WEIGH, Weigh, with_column_weights
from .partition.axes import PartitionAxis, axes_of
from .partition.class_demands import Demands
from .partition.clusters import AxisLoss
from .partition.covered_people import CoveredPeople, axis_labels
from .partition.improved_classes import FIT_QUERIES, IMPROVE, finished_classes
from .partition.lineage import Lineage, Near
from .partition.linked_people import LinkedPeople, release_linked, rows_of_people
from .partition.mean_limits import divided, is_mean
from .partition.parts import Parts, along, labels_of, partition, recoding_of, released_classes
from .partition.query_workload import QueryWorkload


def _offered(trial: Trial) -> list[dict[str, Any]]:
    crosses = not trial.linked and all(r.metric.card.name != n_t_closeness.card.name for r in trial.require)
    better = {"improve": True} if crosses else {}
    labels = {"labels": ["plain", "cheapest"]} if trial.hierarchies else {}
    steers = all(Mondrian(k=trial.few[0]).honours(r) for r in trial.require)  # limits are used up: no larger k can help
    if (
        trial.large and steers and better
    ):  # each takes long: what is fitted answers best, the others are soon there or precise
        few = trial.few[:1]
        return [
            {"k": few, "choose": ["loss", "width"]},
            {"k": few, **labels, **better},
            {"k": few, **labels, **better, "fit_queries": True, "weigh": "use"},
        ]
    settings: list[dict[str, Any]] = [
        {"k": trial.ks, "choose": ["loss", "width"]},
        *([] if trial.large else [{"k": trial.few, "mode": "relaxed", "choose": ["loss", "width"]}]),
    ]
    if trial.hierarchies:
        settings.append({"k": trial.few, **labels, **better})
    if better:
        settings.append({"k": trial.few, **better})
    if not trial.linked:
        settings.append({"k": trial.few, **labels, **better, "weigh": "use"})
    if better:
        ks = trial.few[:1] if steers else trial.few
        modes = {} if trial.large else {"mode": ["strict", "relaxed"]}
        settings.append({"k": ks, **labels, **better, **modes, "fit_queries": True, "weigh": "use"})
    return settings


@dataclass(frozen=True, kw_only=True)
class Mondrian(Steered):
    """Greedy multidimensional partitioning under any conjunction of class requirements and (n,t)-closeness."""

    k: int | None = None
    mode: Literal["strict", "relaxed"] = "strict"
    choose: Literal["loss", "width"] = "loss"
    bounds: Literal["data", "cuts"] = "data"
    ends: Style = "open"
    labels: Labels = "hierarchies"
    improve: bool = False
    fit_queries: bool = False
    weigh: Weigh = "owner"
    require: tuple[Requirement, ...] = ()
    population: Table | None = field(default=None, compare=False)
    """Whom an adversary may take for a person in the release, for requirements that look at a population."""

    card: ClassVar[MechanismCard] = MechanismCard(
        name="mondrian",
        title="Mondrian multidimensional partitioning",
        promise="each class meets all class requirements that you set (k_anonymity >= k, l-diversity, t-closeness, leakages, "
        "...), and n_t_closeness if you require it; means that you limit (marketer_risk, mutual_information) are met and used up",
        against="an adversary who knows all quasi-identifiers of a person and that the person is in the release",
        cost="numbers and dates become intervals that end at nobody's value (the outermost are open), columns with a taxonomy, "
        "mask or calendar become its labels, other columns become sets, unless you allow others (labels); these differ from class "
        "to class (local recoding); nothing is suppressed, and no sensitive value changes",
        source="LeFevre, DeWitt, Ramakrishnan 2006; requirements beyond k after Li, Li, Venkatasubramanian 2007, "
        "(n,t)-closeness after their check of 2010",
        chance="some",
        people=True,
        links=True,
        tunable=("k", "mode", "choose", "bounds", "improve", "fit_queries", "weigh"),
        offer=Offer(
            30,
            _offered,
        ),
        parameters={
            "k": "short for the requirement k_anonymity >= k",
            "ends": STYLES,
            "labels": LABELS,
            "fit_queries": FIT_QUERIES + "; not where improve is not allowed",
            "improve": IMPROVE + "; not with bounds=cuts, (n,t)-closeness or linked people",
            "weigh": WEIGH + ". With choose=width, the paper's rule, it changes only what improve does",
            "mode": "strict: rows with equal quasi-identifiers stay together; relaxed: they may be divided, which makes "
            "classes smaller where one value is very frequent",
            "choose": "loss: cut along the axis that lowers ILoss most, by the columns' weights; width: cut along the widest axis, as the paper suggests",
            "bounds": "data: an interval covers the values of its class; cuts: it reaches from cut to cut, which says less about the "
            "people at its ends but loses more",
        },
    )

    def __post_init__(self) -> None:
        check_choices(self)
        self.check_steering()
        across = any(r.metric.card is n_t_closeness.card for r in self.require)
        for name in ("improve", "fit_queries"):
            if getattr(self, name) and (self.bounds == "cuts" or across):
                raise InputError(
                    f"mondrian: {name} moves rows across cuts, so it goes neither with bounds=cuts nor with (n,t)-closeness; leave one out."
                )

    def honours(self, requirement: Requirement) -> bool:
        """Any requirement on classes, and (n,t)-closeness; without that and bounds=cuts also limits on means over the rows, which are used up."""
        if is_mean(requirement):
            return self.bounds == "data" and all(r.metric.card is not n_t_closeness.card for r in self.require)
        return super().honours(requirement) or requirement.metric.card.name == n_t_closeness.card.name

    def sanitize(self, table: Table, roles: Roles, rng: Rng, *, progress: Progress) -> Release:
        """Sanitize; `rng` only decides how equal rows are divided in relaxed mode."""
        if roles.linked:
            return self._linked(table, roles, Chance(rng), progress)
        counts, split = self.count(table, roles, roles.sensitive if self.fit_queries else ())
        counts, owners = row_owners(counts, roles, apart=self.mode == "relaxed")
        axes, code = axes_of(counts, roles, self.ends, self.labels)
        require = self.promises
        people = CoveredPeople.of(self.looked_at, roles, axis_labels(axes, code))
        by_class, means = divided(require, counts, roles, split, owners)
        on_classes = tuple(r for r in by_class if r.metric.card.scope == "class")
        demands = Demands.of(counts, roles, split, on_classes, people, owners)
        demands.check_whole(self.card.name)
        if means is not None:
            means.check_whole(self.card.name)
        lineage = _lineage(counts, roles, split, tuple(r for r in by_class if r.metric.card.scope != "class"))
        relaxed = self.mode == "relaxed"
        chance = Chance(rng)
        tie = chance.order(len(counts)) if relaxed else None
        weights = with_column_weights(roles, counts, self.weigh)
        share = 0.5 if self.improve or self.fit_queries else 1.0
        parts, labels = self._cut(axes, code, demands, lineage, tie, weights, lambda done: progress(share * done))
        if lineage is not None:  # what is near the whole table will do, too: take it where it loses less
            others = self._cut(axes, code, demands, lineage.to_whole(), tie, weights, unheard)
            if _loss(axes, code, others[0], weights) < _loss(axes, code, parts, weights):
                parts, labels = others
        queries = QueryWorkload.of(counts, roles, axes, roles.sensitive) if self.fit_queries else None
        parts, labels, notes = finished_classes(
            axes,
            [AxisLoss(axis, weights) for axis in axes],
            code,
            demands,
            parts,
            labels,
            divides=relaxed,
            progress=lambda done: progress(0.5 + 0.5 * done),
            means=means,
            improve=self.improve,
            queries=queries,
        )
        if relaxed:  # parts with equal labels are one class, and not every requirement survives a union
            _check_union(demands, parts, labels)
        recoding = recoding_of(parts, labels, counts, roles, divides=relaxed)
        return self.released(table, roles, recoding, (*notes, *(chance.notes if relaxed else ())))

    def _linked(self, table: Table, roles: Roles, chance: Chance, progress: Progress) -> Release:
        """The same for people whose rows stay joined: people are cut, not rows."""
        self.check_asked(roles)
        for name, given in (
            ("improve", self.improve),
            ("fit_queries", self.fit_queries),
            ("weigh", self.weigh != "owner"),
        ):
            if given:
                raise InputError(
                    f'mondrian: {name} does not work where the rows of a person stay joined (rows = "linked" in {roles.source}); leave '
                    "it out."
                )
        rows = rows_of_people(table, roles, self.card.name)
        people = LinkedPeople.of(rows, roles, chance, self.ends, self.labels)
        left, demands = people.left(tuple(r for r in self.promises if not is_mean(r)), roles)
        labels = people.labels(
            left,
            demands,
            widest=self.choose == "width",
            by_cuts=self.bounds == "cuts",
            relaxed=chance if self.mode == "relaxed" else None,
            progress=progress,
        )
        kept = people.draw < left[people.who]
        release = release_linked(rows, roles, self, labels, kept, chance)
        for requirement in filter(is_mean, self.promises):  # not steered by here, so it is looked at
            if not (verdict := requirement.check(release, roles)).met:
                raise Infeasible(
                    f"mondrian does not steer by {requirement} where the rows of a person stay joined, and reaches "
                    f"{spell_number(round(verdict.score.value, 6))}; raise k."
                )
        return release

    def _cut(
        self,
        axes: list[PartitionAxis],
        code: IntArray,
        demands: Demands,
        lineage: Lineage | None,
        tie: IntArray | None,
        roles: Roles,
        progress: Progress,
    ) -> tuple[Parts, list[list[str | None]]]:
        """The parts and what they release; cuts are undone until the metric agrees to all that looks at ancestors."""
        wide, by_cuts = self.choose == "width", self.bounds == "cuts"
        weight = np.array([float(roles.weights.get(axis.column.name, 1.0)) for axis in axes]) if roles.weights else None
        parts, number = partition(
            axes, code, demands.n, demands.met, lineage=lineage, widest=wide, tie=tie, progress=progress, weight=weight
        )
        labels = labels_of(parts, axes, code, by_cuts=by_cuts)
        while lineage is not None and (failed := _failed(lineage, parts, labels, roles)).any():
            if len(parts) == 1:
                raise Infeasible(
                    f"mondrian cannot meet {lineage.near[0][0]}: not even the whole table as a single class does."
                )
            parts, number = lineage.join(parts, number, failed)
            labels = labels_of(parts, axes, code, by_cuts=by_cuts)
        return parts, labels


def _check_union(demands: Demands, parts: Parts, labels: list[list[str | None]]) -> None:
    """Raise if classes made of several parts miss a requirement."""
    classes = released_classes(labels)
    if not demands.met(parts.entry, parts.n, classes[parts.member], int(classes.max()) + 1).all():
        raise Infeasible(
            "mondrian, relaxed: classes with the same released values together miss a requirement; use mode=strict."
        )


def _lineage(counts: Counts, roles: Roles, split: tuple[str, ...], require: tuple[Requirement, ...]) -> Lineage | None:
    """What remembers the parts' ancestors, if a requirement looks at them."""
    if not require:
        return None
    near: list[Near] = []
    for requirement, value, sensitive in Demands.of(counts, roles, split, require).items:
        assert value is not None
        assert sensitive is not None
        near.append((requirement, value, sensitive))
    return Lineage(near, counts.rows)


def _failed(lineage: Lineage, parts: Parts, labels: list[list[str | None]], roles: Roles) -> BoolArray:
    """The parts whose class misses (n,t)-closeness as the metric measures it on the release that they make."""
    coded = [encode(name, strings(texts)) for name, texts in zip(roles.quasi, labels, strict=True)]
    key = pack([codes for _, codes in coded], [len(column) for column, _ in coded], len(parts))
    _, classes = np.unique(
        key, return_inverse=True
    )  # numbered as the metric numbers them: in the order of their values
    failed = np.zeros(len(parts), dtype=bool)
    for requirement, value, sensitive, _ in lineage.near:
        columns, codes = [*(column for column, _ in coded), sensitive.column], [c[parts.member] for _, c in coded]
        counts = Counts.of(columns, [*codes, value[parts.entry]], parts.n)
        release = Release(table=CountedTable(counts, name="the release"))
        score = requirement.metric.on(sensitive.column.name).score(release.evidence(roles))
        assert score.per_class is not None
        failed |= ~requirement.passes(score.per_class)[classes]
    return failed


def _loss(axes: list[PartitionAxis], code: IntArray, parts: Parts, roles: Roles) -> float:
    """ILoss of parts, by the columns' weights."""
    rows, loss = np.add.reduceat(parts.n, parts.start), 0.0
    for j, axis in enumerate(axes):
        spread = along(axis, code[j][parts.entry], parts).spread
        loss += float(roles.weights.get(axis.column.name, 1.0)) * float(rows @ spread)
    return loss
