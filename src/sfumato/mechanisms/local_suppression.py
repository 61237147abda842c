"""Local suppression: single cells become `*`, those of less important columns first, until every class meets everything.

Statistics offices do it after recoding (Hundepool et al. 2024, ch. 3; Templ, Kowarik, Meindl 2015, sdcMicro). Rows that
miss a requirement look for others that agree with them on all columns but some; the cheapest such sets of columns come first.

**A suppressed cell is a value of its own.** `*` equals `*` and nothing else, so a class is what shares its released values,
and k holds on the file by plain counting. sdcMicro lets a suppressed cell agree with every value, which needs fewer cells, but
then a row alone with its `*` counts as hidden among rows that are visibly others.

The cost is one grouping of the rows that still miss something for every set of columns, 2^m sets at m columns: a fraction of a
second for Adult, seconds for 300,000 rows. Of more than 12 columns the cheapest 4,096 sets are looked at, then sets that grow
by one column each.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import field
from typing import Any, ClassVar

import numpy as np

from ..core.arrow import strings, take
from ..core.column import IntArray
from ..core.counts import Counts, exact, pack
from ..core.cover import BoolArray
from ..core.errors import Infeasible, InputError
from ..core.hierarchy import TOP
from ..core.mechanism import MechanismCard, Offer, Progress, Trial, check_choices, unheard
from ..core.metric import Requirement
from ..core.noun import dataclass
from ..core.randomness import Rng
from ..core.release import Release
from ..core.roles import Roles
from ..core.table import Recoding, Table
from ..core.words import percent
from ..search.row_owners import RowOwners, row_owners
from .parameters.class_requirements import Steered
from .parameters.column_numbers import by_column
from .parameters.column_weights import WEIGH, Weigh, with_column_weights
from .partition.class_demands import Demands
from .partition.covered_people import CoveredPeople, cell_labels

_SETS = 4096
"""Sets of columns that are looked at, the cheapest first."""


def _offered(trial: Trial) -> list[dict[str, Any]]:
    """On a large table it takes long, and hides most of what users would ask of it."""
    return [] if trial.large else [{"k": trial.few}, {"k": trial.few[0], "weigh": "use"}]


@dataclass(frozen=True, kw_only=True)
class LocalSuppression(Steered):
    """Suppression of cells, and of rows up to a limit, under any conjunction of class requirements."""

    k: int | None = None
    importance: str | None = None
    weigh: Weigh = "owner"
    most: int | None = None
    suppression: float = 0.0
    require: tuple[Requirement, ...] = ()
    population: Table | None = field(default=None, compare=False)
    """Whom an adversary may take for a person in the release, for requirements that look at a population."""

    card: ClassVar[MechanismCard] = MechanismCard(
        name="local_suppression",
        title="Local suppression",
        promise="each class meets all class requirements that you set (k_anonymity >= k, l-diversity, t-closeness, leakages, "
        "...), where a suppressed cell counts as a value of its own",
        against="an adversary who knows all quasi-identifiers of a person and that the person is in the release",
        cost="some cells of the quasi-identifiers become *, and all others stay as they are; rows that still miss a "
        "requirement are left out, up to a limit; no sensitive value changes",
        source="Hundepool et al. 2024, Handbook on Statistical Disclosure Control, ch. 3; importance after sdcMicro's "
        "localSuppression (Templ, Kowarik, Meindl 2015); the greedy order of column sets is our own",
        chance="none",
        people=True,
        tunable=("k", "most", "suppression", "weigh"),
        offer=Offer(40, _offered),
        parameters={
            "k": "short for the requirement k_anonymity >= k",
            "importance": "the cost of suppressing a cell of each column, such as age=3,sex=1 (inf: never suppressed); by default the "
            "column's weight in the roles file, or 1",
            "weigh": WEIGH + ". What importance names is not weighed",
            "most": "the largest number of cells to suppress in a row; rows that would need more are left out",
            "suppression": "the largest share of rows that may be left out",
        },
    )

    def __post_init__(self) -> None:
        check_choices(self)
        if not 0 <= self.suppression <= 1:
            raise InputError("local_suppression: suppression must be a share of the rows between 0 and 1.")
        if self.importance is not None and min(by_column(self.importance, self.card.name, "importance").values()) < 0:
            raise InputError("local_suppression: the importance of a column must be at least 0.")
        self.check_steering("most")

    def sanitize(self, table: Table, roles: Roles, rng: Rng, *, progress: Progress) -> Release:
        """Sanitize; nothing is left to chance, so `rng` is not used. A missing cell is suppressed like any other."""
        counts, split = self.count(table, roles)
        counts, owners = row_owners(counts, roles)
        cost = self._costs(with_column_weights(roles, counts, self.weigh))
        people = CoveredPeople.of(self.looked_at, roles, cell_labels(counts, len(roles.quasi)))
        demands = Demands.of(counts, roles, split, self.promises, people, owners)
        demands.check_whole(self.card.name)
        limit = self.suppression * counts.rows + 1e-9
        refused: Infeasible | None = None
        for attempt in (_HiddenCells.suppress, _HiddenCells.suppress_all_rows, _HiddenCells.suppress_all_cells):
            cells = _HiddenCells.of(counts, len(roles.quasi), demands, cost, self.most)
            attempt(cells, limit, progress)
            try:
                self._check(cells, counts, roles, split, limit, owners)
            except Infeasible as reason:  # the first says what is in the way of the fewest cells
                refused = refused or reason
                continue
            return self.released(table, roles, cells.recoding(counts, roles), (cells.note(roles),))
        assert refused is not None
        raise refused

    def _check(
        self,
        cells: _HiddenCells,
        counts: Counts,
        roles: Roles,
        split: tuple[str, ...],
        limit: float,
        owners: RowOwners | None,
    ) -> None:
        """Refuse what leaves out too many rows, or whose classes miss something."""
        require = self.promises
        if cells.left_out > limit:
            raise Infeasible(
                f"local_suppression: {cells.left_out:,} rows still miss {' and '.join(map(str, require))} when all cells that may "
                f"be are suppressed; leave more rows out (suppression={math.ceil(1000 * cells.left_out / counts.rows) / 1000}), or allow more cells."
            )
        if cells.left_out == counts.rows:
            raise Infeasible("local_suppression would leave every row out; allow more cells, or ask less.")
        there = np.bincount(cells.entry[~cells.out], minlength=len(counts)) > 0
        kept = counts.only(there)
        people = CoveredPeople.of(self.looked_at, roles, cell_labels(kept, len(roles.quasi)))
        of_kept = None if owners is None else owners.only(there)
        if not cells.met(Demands.of(kept, roles, split, require, people, of_kept), np.cumsum(there) - 1):
            raise Infeasible(
                f"local_suppression: without the {cells.left_out:,} rows that are left out, or with a * that was there before, some "
                f"class misses {' and '.join(map(str, require))}; set suppression=0, or rename that value."
            )

    def _costs(self, roles: Roles) -> list[float]:
        """What a suppressed cell of each quasi-identifier costs."""
        given = by_column(self.importance, self.card.name, "importance") if self.importance is not None else {}
        for name in given:
            if name not in roles.quasi:
                raise InputError(
                    f"local_suppression: importance names {name!r}, no quasi-identifier in {roles.source}."
                )
        return [float(given.get(name, roles.weights.get(name, 1.0))) for name in roles.quasi]


@dataclass(eq=False)
class _HiddenCells:
    """`n` rows of tuple `entry`, and which of their cells are `hidden` (columns x entries); those that are `out` have no class.

    `code` numbers the values of the cells, and `star[j]` is the number of `*` in column j.
    """

    code: IntArray
    star: IntArray
    cost: list[float]
    most: int
    demands: Demands
    entry: IntArray
    n: IntArray
    hidden: BoolArray
    out: BoolArray

    def __post_init__(self) -> None:
        self._plain = self.demands.owners is None and all(value is None for _, value, _ in self.demands.items)
        self._least = self.demands.least_rows()

    @classmethod
    def of(cls, counts: Counts, quasi: int, demands: Demands, cost: list[float], most: int | None) -> _HiddenCells:
        """Nothing hidden, nothing in a class."""
        columns = counts.columns[:quasi]
        star = np.array([len(column) for column in columns])
        code = np.array(counts.codes[:quasi])
        for j, column in enumerate(columns):
            if TOP in column.texts:  # suppressed before it came to us
                code[j, code[j] == column.texts.index(TOP)] = star[j]
        none, every = np.zeros(code.shape, dtype=bool), np.ones(len(counts), dtype=bool)
        most = quasi if most is None else min(most, quasi)
        return cls(code, star, cost, most, demands, np.arange(len(counts)), counts.n.copy(), none, every)

    @property
    def left_out(self) -> int:
        """Rows without a class."""
        return int(self.n[self.out].sum())

    @property
    def released(self) -> IntArray:
        """The number of each cell as it is released."""
        return np.where(self.hidden, self.star[:, None], self.code[:, self.entry])

    def _group(self, code: IntArray, columns: Sequence[int]) -> tuple[IntArray, int]:
        """The class of each entry on these columns, and how many classes there are."""
        key = pack([code[j] for j in columns], [int(self.star[j]) + 1 for j in columns], code.shape[1])
        found, member = np.unique(key, return_inverse=True)
        return member, len(found)

    def met(self, demands: Demands, number: IntArray) -> bool:
        """Whether the classes, by what is released, meet everything; `number` is that of each tuple in the demands."""
        there = ~self.out
        released = self.released[:, there]
        member, count = self._group(released, range(len(self.star)))
        suppressed = released[:, np.unique(member, return_index=True)[1]] == self.star[:, None]
        return bool(demands.met(number[self.entry[there]], self.n[there], member, count, suppressed).all())

    # --- ways to go about it, from few cells to all

    def suppress(self, limit: float, progress: Progress) -> None:
        """As few cells as the order of the sets finds; rows that then miss something are left out, up to the limit."""
        self.hide(progress)
        if self.left_out > limit:
            self.borrow()

    def suppress_all_rows(self, limit: float, progress: Progress) -> None:
        """The same with no row left out: those that are would change what the others are compared with."""
        self.hide(unheard)
        self.borrow()

    def suppress_all_cells(self, limit: float, progress: Progress) -> None:
        """Every cell that may be: what the whole table as a single class meets is met."""
        every = [j for j, cost in enumerate(self.cost) if math.isfinite(cost)]
        if len(every) <= self.most:
            entries, _ = self._gain(every)
            self._give(entries, every)

    # --- cells

    def hide(self, progress: Progress) -> None:
        """Hide cells of the rows that miss something, for every set of columns from cheap to dear.

        Among sets of equal cost and size, the one that gives a class to the most rows comes first, then that of the first
        columns. What a set can do becomes less as others have been used (with k; else mostly), so only the most promising one is
        looked at again.
        """
        sets = sorted(
            itertools.islice(cheapest_cells(self.cost, self.most), _SETS), key=lambda s: (s[0], len(s[1]), s[1])
        )
        whole = self.n.sum()
        for _, equal in itertools.groupby(sets, key=lambda s: (s[0], len(s[1]))):
            heap = [(-math.inf, i, columns) for i, (_, columns) in enumerate(equal)]
            while heap and self.out.any():
                _, i, columns = heapq.heappop(heap)
                entries, gain = self._gain(columns)
                if gain and heap and (-gain, i) > heap[0][:2]:
                    heapq.heappush(heap, (-gain, i, columns))
                elif gain:
                    self._give(entries, columns)
            progress(1.0 - self.left_out / whole)
        if len(sets) == _SETS:
            self._hide_more()

    def _hide_more(self) -> None:
        """Beyond the sets that were looked at: one column after the other, each the one that helps most."""
        columns: tuple[int, ...] = ()
        while self.out.any() and len(columns) < self.most:
            rest = [j for j, cost in enumerate(self.cost) if j not in columns and math.isfinite(cost)]
            if not rest:
                break
            tried = {j: self._gain((*columns, j)) for j in rest}
            values = {j: len(np.unique(self.code[j, self.entry[self.out]])) for j in rest}
            best = max(rest, key=lambda j: (tried[j][1], -self.cost[j], values[j]))
            columns = (*columns, best)
            self._give(tried[best][0], columns)

    def _gain(self, columns: Sequence[int]) -> tuple[IntArray, int]:
        """The entries that have a class once these columns are hidden, and how many rows that are."""
        left = np.flatnonzero(self.out)
        kept = [j for j in range(len(self.star)) if j not in columns]
        member, count = self._group(self.code[:, self.entry[left]], kept)
        cells = self.code[:, self.entry[left[np.unique(member, return_index=True)[1]]]]
        suppressed = (cells == self.star[:, None]) | np.isin(np.arange(len(self.star)), columns)[:, None]
        good = self.demands.met(self.entry[left], self.n[left], member, count, suppressed)[member]
        return left[good], int(self.n[left[good]].sum())

    def _give(self, entries: IntArray, columns: Sequence[int]) -> None:
        """Hide these cells, and nothing else, of entries that thereby have a class."""
        self.hidden[:, entries] = np.isin(np.arange(len(self.star)), columns)[:, None]
        self.out[entries] = False

    # --- rows that are still out

    def borrow(self) -> None:
        """Rows that are out take rows of the nearest class with them, which then lose cells too; where that is allowed.

        Those that agree on all columns that must not be hidden go together.
        """
        never = [j for j, cost in enumerate(self.cost) if math.isinf(cost)]
        left = np.flatnonzero(self.out)
        group, count = self._group(self.code[:, self.entry[left]], never)
        for g in range(count):
            self._borrow(left[group == g])

    def _borrow(self, group: IntArray) -> None:
        cost = np.array(self.cost)
        never = np.isinf(cost)
        finite = np.where(never, 0.0, cost)
        while True:
            own = self.released[:, group]
            common = np.where((own == own[:, :1]).all(axis=1), own[:, 0], self.star)[:, None]
            starred = np.flatnonzero(common[:, 0] == self.star)
            if len(starred) > self.most:  # these rows have too little in common, whoever joins them
                return
            if self._meets(group, common == self.star[:, None]):
                self._give(group, starred.tolist())
                return
            there = np.setdiff1d(np.flatnonzero(~self.out), group)
            if not len(there):
                return
            member, _ = self._group(self.released[:, there], range(len(self.star)))
            classes = self.released[:, there[np.unique(member, return_index=True)[1]]]
            size, rows = exact(np.bincount(member, weights=self.n[there])), int(self.n[group].sum())
            # where only rows count, a large class can do without some of its own
            few = self._least - rows if self._plain else 0
            taken = np.where((few > 0) & (size - few >= self._least), few, size)
            before = classes == self.star[:, None]
            after = before | (classes != common)
            price = (finite @ after) * (rows + taken) - (finite @ before) * taken
            barred = (after & (common != self.star[:, None]))[never].any(axis=0) | (after.sum(axis=0) > self.most)
            price[barred] = np.inf
            best = int(np.argmin(price))
            if math.isinf(price[best]):
                return
            group = np.append(group, self._divide(there[member == best], int(taken[best])))

    def _meets(self, group: IntArray, suppressed: BoolArray) -> bool:
        """Whether these entries may be a class."""
        alone = np.zeros(len(group), dtype=np.int64)
        return bool(self.demands.met(self.entry[group], self.n[group], alone, 1, suppressed)[0])

    def _divide(self, entries: IntArray, rows: int) -> IntArray:
        """The first of these entries with so many rows; the last of them is divided if it has more."""
        before = np.cumsum(self.n[entries]) - self.n[entries]
        first = entries[before < rows]
        over = int(self.n[first].sum()) - rows
        if over:
            last = first[-1]
            self.n[last] -= over
            self.entry, self.n = np.append(self.entry, self.entry[last]), np.append(self.n, over)
            self.hidden = np.hstack([self.hidden, self.hidden[:, [last]]])
            self.out = np.append(self.out, False)
        return first

    # --- what is released

    def recoding(self, counts: Counts, roles: Roles) -> Recoding:
        """What each tuple becomes; rows that are out are not in it."""
        there = np.flatnonzero(~self.out)
        at = self.entry[there]
        columns = [take(column.values, code[at]) for column, code in zip(counts.columns, counts.codes, strict=True)]
        for j in range(len(roles.quasi)):
            column, code = counts.columns[j], counts.codes[j][at]
            texts = strings([*column.texts, TOP])
            columns.append(take(texts, np.where(self.hidden[j, there], len(column), code)))
        divides = len(self.entry) > len(counts)
        return Recoding.of(counts.names, roles.quasi, columns, self.n[there], divides=divides)

    def note(self, roles: Roles) -> str:
        """How many cells of each column were suppressed, and how many rows were left out."""
        new = self.hidden & (self.code[:, self.entry] != self.star[:, None]) & ~self.out
        cells = exact(new @ self.n)
        rows = int(self.n[~self.out].sum())
        each = ", ".join(f"{name} {count:,}" for name, count in zip(roles.quasi, cells, strict=True) if count)
        share = percent(float(cells.sum() / (rows * len(self.star))))
        return (
            f"Suppressed {cells.sum():,} of {rows * len(self.star):,} cells ({share}){': ' * bool(each)}{each}; "
            f"{self.left_out:,} rows left out."
        )


def cheapest_cells(cost: list[float], most: int) -> Iterator[tuple[float, tuple[int, ...]]]:
    """Sets of at most so many columns, those of infinite cost never, from cheap to dear; the empty one first.

    Along the columns by cost, a set is followed by itself with the next column, and with its last column moved on by one.
    """
    order = sorted((j for j, c in enumerate(cost) if math.isfinite(c)), key=lambda j: cost[j])

    def priced(at: tuple[int, ...]) -> tuple[float, tuple[int, ...]]:
        return round(math.fsum(cost[order[i]] for i in at), 12), at  # 0.1 + 0.2 costs as much as 0.3

    heap = [priced(())]
    while heap:
        total, at = heapq.heappop(heap)
        yield total, tuple(sorted(order[i] for i in at))
        following = at[-1] + 1 if at else 0
        if following < len(order):
            if len(at) < most:
                heapq.heappush(heap, priced((*at, following)))
            if at:
                heapq.heappush(heap, priced((*at[:-1], following)))
