"""Natural supersets: what a class becomes when its released values are broadened (Li, Li, Venkatasubramanian 2010).

A level is a way to broaden every column. At a level, classes with the same labels make up one superset, and it is whole:
it holds every class whose released values are inside its own. All supersets of a level are one grouping of the classes.
"""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from collections.abc import Hashable

import numpy as np
import pyarrow as pa

from .column import Column, IntArray
from .counts import Counts
from .cover import Domain, read_set
from .hierarchy import TOP, Hierarchy
from .roles import Roles

_NUMBER = re.compile(r"\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
# a number without leading zeros (those are codes), or digits masked from behind
_POINT = re.compile(r"[+-]?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|\d+\*+")


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


def steps(column: Column, taxonomy: Hierarchy | None, most: int) -> tuple[list[IntArray], bool]:
    """Ways to broaden a column, from not at all to `*`: a label for each released value, -1 where it sticks out of all.

    With a taxonomy its levels; over numbers and intervals all runs of neighbours (if those are more than `most`, runs of
    1, 2, 4, ... of them); over masked codes their prefixes; otherwise only `*`. Values of one label are exactly the
    released values inside it. Also whether these are all the ways there are.
    """
    named = [text for text in column.texts if text is not None and set(text) != {TOP}]
    whole = True
    ways: list[list[Hashable]] = []
    if taxonomy is not None and all(text in taxonomy.groups for text in named):
        lines = [taxonomy.groups[text] for text in named]
        for code in taxonomy.codes()[:-1]:
            ways.append([int(code[at[0]]) if (code[at] == code[at[0]]).all() else None for at in lines])
    elif (spans := _ranges(named)) is not None:
        low, high = spans
        starts, beyond = np.unique(low), high.max() + 1
        k = len(starts)
        whole = bool((np.append(starts[1:], beyond)[np.searchsorted(starts, low)] > high).all())
        runs = [(length, o) for length in range(1, k + 1) for o in range(length)] if k * (k + 1) <= 2 * most else []
        if not runs:
            whole, runs = False, [(1 << i, o) for i in range(k.bit_length()) for o in (0, (1 << i) // 2)]
        for length, offset in runs:
            edges = np.append(starts[np.unique(np.append(0, np.arange(offset, k, length)))], beyond)
            tile = np.searchsorted(edges, low, side="right") - 1
            inside = high < edges[tile + 1]
            ways.append([t if there else None for t, there in zip(tile.tolist(), inside.tolist(), strict=True)])
    elif (masked := _codes(named)) is not None:
        ways += [[*way] for way in masked]
    else:
        ways.append([*_alone(named)])
        whole = None not in ways[0]
    top = np.zeros(len(column), dtype=np.int64)
    found: dict[bytes, IntArray] = {}
    for way in ways:
        number: dict[Hashable, int] = {None: -1}
        left = iter(way)
        step = np.empty(len(column), dtype=np.int64)
        for i, text in enumerate(column.texts):  # missing is broadened by * alone, and so is *
            name = ("missing",) if text is None else None if set(text) == {TOP} else next(left)
            step[i] = number.setdefault(name, len(number) - 1)
        found.setdefault(step.tobytes(), step)
    found.pop(top.tobytes(), None)
    return [*found.values(), top], whole


def levels(tuples: Counts, roles: Roles, most: int) -> tuple[list[tuple[IntArray, ...]], bool]:
    """At most so many levels, each a step for every column; the last is `*` throughout. Also whether these are all."""
    top = tuple(np.zeros(len(column), dtype=np.int64) for column in tuples.columns)
    if most < 2:
        return [top], False
    ways, whole = [], True
    for column in tuples.columns:
        found, every = steps(column, roles.taxonomy(column.name), most)
        ways.append(found)
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
