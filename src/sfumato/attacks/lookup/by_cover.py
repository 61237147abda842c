"""Linkage by cover: a person's candidates are the released rows, or people, that cover what is known of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

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

OUTCOMES = ("correct", "ambiguous", "wrong", "none")


@dataclass(frozen=True, eq=False)
class Linked:
    """Of so many who were attacked, those who fell, by outcome; and people who are not in the release."""

    attacked: int
    fell: float
    numbers: Mapping[str, int]
    control: Rate | None
    details: Mapping[str, Any]
    exactness: Exactness = "exact"


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
    numbers = {name: int(facts.n[kind & inside].sum()) for name, kind in zip(OUTCOMES, kinds, strict=True)}
    some = inside & (m > 0)
    details: dict[str, Any] = {
        "candidates": _spread(m[some], facts.n[some]),
        "unread_values": sum(axis.unread for axis in match.axes),
    }
    others, where = outsiders(evidence, facts, control)
    rate = None
    if others is not None:
        if others.known is not facts.known:
            match = matched(others.released, others.known, others.names, evidence.roles, literal=literal)
            at_point = _candidates(others, match)
        theirs = at_point[match.look][others.member]
        rate = Rate.of(float((others.n / np.maximum(theirs, 1))[theirs > 0].sum()), int(others.n.sum()))
        linked_to = {"one": theirs == 1, "several": theirs > 1, "none": theirs == 0}
        details["not_in_release"] = {
            "from": where,
            "people": rate.people,
            **{name: int(others.n[kind].sum()) for name, kind in linked_to.items()},
        }
    if reveal and facts.who is not None:
        details["found"] = named(facts.who, kinds[0] & inside)
    fell = float((facts.n * right / np.maximum(m, 1))[inside].sum())
    return Linked(int(facts.n[inside].sum()), fell, numbers, rate, details)


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
