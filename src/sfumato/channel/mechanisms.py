"""Published mechanisms as channels, so that generalization, randomization and differential privacy stand on one scale.

PRAM, generalization and local noise take one record's value; the geometric mechanism takes a count; anatomy takes the
sensitive values of a whole table. `Channel.times` makes a channel for several records out of one for each.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations, product
from typing import Any

import numpy as np

from ..core.column import FloatArray, IntArray
from ..core.errors import InputError
from ..core.metric import Exactness
from ..core.noun import dataclass
from .adversary import adversaries
from .channel import Channel, Names, sparse
from .prior import Prior
from .utility import degradation
from .worst_prior import worst_prior

MOST_TABLES = 50_000
MOST_PARTITIONS = 5_000


def pram(values: int | Names, keep: float) -> Channel:
    """A value stays with probability `keep` and becomes each other one with the same probability (Kooiman et al. 1997).

    Extremes: the identity at keep = 1; a channel that tells nothing at keep = 1/n. Under a uniform prior the error is 1 - keep
    while keep is at least 1/n.
    """
    names, size = _values(values)
    if not 0 <= keep <= 1:
        raise InputError("pram: keep is a probability, from 0 to 1.")
    matrix = np.full((size, size), (1 - keep) / max(size - 1, 1))
    np.fill_diagonal(matrix, keep if size > 1 else 1.0)
    return Channel(matrix=matrix, inputs=names, outputs=names)


def geometric(values: int | Names, ratio: float) -> Channel:
    """Two-sided geometric noise, `P(y|x) ~ ratio^|x - y|`, clamped to the ends: what lies beyond falls on them.

    The ends have `ratio^d / (1 + ratio)`, all others `(1 - ratio)/(1 + ratio) ratio^d` (Ghosh, Roughgarden, Sundararajan 2009).
    Extremes: the identity at ratio = 0; for ratio towards 1 everything falls on the ends, equally.
    """
    names, size = _values(values)
    if not 0 <= ratio < 1:
        raise InputError("geometric: the ratio is at least 0 and below 1.")
    if size == 1:
        return Channel(matrix=np.ones((1, 1)), inputs=names, outputs=names)
    apart = np.abs(np.subtract.outer(np.arange(size), np.arange(size))).astype(np.float64)
    matrix = (1 - ratio) / (1 + ratio) * ratio**apart
    matrix[:, [0, -1]] = (ratio**apart / (1 + ratio))[:, [0, -1]]
    return Channel(matrix=matrix / matrix.sum(axis=1, keepdims=True), inputs=names, outputs=names)


def count_query(rows: int, eps: float) -> Channel:
    """An eps-differentially private count among `rows` people, 0 to rows, by the geometric mechanism: `C_xy <= e^eps C_(x+1)y`."""
    return geometric(range(_rows(rows) + 1), math.exp(-_eps(eps)))


def local_noise(values: int | Names, eps: float) -> Channel:
    """Geometric noise on one record's ordered value, wide enough that eps covers any two of them (local differential privacy)."""
    _, size = _values(values)
    return geometric(values, math.exp(-_eps(eps) / max(size - 1, 1)))


def generalization(values: int | Names, groups: Sequence[Iterable[int]]) -> Channel:
    """Each value is released as the group that it is in: error 1 - groups/n under a uniform prior, its lower bound."""
    names, size = _values(values)
    place = np.full(size, -1)
    sets = [sorted(group) for group in groups]
    for i, group in enumerate(sets):
        if not group or min(group) < 0 or max(group) >= size or (place[group] >= 0).any():
            raise InputError(f"Group {i + 1} is empty, or has a value that is not there, or one of another group.")
        place[group] = i
    if (place < 0).any():
        raise InputError(f"{int((place < 0).sum())} values are in no group.")
    return Channel(matrix=np.eye(len(sets))[place], inputs=names, outputs=[tuple(group) for group in sets])


