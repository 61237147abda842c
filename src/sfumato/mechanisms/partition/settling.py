"""Parts that release equal labels are one class, and that class must meet everything, too."""

from __future__ import annotations

import numpy as np

from ...core.column import IntArray
from .axes import PartitionAxis
from .class_demands import Demands
from .clusters import AxisLoss, Clusters
from .parts import Parts, labels_of, released_classes


def settle(
    axes: list[PartitionAxis],
    rulers: list[AxisLoss],
    code: IntArray,
    demands: Demands,
    entry: IntArray,
    n: IntArray,
    member: IntArray,
) -> tuple[Parts, list[list[str | None]]]:
    """Clusters as classes, and what each releases: those that miss a requirement are united with their nearest.

    Clusters with equal labels are one class. The whole table meets everything, so this ends.
    """
    while True:
        parts = Parts.of(entry, n, member, len(axes))
        labels = labels_of(parts, axes, code, by_cuts=False)
        classes = released_classes(labels)
        member = classes[parts.member]
        good = demands.met(parts.entry, parts.n, member, int(classes.max()) + 1)
        if good.all():
            return parts, labels
        clusters = Clusters(rulers, code, parts.entry, parts.n, member)
        for bad in np.flatnonzero(~good).tolist():
            at = bad
            while clusters.size[at] and not _meets(demands, clusters, at):
                at = clusters.unite(at)
        entry, n, member = clusters.entry, clusters.n, clusters.member


def _meets(demands: Demands, clusters: Clusters, at: int) -> bool:
    inside = clusters.member == at
    entry, n = clusters.entry[inside], clusters.n[inside]
    return bool(demands.met(entry, n, np.zeros(len(entry), dtype=np.int64), 1)[0])
