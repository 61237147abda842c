"""What an adversary may believe before the release: the overall distribution, a joint estimate, low-order margins.

Afifi, Zhou, Ren 2018, Def. 2. A prior is asked for the distribution of one attribute in each class of a release. Its own
tuples may be finer than the release's: a class stands for all tuples that its released values cover. Where they hold the
released values of a column by their own spelling, they are taken by it.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np

from ..core.arrow import strings
from ..core.classes import Classes
from ..core.column import Column, FloatArray, IntArray, encode
from ..core.counts import Counts, pack
from ..core.cover import Domain
from ..core.errors import InputError, Unavailable
from ..core.noun import dataclass
from ..core.release import Release
from ..core.roles import Roles
from ..core.table import Table
from .ipf import ipf

Unseen = Literal["refuse", "overall"]
_CELLS = 20_000_000  # a fitted table holds every combination; beyond this it is refused
_BLOCK = 5_000_000


@dataclass(frozen=True)
class Overall:
    """The overall distribution of the attribute in the release, the same for every class. The default."""


@dataclass(frozen=True, eq=False)
class Joint:
    """An estimated joint distribution of the given columns and the attribute.

    `of` is an external table, whose rows are counted, or a mapping from (given values ..., value of the attribute) to a
    probability or a count. A class that no tuple of it falls into is refused, or with unseen="overall" gets the overall
    distribution of the release.
    """

    of: Table | Mapping[tuple[str | None, ...], float]
    unseen: Unseen = "refuse"


@dataclass(frozen=True, eq=False)
class Margins:
    """Low-order margins, and nothing beyond them: the joint distribution is fitted to them by `ipf`.

    `of` names them as tuples of columns, or is their order: 1 is independence, 2 all pairs. They are taken from `table`, or
    from the release itself where none is given.
    """

    of: int | Sequence[tuple[str, ...]] = 2
    table: Table | None = None
    unseen: Unseen = "refuse"


Prior = Overall | Joint | Margins


@dataclass(frozen=True, eq=False)
class Belief:
    """A distribution over `values` in each class, sparse: `p` of `value` in class `member`; `unseen` classes have none.

    The first values are the release's, in its order; values that only the prior knows follow.
    """

    member: IntArray
    value: IntArray
    p: FloatArray
    values: list[str | None]
    unseen: IntArray


def believe(prior: Joint | Margins, release: Release, roles: Roles, classes: Classes, tuples: Counts) -> Belief:
    """What the prior says of the attribute in each class."""
    attribute = classes.sensitive.column
    names = (*tuples.names, attribute.name)
    source = prior.of if isinstance(prior, Joint) else prior.table or release.table
    columns, codes, weight = _cells(source, names)
    value, values = _values(attribute, columns[-1], roles)
    covers = [_cover(have, raw, roles) for have, raw in zip(tuples.columns, columns, strict=False)]
    if isinstance(prior, Joint):
        member, cell = _match(tuples, covers, codes[:-1])
        member, value, weight = member, value[codes[-1]][cell], weight[cell]
    else:
        member, value, weight = _fitted(prior, tuples, covers, codes, value, len(values), weight, names)
    width = len(values)
    key, where = np.unique(member * width + value, return_inverse=True)
    summed = np.bincount(where, weights=weight, minlength=len(key))
    key, summed = key[summed > 0], summed[summed > 0]
    member, value = key // width, key % width
    mass = np.bincount(member, weights=summed, minlength=len(classes))
    unseen = np.flatnonzero(mass <= 0)
    if len(unseen) == len(classes) or (len(unseen) and prior.unseen == "refuse"):
        raise Unavailable(
            f"The prior says nothing about {len(unseen)} of the {len(classes)} classes over {', '.join(tuples.names)}; give a prior "
            "that covers them, or set unseen='overall' to use the overall distribution there."
        )
    return Belief(member, value, summed / mass[member], values, unseen)


def _cells(
    source: Table | Mapping[tuple[str | None, ...], float], names: tuple[str, ...]
) -> tuple[list[Column], list[IntArray], FloatArray]:
    """The tuples of a prior with their weights."""
    if isinstance(source, Table):
        source.require_columns(names, f"so it cannot be a prior over {', '.join(names)}")
        counts = source.count(names)
        return list(counts.columns), list(counts.codes), counts.n.astype(np.float64)
    weight = np.array([float(w) for w in source.values()])
    if any(len(key) != len(names) for key in source):
        raise InputError(f"A joint estimate needs a value for each of {', '.join(names)} in every tuple.")
    if not len(weight) or not np.all(np.isfinite(weight)) or np.any(weight < 0) or not weight.sum() > 0:
        raise InputError("The weights of a joint estimate must be numbers of at least 0, and not all of them 0.")
    encoded = [encode(name, strings([key[i] for key in source])) for i, name in enumerate(names)]
    return [column for column, _ in encoded], [codes for _, codes in encoded], weight


def _cover(released: Column, raw: Column, roles: Roles) -> tuple[IntArray, IntArray]:
    """Which released value (first) covers which value of the prior (second), as pairs.

    A prior that holds every released value by its own spelling speaks of these: then a value covers itself alone.
    """
    itself = raw.places(released)
    if np.all(itself >= 0):
        return np.arange(len(released)), itself
    domain = Domain(raw, roles.taxonomy(raw.name))
    covered = [domain.covered(text) for text in released.texts]
    per_value = [np.zeros(0, dtype=np.int64) if codes is None else codes for codes in covered]
    label = np.repeat(np.arange(len(per_value)), [len(codes) for codes in per_value])
    return label, np.concatenate(per_value) if per_value else np.zeros(0, dtype=np.int64)


def _one_label(cover: tuple[IntArray, IntArray], size: int) -> IntArray | None:
    """The released value of each value of the prior, -1 where there is none; None if some have several."""
    label, raw = cover
    if len(raw) and np.bincount(raw).max() > 1:
        return None
    labels = np.full(size, -1, dtype=np.int64)
    labels[raw] = label
    return labels


def _values(released: Column, raw: Column, roles: Roles) -> tuple[IntArray, list[str | None]]:
    """The value of the attribute that each of the prior's stands for: itself, what covers it, or a new one."""
    itself = released.places(raw)
    if np.all(itself >= 0):
        return itself, released.texts
    label, code = _cover(released, raw, roles)
    open_ = itself[code] < 0
    if len(code[open_]) and np.bincount(code[open_]).max() > 1:
        raise Unavailable(
            f"The released values of {released.name!r} overlap, so a prior over its original values cannot be told apart by them."
        )
    itself[code[open_]] = label[open_]
    new = np.flatnonzero(itself < 0)
    itself[new] = len(released) + np.arange(len(new))
    return itself, [*released.texts, *(raw.texts[i] for i in new)]


