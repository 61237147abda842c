"""Personalized generalization: what each person asked to be kept from decides how far sensitive values are generalized.

Xiao and Tao 2006; Manta 3.2.5. Quasi-identifiers first, alike in all rows, so that classes form; then the sensitive value of
single rows up its taxonomy (`partition.guarding_nodes`). The greedy algorithm goes top-down: everything starts suppressed, and the division
that lowers the loss of quasi-identifiers and sensitive values together most is made, while one does. The cost follows distinct
tuples: Adult takes seconds.
"""

from __future__ import annotations

from dataclasses import field
from typing import ClassVar, Literal

import numpy as np

from ..core.column import FloatArray, IntArray
from ..core.counts import Counts, pack
from ..core.cover import BoolArray
from ..core.errors import Infeasible, InputError
from ..core.mechanism import MechanismCard, Progress, check_choices
from ..core.metric import Requirement, spell_number
from ..core.noun import dataclass
from ..core.randomness import Rng
from ..core.release import Release
from ..core.roles import Roles
from ..core.table import Table
from ..metrics.privacy.k_anonymity import k_anonymity
from ..metrics.privacy.personalized_breach import personalized_breach
from ..search.full_domain import optimal_generalization
from ..search.lattice import Ladder
from .microdata.rows import Rows
from .parameters.class_requirements import Steered
from .partition.axes import PartitionAxis, axes_of
from .partition.class_demands import Demands
from .partition.guarding_nodes import Guarded, Raised
from .partition.specialization import specialize


