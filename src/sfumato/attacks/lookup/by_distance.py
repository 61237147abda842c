"""Linkage by distance: the nearest released row, or person, is taken (Domingo-Ferrer and Torra 2001, from the person's side)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.column import FloatArray, IntArray
from ...core.counts import pack
from ...core.errors import InputError, Unavailable
from ...core.noun import dataclass
from ...core.outcome import Rate
from ...core.release import Evidence
from ...core.runs import held, spread
from ...core.table import Table
from ...metrics.privacy.linkage_distance_risk import standardized
from ...mining.rows import merged
from .axis import Axis
from .by_cover import Linked, named
from .external import External
from .nearest import Ground, Line, Links, NearPeople, worth
from .outsiders import outsiders


def by_distance(
    evidence: Evidence,
    facts: External,
    control: Table | None,
    person: str | None,
    sample: int,
    seed: int,
    reveal: bool,
) -> Linked:
    """Everybody's nearest rows or people (see `_nearest`), and how likely one drawn of them is their own.

    Somebody who is not in the release is linked as well, to whoever is nearest; that seems worth what links as far are worth of people
    who are in it (`worth`).
    """
    others, where = outsiders(evidence, facts, control, person)
    ground, shift = _ground(evidence, facts, others)
    rng = np.random.default_rng(seed)
    crowd = _Crowd.of(facts, facts.inside > 0, 0, sample, rng)
    near = _nearest(ground, facts, crowd)
    linked = near.far[np.isfinite(near.far)]
    farthest = float(np.max(linked, initial=0.0)) * (1 + 1e-9)
    risk = _right(facts, crowd, near)
    alone, weight = ~np.isfinite(near.far), crowd.n
    kinds = risk > 0.999999, (risk > 0) & (risk <= 0.999999), (risk == 0) & ~alone, alone
    rate: Rate | None = None
    outside: dict[str, int | str] | None = None
    if others is not None:
        some = _Crowd.of(others, np.ones(len(others.n), dtype=bool), shift, sample, rng)
        away = _nearest(ground, others, some, farthest).far
        seems = worth(near.far, risk, weight, away)
        rate = Rate.of(float((seems * some.n).sum()), int(some.n.sum()))
        outside = {
            "from": where,
            "people": rate.people,
            "beyond": int(some.n[np.isfinite(away) & (away > farthest)].sum()),
            "none": int(some.n[~np.isfinite(away)].sum()),
        }
    found = None
    if reveal and facts.who is not None:
        hit = np.zeros(len(facts.n), dtype=bool)
        hit[crowd.entry[kinds[0][crowd.links.owner]]] = True
        found = named(facts.who, hit)
    return Linked(
        int(weight.sum()),
        float((risk * weight).sum()),
        [int(weight[kind].sum()) for kind in kinds],
        rate,
        outside,
        sample=sample if crowd.drawn else None,
        found=found,
        exactness="estimate" if crowd.drawn else "exact",
        mistaken=int(weight[kinds[2]].sum()),
    )


@dataclass(frozen=True, eq=False)
class _Crowd:
    """People who are attacked, each `n` times, by what is known of them; `entry` is where that comes from."""

    links: Links
    entry: IntArray
    n: IntArray
    drawn: bool

    @classmethod
    def of(cls, facts: External, some: np.ndarray[Any, np.dtype[np.bool_]], shift: int, most: int, rng: Any) -> _Crowd:
        """Entries that are somebody's together where they have a name, else each by itself; of more people than `most` a sample."""
        entry = np.flatnonzero(some)
        if facts.who is None:
            owner, n = np.arange(len(entry)), facts.n[entry]
        else:
            code = facts.who[1][entry]
            if facts.who[0].has_missing:  # whoever has no name is somebody of whom there is no other row
                missing = code >= len(facts.who[0].values)
                code = np.where(missing, len(facts.who[0]) + np.arange(len(code)), code)
            _, owner = np.unique(code, return_inverse=True)
            n = np.ones(int(owner.max(initial=-1)) + 1, dtype=np.int64)
        drawn = len(n) > most
        order = np.argsort(owner, kind="stable")
        entry, owner = entry[order], owner[order].astype(np.int64)
        if drawn:
            chosen = rng.choice(len(n), most, p=n / n.sum())
            first = np.searchsorted(owner, np.arange(len(n) + 1))
            at, owner = spread(first[chosen], first[chosen + 1])
            entry, n = entry[at], np.ones(most, dtype=np.int64)
        return cls(Links(owner, facts.member[entry] + shift), entry, n, drawn)


