"""Useful by what measure? Utility by labels can be gamed, so a study also measures what users do with a release.

A label of five exact values out of five hundred costs an ILoss of less than 1%, and a release of such labels may answer
counting queries with errors of more than 100%. So every study measures both kinds, and decides by use unless told otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..core.metric import Metric
from ..metrics.utility.iloss import iloss
from ..metrics.utility.overlapping_labels import overlapping_labels
from ..metrics.utility.query_error import query_error

if TYPE_CHECKING:
    from .result import Result

BY_USE = query_error.usual
"""What users do: random counting queries over two columns."""
BY_LABELS = iloss
"""How precise the labels are."""
TABULATED = overlapping_labels
"""Whether users can count rows by label."""
NEAR = 1.05
"""Candidates whose loss is at most so many times the least are near equals."""
FAR = 1.25
"""Two utilities disagree strongly where what is best by one loses so many times the least by the other."""


def beside(utility: Metric) -> tuple[Metric, ...]:
    """What a study measures beside its utility axis: utility by use, utility by labels, and whether labels overlap."""
    return tuple(metric for metric in (BY_USE, BY_LABELS, TABULATED) if metric.card is not utility.card)


def most_useful(result: Result, good: Sequence[int]) -> int:
    """Of some candidates that have both axes, the one with the best utility; of near equals one whose labels do not overlap.

    What is left equal is decided by risk, and then by the other kind of utility.
    """
    study = result.study
    loss, risk = (
        dict(zip(good, result.axis(axis, list(good)).tolist(), strict=True)) for axis in (study.utility, study.risk)
    )
    least = min(loss.values())
    apart = {i: _share(result, i) for i in good}
    other = {i: _other(result, i) for i in good}
    best = min(good, key=lambda i: (loss[i], risk[i], other[i]))
    if least <= 0 or not apart[best]:  # nothing is lost, or more to lose makes it better, or there is nothing to gain
        return best
    near = [i for i in good if loss[i] <= least * NEAR and not apart[i]]
    return min(near, key=lambda i: (loss[i], risk[i], other[i])) if near else best


def _share(result: Result, i: int) -> float:
    """The share of rows whose labels overlap in the worst column; none where that cannot be measured."""
    point = result.points[i]
    return point.value(TABULATED) if point.has(TABULATED) else 0.0


def _other(result: Result, i: int) -> float:
    metric = beside(result.study.utility)[0]
    return float(result.axis(metric, [i])[0]) if result.points[i].has(metric) else float("inf")


def disagreement(result: Result, chosen: int, good: Sequence[int]) -> int | None:
    """The candidate that is best by the other kind of utility, if the chosen one loses far more there; None if they agree."""
    metric = beside(result.study.utility)[0]
    if metric == TABULATED or not result.points[chosen].has(metric):
        return None
    others = [i for i in good if result.points[i].has(metric)]
    best = min(others, key=lambda i: (_other(result, i), i))
    return best if _other(result, chosen) > max(_other(result, best), 0.0) * FAR else None
