"""What tables say of each person over all rows: people of whom they say the same share a history.

A history is, for each table, the multiset of the tuples in a person's rows. Histories are compared as they are, never by a hash, so no
two that differ are ever taken for one.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from .arrow import strings, take
from .column import Column, IntArray, encode
from .memory import remembered
from .noun import dataclass
from .table import Table


@dataclass(frozen=True, eq=False)
class Histories:
    """The history of each person of `column`, numbered from 0 to `count` - 1."""

    column: Column
    of_person: IntArray
    count: int

    @property
    def people(self) -> IntArray:
        """How many people share each history."""
        return np.bincount(self.of_person, minlength=self.count).astype(np.int64)


@remembered
def histories(
    table: Table, person: str, columns: tuple[str, ...], others: tuple[tuple[Table, tuple[str, ...]], ...] = ()
) -> Histories:
    """What these columns of a table say of each person, and those of others that are joined on the person's column."""
    counts = [each.count((person, *names)) for each, names in ((table, columns), *others)]
    column, who = counts[0].columns[0], counts[0].codes[0]
    if others:
        ids = [take(strings(each.columns[0].texts), each.codes[0]) for each in counts]
        column, who = encode(person, pa.chunked_array(ids))
    what, shift = [], 0
    for each in counts:
        group = each.group(each.names[1:])[1]
        what.append(group + shift)
        shift += int(group.max(initial=-1)) + 1
    of_person = same_histories(who, np.concatenate(what), np.concatenate([each.n for each in counts]))
    return Histories(column, of_person, int(of_person.max(initial=-1)) + 1)


def same_histories(who: IntArray, what: IntArray, rows: IntArray) -> IntArray:
    """A number for each person's history, given entries: person (numbered from 0), tuple, and how many rows say so.

    Each person's entries are put in order and read one after the other: people who agree so far stay together. Whoever is alone
    already needs no more reading.

    >>> same_histories(np.array([0, 0, 1, 1, 2]), np.array([7, 8, 8, 7, 7]), np.array([1, 1, 1, 1, 2])).tolist()
    [1, 1, 0]
    """
    if not len(who):
        return np.zeros(0, dtype=np.int64)
    _, entry = np.unique(what * (int(rows.max()) + 1) + rows, return_inverse=True)
    width = int(entry.max()) + 1
    key = np.sort(who * width + entry)
    who, entry = np.divmod(key, width)
    first = np.flatnonzero(np.diff(who, prepend=-1))
    length = np.diff(np.append(first, len(who)))
    state = np.unique(length, return_inverse=True)[1].astype(np.int64)
    known = int(state.max()) + 1
    open_ = np.arange(len(first))
    step = 0
    while len(open_):
        # all of one state have the same number of entries, and agree in those before
        _, new, times = np.unique(
            state[open_] * width + entry[first[open_] + step], return_inverse=True, return_counts=True
        )
        state[open_] = known + new
        known += len(times)
        step += 1
        open_ = open_[(times[new] > 1) & (length[open_] > step)]
    return np.unique(state, return_inverse=True)[1].astype(np.int64)