@dataclass(frozen=True, kw_only=True)
class Personalize(Steered):
    """Generalize quasi-identifiers, then single sensitive values, until every guarding node's breach is within a limit."""

    limit: float | None = None
    column: str | None = None
    k: int | None = None
    quasi: Literal["greedy", "full_domain"] = "greedy"
    require: tuple[Requirement, ...] = ()

    card: ClassVar[MechanismCard] = MechanismCard(
        name="personalize",
        title="Personalized generalization with guarding nodes",
        promise="no adversary can link a person to a value under the person's guarding node with a probability above the limit "
        "(personalized_breach <= limit), and each class meets all other requirements on class sizes",
        against="an adversary who knows all quasi-identifiers of a person and that the person is in the release, and who takes "
        "all leaves under a released value, and all ways to give rows their owners, as equally likely; one who guesses "
        "what people guard, and so why a value was generalized, may believe more",
        cost="a quasi-identifier is generalized alike in all rows (ranges end at nobody's value, and the outermost are open); "
        "the sensitive value of some rows is generalized, mostly of people who guard something, so one column holds "
        "values of several levels; nothing is suppressed; people who guard nothing get no protection for their sensitive "
        "value",
        source="Xiao and Tao 2006, greedy algorithm with sensitive values generalized per group; Manta 2013, 3.2.5",
        chance="none",
        tunable=("k", "quasi"),
        place="first",
        parameters={
            "limit": "short for the requirement personalized_breach <= limit, a probability",
            "column": "the sensitive column whose taxonomy holds the guarding nodes; by default the only one",
            "k": "short for the requirement k_anonymity >= k",
            "quasi": "greedy: divide top-down by the loss of quasi-identifiers and sensitive values together; full_domain: take the "
            "levels of least loss that meet the requirements on class sizes, before looking at sensitive values",
        },
    )

    def __post_init__(self) -> None:
        if self.limit is not None and not 0 <= self.limit <= 1:
            raise InputError("personalize: limit must be a probability between 0 and 1.")
        check_choices(self)
        self.check_steering(cannot="it meets personalized_breach and limits on class sizes")

    def honours(self, requirement: Requirement) -> bool:
        """The breach of guarding nodes, and what looks at the sizes of classes only: sensitive values are changed."""
        card = requirement.metric.card
        if card.name == personalized_breach.card.name:
            return requirement.metric.column in (None, self.column)
        return card.steers and "sensitive" not in card.needs

    @property
    def promises(self) -> tuple[Requirement, ...]:
        """The limit, k and the requirements."""
        breach = personalized_breach.on(self.column) if self.column is not None else personalized_breach
        return (
            *((breach.at_most(self.limit),) if self.limit is not None else ()),
            *((k_anonymity.at_least(self.k),) if self.k is not None else ()),
            *self.require,
        )

    def sanitize(self, table: Table, roles: Roles, rng: Rng, *, progress: Progress) -> Release:
        """Sanitize; nothing is left to chance, so `rng` is not used.

        Who has no guarding node (missing, or ∅) guards nothing. A missing sensitive value is a leaf of its own under the root.
        """
        column, guarding, limit = self._ready(table, roles)
        counts = table.count_some((*roles.quasi, column, guarding))
        taxonomy = roles.taxonomy(column)
        assert taxonomy is not None
        guarded = Guarded.of(counts.column(column), taxonomy, counts.column(guarding), limit)
        sizes = tuple(requirement for requirement in self.promises if requirement.metric.card.scope == "class")
        if self.quasi == "greedy":
            forms = self._greedy(counts, roles, guarded, sizes, progress)
        else:
            forms = _full_domain(table, roles, counts, sizes)
        rows = Rows.of(table, roles, self.card.name, house=(guarding,))
        released = _settle(rows, guarded, forms, column, guarding)
        if released is None:
            raise Infeasible(
                f"personalize found no way to meet personalized_breach <= {spell_number(limit)} in the classes of the full-domain "
                "generalization; set quasi=greedy, a larger k or a higher limit."
            )
        changed: dict[str, list[str | None]] = {
            name: [form.texts[code] for code in rows.codes[name].tolist()] for name, form in forms.items()
        }
        changed[column] = released
        return rows.release(self, changed)

    def _ready(self, table: Table, roles: Roles) -> tuple[str, str, float]:
        """The sensitive column, the guarding column and the limit; refuses what lacks one of them."""
        limits = [r.bound for r in self.promises if r.metric.card.name == personalized_breach.card.name]
        if not limits:
            raise InputError("personalize needs a limit of the breach probability; set for example limit=0.5.")
        roles.check_quasi()
        if roles.guarding is None:
            raise InputError(
                f"personalize needs each row's guarding node; name its column in {roles.source} as guarding."
            )
        roles.check(table.columns, where=table.name, need=("identifiers", "quasi", "sensitive", "insensitive"))
        roles.check_column(roles.guarding, table.columns, where=table.name, kind="guarding")
        if roles.guarding in (*roles.quasi, *roles.sensitive, *roles.insensitive):
            raise InputError(
                f"{roles.source}: the guarding column {roles.guarding!r} must not be released; take it out of its other role."
            )
        column = self.column
        if column is None:
            if len(roles.sensitive) != 1:
                raise InputError(
                    f"personalize generalizes one sensitive column, and {roles.source} names "
                    f"{len(roles.sensitive) or 'none'}; set column."
                )
            column = roles.sensitive[0]
        elif column not in roles.sensitive:
            raise InputError(f"personalize: column {column!r} is not sensitive in {roles.source}.")
        if roles.taxonomy(column) is None:
            raise InputError(
                f"personalize needs a taxonomy of {column!r}; name its file in {roles.source} under [hierarchies]."
            )
        return column, roles.guarding, min(limits)

    def _greedy(
        self,
        counts: Counts,
        roles: Roles,
        guarded: Guarded,
        sizes: tuple[Requirement, ...],
        progress: Progress,
    ) -> dict[str, _Form]:
        """The division of quasi-identifiers by the loss that is left with it, sensitive values included."""
        axes, code = axes_of(counts, roles)
        demands = Demands.of(counts, roles, (), sizes)
        demands.check_whole(self.card.name)
        weights = [float(roles.weights.get(column.name, 1.0)) for column in counts.columns]
        rows = [
            np.bincount(at, weights=counts.n, minlength=len(axis)).astype(np.float64, copy=False)
            for axis, at in zip(axes, code, strict=True)
        ]
        plan = _PersonalPlan(axes, rows, weights, counts.codes[-2], guarded.guard[counts.codes[-1]], guarded, demands)
        whole = np.zeros(len(counts), dtype=np.int64)
        if not plan.judge(np.arange(len(counts)), counts.n, whole, 1)[0][0]:
            raise Infeasible(
                f"personalize cannot meet personalized_breach <= {spell_number(guarded.limit)}: even in the whole table as a "
                f"single class someone guards too much of the taxonomy of {counts.names[-2]!r}."
            )
        cuts, _ = specialize(axes, code, counts.n, plan, progress=progress)
        forms = {}
        for cut in cuts:
            texts = cut.spell()
            to = cut.axis.code
            forms[cut.axis.column.name] = _Form([texts[c] for c in to.tolist()], cut.node[to])
        return forms


