"""Descriptions of rows that are alone on a few columns, and how many people each of them fits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from ...core.column import IntArray
from ...core.counts import pack
from ...core.cover import BoolArray, Domain
from ...core.noun import dataclass
from ...core.outcome import Rate
from ...core.runs import spread
from ...mining.rows import Frame
from .space import Space
from .targets import BLOCK

Numbers = Literal["beyond", "equal"]
ROUNDS = 500
"""Rows that are looked for in a group, the most extreme first."""


@dataclass(frozen=True, eq=False)
class DistinctTuples:
    """The distinct tuples over some columns, the code of each in every column, and its rows."""

    codes: tuple[IntArray, ...]
    n: IntArray

    @classmethod
    def of(cls, frame: Frame, names: Sequence[str]) -> DistinctTuples:
        """The tuples of the rows of a frame."""
        codes, sizes = [frame.codes[n] for n in names], [len(frame.columns[n]) for n in names]
        key = frame.key(names)
        room = np.prod(np.array(sizes, dtype=np.float64))
        if room >= 2**62:  # the key holds ranks
            _, first, n = np.unique(key, return_index=True, return_counts=True)
            return cls(tuple(code[first] for code in codes), n)
        if room <= BLOCK:
            every = np.bincount(key, minlength=1)
            key = np.flatnonzero(every)
            n = every[key]
        else:
            key, n = np.unique(key, return_counts=True)
        columns = []
        for size in reversed(sizes):
            columns.append(key % size)
            key = key // size
        return cls(tuple(columns[::-1]), n)


class Descriptions:
    """Descriptions of rows of a frame that are alone there."""

    def __init__(
        self,
        space: Space,
        frame: Frame,
        sets: Sequence[tuple[str, ...]],
        numbers: Numbers,
        most: int,
        rng: np.random.Generator,
    ) -> None:
        self.space, self.frame = space, frame
        self.middle: dict[str, float] = {}
        for name in {name for names in sets for name in names}:
            values = frame.columns[name].numbers
            if numbers == "beyond" and values is not None and space.original.columns[name].numbers is not None:
                every = values[frame.codes[name]]
                self.middle[name] = float(np.median(every[~np.isnan(every)]))
        supplied, supply = [], np.zeros(len(sets), dtype=np.int64)
        for i, names in enumerate(sets):
            codes = self._alone(names)
            supply[i] = len(codes[0])
            some = rng.permutation(supply[i])[:most]  # no more can be taken of one set
            supplied.append([code[some] for code in codes])
        self.alone = int(supply.sum())
        self.parts: list[tuple[tuple[str, ...], list[IntArray]]] = []
        for names, codes, many in zip(sets, supplied, _dealt(supply, most, rng), strict=True):
            if many:
                self.parts.append((names, [code[:many] for code in codes]))

    def __len__(self) -> int:
        return sum(len(codes[0]) for _, codes in self.parts)

    def _alone(self, names: tuple[str, ...]) -> list[IntArray]:
        """The tuples over columns whose description fits one row of the frame."""
        tuples = DistinctTuples.of(self.frame, names)
        sided = [i for i, name in enumerate(names) if name in self.middle]
        alone = tuples.n == 1
        if sided:
            group = [code for i, code in enumerate(tuples.codes) if i not in sided]
            sizes = [len(self.frame.columns[names[i]]) for i in range(len(names)) if i not in sided]
            far = np.zeros((len(tuples.n), len(sided)), dtype=np.int64)
            for j, i in enumerate(sided):
                values = self.frame.columns[names[i]].numbers
                assert values is not None
                rank = np.unique(values, return_inverse=True)[1]
                # above the middle, at most it, missing: rows of different sides do not fit each other's descriptions
                side = np.where(np.isnan(values), 2, (values > self.middle[names[i]]).astype(np.int64))
                group.append(side[tuples.codes[i]])
                sizes.append(3)
                far[:, j] = (rank * np.array([-1, 1, 0])[side])[tuples.codes[i]]
            alone &= _beyond(pack(group, sizes, len(tuples.n)), far)
        return [code[alone] for code in tuples.codes]

    def rate(self, people: Frame) -> Rate:
        """The share of descriptions that fit exactly one of these people."""
        if not self.parts:
            return Rate(0.0, 0.0, 0.0, 0)
        return Rate.of(float(sum((self.fits(people, *part) == 1).sum() for part in self.parts)), len(self))

    def fits(self, people: Frame, names: tuple[str, ...], codes: Sequence[IntArray]) -> IntArray:
        """How many people each description over some columns fits."""
        tuples = DistinctTuples.of(people, names)
        terms = []
        for name, code in zip(names, codes, strict=True):
            used, at = np.unique(code, return_inverse=True)
            terms.append((np.stack([self._mask(people, name, int(c)) for c in used]), at))
        # by the column that leaves fewest, and then the others
        many = [
            np.bincount(code, minlength=len(people.columns[n])) for n, code in zip(names, tuples.codes, strict=True)
        ]
        left = [
            np.array([n[mask].sum() for mask in masks])[at].sum() for (masks, at), n in zip(terms, many, strict=True)
        ]
        lead = int(np.argmin(left))
        inside = np.argsort(tuples.codes[lead], kind="stable")
        start = np.concatenate([[0], np.cumsum(many[lead])])
        rows = np.zeros(len(codes[0]), dtype=np.int64)
        step = max(1, BLOCK // (4 * len(tuples.n)))
        for begin in range(0, len(rows), step):
            masks, at = terms[lead]
            which, value = np.nonzero(masks[at[begin : begin + step]])
            place, run = spread(start[value], start[value] + many[lead][value])
            which, where = which[run], inside[place]
            for i, (masks, at) in enumerate(terms):
                if i != lead:
                    kept = masks[at[begin + which], tuples.codes[i][where]]
                    which, where = which[kept], where[kept]
            counted = np.bincount(which, weights=tuples.n[where], minlength=min(step, len(rows) - begin))
            rows[begin : begin + step] = np.rint(counted).astype(np.int64)
        return rows

    def _mask(self, people: Frame, name: str, code: int) -> BoolArray:
        """The values of people that one value in a description fits."""
        column, labels = people.columns[name], self.frame.columns[name]
        value = labels.numbers[code] if name in self.middle and labels.numbers is not None else np.nan
        if column.numbers is not None and not np.isnan(value):
            return column.numbers >= value if value > self.middle[name] else column.numbers <= value

        return Domain(column, self.space.taxonomy(name)).mask(labels.texts[code])


def _beyond(group: IntArray, far: IntArray) -> BoolArray:
    """The tuples that no other of their group equals or exceeds everywhere, in at most so many rounds.

    In each round the farthest tuple of every group is found to be one, and those that it exceeds are left out.
    """
    group = np.unique(group, return_inverse=True)[1]
    total, outer, left = far.sum(axis=1), np.zeros(len(group), dtype=bool), np.arange(len(group))
    pivot = np.zeros(int(group.max(initial=0)) + 1, dtype=np.int64)
    for _ in range(ROUNDS):
        if not len(left):
            break
        most = np.full(len(pivot), total.min())
        np.maximum.at(most, group[left], total[left])
        top = left[total[left] == most[group[left]]]
        pivot[group[top]] = top
        best = pivot[group[left]]
        outer[best] = True
        left = left[(far[left] > far[best]).any(axis=1)]
    return outer


def _dealt(supply: IntArray, most: int, rng: np.random.Generator) -> IntArray:
    """How many to take of each, so many in all: equally many where there are enough."""
    take = np.zeros_like(supply)
    while (left := most - int(take.sum())) > 0 and (open_ := np.flatnonzero(take < supply)).size:
        if left < len(open_):
            open_ = rng.permutation(open_)[:left]
        take[open_] = np.minimum(supply[open_], take[open_] + max(left // len(open_), 1))
    return take
