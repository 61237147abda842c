"""Singling out (WP29, Opinion 05/2014; Giomi et al. 2023): does the release let an adversary describe just one person?

The adversary takes a released row that is the only one of its kind on a few columns, and describes it: "aged 84 or more, a farmer, in
this town". The attack works if that fits exactly one person of the original. For a generalized value the description is what it
covers; for a number in a column of numbers, that number and what lies beyond it, seen from the median.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import comb

import numpy as np

from ..core.attack import attack
from ..core.errors import InputError, Unavailable
from ..core.noun import dataclass
from ..core.outcome import AttackDetails, Outcome
from ..core.parameter import ATTEMPTS, Choice, Number
from ..core.release import Evidence, Release
from ..core.roles import Roles
from ..core.table import Table
from ..core.words import counted, from_zero
from ..mining.rows import Frame
from .lookup.descriptions import Descriptions, Numbers
from .lookup.space import Space, draw

SETS = 200
"""Sets of columns that are looked at; of more, so many are drawn, and fewer where there are many rows."""
WORK = 50_000_000
"""Rows that are gone through for that, but for 20 sets at least."""


@dataclass(frozen=True, kw_only=True)
class TriedDescriptions(AttackDetails):
    """What was described, and by what."""

    columns: Sequence[str]
    size: int
    numbers: Numbers
    attacks: int
    column_sets: int
    alone: int
    """Released rows that a description fits alone."""
    seed: int


@attack(
    title="singling out",
    question="How often does a description of a released row that is alone on a few columns fit exactly one person?",
    how="A released row that is alone on a few columns is described by them. The test works where the description fits exactly one "
    "person of the original.",
    knows="the release, and nothing of any person",
    effort="reading the release: rows that are alone on a few columns are described by them",
    source="Article 29 Working Party 2014, Opinion 05/2014; Giomi, Boenisch, Wehmeyer, Tasnadi 2023",
    sentence=from_zero(
        "No description tested, by a few columns of a released row that is alone, fits exactly one person.",
        "A description by a few columns of a released row that is alone fits exactly one person in {} of the attempts.",
    ),
    misleads="It says how often a description works, not how many people can be described: there may be few released rows that are alone. "
    "An adversary can guess rare combinations from the frequencies of each column; see the baseline in the details.",
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
    made = Descriptions(space, space.released, sets, numbers, attacks, rng)
    blind = Descriptions(space, _shuffled(space.original, named, rng), sets, numbers, attacks, rng)
    outside = None
    if space.control is not None:
        others = space.control.take(draw(len(space.control), len(space.original), seed))
        outside = made.rate(others)
    success = made.rate(space.original)
    fell = round(success.value * success.people)
    sentence = (
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
        sentence=sentence,
        details=TriedDescriptions(
            columns=list(named),
            size=size,
            numbers=numbers,
            attacks=attacks,
            column_sets=len(sets),
            alone=made.alone,
            seed=seed,
        ),
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
    sets: dict[tuple[str, ...], None] = {}
    while len(sets) < most:
        sets[tuple(names[i] for i in np.sort(rng.permutation(len(names))[:size]))] = None
    return list(sets)


def _shuffled(frame: Frame, names: Sequence[str], rng: np.random.Generator) -> Frame:
    """Rows that have nothing but the frequencies of each column."""
    codes = {name: frame.codes[name][rng.permutation(len(frame))] for name in names}
    return Frame({name: frame.columns[name] for name in names}, codes, len(frame))
