"""t-closeness by earth mover's distance (Li, Li, Venkatasubramanian 2007; Manta 3.2.3)."""

import numpy as np

from ...core.classes import Classes
from ...core.column import FloatArray, IntArray
from ...core.errors import Unavailable
from ...core.metric import measure
from ...core.parameter import Choice


def _sentence(value: float) -> str:
    if value <= 0:
        return "Every class has the same distribution of sensitive values as the whole table: a class teaches nothing new about them."
    return (
        f"In the class that differs most, turning its sensitive values into those of the whole table takes {value:.3g} "
        "of the most work possible (0: no difference, 1: everything moved as far as it can)."
    )


def emd_equal(classes: Classes) -> FloatArray:
    """Earth mover's distance where all values are equally far apart: half the L1 distance.

    Both distributions sum to 1, so half of |p - q| is the part where p exceeds q, and only values in the class can.
    """
    return classes.sum(np.maximum(classes.p - classes.q, 0.0))


def emd_ordered(classes: Classes, rank: IntArray) -> FloatArray:
    """Earth mover's distance over m values in order, neighbours 1/(m-1) apart (Manta eq. 3.1).

    Between two values of a class its cumulative P stands still while Q, the table's, climbs; the part of the sum between
    them is an area that prefix sums of Q give at once. The cost is the entries, never classes times values.
    """
    assert classes.sensitive is not None
    m = len(classes.sensitive.total)
    if m < 2:
        return np.zeros(len(classes))
    place = rank[classes.value]
    order = np.argsort(classes.member * m + place, kind="stable")
    member, place, p = classes.member[order], place[order], classes.p[order]
    prior = np.empty(m)
    prior[rank] = classes.sensitive.prior
    cumulative = np.cumsum(prior)
    area = np.append(0.0, np.cumsum(cumulative))  # area[i] = Q_0 + ... + Q_(i-1)
    first = np.flatnonzero(np.diff(member, prepend=-1))
    running = np.cumsum(p)
    before = np.append(0.0, running)[first]
    level = running - np.repeat(before, np.diff(np.append(first, len(member))))  # P up to and with this entry
    end = np.append(place[1:], m)
    end[np.append(first[1:], len(member)) - 1] = m
    cross = np.clip(np.searchsorted(cumulative, level), place, end)
    work = level * (cross - place) - (area[cross] - area[place]) + (area[end] - area[cross]) - level * (end - cross)
    total = np.bincount(member, weights=work, minlength=len(classes))
    total[member[first]] += area[place[first]]  # before a class's first value P is 0
    return np.clip(total / (m - 1), 0.0, 1.0)


@measure(
    title="t-closeness",
    question="How far is the sensitive attribute in a class from the whole table, at the very most?",
    about="privacy",
    better="lower",
    unit="earth mover's distance",
    bounds=(0, 1),
    monotone=True,
    source="Li, Li, Venkatasubramanian 2007; Manta 2013, sec. 3.2.3, eq. 3.1",
    sentence=_sentence,
    misleads="Two classes at the same distance can differ in what they reveal (Afifi et al. 2018, ex. 4); "
    "over an order of thousands of values a class of a single one can still look close.",
    needs=frozenset({"sensitive"}),
    parameters={"ground": Choice(("ordered", "equal"))},
)
def t_closeness(classes: Classes, ground: str) -> FloatArray:
    """Earth mover's distance between a class and the table; the worst class counts.

    `equal`: every two values are 1 apart, `1/2 sum_w |p(w|c) - p(w)|`. `ordered`: values stand in their order, neighbours
    1/(m-1) apart, `1/(m-1) sum_i |sum_{j<=i} p_j - q_j|` (eq. 3.1), the missing value last; m counts the values that occur.
    Extremes: 0 where every class is like the table; 1 where a class sits at one end of the order and the table at the other.
    """
    assert classes.sensitive is not None
    if ground == "equal":
        return emd_equal(classes)
    if classes.sensitive.rank is None:
        name = classes.sensitive.column.name
        raise Unavailable(
            f"t_closeness[ordered] needs an order of the values of {name!r}, which are neither numbers nor dates; "
            f"state it in the roles file under [orders], or use t_closeness[equal]."
        )
    return emd_ordered(classes, classes.sensitive.rank)
