"""What a study measures unless it is told: a dozen numbers that an owner is asked for, and no more than the table can be asked."""

from __future__ import annotations

from .. import metrics
from ..core.metric import Metric
from ..core.roles import Roles

ALWAYS = ("k_anonymity", "prosecutor_risk", "marketer_risk")
SPLIT = (
    "distinct_l_diversity",
    "entropy_l_diversity",
    "t_closeness[equal]",
    "positive_disclosure",
    "mutual_information",
    "distribution_leakage",
)
WORTH = ("iloss", "average_class_size", "discernibility", "query_error[ranges]", "column_distance")


def usual(roles: Roles, target: str | None = None) -> tuple[Metric, ...]:
    """The usual measures; with a target field also how well it is still mined, on a sample of rows."""
    texts = [*ALWAYS, *(SPLIT if roles.sensitive else ()), *WORTH]
    found = [metrics.metric(text) for text in texts]
    if target is not None:
        found.append(metrics.metric("mining_utility_decline").set(field=target, rows=3000, folds=3))
    return tuple(each for metric in found for each in (metric.variants()[:1] or [metric]))
