"""(n,t)-closeness: near to a large group instead of the whole table (Li, Li, Venkatasubramanian 2010; Manta 3.2.4)."""

from collections.abc import Callable

import numpy as np

from ...core.classes import Classes, Sensitive
from ...core.column import FloatArray, IntArray
from ...core.counts import pack
from ...core.errors import Unavailable
from ...core.metric import Score, measure
from ...core.parameter import Choice, Number
from ...core.release import Evidence
from ...core.supersets import levels

WORK = 4_000_000
"""Entries (a sensitive value of a class) that may be looked at, over all levels of supersets together."""
MOST = 512
"""Levels of supersets that are looked at, at most."""
SMOOTHED = 8_000_000
"""Entries that kernel smoothing may make."""


def _sentence(value: float) -> str:
    if value <= 0:
        return "Every class has the same distribution of sensitive values as some large enough group around it."
    return (
        f"Around every class there is a large enough group from which the class's sensitive values are at most {value:.3g} "
        "away (0: no difference, 1: as different as can be); what the group as a whole tells is not counted."
    )


# --- distances of classes to their groups, over the entries alone ----------------------------------------------------


class Entries:
    """The sensitive values of the classes: `n` rows (or smoothed weight) of `value` in `member`, by member and value."""

    def __init__(self, member: IntArray, value: IntArray, n: FloatArray, count: int, m: int) -> None:
        self.member, self.value, self.n, self.m = member, value, n, m
        self.mass = np.bincount(member, weights=n, minlength=count)

    def distances(self, group: IntArray, kind: str) -> FloatArray:
        """How far each class is from its group; group -1 is none, and gives infinity."""
        at = np.flatnonzero(group[self.member] >= 0)
        member, value, n = self.member[at], self.value[at], self.n[at]
        key, where = np.unique(group[member] * self.m + value, return_inverse=True)
        mass = np.bincount(group[group >= 0], weights=self.mass[group >= 0])
        total = np.bincount(where, weights=n)
        p, q = n / self.mass[member], (total / mass[key // self.m])[where]
        far: FloatArray
        if kind == "equal":
            far = _sums(member, np.maximum(p - q, 0.0), len(group))
        elif kind == "jensen_shannon":
            both = p * np.log2(2 * p / (p + q)) + q * np.log2(2 * q / (p + q))
            # values that only the group has: each gives its whole q
            far = (_sums(member, both - q, len(group)) + 1.0) / 2
        else:
            far = self._ordered(group, member, value, p, key, total / mass[key // self.m])
        far = np.where(far < 1e-12, 0.0, np.minimum(far, 1.0))  # rounding
        return np.where(group >= 0, far, np.inf)

    def _ordered(
        self, group: IntArray, member: IntArray, place: IntArray, p: FloatArray, key: IntArray, q: FloatArray
    ) -> FloatArray:
        """Earth mover's distance in the order of the values, as t_closeness has it, but each group with its own prior."""
        if self.m < 2:
            return np.zeros(len(group))
        m, of, support = self.m, key // self.m, key % self.m
        first = np.flatnonzero(np.diff(of, prepend=-1))
        width = np.diff(np.append(first, len(of)))
        cumulative = _within(q, first, width)
        # area up to a place of the support: what the cumulative adds over the places before it
        gap = np.diff(support, prepend=0)
        gap[first] = 0
        area = _within(np.append(0.0, cumulative[:-1]) * gap, first, width)

        def upto(group_of: IntArray, x: IntArray) -> FloatArray:
            last = np.searchsorted(key, group_of * m + x) - 1
            inside = (last >= 0) & (of[last] == group_of)
            return np.where(inside, area[last] + cumulative[last] * (x - support[last]), 0.0)

        begin = np.flatnonzero(np.diff(member, prepend=-1))
        level = _within(p, begin, np.diff(np.append(begin, len(member))))
        end = np.append(place[1:], m)
        end[np.append(begin[1:], len(member)) - 1] = m
        mine = group[member]
        cross = np.minimum(
            np.searchsorted(of * 2.0 + np.minimum(cumulative, 1.0), mine * 2.0 + np.minimum(level, 1.0)), len(of) - 1
        )
        cross = np.clip(np.where(of[cross] == mine, support[cross], m), place, end)
        a, b, c = upto(mine, place), upto(mine, cross), upto(mine, end)
        work = _sums(member, level * (2 * cross - place - end) + a + c - 2 * b, len(group))
        work[member[begin]] += a[begin]
        return work / (m - 1)


def _sums(member: IntArray, term: FloatArray, count: int) -> FloatArray:
    return np.bincount(member, weights=term, minlength=count).astype(np.float64, copy=False)


def _within(term: FloatArray, first: IntArray, width: IntArray) -> FloatArray:
    """Running sums that start anew at each of `first`."""
    running = np.cumsum(term)
    return running - np.repeat(running[first] - term[first], width)


def _pairs(first: IntArray, width: IntArray) -> tuple[IntArray, IntArray]:
    """For ranges of `width` from `first`: which range, and where in it."""
    of = np.repeat(np.arange(len(width)), width)
    return of, np.arange(len(of)) + np.repeat(first - (np.cumsum(width) - width), width)


Kernel = Callable[[IntArray, IntArray], FloatArray]


def neighbours(sensitive: Sensitive, bandwidth: float) -> tuple[IntArray, IntArray, IntArray, Kernel]:
    """The values within the bandwidth of each value j, `order[start[j]:stop[j]]`, and Epanechnikov's K of two values.

    Numbers are |i - j|/R apart, values in an order likewise by rank, values in a taxonomy by the height of their lowest common
    ancestor (Manta 3.2.4), and others 1, too far to be neighbours. So is the missing value from all others.
    """
    column, m = sensitive.column, len(sensitive.total)
    alone = np.arange(m)
    x = (column.numbers if column.numbers is not None else column.quantities) if sensitive.order is None else None
    if x is None and sensitive.rank is not None:
        x = sensitive.rank.astype(np.float64)
    taxonomy = sensitive.hierarchy
    if x is not None and len(column.values) > 1:
        known = len(column.values)  # the missing value has the last code
        x = (x[:known] - x[:known].min()) / np.ptp(x[:known])
        order = np.append(np.argsort(x, kind="stable"), alone[known:])
        line, x = x[order[:known]], np.append(x, np.zeros(m - known))
        start = np.append(np.searchsorted(line, x[:known] - bandwidth, side="right"), alone[known:])
        stop = np.append(np.searchsorted(line, x[:known] + bandwidth, side="left"), alone[known:] + 1)
        return start, stop, order, lambda i, j: 1 - ((x[i] - x[j]) / bandwidth) ** 2
    if taxonomy is not None and all(text is None or text in taxonomy.index for text in column.texts):
        at = np.array([len(taxonomy.index) if text is None else taxonomy.index[text] for text in column.texts])
        codes = [np.append(code, -1)[at] for code in taxonomy.codes()]
        near = [code for height, code in enumerate(codes) if height / taxonomy.height < bandwidth]
        order = np.argsort(near[-1], kind="stable")
        line = near[-1][order]

        def kernel(i: IntArray, j: IntArray) -> FloatArray:
            height = np.sum([code[i] != code[j] for code in near], axis=0)  # of the lowest common ancestor
            k: FloatArray = 1 - (height / taxonomy.height / bandwidth) ** 2
            return k

        return np.searchsorted(line, near[-1]), np.searchsorted(line, near[-1], side="right"), order, kernel
    return alone, alone + 1, alone, lambda i, j: np.ones(len(i))


def smooth(classes: Classes, bandwidth: float) -> Entries:
    """Nadaraya and Watson's weighted average (Manta 3.2.4): rows of j go to i as `K(d_ij) / sum_j K(d_ij)`.

    The sums of it are no distribution (at the ends of a range the weights do not add up), so they are made one again.
    """
    assert classes.sensitive is not None
    start, stop, order, kernel = neighbours(classes.sensitive, bandwidth)
    width, m = stop - start, len(start)
    if int(width[classes.value].sum()) > SMOOTHED or int(width.sum()) > SMOOTHED:
        raise Unavailable(
            f"n_t_closeness[jensen_shannon]: smoothing {m} values of {classes.sensitive.column.name!r} over {len(classes.n)} "
            "counts is more than is computed here; take a smaller bandwidth, or n_t_closeness[ordered]."
        )
    of, at = _pairs(start, width)
    to = order[at]
    k = kernel(of, to)
    norm = np.bincount(to, weights=k, minlength=m)
    entry, pair = _pairs((np.cumsum(width) - width)[classes.value], width[classes.value])
    key, where = np.unique(classes.member[entry] * m + to[pair], return_inverse=True)
    spread = _sums(where, classes.n[entry] * (k / norm[to])[pair], len(key))
    kept = spread > 0
    return Entries(key[kept] // m, key[kept] % m, spread[kept], len(classes), m)


def entries(classes: Classes, distance: str, bandwidth: float) -> Entries:
    """The counts as a distance wants them: by rank, smoothed, or as they are."""
    assert classes.sensitive is not None
    m, rank = len(classes.sensitive.total), classes.sensitive.rank
    if distance == "jensen_shannon":
        return smooth(classes, bandwidth)
    if distance == "equal":
        return Entries(classes.member, classes.value, classes.n.astype(np.float64), len(classes), m)
    if rank is None:
        raise Unavailable(
            f"n_t_closeness[ordered] needs an order of the values of {classes.sensitive.column.name!r}, which are neither "
            "numbers nor dates; state it in the roles file under [orders], or use n_t_closeness[equal]."
        )
    order = np.argsort(classes.member * m + rank[classes.value], kind="stable")
    value = rank[classes.value[order]]
    return Entries(classes.member[order], value, classes.n[order].astype(np.float64), len(classes), m)


@measure(
    title="(n,t)-closeness",
    question="How far is the sensitive attribute in a class from a large group around it, at the very most?",
    about="privacy",
    better="lower",
    unit="distance",
    bounds=(0, 1),
    monotone=False,
    source="Li, Li, Venkatasubramanian 2010; Manta 2013, sec. 3.2.4, def. 9",
    sentence=_sentence,
    misleads="A group of n rows can itself be telling: if everyone of a region is ill, a class of that region is close to it. "
    "What counts as a group around a class depends on how the released values can be broadened.",
    needs=frozenset({"sensitive"}),
    scope="table",
    parameters={
        "distance": Choice(("equal", "ordered", "jensen_shannon")),
        "n": Number(1000, low=1, whole=True),
        "bandwidth": Number(0.25, low=1e-6, high=1),
    },
)
def n_t_closeness(evidence: Evidence, column: str, distance: str, n: int, bandwidth: float) -> Score:
    """The smallest `D[P_c, Q_E]` over the natural supersets E of class c with at least n rows; the worst class counts.

    A natural superset are all rows inside the class's released values after broadening them: up the taxonomy, to longer
    runs of neighbouring numbers or intervals, to shorter prefixes of masked codes, else to `*`. The class itself and the
    whole table are among them; a table of fewer than n rows is large enough, and the value is t-closeness then. The
    survey prints "more than n" rows; its example needs "at least". Where not all supersets are looked at, the value is an
    upper bound. Distances: `equal` and `ordered` are t_closeness's; `jensen_shannon` is in bits, after kernel smoothing
    over the distances of the values with Epanechnikov's kernel (its bandwidth is a share of the range; the survey leaves it
    open). Extremes: 0 if every class has n rows or is like a group that has; near 1 if a small class shares no value with others.
    """
    classes, tuples = evidence.classes(column), evidence.tuples
    enough = min(n, classes.rows)
    counted = entries(classes, distance, bandwidth)
    most = min(max(WORK // len(counted.n), 1), MOST)
    nodes, whole = levels(tuples, evidence.roles, most if enough < classes.rows else 1)
    best = np.where(classes.size >= enough, 0.0, np.inf)
    looked = 0
    for node in nodes:
        labels = [step[code] for step, code in zip(node, tuples.codes, strict=True)]
        inside = np.all([label >= 0 for label in labels], axis=0)
        key = pack([np.maximum(label, 0) for label in labels], [len(step) for step in node], len(tuples))
        _, group = np.unique(key, return_inverse=True)
        rows = np.bincount(group[inside], weights=classes.size[inside], minlength=len(group))
        wanted = np.zeros(len(rows), dtype=bool)
        wanted[group[inside & (best > 0)]] = True
        group = np.where(inside & (wanted & (rows >= enough))[group], group, -1)
        if (group >= 0).any():
            looked += 1
            best = np.minimum(best, counted.distances(group, distance))
    worst = float(best.max())
    exact = whole or enough == classes.rows or worst == 0
    details = {"n": enough, "levels_of_supersets": looked, "classes_large_enough": int((classes.size >= enough).sum())}
    return Score(worst, "distance", "exact" if exact else "bound", best, details=details)
