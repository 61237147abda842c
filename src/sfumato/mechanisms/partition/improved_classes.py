"""The improvement pass on classes of counted tuples, under all that classes must meet: what Mondrian and clustering ask for."""

from __future__ import annotations

import numpy as np

from ...core.column import FloatArray, IntArray
from ...core.cover import BoolArray
from ...core.mechanism import Progress
from .axes import PartitionAxis
from .box_loss import BoxLoss
from .class_demands import Demands
from .clusters import AxisLoss
from .improvement import Improvement, Stands
from .mean_limits import MeanLimits
from .mean_steering import Added, MeanSteering, nothing
from .parts import Parts, labels_of
from .query_fit import QueryFit
from .query_workload import QueryWorkload
from .settling import settle

IMPROVE = (
    "improve the classes afterwards: two classes that are near each other are put together and divided anew where that loses less and both "
    "meet everything, until nothing helps or a fixed amount of work is done; the release never loses more"
)
FIT_QUERIES = (
    "then fit the classes to counting queries: rows of two near classes change places or are divided anew where that lowers the mean error of a "
    "fixed grid of queries over every pair of columns (query_error draws others), until nothing helps or a fixed amount of work is done; labels "
    "may lose more by ILoss for it"
)
CUT_SHORT = "Improving the classes was interrupted; what was gained until then is in the release."


def finished_classes(
    axes: list[PartitionAxis],
    rulers: list[AxisLoss],
    code: IntArray,
    demands: Demands,
    parts: Parts,
    labels: list[list[str | None]],
    *,
    divides: bool,
    progress: Progress,
    means: MeanLimits | None,
    improve: bool,
    queries: QueryWorkload | None,
) -> tuple[Parts, list[list[str | None]], tuple[str, ...]]:
    """What is made of parts and their labels in the end, with notes: means are met, classes are improved, and fitted to `queries`."""
    steps: list[QueryWorkload | None] = []
    if improve or (means is not None and not means.met(parts, labels)):
        steps.append(None)
    steps += [] if queries is None or not queries.queries else [queries]
    notes: tuple[str, ...] = ()
    for i, step in enumerate(steps):
        parts, labels, more = improved_classes(
            axes, rulers, code, demands, parts, divides=divides, means=means, queries=step,
            progress=lambda done, i=i: progress((i + done) / len(steps)),  # type: ignore[misc]
        )  # fmt: skip
        notes = tuple(dict.fromkeys((*notes, *more)))
    return parts, labels, notes


def improved_classes(
    axes: list[PartitionAxis],
    rulers: list[AxisLoss],
    code: IntArray,
    demands: Demands,
    parts: Parts,
    *,
    divides: bool,
    progress: Progress,
    means: MeanLimits | None = None,
    queries: QueryWorkload | None = None,
) -> tuple[Parts, list[list[str | None]], tuple[str, ...]]:
    """Parts that lose no more, what each releases, and notes; `divides` says whether rows with equal quasi-identifiers may part.

    Where `means` are limited, parts that meet them: these may lose more than parts that do not. With `queries`, parts that answer these no worse;
    they must meet the means already.
    """
    least = demands.least_rows()

    def made(
        loss: BoxLoss,
        stands: Stands,
        added: Added,
        unit: IntArray,
        rows: IntArray,
        member: IntArray,
        told: FloatArray | None = None,
    ) -> Improvement:
        if queries is not None:
            limits = np.zeros(0) if means is None else means.limits
            told = queries.told if told is None else told
            return QueryFit(
                loss, stands, unit, rows, member, least,
                workload=queries, code=loss.code, told=told, added=added, limits=limits,
            )  # fmt: skip
        if means is None:
            return Improvement(loss, stands, unit, rows, member, least)
        return MeanSteering(loss, stands, unit, rows, member, least, added=added, limits=means.limits)

    added = nothing if means is None else means.added
    loss = BoxLoss(rulers, code)
    if (
        divides and demands.owners is None
    ):  # so that rows of a tuple can move alone: as many pieces as a class could want
        pieces = np.minimum(parts.n, least)
        unit, member = np.repeat(parts.entry, pieces), np.repeat(parts.member, pieces)
        rows = np.ones(len(unit), dtype=np.int64)
        rows[np.cumsum(pieces) - 1] = parts.n - pieces + 1
        pass_ = made(loss, demands.met, added, unit, rows, member)
        pass_.run(progress)
        entry, n, member = _joined(pass_.unit, pass_.rows, pass_.member)
    elif divides:
        pass_ = made(loss, demands.met, added, parts.entry, parts.n, parts.member)
        pass_.run(progress)
        entry, n, member = pass_.unit, pass_.rows, pass_.member
    else:  # tuples that differ in sensitive values only stay together
        tuple_ = np.unique(code[:, parts.entry], axis=1, return_inverse=True)[1].reshape(-1).astype(np.int64)
        order = np.argsort(tuple_, kind="stable")
        first = np.flatnonzero(np.diff(tuple_[order], prepend=-1))
        width = np.diff(np.append(first, len(order)))

        def entries(unit: IntArray) -> tuple[IntArray, IntArray]:
            """The entries of units, and the place of the unit of each."""
            wide = width[unit]
            at = np.arange(int(wide.sum())) + np.repeat(first[unit] - (np.cumsum(wide) - wide), wide)
            return order[at], np.repeat(np.arange(len(unit)), wide)

        def stands(unit: IntArray, _: IntArray, member: IntArray, count: int) -> BoolArray:
            at, of = entries(unit)
            return demands.met(parts.entry[at], parts.n[at], member[of], count)

        def adds(unit: IntArray, _: IntArray, member: IntArray, count: int) -> FloatArray:
            at, of = entries(unit)
            return added(parts.entry[at], parts.n[at], member[of], count)

        one = order[first]
        rows = np.add.reduceat(parts.n[order], first)
        loss = BoxLoss(rulers, code[:, parts.entry[one]])
        told = None
        if queries is not None:
            told = np.add.reduceat(queries.told[parts.entry[order]] * parts.n[order][:, None, None], first, axis=0)
            told /= rows[:, None, None]
        pass_ = made(loss, stands, adds, np.arange(len(one)), rows, parts.member[one], told)
        pass_.run(progress)
        at, of = entries(pass_.unit)
        entry, n, member = parts.entry[at], parts.n[at], pass_.member[of]
    better, labels = settle(axes, rulers, code, demands, entry, n, member)
    met_before = means is None or means.met(parts, labels_of(parts, axes, code, by_cuts=False))
    if met_before:  # classes of equal labels had to be united
        before, after = (
            _total(rulers, code, some) if queries is None else queries.error(code, some.entry, some.n, some.member)
            for some in (parts, better)
        )
        if after > before:
            better, labels = parts, labels_of(parts, axes, code, by_cuts=False)
    return better, labels, ((CUT_SHORT,) if pass_.stopped == "interrupt" else ())


def _joined(entry: IntArray, n: IntArray, member: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Pieces of a tuple that are in the same class, put together."""
    wide = int(entry.max()) + 1
    key, where = np.unique(member * wide + entry, return_inverse=True)
    rows = np.zeros(len(key), dtype=np.int64)
    np.add.at(rows, where, n)
    return key % wide, rows, key // wide


def _total(rulers: list[AxisLoss], code: IntArray, parts: Parts) -> float:
    loss = BoxLoss(rulers, code)
    lost: FloatArray = loss.total(loss.summary(parts.entry, parts.n, parts.start))
    return float(lost.sum())
