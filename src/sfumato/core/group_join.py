"""Columns that are joined by group only: of a group's rows on either side, every way to put them together is as likely.

That is how a release of Anatomy is read (Xiao and Tao 2006): of the rows of group g that have x on one side, the share
n(g, y)/|g| is expected to have y on the other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np

from .column import Column, FloatArray, IntArray
from .counts import Counts
from .noun import dataclass

BLOCK = 4_000_000


@dataclass(frozen=True, eq=False)
class Joined:
    """Counts side by side, the first column of each the group; `group` numbers the groups alike for all of them."""

    parts: tuple[Counts, ...]
    group: tuple[IntArray, ...]
    size: IntArray

    @classmethod
    def of(cls, parts: Sequence[Counts]) -> Joined:
        """From counts that have the same groups, each of as many rows."""
        groups = parts[0].columns[0]
        group = tuple(groups.places(part.columns[0])[part.codes[0]] for part in parts)
        size = np.bincount(group[0], weights=parts[0].n, minlength=len(groups))
        return cls(tuple(parts), group, np.rint(size).astype(np.int64))

    @cached_property
    def rows(self) -> int:
        """The rows of either side."""
        return int(self.size.sum())

    def part(self, name: str) -> Counts:
        """The side that has a column."""
        return next(part for part in self.parts if name in part.names[1:])

    def column(self, name: str) -> Column:
        """A column of any side."""
        return self.part(name).column(name)

    def answers(self, queries: Sequence[Mapping[str, FloatArray]]) -> FloatArray:
        """`sum_g |g| prod_sides n_g(asked)/|g|` for each query, which gives each value of a column the share that it asks for."""
        answers = np.zeros(len(queries))
        for i, query in enumerate(queries):
            expected = self.size.astype(np.float64)
            for part, group in zip(self.parts, self.group, strict=True):
                weight = part.n.astype(np.float64)
                for name, code in zip(part.names[1:], part.codes[1:], strict=True):
                    if name in query:
                        weight = weight * query[name][code]
                if not query.keys().isdisjoint(part.names[1:]):
                    expected *= np.bincount(group, weights=weight, minlength=len(self.size)) / self.size
            answers[i] = expected.sum()
        return answers

    def pairs(
        self, names: tuple[str, str], kinds: tuple[IntArray, IntArray], shares: tuple[FloatArray, FloatArray]
    ) -> FloatArray:
        """`left' M right`, M the expected rows of every two kinds of values of columns on different sides.

        `kinds` has the kind of each value, `shares` a line for each kind. Groups go by in blocks.
        """
        sides = []
        for name, kind, share in zip(names, kinds, shares, strict=True):
            at = next(i for i, part in enumerate(self.parts) if name in part.names[1:])
            code = kind[self.parts[at].code(name)]
            order = np.argsort(self.group[at], kind="stable")
            sides.append((self.group[at][order], code[order], self.parts[at].n[order], share))
        total = np.zeros((shares[0].shape[1], shares[1].shape[1]))
        step = max(1, BLOCK // max(len(share) for share in shares))
        for start in range(0, len(self.size), step):
            size = self.size[start : start + step]
            block = []
            for group, code, n, share in sides:
                first, end = np.searchsorted(group, [start, start + len(size)])
                cell = (group[first:end] - start) * len(share) + code[first:end]
                rows = np.bincount(cell, weights=n[first:end], minlength=len(size) * len(share))
                block.append(rows.reshape(len(size), len(share)) @ share)
            total += block[0].T @ (block[1] / np.maximum(size, 1)[:, None])
        return total
