"""Linkage by cover: a person's candidates are the released rows, or people, that cover what is known of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ...core.column import Column, IntArray
from ...core.counts import Counts
from ...core.cover import BoolArray
from ...core.metric import Exactness
from ...core.noun import dataclass
from ...core.outcome import Rate
from ...core.release import Evidence
from ...core.roles import Roles
from ...core.runs import distinct, spread
from ...core.table import Table
from .external import External
from .match import Match
from .outsiders import outsiders


@dataclass(frozen=True, eq=False)
class Linked:
    """Of so many who were attacked, those who fell, by outcome; and people who are not in the release."""

    attacked: int
    fell: float
    kinds: Sequence[int]
    """How many were found without doubt (correct), among others (ambiguous), not found among those that fit (wrong), and fit by nobody."""
    control: Rate | None
    not_in_release: Mapping[str, int | str] | None
    """How people who are not in the release were linked, and where they come from."""
    candidates: Mapping[str, float] | None = None
    """How many released rows cover a person: the fewest, the median, the mean and the most."""
    unread_values: int | None = None
    sample: int | None = None
    found: Sequence[str | None] | None = None
    """Who was found without doubt, for the owner's eyes only."""
    exactness: Exactness = "exact"
    mistaken: int = 0
    """Of those who were attacked, how many fit one released row alone, or are nearest to one, that is somebody else's."""


def named(who: tuple[Column, IntArray], which: BoolArray) -> list[str | None]:
    """The identities of some entries."""
    column, codes = who
    return [column.texts[c] for c in np.unique(codes[which])]


def matched(released: Counts, known: Counts, names: tuple[str, ...], roles: Roles, *, literal: bool) -> Match:
    """What covers what; `literal`, as it is spelled."""
    return Match.of(released, known, [roles.taxonomy(name) for name in names], literal=literal)


def by_cover(
    evidence: Evidence, facts: External, match: Match, control: Table | None, reveal: bool, *, literal: bool
) -> Linked:
    """Look everybody up, those who are in the release and those who are not."""
    at_point = _candidates(facts, match)
    m, right = at_point[match.look][facts.member], _right(facts, match)
    inside = facts.inside > 0
    kinds = (right > 0) & (right == m), (right > 0) & (right < m), (right == 0) & (m > 0), m == 0
    some = inside & (m > 0)
    unread = sum(axis.unread for axis in match.axes)
    others, where = outsiders(evidence, facts, control)
    rate: Rate | None = None
    outside: dict[str, int | str] | None = None
    if others is not None:
        if others.known is not facts.known:
            match = matched(others.released, others.known, others.names, evidence.roles, literal=literal)
            at_point = _candidates(others, match)
        theirs = at_point[match.look][others.member]
        rate = Rate.of(float((others.n / np.maximum(theirs, 1))[theirs > 0].sum()), int(others.n.sum()))
        linked_to = {"one": theirs == 1, "several": theirs > 1, "none": theirs == 0}
        outside = {"from": where, "people": rate.people}
        outside |= {name: int(others.n[kind].sum()) for name, kind in linked_to.items()}
    return Linked(
        int(facts.n[inside].sum()),
        float((facts.n * right / np.maximum(m, 1))[inside].sum()),
        [int(facts.n[kind & inside].sum()) for kind in kinds],
        rate,
        outside,
        candidates=_spread(m[some], facts.n[some]),
        unread_values=unread,
        found=named(facts.who, kinds[0] & inside) if reveal and facts.who is not None else None,
        mistaken=int(facts.n[inside & (m == 1) & (right == 0)].sum()),
    )


def _candidates(facts: External, match: Match) -> IntArray:
    """m of each point: released rows, or people where the release carries them."""
    if facts.people is None or not facts.several:
        return match.candidates()
    person, own = facts.people
    order = np.argsort(own, kind="stable")
    person, own = person[order], own[order]
    candidates = np.zeros(match.points, dtype=np.int64)
    for point, box in match.pairs():
        at, pair = spread(*(np.searchsorted(own, box, side=side) for side in ("left", "right")))
        whose = distinct(point[pair] * facts.total + person[at]) // facts.total
        candidates += np.bincount(whose, minlength=len(candidates))
    return candidates


def _right(facts: External, match: Match) -> IntArray:
    """How many of an entry's candidates are its own rows; of people, whether they are one."""
    fits = match.covers(facts.own, facts.member[facts.entry])
    rows = np.bincount(facts.entry, weights=facts.rows * fits, minlength=len(facts.n)).astype(np.int64)
    return np.minimum(rows, 1) if facts.unit == "people" else rows


def _spread(m: IntArray, n: IntArray) -> dict[str, float]:
    if not len(m):
        return {}
    order = np.argsort(m, kind="stable")
    half = np.searchsorted(np.cumsum(n[order]), n.sum() / 2)
    return {
        "least": int(m.min()),
        "median": int(m[order][half]),
        "mean": float(np.average(m, weights=n)),
        "most": int(m.max()),
    }
