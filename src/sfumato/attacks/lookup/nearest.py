"""The released rows, or people, that are nearest to what is known of somebody: Euclidean, within blocks that other columns make.

Somebody may be known by several tuples. How far they are from what was released:

| candidates        | distance (squared) |
|-------------------|--------------------|
| released rows     | that of the row from the nearest of the known tuples: the closest pair decides |
| released people   | the mean over the known tuples of that from the nearest row of the released person, so all rows of both count; a tuple for which the person has no row in its block is farther away than everything else |

With one known tuple and one row each the two are the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np

from ...core.column import FloatArray, IntArray
from ...core.noun import dataclass
from ...core.runs import distinct, held, parts, spread
from .tiles import Tiles

_PAIRS = 4_000_000
_ALONG = 4  # columns by which points are put into tiles; by more, tiles are hardly smaller
_SAME = 1 + 1e-9  # squared distances nearer than this are the same, rounding aside


@dataclass(frozen=True, eq=False)
class Line:
    """A column on both sides: numbers, or codes of labels, which are 1 apart if they differ."""

    known: FloatArray
    released: FloatArray
    labels: bool = False

    def apart(self, known: IntArray, released: IntArray) -> FloatArray:
        """What the column adds to the squared distance, one by one."""
        far = self.known[known] - self.released[released]
        return (far != 0).astype(np.float64) if self.labels else far**2


@dataclass(frozen=True, eq=False)
class Links:
    """Known tuple `at[i]` is one of person `owner[i]`; owners ascend from 0, and each has one."""

    owner: IntArray
    at: IntArray

    @cached_property
    def first(self) -> IntArray:
        """Where the tuples of each person begin, and one more."""
        return np.searchsorted(self.owner, np.arange(int(self.owner.max(initial=-1)) + 2))

    @property
    def people(self) -> int:
        """How many people there are."""
        return len(self.first) - 1


@dataclass(frozen=True, eq=False)
class NearPeople:
    """How far the nearest candidates of each person are (squared; infinite for none), and these: pairs of person and candidate."""

    far: FloatArray
    person: IntArray
    candidate: IntArray

    @classmethod
    def of(cls, person: IntArray, candidate: IntArray, far: FloatArray, people: int) -> NearPeople:
        """Of candidates, each once for a person, those that are nearest."""
        least = np.full(people, np.inf)
        np.minimum.at(least, person, far)
        tied = far <= least[person] * _SAME
        return cls(least, person[tied], candidate[tied])


@dataclass(frozen=True, eq=False)
class Ground:
    """Known and released tuples on the same lines and in the same blocks."""

    lines: Sequence[Line]
    known_block: IntArray
    released_block: IntArray

    @cached_property
    def _tiled(self) -> tuple[Tiles, list[Line], IntArray, IntArray]:
        """The released tuples in tiles by block; the lines these go by; for each block of known ones the first tile and one past the last."""
        along = sorted(self.lines, key=lambda line: -len(np.unique(line.released)))[:_ALONG]
        blocks, group = np.unique(self.released_block, return_inverse=True)
        tiles = Tiles.of(group, [line.released for line in along])
        at = np.minimum(np.searchsorted(blocks, self.known_block), max(len(blocks) - 1, 0))
        first, last = (np.searchsorted(tiles.group, at, side=side) for side in ("left", "right"))
        last = np.where(blocks[at] == self.known_block, last, first)
        return tiles, along, first, last

    def apart(self, known: IntArray, released: IntArray) -> FloatArray:
        """The squared distance of tuples, one by one."""
        away = np.zeros(len(known))
        for line in self.lines:
            away += line.apart(known, released)
        return away

    def _near_tiles(self, known: IntArray) -> Iterator[tuple[slice, IntArray, IntArray, FloatArray]]:
        """Known tuples in parts, with all tiles of their blocks, and how far these are at least."""
        tiles, along, first, last = self._tiled
        for part in parts((last - first)[known], _PAIRS):
            tile, whose = spread(first[known[part]], last[known[part]])
            away = np.zeros(len(tile))
            for j, line in enumerate(along):
                gap = tiles.gap(j, line.known[known[part]][whose], tile)
                away += (gap > 0) if line.labels else gap**2
            yield part, tile, whose, away

    def reach(self, known: IntArray) -> FloatArray:
        """How far the nearest released tuple of each is at most: that of the nearest tile; infinite where the block has none."""
        tiles = self._tiled[0]
        nearest = np.full(len(known), np.inf)
        for part, tile, whose, away in self._near_tiles(known):
            if not len(tile):
                continue
            order = np.lexsort((away, whose))
            best = order[np.flatnonzero(np.diff(whose, prepend=-1))]  # whose ascends, so runs stay where they are
            at, pair = spread(tiles.start[tile[best]], tiles.start[tile[best] + 1])
            mine = whose[best][pair] + part.start
            np.minimum.at(nearest, mine, self.apart(known[mine], tiles.order[at]))
        return nearest

    def within(self, known: IntArray, reach: FloatArray) -> Iterator[tuple[IntArray, IntArray, FloatArray]]:
        """Released tuples that are no farther than this: the place among `known`, the released tuple, the squared distance."""
        tiles = self._tiled[0]
        for part, tile, whose, away in self._near_tiles(known):
            near = np.flatnonzero(away <= reach[part][whose] * _SAME)
            tile, whose = tile[near], whose[near] + part.start
            for some in parts(tiles.start[tile + 1] - tiles.start[tile], _PAIRS):
                at, pair = spread(tiles.start[tile[some]], tiles.start[tile[some] + 1])
                mine, there = whose[some][pair], tiles.order[at]
                far = self.apart(known[mine], there)
                hit = far <= reach[mine] * _SAME
                yield mine[hit], there[hit], far[hit]

    def rows(self, links: Links) -> NearPeople:
        """The nearest released tuples of each person, by the closest pair."""
        reach = np.minimum.reduceat(self.reach(links.at), links.first[:-1])[links.owner]
        mine, there, far = _joined(self.within(links.at, reach))
        person = links.owner[mine]
        order = np.lexsort((far, there, person))  # the nearest of several known tuples comes first
        person, there, far = person[order], there[order], far[order]
        first = np.diff(person, prepend=-1).astype(bool) | np.diff(there, prepend=-1).astype(bool)
        return NearPeople.of(person[first], there[first], far[first], links.people)

    def people(
        self, links: Links, released: Links, own: IntArray | None = None, farthest: float = np.inf
    ) -> NearPeople:
        """The nearest released people of each person, by the mean over known tuples; `released` says which tuples are whose.

        `own` is a released person for each, -1 for none, who is looked at in any case: it makes no difference but to the time.
        Whoever has nobody within `farthest` need not be given the nearest; of them it is only known that all are farther.
        """
        order = np.argsort(released.at, kind="stable")
        start = np.searchsorted(released.at[order], np.arange(len(self.released_block) + 1))

        def crowd(tuple_: IntArray, person: IntArray) -> IntArray:
            """Person and released person whose tuple it is, as one number, each once."""
            at, pair = spread(start[tuple_], start[tuple_ + 1])
            return distinct(person[pair] * released.people + released.owner[order[at]])

        # anybody with a nearest row gives a bound; whoever is as near on the whole has a row as near as the mean
        person, there, _ = _joined(self.within(links.at, self.reach(links.at)))
        one = links.owner[person] * released.people + released.owner[order[start[there]]]
        if own is not None:
            some = np.flatnonzero(own >= 0)
            one = np.append(one, some * released.people + own[some])
        one = distinct(one)
        short, near = self._fewest(links, released, one)
        reach = np.minimum(np.where(short > 0, np.inf, near.far), farthest)[links.owner]
        keys = [one]
        for mine, there, _ in self.within(links.at, reach):
            keys.append(crowd(there, links.owner[mine]))
        short, near = self._fewest(links, released, distinct(np.concatenate(keys)))
        return NearPeople(near.far + short * self._widest, near.person, near.candidate)

    def _fewest(self, links: Links, released: Links, key: IntArray) -> tuple[IntArray, NearPeople]:
        """Of pairs of person and candidate those that leave fewest tuples without a row in their block, and of these the nearest."""
        person, candidate = np.divmod(key, released.people)
        known = np.diff(links.first)
        blocks, code = np.unique(np.append(self.known_block, self.released_block), return_inverse=True)
        ours, theirs = code[: len(self.known_block)], code[len(self.known_block) :]
        there = distinct(released.owner * len(blocks) + theirs[released.at])
        short = known[person].copy()
        for part in parts(known[person], _PAIRS):
            mine, pair = spread(links.first[person[part]], links.first[person[part] + 1])
            fits, _ = held(there, candidate[part][pair] * len(blocks) + ours[links.at[mine]])
            short[part] -= np.bincount(pair[fits], minlength=part.stop - part.start)
        least = np.full(links.people, np.iinfo(np.int64).max)
        np.minimum.at(least, person, short)
        few = (short == least[person]) & (short < known[person])
        person, candidate = person[few], candidate[few]
        near = NearPeople.of(person, candidate, self._mean(links, released, person, candidate), links.people)
        return np.where(np.isfinite(near.far), least, 0), near

    @cached_property
    def _widest(self) -> float:
        """As far as no two tuples are."""
        most = 1.0
        for line in self.lines:
            both = np.concatenate([line.known, line.released])
            most += 1.0 if line.labels else float(np.ptp(both)) ** 2
        return most

    def _mean(self, links: Links, released: Links, person: IntArray, candidate: IntArray) -> FloatArray:
        """One by one, the mean over the tuples of a person of the distance from the candidate's nearest row, where one fits."""
        means = np.zeros(len(person))
        known, rows = np.diff(links.first), np.diff(released.first)
        for part in parts(known[person] * rows[candidate], _PAIRS):
            mine, pair = spread(links.first[person[part]], links.first[person[part] + 1])
            whose = candidate[part][pair]
            theirs, run = spread(released.first[whose], released.first[whose + 1])
            a, b = links.at[mine[run]], released.at[theirs]
            far = np.where(self.known_block[a] == self.released_block[b], self.apart(a, b), np.inf)
            least = np.minimum.reduceat(far, np.flatnonzero(np.diff(run, prepend=-1)))
            fits, count = np.isfinite(least), part.stop - part.start
            total = np.bincount(pair[fits], weights=least[fits], minlength=count)
            means[part] = total / np.bincount(pair[fits], minlength=count)
        return means


