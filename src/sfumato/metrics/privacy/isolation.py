"""(c,t)-isolation: whether a released point singles out a real one (Chawla, Dwork, McSherry, Smith, Wee 2005; Manta 4.1)."""

import numpy as np

from ...core.column import FloatArray, IntArray
from ...core.counts import Counts
from ...core.errors import Unavailable
from ...core.metric import Score, measure
from ...core.parameter import Number
from ...core.release import Evidence
from ...core.sizes import check_squares
from ...core.words import whole
from .linkage_distance_risk import number_columns, standardized

MOST = 100_000_000
"""Pairs of a released and a real point that are compared, at most."""
BLOCK = 4_000_000


def _sentence(value: float) -> str:
    rows = whole(value)
    if rows < 2:
        return (
            "At least one released point isolates a real row: there is no other real row within the given multiple of their "
            "distance."
        )
    return (
        "Within the given multiple of its distance to the nearest real row, each released point has at least "
        f"{rows:,} real rows around it, so none of them is alone there."
    )


def crowd(released: FloatArray, real: FloatArray, n: IntArray, c: float) -> IntArray:
    """For each released point q the real rows in the ball `B(q, c d)`, d its distance to the nearest real point.

    Def. 10 asks this of every real y with `d_y = |q - y|`; the ball of the nearest one is the smallest and lies in all others.
    """
    rows = np.empty(len(released), dtype=np.int64)
    step = max(1, BLOCK // len(real))
    for start in range(0, len(released), step):
        away = np.zeros((min(step, len(released) - start), len(real)))
        for j in range(real.shape[1]):
            away += (released[start : start + step, j, None] - real[:, j]) ** 2
        reach = c * c * away.min(axis=1, keepdims=True)
        rows[start : start + step] = (away <= reach * (1 + 1e-9)) @ n
    return rows


@measure(
    title="(c,t)-isolation",
    question="How many real rows lie around a released point in the worst case?",
    better="higher",
    unit="rows",
    bounds=(1, float("inf")),
    source="Chawla, Dwork, McSherry, Smith, Wee 2005; Manta 2013, sec. 4.1, def. 10",
    sentence=_sentence,
    knows="nothing about any person: the adversary takes a point from the release and looks around it",
    family="What perturbed values still tell",
    misleads="It takes the released points as the adversary's guesses; an adversary who knows more about a person guesses "
    "better. A release far from all real rows scores well and is useless. Columns that are not numbers are left out.",
    needs=frozenset({"original"}),
    parameters={"c": Number(2, low=1, high=1e6)},
    noise=True,
)
def isolation(evidence: Evidence, column: None, c: float) -> Score:
    """The t that a release reaches: `min_q |B(q, c d_q) intersect RDB|`, d_q from released point q to the nearest real row.

    No released point (c,t)-isolates a real row for any t up to it. The points are the quasi-identifiers that are numbers
    in both tables, each divided by the original's deviation; a missing value stands beyond the largest number by the
    column's range. The survey prints the distance as |q - y| for a point it calls p, and no c: 2 is our default.
    Extremes: 1 where a row that differs from all others is released as it is; all rows where every real row is equally
    far.
    """
    why = "isolation"
    original = evidence.original(why)
    real = original.count(evidence.tuples.names)
    names = number_columns(evidence, real.columns, why, instead="k_anonymity fits")
    real, released = real.group(names)[0], evidence.tuples.group(names)[0]
    if len(real) * len(released) > MOST:
        raise Unavailable(
            f"{why} compares every released point with every real one, and {len(released)} times {len(real)} is beyond "
            f"{MOST:,}; measure a sample of the released rows."
        )
    sides = [_points(counts, i) for i in range(len(names)) for counts in (released, real)]
    points: list[list[FloatArray]] = [[], []]
    for name, new, old in zip(names, sides[::2], sides[1::2], strict=True):
        for numbers in (new, old):
            check_squares(numbers, name, why)
        for side, values in zip(points, standardized(old, real.n, new), strict=True):
            side.append(values)
    rows = crowd(np.column_stack(points[1]), np.column_stack(points[0]), real.n, c).astype(np.float64)
    worst = float(rows.min())
    details = {"columns": names, "worst_points": int((rows == worst).sum())}
    return Score(worst, "rows", "exact", rows if names == [*evidence.tuples.names] else None, details=details)


def _points(counts: Counts, at: int) -> FloatArray:
    numbers = counts.columns[at].numbers
    assert numbers is not None
    return numbers[counts.codes[at]]
