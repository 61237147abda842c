"""Privacy of added noise by a confidence interval (Agrawal and Srikant 2000; Manta 5.1.1)."""

import numpy as np

from ...core.column import FloatArray, IntArray
from ...core.counts import exact
from ...core.errors import Unavailable
from ...core.metric import Score, measure
from ...core.parameter import Number
from ...core.person_weights import PersonWeights
from ...core.release import Evidence
from ...core.roles import Roles
from ...core.sizes import check_squares
from ...core.words import from_zero


def perturbed(evidence: Evidence, why: str) -> dict[str, tuple[FloatArray, FloatArray, IntArray]]:
    """For each quasi-identifier of numbers on both sides: the original numbers, the released ones, the rows of each pair.

    Pairs with a missing value are left out: neither side of them is a number that was moved. Where people with several rows are counted,
    the weights are theirs (`of_people`).
    """
    columns = {}
    roles = evidence.roles
    for name in evidence.tuples.names:
        owners = (str(roles.owner),) if roles.counts_people else ()
        counts = evidence.side_counts((name, *owners), (name,), why) if owners else evidence.pair_counts((name,), why)
        before, after = counts.columns[0].numbers, counts.columns[-1].numbers
        if before is not None and after is not None:
            x, y, n = before[counts.codes[0]], after[counts.codes[-1]], counts.n
            for numbers in (x, y):
                check_squares(numbers, name, why)
            if owners:
                x, y, n = of_people(x, y, n, counts.codes[1], roles)
            there = ~(np.isnan(x) | np.isnan(y))
            if there.any() and np.ptp(x[there]) > 0:
                columns[name] = x[there], y[there], n[there]
    if not columns:
        raise Unavailable(
            f"{why} needs a quasi-identifier with numbers that differ, in the original and in the release; "
            "generalized values are no perturbed numbers."
        )
    return columns


def of_people(
    x: FloatArray, y: FloatArray, n: IntArray, owner: IntArray, roles: Roles
) -> tuple[FloatArray, FloatArray, IntArray]:
    """Pairs in which every person weighs the same, from pairs of `n` rows each of which is `owner`'s; what is missing is left out.

    Where rows stay joined, a person is one pair, the means over all rows: that is what averaging leaves of the noise. Where nobody
    can join them, a row of a person with r rows weighs 1/r.
    """
    there = ~(np.isnan(x) | np.isnan(y))
    x, y, n, owner = x[there], y[there], n[there], owner[there]
    people, at = np.unique(owner, return_inverse=True)
    rows = exact(np.bincount(at, weights=n, minlength=len(people)))
    if not roles.linked:
        return x, y, n * PersonWeights.of(rows).of_row[at]
    means = (np.bincount(at, weights=values * n, minlength=len(people)) / np.maximum(rows, 1) for values in (x, y))
    return next(means), next(means), np.ones(len(people), dtype=np.int64)


def shortest(moved: FloatArray, n: IntArray, confidence: float) -> float:
    """The length of the shortest interval that holds at least this share of the rows."""
    order = np.argsort(moved, kind="stable")
    moved, upto = moved[order], np.cumsum(n[order])
    need = max(int(np.ceil(confidence * int(upto[-1]) - 1e-9)), 1)
    end = np.searchsorted(upto, upto - n[order] + need)  # the first place where enough rows lie between
    start = np.flatnonzero(end < len(moved))
    return float((moved[end[start]] - moved[start]).min())


@measure(
    title="noise interval",
    question="How long is the interval in which a released number places the original, in the least hidden column?",
    better="higher",
    unit="share of the range",
    bounds=(0, float("inf")),
    source="Agrawal and Srikant 2000; Manta 2013, sec. 5.1.1",
    sentence=from_zero(
        "In at least one column, as many numbers as the confidence demands were moved by the same amount, or not at all. "
        "An adversary who knows that amount knows their originals.",
        "In the least hidden column, a released number shows, at the stated confidence, that the original lies in an "
        "interval {} as long as the column's range.",
    ),
    knows="which released row is the person's",
    misleads="It looks at one number at a time. The distribution of the column and the other numbers of the row can place the "
    "original more closely (Agrawal and Aggarwal 2001). Number columns without noise count too.",
    needs=frozenset({"original", "pairs"}),
    people=True,
    joins=True,
    parameters={"confidence": Number(0.95, 0.01, 1)},
)
def noise_interval(evidence: Evidence, column: None, confidence: float) -> Score:
    """The shortest interval with `confidence` of the differences original - released, over the range of the original.

    With uniform noise on [-a, a] and confidence c that is `2 a c`; with Gaussian noise of deviation s 1.349 s, 3.92 s and
    6.58 s at 50%, 95% and 99.9%, the confidences of the paper, which prints 1.34, 3.92 and 6.8 (the last is too long).
    They give the length itself; divided by the range columns can be compared. The quasi-identifier with the shortest
    counts; those that are not numbers on both sides, or constant, are left out.
    Extremes: 0 for the identity; above 1 where the noise is wider than the column.
    """
    lengths = {}
    for name, (x, y, n) in perturbed(evidence, "noise_interval").items():
        lengths[name] = shortest(x - y, n, confidence) / float(np.ptp(x))
    worst = min(lengths, key=lambda name: lengths[name])
    return Score(lengths[worst], "share of the range", details={"worst": worst, "columns": lengths})
