"""Whether released rows can be the original ones: each needs a row of its own that it covers in every column.

Rows of equal cells are taken together. Which original tuples a released value covers is a set of bits, so a released row's candidates are
the bits that all of its values share; a flow then gives every released row an original one.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Hashable, Sequence
from typing import Any

Covers = Callable[[Any, Any], bool]


def _bits(mask: int) -> list[int]:
    found = []
    while mask:
        low = mask & -mask
        found.append(low.bit_length() - 1)
        mask ^= low
    return found


def candidates(
    released: Sequence[tuple[Any, ...]], original: Sequence[tuple[Hashable, ...]], covers: Sequence[Covers]
) -> list[int]:
    """For each released tuple the original tuples that it covers, as bits."""
    by_value: list[dict[Any, int]] = [defaultdict(int) for _ in covers]
    for at, row in enumerate(original):
        for i, value in enumerate(row):
            by_value[i][value] |= 1 << at
    known: list[dict[Any, int]] = [{} for _ in covers]
    found = []
    for row in released:
        mask = (1 << len(original)) - 1
        for i, value in enumerate(row):
            if value not in known[i]:
                known[i][value] = sum(bits for other, bits in by_value[i].items() if covers[i](value, other))
            mask &= known[i][value]
            if not mask:
                break
        found.append(mask)
    return found


def assign(
    released: Sequence[tuple[Any, ...]], original: Sequence[tuple[Hashable, ...]], covers: Sequence[Covers]
) -> tuple[int, list[int]]:
    """How many released rows find an original one of their own, and the candidates of each distinct released tuple.

    Augmenting paths over distinct tuples, whose multiplicities are the capacities.
    """
    supply, demand = Counter(released), Counter(original)
    left, right = list(supply), list(demand)
    masks = candidates(left, right, covers)
    free = [demand[row] for row in right]
    flow: list[dict[int, int]] = [defaultdict(int) for _ in right]
    placed = 0
    edges = [_bits(mask) for mask in masks]
    for i in sorted(range(len(left)), key=lambda i: len(edges[i])):
        need = supply[left[i]]
        while need:
            came: dict[int, tuple[int, int]] = {}  # right -> (left it was reached from, right before that)
            queue, seen, end = deque([(i, -1)]), {i}, -1
            while queue and end < 0:
                at, before = queue.popleft()
                for j in edges[at]:
                    if j in came:
                        continue
                    came[j] = (at, before)
                    if free[j]:
                        end = j
                        break
                    for other, amount in flow[j].items():
                        if amount and other not in seen:
                            seen.add(other)
                            queue.append((other, j))
            if end < 0:
                break
            path, at = [], end
            while at >= 0:
                path.append((came[at][0], at))
                at = came[at][1]
            amount = min([need, free[end], *(flow[b][a] for (a, _), (_, b) in itertools.pairwise(path))])
            free[end] -= amount
            for step, (a, j) in enumerate(path):
                flow[j][a] += amount
                if step + 1 < len(path):
                    flow[path[step + 1][1]][a] -= amount
            need -= amount
            placed += amount
    return placed, masks