def _nearest(ground: Ground, facts: External, crowd: _Crowd, farthest: float = np.inf) -> NearPeople:
    """Candidates are rows by their tuples; people where the release carries them and somebody has, or is known by, several."""
    if _people(facts, crowd):
        assert facts.people is not None
        return ground.people(crowd.links, Links(*facts.people), _own(facts, crowd), farthest)
    return ground.rows(crowd.links)


def _own(facts: External, crowd: _Crowd) -> IntArray:
    """The released person that each is, -1 for none."""
    own = np.full(crowd.links.people, -1, dtype=np.int64)
    if facts.mine is not None:
        own[crowd.links.owner] = facts.mine[crowd.entry]
    return own


def _people(facts: External, crowd: _Crowd) -> bool:
    return facts.people is not None and (facts.several or len(crowd.links.owner) > crowd.links.people)


def _right(facts: External, crowd: _Crowd, near: NearPeople) -> FloatArray:
    """How likely one of the nearest candidates, drawn at random, is a person's own."""
    people, owner = crowd.links.people, crowd.links.owner
    if _people(facts, crowd):
        mine = _own(facts, crowd)
        own = np.bincount(near.person, weights=near.candidate == mine[near.person], minlength=people)
        return own / np.maximum(np.bincount(near.person, minlength=people), 1)
    tuples = len(facts.released)
    start = np.searchsorted(facts.entry, np.arange(len(facts.n) + 1))
    link, whose = spread(start[crowd.entry], start[crowd.entry + 1])
    # a person known by several tuples has the same rows behind each
    key, first = np.unique(owner[whose] * tuples + facts.own[link], return_index=True)
    hit, at = held(key, near.person * tuples + near.candidate)
    own = np.bincount(near.person[hit], weights=facts.rows[link[first[at]]], minlength=people)
    total = np.bincount(near.person, weights=facts.released.n[near.candidate], minlength=people)
    return own / np.maximum(total, 1)


def _ground(evidence: Evidence, facts: External, others: External | None) -> tuple[Ground, int]:
    """Known tuples, those of others after them if they are other ones (from which number on), and released tuples."""
    release, roles, known = evidence.release, evidence.roles, facts.known
    columns, codes, weight = list(known.columns), list(known.codes), known.n
    shift = 0
    if others is not None and others.known is not known:
        shift, weight = len(known), np.append(weight, np.zeros(len(others.known), dtype=np.int64))
        for j, column in enumerate(known.columns):
            columns[j], ours, theirs = merged(column, others.known.columns[j])
            codes[j] = np.append(ours[known.codes[j]], theirs[others.known.codes[j]])
            if column.numbers is not None and columns[j].numbers is None:
                raise InputError(
                    f"linkage: {facts.names[j]!r} holds numbers, and in the control something else; give a control that has numbers."
                )
    lines: list[Line] = []
    keys: tuple[list[IntArray], list[IntArray]] = [], []
    sizes = []
    for j, name in enumerate(facts.names):
        a, b = columns[j], facts.released.columns[j]
        x, y = codes[j], facts.released.codes[j]
        if a.numbers is not None and b.numbers is not None:
            before, after = standardized(a.numbers[x], weight, b.numbers[y])
            lines.append(Line(before, after))
            continue
        noisy = name in release.perturbed
        axis = Axis.of(b, a, roles.taxonomy(name), literal=noisy)
        if axis.home is None:
            raise Unavailable(
                f"linkage cannot take distances in {name!r}, whose released values overlap; leave it out with known, or attack "
                "by cover."
            )
        mine = axis.home[axis.place[x]]
        if noisy:
            lines.append(Line(mine.astype(np.float64), y.astype(np.float64), labels=True))
            continue
        keys[0].append(mine + 1)
        keys[1].append(y + 1)
        sizes.append(len(b) + 1)
    both = [np.append(*pair) for pair in zip(*keys, strict=True)]
    key = pack(both, sizes, len(weight) + len(facts.released))
    return Ground(lines, key[: len(weight)], key[len(weight) :]), shift