def _match(tuples: Counts, covers: list[tuple[IntArray, IntArray]], codes: list[IntArray]) -> tuple[IntArray, IntArray]:
    """The pairs of class and tuple of the prior where every released value covers the tuple's."""
    cells = len(codes[0])
    sizes = [int(code.max(initial=-1)) + 1 for code in codes]
    ones = [_one_label(cover, size) for cover, size in zip(covers, sizes, strict=True)]
    if all(one is not None for one in ones):  # every tuple of the prior falls into one class at the most
        at, cell = _place(tuples, [one[code] for one, code in zip(ones, codes, strict=True) if one is not None])
        return at, cell
    flags = []
    for (label, raw), column, size in zip(covers, tuples.columns, sizes, strict=True):
        flag = np.zeros((len(column), size), dtype=bool)
        flag[label, raw] = True
        flags.append(flag)
    members, values = [], []
    block = max(1, _BLOCK // max(cells, 1))
    for start in range(0, len(tuples), block):
        stop = min(start + block, len(tuples))
        inside = np.ones((stop - start, cells), dtype=bool)
        for flag, code, released in zip(flags, codes, tuples.codes, strict=True):
            inside &= flag[released[start:stop]][:, code]
        member, cell = np.nonzero(inside)
        members.append(member + start)
        values.append(cell)
    return np.concatenate(members), np.concatenate(values)


def _place(tuples: Counts, labels: list[IntArray]) -> tuple[IntArray, IntArray]:
    """The class of each tuple of released values that forms one, and which tuples these are."""
    at = tuples.find(labels)
    cell = np.flatnonzero(at >= 0)
    return at[cell], cell


def _fitted(
    prior: Margins,
    tuples: Counts,
    covers: list[tuple[IntArray, IntArray]],
    codes: list[IntArray],
    value: IntArray,
    width: int,
    weight: FloatArray,
    names: tuple[str, ...],
) -> tuple[IntArray, IntArray, FloatArray]:
    """The fitted distribution in each class."""
    shape = (*(len(column) for column in tuples.columns), width)
    if np.prod([float(size) for size in shape]) > _CELLS:
        raise Unavailable(
            f"Fitting margins over {', '.join(names)} takes more than {_CELLS:,} combinations; give fewer columns."
        )
    labels = []
    for name, cover, code in zip(names, covers, codes, strict=False):
        one = _one_label(cover, int(code.max(initial=-1)) + 1)
        if one is None:
            raise Unavailable(
                f"The released values of {name!r} overlap, so margins over them cannot be taken from another table."
            )
        labels.append(one[code])
    labels.append(value[codes[-1]])
    inside = np.all([label >= 0 for label in labels], axis=0)
    if not inside.any():
        raise Unavailable("The released values cover no row of the table that the margins are taken from.")
    labels, weight = [label[inside] for label in labels], weight[inside]
    margins = []
    for kept in _kept(prior, names):
        size = tuple(shape[i] for i in kept)
        key = pack([labels[i] for i in kept], size, len(weight))
        sums: FloatArray = np.bincount(key, weights=weight, minlength=int(np.prod(size))).astype(np.float64)
        margins.append((kept, sums.reshape(size)))
    table, _ = ipf(margins, shape)
    share = table[tuples.codes]  # of each class, all values of the attribute: no more cells than were fitted
    member, at = np.nonzero(share)
    return member, at, share[member, at]


def _kept(prior: Margins, names: tuple[str, ...]) -> list[tuple[int, ...]]:
    """The margins as positions of their columns."""
    if isinstance(prior.of, int):
        if not 1 <= prior.of <= len(names):
            raise InputError(f"Margins of {len(names)} columns have an order from 1 to {len(names)}.")
        return list(itertools.combinations(range(len(names)), prior.of))
    for margin in prior.of:
        for name in margin:
            if name not in names:
                raise InputError(f"A margin names the column {name!r}, which is not among {', '.join(names)}.")
        if len(set(margin)) < len(margin) or not margin:
            raise InputError("A margin names each of its columns once, and at least one.")
    if not any(names[-1] in margin for margin in prior.of):
        raise InputError(f"No margin contains {names[-1]!r}, so the prior says nothing about it.")
    return [tuple(names.index(name) for name in margin) for margin in prior.of]
