"""Whom of a population the classes under way would cover: what lets a sanitizer steer by k-map, journalist risk and delta-presence.

A class is labelled as it would be released, and its labels are held against the population as they will be when the release is
measured (`core.population`). So what a sanitizer counts on is what is verified afterwards.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...core.arrow import strings
from ...core.column import IntArray, encode
from ...core.counts import Counts, pack
from ...core.cover import BoolArray, Domain
from ...core.errors import InputError
from ...core.hierarchy import TOP
from ...core.noun import dataclass
from ...core.population import Cover, cover
from ...core.roles import Roles
from ...core.table import Table
from .axes import PartitionAxis
from .parts import Parts, labels_of

Labels = Callable[[IntArray, IntArray, BoolArray | None], list[list[str | None]]]
"""(tuple and class of each entry, the cells of each class that are suppressed) -> the label of each class on each column."""


@dataclass(frozen=True, eq=False)
class CoveredPeople:
    """A population counted by the quasi-identifiers, and how classes of the table are labelled."""

    counts: Counts
    domains: list[Domain]
    labels: Labels

    @classmethod
    def of(cls, population: Table | None, roles: Roles, labels: Labels) -> CoveredPeople | None:
        """None without a population; one in which people have several rows is refused."""
        if population is None:
            return None
        if roles.counts_households:
            raise InputError(
                f"{population.name}: a population is counted in people, and {roles.source} says that households are counted."
            )
        for name in roles.quasi:
            roles.check_column(name, population.columns, where=population.name, kind="quasi")
        if roles.person is not None and roles.person in population.columns:
            by_person = population.count((roles.person,))
            if len(by_person) < by_person.rows:
                raise InputError(
                    f"{population.name}: some people have several rows, and a mechanism steers by a population with one row a "
                    "person; give a table with one row each."
                )
        counts = population.count(roles.quasi)
        return cls(counts, [Domain(counts.column(name), roles.taxonomy(name)) for name in roles.quasi], labels)

    def __call__(self, entry: IntArray, member: IntArray, count: int, suppressed: BoolArray | None = None) -> Cover:
        """Whom `count` classes cover, given the tuple and the class of each entry; no class is empty."""
        spelled = self.labels(entry, member, suppressed)
        coded = [
            encode(domain.column.name, strings(texts)) for domain, texts in zip(self.domains, spelled, strict=True)
        ]
        key = pack([codes for _, codes in coded], [len(column) for column, _ in coded], count)
        _, first, place = np.unique(key, return_index=True, return_inverse=True)
        classes = Counts.of([column for column, _ in coded], [codes[first] for _, codes in coded], np.ones_like(first))
        covered = cover(classes, self.domains, self.counts, person=False)
        return Cover(covered.sizes[place], covered.nobody, covered.several)


def axis_labels(axes: list[PartitionAxis], code: IntArray) -> Labels:
    """The labels of classes on partition axes, where `code` (axes x tuples) places each tuple."""

    def labels(entry: IntArray, member: IntArray, suppressed: BoolArray | None) -> list[list[str | None]]:
        return labels_of(Parts.of(entry, np.ones_like(entry), member, len(axes)), axes, code, by_cuts=False)

    return labels


def cell_labels(counts: Counts, quasi: int) -> Labels:
    """The labels of classes whose cells stay as they are or are suppressed; the first `quasi` columns are counted by them."""

    def labels(entry: IntArray, member: IntArray, suppressed: BoolArray | None) -> list[list[str | None]]:
        assert suppressed is not None
        first = np.unique(member, return_index=True)[1]
        return [
            [
                TOP if hidden else column.texts[c]
                for hidden, c in zip(cells.tolist(), code[entry[first]].tolist(), strict=True)
            ]
            for column, code, cells in zip(counts.columns[:quasi], counts.codes[:quasi], suppressed, strict=True)
        ]

    return labels
