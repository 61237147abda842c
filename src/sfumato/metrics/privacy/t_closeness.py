"""t-closeness by earth mover's distance (Li, Li, Venkatasubramanian 2007; Manta 3.2.3)."""

from functools import lru_cache, partial

import numpy as np

from ...core.classes import Classes, Sensitive
from ...core.column import FloatArray, IntArray
from ...core.counts import exact
from ...core.errors import Unavailable
from ...core.metric import Usual, measure
from ...core.parameter import Choice
from ...core.words import about, from_zero
from ..earth_mover import ordered_distance


def emd_equal(classes: Classes) -> FloatArray:
    """Earth mover's distance where all values are equally far apart: half the L1 distance.

    Both distributions sum to 1, so half of |p - q| is the part where p exceeds q, and only values in the class can.
    """
    return classes.sum(np.maximum(classes.p - classes.q, 0.0))


def emd_ordered(classes: Classes, rank: IntArray) -> FloatArray:
    """Earth mover's distance over m values in order, neighbours 1/(m-1) apart (Manta eq. 3.1)."""
    m = len(classes.sensitive.total)
    if m < 2:
        return np.zeros(len(classes))
    place = rank[classes.value]
    order = np.argsort(classes.member * m + place, kind="stable")
    prior = np.empty(m)
    prior[rank] = classes.sensitive.prior
    cumulative = np.cumsum(prior)
    area = np.append(0.0, np.cumsum(cumulative))  # area[i] = Q_0 + ... + Q_(i-1)
    distance = ordered_distance(
        classes.member[order],
        place[order],
        classes.p[order],
        m,
        lambda x: area[x],
        lambda level: np.searchsorted(cumulative, level),
    )
    return np.clip(distance, 0.0, 1.0)


def emd_taxonomy(classes: Classes, levels: list[IntArray]) -> FloatArray:
    """Earth mover's distance where two values are as far apart as their lowest common ancestor is high, by the height.

    `levels[h]` is the node of each value at height h, from the values themselves to just below the root. Li et al. sum
    over the nodes what must flow through them; in a tree of even height that is the mean over the heights of the equal
    distance between nodes: what passes through a node at h pays 1/2H on its way up and 1/2H on its way down.
    """
    work = np.zeros(len(classes))
    for node in levels:
        total = exact(np.bincount(node, weights=classes.sensitive.total))
        rolled = Sensitive(classes.sensitive.column, total)
        work += emd_equal(
            Classes.of(classes.member, classes.n, count=len(classes), value=node[classes.value], sensitive=rolled)
        )
    return np.clip(work / len(levels), 0.0, 1.0)


@lru_cache(maxsize=8)  # a sanitizer asks at every cut
def nodes(sensitive: Sensitive) -> list[IntArray]:
    """The taxonomy node of each value, level by level below the root; the missing value stays alone up to there."""
    taxonomy, line = sensitive.lines("t_closeness[taxonomy]", "use t_closeness[equal]")
    below_root = taxonomy.codes()[: max(taxonomy.height, 1)]
    return [np.where(line < 0, code.max() + 1, code[line]) for code in below_root]


@measure(
    title="t-closeness",
    question="How much do the sensitive values of the worst class differ from those of the whole table?",
    unit="earth mover's distance",
    monotone=True,
    convex=True,
    source="Li, Li, Venkatasubramanian 2007; Manta 2013, sec. 3.2.3, eq. 3.1",
    sentence=from_zero(
        "Every class has the same distribution of sensitive values as the whole table, so a class tells nothing new about "
        "them.",
        "Turning the sensitive values of the worst class into those of the whole table takes "
        "{} of the most work possible (0: no difference, 1: everything moved as far as it can).",
        partial(about, apart=1),
    ),
    usual=Usual(60, {"ground": "equal"}, compared=True),
    keeps="certainty",
    misleads="Two classes at the same distance can differ in what they reveal (Afifi et al. 2018, ex. 4). With thousands of "
    "ordered values, even a class with a single value can look close.",
    needs=frozenset({"sensitive"}),
    parameters={"ground": Choice(("ordered", "equal", "taxonomy"))},
)
def t_closeness(classes: Classes, ground: str) -> FloatArray:
    """Earth mover's distance between a class and the table; the worst class counts.

    `equal`: every two values are 1 apart, `1/2 sum_w |p(w|c) - p(w)|`. `ordered`: values stand in their order, neighbours
    1/(m-1) apart, `1/(m-1) sum_i |sum_{j<=i} p_j - q_j|` (eq. 3.1), the missing value last; m counts the values that occur.
    `taxonomy`: two values are as far apart as the level of their lowest common ancestor, by the height of the taxonomy (Li et
    al., hierarchical distance); the missing value is a leaf of its own directly under the root.
    Extremes: 0 where every class is like the table; 1 where a class sits at one end of the order and the table at the other.
    """
    if ground == "equal":
        return emd_equal(classes)
    if ground == "taxonomy":
        return emd_taxonomy(classes, nodes(classes.sensitive))
    if classes.sensitive.rank is None:
        name = classes.sensitive.column.name
        raise Unavailable(
            f"t_closeness[ordered] needs an order of the values of {name!r}, which are neither numbers nor dates; "
            f"state it in the roles file under [orders], or use t_closeness[equal]."
        )
    return emd_ordered(classes, classes.sensitive.rank)
