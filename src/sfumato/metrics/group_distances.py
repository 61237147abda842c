"""How far the sensitive values of each class are from those of a group that holds it, by the distances of (n,t)-closeness."""

import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np

from ..core.classes import Classes, Sensitive
from ..core.column import FloatArray, IntArray
from ..core.cover import BoolArray
from ..core.errors import Unavailable
from ..core.noun import short
from ..core.sizes import in_proportion
from .earth_mover import ordered_distance, running_sums

WAVE = 32
"""How many of the worst classes come first, and how many times as many in each turn after it."""
CHUNK = 2_000_000
"""Entries, or values of groups, that are held at a time."""
CELLS = 1_000_000
"""Smoothed values of classes that are held at a time."""
SMOOTHED = 8_000_000
"""Entries that smoothing may make at once; where they are more, classes are smoothed when they are looked at."""
KERNEL = 400_000_000
"""Pairs of sensitive values that smoothing may have to do with, where classes are smoothed when they are looked at."""


class Entries:
    """The sensitive values of the classes: `n` rows (or smoothed weight) of `value` in `member`, by member and value."""

    def __init__(self, member: IntArray, value: IntArray, n: FloatArray, count: int, m: int, kind: str) -> None:
        self.value, self.n, self.m, self.kind = value, n, m, kind
        self.width = np.bincount(member, minlength=count)
        self.first = np.cumsum(self.width) - self.width
        self.mass = np.bincount(member, weights=n, minlength=count)

    def __len__(self) -> int:
        return len(self.mass)

    def work(self, members: IntArray, group: IntArray, wanted: int) -> int:
        """What `distances` looks at."""
        return int(self.width[members].sum())

    def fit(self, work: int, groups: int) -> int:
        """How many classes in at most so many groups can be looked at with so much work."""
        return len(self)

    def whole(self) -> FloatArray:
        """How far each class is from the whole table, or more."""
        return self.distances(np.arange(len(self)), np.zeros(len(self), dtype=np.int64), np.ones(len(self), dtype=bool))

    def distances(self, members: IntArray, group: IntArray, wanted: BoolArray) -> FloatArray:
        """How far each of the wanted members is from its group; groups are 0, 1, ..., their members all given."""
        far = np.zeros(len(members))
        load = self._load(_sums(group, self.width[members], 0))
        turn = ((np.cumsum(load) - load) // CHUNK)[group]
        for this in np.unique(turn[wanted]):
            at = np.flatnonzero(turn == this)
            asked = np.flatnonzero(wanted[at])
            far[at[asked]] = self._distances(members[at], group[at] - group[at].min(), asked)
        far = far[wanted]
        return np.where(far < 1e-12, 0.0, np.minimum(far, 1.0))  # rounding

    def _load(self, width: FloatArray) -> FloatArray:
        """What a group takes to hold: its entries, or a number for each value if it has many of them."""
        return np.where(4 * width < self.m, width, np.maximum(width, self.m))

    def _parts(self, members: IntArray) -> Iterator[tuple[slice, IntArray, IntArray]]:
        """The members, some at a time: which they are, for each entry its place among them, and where it is."""
        cut = np.flatnonzero(np.diff(np.cumsum(self.width[members]) // CHUNK)) + 1
        for begin, end in itertools.pairwise([0, *cut.tolist(), len(members)]):
            yield slice(begin, end), *_pairs(self.first[members[begin:end]], self.width[members[begin:end]])

    def _totals(self, members: IntArray, group: IntArray) -> FloatArray:
        """The rows of each value in each group, a number for each."""
        total = np.zeros((int(group.max()) + 1) * self.m)
        for part, member, at in self._parts(members):
            total += _sums(group[part][member] * self.m + self.value[at], self.n[at], len(total))
        return total

    def _distances(self, members: IntArray, group: IntArray, wanted: IntArray) -> FloatArray:
        groups = int(group.max()) + 1
        if groups * self.m <= 4 * int(self.width[members].sum()):
            key, total = np.arange(groups * self.m), self._totals(members, group)
        else:
            member, at = _pairs(self.first[members], self.width[members])
            key, where = np.unique(group[member] * self.m + self.value[at], return_inverse=True)
            total = _sums(where, self.n[at], len(key))
        q = total / _sums(group, self.mass[members], groups)[key // self.m]
        far = np.zeros(len(wanted))
        for part, member, at in self._parts(members[wanted]):
            mine, mass = group[wanted[part]][member], self.mass[members[wanted[part]]][member]
            far[part] = self._far(member, mine, self.value[at], self.n[at] / mass, key, q)
        return far

    def _far(
        self, member: IntArray, mine: IntArray, value: IntArray, p: FloatArray, key: IntArray, prior: FloatArray
    ) -> FloatArray:
        """Of members with entries `p` of `value` in the group `mine`; `prior` is what the groups have, by group and value."""
        if self.kind == "ordered":
            return self._ordered(member, mine, value, p, key, prior)
        q = prior[mine * self.m + value if _complete(key, self.m) else np.searchsorted(key, mine * self.m + value)]
        if self.kind == "equal":
            return _sums(member, np.maximum(p - q, 0.0), 0)
        both = p * np.log2(2 * p / (p + q)) + q * np.log2(2 * q / (p + q))
        # values that only the group has: each gives its whole q
        return (_sums(member, both - q, 0) + 1.0) / 2

    def _ordered(
        self, member: IntArray, mine: IntArray, place: IntArray, p: FloatArray, key: IntArray, q: FloatArray
    ) -> FloatArray:
        """Earth mover's distance in the order of the values, as t_closeness has it, but each group with its own prior."""
        if self.m < 2:
            return np.zeros(int(member[-1]) + 1)
        m, of, support = self.m, key // self.m, key % self.m
        first = np.flatnonzero(np.diff(of, prepend=-1))
        width = np.diff(np.append(first, len(of)))
        cumulative = running_sums(q, first, width)
        # area up to a place of the support: what the cumulative adds over the places before it
        gap = np.diff(support, prepend=0)
        gap[first] = 0
        area = running_sums(np.append(0.0, cumulative[:-1]) * gap, first, width)

        def upto(x: IntArray) -> FloatArray:
            last = (mine * m + x if _complete(key, self.m) else np.searchsorted(key, mine * m + x)) - 1
            inside = (last >= 0) & (of[last] == mine)
            return np.where(inside, area[last] + cumulative[last] * (x - support[last]), 0.0)

        def reach(level: FloatArray) -> IntArray:
            at = np.searchsorted(of * 2.0 + np.minimum(cumulative, 1.0), mine * 2.0 + np.minimum(level, 1.0))
            at = np.minimum(at, len(of) - 1)
            return np.where(of[at] == mine, support[at], m)

        return ordered_distance(member, place, p, m, upto, reach)


class NearValues(NamedTuple):
    """The values near to each value j, `order[start[j]:stop[j]]`, and how near two values are."""

    start: IntArray
    stop: IntArray
    order: IntArray
    kernel: Callable[[IntArray, IntArray], FloatArray]

    def __repr__(self) -> str:
        return short(self)


class Smoothed(Entries):
    """Counts that are smoothed when they are looked at: a class's values near its own are many more than its own."""

    def __init__(self, member: IntArray, value: IntArray, n: FloatArray, count: int, near: NearValues) -> None:
        super().__init__(member, value, n, count, len(near.order), "jensen_shannon")
        self.near = near
        self.kept = list(self._blocks()) if self.m**2 <= 4 * CHUNK else None
        self.gain: FloatArray = np.sum([block.sum(axis=1) for block in self.blocks()], axis=0)

    def blocks(self) -> Iterable[FloatArray]:
        """The kernel, some columns at a time: what of a row of value j goes to each of them."""
        return self._blocks() if self.kept is None else self.kept

    def _blocks(self) -> Iterator[FloatArray]:
        every, columns = np.arange(self.m)[:, None], max(CHUNK // self.m, 1)
        for begin in range(0, self.m, columns):
            at = np.arange(begin, min(begin + columns, self.m))
            there = (self.near.start[:, None] <= at) & (at < self.near.stop[:, None])
            block = np.where(there, np.maximum(self.near.kernel(every, self.near.order[at]), 0.0), 0.0)
            yield block / block.sum(axis=0)

    def work(self, members: IntArray, group: IntArray, wanted: int) -> int:
        """What `distances` looks at: four smoothed values take the time of an entry, and a product of matrices its own."""
        groups = int(group.max(initial=-1)) + 1
        kernel = 0 if self.kept is not None else self.m**2 * (1 + groups * self.m // (8 * CHUNK))
        return int(self.width[members].sum()) + wanted * self.m // 4 + groups * self.m**2 // 400 + kernel

    def fit(self, work: int, groups: int) -> int:
        """How many classes in at most so many groups can be looked at with so much work."""
        shared = (work - groups * self.m**2 // 400) * 4 // self.m
        return max(shared, work // (self.m // 4 + self.m**2 // 400 + 1), WAVE)

    def whole(self) -> FloatArray:
        """The mean of how far its single values, smoothed, are from the table: the distance is convex, so it is no more."""
        weight = self.n * self.gain[self.value]
        total = np.bincount(self.value, weights=self.n, minlength=self.m)
        far = np.zeros(self.m)
        for block in self.blocks():
            q = total @ block / (total @ self.gain)
            p = block / self.gain[:, None]
            far += _bits(p) + _bits(q[None]) - _bits(p + q)
        member = np.repeat(np.arange(len(self)), self.width)
        return _sums(member, weight * (1 + far / 2)[self.value], len(self)) / _sums(member, weight, len(self))

    def _load(self, width: FloatArray) -> FloatArray:
        return np.full(len(width), self.m if self.kept is not None else self.m / 8)

    def _distances(self, members: IntArray, group: IntArray, wanted: IntArray) -> FloatArray:
        counts = self._totals(members, group).reshape(-1, self.m)
        mass = counts @ self.gain
        order = np.argsort(-self.width[members[wanted]], kind="stable")
        far = np.zeros(len(wanted))
        for block in self.blocks():
            q = counts @ block / mass[:, None]
            own = _bits(q)
            size = max(min(CELLS // block.shape[1], 4 * CHUNK // self.m), 1)
            for at in (order[begin : begin + size] for begin in range(0, len(order), size)):
                p, of = self._smooth(members[wanted[at]], block), group[wanted[at]]
                far[at] += _bits(p) + own[of] - _bits(p + q[of])
        return 1 + far / 2

    def _smooth(self, members: IntArray, block: FloatArray) -> FloatArray:
        """The smoothed distributions of classes, those with most entries first, over the values of a block."""
        first, width = self.first[members], self.width[members]
        if 40 * int(width.sum()) > len(members) * self.m:  # then a product of matrices is faster
            p = self._totals(members, np.arange(len(members))).reshape(-1, self.m)
            return p @ block / (p @ self.gain)[:, None]
        p, mass = np.zeros((len(members), block.shape[1])), np.zeros(len(members))
        for i in range(int(width[0])):
            at = first[: int(np.searchsorted(-width, -i))] + i
            p[: len(at)] += self.n[at, None] * block[self.value[at]]
            mass[: len(at)] += self.n[at] * self.gain[self.value[at]]
        return p / mass[:, None]


def _complete(key: IntArray, m: int) -> bool:
    """Whether every value of every group has a key, which is then its own place."""
    return len(key) == (int(key[-1]) // m + 1) * m


def _bits(x: FloatArray) -> FloatArray:
    """The sum of x log2 x of each row, 0 log2 0 being 0."""
    bits: FloatArray = np.einsum("ij,ij->i", x, np.log2(np.maximum(x, np.finfo(np.float64).tiny)))
    return bits


def _sums(member: IntArray, term: FloatArray | IntArray, count: int) -> FloatArray:
    return np.bincount(member, weights=term, minlength=count).astype(np.float64, copy=False)


def _pairs(first: IntArray, width: IntArray) -> tuple[IntArray, IntArray]:
    """For ranges of `width` from `first`: which range, and where in it."""
    of = np.repeat(np.arange(len(width)), width)
    return of, np.arange(len(of)) + np.repeat(first - (np.cumsum(width) - width), width)


def neighbours(sensitive: Sensitive, bandwidth: float) -> NearValues:
    """The values within the bandwidth of each value, and Epanechnikov's K of two values.

    Numbers are |i - j|/R apart, values in an order likewise by rank, values in a taxonomy by the height of their lowest common
    ancestor (Manta 3.2.4), and others 1, too far to be neighbours. So is the missing value from all others.
    """
    column, m = sensitive.column, len(sensitive.total)
    alone = np.arange(m)
    x = (column.numbers if column.numbers is not None else column.quantities) if sensitive.order is None else None
    if x is None and sensitive.rank is not None:
        x = sensitive.rank.astype(np.float64)
    taxonomy = sensitive.hierarchy
    if x is not None and len(column.values) > 1:
        known = len(column.values)  # the missing value has the last code
        x = in_proportion(x[:known], column.name, "n_t_closeness")
        x = (x - x.min()) / np.ptp(x)
        order = np.append(np.argsort(x, kind="stable"), alone[known:])
        line, x = x[order[:known]], np.append(x, np.zeros(m - known))
        start = np.append(np.searchsorted(line, x[:known] - bandwidth, side="right"), alone[known:])
        stop = np.append(np.searchsorted(line, x[:known] + bandwidth, side="left"), alone[known:] + 1)
        return NearValues(start, stop, order, lambda i, j: 1 - ((x[i] - x[j]) / bandwidth) ** 2)
    if taxonomy is not None and all(text is None or text in taxonomy.index for text in column.texts):
        at = np.array([len(taxonomy.index) if text is None else taxonomy.index[text] for text in column.texts])
        codes = [np.append(code, -1)[at] for code in taxonomy.codes()]
        near = [code for height, code in enumerate(codes) if height / taxonomy.height < bandwidth]
        order = np.argsort(near[-1], kind="stable")
        line = near[-1][order]

        def kernel(i: IntArray, j: IntArray) -> FloatArray:
            height = np.sum([code[i] != code[j] for code in near], axis=0)  # of the lowest common ancestor
            k: FloatArray = 1 - (height / taxonomy.height / bandwidth) ** 2
            return k

        return NearValues(np.searchsorted(line, near[-1]), np.searchsorted(line, near[-1], side="right"), order, kernel)
    return NearValues(alone, alone + 1, alone, lambda i, j: np.ones(len(i)))


def smooth(classes: Classes, bandwidth: float) -> Entries:
    """Nadaraya and Watson's weighted average (Manta 3.2.4): rows of j go to i as `K(d_ij) / sum_j K(d_ij)`.

    The sums of it are no distribution (at the ends of a range the weights do not add up), so they are made one again.
    """
    near = neighbours(classes.sensitive, bandwidth)
    start, stop, order, kernel = near
    width, m = stop - start, len(start)
    n = classes.n.astype(np.float64)
    if int(width.max()) == 1:
        return Entries(classes.member, classes.value, n, len(classes), m, "jensen_shannon")
    if int(width[classes.value].sum()) > SMOOTHED or int(width.sum()) > SMOOTHED:
        if m**2 > KERNEL:
            raise Unavailable(
                f"n_t_closeness[jensen_shannon]: smoothing {m} values of {classes.sensitive.column.name!r} is more than is "
                "computed here; take a smaller bandwidth, or n_t_closeness[ordered]."
            )
        return Smoothed(classes.member, classes.value, n, len(classes), near)
    of, at = _pairs(start, width)
    to = order[at]
    k = kernel(of, to)
    norm = np.bincount(to, weights=k, minlength=m)
    entry, pair = _pairs((np.cumsum(width) - width)[classes.value], width[classes.value])
    key, where = np.unique(classes.member[entry] * m + to[pair], return_inverse=True)
    spread = _sums(where, n[entry] * (k / norm[to])[pair], len(key))
    kept = spread > 0
    return Entries(key[kept] // m, key[kept] % m, spread[kept], len(classes), m, "jensen_shannon")


def entries(classes: Classes, distance: str, bandwidth: float) -> Entries:
    """The counts as a distance wants them: by rank, smoothed, or as they are."""
    m, rank = len(classes.sensitive.total), classes.sensitive.rank
    if distance == "jensen_shannon":
        return smooth(classes, bandwidth)
    member, value, n = classes.member, classes.value, classes.n.astype(np.float64)
    if distance == "ordered":
        if rank is None:
            raise Unavailable(
                f"n_t_closeness[ordered] needs an order of the values of {classes.sensitive.column.name!r}, which are neither "
                "numbers nor dates; state it in the roles file under [orders], or use n_t_closeness[equal]."
            )
        value = rank[value]
        if (np.diff(rank) < 0).any():
            order = np.argsort(member * m + value, kind="stable")
            member, value, n = member[order], value[order], n[order]
    return Entries(member, value, n, len(classes), m, distance)
