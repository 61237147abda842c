"""Larger channels by symmetry: one table for all that differ only in names which nothing tells apart.

Renaming values that a hierarchy does not tell apart (two leaves of one parent, two subtrees of the same shape) maps tables to
tables and releases to releases, and keeps what is allowed, what is published and, if it keeps their probabilities too, the
prior. So of each orbit of tables one is made, and its release stands for an orbit of releases:
`sum_y max_x P(x) P(y|x)` is the sum over orbits of releases of their size times the largest value among the orbits of
tables behind them. Any subgroup of the symmetries will do; the larger it is, the fewer orbits there are. (The order of rows, the
other symmetry, is gone already: tables are multisets.)
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from ..core.column import FloatArray, IntArray
from ..core.noun import dataclass
from .enumeration import RuleAnswers, Summed, fillings, reduced
from .publishing_rule import Rule
from .table_prior import IndependentRows, Prior, Uniform
from .tables import Attribute, Demand, Ranks, RowDomain, multisets

ORDER = 2_000
"""Symmetries that are used at most: each is applied to every orbit's tables."""
EFFORT = 150
"""Moves of a table that take as long as looking at one in an enumeration (measured)."""
CHUNK = 1 << 14

Permutation = tuple[int, ...]


@dataclass(frozen=True)
class SymmetryGroup:
    """Symmetries of a domain: for each attribute, quasi-identifiers first, permutations of its values. Their products act."""

    domain: RowDomain
    parts: tuple[tuple[Permutation, ...], ...]

    @property
    def order(self) -> int:
        """How many symmetries."""
        return math.prod(len(part) for part in self.parts)

    def on_rows(self, node: Sequence[int]) -> IntArray:
        """For each symmetry, where it takes each released row of a node."""
        domain = self.domain
        images = np.zeros((1, 1), dtype=np.int64)
        for i, (attribute, part) in enumerate(zip((*domain.quasi, *domain.sensitive), self.parts, strict=True)):
            codes = attribute.codes[node[i] if i < len(domain.quasi) else 0]
            size = int(codes.max()) + 1
            first = np.unique(codes, return_index=True)[1]
            moved = codes[np.array(part, dtype=np.int64)[:, first]]  # where a leaf of each group goes, its group goes
            images = (images[:, None, :, None] * size + moved[None, :, None, :]).reshape(
                len(images) * len(moved), images.shape[1] * size
            )
        return images


