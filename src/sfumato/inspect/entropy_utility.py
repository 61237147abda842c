"""Entropy utility step by step, for a user who knows something already, and for a mechanism (Askari et al. 2012, eq. 8-20).

The metrics entropy_utility and utility_degradation are eq. 14 and 15; here is what lies around them. All is in bits and
works on counts: `table.count(columns)`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..core.column import FloatArray
from ..core.counts import Counts
from ..core.cover import Domain
from ..core.errors import InputError
from ..metrics.utility.entropy_utility import entropy


def utility(counts: Counts, column: str, given: Sequence[str] = ()) -> float:
    """`U_k(A) = Hmax(A) - H(A | given)` (eq. 8, 9, 11, 13): U_1 without others, U_max with all of them.

    Hmax is log2 of the number of values that A has in the table. 0 for a column of one value, and for one whose values are
    equally frequent whatever the others are; Hmax where the others determine it.
    """
    _known(counts, (column, *given))
    others = [name for name in given if name != column]
    left = entropy(counts, [column, *others]) - entropy(counts, others)
    return max(_hmax(counts, column) - max(left, 0.0), 0.0)


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
    _known(counts, (column,))
    held = [0.0]
    domain, values = Domain(counts.column(column)), set(counts.column(column).texts)
    for each in known:
        if column in each.names:
            others = [name for name in each.names if name in counts.names and name != column]
            texts = each.column(column).texts
            plain = np.array([text in values or domain.covered(text) is None for text in texts])
            told = plain[each.codes[each.names.index(column)]]
            clear = each.only(told)
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


def expected_degradation(prior: FloatArray, channel: FloatArray, degradation: FloatArray) -> float:
    """`sum_T P(T) sum_T' P(T'|T) degradation(T, T')` (eq. 16): what a mechanism costs on average."""
    prior, channel, degradation = (np.asarray(x, dtype=np.float64) for x in (prior, channel, degradation))
    if channel.shape != degradation.shape or prior.shape != channel.shape[:1]:
        raise InputError("Prior, channel and degradation do not fit: one row per input, one column per output.")
    for name, each in (("prior", prior[None]), ("channel", channel)):
        if (each < 0).any() or (np.abs(each.sum(axis=1) - 1.0) > 1e-9).any():
            raise InputError(f"The {name} is not a distribution: entries of at least 0 that sum to 1.")
    return float(prior @ (channel * degradation).sum(axis=1))


def over_users(expected: Sequence[float], weights: Sequence[float]) -> float:
    """`sum_p P(p) Utility^p` over a population of users (eq. 20); the weights are made to sum to 1."""
    share = np.asarray(weights, dtype=np.float64)
    if len(share) != len(expected) or not share.sum() > 0 or (share < 0).any():
        raise InputError("Give each user a weight of at least 0, and one of them more than 0.")
    return float(share @ np.asarray(expected, dtype=np.float64) / share.sum())


def _hmax(counts: Counts, column: str) -> float:
    return float(np.log2(len(counts.column(column))))


def _known(counts: Counts, columns: Sequence[str]) -> None:
    for name in columns:
        if name not in counts.names:
            raise InputError(f"Column {name!r} was not counted; count it with the others.")
