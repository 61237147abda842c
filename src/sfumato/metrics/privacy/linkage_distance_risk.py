"""Distance-based record linkage: re-identification of perturbed numbers (Domingo-Ferrer and Torra 2001)."""

from collections.abc import Iterable

import numpy as np

from ...core.column import Column, FloatArray, IntArray
from ...core.errors import Unavailable
from ...core.metric import Score, measure
from ...core.parameter import Number
from ...core.release import Evidence
from ...core.runs import spread
from ...core.sizes import check_squares
from ...core.words import from_zero

BLOCK = 2_000_000
NEAR = 128
"""Neighbours on either side, by one column, that are looked at first: most rows that are not found drop out there."""


def linked(released: FloatArray, own: FloatArray, originals: FloatArray, n: IntArray) -> FloatArray:
    """For each released point, the probability that the nearest original row is its own; ties share it.

    Points are rows of the arrays; `n` original rows stand at each of the `originals`, which are distinct. Only originals
    that are no farther than the own one along one column can be nearer: those between two places of a sorted list.
    """
    axis = int(np.argmax([len(np.unique(z)) for z in originals.T]))
    order = np.argsort(originals[:, axis], kind="stable")
    originals, n = originals[order], n[order]
    reach = ((released - own) ** 2).sum(axis=1)
    slack = 1e-9 * reach
    side = np.sqrt(reach + slack) + 1e-12
    places = originals[:, axis]
    low = np.searchsorted(places, released[:, axis] - side, side="left")
    high = np.searchsorted(places, released[:, axis] + side, side="right")
    middle = np.searchsorted(places, released[:, axis])
    nearest, ties = np.ones(len(released), dtype=bool), np.zeros(len(released), dtype=np.int64)

    def look(which: IntArray, start: IntArray, stop: IntArray, tie: bool) -> None:
        some = stop > start
        which, start, stop = which[some], start[some], stop[some]
        if not len(which):
            return
        at, run = spread(start, stop)
        mine, first = which[run], np.searchsorted(run, np.arange(len(which)))
        away = np.zeros(len(at))
        for j in range(originals.shape[1]):
            away += (originals[at, j] - released[mine, j]) ** 2
        nearest[which[np.logical_or.reduceat(away < (reach - slack)[mine], first)]] = False
        if tie:
            ties[which] += np.add.reduceat(np.where(away <= (reach + slack)[mine], n[at], 0), first)

    for start in range(0, len(released), BLOCK // (2 * NEAR)):
        some = np.arange(start, min(start + BLOCK // (2 * NEAR), len(released)))
        look(some, np.maximum(low[some], middle[some] - NEAR), np.minimum(high[some], middle[some] + NEAR), False)
    alive = np.flatnonzero(nearest)
    while len(alive):
        step = max(BLOCK // len(alive), 16)
        for start in range(0, len(alive), BLOCK // 16):
            some = alive[start : start + BLOCK // 16]
            look(some, low[some], np.minimum(low[some] + step, high[some]), True)
        low[alive] += step
        alive = alive[nearest[alive] & (low[alive] < high[alive])]
    return np.where(nearest, 1.0 / np.maximum(ties, 1), 0.0)


def number_columns(evidence: Evidence, originals: Iterable[Column], why: str, *, instead: str) -> list[str]:
    """The quasi-identifiers that are numbers in the original, refused where there is none or one was generalized."""
    names = [column.name for column in originals if column.numbers is not None]
    if not names:
        raise Unavailable(f"{why} needs quasi-identifiers that are numbers, and none is.")
    if any(evidence.tuples.column(name).numbers is None for name in names):
        raise Unavailable(
            f"{why} needs released numbers, but some were generalized or suppressed; {instead} such a release."
        )
    return names


def standardized(known: FloatArray, n: IntArray, *others: FloatArray) -> list[FloatArray]:
    """Numbers in deviations of the known ones, of which there are `n` rows each; missing stands beyond the largest, by the range."""
    there = ~np.isnan(known)
    mean = float(np.average(known[there], weights=n[there]))
    deviation = float(np.average((known[there] - mean) ** 2, weights=n[there])) ** 0.5 or 1.0
    every = np.concatenate([known, *others])
    every = every[~np.isnan(every)]
    beyond = float(every.max() + (np.ptp(every) or 1.0))
    return [np.where(np.isnan(numbers), beyond, numbers) / deviation for numbers in (known, *others)]


def wilson(share: float, rows: int) -> tuple[float, float]:
    """The 95% interval of a share that was found on a sample of rows."""
    z = 1.96
    middle = (share + z * z / (2 * rows)) / (1 + z * z / rows)
    half = z * (share * (1 - share) / rows + z * z / (4 * rows * rows)) ** 0.5 / (1 + z * z / rows)
    return max(middle - half, 0.0), min(middle + half, 1.0)


@measure(
    title="linkage distance risk",
    question="How often is the nearest original row the right one?",
    unit="share of rows",
    source="Domingo-Ferrer and Torra 2001",
    sentence=from_zero(
        "None of the tested rows lies nearest to its own original.",
        "An adversary who has the original numbers and links each released row to the nearest original one (any of those "
        "equally near) is expected to be right for {} of the tested rows.",
    ),
    knows="the true numbers of everyone in the release, and how far the noise can move them",
    misleads="Quasi-identifiers that are not numbers are left out, so an adversary who knows them too does better. So may one "
    "who knows how the noise was made.",
    needs=frozenset({"original", "pairs"}),
    parameters={"sample": Number(5000, 100, 10_000_000, whole=True), "seed": Number(0, 0, 2**32, whole=True)},
)
def linkage_distance_risk(evidence: Evidence, column: None, sample: int, seed: int) -> Score:
    """The share of released rows whose nearest original row is their own, by Euclidean distance of standardized numbers.

    Each column is divided by the original's deviation. Of rows at the same distance one is picked at random. A missing
    value stands beyond the largest number by the column's range. Of more than `sample` distinct pairs so many are drawn,
    and the value is an estimate; 5000 is our default, for time. Extremes: 1 for the identity of distinct rows; 1/N where
    all original rows are alike.
    """
    why = "linkage_distance_risk"
    original = evidence.original(why)
    counted = original.value_counts(evidence.tuples.names)
    names = number_columns(
        evidence, (counts.columns[0] for counts in counted.values()), why, instead="count-based risks fit"
    )
    pairs, rows = evidence.pair_counts(names, why), original.count(names)
    points: list[list[FloatArray]] = []
    for i in range(len(names)):
        here = (pairs, i), (pairs, len(names) + i), (rows, i)
        own, new, every = (_numbers(counts.columns[at].numbers, counts.codes[at]) for counts, at in here)
        for numbers in (new, every):
            check_squares(numbers, names[i], why)
        points.append(standardized(every, rows.n, new, own))
    originals, released, mine = (np.column_stack([column[side] for column in points]) for side in range(3))
    details = {"columns": names}
    if len(pairs) <= sample:
        risk = linked(released, mine, originals, rows.n)
        return Score(float(np.average(risk, weights=pairs.n)), "share of rows", details=details)
    drawn = np.random.default_rng(seed).choice(len(pairs), sample, p=pairs.n / pairs.rows)
    share = float(linked(released[drawn], mine[drawn], originals, rows.n).mean())
    return Score(share, "share of rows", "estimate", ci=wilson(share, sample), details=details)


def _numbers(values: FloatArray | None, codes: IntArray) -> FloatArray:
    return np.full(len(codes), np.nan) if values is None else values[codes]  # a column of missing values only
