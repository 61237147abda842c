"""The people of a population at every node: counted once, and rolled up with the lattice as the table's own rows are."""

from __future__ import annotations

import numpy as np

from ..core.column import Column, IntArray
from ..core.counts import pack
from ..core.cover import Domain
from ..core.population import covered_codes
from ..core.roles import Roles
from ..core.table import Table
from .lattice import Ladder, Lattice
from .rollup import Grouped, Rollup


class PopulationRollup:
    """How many people of the population each class of a node covers, as `Evidence.population_cover` has it.

    A person stands where the labels cover their values; a value that no label of a level covers keeps a number of its own
    there, so that it can be found again at a higher level.
    """

    def __init__(self, rollup: Rollup, ladders: tuple[Ladder, ...], population: Rollup) -> None:
        self.rollup, self.ladders, self.population = rollup, ladders, population
        self.total = population.rows

    @classmethod
    def of(cls, table: Table, roles: Roles, rollup: Rollup) -> PopulationRollup | None:
        """None where people cannot be rolled up: some have several rows, or labels of one level overlap or are not nested."""
        names = rollup.lattice.names
        for name in names:
            roles.check_column(name, table.columns, where=table.name, kind="quasi")
        if roles.counts_households or (roles.person is not None and roles.person in table.columns):
            return None
        counts = table.count(names)
        ladders = []
        for ladder in rollup.lattice.ladders:
            column = counts.column(ladder.name)
            codes = _codes(ladder, column, roles)
            if codes is None:
                return None
            sizes = [
                len(labels) + (len(column) if len(own) and own.max() >= len(labels) else 0)
                for labels, own in zip(ladder.labels, codes, strict=True)
            ]
            spelled = tuple((None,) * size for size in sizes)  # only how many there are matters
            ladders.append(Ladder(column, counts.margin(ladder.name), tuple(codes), spelled, Domain(column)))
        lattice = Lattice(tuple(ladders))
        return cls(rollup, lattice.ladders, Rollup(counts, lattice))

    def __call__(self, grouped: Grouped) -> IntArray:
        """The people whom each class of a node covers."""
        people, levels = self.population(grouped.levels), grouped.levels
        if not len(people):
            return np.zeros(len(grouped), dtype=np.int64)
        sizes = [len(ladder.labels[level]) for ladder, level in zip(self.ladders, levels, strict=True)]
        both = [
            np.append(ours, theirs)
            for ours, theirs in zip(
                self.rollup.classes_of(levels, grouped.first),
                self.population.classes_of(levels, people.first),
                strict=True,
            )
        ]
        key = pack(both, sizes, len(grouped) + len(people))
        ours, theirs = key[: len(grouped)], key[len(grouped) :]
        order = np.argsort(theirs)
        at = np.minimum(np.searchsorted(theirs, ours, sorter=order), len(theirs) - 1)
        return np.where(theirs[order[at]] == ours, people.size[order[at]], 0)


def _codes(ladder: Ladder, column: Column, roles: Roles) -> list[IntArray] | None:
    """For each level the number of the label that covers each value of the population, or else a number of its own."""
    domain = Domain(column, roles.taxonomy(ladder.name))
    found: list[IntArray] = []
    for labels in ladder.labels:
        code = len(labels) + np.arange(len(column))
        taken = np.zeros(len(column), dtype=bool)
        for i, label in enumerate(labels):
            inside = covered_codes(domain, label)
            if taken[inside].any():
                return None
            taken[inside] = True
            code[inside] = i
        found.append(code)
    for level in range(ladder.height):
        below, above = found[level], found[level + 1]
        parent = np.full(len(ladder.labels[level]), -1, dtype=np.int64)
        parent[ladder.codes[level]] = ladder.codes[level + 1]
        known = below < len(parent)
        if not np.array_equal(parent[below[known]], above[known]):
            return None
    return found
