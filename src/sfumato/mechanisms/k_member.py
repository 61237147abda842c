"""Greedy k-member clustering: grow one cluster after the other from the nearest rows, until it may stand as a class.

Byun, Kamra, Bertino, Li 2007. The table is counted once into distinct weighted tuples. A cluster looks at all tuples that are left
twice: for its first tuple and for the thousand that are nearest to it, among which the others are then looked for (with `loss=byun` at all of them each time, as the paper has it). Beyond `block`
distinct tuples, Mondrian cuts the table into blocks first, so that the cost follows the tuples: seconds for 30,000
(`benchmarks/advise.py cluster`).
"""

from __future__ import annotations

from dataclasses import field
from typing import Any, ClassVar

import numpy as np

from ..core.classes import Classes, Sensitive
from ..core.column import FloatArray, IntArray
from ..core.counts import pack
from ..core.cover import BoolArray
from ..core.label_kinds import LABELS, Labels
from ..core.mechanism import MechanismCard, Offer, Progress, Trial, check_choices, check_whole
from ..core.metric import Requirement
from ..core.noun import dataclass
from ..core.randomness import Rng
from ..core.range_ends import STYLES, Style
from ..core.release import Release
from ..core.roles import Roles
from ..core.table import Table
from ..search.row_owners import row_owners
from .parameters.class_requirements import Steered
from .parameters.column_weights import WEIGH, Weigh, with_column_weights
from .partition.axes import PartitionAxis, axes_of
from .partition.class_demands import Demands
from .partition.clusters import AxisLoss, Clusters, Loss, Pool
from .partition.covered_people import CoveredPeople, axis_labels
from .partition.improved_classes import FIT_QUERIES, IMPROVE, finished_classes
from .partition.mean_limits import divided, is_mean
from .partition.parts import partition, recoding_of
from .partition.query_workload import QueryWorkload
from .partition.settling import settle

_VALUES = 256
"""Sensitive values that are each tried before the next row is chosen."""
_NEAR = 1_000
"""Tuples nearest to the first of a cluster among which the others are looked for, where there are sixteen times as many."""
_TRIED = 16
"""Clusters that are tried for a row that is left over."""


CLUSTERED = 250_000
"""Distinct tuples beyond which clustering is tried only by name: a minute of CPU for 200,000 with twelve columns."""


def _offered(trial: Trial) -> list[dict[str, Any]]:
    if trial.tuples > CLUSTERED:
        return []
    labels = ["plain", "cheapest"] if trial.hierarchies else ["hierarchies"]
    more = [{"k": trial.few, "labels": labels}] if trial.hierarchies else []
    fitted = {"k": trial.few, "labels": labels, "improve": True, "fit_queries": True}
    if all(KMember(k=trial.few[0]).honours(r) for r in trial.require):  # limits are used up, so no larger k can help
        fitted["k"] = trial.few[:1]
    by_use = {**fitted, "labels": labels[:1], "weigh": "use"}
    if trial.large:  # each takes long, and those that are fitted answer best
        return [by_use]
    return [
        {"k": trial.ks},
        *more,
        {"k": trial.few, "labels": labels, "weigh": "use"},
        fitted,
        by_use,
    ]


