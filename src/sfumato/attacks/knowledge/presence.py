"""How likely people of a population are in a release: all ways to give released rows, or people, somebody whom they cover."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from ...core.column import FloatArray, IntArray
from ...core.counts import Counts, exact, pack
from ...core.noun import dataclass
from ...core.release import Evidence
from ...core.runs import distinct, held, parts, spread
from ...core.table import Table
from ..lookup.external import grouped
from ..lookup.match import Match

_BLOCK = 4_000_000
Pairs = tuple[IntArray, IntArray]


@dataclass(frozen=True, eq=False)
class Presence:
    """For each entry of the population, how likely somebody who has it is in the release: between `low` and `high`.

    An entry is a distinct tuple and `n` the people who have it; where people have several rows, an entry is a row of theirs, all rows
    of a person say the same, and the first counts for them.
    """

    people: Counts
    n: IntArray
    low: FloatArray
    high: FloatArray
    blind: FloatArray
    """The same from one who only knows how many were released."""
    several: int
    """People whom more than one class covers."""
    short: int
    """Classes that hold more people than they cover of the population: it lacks some of the release."""
    rows: int
    """What was released: rows, or people where the release tells whose rows they are."""

    @property
    def exact(self) -> bool:
        """Whether both ends are the same for everybody."""
        return bool((self.high - self.low <= 1e-12).all())


def by_tuple(evidence: Evidence, table: Table) -> Presence:
    """One row a person: who has the same tuple is as likely in."""
    quasi = evidence.tuples.names
    people = table.count(quasi)
    match = Match.of(evidence.tuples, people, [evidence.roles.taxonomy(name) for name in quasi])
    at_point = exact(np.bincount(match.look, weights=people.n, minlength=match.points))
    ways = _Ways.of(evidence.classes().size, match.pairs, at_point)
    one = np.ones(len(ways.size), dtype=np.int64)
    least, most = ways.least(one), ways.most(one)
    low, high = np.zeros(match.points), np.zeros(match.points)
    for point, box in match.pairs():
        np.maximum.at(low, point, least[box])
        high += np.bincount(point, weights=most[box], minlength=match.points)
    rows = int(ways.size.sum())
    return Presence(
        people,
        people.n,
        low[match.look],
        np.minimum(high, 1.0)[match.look],
        np.full(len(people), min(rows / max(people.rows, 1), 1.0)),
        int(at_point[ways.times > 1].sum()),
        int((ways.covers < ways.size).sum()),
        rows,
    )


def by_person(evidence: Evidence, table: Table, person: str, *, named: bool, carried: bool) -> Presence:
    """Several rows a person: `named`, the population tells whose its rows are; `carried`, the release does."""
    quasi = evidence.tuples.names
    people = table.count((person, *quasi) if named else quasi)
    tuples, member = grouped(people.columns[-len(quasi) :], people.codes[-len(quasi) :], people.n)
    match = Match.of(evidence.tuples, tuples, [evidence.roles.taxonomy(name) for name in quasi])
    point = match.look[member]
    pairs = [np.concatenate([np.zeros(0, dtype=np.int64), *side]) for side in zip(*match.pairs(), strict=True)]
    by_point = (pairs[0], pairs[1]) if pairs else (point[:0], point[:0])
    who, n = _owners(people, named)
    weight = exact(np.bincount(who, weights=n)) if len(who) else n
    size = evidence.classes().size
    if carried:  # each released person is somebody who has a row for each of theirs
        owner, box = _of_people(by_point, point, who, len(size))
        size, signature = _signatures(evidence, person)
        owner, box = _all_of((owner, box), signature, len(size))
        ways, rows = _Ways.of(size, lambda: iter([(owner, box)]), weight), np.ones(len(owner), dtype=np.int64)
        released, every, own = int(size.sum()), int(weight.sum()), np.ones(len(weight), dtype=np.int64)
    else:  # each released row is a row of somebody
        at_point = exact(np.bincount(point, weights=people.n, minlength=match.points))
        ways = _Ways.of(size, lambda: iter([by_point]), at_point)
        own = exact(np.bincount(who, weights=people.n / np.maximum(weight[who], 1)))
        at, pair = spread(*_at_points(by_point, point))
        order = np.argsort(point, kind="stable")
        key = who[order[at]] * len(size) + by_point[1][pair]
        each = (people.n // np.maximum(weight[who], 1))[order[at]]
        distinct, where = np.unique(key, return_inverse=True)
        rows = exact(np.bincount(where, weights=each)) if len(key) else distinct
        owner, box = np.divmod(distinct, max(len(size), 1))
        released, every = int(size.sum()), people.rows
    low, high = ways.between(owner, box, rows, len(weight))
    times = np.bincount(owner, minlength=len(weight))
    blind = _hit(np.full(len(own), min(released, every)), np.full(len(own), every), own)
    return Presence(
        people,
        n,
        low[who],
        high[who],
        blind[who],
        int(weight[times > 1].sum()),
        int((ways.covers < ways.size).sum()),
        released,
    )


def _owners(people: Counts, named: bool) -> tuple[IntArray, IntArray]:
    """Whose each entry is, and how many people it counts for; rows without a person are somebody's each."""
    if not named:
        return np.arange(len(people)), people.n
    code, column = people.codes[0].copy(), people.columns[0]
    missing = code >= len(column.values)
    code[missing] = len(column) + np.arange(int(missing.sum()))
    _, first, who = np.unique(code, return_index=True, return_inverse=True)
    n = np.where(missing, people.n, 0)
    n[first] = np.where(missing[first], people.n[first], 1)
    return who.astype(np.int64), n


