"""Whether a node meets what is required, and which rows must be suppressed for it.

**Which rows are suppressed.** Those of every class that misses a requirement on classes; they are left out of the
release. What is left is a table of its own with its own distribution of sensitive values, so it is judged again against
that, and so on until every class that is left meets everything. More than the limit: the node is not feasible.
Requirements on the whole table are then asked of what is left.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import field
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from ..core.arrow import integers, strings, take
from ..core.classes import Classes, Sensitive
from ..core.column import Column, FloatArray, IntArray
from ..core.counted import CountedTable
from ..core.counts import Counts, exact
from ..core.cover import BoolArray
from ..core.metric import Requirement
from ..core.noun import dataclass
from ..core.release import Evidence, Release
from ..core.roles import Roles
from ..core.table import Recoding, Table
from .rollup import Grouped, Rollup


@dataclass(frozen=True, eq=False)
class Verdict:
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


@dataclass(frozen=True, eq=False)
class _Demand:
    requirement: Requirement
    name: str | None
    """The sensitive column it looks at."""


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
    _demands: list[_Demand] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        plain, split = [], []
        for requirement in self.require:
            if requirement.metric.card.scope != "class":
                continue
            if "sensitive" not in requirement.metric.card.needs:
                plain.append(_Demand(requirement, None))
            else:
                asked = [requirement.metric.column] if requirement.metric.column else self.roles.sensitive
                split += [_Demand(requirement, name) for name in asked]
        self._demands.extend([*plain, *split])  # the cheap ones first

    @cached_property
    def on_table(self) -> tuple[Requirement, ...]:
        """The requirements on the whole table."""
        return tuple(r for r in self.require if r.metric.card.scope != "class")

    @cached_property
    def attributes(self) -> dict[str, tuple[IntArray, Sensitive]]:
        """For each sensitive column, the code in it of every joint value, and the attribute over the whole table."""
        joint, found = self.rollup.joint, {}
        for name in self.rollup.split:
            assert joint is not None
            column, code = joint.column(name), joint.codes[joint.names.index(name)]
            total = exact(np.bincount(code, weights=joint.n, minlength=len(column)))
            found[name] = (code, Sensitive(column, total, self.roles.orders.get(name), self.roles.taxonomy(name)))
        return found

    @cached_property
    def telling(self) -> bool:
        """Whether a miss of the whole table says something of the nodes below."""
        return self.limit == 0 and any(r.metric.card.monotone for r in self.on_table)

    @cached_property
    def upward(self) -> bool:
        """Whether a node above a feasible one is feasible: all that is asked is inherited, or monotone without suppression."""
        return all(r.metric.inherited or (r.metric.card.monotone and self.limit == 0) for r in self.require)

    def __call__(self, grouped: Grouped) -> Verdict:
        """Judge the classes of a node."""
        kept = np.ones(len(grouped), dtype=bool)
        floor = np.zeros(len(grouped))
        never, suppressed, missed = False, 0, []
        for demand in self._demands:  # against the whole table, which is what all nodes share
            if not kept.any():
                break
            values = self._values(demand, grouped, kept)
            good = np.asarray(demand.requirement.passes(values))
            if good.all():
                continue
            card = demand.requirement.metric.card
            missed.append(demand.requirement)
            at = np.flatnonzero(kept)[~good]
            if demand.requirement.metric.inherited:
                floor[at] = grouped.size[at]
            elif card.monotone:
                # one of its parts fails wherever it is cut, with at least one row; for a convex metric more can be said
                share = self._share(demand, values[~good])
                floor[at] = np.maximum(floor[at], np.maximum(share * grouped.size[at], 1.0))
            kept[at] = False
            suppressed = int(grouped.size[~kept].sum())
            if suppressed > self.limit and floor.sum() > self.limit:
                return Verdict(grouped, kept, suppressed, False, floor, True, tuple(missed))
        never = bool(floor.sum() > self.limit)
        while 0 < suppressed <= self.limit and kept.any():  # against what is left, until nothing more falls
            before, stays = suppressed, kept.copy()
            for demand in self._demands:
                if demand.name is not None:
                    good = np.asarray(demand.requirement.passes(self._values(demand, grouped, kept, left=True)))
                    stays[np.flatnonzero(kept)[~good]] = False
            kept = stays  # all at once, so that the order of the requirements does not matter
            suppressed = int(grouped.size[~kept].sum())
            if suppressed == before:
                break
        if suppressed > self.limit or not kept.any():
            return Verdict(grouped, kept, suppressed, False, floor, never, tuple(missed))
        return Verdict(grouped, kept, suppressed, True, floor, never)

    def whole(self, verdict: Verdict) -> Verdict:
        """Ask what is required of the whole table, where the classes are as they should be."""
        if not self.on_table or not verdict.feasible:
            return verdict
        evidence = self.evidence(verdict.grouped, verdict.kept)
        missed = tuple(r for r in self.on_table if not r.holds(r.metric.score(evidence).value))
        never = verdict.never or (self.limit == 0 and any(r.metric.card.monotone for r in missed))
        return dataclasses.replace(verdict, feasible=not missed, never=never, missed=missed)

    def classes(
        self, name: str | None, grouped: Grouped, kept: BoolArray | None = None, *, left: bool = False
    ) -> Classes:
        """Some of the classes, split by a sensitive column; `left`: as a table of their own, else as part of the whole."""
        everything = kept is None or bool(kept.all())
        if name is None:
            return Classes(grouped.size if everything else grouped.size[kept])
        project, sensitive = self.attributes[name]
        member, value, n, count = grouped.member, grouped.value, grouped.n, len(grouped)
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
        if len(self.rollup.split) == 1:  # entries are already one a value, in its order
            size = grouped.size if everything else grouped.size[kept]
            return Classes(size, member, project[value], n, sensitive)
        return Classes.of(member, n, count=count, value=project[value], sensitive=sensitive)

    def _values(self, demand: _Demand, grouped: Grouped, kept: BoolArray, *, left: bool = False) -> FloatArray:
        return demand.requirement.metric.per_class(self.classes(demand.name, grouped, kept, left=left))

    def _share(self, demand: _Demand, values: FloatArray) -> FloatArray | float:
        """Of a class that misses a convex requirement, the share of rows that misses it however the class is cut.

        A convex f has `f(c) <= sum_i w_i f(c_i)`; parts that pass are at most the bound b, others at most the largest
        value u. So `f(c) <= s u + (1 - s) b`, and the share is at least `(f(c) - b)/(u - b)`.
        """
        metric, bound = demand.requirement.metric, demand.requirement.bound
        if not metric.convex:
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
        return self.release(grouped, kept).evidence(self.roles)

    def recoding(self, grouped: Grouped, kept: BoolArray) -> Recoding:
        """What each tuple of quasi-identifiers becomes; those of suppressed classes are not in it, so their rows go."""
        tuples, lattice = self.rollup.tuples, self.rollup.lattice
        there = np.flatnonzero(kept[self.rollup.member(grouped)])
        before, after = [], []
        for ladder, level, code in zip(lattice.ladders, grouped.levels, tuples.codes, strict=True):
            before.append(take(ladder.column.values, code[there]))
            after.append(take(strings(ladder.labels[level]), ladder.codes[level][code[there]]))
        names = [*(f"by{i}" for i in range(len(before))), *(f"to{i}" for i in range(len(after))), "n"]
        table = pa.Table.from_arrays([*before, *after, integers(tuples.n[there])], names=names)
        return Recoding(lattice.names, lattice.names, table)

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
            entries = joint is not None
            member = grouped.member if entries else np.arange(len(grouped))
            there = kept[member]
            columns: dict[str, tuple[Column, IntArray]] = {}
            first = grouped.first[member[there]]
            for ladder, level, code in zip(lattice.ladders, grouped.levels, self.rollup.tuples.codes, strict=True):
                column, to = ladder.released[level]
                columns[ladder.name] = (column, to[code[first]])
            if joint is not None:
                for column, code in zip(joint.columns, joint.codes, strict=True):
                    columns[column.name] = (column, code[grouped.value[there]])
            n = grouped.n[there] if entries else grouped.size[there]
            pairs = [columns[name] for name in counts.names]
            made = Counts.of([column for column, _ in pairs], [code for _, code in pairs], n)
        else:
            there = kept[self.rollup.member(grouped)][self.of_tuple]
            full = []
            for column, code in zip(counts.columns, counts.codes, strict=True):
                if column.name in lattice.names:
                    at = lattice.names.index(column.name)
                    column, to = lattice.ladders[at].released[grouped.levels[at]]
                    code = to[code]
                full.append((column, code[there]))
            made = Counts.of([column for column, _ in full], [code for _, code in full], counts.n[there])
        return made.only(np.ones(len(made), dtype=bool))

    @cached_property
    def of_tuple(self) -> IntArray:
        """The quasi-identifier tuple of each counted tuple."""
        return self.original.counts.group(self.rollup.lattice.names)[1]