@dataclass(frozen=True, kw_only=True)
class KMember(Steered):
    """Greedy clustering by information loss under any conjunction of class requirements."""

    k: int | None = None
    block: int = 25_000
    loss: Loss = "iloss"
    ends: Style = "open"
    labels: Labels = "hierarchies"
    improve: bool = False
    fit_queries: bool = False
    weigh: Weigh = "owner"
    require: tuple[Requirement, ...] = ()
    population: Table | None = field(default=None, compare=False)
    """Whom an adversary may take for a person in the release, for requirements that look at a population."""

    card: ClassVar[MechanismCard] = MechanismCard(
        name="k_member",
        title="Greedy k-member clustering",
        promise="each class meets all class requirements that you set (k_anonymity >= k, l-diversity, t-closeness, leakages, ...); means "
        "that you limit (marketer_risk, mutual_information) are met and used up",
        against="an adversary who knows all quasi-identifiers of a person and that the person is in the release",
        cost="numbers and dates become intervals that end at nobody's value (the outermost are open), columns with a taxonomy, "
        "mask or calendar become its labels, other columns become sets, unless you allow others (labels); these differ from class to "
        "class and may overlap (local recoding), and they are mostly narrower than Mondrian's; rows with equal quasi-identifiers may be "
        "divided; no row is left out, and no sensitive value changes",
        source="Byun, Kamra, Bertino, Li 2007, greedy k-member clustering; the loss is ILoss (Xiao and Tao 2006) or their own",
        chance="none",
        people=True,
        tunable=("k", "loss", "improve", "fit_queries", "weigh"),
        offer=Offer(60, _offered),
        parameters={
            "k": "short for the requirement k_anonymity >= k",
            "ends": STYLES,
            "labels": LABELS,
            "improve": IMPROVE,
            "fit_queries": FIT_QUERIES,
            "weigh": WEIGH,
            "block": "an approximation for large tables: if there are at least twice this many distinct tuples, Mondrian first cuts "
            "the table into blocks of at least this many, and each block is clustered by itself; 0: never",
            "loss": "how near two rows are. iloss: by the values that the released label, interval or set stands for, as ILoss counts "
            "them; byun: as in the paper, by how far apart the cluster's numbers lie and how high the common node of its "
            "categories is, so one step up a small taxonomy costs as much as a wide interval",
        },
    )

    def __post_init__(self) -> None:
        check_choices(self)
        check_whole(self, "block", least=0)
        self.check_steering()

    def honours(self, requirement: Requirement) -> bool:
        """Any requirement on classes; and limits on means over the rows, which are used up."""
        return super().honours(requirement) or is_mean(requirement)

    def sanitize(self, table: Table, roles: Roles, rng: Rng, *, progress: Progress) -> Release:
        """Sanitize; ties go to the tuple that comes first, so nothing is left to chance and `rng` is not used.

        The paper starts at a random row; here the first cluster lies furthest from the most frequent tuple. Rows whose tuple
        meets everything as it is stay as they are.
        """
        counts, split = self.count(table, roles, roles.sensitive if self.fit_queries else ())
        counts, owners = row_owners(counts, roles, apart=True)
        axes, code = axes_of(counts, roles, self.ends, self.labels)
        people = CoveredPeople.of(self.looked_at, roles, axis_labels(axes, code))
        on_classes, means = divided(self.promises, counts, roles, split, owners)
        demands = Demands.of(counts, roles, split, on_classes, people, owners)
        demands.check_whole(self.card.name)
        if means is not None:
            means.check_whole(self.card.name)
        weights = with_column_weights(roles, counts, self.weigh)
        rulers = [AxisLoss(axis, weights, self.loss) for axis in axes]
        narrow = self.loss != "byun"  # whose algorithm looks at all of them
        search = _ClusterSearch(rulers, code, demands, demands.least_rows(), narrow)
        found: list[tuple[IntArray, IntArray, IntArray]] = []
        share = 0.5 if self.improve or self.fit_queries else 1.0
        clusters, blocks = 0, _blocks(axes, code, demands, self.block)
        for i, block in enumerate(blocks):
            entry, n, member = search(block, lambda done, i=i: progress(share * (i + done) / len(blocks)))  # type: ignore[misc]
            found.append((entry, n, member + clusters))
            clusters += int(member.max()) + 1
        entry, n, member = (np.concatenate(arrays) for arrays in zip(*found, strict=True))
        parts, labels = settle(axes, rulers, code, demands, entry, n, member)
        notes: tuple[str, ...] = ()
        if len(blocks) > 1:
            notes = (
                f"An approximation: clustered within {len(blocks)} blocks that Mondrian cut first (block={self.block}).",
            )
        queries = QueryWorkload.of(counts, roles, axes, roles.sensitive) if self.fit_queries else None
        parts, labels, more = finished_classes(
            axes,
            rulers,
            code,
            demands,
            parts,
            labels,
            divides=True,
            progress=lambda done: progress(0.5 + 0.5 * done),
            means=means,
            improve=self.improve,
            queries=queries,
        )
        notes = (*notes, *more)
        recoding = recoding_of(parts, labels, counts, roles, divides=True)
        return self.released(table, roles, recoding, notes)


