"""Means over the rows of what released values lose, column by column, and means over columns by the owner's weights."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from ..core.cell_loss import CellLoss
from ..core.column import FloatArray
from ..core.cover import Domain
from ..core.errors import Unavailable
from ..core.release import Evidence
from ..core.roles import Roles


def leaves(domain: Domain, texts: Sequence[str | None], name: str, why: str) -> FloatArray:
    """How many values of its domain each released value of a column stands for."""
    counts = [domain.leaves(text) for text in texts]
    unread = sum(count is None for count in counts)
    if unread:
        raise unreadable_values(unread, name, why)
    return np.array(counts, dtype=np.float64)


def unreadable_values(values: int, name: str, why: str) -> Unavailable:
    """The refusal of a column with so many released values that nobody can read."""
    return Unavailable(
        f"{why} cannot tell what {values} released values of {name!r} stand for: "
        "they are neither in the original nor in its hierarchy, nor an interval, set or mask."
    )


def column_losses(evidence: Evidence, loss: CellLoss, why: str) -> dict[str, float]:
    """For each quasi-identifier the mean over the rows of what its values lose; a row that is gone counts as `*`."""
    tuples, before = evidence.tuples, rows_before(evidence)
    means = {}
    for released, codes in zip(tuples.columns, tuples.codes, strict=True):
        domain = evidence.domain(released.name, why)
        lost = loss.of(leaves(domain, released.texts, released.name, why), domain.size)
        total = float((lost[codes] * tuples.n).sum()) + (before - tuples.rows) * loss.whole(domain.size)
        means[released.name] = min(total / max(before, 1), 1.0)
    return means


def rows_before(evidence: Evidence) -> int:
    """The rows of the original, or of the release where that has more or there is no original."""
    original, rows = evidence.release.original, evidence.tuples.rows
    return rows if original is None else max(original.rows, rows)


def column_weights(names: Iterable[str], roles: Roles, why: str) -> dict[str, float]:
    """The owner's weights of columns, 1 unless given; refused where all are 0."""
    weights = {name: float(roles.weights.get(name, 1.0)) for name in names}
    if not sum(weights.values()):
        raise Unavailable(f"{why}: every weight in {roles.source} is 0, so no column counts.")
    return weights


def weighted_mean(values: Mapping[str, float], roles: Roles, why: str) -> float:
    """The mean of a number of each column, by the owner's weights made to sum to 1."""
    weights = column_weights(values, roles, why)
    return sum(weights[name] * values[name] for name in values) / sum(weights.values())
