"""What any metric says of a judged node: from its classes where they are enough, else from the counts of its release."""

from __future__ import annotations

from ..core.metric import Metric, Score
from .judge import Judge, NodeVerdict


def score(judge: Judge, metric: Metric, verdict: NodeVerdict) -> Score:
    """The score of the release that a node would be, over several sensitive columns the worst of them."""
    card = metric.card
    columns: list[str | None] = [None]
    if "sensitive" in card.needs:
        columns = [metric.column] if metric.column else [*judge.roles.sensitive]
    known = all(name is None or name in judge.attributes for name in columns)
    enough = card.scope == "class" or card.costs is not None or card.of_classes is not None
    if not known or not columns or not enough or card.more is not None:
        return metric.score(judge.evidence(verdict.grouped, verdict.kept))
    worst = min if card.better == "higher" else max
    values = []
    for name in columns:
        classes = judge.classes(name, verdict.grouped, verdict.kept, left=verdict.suppressed > 0)
        if card.costs is not None:
            values.append(float(card.costs(classes, **metric.arguments).sum()) / classes.rows)
        elif card.of_classes is not None:
            values.append(card.of_classes(classes))
        else:
            values.append(float(card.worst(metric.per_class(classes))))
    return Score(worst(values), card.unit)