def _blocks(axes: list[PartitionAxis], code: IntArray, demands: Demands, least: int) -> list[IntArray]:
    """The tuples of each block: parts of at least so many tuples that meet everything as a class each."""
    everything = np.arange(len(demands.n))
    if not least or len(everything) < 2 * least:
        return [everything]

    def met(entry: IntArray, n: IntArray, member: IntArray, count: int) -> BoolArray:
        large = np.bincount(member, minlength=count) >= least
        return large & demands.met(entry, n, member, count)

    parts, _ = partition(axes, code, demands.n, met)
    return np.split(parts.entry, parts.start[1:])


@dataclass(frozen=True, eq=False)
class _ClusterSearch:
    """The greedy search within any block of the table's tuples."""

    rulers: list[AxisLoss]
    code: IntArray
    demands: Demands
    least: int
    narrow: bool
    """Whether the rest of a cluster is looked for among the tuples nearest to its first alone, where there are very many."""

    def __call__(self, block: IntArray, progress: Progress) -> tuple[IntArray, IntArray, IntArray]:
        """The rows of tuples in each cluster: every row of the block is in one."""
        block = np.sort(block)
        stay, member = self._as_they_are(block)
        left = np.zeros(len(self.demands.n), dtype=np.int64)
        left[block[~stay]] = self.demands.n[block[~stay]]
        pool = Pool(self.rulers, self.code, left)
        entry, n = block[stay].tolist(), self.demands.n[block[stay]].tolist()
        of = member[stay].tolist()
        count = max(of, default=-1) + 1
        last = int(block[np.argmax(self.demands.n[block])])
        rows = int(self.demands.n[block].sum())
        while pool.rows >= self.least:
            pool.start(last)
            far = pool.losses()
            tuples, amounts = self._grow(pool, int(np.argmax(np.where(np.isfinite(far), far, -1.0))))
            if not tuples:
                break
            entry += tuples
            n += amounts
            of += [count] * len(tuples)
            count, last = count + 1, tuples[-1]
            if count % 50 == 0:
                progress(1.0 - pool.rows / rows)
        made = Clusters(self.rulers, self.code, np.array(entry), np.array(n), np.array(of))
        for tuple_ in np.flatnonzero(pool.left).tolist():
            self._place(made, tuple_, int(pool.left[tuple_]))
        return made.entry, made.n, made.member

    def _as_they_are(self, block: IntArray) -> tuple[BoolArray, IntArray]:
        """Which tuples meet everything without being changed, together with those that differ in sensitive values only."""
        key = pack([line[block] for line in self.code], [len(ruler) for ruler in self.rulers], len(block))
        _, group = np.unique(key, return_inverse=True)
        good = self.demands.met(block, self.demands.n[block], group, int(group.max()) + 1)
        return good[group], (np.cumsum(good) - 1)[group]

    def _grow(self, pool: Pool, place: int) -> tuple[list[int], list[int]]:
        """A cluster from the tuple at a place: tuples and rows of each; none if the rows do not suffice, and then none is taken."""
        tuples: list[int] = []
        rows: list[int] = []
        aim = _Aim(self.demands)
        owners = self.demands.owners
        met: set[int] = set()  # the people of the cluster, where they are counted
        size = 0
        while True:
            tuple_ = int(pool.tuples[place])
            if not tuples:
                pool.start(tuple_)
                place = int(np.searchsorted(pool.tuples, tuple_))
            amount = min(int(pool.left[tuple_]), max(self.least - size, 1) if owners is None else 2**62)
            pool.take(place, amount)
            tuples.append(tuple_)
            rows.append(amount)
            aim.add(tuple_, amount)
            if owners is not None:  # each tuple is of one person, and that person's rows are taken together
                met.add(int(owners.person[tuple_]))
            size = len(met) if owners is not None else size + amount
            missing = size < self.least
            helps = None if missing else aim.helps()
            if not missing and helps is None and self._covers_enough(tuples, rows):
                return tuples, rows
            if not pool.rows:
                for tuple_, amount in zip(tuples, rows, strict=True):
                    pool.left[tuple_] += amount
                return [], []
            losses = pool.losses()
            if self.narrow and len(tuples) == 1:
                pool.narrow(losses, _NEAR)
                losses = pool.losses()
            wanted = self._wanted(pool, losses, met if missing else set(), helps)
            if pool.is_narrow and not np.isfinite(wanted).any():
                pool.widen()
                losses = pool.losses()
                wanted = self._wanted(pool, losses, met if missing else set(), helps)
            place = int(np.argmin(wanted if np.isfinite(wanted).any() else losses))

    def _wanted(
        self, pool: Pool, losses: FloatArray, met: set[int], helps: tuple[IntArray, BoolArray] | None
    ) -> FloatArray:
        """The losses, infinite for rows that bring the cluster nearer to nothing that it still misses."""
        owners = self.demands.owners
        if owners is not None and met:
            losses = np.where(np.isin(owners.person[pool.tuples], list(met)), np.inf, losses)
        if helps is not None:
            value, good = helps
            losses = np.where(good[value[pool.tuples]], losses, np.inf)
        return losses

    def _covers_enough(self, tuples: list[int], rows: list[int]) -> bool:
        """Whether a cluster that is fine by itself covers the people of a population that it must."""
        if self.demands.people is None:
            return True
        alone = np.zeros(len(tuples), dtype=np.int64)
        return bool(self.demands.met(np.array(tuples), np.array(rows), alone, 1)[0])

    def _place(self, clusters: Clusters, tuple_: int, rows: int) -> None:
        """Rows that are left over go where they cost least; where more rows may spoil a class, to one that stays good."""
        tuples, n = np.array([tuple_]), np.array([rows])
        cost = clusters.costs(tuples, rows)
        best = int(np.argmin(cost))
        if not all(requirement.metric.inherited for requirement, _, _ in self.demands.items):
            near = np.argsort(cost, kind="stable")[:_TRIED]
            number = np.full(len(cost), -1)
            number[near] = np.arange(len(near))
            inside = np.flatnonzero(number[clusters.member] >= 0)
            good = self.demands.met(
                np.append(clusters.entry[inside], np.repeat(tuples, len(near))),
                np.append(clusters.n[inside], np.repeat(n, len(near))),
                np.append(number[clusters.member[inside]], np.arange(len(near))),
                len(near),
            )
            best = int(near[np.argmax(good)])
        clusters.put(tuples, n, best)


