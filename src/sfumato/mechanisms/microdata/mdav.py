"""Groups of at least k rows that are alike: the best along one column, and by MDAV over several.

Points are distinct tuples with weights, so copies cost nothing. A part of a tuple's copies may go to one group and the rest
to another, as if they were rows of their own, which they are.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...core.column import FloatArray, IntArray
from ...core.noun import dataclass

STEP = 1 << 16
"""Places whose groups are priced at a time."""


# --- one column: Hansen and Mukherjee 2003 ---------------------------------------------------------------------------


def along(values: FloatArray, n: IntArray, k: int) -> IntArray:
    """The group of every row, rows in the order of ascending `values` with `n` copies each: the least squared error there is.

    A best grouping has groups of k to 2k - 1 neighbours (Domingo-Ferrer and Mateo-Sanz 2002), so it is a shortest path from
    place 0 to the last where an arc spans a group. Of many copies only 5k - 4 take part: at most 2k - 2 on either side join
    another value, and k or more are left, which form groups of their own at no cost. k n places, priced in array steps.
    """
    most = 5 * k - 4
    short = np.minimum(n, most)
    run = np.repeat(np.arange(len(n)), short)
    start = _shortest_path(values[run], k)
    group = np.zeros(len(run), dtype=np.int64)
    group[start[1:]] = 1
    group = np.cumsum(group)
    times = np.ones(len(run), dtype=np.int64)
    if (n > most).any():  # the copies that were left out join a group of their kind only
        last = np.append(start[1:], len(run)) - 1
        own = np.flatnonzero((run[start] == run[last])[group])
        of, first = np.unique(run[own], return_index=True)
        times[own[first]] += (n - short)[of]
    return np.repeat(group, times)


def _shortest_path(x: FloatArray, k: int) -> IntArray:
    """Where the groups start. Needs k places or more."""
    count = len(x)
    best = np.full(count + 1, np.inf)  # of the first j places
    best[0] = 0.0
    came = np.zeros(count + 1, dtype=np.int64)
    for base in range(0, count, STEP):
        ends = np.arange(base + 1, min(base + STEP, count) + 1)
        prices = _prices(x, ends, k)
        # the k places after j reach back at least k, so never to one another: k of them in one step
        for first in range(0, len(ends), k):
            end = ends[first : first + k]
            before = end - np.arange(k, 2 * k)[:, None]
            paid = prices[:, first : first + k] + np.where(before >= 0, best[np.maximum(before, 0)], np.inf)
            chosen = paid.argmin(axis=0)
            best[end] = paid[chosen, np.arange(len(end))]
            came[end] = end - (chosen + k)
    starts, at = [], count
    while at > 0:
        at = int(came[at])
        starts.append(at)
    return np.array(starts[::-1], dtype=np.int64)


def _prices(x: FloatArray, ends: IntArray, k: int) -> FloatArray:
    """The squared error of the g places before each end, for g from k to 2k - 1; sums from the group's own last number."""
    prices = np.full((k, len(ends)), np.inf)
    sums, squares = np.zeros(len(ends)), np.zeros(len(ends))
    last = x[ends - 1]
    for g in range(1, 2 * k):
        there = ends >= g
        away = np.where(there, last - x[np.maximum(ends - g, 0)], 0.0)
        sums += away
        squares += away * away
        if g >= k:
            prices[g - k] = np.where(there, np.maximum(squares - sums * sums / g, 0.0), np.inf)
    return prices


# --- several columns: MDAV-generic, Domingo-Ferrer and Torra 2005 ----------------------------------------------------


@dataclass(eq=False)
class Points:
    """Tuples by their coordinates (`at[i]` one column) and categories (`kind[i]` codes), `n` copies of each.

    The squared distance is the sum of the squared differences of the coordinates and of 1 for every category that differs.
    """

    at: FloatArray
    kind: IntArray
    n: IntArray

    def __len__(self) -> int:
        return len(self.n)

    def some(self, chosen: IntArray) -> Points:
        """Some of them."""
        return Points(self.at[:, chosen], self.kind[:, chosen], self.n[chosen])


@dataclass(frozen=True, eq=False)
class GroupMembers:
    """`n` copies of tuple `point` are in `group`."""

    point: IntArray
    group: IntArray
    n: IntArray


def mdav(points: Points, k: int, block: int, progress: Callable[[float], None]) -> tuple[GroupMembers, int]:
    """MDAV in every block of at most so many tuples, and the number of blocks: with one it is MDAV itself."""
    total = int(points.n.sum())
    shares: list[tuple[IntArray, IntArray, IntArray]] = []
    done = groups = 0
    blocks = _blocks(points, max(block, 2 * k))
    for chosen in blocks:
        left = _Ungrouped(points.some(chosen), k)
        left.run(lambda rows, done=done: progress((done + rows) / total))  # type: ignore[misc]
        point, group, n = left.shares()
        shares.append((chosen[point], group + groups, n))
        groups += int(group[-1]) + 1
        done += int(n.sum())
        progress(done / total)
    point, group, n = (np.concatenate(part) for part in zip(*shares, strict=True))
    return GroupMembers(point, group, n), len(blocks)


