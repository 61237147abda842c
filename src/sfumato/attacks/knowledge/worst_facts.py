"""The most that k facts can tell, chosen by the worst adversary (Martin, Kifer, Machanavajjhala, Gehrke, Halpern 2007, "Worst-case
background knowledge for privacy-preserving data publishing").

Their language L^k_basic: k basic implications `if A and ... then B or ...` over atoms "person p has value s". The worst are
`if A_i then C`, all with the same C, as they show (and the tests, by trying all implications on small classes), and then

    P(C | facts) = 1 / (1 + r),    r = P(no A_i and not C) / P(C),

so that r is to be made small. In a class, k + 1 atoms are best put on people so that whoever has c of them has those of the c most
frequent values; people with c_0 >= c_1 >= ... atoms have none of these values with the probability

    prod_i (n - S(c_i) - i) / (n - i),    S(c) the rows of the c most frequent values.

**External may be about people of other classes**, and then the largest over the classes, each with facts of its own, is too little:
only for k = 1 it is not. Classes are independent, so minima are multiplied. A class may be used twice in that
product without harm: the values of a class are negatively associated, so that two sets of atoms in it are never worse together
than as if they were in two copies of the class. Therefore one minimum a number of atoms is enough of all other classes.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from ...core.classes import Classes
from ...core.column import FloatArray, IntArray
from ...core.counts import pack
from ...core.errors import InputError

Knowledge = Literal["implications", "negations"]
MOST = 10
"""External at most: the work grows with the number of ways to divide them among people."""
_BLOCK = 50_000


def worst_posteriors(
    classes: Classes, k: int, knowledge: Knowledge = "implications", *, anywhere: bool = True
) -> FloatArray:
    """For each class the largest belief in one value of one of its people that k facts can bring about.

    `implications` as above; `negations`, "p has not s", are the l-diversity adversary's: `n_1 / (n - n_2 - ... - n_(k+1))`.
    `anywhere`: facts may be about people of other classes; a class of one value then makes any other certain, since "if A then C"
    is C where A is known. Without it facts are about people of the same class. Extremes: k = 0 gives the most frequent value's
    share; 1 where a class has at most k + 1 values; 0 of a class without rows, which tells nothing.
    """
    if not 0 <= k <= MOST or int(k) != k:
        raise InputError(f"Worst-case facts are a whole number from 0 to {MOST}.")
    kinds, where = _kinds(classes, int(k))
    size, top = kinds[:, 0], kinds[:, 1:]
    if knowledge == "negations":
        # what is left are the most frequent value and those that are neither it nor ruled out
        posteriors: FloatArray = top[:, 0] / np.maximum(size - top[:, k] + top[:, 0], 1)
        return posteriors[where]
    if knowledge != "implications":
        raise InputError("Worst-case facts are implications or negations.")
    blocks = [_least(size[i : i + _BLOCK], top[i : i + _BLOCK], int(k) + 1) for i in range(0, len(size), _BLOCK)]
    least = np.concatenate(blocks, axis=1)
    unlikely = least[k + 1]
    if anywhere:
        elsewhere = _anywhere(least[:, size > 0].min(axis=1, initial=1.0))
        unlikely = np.min([least[j] * elsewhere[k + 1 - j] for j in range(1, k + 2)], axis=0)
    posterior: FloatArray = (size > 0) / (1.0 + unlikely * size / np.maximum(top[:, 0], 1))
    return posterior[where]


def _kinds(classes: Classes, k: int) -> tuple[IntArray, IntArray]:
    """Rows and S(1), ..., S(k+1) of each class, equal ones once; and which of them each class is."""
    order = np.lexsort((-classes.n, classes.member))
    n, member = classes.n[order], classes.member[order]
    place = np.arange(len(n)) - (np.cumsum(classes.distinct) - classes.distinct)[member]
    most = np.zeros((len(classes), k + 1), dtype=np.int64)
    few = place <= k
    most[member[few], place[few]] = n[few]
    every = np.column_stack([classes.size, np.cumsum(most, axis=1)])
    key = pack(list(every.T), (every.max(axis=0) + 1).tolist(), len(every))
    _, first, where = np.unique(key, return_index=True, return_inverse=True)
    return every[first], where


def _least(size: IntArray, top: IntArray, atoms: int) -> FloatArray:
    """For 0, 1, ..., `atoms` atoms the least probability that none of them holds, for each class."""
    kept: dict[tuple[int, int, int], FloatArray] = {}

    def rest(person: int, most: int, left: int) -> FloatArray:
        """`left` atoms for this person and those after, at most `most` each."""
        if not left:
            return np.ones(len(size))
        key = (person, min(most, left), left)
        if key not in kept:
            least = np.full(len(size), np.inf)
            for c in range(1, key[1] + 1):
                # people before have c atoms or more, so their values are none of the c most frequent; past 0 nobody is left
                none = np.maximum(size - top[:, c - 1] - person, 0) / np.maximum(size - person, 1)
                least = np.minimum(least, none * rest(person + 1, c, left - c))
            kept[key] = least
        return kept[key]

    return np.stack([rest(0, j, j) for j in range(atoms + 1)])


def _anywhere(least: FloatArray) -> FloatArray:
    """The same over all classes together: atoms divided among them so that the product is least."""
    lowest = np.ones(len(least))
    for j in range(1, len(least)):
        lowest[j] = min(least[c] * lowest[j - c] for c in range(1, j + 1))
    return lowest
