"""Entropy utility step by step, for a user who knows something already, and for a mechanism (Askari et al. 2012, eq. 8-20).

The metrics entropy_utility and utility_degradation are eq. 14 and 15; here is what lies around them. All is in bits and
works on counts: `table.count(columns)`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..core.counts import Counts
from ..core.cover import Domain
from ..core.errors import InputError
from ..metrics.utility.entropy_utility import check_counted, entropy, utility


def chain(counts: Counts, column: str, others: Sequence[str] | None = None) -> list[float]:
    """`U_1(A), U_2(A), ..., U_max(A)`, taking the other columns one by one (all of them, in their order, by default).

    It never falls; the steps are I(A; B), then I(A; C | B) and so on (eq. 10 and 12).
    """
    order = [name for name in (counts.names if others is None else others) if name != column]
    return [utility(counts, column, order[:k]) for k in range(len(order) + 1)]


def background_utility(counts: Counts, column: str, known: Sequence[Counts] = ()) -> float:
    """`U_Bg(A) = Hmax(A) - H'(A | the others)` (eq. 17), H' by what the user knows already.

    `known` are distributions that the user holds, as counts over some of the columns: an earlier release, a published
    table. What is not known is uniform, which adds nothing: so are rows whose A is generalized there (`*`, an
    interval, a set, a mask). Of several distributions with A the one that says most counts.
    """
    check_counted(counts, (column,))
    held = [0.0]
    domain, values = Domain(counts.column(column)), set(counts.column(column).texts)
    for each in known:
        if column in each.names:
            others = [name for name in each.names if name in counts.names and name != column]
            texts = each.column(column).texts
            plain = np.array([text in values or domain.covered(text) is None for text in texts])
            before = plain[each.code(column)]
            clear = each.only(before)
            if clear.rows:
                left = entropy(clear, [column, *others]) - entropy(clear, others)
                held.append(clear.rows / each.rows * (_hmax(counts, column) - left))
    return max(held)


def utility_for(counts: Counts, known: Sequence[Counts] = (), weights: Mapping[str, float] | None = None) -> float:
    """`sum_i P(A_i) (U_max(A_i) - U_Bg(A_i))` (eq. 18-19), over all counted columns.

    A user who knows nothing (or uniform distributions) gets Utility(T); one who has the joint distribution already gets 0;
    below 0 if what the user holds says more than the table.
    """
    weight = np.array([float((weights or {}).get(name, 1.0)) for name in counts.names])
    if not weight.sum() > 0:
        raise InputError("Every weight is 0, so no column counts.")
    gain = [
        utility(counts, name, counts.names) - background_utility(counts, name, known) if w else 0.0
        for name, w in zip(counts.names, weight, strict=True)
    ]
    return float(weight @ np.array(gain) / weight.sum())


def _hmax(counts: Counts, column: str) -> float:
    return float(np.log2(len(counts.column(column))))
