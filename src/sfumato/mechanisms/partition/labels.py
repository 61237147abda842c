"""What parts of a table release: a label on every axis, and the recoding of the rows that comes to."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from ...core.arrow import integers, strings, take
from ...core.column import IntArray
from ...core.counts import Counts, exact, pack
from ...core.roles import Roles
from ...core.table import Recoding
from .axes import PartitionAxis
from .parts import Parts


def labels_of(parts: Parts, axes: list[PartitionAxis], code: IntArray, *, by_cuts: bool) -> list[list[str | None]]:
    """What each part releases on each axis."""
    labels = []
    for j, axis in enumerate(axes):
        if by_cuts:
            low, high = parts.low[j], parts.high[j]
            width = high - low + 1
            member = np.repeat(np.arange(len(parts)), width)
            held = np.arange(int(width.sum())) - np.repeat(np.cumsum(width) - width, width) + np.repeat(low, width)
        else:
            member, held = parts.member, code[j][parts.entry]
            low, high = np.minimum.reduceat(held, parts.start), np.maximum.reduceat(held, parts.start)
        labels.append(axis.spell(low, high, member, held))
    return labels


def recoding_of(
    parts: Parts, labels: list[list[str | None]], counts: Counts, roles: Roles, *, divides: bool
) -> Recoding:
    """What each tuple becomes."""
    by = counts.names if divides else roles.quasi
    codes = [counts.codes[counts.names.index(name)][parts.entry] for name in by]
    n, at = parts.n, np.arange(len(parts.entry))
    if not divides:  # entries that differ in sensitive values only share their part
        key = pack(codes, [len(counts.column(name)) for name in by], len(at))
        _, at, where = np.unique(key, return_index=True, return_inverse=True)
        n = exact(np.bincount(where, weights=parts.n, minlength=len(at)))
    columns = [take(counts.column(name).values, code[at]) for name, code in zip(by, codes, strict=True)]
    columns += [take(strings(texts), parts.member[at]) for texts in labels]
    names = [*(f"by{i}" for i in range(len(by))), *(f"to{i}" for i in range(len(labels))), "n"]
    return Recoding(by, roles.quasi, pa.Table.from_arrays([*columns, integers(n)], names=names), divides)
