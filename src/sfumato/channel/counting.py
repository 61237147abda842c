"""How many releases of a node meet a demand, and the exact error that follows, without a single table being made.

**Releases.** With M generalized cells and s sensitive values, the k-anonymous releases of a node number the coefficient of
`x^r` in `(1 + sum_{j>=k} C(j+s-1, j) x^j)^M`. (Eq. 25 forgets the sensitive column and the remainder r mod k: for k = 2,
r = 5, M = 8, s = 3 it gives 36, the truth is 3,528.) With l-diversity only the contents of a cell that have l distinct values
are counted; with t-closeness one variable per sensitive value is needed, because the whole table's distribution decides.

**Error.** Behind a release every row may have any value below its generalized one, each attribute for itself. So of one
attribute a single row can be put below a value by itself, and no release that keeps this attribute finer is then allowed;
and this can be done in all attributes at once. The fewest nodes that a table behind the release can be released at are
therefore those above its *floor*: in each attribute the lowest level to which none of the values in it splits. If every
value splits at every level, the floor of a release is its own node. How many releases have which floor is counted by the same
generating function, with fewer cells; and the floor says how likely the release is at most (`Rule.most`).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache, cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ..core.column import IntArray
from ..core.noun import dataclass
from .publishing_rule import Rule
from .tables import Demand, Levels, RowDomain, input_count, multisets, release_count

WORK = 8_000_000_000
"""Products of coefficients in many variables, at most, that are still worth their time."""


def cell_series(rows: int, demand: Demand, sizes: Sequence[int], leaves: int = 1) -> list[int]:
    """a_j, j = 0 .. r: the contents of a cell with j rows that meet k and l; a_0 = 1, the empty cell.

    `sizes` are the numbers of values of the sensitive attributes. No sensitive attribute: one content for each j >= k.
    With more than one leaf, the leaf of a row is counted with it: the tables behind the cell.
    """
    series = [1] + [0] * rows
    for j in range(max(demand.k, 1), rows + 1):
        for distinct in itertools.product(*(range(demand.l, size + 1) for size in sizes)):
            series[j] += _covering(j, tuple(zip(sizes, distinct, strict=True)), leaves)
    return series


@cache
def _covering(rows: int, at: tuple[tuple[int, int], ...], leaves: int) -> int:
    """Multisets of rows in which d of the m values of each attribute occur, for the pairs (m, d): inclusion and exclusion."""
    total = 0
    for kept in itertools.product(*(range(d + 1) for _, d in at)):
        sign = (-1) ** sum(d - a for (_, d), a in zip(at, kept, strict=True))
        ways = math.prod(math.comb(m, d) * math.comb(d, a) for (m, d), a in zip(at, kept, strict=True))
        total += sign * ways * multisets(math.prod(kept) * leaves, rows)
    return total


def power(series: Sequence[int], exponent: int) -> list[int]:
    """The coefficients of series^exponent, as many as the series has, whose first is not 0; in whole numbers.

    From P·(P^M)' = M·P'·P^M: n·p_0·q_n = sum_i (i·M - (n - i)) p_i q_{n-i}. Exponent 0: 1, 0, 0, ...
    """
    product = [series[0] ** exponent]
    for n in range(1, len(series)):
        total = sum((i * exponent - n + i) * series[i] * product[n - i] for i in range(1, n + 1))
        product.append(total // (n * series[0]))
    return product


class Releases:
    """Counts of the releases with so many cells that meet a demand."""

    def __init__(self, domain: RowDomain, rows: int, demand: Demand) -> None:
        self.rows, self.demand = rows, demand
        self.series = cell_series(rows, demand, [len(a.levels[0]) for a in domain.sensitive])
        self.contents = _contents(rows, demand, domain.values) if demand.t is not None else ()
        # one power for each number of cells, or one for each number of filled cells: whichever are fewer, and shorter
        self._by_filled = (
            demand.t is not None or 3 * demand.k * len({domain.groups(node) for node in domain.nodes}) > rows
        )
        self._known: dict[int, int] = {}

    @staticmethod
    def feasible(domain: RowDomain, rows: int, demand: Demand) -> bool:
        """Whether they can be counted: with t, for one sensitive attribute and while the recurrence is short enough."""
        if demand.t is None:
            return True
        if len(domain.sensitive) > 1:
            return False
        steps = sum(math.prod(n + 1 for n in whole) ** 2 for whole in _partitions(rows, domain.values))
        return steps * (rows // max(demand.k, demand.l)) <= WORK

    def __call__(self, cells: int) -> int:
        """The releases with this number of cells to choose from: the coefficient of x^r."""
        if cells not in self._known:
            if self._by_filled:
                self._known[cells] = sum(math.comb(cells, b) * n for b, n in enumerate(self.filled))
            else:
                self._known[cells] = power(self.series, cells)[self.rows]
        return self._known[cells]

    @cached_property
    def filled(self) -> list[int]:
        """For b = 0, 1, ...: the ways to fill b cells, all of them, with the r rows."""
        if self.demand.t is not None:
            lines = itertools.zip_longest(*([c.ways * n for n in c.filled] for c in self.contents), fillvalue=0)
            return [sum(line) for line in lines]
        least = next((j for j, n in enumerate(self.series) if j and n), self.rows + 1)
        ways = [int(not self.rows)]
        for b in range(1, self.rows // least + 1):  # x^(b·least) is taken out
            ways.append(power(self.series[least : self.rows - (b - 1) * least + 1], b)[self.rows - b * least])
        return ways

    def where(self, *, lone_row_allowed: bool, cells: int) -> int:
        """With t alone: the releases of tables in which a row by itself is, or is not, within t of the whole table."""
        chosen = [content for content in self.contents if content.lone_row_allowed is lone_row_allowed]
        return sum(c.ways * math.comb(cells, b) * n for c in chosen for b, n in enumerate(c.filled))


@dataclass(frozen=True, eq=False)
class _Content:
    """The sensitive values of a whole table, up to renaming: how often each occurs, and which contents a cell may have."""

    whole: tuple[int, ...]
    ways: int
    """Namings of the values."""
    cell: tuple[tuple[tuple[int, ...], int], ...]
    """Contents that a class may have, with their number of rows."""
    lone_row_allowed: bool

    @cached_property
    def filled(self) -> list[int]:
        """For b = 0, 1, ...: the coefficient of z^W in (the sum of z^w over the contents that a class may have)^b."""
        rows, shape = sum(self.whole), tuple(n + 1 for n in self.whole)
        most = rows // min((m for _, m in self.cell), default=rows + 1)
        # no coefficient is larger than the number of ways to deal the values out to b cells
        small = math.prod(multisets(max(most, 1), n) for n in self.whole) < 1 << 62
        now: npt.NDArray[Any] = np.zeros(shape, dtype=np.int64 if small else object)
        now[(0,) * len(shape)] = 1
        ways = [int(now[self.whole])]
        for _ in range(most):
            after = np.zeros_like(now)
            for w, _ in self.cell:
                rest = tuple(slice(0, n - a) for n, a in zip(shape, w, strict=True))
                after[tuple(slice(a, None) for a in w)] += now[rest]
            now = after
            ways.append(int(now[self.whole]))
        return ways


def _contents(rows: int, demand: Demand, s: int) -> tuple[_Content, ...]:
    assert demand.t is not None
    reach, contents = demand.reach(rows), []
    for whole in _partitions(rows, s):
        cell = []
        for w in itertools.product(*(range(n + 1) for n in whole)):
            m = sum(w)
            if m < max(demand.k, 1) or sum(a > 0 for a in w) < demand.l:
                continue
            if sum(abs(a * rows - b * m) for a, b in zip(w, whole, strict=True)) <= reach[m]:
                cell.append((w, m))
        namings = math.factorial(s)
        for n in np.unique(whole, return_counts=True)[1]:
            namings //= math.factorial(int(n))
        # a row by itself is at 1 - W_v/r from the table; the rarest value is farthest, and no class is farther
        rarest = min((n for n in whole if n), default=0)
        alone = rows == 0 or 2 * (rows - rarest) <= reach[1]
        contents.append(_Content(tuple(whole), namings, tuple(cell), alone))
    return tuple(contents)


def _partitions(rows: int, parts: int, most: int | None = None) -> Iterator[tuple[int, ...]]:
    """Ways to write a number as so many summands, zeros included, from large to small."""
    if parts == 0:
        if rows == 0:
            yield ()
        return
    for first in range(min(rows, rows if most is None else most), -1, -1):
        if first * parts < rows:
            return
        for rest in _partitions(rows - first, parts - 1, first):
            yield (first, *rest)


@dataclass(frozen=True)
class Counted:
    """What counting gives: the sum over releases of their largest probability, which is n·(1 - error) under a uniform prior."""

    outputs: int
    """Releases that meet the demand, at all nodes."""
    reached: int
    """Those of them that some table is published as."""
    withheld: bool
    """Whether some table is not published at all."""
    total: Fraction

    def error(self, inputs: int) -> Fraction:
        """1 - (1/n) sum_y max_x P(y|x), eq. 3 with `P(T'|T)` inside."""
        return 1 - self.total / inputs


def outputs(domain: RowDomain, rows: int, demand: Demand) -> int | None:
    """The releases that meet the demand, at all nodes; None if they cannot be counted."""
    if not Releases.feasible(domain, rows, demand):
        return None
    releases = Releases(domain, rows, demand)
    return sum(releases(domain.groups(node)) for node in domain.nodes)


def counted(domain: RowDomain, rows: int, demand: Demand, rule: Rule) -> Counted | None:
    """The exact answer under a uniform prior by counting alone; None if the rule or the demand does not allow it."""
    if not rule.countable or not Releases.feasible(domain, rows, demand):
        return None
    if demand.t is not None and not demand.lone_row_refused and not _regular(domain):
        return None
    releases = Releases(domain, rows, demand)
    nodes, place = domain.nodes, {node: i for i, node in enumerate(domain.nodes)}
    made, reached, total = 0, 0, Fraction(0)
    # a table that even the most general node refuses is published nowhere
    withheld = releases(domain.groups(nodes[-1])) < release_count(domain, rows, nodes[-1])
    for i, node in enumerate(nodes):
        for floor, n in _floors(domain, node, releases):
            if n:
                most = rule.most(i, place[floor])
                made += n
                reached += n if most else 0
                total += n * most
                withheld = withheld or rule.silent(place[floor])
    return Counted(made, reached, withheld, total + withheld)


def floor(domain: RowDomain, node: Levels, release: Sequence[int] | IntArray) -> Levels:
    """Of one release: in each attribute the lowest level to which none of the values in it splits."""
    inside = np.isin(domain.merged(node), np.asarray(release, dtype=np.int64) // domain.values)
    at = np.unravel_index(np.flatnonzero(inside), [len(a.levels[0]) for a in domain.quasi]) if domain.quasi else ()
    levels = []
    for attribute, leaves, level in zip(domain.quasi, at, node, strict=True):
        here = np.unique(leaves)
        now = len(np.unique(attribute.codes[level][here]))
        levels.append(next(j for j in range(level + 1) if len(np.unique(attribute.codes[j][here])) == now))
    return tuple(levels)


def _regular(domain: RowDomain) -> bool:
    """Whether every value of every level above 0 splits at the level below."""
    return all(not a.unsplit[level][level - 1] for a in domain.quasi for level in range(1, a.height + 1))


def _floors(domain: RowDomain, node: Levels, releases: Releases) -> Iterator[tuple[Levels, int]]:
    """The floors of the releases at a node, and how many releases have each."""
    demand, bottom, cells = releases.demand, (0,) * len(node), domain.groups(node)
    if not demand.lone_row_refused:
        if demand.t is None or node == bottom:  # nothing is ever refused, or nothing is below
            yield bottom, releases(cells)
        else:
            yield bottom, releases.where(lone_row_allowed=True, cells=cells)
            yield node, releases.where(lone_row_allowed=False, cells=cells)
        return
    # values of attribute i that do not split down to level j: the floor is at most j if the release has only such values, so
    # releases of these values are counted, and each floor's own are the differences
    held = [a.unsplit[level] for a, level in zip(domain.quasi, node, strict=True)]
    steps = [[j for j, n in enumerate(line) if n > (line[j - 1] if j else 0)] for line in held]
    kept = [
        math.prod(chosen)
        for chosen in itertools.product(*([line[j] for j in at] for line, at in zip(held, steps, strict=True)))
    ]
    counts = np.array([releases(n) for n in kept], dtype=object).reshape([len(at) for at in steps])
    for axis in range(counts.ndim):
        counts = np.diff(counts, axis=axis, prepend=0)
    yield from zip(itertools.product(*steps), counts.ravel(), strict=True)


def refused(domain: RowDomain, rows: int, demand: Demand) -> int | None:
    """The tables that meet the demand at no node, i.e. not at the most general one; None where they are not counted (t with
    several most general cells)."""
    top = domain.nodes[-1]
    if demand.t is not None and domain.groups(top) > 1:
        return None
    sizes = [len(attribute.levels[0]) for attribute in domain.sensitive]
    whole = [1] + [0] * rows
    for leaves in domain.leaves(top):
        series = cell_series(rows, demand, sizes, int(leaves))
        whole = [sum(series[i] * whole[j - i] for i in range(j + 1)) for j in range(rows + 1)]
    return input_count(domain, rows) - whole[rows]
