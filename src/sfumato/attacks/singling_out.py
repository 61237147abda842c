"""Singling out (WP29, Opinion 05/2014; Giomi et al. 2023): does the release let an adversary describe just one person?

The adversary takes a released row that is the only one of its kind on a few columns, and describes it: "aged 84 or more, a farmer, in
this town". The attack works if that fits exactly one person of the original. For a generalized value the description is what it
covers; for a number in a column of numbers, that number and what lies beyond it, seen from the median.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import comb
from typing import Literal

import numpy as np

from ..core.attack import attack
from ..core.column import IntArray
from ..core.counts import pack
from ..core.cover import BoolArray, Domain
from ..core.errors import InputError, Unavailable
from ..core.noun import dataclass
from ..core.outcome import Outcome, Rate
from ..core.parameter import ATTEMPTS, Choice, Number
from ..core.release import Evidence, Release
from ..core.roles import Roles
from ..core.table import Table
from ..core.words import counted, percent
from ..mining.rows import Frame
from ._runs import spread
from ._space import Space, draw
from ._targets import BLOCK

Numbers = Literal["beyond", "equal"]
SETS = 200
"""Sets of columns that are looked at; of more, so many are drawn, and fewer where there are many rows."""
WORK = 50_000_000
"""Rows that are gone through for that, but for 20 sets at least."""
ROUNDS = 500
"""Rows that are looked for in a group, the most extreme first."""


def _sentence(value: float) -> str:
    if value <= 0:
        return (
            "No description that was tried, by a few columns of a released row that is alone, fits exactly one person."
        )
    return (
        f"Whoever describes released rows that are alone on a few columns describes exactly one person in {percent(value)} of the "
        "attempts that were made."
    )


@attack(
    title="singling out",
    question="How often does a description of a released row that is alone on a few columns fit exactly one person?",
    how="A released row that is alone on a few columns is described by them. The test works where the description fits exactly one "
    "person of the original.",
    knows="the release, and nothing of any person",
    effort="reading the release: rows that are alone on a few columns are described by them",
    source="Article 29 Working Party 2014, Opinion 05/2014; Giomi, Boenisch, Wehmeyer, Tasnadi 2023",
    sentence=_sentence,
    misleads="It says how often a description works, not how many people can be described: that few released rows are alone is not in it. "
    "Rare combinations can be guessed from the frequencies of each column: look at the baseline in the details.",
    needs=frozenset({"original"}),
    unit="share of descriptions",
    parameters={
        "knows": "The columns that descriptions may use; all unless named.",
        "size": "How many columns a description uses.",
        "numbers": "beyond: a number is described by at least or at most; equal: by the number itself.",
    },
    wp29=(1, "Is it still possible to single out an individual?"),
)
def singling_out(
    release: Release,
    roles: Roles,
    *,
    knows: Sequence[str] | None = None,
    size: int = 3,
    numbers: Numbers = "beyond",
    attacks: int = 2000,
    control: Table | None = None,
    seed: int = 0,
) -> Outcome:
    """Descriptions of `size` columns of released rows that are alone in the release; the share that fits one person.

    `numbers`: in a column released as numbers, `beyond` describes by "at least" above the median and "at most" below, as in the paper;
    `equal` by the number itself. A row is alone if its description fits no other released row. The baseline makes up a table by drawing
    each column of the original for itself and does the same with it: one who knows the frequencies of every column, but no row. The
    control counts descriptions that fit exactly one person outside the release, among at most as many people as the original has; give
    as many. Extremes: 1 for a release as it is; nothing is described, and the rate is 0, if no row is alone on any columns.
    """
    if size < 1 or attacks < 1:
        raise InputError("Describe people by at least one column, at least once.")
    if numbers not in ("beyond", "equal"):
        raise InputError("Numbers are described as beyond or equal.")
    space = Space.of(release, roles, control, seed=seed)
    if space.sampled:
        raise Unavailable(
            f"{release.table.name} or its original has more rows than are held in memory, and who is alone cannot be told from some "
            "of them; attack a part of the people."
        )
    named = space.columns(knows, "singling out")
    size = min(size, len(named))
    rng = np.random.default_rng([seed, 3])
    sets = _sets(named, size, len(space.released), rng)
    made = _Described(space, space.released, sets, numbers, attacks, rng)
    blind = _Described(space, _shuffled(space.original, named, rng), sets, numbers, attacks, rng)
    outside = None
    if space.control is not None:
        others = space.control.take(draw(len(space.control), len(space.original), seed))
        outside = made.rate(others)
    success = made.rate(space.original)
    fell = round(success.value * success.people)
    told = (
        f"Of {counted(len(made), 'description')} by {counted(size, 'column')}, taken from released rows that are alone, "
        f"{fell:,} {'fits' if fell == 1 else 'fit'} exactly one person."
        if len(made)
        else f"No released row is alone on {counted(size, 'column')}, so there is nobody to describe."
    )
    return Outcome(
        attacked=len(made),
        fell=fell,
        success=success,
        baseline=blind.rate(space.original),
        control=outside,
        exactness="estimate",
        sentence=told,
        details={
            "columns": list(named),
            "size": size,
            "numbers": numbers,
            "attacks": attacks,
            "column_sets": len(sets),
            "alone": made.alone,
            "seed": seed,
        },
    )


@singling_out.metric(
    title="singling out",
    family="Who can be found with other tables",
    noise=True,
    parameters={
        "size": Number(None, low=1, high=50, whole=True),
        "numbers": Choice(("beyond", "equal"), "beyond"),
        "attacks": ATTEMPTS,
    },
)
def singling_out_risk(evidence: Evidence, column: str | None, *, size: int, numbers: Numbers, attacks: int) -> Outcome:
    """`descriptions by size columns that fit exactly one person / descriptions`, of released rows that are alone on these columns.

    `beyond`: numbers are described by "at least" above the median and "at most" below; `equal`: by the number itself.
    Extremes: 1 if the rows are released as they are; 0 if no released row is alone on so many columns.
    """
    return singling_out(evidence.release, evidence.roles, size=size, numbers=numbers, attacks=attacks)


def _sets(names: Sequence[str], size: int, rows: int, rng: np.random.Generator) -> list[tuple[str, ...]]:
    """All sets of so many columns, or some of them."""
    most = min(max(WORK // rows, 20), SETS)
    if comb(len(names), size) <= most:
        return list(combinations(names, size))
    found: dict[tuple[str, ...], None] = {}
    while len(found) < most:
        found[tuple(names[i] for i in np.sort(rng.permutation(len(names))[:size]))] = None
    return list(found)


def _shuffled(frame: Frame, names: Sequence[str], rng: np.random.Generator) -> Frame:
    """Rows that have nothing but the frequencies of each column."""
    codes = {name: frame.codes[name][rng.permutation(len(frame))] for name in names}
    return Frame({name: frame.columns[name] for name in names}, codes, len(frame))


@dataclass(frozen=True, eq=False)
class _Distinct:
    """The distinct tuples over some columns, the code of each in every column, and its rows."""

    codes: tuple[IntArray, ...]
    n: IntArray

    @classmethod
    def of(cls, frame: Frame, names: Sequence[str]) -> _Distinct:
        codes, sizes = [frame.codes[n] for n in names], [len(frame.columns[n]) for n in names]
        key = pack(codes, sizes, len(frame))
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
        found = []
        for size in reversed(sizes):
            found.append(key % size)
            key = key // size
        return cls(tuple(found[::-1]), n)


class _Described:
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
        found, supply = [], np.zeros(len(sets), dtype=np.int64)
        for i, names in enumerate(sets):
            codes = self._alone(names)
            supply[i] = len(codes[0])
            some = rng.permutation(supply[i])[:most]  # no more can be taken of one set
            found.append([code[some] for code in codes])
        self.alone = int(supply.sum())
        self.parts: list[tuple[tuple[str, ...], list[IntArray]]] = []
        for names, codes, many in zip(sets, found, _dealt(supply, most, rng), strict=True):
            if many:
                self.parts.append((names, [code[:many] for code in codes]))

    def __len__(self) -> int:
        return sum(len(codes[0]) for _, codes in self.parts)

    def _alone(self, names: tuple[str, ...]) -> list[IntArray]:
        """The tuples over columns whose description fits one row of the frame."""
        tuples = _Distinct.of(self.frame, names)
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
        tuples = _Distinct.of(people, names)
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
        found = np.zeros(len(codes[0]), dtype=np.int64)
        step = max(1, BLOCK // (4 * len(tuples.n)))
        for begin in range(0, len(found), step):
            masks, at = terms[lead]
            which, value = np.nonzero(masks[at[begin : begin + step]])
            place, run = spread(start[value], start[value] + many[lead][value])
            which, where = which[run], inside[place]
            for i, (masks, at) in enumerate(terms):
                if i != lead:
                    kept = masks[at[begin + which], tuples.codes[i][where]]
                    which, where = which[kept], where[kept]
            counted = np.bincount(which, weights=tuples.n[where], minlength=min(step, len(found) - begin))
            found[begin : begin + step] = np.rint(counted).astype(np.int64)
        return found

    def _mask(self, people: Frame, name: str, code: int) -> BoolArray:
        """The values of people that one value in a description fits."""
        column, labels = people.columns[name], self.frame.columns[name]
        value = labels.numbers[code] if name in self.middle and labels.numbers is not None else np.nan
        if column.numbers is not None and not np.isnan(value):
            fits: BoolArray = column.numbers >= value if value > self.middle[name] else column.numbers <= value
            return fits
        return Domain(column, self.space.taxonomy(name)).mask(labels.texts[code])


def _beyond(group: IntArray, far: IntArray) -> BoolArray:
    """The tuples that no other of their group equals or exceeds everywhere, in at most so many rounds.

    In each round the farthest tuple of every group is found to be one, and those that it exceeds are left out.
    """
    group = np.unique(group, return_inverse=True)[1]
    total, found, left = far.sum(axis=1), np.zeros(len(group), dtype=bool), np.arange(len(group))
    pivot = np.zeros(int(group.max(initial=0)) + 1, dtype=np.int64)
    for _ in range(ROUNDS):
        if not len(left):
            break
        most = np.full(len(pivot), total.min())
        np.maximum.at(most, group[left], total[left])
        top = left[total[left] == most[group[left]]]
        pivot[group[top]] = top
        best = pivot[group[left]]
        found[best] = True
        left = left[(far[left] > far[best]).any(axis=1)]
    return found


def _dealt(supply: IntArray, most: int, rng: np.random.Generator) -> IntArray:
    """How many to take of each, so many in all: equally many where there are enough."""
    take = np.zeros_like(supply)
    while (left := most - int(take.sum())) > 0 and (open_ := np.flatnonzero(take < supply)).size:
        if left < len(open_):
            open_ = rng.permutation(open_)[:left]
        take[open_] = np.minimum(supply[open_], take[open_] + max(left // len(open_), 1))
    return take