@dataclass(frozen=True, eq=False)
class _Form:
    """What each value of a quasi-identifier becomes, and a number for it."""

    texts: list[str | None]
    kind: IntArray


def _full_domain(table: Table, roles: Roles, counts: Counts, sizes: tuple[Requirement, ...]) -> dict[str, _Form]:
    """The levels of least loss that meet what is required of class sizes: with nothing required, all as it is."""
    levels = dict.fromkeys(roles.quasi, 0)
    if sizes:
        levels = optimal_generalization(table, roles, require=sizes, catch=False).levels
    forms = {}
    for name, level in levels.items():
        ladder = Ladder.of(counts.column(name), counts.margin(name), roles)
        kind = ladder.codes[level]
        forms[name] = _Form([ladder.labels[level][i] for i in kind.tolist()], kind)
    return forms


def _settle(
    rows: Rows, guarded: Guarded, forms: dict[str, _Form], column: str, guarding: str
) -> list[str | None] | None:
    """What each row's sensitive value becomes; None if some class cannot meet the limit.

    Which of the rows with one value go up is the same to every breach: those whose people guard that value go first.
    """
    kinds = [form.kind[rows.codes[name]] for name, form in forms.items()]
    key = pack(kinds, [int(form.kind.max()) + 1 for form in forms.values()], len(rows))
    classes, member = np.unique(key, return_inverse=True)
    value, guard = rows.codes[column], guarded.guard[rows.codes[guarding]]
    raised = guarded.raise_values(member, value, guard, np.ones(len(rows), dtype=np.int64), len(classes))
    if not raised.good.all():
        return None
    own = (guard >= 0) & (guarded.share[guarded.node[value, 0], guard] > 0)
    level = np.zeros(len(rows), dtype=np.int64)
    level[np.lexsort([own, value, member])] = np.repeat(raised.level, raised.n)  # the highest levels last
    return [guarded.texts[node] for node in guarded.node[value, level].tolist()]


@dataclass(eq=False)
class _PersonalPlan:
    """Losses over all rows: what a division saves on its quasi-identifier, and what sensitive values lose in its classes."""

    axes: list[PartitionAxis]
    rows: list[FloatArray]
    weights: list[float]
    value: IntArray
    guard: IntArray
    guarded: Guarded
    demands: Demands
    fold: np.ufunc = field(default=np.add)
    lasting: bool = False

    def _open(self, axis: PartitionAxis, low: IntArray, high: IntArray) -> FloatArray:
        """ILoss of ranges of codes; a range with the missing value and another is `*`."""
        if axis.levels:
            return axis.spread(low, high)
        ends = np.where((axis.texts[-1] is None) & (high == len(axis) - 1) & (low < high), 0, low)
        return (high - ends) / len(axis)

    def edge(self, axis: int, low: int, high: int) -> int:
        """The cut that saves most."""
        codes = np.arange(low, high + 1)
        left = np.cumsum(self.rows[axis][low : high + 1])[:-1]
        right = self.rows[axis][low : high + 1].sum() - left
        one, other = np.full(len(codes) - 1, low), np.full(len(codes) - 1, high)
        loss = left * self._open(self.axes[axis], one, codes[:-1]) + right * self._open(
            self.axes[axis], codes[1:], other
        )
        return low + int(np.argmin(loss))

    def gain(self, axis: int, low: int, high: int, side: IntArray) -> float:
        """What the column's ILoss is lowered by, over its rows."""
        first = np.flatnonzero(np.diff(side, prepend=-1))
        last = np.append(first[1:], len(side)) - 1
        rows = np.add.reduceat(self.rows[axis][low : high + 1], first)
        after = self._open(self.axes[axis], low + first, low + last)
        before = self._open(self.axes[axis], np.array([low]), np.array([high]))[0]
        return float((rows * (before - after)).sum()) * self.weights[axis]

    def judge(self, entry: IntArray, n: IntArray, member: IntArray, count: int) -> tuple[BoolArray, FloatArray]:
        """Which classes can meet everything, and what their sensitive values lose then."""
        raised: Raised = self.guarded.raise_values(member, self.value[entry], self.guard[entry], n, count)
        return self.demands.met(entry, n, member, count) & raised.good, raised.loss * self.weights[-2]

    def score(self, gain: FloatArray, now: FloatArray, then: FloatArray, all_now: float) -> FloatArray:
        """What the loss is lowered by; a division that does not lower it is none."""
        saved = gain + now - then
        return np.where(saved > 1e-9, saved, -np.inf)
