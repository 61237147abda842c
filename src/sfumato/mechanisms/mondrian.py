"""Mondrian: cut the table along one quasi-identifier after the other, as long as every part meets every requirement.

LeFevre, DeWitt, Ramakrishnan 2006. The table is counted once into distinct weighted tuples; `_partition` cuts these, and
the engine replaces the rows' values by one join. The cost follows distinct tuples, not rows. Under (n,t)-closeness a cut is
judged by what the part was cut from (`_lineage`), and cuts that the metric does not agree to are undone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import pyarrow as pa

from ..core.arrow import integers, strings, take
from ..core.asked import one_row_each, sensitive_columns
from ..core.chance import Chance
from ..core.classes import Classes, Sensitive
from ..core.column import IntArray, encode
from ..core.counted import CountedTable
from ..core.counts import Counts, exact, pack
from ..core.cover import BoolArray
from ..core.errors import Infeasible, InputError
from ..core.mechanism import Mechanism, MechanismCard, Progress, check_choices
from ..core.metric import Requirement, spell_number
from ..core.release import Release
from ..core.roles import Roles
from ..core.table import Recoding, Table
from ..metrics.privacy.k_anonymity import k_anonymity
from ..metrics.privacy.n_t_closeness import n_t_closeness
from ._axes import Axis
from ._lineage import Lineage, Near
from ._partition import Parts, along, partition_tree


@dataclass(frozen=True)
class Mondrian(Mechanism):
    """Greedy multidimensional partitioning under any conjunction of class requirements and (n,t)-closeness."""

    k: int | None = None
    mode: Literal["strict", "relaxed"] = "strict"
    choose: Literal["loss", "width"] = "loss"
    bounds: Literal["data", "cuts"] = "data"
    require: tuple[Requirement, ...] = ()

    card: ClassVar[MechanismCard] = MechanismCard(
        name="mondrian",
        title="Mondrian multidimensional partitioning",
        promise="every class meets every class requirement given (k_anonymity >= k, l-diversity, t-closeness, leakages, ...) and "
        "n_t_closeness, where that is required",
        against="an adversary who knows all quasi-identifiers of a person and that the person is in the release",
        cost="numbers and dates become intervals, columns with a taxonomy, mask or calendar its labels, others sets, and these "
        "differ from class to class (local recoding); nothing is suppressed, and no sensitive value is changed",
        source="LeFevre, DeWitt, Ramakrishnan 2006; requirements beyond k after Li, Li, Venkatasubramanian 2007, "
        "(n,t)-closeness after their check of 2010",
        parameters={
            "k": "short for the requirement k_anonymity >= k",
            "mode": "strict: rows with equal quasi-identifiers stay together; relaxed: they may be divided, which makes "
            "classes smaller where one value is very frequent",
            "choose": "loss: cut along the axis where that lowers ILoss most; width: along the widest, as the paper suggests",
            "bounds": "data: an interval spans the values its class has; cuts: it spans from cut to cut, which says less "
            "about the outermost people and loses more",
        },
    )

    def __post_init__(self) -> None:
        if self.k is not None and (not isinstance(self.k, int) or isinstance(self.k, bool) or self.k < 1):
            raise InputError("mondrian: k must be at least 1, and whole.")
        check_choices(self)
        for requirement in self.require:
            if not self.honours(requirement):
                raise InputError(
                    f"mondrian cannot steer by {requirement}: it is about the whole table, not about a class."
                )

    def honours(self, requirement: Requirement) -> bool:
        """Any requirement on classes, and (n,t)-closeness."""
        return requirement.metric.card.scope == "class" or requirement.metric.card.name == n_t_closeness.card.name

    @property
    def promises(self) -> tuple[Requirement, ...]:
        """k and the requirements."""
        return (*((k_anonymity.at_least(self.k),) if self.k is not None else ()), *self.require)

    def __call__(
        self, table: Table, roles: Roles, rng: np.random.Generator | None = None, *, progress: Progress | None = None
    ) -> Release:
        """Sanitize; `rng` only decides how equal rows are divided in relaxed mode."""
        require = self.promises
        if not require:
            raise InputError("mondrian needs something to meet: set k, or require for example k_anonymity >= 5.")
        if not roles.quasi:
            raise InputError(f"{roles.source} names no quasi-identifier; set quasi = [...].")
        roles.check(table.columns, where=table.name, need=("identifiers", "quasi", "sensitive", "insensitive"))
        one_row_each(table, roles, "mondrian")
        split = sensitive_columns((requirement.metric for requirement in require), roles)
        counts = table.count((*roles.quasi, *split))
        if not counts.rows:
            raise InputError(f"{table.name} has no rows.")
        axes = [
            Axis.of(column, exact(np.bincount(codes, weights=counts.n, minlength=len(column))), roles)
            for column, codes in zip(counts.columns, counts.codes, strict=True)
            if column.name in roles.quasi
        ]
        demands = _Demands.of(counts, roles, split, tuple(r for r in require if r.metric.card.scope == "class"))
        demands.check_whole()
        lineage = _lineage(counts, roles, split, tuple(r for r in require if r.metric.card.scope != "class"))
        code = np.array([axis.code[counts.codes[i]] for i, axis in enumerate(axes)])
        relaxed = self.mode == "relaxed"
        chance = Chance(rng)
        tie = chance.order(len(counts)) if relaxed else None
        parts, labels = self._cut(axes, code, demands, lineage, tie, roles, progress)
        if lineage is not None:  # what is near the whole table will do, too: take it where it loses less
            others = self._cut(axes, code, demands, lineage.to_whole(), tie, roles, None)
            if _loss(axes, code, others[0], roles) < _loss(axes, code, parts, roles):
                parts, labels = others
        if relaxed:  # parts with equal labels are one class, and not every requirement survives a union
            demands.check_union(parts, labels)
        recoding = _recoding(parts, labels, counts, roles, divides=relaxed)
        columns = [c for c in table.columns if c in (*roles.quasi, *roles.sensitive, *roles.insensitive)]
        return Release(
            table=table.keep(columns).recode(recoding),
            original=table,
            recoding=recoding,
            made_by=self.card.name,
            parameters=self.settings(),
            notes=chance.notes if relaxed else (),
        )

    def _cut(
        self,
        axes: list[Axis],
        code: IntArray,
        demands: _Demands,
        lineage: Lineage | None,
        tie: IntArray | None,
        roles: Roles,
        progress: Progress | None,
    ) -> tuple[Parts, list[list[str | None]]]:
        """The parts and what they release; cuts are undone until the metric agrees to all that looks at ancestors."""
        wide, by_cuts = self.choose == "width", self.bounds == "cuts"
        parts, number = partition_tree(
            axes, code, demands.n, demands.met, lineage=lineage, widest=wide, tie=tie, progress=progress
        )
        labels = _labels(parts, axes, code, by_cuts=by_cuts)
        while lineage is not None and (failed := _failed(lineage, parts, labels, roles)).any():
            if len(parts) == 1:
                raise Infeasible(
                    f"mondrian cannot meet {lineage.near[0][0]}: not even the whole table as a single class does."
                )
            parts, number = lineage.join(parts, number, failed)
            labels = _labels(parts, axes, code, by_cuts=by_cuts)
        return parts, labels


@dataclass(frozen=True, eq=False)
class _Demands:
    """What every class must meet, with the sensitive value of each tuple where a requirement looks at one."""

    n: IntArray
    items: tuple[tuple[Requirement, IntArray | None, Sensitive | None], ...]

    @classmethod
    def of(cls, counts: Counts, roles: Roles, split: tuple[str, ...], require: tuple[Requirement, ...]) -> _Demands:
        attributes = {}
        for name in split:
            column, value = counts.column(name), counts.codes[counts.names.index(name)]
            total = exact(np.bincount(value, weights=counts.n, minlength=len(column)))
            attributes[name] = (value, Sensitive(column, total, roles.orders.get(name), roles.taxonomy(name)))
        plain: list[tuple[Requirement, IntArray | None, Sensitive | None]] = []
        split_by: list[tuple[Requirement, IntArray | None, Sensitive | None]] = []
        for requirement in require:
            if "sensitive" not in requirement.metric.card.needs:
                plain.append((requirement, None, None))
            else:
                asked = [requirement.metric.column] if requirement.metric.column else roles.sensitive
                split_by += [(requirement, *attributes[name]) for name in asked]
        return cls(counts.n, (*plain, *split_by))  # the cheap ones first

    def met(self, entry: IntArray, n: IntArray, member: IntArray, count: int) -> BoolArray:
        """Which of `count` classes meet everything, given `n` rows of tuple `entry` in class `member`."""
        size = exact(np.bincount(member, weights=n, minlength=count))
        good = np.ones(count, dtype=bool)
        for requirement, value, sensitive in self.items:
            if value is None or sensitive is None:
                good &= requirement.passes(requirement.metric.per_class(Classes(size)))
            elif good.any():  # classes that already failed need not be split by value; the others are numbered anew
                number, left = np.cumsum(good) - 1, good[member]
                classes = Classes.of(
                    number[member[left]], n[left], count=int(good.sum()), value=value[entry[left]], sensitive=sensitive
                )
                good[good] = requirement.passes(requirement.metric.per_class(classes))
        return good

    def check_whole(self) -> None:
        """The whole table as one class must meet everything, or there is nothing to cut."""
        member = np.zeros(len(self.n), dtype=np.int64)
        for requirement, value, sensitive in self.items:
            if value is None or sensitive is None:
                whole = Classes(np.array([self.n.sum()]))
            else:
                whole = Classes.of(member, self.n, count=1, value=value, sensitive=sensitive)
            reached = float(requirement.metric.per_class(whole)[0])
            if not requirement.holds(reached):
                raise Infeasible(
                    f"mondrian cannot meet {requirement}: even the whole table as a single class only reaches "
                    f"{spell_number(round(reached, 6))}."
                )

    def check_union(self, parts: Parts, labels: list[list[str | None]]) -> None:
        """Raise if classes made of several parts miss a requirement."""
        keys = [np.unique([text or "" for text in texts], return_inverse=True)[1] for texts in labels]
        key = pack(keys, [int(k.max()) + 1 for k in keys], len(parts))
        _, classes = np.unique(key, return_inverse=True)
        if not self.met(parts.entry, parts.n, classes[parts.member], int(classes.max()) + 1).all():
            raise Infeasible(
                "mondrian, relaxed: classes with the same released values together miss a requirement; use mode=strict."
            )


def _lineage(counts: Counts, roles: Roles, split: tuple[str, ...], require: tuple[Requirement, ...]) -> Lineage | None:
    """What remembers the parts' ancestors, if a requirement looks at them."""
    if not require:
        return None
    near: list[Near] = []
    for requirement, value, sensitive in _Demands.of(counts, roles, split, require).items:
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