def _blocks(points: Points, most: int) -> list[IntArray]:
    """Halves of halves along the column that spreads most, until each has few tuples (a k-d tree's leaves)."""
    waiting, leaves = [np.arange(len(points))], []
    while waiting:
        chosen = waiting.pop()
        if len(chosen) <= most:
            leaves.append(chosen)
            continue
        n = points.n[chosen]
        # half the mean squared distance of two rows, which is the variance of coordinates
        spread = [_variance(column[chosen], n) for column in points.at]
        shares = [np.bincount(codes[chosen], weights=n) / n.sum() for codes in points.kind]
        spread += [0.5 * (1 - float((share**2).sum())) for share in shares]
        axis = int(np.argmax(spread))
        key = points.at[axis][chosen] if axis < len(points.at) else points.kind[axis - len(points.at)][chosen]
        order = chosen[np.argsort(key, kind="stable")]
        waiting += [order[len(order) // 2 :], order[: len(order) // 2]]
    return leaves


def _variance(x: FloatArray, n: IntArray) -> float:
    mean = float(np.average(x, weights=n))
    return float(np.average((x - mean) ** 2, weights=n))


class _Ungrouped:
    """The tuples that are in no group yet. Those of a group leave, and the last ones take their place: no gaps."""

    def __init__(self, points: Points, k: int) -> None:
        self.k = k
        self.at, self.kind = [column.copy() for column in points.at], [codes.copy() for codes in points.kind]
        self.n, self.id = points.n.copy(), np.arange(len(points))
        self.count, self.rows = len(points), int(points.n.sum())
        self.sums = [float((column * self.n).sum()) for column in self.at]
        self.counts = [np.bincount(codes, weights=self.n) for codes in self.kind]
        self._groups: list[tuple[IntArray, IntArray]] = []
        self._distance, self._room = np.empty(self.count), np.empty(self.count)

    def run(self, progress: Callable[[int], None]) -> None:
        """The algorithm's three cases, by the rows that are left."""
        total, k, reported_at = self.rows, self.k, 0
        while self.rows >= 3 * k:
            r = self._furthest_from_mean()
            away = self._away(r)
            s = self.id[away.argmax()]
            self._take(r, away)
            there = np.flatnonzero(self.id[: self.count] == s)
            if len(there) and self.rows >= 2 * k:  # not if so many were alike that few are left
                self._take(int(there[0]), self._away(int(there[0])))
            if total - self.rows - reported_at > 20_000:
                reported_at = total - self.rows
                progress(reported_at)
        if self.rows >= 2 * k:
            r = self._furthest_from_mean()
            self._take(r, self._away(r))
        if self.rows:
            self._group(np.arange(self.count), self.n[: self.count].copy())

    def shares(self) -> tuple[IntArray, IntArray, IntArray]:
        """The tuple, the group and the copies of every share."""
        sizes = [len(ids) for ids, _ in self._groups]
        group = np.repeat(np.arange(len(sizes)), sizes)
        return np.concatenate([ids for ids, _ in self._groups]), group, np.concatenate([n for _, n in self._groups])

    def _furthest_from_mean(self) -> int:
        """Categories have no mean; their most frequent stands for it."""
        mean = [s / self.rows for s in self.sums]
        return int(self._from(mean, [int(counts.argmax()) for counts in self.counts]).argmax())

    def _away(self, i: int) -> FloatArray:
        return self._from([float(column[i]) for column in self.at], [int(codes[i]) for codes in self.kind])

    def _from(self, at: list[float], kind: list[int]) -> FloatArray:
        """The squared distance of every tuple from a place."""
        found, room = self._distance[: self.count], self._room[: self.count]
        found[:] = 0.0
        for column, here in zip(self.at, at, strict=True):
            np.subtract(column[: self.count], here, out=room)
            np.multiply(room, room, out=room)
            found += room
        for codes, code in zip(self.kind, kind, strict=True):
            found += codes[: self.count] != code
        return found

    def _take(self, i: int, away: FloatArray) -> None:
        """A group of tuple i and the copies nearest to it; of its own alone where these are k or more."""
        k, own = self.k, int(self.n[i])
        if own >= k:  # all of them, unless that leaves too few for a group
            self._group(np.array([i]), np.array([own if self.rows == own else min(own, self.rows - k)]))
            return
        near = _nearest(away, k)
        near = near[np.lexsort((self.id[near], away[near]))]
        near = near[: int(np.searchsorted(np.cumsum(self.n[near]), k)) + 1]
        taken = self.n[near].copy()
        taken[-1] -= int(taken.sum()) - k
        self._group(near, taken)

    def _group(self, places: IntArray, taken: IntArray) -> None:
        self._groups.append((self.id[places].copy(), taken))
        self.rows -= int(taken.sum())
        for j, column in enumerate(self.at):
            self.sums[j] -= float((column[places] * taken).sum())
        for counts, codes in zip(self.counts, self.kind, strict=True):
            np.subtract.at(counts, codes[places], taken)
        self.n[places] -= taken
        gone = places[self.n[places] == 0]
        end = self.count - len(gone)
        stays = np.ones(len(gone), dtype=bool)
        stays[gone[gone >= end] - end] = False
        holes, tail = gone[gone < end], end + np.flatnonzero(stays)
        for array in (*self.at, *self.kind, self.n, self.id):
            array[holes] = array[tail]
        self.count = end


def _nearest(away: FloatArray, k: int) -> IntArray:
    """The places of the k least distances and perhaps a few more, in no order.

    The k least of the minima over every 32nd place are distances too, so the k least of all are not beyond them.
    """
    width = len(away) // 32
    if width <= 2 * k:
        return np.flatnonzero(away <= np.partition(away, k - 1)[k - 1]) if k < len(away) else np.arange(len(away))
    least = away[: 32 * width].reshape(32, width).min(axis=0)
    return np.flatnonzero(away <= np.partition(least, k - 1)[k - 1])
