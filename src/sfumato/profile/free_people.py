"""What free columns tell where the rows of a person are joined: all of a person's values of a column stand together, and in some order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from ..core.column import IntArray
from ..core.counts import exact
from ..core.histories import histories, same_histories
from ..core.person_weights import distinct_people
from ..core.table import Table

MOST_SETS = 60
"""Sets of two columns that are looked at."""
MOSTLY = 0.95
"""The share of people in whose rows no text repeats, from which texts count as the numbers of the rows."""


def people_alone(table: Table, person: str, free: Sequence[str]) -> Iterator[tuple[tuple[str, ...], int, int]]:
    """Sets of one or two columns, the people whom all their values of these set apart from everybody, and all people."""
    sets = [*((name,) for name in free), *list(combinations(free, 2))[:MOST_SETS]]
    for names in sets:
        people = histories(table, person, names).people
        yield names, int((people == 1).sum()), int(people.sum())


def people_by_order(table: Table, person: str, quasi: Sequence[str], name: str) -> tuple[int, int]:
    """The people whom the order of their rows by this column sets apart from some of their class, and all people.

    The order tells which of the released rows came first, which an adversary may know who knows several of them. Texts tell one where
    they number the rows ("first", "V2"): where hardly anybody has the same twice.
    """
    counts = table.count((person, *quasi, name))
    column = counts.columns[-1]
    who = counts.codes[0]
    people = len(counts.columns[0])
    order = column.rank() if column.numbers is not None or column.dates else None
    if order is None:
        if not _numbers_rows(who, counts.codes[-1], counts.n):
            return 0, people
        order = np.arange(len(column) + 1)  # any will do: what matters is which rows it tells apart
    what = counts.group(counts.names[1:-1])[1]
    by_order = _ranks(who, order[counts.codes[-1]])
    plain = _class_sizes(who, what, counts.n)
    ordered = _class_sizes(who, what * (int(by_order.max(initial=0)) + 1) + by_order, counts.n)
    return int((ordered < plain).sum()), people


def _numbers_rows(who: IntArray, value: IntArray, n: IntArray) -> bool:
    """Whether nearly all people with several rows have another value in each of them."""
    rows = exact(np.bincount(who, weights=n))
    values = distinct_people(who, value, len(rows), int(value.max(initial=0)) + 1)
    several = rows > 1
    return bool(several.any() and (values[several] == rows[several]).mean() >= MOSTLY)


def _ranks(who: IntArray, value: IntArray) -> IntArray:
    """The rank of each value among those of its person, equal ones alike."""
    width = int(value.max(initial=0)) + 1
    key, where = np.unique(who * width + value, return_inverse=True)
    whose = key // width
    first = np.flatnonzero(np.diff(whose, prepend=-1))
    return (np.arange(len(key)) - np.repeat(first, np.diff(np.append(first, len(key)))))[where]


def _class_sizes(who: IntArray, what: IntArray, n: IntArray) -> IntArray:
    """How many people share each person's history."""
    width = int(what.max(initial=0)) + 1
    key, where = np.unique(who * width + what, return_inverse=True)
    of_person = same_histories(key // width, key % width, exact(np.bincount(where, weights=n)))
    return np.bincount(of_person)[of_person]
