"""Optimal cut points: into which ranges an ordered attribute is best divided, found exactly.

Bezzi 2010, sec. 4, searches by hand for age ranges of variable size that keep as much mutual information as possible
while every class meets its limits. Here all ranges of the distinct values are priced, and dynamic programming finds the
best partition among all that there are:

    best(a) = max over b > a of  worth[a,b) + best(b),   [a,b) meeting every requirement in every class of it

A requirement whose metric is monotone rules out places to cut beforehand. If what is before a cut is divided into ranges
that meet it, then what is before the cut meets it as a single range too, since merging never makes it worse; the same
goes for what is behind. So a place where the part before it or the part behind it fails is no place to cut.

**Ties.** Of partitions that are equally good, the one with fewer ranges; of those, the one whose first cut is earliest,
then the second, and so on. Equally good means up to rounding: a further range must bring more than 1e-12 (times the
largest worth of a range, where that is above 1).

**Missing values** have no place in the order. They stay a class of their own, which must meet the requirements too, and
which counts in the objective.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

import numpy as np

from ..core.classes import Classes
from ..core.column import FloatArray, IntArray
from ..core.counts import Counts, pack
from ..core.errors import Infeasible, InputError
from ..core.hierarchy import TOP, Hierarchy
from ..core.mechanism import Progress
from ..core.metric import Exactness, Requirement, spell_number
from ..core.noun import dataclass
from ..core.people import one_row_a_person, one_row_each
from ..core.roles import Roles
from ..core.table import Table
from ..metrics.privacy.mutual_information import information, mutual_information
from .additive import Additive
from .additive import objective as named_objective
from .lattice import Ladder
from .ordered_ranges import OrderedLine, Ranges
from .required_columns import sensitive_columns

_PLACES = 5_000
"""Places to cut that are looked at: 12.5 million ranges, and 0.1 GB."""
_WORK = 5_000_000_000
"""Entries that are looked at: minutes."""
ROUNDING = 1e-12
"""What a further step must bring, times the largest worth of a step where that is above 1: less is rounding."""


@dataclass(frozen=True, eq=False)
class Cuts:
    """The best ranges of a column: `cuts` are where the second and every later range starts, at nobody's value if there is room.

    `reached` has what each range reaches on every requirement (its worst class), `missing_reached` what the rows without a
    value do. `checked` ranges had to be looked at, of which `feasible` meet everything.
    """

    column: str
    cuts: list[int | float | str]
    labels: list[str]
    rows: list[int]
    missing: int
    """Rows without a value, which stay a class of their own."""
    objective: float
    aim: Additive
    reached: Mapping[str, list[float]]
    missing_reached: Mapping[str, float]
    checked: int
    feasible: int
    information: float | None
    """I(W;X), what the quasi-identifiers tell as they are, where the objective is what is left of it."""
    search: _CutSearch = field(repr=False)
    places: list[int] = field(repr=False)
    exactness: Exactness = "exact"

    @property
    def ranges(self) -> int:
        """How many ranges there are."""
        return len(self.labels)

    @property
    def require(self) -> tuple[Requirement, ...]:
        """What every class of every range meets."""
        return self.search.require

    @property
    def information_loss(self) -> float | None:
        """`1 - I(W;C)/I(W;X)` (Bezzi 2010, sec. 4); None where the objective is another one, or there was nothing to lose."""
        return 1.0 - self.objective / self.information if self.information else None

    def coarser(self, max_ranges: int) -> Cuts:
        """These ranges merged into at most so many, again in the best way: every cut of it is one of ours."""
        return self.search.cuts(self.places, max_ranges)

    def hierarchy(self, levels: Sequence[int] = ()) -> Hierarchy:
        """The values, these ranges, then for each of `levels` the ranges merged into at most so many, and `*`.

        A level that merges nothing more is left out. Missing values have no line: they are missing up to `*`.
        """
        line, level, made = self.search.ranges.line, self, [self]
        for most in levels:
            level = level.coarser(most)
            made.append(level)
        rows = [line.texts(0, len(line))]
        for level in made:
            spelled = [
                label
                for label, low, high in zip(level.labels, level.places[:-1], level.places[1:], strict=True)
                for _ in line.texts(low, high)
            ]
            if spelled != rows[-1]:
                rows.append(spelled)
        if set(rows[-1]) != {TOP}:
            rows.append([TOP] * len(rows[0]))
        return Hierarchy.of(self.column, list(zip(*rows, strict=True)), source=f"optimal cuts of {self.column!r}")


def optimal_cuts(
    table: Table,
    roles: Roles,
    column: str,
    *,
    objective: str | Additive = str(mutual_information),
    require: Sequence[Requirement] = (),
    max_ranges: int | None = None,
    levels: Mapping[str, int] | None = None,
    sensitive: str | None = None,
    progress: Progress | None = None,
) -> Cuts:
    """The best partition of an ordered quasi-identifier into ranges (at most `max_ranges`), proved by dynamic programming.

    The other quasi-identifiers are suppressed, so that classes are ranges; or those named in `levels` are held at these
    levels of their hierarchies, and every class inside a range must meet every requirement. `sensitive` is the column that
    the mutual information is about, where the roles name several. Raises Infeasible if no partition meets everything.
    """
    aim = named_objective(objective)
    if max_ranges is not None and (isinstance(max_ranges, bool) or max_ranges < 1):
        raise InputError("The most ranges must be at least 1.")
    table = one_row_a_person(table, roles)
    roles.check(table.columns, where=table.name, need=("quasi",))
    if column not in roles.quasi:
        raise InputError(
            f"Column {column!r} is no quasi-identifier in {roles.source}, so its ranges form no classes; "
            f"those are {', '.join(roles.quasi) or 'none'}."
        )
    one_row_each(table, roles, "the search for cuts")
    about = _about(aim, roles, sensitive)
    demands = _demands(tuple(require), roles)
    split = tuple(dict.fromkeys(name for name in (*demands, about) if name is not None))
    for name in split:
        roles.check_column(name, table.columns, where=table.name, kind="sensitive")
    held = _held(levels or {}, roles, column)
    counts = table.count_some((column, *held, *split))
    line = OrderedLine.of(counts.column(column), roles)
    ranges = Ranges.of(counts, line, _groups(counts, held, roles), split, roles)
    before = None
    if aim.name == mutual_information.card.name and about is not None:
        whole = table.count((*roles.quasi, about))
        before = information(Classes.from_counts(whole, quasi=roles.quasi, sensitive=about)[0])
    search = _CutSearch(ranges, tuple(require), demands, aim, about, before, progress)
    return search.cuts(range(len(line) + 1), max_ranges)


# --- what is asked, checked before anything is counted


def _about(aim: Additive, roles: Roles, sensitive: str | None) -> str | None:
    """The sensitive column that the objective looks at."""
    if not aim.sensitive:
        if sensitive is not None:
            raise InputError(f"{aim.name} looks at no sensitive column; leave {sensitive!r} out.")
        return None
    if sensitive is None:
        if len(roles.sensitive) != 1:
            many = "names several" if roles.sensitive else "names none"
            raise InputError(
                f"{aim.name} needs one sensitive column, and {roles.source} {many}; say which (--sensitive COLUMN)."
            )
        return roles.sensitive[0]
    if sensitive in roles.quasi:
        raise InputError(f"{aim.name}: column {sensitive!r} is a quasi-identifier in {roles.source}.")
    return sensitive


def _demands(require: tuple[Requirement, ...], roles: Roles) -> dict[str | None, list[Requirement]]:
    """The requirements by the column that they look at, the cheap ones, which look at none, first."""
    by_column: dict[str | None, list[Requirement]] = {None: []}
    for requirement in require:
        if not requirement.metric.card.steers:
            why = "looks at a population" if requirement.metric.card.scope == "class" else "looks at the whole table"
            raise InputError(
                f"Ranges cannot be chosen by {requirement}: it {why}, not at a class alone; "
                "ask for example k_anonymity, entropy_l_diversity or t_closeness instead."
            )
        names = sensitive_columns([requirement.metric], roles) or (None,)
        for name in names:
            by_column.setdefault(name, []).append(requirement)
    return by_column


def _held(levels: Mapping[str, int], roles: Roles, column: str) -> dict[str, int]:
    """The levels at which other quasi-identifiers are held, in the order of the roles."""
    for name in levels:
        if name == column:
            raise InputError(f"Column {column!r} is the one to be cut, so it cannot be held at a level.")
        if name not in roles.quasi:
            raise InputError(f"Column {name!r} is no quasi-identifier in {roles.source}, so it is held at no level.")
    return {name: levels[name] for name in roles.quasi if name in levels}


def _groups(counts: Counts, held: Mapping[str, int], roles: Roles) -> IntArray:
    """The class of each tuple on the columns that are held."""
    codes, sizes = [], []
    for name, level in held.items():
        own = counts.codes[counts.names.index(name)]
        ladder = Ladder.of(counts.column(name), counts.margin(name), roles)
        if not isinstance(level, int) or not 0 <= level <= ladder.height:
            raise InputError(f"Column {name!r} has levels 0 to {ladder.height}; {level!r} is none of them.")
        codes.append(ladder.codes[level][own])
        sizes.append(int(ladder.codes[level].max()) + 1)
    group: IntArray = np.unique(pack(codes, sizes, len(counts)), return_inverse=True)[1].astype(np.int64)
    return group


# --- the search


@dataclass(frozen=True, eq=False)
class _CutSearch:
    """What is asked, over the ranges of one line."""

    ranges: Ranges
    require: tuple[Requirement, ...]
    demands: Mapping[str | None, Sequence[Requirement]]
    aim: Additive
    about: str | None
    information: float | None
    progress: Progress | None = None

    def cuts(self, places: Sequence[int], max_ranges: int | None) -> Cuts:
        """The best cuts among these places, the first and the last of which are the ends of the line."""
        self._check_missing()
        candidates = self._candidates(np.asarray(places, dtype=np.int64))
        rows, checked = self._rows(candidates)
        path = best_path(rows, len(candidates) - 1 if max_ranges is None else max_ranges)
        if path is None:
            raise Infeasible(self._why(candidates, max_ranges, checked))
        return self._cuts(candidates[path], checked, sum(int(np.isfinite(row).sum()) for row in rows))

    def _candidates(self, places: IntArray) -> IntArray:
        """The places where a monotone requirement does not rule a cut out."""
        monotone = {name: [r for r in all_ if r.metric.card.monotone] for name, all_ in self.demands.items()}
        start, end, inner = places[:1], places[-1:], places[1:-1]
        for requirement in (r for some in monotone.values() for r in some):
            reached = float(self._reached(start, end, requirement)[0])
            if not requirement.holds(reached):
                raise Infeasible(
                    f"No cuts of {self.ranges.line.column.name!r} meet {requirement}: even a single range of all values only "
                    f"reaches {_short(reached)}{self._classes}."
                )
        inner = inner[self.ranges.met(np.repeat(start, len(inner)), inner, monotone)]
        inner = inner[self.ranges.met(inner, np.repeat(end, len(inner)), monotone)]
        count = len(inner) + 1
        name = self.ranges.line.column.name
        if count > _PLACES:
            raise InputError(
                f"Column {name!r} can be cut at {len(inner):,} places, too many to look at every range ({_PLACES:,} at most); "
                "bring it rounded to fewer distinct values, or give it widths in the roles file instead."
            )
        work = self.ranges.work(count * (count + 1) // 2, [*self.demands, self.about])
        if work > _WORK:
            raise InputError(
                f"Column {name!r} beside the sensitive values and the columns that are held gives {work:,} entries to look at "
                f"({_WORK:,} at most); bring it rounded to fewer distinct values, or hold fewer columns or hold them higher."
            )
        return np.concatenate([start, inner, end])

    def _rows(self, places: IntArray) -> tuple[list[FloatArray], int]:
        """For each place the worth of a range from it to every later one, -inf where it is out; how many were looked at.

        From behind: an end from which the last place cannot be reached any more need not be looked at.
        """
        last = len(places) - 1
        open_ = np.zeros(last + 1, dtype=bool)
        open_[last] = True
        rows: list[FloatArray] = [np.zeros(0)] * last
        checked = 0
        for i in reversed(range(last)):
            at = i + 1 + np.flatnonzero(open_[i + 1 :])
            low, high = np.full(len(at), places[i]), places[at]
            good = self.ranges.met(low, high, self.demands)
            row = np.full(last - i, -np.inf)
            row[at[good] - i - 1] = self.aim.sign * self.ranges.worth(low[good], high[good], self.aim, self.about)
            rows[i], open_[i] = row, good.any()
            checked += len(at)
            if self.progress is not None:
                self.progress(((last - i) / last) ** 2)
        return rows, checked

    def _cuts(self, places: IntArray, checked: int, feasible: int) -> Cuts:
        """The cuts at these places, with what is to be told of them."""
        line, ranges = self.ranges.line, self.ranges
        low, high = places[:-1], places[1:]
        worth = ranges.worth(low, high, self.aim, self.about)
        gap = self._gap
        if gap is not None:
            worth = np.append(worth, ranges.worth(*gap, self.aim, self.about))
        before = ranges.cells[None].before.sum(axis=1)
        return Cuts(
            column=line.column.name,
            cuts=[line.start(int(place)) for place in places[1:-1]],
            labels=[line.label(a, b) for a, b in zip(low.tolist(), high.tolist(), strict=True)],
            rows=(before[high] - before[low]).tolist(),
            missing=int(before[-1] - before[len(line)]),
            objective=float(worth.sum()),
            aim=self.aim,
            reached={str(r): self._reached(low, high, r).tolist() for r in self.require},
            missing_reached={} if gap is None else {str(r): float(self._reached(*gap, r)[0]) for r in self.require},
            checked=checked,
            feasible=feasible,
            information=self.information,
            search=self,
            places=places.tolist(),
        )

    @property
    def _gap(self) -> tuple[IntArray, IntArray] | None:
        """The place of the missing value, as a range."""
        line = self.ranges.line
        return (np.array([len(line)]), np.array([line.ends])) if line.column.has_missing else None

    @property
    def _classes(self) -> str:
        return " in its worst class" if self.ranges.groups > 1 else ""

    def _reached(self, low: IntArray, high: IntArray, requirement: Requirement) -> FloatArray:
        names = [name for name, all_ in self.demands.items() if requirement in all_]
        return self.ranges.reached(low, high, requirement, names)

    def _check_missing(self) -> None:
        """Whatever the cuts are, the missing values are a class of their own."""
        for requirement in self.require if self._gap is not None else ():
            assert self._gap is not None
            reached = float(self._reached(*self._gap, requirement)[0])
            if not requirement.holds(reached):
                raise Infeasible(
                    f"No cuts of {self.ranges.line.column.name!r} meet {requirement}: the rows without a value stay apart from "
                    f"all ranges and reach {_short(reached)}{self._classes}; fill them in, leave them out, or suppress the column."
                )

    def _why(self, places: IntArray, most: int | None, checked: int) -> str:
        """Why there is nothing: whatever is monotone is met by the single range, or it would have been said before."""
        missed = []
        for requirement in self.require:
            reached = float(self._reached(places[:1], places[-1:], requirement)[0])
            if not requirement.holds(reached):
                missed.append(f"{requirement} (a single range reaches {_short(reached)}{self._classes})")
        limit = "" if most is None else f" into at most {most} range{'s' * (most != 1)}"
        return (
            f"No partition of {self.ranges.line.column.name!r}{limit} meets everything: a single range misses "
            f"{' and '.join(missed)}; finer ranges might not, but all that could matter ({checked:,}) were looked at, and "
            "every way to put them together misses something."
        )


def _short(value: float) -> str:
    # ten digits, so that a value next to its bound is not shown as the bound
    return spell_number(value) if value.is_integer() else f"{value:.10g}"


# --- the best way along a line in steps that each have a worth


def best_path(rows: list[FloatArray], most: int) -> list[int] | None:
    """The best way from the first place to the last in at most so many steps, as places; None if there is none.

    `rows[i][j]` is the worth of the step from i to i + 1 + j. Each step costs a rounding error, so that of ways that are
    equally good the shortest is best; of those the lexicographically smallest is taken.
    """
    last = len(rows)
    largest = max((float(np.abs(row[np.isfinite(row)]).max(initial=0.0)) for row in rows), default=0.0)
    rounding = ROUNDING * max(1.0, largest)
    ahead = np.full((1, last + 1), -np.inf)
    ahead[0, last] = 0.0
    for i in reversed(range(last)):
        ahead[0, i] = (rows[i] + ahead[0, i + 1 :]).max() - rounding
    if not np.isfinite(ahead[0, 0]):
        return None
    path = _trace(rows, ahead, rounding)
    if len(path) - 1 <= most:
        return path
    ahead = np.full((most + 1, last + 1), -np.inf)  # ahead[m, i]: from i to the last place in at most m steps
    ahead[:, last] = 0.0
    for i in reversed(range(last)):
        ahead[1:, i] = (rows[i] + ahead[:-1, i + 1 :]).max(axis=1) - rounding
    return _trace(rows, ahead, rounding) if np.isfinite(ahead[-1, 0]) else None


def _trace(rows: list[FloatArray], ahead: FloatArray, rounding: float) -> list[int]:
    """The way whose every step is the shortest that can still lead to the best worth."""
    left, path, worth = len(ahead) - 1, [0], 0.0
    goal = ahead[left, 0] - rounding / 2
    while path[-1] < len(rows):
        at, left = path[-1], max(left - 1, 0)
        total = worth + rows[at] - rounding + ahead[left, at + 1 :]
        step = int(np.argmax(total >= min(goal, total.max())))
        worth += rows[at][step] - rounding
        path.append(at + 1 + step)
    return path