def _joined(parts_: Iterator[tuple[IntArray, IntArray, FloatArray]]) -> tuple[IntArray, IntArray, FloatArray]:
    none = np.zeros(0, dtype=np.int64)
    mine, there, far = (np.concatenate(side) for side in zip((none, none, np.zeros(0)), *parts_, strict=True))
    return mine, there, far


def worth(inside: FloatArray, right: FloatArray, weight: IntArray, outside: FloatArray) -> FloatArray:
    """What a link seems worth that is so far: how often those are right who are in the release and are linked as far.

    These are put into stretches of distance of as many people each, a twentieth or 25 at least; beyond the farthest of them nobody
    is linked, and a link is worth nothing.
    """
    order = np.argsort(inside, kind="stable")
    order = order[np.isfinite(inside[order])]
    if not len(order):
        return np.zeros(len(outside))
    count = int(np.clip(len(order) // 25, 1, 20))
    ends = np.unique(inside[order[np.arange(1, count + 1) * len(order) // count - 1]]) * _SAME
    bins = np.searchsorted(ends, inside[order])
    total = np.bincount(bins, weights=weight[order], minlength=len(ends))
    hits = np.bincount(bins, weights=(weight * right)[order], minlength=len(ends))
    rate = np.append(hits / np.maximum(total, 1), 0.0)
    return rate[np.searchsorted(ends, outside)]