def _at_points(by_point: Pairs, point: IntArray) -> tuple[IntArray, IntArray]:
    """For each pair where the entries of its point begin and end, by point."""
    there = np.sort(point)
    return np.searchsorted(there, by_point[0], side="left"), np.searchsorted(there, by_point[0], side="right")


def _of_people(by_point: Pairs, point: IntArray, who: IntArray, boxes: int) -> Pairs:
    """Every person with every class that covers a row of theirs, once."""
    order = np.argsort(point, kind="stable")
    at, pair = spread(*_at_points(by_point, point))
    owner, box = np.divmod(distinct(who[order[at]] * max(boxes, 1) + by_point[1][pair]), max(boxes, 1))
    return owner, box


def _signatures(evidence: Evidence, person: str) -> tuple[IntArray, tuple[IntArray, IntArray]]:
    """Released people by the classes that their rows are in: how many have the same, and signature and class of each."""
    quasi = evidence.tuples.names
    counts = evidence.release.table.count((person, *quasi))
    _, box = grouped(counts.columns[1:], counts.codes[1:], counts.n)
    who, n = _owners(counts, True)
    order = np.lexsort((box, who))
    who, box = who[order], box[order]
    first = np.flatnonzero(np.diff(who, prepend=-1))
    length = np.diff(np.append(first, len(who)))
    weight = exact(np.bincount(who, weights=n[order])) if len(who) else n
    label = np.zeros(len(first), dtype=np.int64)
    for i in range(int(length.max(initial=0))):  # as often as somebody has classes
        there = np.flatnonzero(length > i)
        step = np.zeros(len(first), dtype=np.int64)
        step[there] = box[first[there] + i] + 1
        _, label = np.unique(
            pack([label, step], [len(first), len(evidence.tuples) + 1], len(first)), return_inverse=True
        )
    _, some = np.unique(label, return_index=True)
    at, signature = spread(first[some], first[some] + length[some])
    return exact(np.bincount(label, weights=weight)) if len(label) else label, (signature, box[at])


