"""Natural supersets: what a class becomes when its released values are broadened (Li, Li, Venkatasubramanian 2010).

A level is a way to broaden every column. At a level, classes with the same labels make up one superset, and it is whole:
it holds every class whose released values are inside its own. All supersets of a level are one grouping of the classes.
"""

from __future__ import annotations

import hashlib
import itertools
import math
import re
from collections import Counter
from collections.abc import Hashable
from typing import Any

import numpy as np
import pyarrow as pa

from ..core.column import Column, IntArray
from ..core.counts import Counts
from ..core.cover import Domain
from ..core.hierarchy import TOP, Hierarchy
from ..core.roles import Roles
from ..core.value_sets import read_set

_NUMBER = re.compile(r"\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
# a number without leading zeros (those are codes), or digits masked from behind
_POINT = re.compile(r"[+-]?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|\d+\*+")

_ROOM = 2**62  # of a key of 64 bits


def _ranges(texts: list[str]) -> tuple[IntArray, IntArray] | None:
    """The first and last place of each released value on one line of points; None if one of them is no number or interval.

    The points are the edges that occur and one between each two neighbours, so that open and closed edges come out right.
    """
    spelled = [f"[{t.replace(TOP, '0')},{t.replace(TOP, '9')}]" if _POINT.fullmatch(t) else t for t in texts]
    edges = np.unique([sign * float(x) for text in spelled for x in _NUMBER.findall(text) for sign in (1, -1)])
    if not len(edges) or not np.isfinite(edges).all():
        return None
    points = np.unique(np.concatenate([edges, (edges[1:] + edges[:-1]) / 2, [edges[0] - 1, edges[-1] + 1]]))
    domain = Domain(Column("points", pa.Array.from_buffers(pa.float64(), len(points), [None, pa.py_buffer(points)])))
    low, high = np.full((2, len(spelled)), -1)
    for i, text in enumerate(spelled):
        inside = domain.covered(text)
        if inside is None or not len(inside) or inside.max() - inside.min() + 1 != len(inside):
            return None
        low[i], high[i] = inside.min(), inside.max()
    return low, high


def _points(column: Column) -> tuple[IntArray, IntArray] | None:
    """The same for a column of plain numbers, however many."""
    if column.numbers is None or not np.isfinite(column.numbers[: len(column.values)]).all():
        return None
    place = np.unique(column.numbers[: len(column.values)], return_inverse=True)[1]
    return place, place


def _codes(texts: list[str]) -> list[list[str | None]] | None:
    """Codes of one length masked from behind, such as AB1**: with 0, 1, ... asterisks; None where they are none."""
    lengths = {len(text) for text in texts}
    if len(lengths) != 1 or not any(TOP in text for text in texts) or any(TOP in text.rstrip(TOP) for text in texts):
        return None
    return [[t[:keep] if len(t.rstrip(TOP)) >= keep else None for t in texts] for keep in range(lengths.pop(), 0, -1)]


def _alone(texts: list[str]) -> list[str | None]:
    """Each text itself; None for a set that shares a value with another text, and for a mask, which may cover others."""
    members = [read_set(text) if text[:1] + text[-1:] == "{}" else [text] for text in texts]
    seen = Counter(value for each in members for value in set(each))
    return [None if TOP in t or any(seen[v] > 1 for v in each) else t for t, each in zip(texts, members, strict=True)]


def _numbered(labels: IntArray) -> IntArray:
    """Labels as 0, 1, ... in the order in which they come; -1 stays."""
    first = np.full(int(labels.max()) + 2, len(labels))
    first[labels[::-1]] = np.arange(len(labels))[::-1]  # the last to be written is the first that comes
    number = np.empty(len(first), dtype=np.int64)
    number[np.argsort(first[:-1], kind="stable")] = np.arange(len(first) - 1)
    number[-1] = -1
    return number[labels]


def _coded(way: list[Any]) -> IntArray:
    """A number for each different label, -1 for None."""
    code: dict[Hashable, int] = {None: -1}
    return np.array([code.setdefault(label, len(code) - 1) for label in way], dtype=np.int64)


def steps(column: Column, taxonomy: Hierarchy | None, most: int) -> tuple[list[IntArray], bool]:
    """Ways to broaden a column, from not at all to `*`: a label for each released value, -1 where it sticks out of all.

    With a taxonomy its levels; over numbers and intervals all runs of neighbours (if those are more than `most`, runs of
    1, 2, 4, ... of them); over masked codes their prefixes; otherwise only `*`. Values of one label are exactly the
    released values inside it. Also whether these are all the ways there are.
    """
    named = [text for text in column.texts if text is not None and text.strip(TOP)]
    known = np.array([text is not None and text.strip(TOP) != "" for text in column.texts], dtype=bool)
    top = np.zeros(len(column), dtype=np.int64)
    ways: dict[bytes, IntArray] = {}

    def add(way: IntArray) -> None:
        step = np.full(len(column), -1)  # * is broadened by * alone, and so is missing: a label of its own until then
        step[known] = way
        if column.has_missing:
            step[-1] = step.max() + 1
        step = _numbered(step)
        ways.setdefault(hashlib.sha256(step.data).digest(), step)

    whole = True
    if taxonomy is not None and all(text in taxonomy.groups for text in named):
        lines = [taxonomy.groups[text] for text in named]
        for code in taxonomy.codes()[:-1]:
            add(_coded([int(code[at[0]]) if (code[at] == code[at[0]]).all() else None for at in lines]))
    elif (spans := _points(column) or _ranges(named)) is not None:
        low, high = spans
        starts, beyond = np.unique(low), high.max() + 1
        k = len(starts)
        whole = bool((np.append(starts[1:], beyond)[np.searchsorted(starts, low)] > high).all())
        runs = [(length, o) for length in range(1, k + 1) for o in range(length)] if k * (k + 1) <= 2 * most else []
        if not runs:
            whole, runs = False, [(1 << i, o) for i in range(k.bit_length()) for o in (0, (1 << i) // 2)]
        for length, offset in runs:
            edges = np.append(starts[np.append(0, np.arange(offset or length, k, length))], beyond)
            tile = np.searchsorted(edges, low, side="right") - 1
            add(np.where(high < edges[tile + 1], tile, -1))
    elif (masked := _codes(named)) is not None:
        for prefixes in masked:
            add(_coded(prefixes))
    else:
        alone = _coded(_alone(named))
        whole = bool((alone >= 0).all())
        add(alone)
    ways.pop(hashlib.sha256(top.data).digest(), None)
    return [*ways.values(), top], whole


def levels(tuples: Counts, roles: Roles, most: int) -> tuple[list[tuple[IntArray, ...]], bool]:
    """At most so many levels, each a step for every column; the last is `*` throughout. Also whether these are all."""
    top = tuple(np.zeros(len(column), dtype=np.int64) for column in tuples.columns)
    if most < 2:
        return [top], False
    ways, whole = [], True
    for column in tuples.columns:
        ladder, every = steps(column, roles.taxonomy(column.name), most)
        ways.append(ladder)
        whole &= every
    while math.prod(map(len, ways)) > most and max(map(len, ways)) > 2:  # thin out the longest, its ends kept
        at = max(range(len(ways)), key=lambda i: len(ways[i]))
        ways[at], whole = [*ways[at][:-1:2], ways[at][-1]], False
    if math.prod(map(len, ways)) <= most:
        return list(itertools.product(*ways)), whole
    fine = tuple(way[0] for way in ways)
    some: list[tuple[IntArray, ...]] = []
    for i in range(len(ways)):  # one column broadened; all up to it; all after it; all but it
        some.append((*fine[:i], top[i], *fine[i + 1 :]))
        some.append((*top[:i], *fine[i:]))
        some.append((*fine[:i], *top[i:]))
        some.append((*top[:i], fine[i], *top[i + 1 :]))
    return [*some[1 - most :], top], False


def compact(key: IntArray, room: int) -> IntArray:
    """Keys below `room` as 0, 1, ... in their order; sorted only where there is much more room than keys."""
    if room > 8 * len(key):
        return np.unique(key, return_inverse=True)[1]
    seen = np.zeros(room, dtype=bool)
    seen[key] = True
    return (np.cumsum(seen) - 1)[key]


def around(tuples: Counts, level: tuple[IntArray, ...], wanted: IntArray, enough: int) -> tuple[IntArray, IntArray]:
    """The classes in those supersets of the wanted classes at a level that have enough rows, and the superset of each.

    Classes come in ascending order; the supersets are 0, 1, ... .
    """
    places = 4 * len(tuples) + 1
    members, key, asked, room = np.arange(len(tuples)), None, np.zeros(len(wanted), dtype=np.int64), 1
    # the column with the most labels leaves the fewest classes to the others
    for step, codes in sorted(zip(level, tuples.codes, strict=True), key=lambda each: -int(each[0].max())):
        size = int(step.max()) + 1
        if size == 1 and step.min() == 0:  # *
            continue
        if key is not None and room * size > _ROOM:
            keys, key = np.unique(key, return_inverse=True)
            asked, room = np.searchsorted(keys, asked), len(keys)
        mine = step[codes[wanted]]
        asked, wanted = (asked * size + mine)[mine >= 0], wanted[mine >= 0]
        room *= size
        # only classes with the labels of a wanted one, or that share a place with such, go on
        shared = np.zeros(min(room, places) + 1, dtype=bool)  # the last is for -1
        shared[asked % places] = True
        if key is None:
            if not shared[step].all():
                members = np.flatnonzero(shared[step][codes])
            key = step[codes[members]]
        else:
            label = step[codes[members]]
            key = key * size + label
            kept = shared[key if room <= places else key % places] & (label >= 0)
            members, key = members[kept], key[kept]
    if key is None:
        key = np.zeros(len(members), dtype=np.int64)
    if room > 8 * len(key):
        place = key % places
        rows = np.bincount(place, weights=tuples.n[members], minlength=places)
        kept = rows[place] >= enough
        members, asked = members[kept], asked[rows[asked % places] >= enough]
        keys, key = np.unique(key[kept], return_inverse=True)
        asked, room = np.searchsorted(keys, asked), len(keys)
    held = np.zeros(room, dtype=bool)
    held[asked] = True
    held &= np.bincount(key, weights=tuples.n[members], minlength=room) >= enough
    kept = held[key]
    return members[kept], compact(key[kept], room)