class _Aim:
    """The sensitive values of a growing cluster, and which further ones bring it nearer to what it must meet."""

    def __init__(self, demands: Demands) -> None:
        self.items = [(r, value, s) for r, value, s in demands.items if value is not None and s is not None]
        self.owners = demands.owners
        self.held = [np.zeros(len(sensitive.total), dtype=np.int64) for _, _, sensitive in self.items]

    def add(self, tuple_: int, rows: int) -> None:
        """So many rows of a tuple come in."""
        weight = rows if self.owners is None else rows * int(self.owners.weights.of_row[self.owners.person[tuple_]])
        for held, (_, value, _) in zip(self.held, self.items, strict=True):
            held[value[tuple_]] += weight

    def helps(self) -> tuple[IntArray, BoolArray] | None:
        """None if everything is met; else the values of all tuples in a column, and which of these values help there.

        A value helps if one more row of it brings the first unmet requirement nearer to its bound; with very many values,
        those that the cluster lacks are taken to help.
        """
        for held, (requirement, value, sensitive) in zip(self.held, self.items, strict=True):
            now = self._per_class(requirement, held[None, :], sensitive)[0]
            if not requirement.holds(float(now)):
                if len(held) > _VALUES:
                    return value, held == 0
                more = self._per_class(requirement, held + np.eye(len(held), dtype=np.int64), sensitive)
                return value, more > now + 1e-12 if requirement.sign == ">=" else more < now - 1e-12
        return None

    @staticmethod
    def _per_class(requirement: Requirement, held: IntArray, sensitive: Sensitive) -> FloatArray:
        member, value = np.nonzero(held)
        return requirement.metric.per_class(Classes(held.sum(axis=1), member, value, held[member, value], sensitive))