def _all_of(pairs: Pairs, signature: Pairs, signatures: int) -> Pairs:
    """Every person with every signature all of whose classes cover a row of theirs."""
    owner, box = pairs
    boxes = int(max(box.max(initial=0), signature[1].max(initial=0))) + 1
    key = distinct(owner * boxes + box)
    by_box = np.argsort(box, kind="stable")
    crowd = np.bincount(box, minlength=boxes)
    start = np.concatenate([[0], np.cumsum(crowd)])
    order = np.lexsort((crowd[signature[1]], signature[0]))  # the class that covers fewest people comes first
    number, wanted = signature[0][order], signature[1][order]
    first = np.searchsorted(number, np.arange(signatures))
    length = np.diff(np.append(first, len(number)))
    matched: list[Pairs] = [(owner[:0], owner[:0])]
    for part in parts(crowd[wanted[first]], _BLOCK):
        least = wanted[first[part]]
        at, which = spread(start[least], start[least + 1])
        who, which = owner[by_box[at]], which + part.start
        for i in range(1, int(length[part].max(initial=0))):
            more = np.flatnonzero(length[which] > i)
            fits = np.ones(len(which), dtype=bool)
            fits[more] = False
            fits[more[held(key, who[more] * boxes + wanted[first[which[more]] + i])[0]]] = True
            who, which = who[fits], which[fits]
        matched.append((who, which))
    return np.concatenate([who for who, _ in matched]), np.concatenate([which for _, which in matched])


@dataclass(frozen=True, eq=False)
class _Ways:
    """Classes, and whom they cover: what is given (people, or rows of theirs) is counted by `weight`."""

    size: IntArray
    covers: IntArray
    shared: IntArray
    """Of those whom a class covers, how many another one covers, too."""
    times: IntArray

    @classmethod
    def of(cls, size: IntArray, pairs: Callable[[], Iterator[Pairs]], weight: IntArray) -> _Ways:
        covers, shared = np.zeros(len(size), dtype=np.int64), np.zeros(len(size), dtype=np.int64)
        times = np.zeros(len(weight), dtype=np.int64)
        for unit, box in pairs():
            covers += exact(np.bincount(box, weights=weight[unit], minlength=len(size)))
            times += np.bincount(unit, minlength=len(weight))
        if (times > 1).any():
            for unit, box in pairs():
                twice = times[unit] > 1
                shared += exact(np.bincount(box[twice], weights=weight[unit[twice]], minlength=len(size)))
        return cls(size, covers, shared, times)

    def least(self, rows: IntArray, box: IntArray | slice = slice(None)) -> FloatArray:
        """The chance that a class is given one of so many rows that it covers, at least."""
        return _hit(self.size[box], np.maximum(self.covers, self.size)[box], rows)

    def most(self, rows: IntArray, box: IntArray | slice = slice(None)) -> FloatArray:
        """The same at most: other classes may have taken what is shared."""
        taken = np.minimum(self.shared, int(self.size.sum()) - self.size)
        return _hit(self.size[box], np.maximum(self.covers - taken, self.size)[box], rows)

    def between(self, owner: IntArray, box: IntArray, rows: IntArray, owners: int) -> tuple[FloatArray, FloatArray]:
        """Both ends for owners who have so many rows in classes; classes that share nobody decide each for itself."""
        low, high = self.least(rows, box), self.most(rows, box)
        alone = self.shared[box] == 0
        spared = np.ones(owners)
        np.multiply.at(spared, owner[alone], 1 - low[alone])
        best, total = np.zeros(owners), np.zeros(owners)
        np.maximum.at(best, owner[~alone], low[~alone])
        np.add.at(total, owner[~alone], high[~alone])
        return 1 - spared * (1 - best), 1 - spared * (1 - np.minimum(total, 1.0))


def _hit(drawn: IntArray, total: IntArray, own: IntArray) -> FloatArray:
    """The chance that one of `own` is among `drawn` of `total`: 1 - C(total - own, drawn)/C(total, drawn); drawn/total for one."""
    few, many = np.minimum(own, drawn), np.maximum(own, drawn)
    missed = np.ones(len(few))
    left = np.flatnonzero(few > 0)
    i = 0
    while len(left):
        below = np.maximum(total[left] - i, 1)
        missed[left] *= np.clip((below - many[left]) / below, 0.0, 1.0)
        i += 1
        left = left[(few[left] > i) & (missed[left] > 0)]
    return 1 - missed
