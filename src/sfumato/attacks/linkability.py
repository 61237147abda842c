"""Linkability (WP29, Opinion 05/2014; Giomi et al. 2023): can two sources about a person be joined through the release?

One source knows some columns of everybody, another one other columns, and nothing says who is who. The adversary looks up the nearest
released rows for each half; if the two halves share one, they are taken for one person.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from ..core.attack import attack
from ..core.column import FloatArray
from ..core.errors import InputError, Unavailable
from ..core.noun import dataclass
from ..core.outcome import AttackDetails, Outcome, Rate
from ..core.parameter import ATTEMPTS, Number, Words
from ..core.release import Evidence, Release
from ..core.roles import Roles
from ..core.runs import spread
from ..core.table import Table
from ..core.words import counted, from_zero, percent
from ..mining.rows import Frame
from .lookup.space import Space
from .lookup.targets import NearRows


@dataclass(frozen=True, kw_only=True)
class LinkedHalves(AttackDetails):
    """The two halves of what is known, and how they were linked."""

    first: Sequence[str]
    second: Sequence[str]
    neighbours: int
    attacks: int
    seed: int
    sampled: bool


@attack(
    title="linkability",
    question="For how many people can two sources that know different columns be joined through the release?",
    how="One source knows some columns of people, another source others. The test works where the two halves of a person meet in "
    "one released row.",
    knows="some columns of people from one source and others from another, and that both are about people in the release",
    effort="looking up the nearest released rows for each half",
    source="Article 29 Working Party 2014, Opinion 05/2014; Giomi, Boenisch, Wehmeyer, Tasnadi 2023",
    sentence=from_zero(
        "For nobody tested do two sources that know different columns meet in one released row.",
        "For {} of the people tested (by chance where rows are equally near), two sources that know different columns meet in "
        "one released row, so an adversary who has both can join them.",
    ),
    misleads="It depends on the columns that each source is assumed to know. Two halves that follow from each other meet through no fault of "
    "the release; the attack can compare with people who are not in it.",
    needs=frozenset({"original"}),
    parameters={
        "first": "The columns that one source knows; the quasi-identifiers are dealt out to the two unless both are named.",
        "second": "The columns that the other source knows.",
        "neighbours": "How many of the nearest released rows are looked at for each half.",
    },
    wp29=(2, "Is it still possible to link records relating to an individual?"),
)
def linkability(
    release: Release,
    roles: Roles,
    *,
    first: Sequence[str] | None = None,
    second: Sequence[str] | None = None,
    neighbours: int = 1,
    attacks: int = 2000,
    control: Table | None = None,
    seed: int = 0,
) -> Outcome:
    """The share of people whose two halves have one of their `neighbours` nearest released rows in common.

    Of rows equally near the adversary draws for each half, and the chance that the two draws meet is counted: a class of k rows that fits
    both halves links them with 1/k. The baseline draws among all rows for both halves: `1 - C(n - m, m) / C(n, m)` for m neighbours and n
    rows, 1/n for one. The control are people who are not in the release. Extremes: 1 for a release of distinct rows as they are, if each
    half tells all apart; the baseline if one half is suppressed throughout.
    """
    if not first and not second:
        first, second = halves(roles, release.evidence(roles).original("linkability"), release.table.columns)
    if not first or not second:
        raise InputError("linkability asks of two sources; name the columns of both, as first and second.")
    space = Space.of(release, roles, control, seed=seed)
    one, two = space.columns(first, "linkability"), space.columns(second, "linkability")
    if set(one) & set(two):
        raise InputError(
            f"Column {sorted(set(one) & set(two))[0]!r} is in both sources; linkability asks of different columns."
        )
    if neighbours < 1 or attacks < 1:
        raise InputError("Look at one neighbour at least, and attack one person at least.")
    rows = len(space.released)
    near = min(neighbours, rows)
    hits = _linked(space, space.original, one, two, near, attacks, seed)
    outside = None
    if space.control is not None:
        others = _linked(space, space.control, one, two, near, attacks, seed)
        outside = Rate.of(float(others.sum()), len(others))
    fell = float(hits.sum())
    chance = 1.0 - float(np.prod(1 - near / np.arange(rows - near + 1, rows + 1))) if near > 1 else 1 / rows
    return Outcome(
        knew=f"{', '.join(one)} of everybody from one source, {', '.join(two)} from another, and the release",
        attacked=len(hits),
        fell=fell,
        success=Rate.of(fell, len(hits)),
        baseline=Rate(chance, chance, chance, len(hits)),  # by counting, so there is nothing to estimate
        control=outside,
        exactness="estimate",
        sentence=f"For {percent(fell / len(hits))} of {counted(len(hits), 'person', 'people')} the two sources meet in one released row.",
        details=LinkedHalves(
            first=list(one),
            second=list(two),
            neighbours=near,
            attacks=attacks,
            seed=seed,
            sampled=space.sampled,
        ),
    )


@linkability.metric(
    title="linkability",
    family="Who can be found with other tables",
    noise=True,
    parameters={
        "first": Words(None),
        "second": Words(None),
        "neighbours": Number(1, low=1, high=1000, whole=True),
        "attacks": ATTEMPTS,
    },
)
def linkability_risk(
    evidence: Evidence,
    column: str | None,
    *,
    first: frozenset[str],
    second: frozenset[str],
    neighbours: int,
    attacks: int,
) -> Outcome:
    """`people whose nearest released rows by first and by second have one in common / people`; of rows equally near, by their chance.

    Extremes: 1 if distinct rows are released as they are and each half tells all apart; 1/rows if one half is suppressed throughout.
    """
    return linkability(
        evidence.release,
        evidence.roles,
        first=sorted(first),
        second=sorted(second),
        neighbours=neighbours,
        attacks=attacks,
    )


def halves(roles: Roles, original: Table, released: Collection[str]) -> tuple[list[str], list[str]]:
    """Two sources that know about as much: the quasi-identifiers by number of values, dealt out in turns."""
    names = [name for name in roles.quasi if name in released]
    if len(names) < 2:
        names += [name for name in (*roles.sensitive, *roles.insensitive) if name in released]
    if len(names) < 2:
        raise Unavailable("Linkability asks of two sources with different columns, and the release has one column.")
    many = {name: len(original.count((name,))) for name in names}
    order = sorted(names, key=lambda name: (-many[name], names.index(name)))
    one = {name for i, name in enumerate(order) if i % 4 in (0, 3)}
    return [name for name in names if name in one], [name for name in names if name not in one]


def _linked(
    space: Space, people: Frame, one: Sequence[str], two: Sequence[str], near: int, attacks: int, seed: int
) -> FloatArray:
    """For each target the chance that the two halves meet."""
    targets = space.targets(people, (*one, *two), attacks, seed)
    halves = [_Half(space, names, (*one, *two)) for names in (one, two)]
    logs = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, len(space.released) + 1)))]) if near > 1 else None
    chance = np.zeros(len(targets))
    for rows in targets.blocks(len(space.tuples((*one, *two)))):
        near_by = [targets.nearest(rows, half.names, near) for half in halves]
        drawn = [half.counted(these, near, len(rows)) for half, these in zip(halves, near_by, strict=True)]
        tied, left = [equal for equal, _ in drawn], [wanted for _, wanted in drawn]
        meet = _meet(halves, near_by, len(rows))
        both = meet[:, 1, 1]
        if logs is None:
            chance[rows] = both / (tied[0] * tied[1])
        else:
            apart = _apart(logs, near, tied, left, (meet[:, 1, 0], meet[:, 0, 1]), both)
            chance[rows] = np.where(meet[:, 0, 0] > 0, 1.0, 1.0 - apart)
    return np.clip(chance, 0.0, 1.0)


class _Half:
    """One of the two sources: the released tuples over its columns, and the tuples over all columns that each holds."""

    def __init__(self, space: Space, names: Sequence[str], every: Sequence[str]) -> None:
        self.names = names
        tuples, whole = space.tuples(names), space.tuples(every)
        self.n = tuples.n
        self.member = tuples.member[whole.first]
        self.inside = np.argsort(self.member, kind="stable")
        self.start = np.searchsorted(self.member[self.inside], np.arange(len(tuples) + 1))
        self.whole = whole.n

    def counted(self, near_by: NearRows, near: int, size: int) -> tuple[FloatArray, FloatArray]:
        """For each target the rows that are equally near, and how many of them are still to be drawn."""
        key = near_by.target * 2 + near_by.tied
        counted = np.bincount(key, weights=self.n[near_by.tuple], minlength=2 * size)
        rows: FloatArray = counted.astype(np.float64).reshape(size, 2)
        return rows[:, 1], near - rows[:, 0]


def _meet(halves: Sequence[_Half], near_by: Sequence[NearRows], size: int) -> FloatArray:
    """For each target the rows that are near both halves, by whether they are sure (0) or tied (1) for each: `[target, first, second]`."""
    lengths = [
        half.start[these.tuple + 1] - half.start[these.tuple] for half, these in zip(halves, near_by, strict=True)
    ]
    turn = int(lengths[1].sum() < lengths[0].sum())  # the half that holds fewer is gone through
    (half, other), (these, those) = (halves[turn], halves[1 - turn]), (near_by[turn], near_by[1 - turn])
    at, run = spread(half.start[these.tuple], half.start[these.tuple + 1])
    row, target = half.inside[at], these.target[run]
    key = those.target * len(other.n) + those.tuple
    wanted = target * len(other.n) + other.member[row]
    place = np.minimum(np.searchsorted(key, wanted), len(key) - 1)
    hit = key[place] == wanted
    kinds = [these.tied[run][hit].astype(np.int64), those.tied[place[hit]].astype(np.int64)]
    kind = 2 * kinds[turn] + kinds[1 - turn]
    counted = np.bincount(target[hit] * 4 + kind, weights=half.whole[row[hit]], minlength=4 * size)
    return counted.astype(np.float64).reshape(size, 2, 2)


def _apart(
    logs: FloatArray,
    near: int,
    tied: Sequence[FloatArray],
    left: Sequence[FloatArray],
    sure: tuple[FloatArray, FloatArray],
    both: FloatArray,
) -> FloatArray:
    """The chance that two draws do not meet: `left` of the `tied` rows each, of which `both` are the same rows.

    Of the first half's tied rows `sure[0]` are surely among the second's, and the other way round. The first draw avoids these and has j
    of the rows in both with a hypergeometric chance; then the second avoids its own `sure[1]` and those j.
    """

    def ways(n: FloatArray, k: FloatArray | int) -> FloatArray:
        possible = (n >= k) & (np.asarray(k) >= 0)
        n, k = np.where(possible, n, 0).astype(np.int64), np.where(possible, k, 0).astype(np.int64)
        return np.where(possible, logs[n] - logs[k] - logs[n - k], -np.inf)

    apart = np.zeros(len(both))
    for j in range(near + 1):
        first = ways(both, j) + ways(tied[0] - sure[0] - both, left[0] - j) - ways(tied[0], left[0])
        second = ways(tied[1] - sure[1] - j, left[1]) - ways(tied[1], left[1])
        apart += np.exp(first + second)
    return apart