def neighbouring(size: int, k: int) -> list[range]:
    """Groups of k neighbours in the order of the values; what is left over joins the last one. k-anonymity of a domain."""
    if not 1 <= k <= size:
        raise InputError(f"A group has from 1 to {size} of {size} values.")
    starts = [i * k for i in range(size // k)]
    return [range(a, b) for a, b in zip(starts, [*starts[1:], size], strict=True)]


def anatomy(rows: int, values: int, diversity: int) -> Channel:
    """Anatomy (Xiao and Tao 2006): who is in which group is released, and which sensitive values each group has.

    Inputs are all ways to give `rows` people one of `values` sensitive values that admit `rows // diversity` groups of at least
    `diversity` people, all of different value; such a partition is drawn, all alike, and released with each group's values.
    With one group of all rows the error is 1 - 1/rows! under a uniform prior, since every order of the values is as likely.
    """
    _rows(rows)
    if not 1 <= diversity <= min(rows, values):
        raise InputError("anatomy: the diversity is from 1 to the lesser of rows and values.")
    if values**rows > MOST_TABLES:
        raise InputError(f"anatomy as a channel has values^rows inputs, up to {MOST_TABLES:,}.")
    tables = np.array(list(product(range(values), repeat=rows)), dtype=np.int64)
    who, what = [], []
    for number, partition in enumerate(_partitions(rows, rows // diversity, diversity)):
        if number >= MOST_PARTITIONS:
            raise InputError("anatomy: there are too many ways to make groups of so many rows.")
        released = np.full((len(tables), rows), -1)
        fits = np.ones(len(tables), dtype=bool)
        start = 0
        for group in partition:
            inside = np.sort(tables[:, group], axis=1)
            fits &= (np.diff(inside, axis=1) > 0).all(axis=1)
            released[:, start : start + len(group)] = inside
            start += len(group)
        who.append(np.flatnonzero(fits))
        what.append(np.column_stack([np.full(len(who[-1]), number), released[fits]]))
    row = np.concatenate(who)
    if not len(row):
        raise InputError("anatomy: no table of so many rows admits such groups.")
    names, column = np.unique(np.concatenate(what), axis=0, return_inverse=True)
    there, at = np.unique(row, return_inverse=True)
    weight = 1.0 / np.bincount(at)[at]
    matrix = sparse().csr_array((weight, (at, column.ravel())), shape=(len(there), len(names)))
    return Channel(
        matrix=matrix,
        inputs=[tuple(table) for table in tables[there].tolist()],
        outputs=[tuple(name) for name in names.tolist()],
    )


def _partitions(rows: int, groups: int, least: int) -> Iterator[tuple[tuple[int, ...], ...]]:
    """All ways to divide the rows into so many groups of at least so many."""

    def divided(left: tuple[int, ...], count: int) -> Iterator[tuple[tuple[int, ...], ...]]:
        if count == 1:
            yield (left,)
            return
        first, rest = left[0], left[1:]
        for size in range(least - 1, len(rest) - least * (count - 1) + 1):
            for others in combinations(rest, size):
                remaining = tuple(each for each in rest if each not in others)
                for more in divided(remaining, count - 1):
                    yield ((first, *others), *more)

    return divided(tuple(range(rows)), groups)


# --- one table -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class MechanismErrors:
    """A mechanism on the common scale: the errors of the four adversaries, the largest over all priors, and what it costs."""

    mechanism: str
    parameter: str
    inputs: int
    outputs: int
    neither: float
    prior: float
    mechanism_known: float
    both: float
    worst_prior: float
    exactness: Exactness
    degradation: float | None


def comparison(
    channels: Mapping[tuple[str, str], Channel],
    *,
    prior: Prior = None,
    costs: Mapping[tuple[str, str], Any] | None = None,
) -> list[MechanismErrors]:
    """One table of mechanisms, each under its (mechanism, parameter); `costs` as `utility.degradation` takes them."""
    lines = []
    for (mechanism, parameter), channel in channels.items():
        four, worst = adversaries(channel, prior), worst_prior(channel)
        cost = (costs or {}).get((mechanism, parameter))
        lines.append(
            MechanismErrors(
                mechanism,
                parameter,
                *channel.shape,
                four.neither,
                four.prior,
                four.mechanism,
                four.both,
                worst.error,
                worst.exactness,
                None if cost is None else degradation(channel, cost, prior),
            )
        )
    return lines


def distances(size: int, groups: Sequence[Iterable[int]] | None = None) -> FloatArray:
    """`|x - y|/(n - 1)`: a degradation for ordered values; of a released group, the mean over the values in it."""
    places: IntArray = np.arange(size)
    apart = np.abs(np.subtract.outer(places, places)) / max(size - 1, 1)
    if groups is None:
        return apart
    return np.stack([apart[:, list(group)].mean(axis=1) for group in groups], axis=1)


def _values(values: int | Names) -> tuple[Names | None, int]:
    names, size = (None, values) if isinstance(values, int) else (values, len(values))
    if size < 1:
        raise InputError("A mechanism needs at least one value.")
    return names, size


def _rows(rows: int) -> int:
    if rows < 1:
        raise InputError("A table has at least one row.")
    return rows


def _eps(eps: float) -> float:
    if not (math.isfinite(eps) and eps > 0):
        raise InputError("eps is a finite number above 0.")
    return eps
