"""Adversarial gains (Brickell and Shmatikov 2008; Sramka et al. 2010, sec. 3), with and without what mining adds.

The adversary who mines holds the released tuple *and* the worst miner's prediction where it is nearer: classes are only split
by that, so both gains are at least those of the release alone (both are convex in a class's distribution).
"""

from __future__ import annotations

import numpy as np

from ..core.column import FloatArray, IntArray
from ..core.counts import pack
from ..core.errors import Unavailable
from ..core.roles import Roles
from ..metrics.privacy.accuracy_gain import top_share
from ..metrics.privacy.knowledge_gain import variation
from .bad_utility import BadWork
from .folds import Predicted
from .outcome import Estimate, Gains


def gains(work: BadWork, answers: dict[str, Predicted], roles: Roles, sensitive: str) -> Gains:
    """Knowledge and accuracy gain about a sensitive column, over the release and over the release completed by mining."""
    aligned = work.aligned
    released, field = aligned.released, work.bad.field
    noisy = aligned.perturbed & {*roles.quasi, sensitive}
    if noisy:
        raise Unavailable(f"Adversarial gains count classes, and {', '.join(sorted(noisy))} carries noise.")
    quasi = [name for name in roles.quasi if name in released.columns]
    if sensitive not in released.columns or sensitive == field or not quasi:
        raise Unavailable(f"Adversarial gains need quasi-identifiers and a sensitive column other than {field!r}.")
    _, member = np.unique(released.key(quasi), return_inverse=True)
    value = released.codes[sensitive]
    overall = np.bincount(value) / len(value)
    miner, said, hit = work.nearer_than_released(answers, work.bad.aims[0])
    groups = np.unique(said, return_inverse=True)[1]
    sizes = [int(member.max()) + 1, int(groups.max()) + 2]
    _, split = np.unique(pack([member, np.where(hit, groups + 1, 0)], sizes, len(member)), return_inverse=True)
    plain_k, plain_a = _per_row(member, value, overall)
    mined_k, mined_a = _per_row(split, value, overall)
    folds = work.scenario.folds
    return Gains(
        sensitive=sensitive,
        knowledge=float(plain_k.mean()),
        accuracy=float(plain_a.mean()),
        knowledge_mined=Estimate.mean(mined_k, work.fold, folds),
        accuracy_mined=Estimate.mean(mined_a, work.fold, folds),
        miner=miner,
    )


def _per_row(member: IntArray, value: IntArray, overall: FloatArray) -> tuple[FloatArray, FloatArray]:
    """For each row what its class adds: the knowledge and the accuracy gain are their means."""
    pair, n = np.unique(member * len(overall) + value, return_counts=True)
    classes, values = pair // len(overall), pair % len(overall)
    knows = variation(classes, values, n, overall)
    tops = top_share(classes, n)
    return knows[member], tops[member] - overall.max()
