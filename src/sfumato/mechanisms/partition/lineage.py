"""Which part was cut from which, and (n,t)-closeness to what a part was cut from.

Li, Li, Venkatasubramanian 2010: a cut is allowed if each piece has n rows or is within t of an ancestor that has. An ancestor is
a natural superset of what was cut from it. What the metric looks at are the supersets that the released values show, which are
not quite the ancestors: so parts can be put together again until the metric agrees.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...core.classes import Classes, Sensitive
from ...core.column import FloatArray, IntArray
from ...core.counts import exact
from ...core.cover import BoolArray
from ...core.metric import Requirement
from ...metrics.group_distances import entries
from .parts import Parts

Near = tuple[Requirement, IntArray, Sensitive]
"""A requirement n_t_closeness <= t, with the sensitive value of each tuple and the attribute."""


class Lineage:
    """All parts that ever stood, numbered: what each was cut from, and its box. Large ones with their sensitive values."""

    def __init__(self, near: Sequence[Near], rows: int, *, whole: bool = False) -> None:
        """With `whole`, only the first part counts as an ancestor: then it is t-closeness."""
        self.near = [(*item, rows if whole else min(item[0].metric.arguments["n"], rows)) for item in near]
        self.parent, self.rows = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        self.low: list[IntArray] = []
        self.high: list[IntArray] = []
        self.held: list[dict[int, tuple[IntArray, FloatArray]]] = [{} for _ in near]

    def to_whole(self) -> Lineage:
        """The same requirements, judged by nearness to the whole table."""
        return Lineage([item[:3] for item in self.near], int(self.near[0][2].total.sum()), whole=True)

    def add(self, parts: Parts, parent: IntArray) -> IntArray:
        """Number new parts, given the number of what each was cut from, -1 for none."""
        new = len(self.parent) + np.arange(len(parts))
        rows = np.add.reduceat(parts.n, parts.start)
        self.parent, self.rows = np.append(self.parent, parent), np.append(self.rows, rows)
        self.low.append(parts.low)
        self.high.append(parts.high)
        member = parts.member
        for held, (_, value, sensitive, enough) in zip(self.held, self.near, strict=True):
            for at in np.flatnonzero(rows >= enough).tolist():  # at most rows/n of a generation
                inside = slice(*np.searchsorted(member, [at, at + 1]))
                total = np.bincount(value[parts.entry[inside]], weights=parts.n[inside], minlength=len(sensitive.total))
                values = np.flatnonzero(total).astype(np.int64)
                held[int(new[at])] = (values, total[values].astype(np.float64))
        return new

    def allows(self, pieces: Parts, parent: IntArray) -> BoolArray:
        """Which pieces are large enough or near enough to one of their ancestors, the first of which is `parent`."""
        good = np.ones(len(pieces), dtype=bool)
        rows = np.add.reduceat(pieces.n, pieces.start)
        for held, (requirement, value, sensitive, enough) in zip(self.held, self.near, strict=True):
            near = rows >= enough
            above = parent.copy()
            while (at := np.flatnonzero(good & ~near & (above >= 0))).size:
                large = at[self.rows[above[at]] >= enough]
                if len(large):
                    far = self._far(pieces, large, above[large], held, requirement, value, sensitive)
                    near[large] = requirement.passes(far)
                above[at] = self.parent[above[at]]
            good &= near
        return good

    def _far(
        self,
        pieces: Parts,
        at: IntArray,
        above: IntArray,
        held: dict[int, tuple[IntArray, FloatArray]],
        requirement: Requirement,
        value: IntArray,
        sensitive: Sensitive,
    ) -> FloatArray:
        """How far each of these pieces is from the ancestor named for it: that is its pieces, and the rest of it as one more."""
        m = len(sensitive.total)
        place = np.full(len(pieces), -1)
        place[at] = np.arange(len(at))
        inside = place[pieces.member] >= 0
        member = place[pieces.member][inside]
        key, where = np.unique(member * m + value[pieces.entry[inside]], return_inverse=True)
        n = np.bincount(where, weights=pieces.n[inside], minlength=len(key))
        groups, group = np.unique(above, return_inverse=True)
        values, totals = zip(*(held[g] for g in groups.tolist()), strict=True)
        whole = np.repeat(np.arange(len(groups)), [len(v) for v in values]) * m + np.concatenate(values)
        rest, where = np.unique(np.append(whole, group[key // m] * m + key % m), return_inverse=True)
        rows = np.bincount(where, weights=np.concatenate([*totals, -n]))
        rest, rows = rest[rows > 0], rows[rows > 0]
        sizes = np.append(np.bincount(key // m, weights=n), np.bincount(rest // m, weights=rows, minlength=len(groups)))
        classes = Classes(
            exact(sizes),
            np.append(key // m, len(at) + rest // m),
            np.append(key % m, rest % m),
            exact(np.append(n, rows)),
            sensitive,
        )
        settings = requirement.metric.arguments
        counted = entries(classes, settings["distance"], settings["bandwidth"])
        wanted = np.arange(len(classes)) < len(at)
        return counted.distances(
            np.arange(len(classes)), np.append(group, np.arange(len(groups))).astype(np.int64), wanted
        )

    def join(self, parts: Parts, number: IntArray, failed: BoolArray) -> tuple[Parts, IntArray]:
        """Put what was cut last together again where a part failed: the parts that are left, and their numbers."""
        marked = np.zeros(len(self.parent), dtype=bool)
        marked[self.parent[number[failed]]] = True  # the first part has no parent, and cannot fail
        to, above = number.copy(), number.copy()
        while (above >= 0).any():  # the topmost that is marked
            up = np.flatnonzero(above >= 0)
            to[up] = np.where(marked[above[up]], above[up], to[up])
            above[up] = self.parent[above[up]]
        left, part = np.unique(to, return_inverse=True)
        member = part[parts.member]
        order = np.argsort(member, kind="stable")
        start = np.flatnonzero(np.diff(member[order], prepend=-1))
        low, high = np.hstack(self.low)[:, left], np.hstack(self.high)[:, left]
        return Parts(parts.entry[order], parts.n[order], start, low, high), left
