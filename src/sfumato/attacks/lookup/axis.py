"""A column as an order in which released values are stretches: what each of them covers of the values that are known."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...core.column import Column, IntArray
from ...core.cover import BoolArray, Domain, edges
from ...core.hierarchy import TOP, Hierarchy
from ...core.noun import dataclass
from ...core.runs import spread
from ...core.value_sets import read_set


@dataclass(frozen=True, eq=False)
class Axis:
    """A column: the place of each known value in an order in which released values are stretches, and where each begins and ends."""

    place: IntArray
    low: IntArray
    high: IntArray
    size: int
    hole: IntArray
    """For each released value the line of `bits` that says which of its stretch it covers, -1 if it covers all of it."""
    bits: npt.NDArray[np.uint8]
    home: IntArray | None
    """Where no two released values overlap, the one that covers each place; -1 for none."""
    unread: int
    """Released values that could not be read, or that cover no value that is known."""

    @classmethod
    def of(cls, released: Column, known: Column, hierarchy: Hierarchy | None, *, literal: bool = False) -> Axis:
        """`literal`: a released value covers itself alone, as it is spelled."""
        domain = Domain(known, hierarchy)
        order = _order(known, hierarchy)
        rank = np.empty(len(known), dtype=np.int64)
        rank[order] = np.arange(len(known))
        label, start, end = _stretches(released, known, domain, rank, literal)
        # values between two neighbouring ends look alike to every released value
        cuts = np.unique(np.concatenate([start, end]))
        place, start, end = (np.searchsorted(cuts, x, side="right") for x in (rank, start, end))
        size, count = len(cuts) + 1, len(released)
        low, high = np.full(count, size, dtype=np.int64), np.zeros(count, dtype=np.int64)
        np.minimum.at(low, label, start)
        np.maximum.at(high, label, end)
        low = np.minimum(low, high)  # nothing is covered: an empty stretch
        runs = np.bincount(label, minlength=count)
        broken = np.flatnonzero(runs > 1)
        hole = np.full(count, -1, dtype=np.int64)
        hole[broken] = np.arange(len(broken))
        times = np.zeros(size + 1, dtype=np.int64)
        np.add.at(times, start, 1)
        np.add.at(times, end, -1)
        home = None
        if not len(times) or np.cumsum(times).max() <= 1:
            home = np.full(size, -1, dtype=np.int64)
            for part in (end - start == 1, end - start > 1):
                at, run = spread(start[part], end[part])
                home[at] = label[part][run]
        return cls(place, low, high, size, hole, _bits(hole, label, start, end, size), home, int((runs == 0).sum()))

    def covers(self, labels: IntArray, places: IntArray) -> BoolArray:
        """Whether released values cover places, one by one."""
        covering: BoolArray = (self.low[labels] <= places) & (places < self.high[labels])
        return self.refine(covering, labels, places)

    def refine(self, covering: BoolArray, labels: IntArray, places: IntArray) -> BoolArray:
        """Of places within the stretch of a released value those that it covers."""
        if len(self.bits):
            at = np.flatnonzero(covering & (self.hole[labels] >= 0))
            v = places[at]
            covering[at] = (self.bits[self.hole[labels[at]], v >> 3] >> (7 - (v & 7)).astype(np.uint8)) & 1 == 1
        return covering


def _order(known: Column, hierarchy: Hierarchy | None) -> IntArray:
    """The values in an order in which intervals and nodes are stretches; missing last."""
    if known.numbers is not None:
        return np.argsort(known.numbers, kind="stable")
    if hierarchy is None:
        return np.arange(len(known))
    codes = [np.append(level, len(hierarchy.index)) for level in hierarchy.codes()]
    line = np.array([hierarchy.index.get(text, -1) if text is not None else -1 for text in known.texts], dtype=np.int64)
    return np.lexsort([code[line] for code in codes])


def _stretches(
    released: Column, known: Column, domain: Domain, rank: IntArray, literal: bool
) -> tuple[IntArray, IntArray, IntArray]:
    """The stretches of ranks that each released value covers: value, first, one past the last."""
    index = {text: i for i, text in enumerate(known.texts)}
    label: list[int] = []
    start: list[int] = []
    end: list[int] = []
    plain = literal or domain.hierarchy is None
    for i, text in enumerate(released.texts):
        if plain and text in index and (literal or text is None or set(text) != {TOP}):
            at = int(rank[index[text]])
            label.append(i)
            start.append(at)
            end.append(at + 1)
            continue
        codes = None if literal else covered(domain, text)
        if codes is None or not len(codes):
            continue
        node = domain.hierarchy is not None and text in domain.hierarchy.leaves
        if (
            text is not None
            and known.numbers is not None
            and not node
            and edges(text) is not None
            and text not in index
        ):
            firsts, ends = [int(rank[codes[0]])], [int(rank[codes[-1]]) + 1]  # these come in the order of the numbers
        else:
            ranks = np.sort(rank[codes])
            gaps = np.flatnonzero(np.diff(ranks) > 1)
            firsts = [int(ranks[0]), *ranks[gaps + 1].tolist()]
            ends = [*(ranks[gaps] + 1).tolist(), int(ranks[-1]) + 1]
        label += [i] * len(firsts)
        start += firsts
        end += ends
    return np.array(label, dtype=np.int64), np.array(start, dtype=np.int64), np.array(end, dtype=np.int64)


def covered(domain: Domain, text: str | None) -> IntArray | None:
    """The codes that a released value covers; None if it cannot be read. A member of a set need not be among the known values."""
    codes = domain.covered(text)
    if codes is None and text is not None and text[:1] + text[-1:] == "{}":
        members = [inside for member in read_set(text) if (inside := domain.covered(member or None)) is not None]
        return np.unique(np.concatenate(members)) if members else None
    return codes


def _bits(hole: IntArray, label: IntArray, start: IntArray, end: IntArray, size: int) -> npt.NDArray[np.uint8]:
    lines = int(hole.max(initial=-1)) + 1
    packed = np.zeros((lines, (size + 7) // 8), dtype=np.uint8)
    some = hole[label] >= 0
    line, start, end = hole[label[some]], start[some], end[some]
    order = np.argsort(line, kind="stable")
    line, start, end = line[order], start[order], end[order]
    step = max(1, 100_000_000 // (size + 1))
    for first in range(0, lines, step):
        last = min(first + step, lines)
        a, b = np.searchsorted(line, [first, last])
        flags = np.zeros((last - first, size + 1), dtype=np.int8)
        np.add.at(flags, (line[a:b] - first, start[a:b]), 1)
        np.add.at(flags, (line[a:b] - first, end[a:b]), -1)
        packed[first:last] = np.packbits(np.cumsum(flags, axis=1, dtype=np.int8)[:, :size] > 0, axis=1)
    return packed
