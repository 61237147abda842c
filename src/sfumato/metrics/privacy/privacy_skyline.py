"""Privacy skyline: three kinds of background knowledge at once, each with its own amount (Chen, LeFevre, Ramakrishnan 2007)."""

from functools import partial

import numpy as np

from ...core.classes import Classes
from ...core.column import FloatArray, IntArray
from ...core.metric import QUASI_KNOWN, Score, measure
from ...core.parameter import Number
from ...core.release import Evidence
from ...core.words import below_one, up

MOST = 20
"""Facts of a kind up to which the worst ones are looked for."""


@measure(
    title="privacy skyline",
    question="How sure can an adversary become who also knows what a person does not have, what others have, and who is alike?",
    unit="probability",
    scope="classes",
    source="Chen, LeFevre, Ramakrishnan 2007, the three-dimensional privacy criterion",
    sentence=below_one(
        "An adversary who knows as much about the person, about others and about people alike as asked for, the worst there is, can be "
        "certain of somebody's value.",
        "An adversary who knows as much about the person, about others and about people alike as asked for, the worst there is, believes in "
        "no sensitive value of anybody with a probability above {}.",
        partial(up, digits=4, short_of=1),
    ),
    knows=f"{QUASI_KNOWN}; l values that the person does not have, the values of k others, and m people of whom each having a value means "
    "that the person has it",
    keeps="certainty",
    misleads="It takes the worst facts of each kind for every value and person, which no real adversary knows about everybody; and only these "
    "three kinds (see worst_case_background for any implications).",
    needs=frozenset({"sensitive"}),
    parameters={
        "l": Number(1, 0, MOST, whole=True),
        "k": Number(1, 0, MOST, whole=True),
        "m": Number(0, 0, MOST, whole=True),
    },
)
def privacy_skyline(evidence: Evidence, column: str, l: int = 1, k: int = 1, m: int = 0) -> Score:  # noqa: E741
    """The largest `P(t has s | release, t lacks l values, k others have theirs, m times "if v has s then t has s")`.

    Of a class of n people, s of whom have the value, r have neither it nor one of the l most frequent others: then the belief is
    `s / (s + (r - k) q)`, where q is the chance that none of the m people has the value although t lacks it. The m are of one class
    (congregation, theorem 3): t's own, where `q = C(n-k-1-s, m) / C(n-k-1, m)`, or any other, where `q = C(n'-k'-s', m) / C(n'-k', m)` and k'
    of the k facts are spent there. The largest over all of these, values and classes; exact.
    Extremes: l = k = m = 0 gives positive_disclosure; 1 where what is left of a class has one value.
    """
    classes = evidence.classes(column)
    n, s = classes.size[classes.member], classes.n
    rest = n - s - _most_frequent_others(classes, l)
    own = rest - k
    best = _belief(s, own, _none_of(n - k - 1, s, m))
    if m:
        for there in range(k + 1):
            q = _elsewhere(classes, there, m)
            best = np.maximum(best, _belief(s, rest - (k - there), q))
    numbers = np.zeros(len(classes))
    np.maximum.at(numbers, classes.member, best)
    hit = numbers == numbers.max()
    details = {"worst_classes": int(hit.sum()), "worst_rows": int(classes.people[hit].sum())}
    return Score(float(numbers.max()), "probability", "exact", numbers, details=details)


def _belief(s: IntArray, others: IntArray, q: FloatArray) -> FloatArray:
    """By the odds of having the value against lacking it."""
    against = np.maximum(others, 0) * q
    belief: FloatArray = s / (s + against)
    return belief


def _none_of(people: IntArray, with_it: IntArray, m: int) -> FloatArray:
    """`C(people - with_it, m) / C(people, m)`: that m of the people, drawn at random, all lack the value; 0 where they cannot."""
    q = np.ones(len(people))
    for drawn in range(m):
        q = q * np.clip(people - with_it - drawn, 0, None) / np.maximum(people - drawn, 1)
    return q


def _most_frequent_others(classes: Classes, l: int) -> IntArray:  # noqa: E741
    """For each entry, how many rows of its class have one of the l most frequent values besides its own."""
    order = np.lexsort((-classes.n, classes.member))
    start = np.searchsorted(classes.member[order], np.arange(len(classes)))
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order)) - start[classes.member[order]]

    def of_the_first(count: int) -> IntArray:
        rows: IntArray = np.bincount(classes.member, weights=classes.n * (rank < count), minlength=len(classes)).astype(
            np.int64
        )
        return rows[classes.member]

    most: IntArray = np.where(rank < l, of_the_first(l + 1) - classes.n, of_the_first(l))
    return most


def _elsewhere(classes: Classes, known: int, m: int) -> FloatArray:
    """For each entry, the least chance that m people of another class all lack its value, where `known` of those who do are known."""
    people = classes.size[classes.member]
    known_there = np.minimum(known, people - classes.n)
    q = _none_of(people - known_there, classes.n, m)
    order = np.lexsort((q, classes.value))
    value = classes.value[order]
    first = np.flatnonzero(np.append(True, value[1:] != value[:-1])) if len(value) else np.zeros(0, dtype=np.int64)
    least = np.ones(int(classes.value.max(initial=-1)) + 1)
    second, whose = least.copy(), np.full(len(least), -1)
    least[value[first]], whose[value[first]] = q[order][first], classes.member[order][first]
    after = first[(first + 1 < len(value))]
    after = after[value[after + 1] == value[after]]
    second[value[after]] = q[order][after + 1]
    found: FloatArray = np.where(whose[classes.value] == classes.member, second[classes.value], least[classes.value])
    return found