def symmetries(domain: RowDomain, prior: Prior, most: int = ORDER) -> SymmetryGroup:
    """Symmetries that keep hierarchies and prior, as many as `most` allows. Nothing alike: the identity alone."""
    attributes = (*domain.quasi, *domain.sensitive)
    chances = [
        prior.by_name[a.name] if isinstance(prior, IndependentRows) else np.zeros(len(a.levels[0])) for a in attributes
    ]
    parts: list[tuple[Permutation, ...]] = [(tuple(range(len(a.levels[0]))),) for a in attributes]
    # what is released with more rows gains most from fewer names: large attributes first
    for i in sorted(range(len(parts)), key=lambda i: -len(parts[i][0])):
        generators: list[Permutation] = []
        for swap in _swaps(attributes[i], chances[i]):
            others = math.prod(len(part) for j, part in enumerate(parts) if j != i)
            wider = _closure([*generators, swap], most // others)
            if wider is not None:
                generators.append(swap)
                parts[i] = wider
    return SymmetryGroup(domain, tuple(parts))


def _swaps(attribute: Attribute, chance: FloatArray) -> Iterator[Permutation]:
    """Swaps of neighbouring subtrees of the same shape and the same probabilities, leaf by leaf, the lowest subtrees first."""
    size = len(attribute.levels[0])
    codes = [*attribute.codes, np.zeros(size, dtype=np.int64)]

    def leaves(level: int, group: int) -> list[int]:
        """In an order in which subtrees of the same shape agree."""
        return [leaf for _, part in sorted(parts(level, group), key=lambda pair: pair[0]) for leaf in part]

    def shape(level: int, group: int) -> Any:
        if level == 0:
            return (float(chance[np.flatnonzero(codes[0] == group)[0]]),)
        return (level, *sorted(shape for shape, _ in parts(level, group)))

    def parts(level: int, group: int) -> list[tuple[Any, list[int]]]:
        """The shapes and leaves of the subtrees."""
        if level == 0:
            return [((), [int(leaf) for leaf in np.flatnonzero(codes[0] == group)])]
        below = np.unique(codes[level - 1][codes[level] == group])
        return [(shape(level - 1, int(b)), leaves(level - 1, int(b))) for b in below]

    for level in range(1, len(codes)):
        for group in np.unique(codes[level]):
            subtrees = sorted(parts(level, int(group)), key=lambda pair: pair[0])
            for (one, left), (other, right) in itertools.pairwise(subtrees):
                if one == other:
                    swap = list(range(size))
                    for a, b in zip(left, right, strict=True):
                        swap[a], swap[b] = b, a
                    yield tuple(swap)


def _closure(generators: Sequence[Permutation], most: int) -> tuple[Permutation, ...] | None:
    """The group that permutations generate; None if it is larger than `most`."""
    identity = tuple(range(len(generators[0])))
    closed, new = {identity}, [identity]
    while new:
        step = {tuple(generator[i] for i in element) for element in new for generator in generators} - closed
        closed |= step
        if len(closed) > most:
            return None
        new = list(step)
    return tuple(sorted(closed))


def orbit_count(group: SymmetryGroup, rows: int) -> int:
    """Orbits of the tables of r rows, without making them: Burnside's mean number of tables that a symmetry fixes, which is
    the coefficient of x^r in the product of 1/(1 - x^length) over the cycles of the symmetry."""
    kinds: Counter[tuple[int, ...]] = Counter()
    for line in group.on_rows((0,) * len(group.domain.quasi)):
        kinds[_cycles(line)] += 1
    total = 0
    for lengths, n in kinds.items():
        series = [1] + [0] * rows
        for length in lengths:
            for j in range(length, rows + 1):
                series[j] += series[j - length]
        total += n * series[rows]
    return total // group.order


def _cycles(line: IntArray) -> tuple[int, ...]:
    seen, lengths = np.zeros(len(line), dtype=bool), []
    for start in range(len(line)):
        length, at = 0, start
        while not seen[at]:
            seen[at] = True
            at, length = int(line[at]), length + 1
        if length:
            lengths.append(length)
    return tuple(sorted(lengths))


def _canonical(tables: IntArray, moves: IntArray, ranks: Ranks) -> tuple[IntArray, IntArray]:
    """The least rank in the orbit of each table, and the size of its orbit (order over the symmetries that give this rank)."""
    least = np.full(len(tables), np.iinfo(np.int64).max)
    often = np.zeros(len(tables), dtype=np.int64)
    for move in moves:
        image = ranks.rank(np.sort(move[tables], axis=1))
        often = np.where(image < least, 1, often + (image == least))
        least = np.minimum(least, image)
    return least, len(moves) // np.maximum(often, 1)


def orbits(group: SymmetryGroup, rows: int) -> tuple[IntArray, IntArray]:
    """A table of each orbit, by rank, and the sizes of the orbits: row by row, for a table less a row is in an orbit too."""
    moves = group.on_rows((0,) * len(group.domain.quasi))
    tables, sizes = np.zeros((1, 0), dtype=np.int64), np.ones(1, dtype=np.int64)
    for n in range(1, rows + 1):
        ranks = Ranks(group.domain.size, n)
        smallest = np.zeros(0, dtype=np.int64)
        for first in range(0, len(tables), CHUNK):
            part = tables[first : first + CHUNK]
            more = np.repeat(part, group.domain.size, axis=0)
            row = np.tile(np.arange(group.domain.size), len(part))
            longer = np.unique(ranks.rank(np.sort(np.column_stack([more, row]), axis=1)))
            least, _ = _canonical(ranks.unrank(longer), moves, ranks)
            smallest = np.unique(np.concatenate([smallest, least]))
        tables = ranks.unrank(smallest)
    if rows:
        sizes = _canonical(tables, moves, Ranks(group.domain.size, rows))[1]
    return tables, sizes


def by_orbits(
    domain: RowDomain, rows: int, demand: Demand, rule: Rule, prior: Prior, group: SymmetryGroup | None = None
) -> Summed:
    """The same sum as `enumerated`, from one table of each orbit. The prior is uniform or of independent rows; the symmetries are
    those of the domain that `reduced` gives."""
    assert isinstance(prior, Uniform | IndependentRows)
    domain, s = reduced(domain, demand, prior)
    group = symmetries(domain, prior) if group is None else group
    tables, _ = orbits(group, rows)
    shares = RuleAnswers(rule)
    allowed = np.concatenate([demand.allowed(domain, part) for part in _split(tables)])
    number, share = shares(allowed)
    chance = np.concatenate([prior.chance(part) for part in _split(tables)])
    quiet = ~np.any(share, axis=1)[number]
    right = float(chance[quiet].max()) if quiet.any() else 0.0
    total = Fraction(int(quiet.any()))
    made = reached = 0
    for i, node in enumerate(domain.nodes):
        ok = np.flatnonzero(allowed[:, i])
        ranks, moves = Ranks(domain.groups(node) * domain.values, rows), group.on_rows(node)
        release = domain.released(node, tables[ok])
        once, back = np.unique(ranks.rank(release), return_inverse=True)
        pairs = [_canonical(part, moves, ranks) for part in _split(ranks.unrank(once))]
        least, size = (np.concatenate(column) for column in zip(*pairs, strict=True)) if pairs else (once, once)
        least, orbit, at = np.unique(least, return_index=True, return_inverse=True)
        weight, at = size[orbit].astype(object) * fillings(ranks.unrank(least), s), at.ravel()[back.ravel()]
        best = np.zeros(len(least))
        np.maximum.at(best, at, chance[ok] * share[number[ok], i])
        made, reached = made + int(weight.sum()), reached + int(weight[best > 0].sum())
        right += float(weight.astype(np.float64) @ best)
        if isinstance(prior, Uniform):
            total += _exact_sum(shares, number[ok], i, at, weight)
    exact = total / prior.inputs if isinstance(prior, Uniform) else None
    return Summed(float(exact) if exact is not None else right, exact, made, reached, bool(quiet.any()))


def _exact_sum(
    shares: RuleAnswers, number: IntArray, node: int, at: IntArray, size: npt.NDArray[np.object_]
) -> Fraction:
    """Orbit sizes times largest answers, in fractions: the place of an answer among all is compared, not its rounding."""
    answers = sorted({line[node] for line in shares.fractions})
    place = {q: i for i, q in enumerate(answers)}
    of = np.array([place[line[node]] for line in shares.fractions], dtype=np.int64)
    best = np.full(len(size), -1)
    np.maximum.at(best, at, of[number])
    parts = np.zeros(len(answers), dtype=object)
    np.add.at(parts, best, size)
    return sum((q * int(n) for q, n in zip(answers, parts, strict=True)), Fraction(0))


def _split(tables: IntArray) -> list[IntArray]:
    return [tables[first : first + CHUNK] for first in range(0, max(len(tables), 1), CHUNK)]


def fits(domain: RowDomain, rows: int) -> bool:
    """Whether tables can be numbered in 64 bits, without which there is neither enumeration nor are there orbits."""
    return multisets(domain.size, rows) < 1 << 62


def effort(group: SymmetryGroup, rows: int) -> int:
    """The work of `by_orbits`, in tables that would be enumerated in the same time: an orbit's table is made from shorter ones by
    each possible row, and moved by each symmetry."""
    return orbit_count(group, rows) * group.domain.size * group.order // EFFORT
