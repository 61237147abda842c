"""What rows weigh where people have several and nobody can join them: every person weighs the same, however many rows there are.

Each row of a person with r rows weighs 1/r. That is an adversary who has in mind one row of a person, everybody being as likely as
everybody else and every row of that person as likely as the next. The weights add up over classes, so whatever holds of counts
(mixtures, data processing, what merging does) holds of them. They are whole numbers, so sums are exact and come out the same in any
order.
"""

from __future__ import annotations

import math

import numpy as np

from .column import IntArray
from .noun import dataclass

_ROUND = 720_720
"""The least common multiple of 1 to 16: what a person weighs where the exact one would be too large."""
_EXACT = 2**53


@dataclass(frozen=True, eq=False)
class PersonWeights:
    """What one row of each person weighs, by the person's code, and what a person weighs in all."""

    of_row: IntArray
    unit: int

    @classmethod
    def of(cls, rows: IntArray) -> PersonWeights:
        """For people who have so many rows each.

        >>> PersonWeights.of(np.array([1, 2, 3])).of_row.tolist()
        [6, 3, 2]
        """
        different = np.unique(rows)
        unit = 1
        for times in different.tolist():
            unit = math.lcm(unit, times)
            if unit * len(rows) >= _EXACT:
                unit = max(_ROUND, int(different[-1]))
                break
        return cls(np.maximum(unit // np.maximum(rows, 1), 1), unit)


def distinct_people(member: IntArray, person: IntArray, count: int, people: int) -> IntArray:
    """How many different people there are in each of `count` classes, given the class and the person of each entry.

    >>> distinct_people(np.array([0, 0, 0, 1]), np.array([0, 0, 1, 1]), 2, 2).tolist()
    [2, 1]
    """
    key = np.sort(member * people + person)
    first = np.append(True, key[1:] != key[:-1])[: len(key)]
    return np.bincount(key[first] // max(people, 1), minlength=count).astype(np.int64)


def fewest_people(sizes: IntArray, times: IntArray) -> IntArray:
    """The fewest people who can make up classes of these sizes, where one person has `times[i]` rows: a bound from below.

    A class of n rows holds at least the smallest j of which the j people with most rows have n.
    """
    reach = np.cumsum(np.sort(times)[::-1])
    return np.searchsorted(reach, sizes, side="left").astype(np.int64) + 1