def _loss(axes: list[Axis], code: IntArray, parts: Parts, roles: Roles) -> float:
    """ILoss of parts, by the owner's weights."""
    rows, loss = np.add.reduceat(parts.n, parts.start), 0.0
    for j, axis in enumerate(axes):
        spread = along(axis, code[j][parts.entry], parts).spread
        loss += float(roles.weights.get(axis.column.name, 1.0)) * float(rows @ spread)
    return loss


def _labels(parts: Parts, axes: list[Axis], code: IntArray, *, by_cuts: bool) -> list[list[str | None]]:
    """What each part releases on each axis."""
    labels = []
    for j, axis in enumerate(axes):
        if by_cuts:
            low, high = parts.low[j], parts.high[j]
            width = high - low + 1
            member = np.repeat(np.arange(len(parts)), width)
            held = np.arange(int(width.sum())) - np.repeat(np.cumsum(width) - width, width) + np.repeat(low, width)
        else:
            member, held = parts.member, code[j][parts.entry]
            low, high = np.minimum.reduceat(held, parts.start), np.maximum.reduceat(held, parts.start)
        labels.append(axis.spell(low, high, member, held))
    return labels


def _recoding(parts: Parts, labels: list[list[str | None]], counts: Counts, roles: Roles, *, divides: bool) -> Recoding:
    """What each tuple becomes."""
    by = counts.names if divides else roles.quasi
    codes = [counts.codes[counts.names.index(name)][parts.entry] for name in by]
    n, at = parts.n, np.arange(len(parts.entry))
    if not divides:  # entries that differ in sensitive values only share their part
        key = pack(codes, [len(counts.column(name)) for name in by], len(at))
        _, at, where = np.unique(key, return_index=True, return_inverse=True)
        n = exact(np.bincount(where, weights=parts.n, minlength=len(at)))
    columns = [take(counts.column(name).values, code[at]) for name, code in zip(by, codes, strict=True)]
    columns += [take(strings(texts), parts.member[at]) for texts in labels]
    names = [*(f"by{i}" for i in range(len(by))), *(f"to{i}" for i in range(len(labels))), "n"]
    return Recoding(by, roles.quasi, pa.Table.from_arrays([*columns, integers(n)], names=names), divides)
