"""Distance of the joint distribution of two columns from the original's, generalized values spread evenly."""

import itertools

import numpy as np

from ...core.column import FloatArray, IntArray
from ...core.counts import Counts
from ...core.errors import Unavailable
from ...core.group_join import Joined
from ...core.metric import Score, measure
from ...core.noun import dataclass
from ...core.release import Evidence
from ...core.words import from_zero
from .column_distance import Spread, margin, spread
from .entropy_utility import expected, joint, shared_columns

GROUPS = 128
"""A column of more values is compared in this many groups of neighbouring values, of about equal rows."""
BLOCK = 4_000_000


def groups(n: IntArray, rank: IntArray | None) -> IntArray:
    """The group of each value, from the rows of each and their order (of texts the alphabet's, for want of another)."""
    if len(n) <= GROUPS:
        return np.arange(len(n))
    order = np.arange(len(n)) if rank is None else np.argsort(rank)
    ahead = np.empty(len(n), dtype=np.int64)
    ahead[order] = np.cumsum(n[order]) - n[order]
    return np.unique(ahead * GROUPS // max(int(n.sum()), 1), return_inverse=True)[1].astype(np.int64)


@dataclass(frozen=True, eq=False)
class GroupShares:
    """Released values by what they spread to: value r is of kind `kind[r]`, and kind k gives `share[k, g]` to group g.

    Values that fall in one group are one kind, so an ungeneralized column of a million values has few kinds.
    What lies elsewhere than in the original is in no group.
    """

    kind: IntArray
    share: FloatArray

    @classmethod
    def of(cls, even: Spread, group: IntArray) -> "GroupShares":
        """From the spread over single values."""
        width = int(group.max()) + 1
        place = np.where(even.value < even.size, np.append(group, width)[np.minimum(even.value, even.size)], width)
        first = np.flatnonzero(np.diff(even.released, prepend=-1))
        low, high = np.minimum.reduceat(place, first), np.maximum.reduceat(place, first)
        several = low != high
        kind = np.where(several, width + np.cumsum(several), low)  # a kind of its own, or its group
        rows = width + 1 + int(several.sum())
        inside = several[even.released] & (place < width)
        key = kind[even.released[inside]] * width + place[inside]
        share = np.bincount(key, weights=even.share[inside], minlength=rows * width).astype(np.float64)
        share = share.reshape(rows, width)
        share[np.arange(width), np.arange(width)] = 1.0
        return cls(kind, share)


def spread_pairs(a: IntArray, b: IntArray, n: IntArray, left: FloatArray, right: FloatArray) -> FloatArray:
    """`left' M right`, M the counts `n` of kinds `a` and `b`: dense where M is small, else by its entries, in blocks."""
    wide = right.shape[0]
    if left.shape[0] * wide <= BLOCK:
        dense = np.bincount(a * wide + b, weights=n, minlength=left.shape[0] * wide).reshape(-1, wide)
        return np.asarray(left.T @ (dense @ right), dtype=np.float64)
    key, where = np.unique(a * wide + b, return_inverse=True)
    rows = np.bincount(where, weights=n)
    total, step = np.zeros((left.shape[1], right.shape[1])), max(1, BLOCK // right.shape[1])
    for start in range(0, len(key), step):
        first, second = np.divmod(key[start : start + step], wide)
        total += left[first].T @ (right[second] * rows[start : start + step, None])
    return total


def distance(
    before: Counts, after: Counts | Joined, names: tuple[str, str], by: dict[str, tuple[IntArray, GroupShares]]
) -> float:
    """The total variation distance of two columns together."""
    (one, left), (two, right) = (by[name] for name in names)
    wide = right.share.shape[1]
    cell = one[before.code(names[0])] * wide + two[before.code(names[1])]
    p = np.bincount(cell, weights=before.n, minlength=left.share.shape[1] * wide) / before.rows
    beside = after.part(names[0]) if isinstance(after, Joined) else after
    if isinstance(after, Joined) and names[1] not in beside.names:
        rows = after.pairs(names, (left.kind, right.kind), (left.share, right.share))
    else:
        a, b = map(beside.code, names)
        rows = spread_pairs(left.kind[a], right.kind[b], beside.n, left.share, right.share)
    return min(float(np.maximum(p - rows.ravel() / after.rows, 0.0).sum()), 1.0)


@measure(
    title="pair distance",
    question="How far is the joint distribution of the worst pair of columns from the original one?",
    about="utility",
    unit="total variation distance",
    source="LeFevre, DeWitt, Ramakrishnan 2006 for the even spread; total variation as in Xiao and Tao 2006",
    sentence=from_zero(
        "For every two columns, each combination of values has the same share in the release as in the original, if "
        "general values are spread evenly.",
        "For the worst pair of columns, {} of the rows would have to change to restore the original shares, if "
        "general values are spread evenly.",
    ),
    audience="recipient",
    misleads=f"Two columns with many values have few rows per combination. Much of the distance is then due to the even spread, "
    f"not to a lost relation. A column of more than {GROUPS} values is compared in {GROUPS} groups of neighbouring "
    f"values.",
    gamed="Nothing is asked of three columns together. Noise that keeps pairs of columns scores well and may spoil every larger table.",
    needs=frozenset({"original"}),
)
def pair_distance(evidence: Evidence, column: None) -> Score:
    """`max_{A,B} 1/2 sum_{v,w} |p(v,w) - p'(v,w)|`, p in the original and p' in the release, both values spread evenly.

    Over every two of the quasi-identifiers and sensitive columns; the worst pair counts, the mean stands in the details.
    Never below the column distance of either column (up to the groups). Columns of a release that only its group column joins
    are put together in every way that allows. Extremes: 0 for the identity; for two suppressed columns of m equally frequent
    values that tell each other 1 - 1/m.
    """
    table, original = evidence.release.table, evidence.original("pair_distance")
    columns = shared_columns(evidence, table, original)
    if len(columns) < 2:
        raise Unavailable("pair_distance needs two columns that both tables have; name them in quasi or sensitive.")
    before, after = joint(original, columns, "pair_distance"), expected(evidence, columns, "pair_distance")
    by = {}
    for name in columns:
        group = groups(margin(before, name), before.column(name).rank(evidence.roles.orders.get(name)))
        even = spread(evidence, before.column(name), after.column(name), "pair_distance")
        by[name] = group, GroupShares.of(even, group)
    distances = {names: distance(before, after, names, by) for names in itertools.combinations(columns, 2)}
    worst = max(distances, key=lambda names: distances[names])
    details = {
        "worst": list(worst),
        "mean": sum(distances.values()) / len(distances),
        "pairs": {" x ".join(names): value for names, value in distances.items()},
    }
    return Score(distances[worst], "total variation distance", details=details)
