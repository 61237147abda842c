"""Who is who in a file that does not say: the classes tell, where they leave no choice."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..core.arrow import strings, take
from ..core.column import IntArray
from ..core.errors import Unavailable
from ..core.hierarchy import starred
from ..core.release import Evidence, Release
from ..core.roles import Roles
from ..core.table import Recoding

BLOCK = 30_000_000
COMPARED = 3_000_000_000
"""Classes by original tuples that are compared at most."""
PAIRS = 40_000_000
"""Of them, those that fit and are held at most."""


def with_pairs(release: Release, roles: Roles, why: str) -> tuple[Release, list[str]]:
    """The release with its pairs: as they are known, or as the classes tell where they leave no choice."""
    if (release.recoding is not None and release.joined_by is None) or release.pairing != "none":
        return release, []
    if release.original is None or release.perturbed.intersection(roles.quasi):
        return release, []  # sides() says what is missing
    recoding = _covering(release.evidence(roles), why)
    if recoding is None:
        raise Unavailable(
            f"{why} needs to know which released row comes from which original row, but the classes leave a choice "
            "or do not fit the original; pair them with --pair position or --pair key:COLUMN."
        )
    note = "Rows were paired by their classes, which leave no choice: each is filled by the people whom no other class needs."
    return replace(release, recoding=recoding, joined_by=None, companions={}), [note]


def _covering(evidence: Evidence, why: str) -> Recoding | None:
    """What replaces what, where the classes leave no choice; None where they do.

    A class that covers just as many people as it has rows holds these people, and no other class does; then another may be left with
    as many as it has rows, and so on. Whom no class is left for was left out, or is one of the rows of `*` throughout.
    """
    tuples, quasi = evidence.tuples, evidence.tuples.names
    before = evidence.original(why).count(quasi)
    star = np.ones(len(tuples), dtype=bool)
    matches = []
    for column, codes in zip(tuples.columns, tuples.codes, strict=True):
        star &= starred(column)[codes]
        domain = evidence.domain(column.name, why)
        if any(domain.covered(text) is None for text in column.texts):
            return None
        at = domain.column.places(before.column(column.name))
        matches.append(np.array([domain.mask(text) for text in column.texts], dtype=bool)[:, at])
    classes = np.flatnonzero(~star)
    if len(classes) * len(before) > COMPARED:
        return None
    pairs: list[tuple[IntArray, IntArray]] = []
    step = max(1, BLOCK // max(len(before), 1))
    for start in range(0, len(classes), step):
        some = classes[start : start + step]
        fits = np.ones((len(some), len(before)), dtype=bool)
        for match, ours, theirs in zip(matches, tuples.codes, before.codes, strict=True):
            fits &= match[ours[some]][:, theirs]
        hit, who = np.nonzero(fits)
        pairs.append((some[hit], who))
        if sum(len(who) for _, who in pairs) > PAIRS:
            return None
    home = _settle(pairs, tuples.n, before.n, classes)
    if home is None:
        return None
    alone, hidden = home < 0, int(tuples.n[star].sum())
    if hidden > int(before.n[alone].sum()):
        return None
    if hidden and hidden == int(before.n[alone].sum()):
        home[alone] = int(np.flatnonzero(star)[0])
    kept = np.flatnonzero(home >= 0)
    arrays = [take(c.values, code[kept]) for c, code in zip(before.columns, before.codes, strict=True)]
    for column, codes in zip(tuples.columns, tuples.codes, strict=True):
        arrays.append(take(strings([t for t in column.texts if t is not None]), codes[home[kept]]))
    return Recoding.of(quasi, quasi, arrays, before.n[kept])


def _settle(pairs: list[tuple[IntArray, IntArray]], size: IntArray, n: IntArray, classes: IntArray) -> IntArray | None:
    """The class of each original tuple, -1 for none; None unless every class is filled without a choice."""
    member, who = (np.concatenate([pair[side] for pair in pairs] or [np.zeros(0, dtype=np.int64)]) for side in (0, 1))
    home = np.full(len(n), -1, dtype=np.int64)
    waiting = np.zeros(len(size), dtype=bool)
    waiting[classes] = True
    while waiting.any():
        left = np.bincount(member, weights=n[who], minlength=len(size))
        ready = waiting & (left == size)
        if not ready.any():
            return None
        taken = ready[member]
        if len(np.unique(who[taken])) < int(taken.sum()):
            return None  # two classes need the same people: these are not the rows of this original
        home[who[taken]] = member[taken]
        waiting &= ~ready
        stays = home[who] < 0
        member, who = member[stays], who[stays]
    return home
