"""Whether a node meets what is required, and which rows must be suppressed for it.

**Which rows are suppressed.** Those of every class that misses a requirement on classes; they are left out of the
release. What is left is a table of its own with its own distribution of sensitive values, so it is judged again against
that, and so on until every class that is left meets everything. A mean over the rows then leaves out the classes that cost
most (`means`). More than the limit: the node is not feasible. What looks at all classes at once is then asked of what is left;
classes that miss it go too. For other requirements on the whole table no class is left out.

**What that proves.** A class that misses what looks at a class alone must go, whatever else does: no other choice is better.
Elsewhere another choice of classes might do with less, or do at all. A verdict says so (`doubtful`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import field
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from ..core.arrow import integers, strings, take
from ..core.classes import Classes, Sensitive
from ..core.column import FloatArray, IntArray
from ..core.counted_table import CountedTable
from ..core.counts import Counts, exact, pack
from ..core.cover import BoolArray
from ..core.metric import Requirement, Score
from ..core.noun import dataclass
from ..core.population import Cover
from ..core.release import Evidence, Release
from ..core.roles import Roles
from ..core.table import Recoding, Table
from .mean_suppression import fraction, leave_out
from .population import PopulationRollup
from .rollup import Grouped, Rollup


@dataclass(frozen=True, eq=False)
class NodeVerdict:
    """A node judged: the classes that stay, the rows that do not, and what that says of all nodes below it.

    `floor` are rows of each class that every specialization must suppress too, whatever else it does. `never` is true
    where no specialization can be feasible.
    """

    grouped: Grouped
    kept: BoolArray
    suppressed: int
    feasible: bool
    floor: FloatArray
    never: bool
    missed: tuple[Requirement, ...] = ()
    """What is not met: for classes, what costs too many rows."""
    doubtful: tuple[Requirement, ...] = ()
    """Requirements for which another choice of the classes to leave out might do better here, or do at all."""
    by_rule: bool = False
    """Whether `floor` and `never` hold only where classes that miss such a requirement are left out."""
    least: BoolArray | None = None
    """Where something is doubtful, the classes without those that must go whatever the choice."""
    price: float = 0.0
    """What every choice of other classes costs more than that."""


@dataclass(frozen=True, eq=False)
class _Demand:
    requirement: Requirement
    name: str | None
    """The sensitive column it looks at."""

    @cached_property
    def alone(self) -> bool:
        """Whether a class has it whatever else is released."""
        return self.requirement.metric.alone


@dataclass(eq=False)
class _Staying:
    """The classes that stay, and what is known of the choice."""

    kept: BoolArray
    must: BoolArray
    """Classes that must go."""
    doubtful: dict[Requirement, None] = field(default_factory=dict)
    missed: dict[Requirement, None] = field(default_factory=dict)
    price: float = 0.0
    feasible: bool = True
    never: bool = False


@dataclass(frozen=True, eq=False)
class Judge:
    """Requirements on classes and on the table, and the rows that may be suppressed to meet them."""

    rollup: Rollup
    roles: Roles
    require: tuple[Requirement, ...]
    limit: int
    original: CountedTable
    population: Table | None = None
    paired: bool = False
    """Whether some metric wants to know which original value became which released one."""
    prices: Callable[[Grouped], FloatArray | None] | None = None
    """What it costs to leave out each class of a node, where that adds up; rows, where nothing is said."""
    demands: list[_Demand] = field(default_factory=list, init=False)
    _means: list[_Demand] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        for into, requirements in (
            (self.demands, [r for r in self.require if r.metric.card.scope == "class"]),
            (self._means, [r for r in self.require if self._is_mean(r)]),
        ):
            plain, split = [], []
            for requirement in requirements:
                if "sensitive" not in requirement.metric.card.needs:
                    plain.append(_Demand(requirement, None))
                else:
                    names = [requirement.metric.column] if requirement.metric.column else self.roles.sensitive
                    split += [_Demand(requirement, name) for name in names]
            into.extend([*plain, *split])  # the cheap ones first

    @cached_property
    def _changing(self) -> list[_Demand]:
        """What a class has of these depends on the rest of the table."""
        return [demand for demand in self.demands if not demand.alone]

    @cached_property
    def on_table(self) -> tuple[Requirement, ...]:
        """The requirements that are asked of a release as a whole."""
        return tuple(r for r in self.require if r.metric.card.scope != "class" and not self._is_mean(r))

    def _is_mean(self, requirement: Requirement) -> bool:
        """Whether classes can be left out by what each adds to a mean over rows; where people are counted it is none."""
        return requirement.metric.card.costs is not None and self.rollup.owners is None

    @cached_property
    def people(self) -> PopulationRollup | None:
        """The population, rolled up; None without one, and where it cannot be."""
        return None if self.population is None else PopulationRollup.of(self.population, self.roles, self.rollup)

    def _steady(self, requirement: Requirement) -> bool:
        """Whether what the card says of merging holds here: labels may cover fewer people of a population than those below."""
        covers = requirement.metric.card.covers
        return not covers or self.population is None or self.people is not None

    @cached_property
    def attributes(self) -> dict[str, tuple[IntArray, Sensitive]]:
        """For each sensitive column, the code in it of every joint value, and the attribute over the whole table."""
        joint, attributes = self.rollup.joint, {}
        for name in self.rollup.split:
            assert joint is not None
            roles, total, code = self.roles, joint.margin(name), joint.codes[joint.names.index(name)]
            if self.rollup.owners is not None:
                base = self.rollup.base
                total = exact(np.bincount(code[base.value], weights=base.weight, minlength=len(total)))
            sensitive = Sensitive(joint.column(name), total, roles.orders.get(name), roles.taxonomy(name))
            attributes[name] = (code, sensitive)
        return attributes

    @cached_property
    def telling(self) -> bool:
        """Whether a miss of the whole table says something of the nodes below."""
        return self.limit == 0 and any(r.metric.card.monotone and self._steady(r) for r in self.on_table)

    @cached_property
    def upward(self) -> bool:
        """Whether a node above a feasible one is feasible: all that is asked is inherited, or monotone without suppression."""
        return all(
            self._steady(r) and (r.metric.inherited or (r.metric.card.monotone and self.limit == 0))
            for r in self.require
        )

    def __call__(self, grouped: Grouped) -> NodeVerdict:
        """Judge the classes of a node."""
        floor = np.zeros(len(grouped))
        left = _Staying(np.ones(len(grouped), dtype=bool), np.zeros(len(grouped), dtype=bool))
        kept, by_rule = left.kept, False
        for demand in self.demands:  # against the whole table, which is what all nodes share
            if not kept.any():
                break
            values = self._values(demand, grouped, kept)
            good = np.asarray(demand.requirement.passes(values))
            if good.all():
                continue
            left.missed[demand.requirement] = None
            at = np.flatnonzero(kept)[~good]
            metric, steady = demand.requirement.metric, self._steady(demand.requirement)
            if metric.inherited and steady:
                floor[at] = grouped.size[at]
            elif metric.card.monotone and steady:
                # one of its parts fails wherever it is cut, with at least one row; for a convex metric more can be said
                share = self._share(demand, values[~good])
                floor[at] = np.maximum(floor[at], np.maximum(share * grouped.size[at], 1.0))
            if demand.alone:
                left.must[at] = True
                left.must |= ~grouped.together(~left.must)
            elif self.limit:
                left.doubtful[demand.requirement] = None
                by_rule |= steady and (metric.inherited or metric.card.monotone)
            kept[at] = False
            kept &= grouped.together(kept)
            if floor.sum() > self.limit and grouped.size[~kept].sum() > self.limit:
                return self._verdict(grouped, left, floor, True, by_rule, feasible=False)
        never = bool(floor.sum() > self.limit)
        self._settle(grouped, left)
        return self._verdict(grouped, left, floor, never or left.never, by_rule, feasible=left.feasible)

    def _verdict(
        self, grouped: Grouped, left: _Staying, floor: FloatArray, never: bool, by_rule: bool, *, feasible: bool
    ) -> NodeVerdict:
        suppressed = int(grouped.size[~left.kept].sum())
        missed = () if feasible else tuple(left.missed)
        doubtful = tuple(left.doubtful)
        least = ~left.must if doubtful else None
        return NodeVerdict(
            grouped, left.kept, suppressed, feasible, floor, never, missed, doubtful, by_rule, least, left.price
        )

    def _settle(self, grouped: Grouped, left: _Staying) -> None:
        """Judge what is left against itself until nothing more falls; then leave out what makes means too large."""
        left.feasible = False
        while True:
            suppressed = int(grouped.size[~left.kept].sum())
            if suppressed > self.limit or not left.kept.any():
                return
            before = left.kept
            if suppressed and self._changing:
                stays = left.kept.copy()
                for demand in self._changing:
                    good = np.asarray(demand.requirement.passes(self._values(demand, grouped, left.kept, left=True)))
                    if not good.all():
                        stays[np.flatnonzero(left.kept)[~good]] = False
                        left.doubtful[demand.requirement] = left.missed[demand.requirement] = None
                stays &= grouped.together(stays)
                left.kept = stays  # all at once, so that the order of the requirements does not matter
                if not np.array_equal(before, stays):
                    continue
            if self._means and not self._leave_out(grouped, left):
                return
            if left.kept is before or np.array_equal(before, left.kept):
                left.feasible = True
                return

    def _costs(self, demand: _Demand, grouped: Grouped, kept: BoolArray | None, *, left: bool) -> FloatArray:
        """What each class adds to a mean."""
        metric = demand.requirement.metric
        assert metric.card.costs is not None
        return metric.card.costs(self.classes(demand.name, grouped, kept, left=left), **metric.arguments)

    def _leave_out(self, grouped: Grouped, left: _Staying) -> bool:
        """Leave out the classes that cost a mean most; false if no choice of them was found."""
        kept, size = left.kept, grouped.size[left.kept]
        rows, suppressed = int(size.sum()), int(grouped.size[~kept].sum())
        costs = [self._costs(demand, grouped, kept, left=suppressed > 0) for demand in self._means]
        missed = [
            not demand.requirement.holds(float(cost.sum()) / rows)
            for demand, cost in zip(self._means, costs, strict=True)
        ]
        if not any(missed):
            return True
        for demand, miss in zip(self._means, missed, strict=True):
            if miss:
                left.missed[demand.requirement] = None
        if not self.limit:
            left.never |= any(d.requirement.metric.card.monotone for d, m in zip(self._means, missed, strict=True) if m)
            return False
        excesses = [cost - d.requirement.bound * size for d, cost in zip(self._means, costs, strict=True)]
        price = None if self.prices is None else self.prices(grouped)
        choice = leave_out(
            excesses, size, size / self.rollup.rows if price is None else price[kept], self.limit - suppressed
        )
        changing = [d.requirement for d, m in zip(self._means, missed, strict=True) if m and not d.alone]
        if choice.out is None and choice.certain and not changing:
            left.never |= any(self._hopeless(d, grouped) for d, m in zip(self._means, missed, strict=True) if m)
            return False
        if not choice.certain or price is None or changing:
            left.doubtful |= dict.fromkeys(d.requirement for d, m in zip(self._means, missed, strict=True) if m)
        if choice.out is None:
            return False
        if price is not None and not left.doubtful.keys() - {d.requirement for d in self._means}:
            left.price = max(left.price, 0.0 if changing else choice.bound)
        left.kept = kept.copy()
        left.kept[np.flatnonzero(kept)[choice.out]] = False
        if not changing and not all(  # rounding
            d.requirement.holds(float(cost[~choice.out].sum()) / max(int(size[~choice.out].sum()), 1))
            for d, cost in zip(self._means, costs, strict=True)
        ):
            left.doubtful |= dict.fromkeys(d.requirement for d in self._means)
            return False
        return True

    def _hopeless(self, demand: _Demand, grouped: Grouped) -> bool:
        """Whether a mean is too large in every specialization, too, whatever is left out of it.

        However a class is cut, what stays of it costs at least the share of rows that stays. So no choice in a specialization
        does better than one of fractions of classes here.
        """
        if not demand.requirement.metric.card.monotone:
            return False
        excess = self._costs(demand, grouped, None, left=False) - demand.requirement.bound * grouped.size
        return (
            fraction(excess, grouped.size.astype(np.float64), float(excess.sum()))
            > self.limit + 1e-9 * self.limit + 1e-9
        )

    def whole(self, verdict: NodeVerdict) -> NodeVerdict:
        """Ask what is required of the release as a whole, where the classes are as they should be.

        Classes that miss what looks at all of them at once are left out: all at once where it looks at each alone, else those
        that miss it by most, and the rest is asked again.
        """
        if not self.on_table or not verdict.feasible:
            return verdict
        grouped, must = verdict.grouped, verdict.least
        left = _Staying(verdict.kept, ~verdict.kept if must is None else ~must, dict.fromkeys(verdict.doubtful))
        left.price = verdict.price
        while True:
            evidence = self.evidence(grouped, left.kept)
            scores = [(r, r.metric.score(evidence)) for r in self.on_table]
            left.missed = dict.fromkeys(r for r, score in scores if not r.holds(score.value))
            if not left.missed or not self._fall(grouped, left, [pair for pair in scores if pair[0] in left.missed]):
                break
            self._settle(grouped, left)
            if not left.feasible:
                break
        monotone = any(r.metric.card.monotone and self._steady(r) for r in left.missed)
        never = verdict.never or (self.limit == 0 and monotone)
        return self._verdict(grouped, left, verdict.floor, never, verdict.by_rule, feasible=not left.missed)

    def _fall(self, grouped: Grouped, left: _Staying, missed: list[tuple[Requirement, Score]]) -> bool:
        """Leave out classes that miss these; false where that is of no use."""
        if not self.limit:
            return False
        if grouped.history is not None:  # measured class by class in another order
            left.doubtful |= dict.fromkeys(requirement for requirement, _ in missed)
            return False
        order = np.flatnonzero(left.kept)[self._order(grouped, left.kept)]
        stays = left.kept.copy()
        for requirement, score in missed:
            metric, values = requirement.metric, score.per_class
            if metric.card.scope != "classes" or values is None:
                left.doubtful[requirement] = None
                continue
            sign = 1.0 if requirement.sign == ">=" else -1.0
            miss = np.where(requirement.passes(values), 0.0, sign * (requirement.bound - values))
            bad = miss > 0 if metric.alone else (miss > 0) & (miss >= miss.max() / 2)
            stays[order[bad]] = False
            if metric.alone:
                left.must[order[bad]] = True
            else:
                left.doubtful[requirement] = None
        moved = not np.array_equal(stays, left.kept)
        left.kept = stays
        return moved

    def _order(self, grouped: Grouped, kept: BoolArray) -> IntArray:
        """The classes that stay in the order of the evidence: by their released values."""
        codes, sizes = [], []
        first = grouped.first[kept]
        for ladder, level, own in zip(
            self.rollup.lattice.ladders, grouped.levels, self.rollup.tuples.codes, strict=True
        ):
            column, to = ladder.released[level]
            codes.append(to[own[first]])
            sizes.append(len(column))
        return np.argsort(pack(codes, sizes, len(first)), kind="stable")

    def classes(
        self, name: str | None, grouped: Grouped, kept: BoolArray | None = None, *, left: bool = False
    ) -> Classes:
        """Some of the classes, split by a sensitive column; `left`: as a table of their own, else as part of the whole."""
        everything = kept is None or bool(kept.all())
        if name is None:
            size = grouped.size if everything else grouped.size[kept]
            return Classes(size, whole=None if left else self.rollup.rows)
        project, sensitive = self.attributes[name]
        member, value, n, count = grouped.member, grouped.value, grouped.weight, len(grouped)
        if not everything:
            assert kept is not None
            entry = kept[member]
            number = np.cumsum(kept) - 1
            member, value, n, count = number[member[entry]], value[entry], n[entry], int(kept.sum())
        if left:
            total = exact(np.bincount(project[value], weights=n, minlength=len(sensitive.total)))
            there = np.flatnonzero(total)
            code = np.cumsum(total > 0) - 1
            column = sensitive.column.only(there)
            sensitive = Sensitive(column, total[there], sensitive.order, sensitive.hierarchy)
            project = code[project]
        if len(self.rollup.split) == 1 and self.rollup.owners is None:  # entries are already one a value, in its order
            size = grouped.size if everything else grouped.size[kept]
            return Classes(size, member, project[value], n, sensitive)
        return Classes.of(member, n, count=count, value=project[value], sensitive=sensitive)

    def _values(self, demand: _Demand, grouped: Grouped, kept: BoolArray, *, left: bool = False) -> FloatArray:
        metric = demand.requirement.metric
        classes = self.classes(demand.name, grouped, kept, left=left)
        if self.rollup.owners is not None:
            classes = self._of_people(demand, grouped, kept, classes)
        if metric.card.covers and self.population is not None:
            classes = dataclasses.replace(classes, cover=Cover(self._covered(grouped)[kept], 0, 0))
        return metric.per_class(classes)

    def _of_people(self, demand: _Demand, grouped: Grouped, kept: BoolArray, classes: Classes) -> Classes:
        """The same classes with their different people counted, where rows are not people."""
        owners, at = self.rollup.owners, np.flatnonzero(kept)
        assert owners is not None
        if demand.name is not None:
            return dataclasses.replace(classes, different=self.rollup.people(grouped, at))
        if demand.requirement.metric.card.covers and self.population is not None:
            return Classes(self.rollup.people(grouped, at), whole=owners.people)
        people = owners.deciding(
            demand.requirement, grouped.size[kept], lambda some: self.rollup.people(grouped, at[some])
        )
        return Classes(people, whole=owners.people)

    def _covered(self, grouped: Grouped) -> IntArray:
        """The people of the population whom each class covers."""
        if self.people is not None:
            return self.people(grouped)
        every = np.ones(len(grouped), dtype=bool)
        covered = np.zeros(len(grouped), dtype=np.int64)
        sizes = self.evidence(grouped, every).population_sizes()
        assert sizes is not None
        covered[self._order(grouped, every)] = sizes
        return covered

    def _share(self, demand: _Demand, values: FloatArray) -> FloatArray | float:
        """Of a class that misses a convex requirement, the share of rows that misses it however the class is cut.

        A convex f has `f(c) <= sum_i w_i f(c_i)`; parts that pass are at most the bound b, others at most the largest
        value u. So `f(c) <= s u + (1 - s) b`, and the share is at least `(f(c) - b)/(u - b)`.
        """
        metric, bound = demand.requirement.metric, demand.requirement.bound
        if not metric.convex or self.rollup.owners is not None:  # a share of people, which says little of rows
            return 0.0
        most = self._most(demand)
        # rounding must not make the share larger than it is
        share: FloatArray = np.clip((values - bound) / max(most - bound, 1e-9) - 1e-9, 0.0, 1.0)
        return share

    def _most(self, demand: _Demand) -> float:
        """The largest value of a convex metric: at a class of one value, which are its extreme points."""
        kept: dict[Any, float] = self.__dict__.setdefault("_kept_most", {})
        if demand not in kept:
            assert demand.name is not None
            sensitive = self.attributes[demand.name][1]
            single = np.arange(len(sensitive.total))
            alone = Classes(np.ones_like(single), single, single, np.ones_like(single), sensitive)
            kept[demand] = float(demand.requirement.metric.per_class(alone).max())
        return kept[demand]

    def evidence(self, grouped: Grouped, kept: BoolArray) -> Evidence:
        """What a metric sees of the release that a node would be: so any registered metric can judge it."""
        evidence = self.release(grouped, kept).evidence(self.roles)
        if self.population is not None:
            evidence.cover_from(lambda: self._rolled(grouped, kept))
        return evidence

    def _rolled(self, grouped: Grouped, kept: BoolArray) -> Cover | None:
        """Whom the classes that stay cover, in the order of the evidence: counted once, and rolled up."""
        if self.people is None:
            return None
        sizes = self.people(grouped)[kept]
        return Cover(sizes[self._order(grouped, kept)], self.people.total - int(sizes.sum()), 0)

    def recoding(self, grouped: Grouped, kept: BoolArray) -> Recoding:
        """What each tuple of quasi-identifiers becomes; those of suppressed classes are not in it, so their rows go."""
        rollup, lattice = self.rollup, self.rollup.lattice
        tuples = rollup.tuples
        there = np.flatnonzero(kept[self.rollup.member(grouped)])
        before, after = [], []
        for ladder, level, code in zip(lattice.ladders, grouped.levels, tuples.codes, strict=True):
            before.append(take(ladder.column.values, code[there]))
            after.append(take(strings(ladder.labels[level]), ladder.codes[level][code[there]]))
        if rollup.person is not None:
            before.append(take(rollup.person.values, rollup.who[there]))
        return Recoding.of(rollup.by, lattice.names, [*before, *after], tuples.n[there])

    def release(self, grouped: Grouped, kept: BoolArray) -> Release:
        """The release of a node as counts."""
        return Release(
            table=CountedTable(self._released(grouped, kept), name=self.original.name),
            original=self.original,
            recoding=self.recoding(grouped, kept) if self.paired else None,
            population=self.population,
            made_by="generalize_full_domain",
        )

    def rows(self, grouped: Grouped, kept: BoolArray, columns: Sequence[str]) -> tuple[pa.Table, pa.Array]:
        """The distinct rows of that release, and how many there are of each."""
        counts = self._released(grouped, kept).group(tuple(columns))[0]
        arrays = [take(column.values, code) for column, code in zip(counts.columns, counts.codes, strict=True)]
        return pa.Table.from_arrays(arrays, names=list(columns)), integers(counts.n)

    def _released(self, grouped: Grouped, kept: BoolArray) -> Counts:
        """The counts of that release, over all columns of the original that were counted."""
        counts, lattice, joint = self.original.counts, self.rollup.lattice, self.rollup.joint
        if set(counts.names) == {*lattice.names, *self.rollup.split}:  # all of it is in the classes already
            member = grouped.member if joint is not None else np.arange(len(grouped))
            there = kept[member]
            first = grouped.first[member[there]]
            own = dict(zip(lattice.names, (code[first] for code in self.rollup.tuples.codes), strict=True))
            if joint is not None:
                own |= dict(zip(joint.names, (code[grouped.value[there]] for code in joint.codes), strict=True))
            n = grouped.n[there] if joint is not None else grouped.size[there]
        else:
            there = kept[self.rollup.member(grouped)][self.of_tuple]
            own, n = {name: code[there] for name, code in zip(counts.names, counts.codes, strict=True)}, counts.n[there]
        released = {
            ladder.name: ladder.released[level] for ladder, level in zip(lattice.ladders, grouped.levels, strict=True)
        }
        columns, codes = [], []
        for column in counts.columns:
            raised, to = released.get(column.name, (column, None))
            columns.append(raised)
            codes.append(own[column.name] if to is None else to[own[column.name]])
        made = Counts.of(columns, codes, n)
        return made.only(np.ones(len(made), dtype=bool))

    @cached_property
    def of_tuple(self) -> IntArray:
        """The quasi-identifier tuple of each counted tuple."""
        return self.original.counts.group(self.rollup.by)[1]
