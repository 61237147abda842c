"""What any metric says of a judged node: from its classes where they are enough, else from the counts of its release."""

from __future__ import annotations

from collections.abc import Callable

from ..core.classes import Classes
from ..core.metric import Metric, Score
from ..metrics.privacy.mutual_information import information
from .judge import Judge, NodeVerdict

_FROM_CLASSES: dict[str, Callable[[Classes], float]] = {
    "mutual_information": information,
}
"""Metrics on the whole table that are a function of the classes."""


def score(judge: Judge, metric: Metric, verdict: NodeVerdict) -> Score:
    """The score of the release that a node would be, over several sensitive columns the worst of them."""
    card = metric.card
    columns: list[str | None] = [None]
    if "sensitive" in card.needs:
        columns = [metric.column] if metric.column else [*judge.roles.sensitive]
    known = all(name is None or name in judge.attributes for name in columns)
    enough = card.scope == "class" or card.costs is not None or card.name in _FROM_CLASSES
    if not known or not columns or not enough or card.more is not None:
        return metric.score(judge.evidence(verdict.grouped, verdict.kept))
    worst = min if card.better == "higher" else max
    values = []
    for name in columns:
        classes = judge.classes(name, verdict.grouped, verdict.kept, left=verdict.suppressed > 0)
        if card.costs is not None:
            values.append(float(card.costs(classes, **metric.arguments).sum()) / classes.rows)
        elif card.scope != "class":
            values.append(_FROM_CLASSES[card.name](classes))
        else:
            found = metric.per_class(classes)
            values.append(float(found.min() if card.better == "higher" else found.max()))
    return Score(worst(values), card.unit)
