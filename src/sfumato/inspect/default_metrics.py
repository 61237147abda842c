"""What a study measures unless it is told: a dozen numbers that an owner is asked for, and no more than the table can be asked."""

from __future__ import annotations

from collections.abc import Collection

from .. import metrics
from ..core.errors import Unavailable
from ..core.metric import Metric
from ..core.roles import Roles
from ..core.table import Table

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
    found += [metrics.metric("homogeneity_exposed").on(column) for column in roles.sensitive]
    if target is not None:
        found.append(metrics.metric("mining_utility_decline").set(field=target, rows=3000, folds=3))
    return tuple(each for metric in found for each in (metric.variants()[:1] or [metric]))


def wp29(roles: Roles, table: Table) -> tuple[Metric, ...]:
    """WP29's three tests as measures: singling out, linkability of two sources, and inference of each sensitive column."""
    found = [metrics.metric("singling_out_risk").set(size=min(3, len(roles.quasi)) or 1)]
    try:
        first, second = halves(roles, table, table.columns)
    except Unavailable:
        pass
    else:
        found.append(metrics.metric("linkability_risk").set(first=first, second=second))
    return (*found, *(metrics.metric("inference_risk").set(secret=column) for column in roles.sensitive))


def halves(roles: Roles, original: Table, released: Collection[str]) -> tuple[list[str], list[str]]:
    """Two sources that know about as much: the quasi-identifiers by number of values, dealt out in turns."""
    names = [name for name in roles.quasi if name in released]
    if len(names) < 2:
        names += [name for name in (*roles.sensitive, *roles.insensitive) if name in released]
    if len(names) < 2:
        raise Unavailable("Linkability asks of two sources with different columns, and the release has one column.")
    many = {name: len(original.count((name,))) for name in names}
    order = sorted(names, key=lambda name: (-many[name], names.index(name)))
    one = {name for i, name in enumerate(order) if i % 4 in (0, 3)}
    return [name for name in names if name in one], [name for name in names if name not in one]
