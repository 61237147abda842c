"""What a study measures unless it is told: a dozen numbers that an owner is asked for, and no more than the table can be asked."""

from __future__ import annotations

from .. import metrics
from ..attacks.linkability import halves
from ..core.errors import Unavailable
from ..core.metric import Metric
from ..core.roles import Roles
from ..core.table import Table


def usual_metrics(roles: Roles, target: str | None = None) -> tuple[Metric, ...]:
    """The usual measures; with a target field also how well it is still mined, on a sample of rows."""
    usual: list[tuple[int, Metric]] = []
    for metric in metrics.registry().values():
        how = metric.card.usual
        if how is None or (how.target and target is None) or ("sensitive" in metric.card.needs and not roles.sensitive):
            continue
        one = metric.usual.set(**{how.target: target}) if how.target else metric.usual
        usual += [(how.place, one.on(c)) for c in roles.sensitive] if how.each_column else [(how.place, one)]
    return tuple(metric for _, metric in sorted(usual, key=lambda pair: pair[0]))


def wp29(roles: Roles, table: Table) -> tuple[Metric, ...]:
    """WP29's three tests as measures: singling out, linkability of two sources, and inference of each sensitive column."""
    tests = [metrics.metric("singling_out_risk").set(size=min(3, len(roles.quasi)) or 1)]
    try:
        first, second = halves(roles, table, table.columns)
    except Unavailable:
        pass
    else:
        tests.append(metrics.metric("linkability_risk").set(first=first, second=second))
    return (*tests, *(metrics.metric("inference_risk").set(secret=column) for column in roles.sensitive))
