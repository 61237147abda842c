"""A release: the table that may leave the house, and what is needed beside it to measure it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np

from .arrow import numpy, strings
from .classes import Classes
from .column import Column, IntArray, encode
from .counts import Counts, exact
from .cover import Domain
from .errors import InputError, Unavailable
from .roles import Roles
from .table import Recoding, Table

Pairing = Literal["position", "none"] | str  # or "key:COLUMN"


@dataclass(frozen=True, eq=False)
class Release:
    """`table` is what is published. `original` and `population` never leave: they are here for measuring only.

    `pairing` says how rows of the release and of the original belong together: "position" (row i is row i),
    "key:COLUMN" (a column both have), or "none", and then a metric that needs pairs says so. A mechanism of ours leaves
    its `recoding` instead, which holds the pairs already counted.
    """

    table: Table
    original: Table | None = None
    pairing: str = "none"
    recoding: Recoding | None = None
    population: Table | None = None
    made_by: str = "elsewhere"
    parameters: dict[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.pairing not in ("position", "none") and not self.pairing.startswith("key:"):
            raise InputError(f"Pairing {self.pairing!r} is not known; use position, none or key:COLUMN.")
        object.__setattr__(self, "_evidence", [])

    def evidence(self, roles: Roles) -> Evidence:
        """What the metrics look at, counted once and kept."""
        kept: list[Evidence] = self._evidence  # type: ignore[attr-defined]
        for evidence in kept:
            if evidence.roles is roles:
                return evidence
        kept.append(Evidence(self, roles))
        return kept[-1]


@dataclass(frozen=True, eq=False)
class Evidence:
    """The counts behind a release, taken when first asked for: one scan for the classes of each sensitive column."""

    release: Release
    roles: Roles
    _kept: dict[Any, Any] = field(default_factory=dict)

    def _quasi(self) -> tuple[str, ...]:
        if not self.roles.quasi:
            raise Unavailable(
                f"{self.roles.source} names no quasi-identifier, so there are no classes; set quasi = [...]."
            )
        return self.roles.quasi

    def _split(self, table: Table, sensitive: str) -> tuple[Classes, Counts]:
        return Classes.from_counts(
            table.count((*self._quasi(), sensitive)),
            quasi=self._quasi(),
            sensitive=sensitive,
            order=self.roles.orders.get(sensitive),
            hierarchy=self.roles.taxonomy(sensitive),
        )

    def classes(self, sensitive: str | None = None) -> Classes:
        """The classes of the release, split by a sensitive column if one is named."""
        if sensitive is None:
            return Classes(self.people)
        return self._released(sensitive)[0]

    def _released(self, sensitive: str) -> tuple[Classes, Counts]:
        key = ("released", sensitive)
        if key not in self._kept:
            table = self.release.table
            if sensitive in self._quasi():
                raise Unavailable(f"Column {sensitive!r} is a quasi-identifier; a sensitive column is something else.")
            self.roles.check(table.columns, where=table.name, need=("quasi",))
            if sensitive in self.roles.sensitive:
                self.roles.check_column(sensitive, table.columns, where=table.name, kind="sensitive")
            elif sensitive not in table.columns:
                raise Unavailable(f"{table.name}: no column {sensitive!r}, so nothing can be said of it.")
            self._kept[key] = self._split(table, sensitive)
        return self._kept[key]  # type: ignore[no-any-return]

    @cached_property
    def tuples(self) -> Counts:
        """The released quasi-identifier tuples, one a class."""
        quasi = self._quasi()
        self.roles.check(self.release.table.columns, where=self.release.table.name, need=("quasi",))
        there = [s for s in self.roles.sensitive if s in self.release.table.columns and s not in quasi]
        if there:  # counting with a sensitive column now saves a second scan later
            return self._released(next((s for s in there if ("released", s) in self._kept), there[0]))[1]
        return self.release.table.count(quasi)

    @cached_property
    def people(self) -> IntArray:
        """The size of each class: its rows, or its distinct people where the release carries a person column."""
        person = self.roles.person
        if person is None or person not in self.release.table.columns:
            return self.tuples.n
        counts = self.release.table.count((*self._quasi(), person))
        _, member = counts.group(self._quasi())
        return np.bincount(member, minlength=len(self.tuples)).astype(np.int64)

    def original(self, why: str) -> Table:
        """The original table, or a refusal that says why it is needed."""
        if self.release.original is None:
            raise Unavailable(f"{why} needs the original table; give it with --original (or Release(original=...)).")
        self.roles.check(self.release.original.columns, where=self.release.original.name)
        return self.release.original

    def original_classes(self, sensitive: str, why: str) -> Classes:
        """The classes that the original quasi-identifiers form."""
        if ("original", sensitive) not in self._kept:
            self._kept["original", sensitive] = self._split(self.original(why), sensitive)
        return self._kept["original", sensitive][0]  # type: ignore[no-any-return]

    def domain(self, name: str, why: str) -> Domain:
        """What values a quasi-identifier may have had: its taxonomy file, else the values of the original."""
        taxonomy = self.roles.taxonomy(name)
        if self.release.original is None and taxonomy is not None:
            missing = [None] if self.tuples.column(name).has_missing else []
            column, _ = encode(name, strings([*taxonomy.levels[0], *missing]))
            return Domain(column, taxonomy)
        column = self._original_column(name, why)
        return Domain(column, self.roles.hierarchy(column) if taxonomy is None else taxonomy)

    def _original_column(self, name: str, why: str) -> Column:
        for sensitive in self.roles.sensitive:
            if ("original", sensitive) in self._kept:
                return self._kept["original", sensitive][1].column(name)  # type: ignore[no-any-return]
        if ("column", name) not in self._kept:
            original = self.original(why)
            for column, counts in original.value_counts(self._quasi(), 2**62).items():
                assert counts is not None
                self._kept["column", column] = counts.columns[0]
        return self._kept["column", name]  # type: ignore[no-any-return]

    def pairs(self, name: str, why: str) -> tuple[list[str | None], list[str | None], IntArray]:
        """For a column, the original value, the released value and how many rows have both."""
        recoding = self.release.recoding
        if recoding is not None:
            if name not in recoding.to:
                raise Unavailable(f"Column {name!r} was not recoded.")
            width = len(recoding.by)
            before, a = encode(name, recoding.table.column(recoding.by.index(name)))
            after, b = encode(name, recoding.table.column(width + recoding.to.index(name)))
            counts = Counts.of([before, after], [a, b], numpy(recoding.table.column("n")).astype(np.int64))
        elif self.release.pairing == "none":
            raise Unavailable(
                f"{why} needs to know which released row comes from which original row; "
                "pair them with --pair position or --pair key:COLUMN."
            )
        else:
            key = self.release.pairing.removeprefix("key:") if self.release.pairing.startswith("key:") else None
            joined = self.release.table.beside(self.original(why), key)
            alone = self.release.table.rows - joined.rows
            if alone:
                raise InputError(
                    f"{self.release.table.name}: {alone} rows have a {key!r} that {self.original(why).name} does not have, "
                    "so they have no original to be paired with."
                )
            counts = joined.count((f"original.{name}", f"released.{name}"))
        first, second = counts.columns
        return [first.texts[c] for c in counts.codes[0]], [second.texts[c] for c in counts.codes[1]], counts.n

    def population_sizes(self) -> IntArray | None:
        """For each class, how many people of the population table its released values cover; None without that table.

        Each column's values are matched once (released value against population value); a class then is the product of
        its columns' matches over the population's distinct tuples, in blocks that bound the memory.
        """
        table = self.release.population
        if table is None:
            return None
        quasi = self._quasi()
        self.roles.check(table.columns, where=table.name, need=("quasi",))
        people = table.count(quasi)
        matches = []
        for name, codes in zip(quasi, people.codes, strict=True):
            domain = Domain(people.column(name), self.roles.taxonomy(name))
            flags = np.array([domain.mask(text) for text in self.tuples.column(name).texts])
            matches.append((flags, codes))
        sizes = np.zeros(len(self.tuples), dtype=np.int64)
        block = max(1, 50_000_000 // max(len(people), 1))
        for start in range(0, len(sizes), block):
            stop = min(start + block, len(sizes))
            inside = np.ones((stop - start, len(people)), dtype=bool)
            for (flags, codes), released in zip(matches, self.tuples.codes, strict=True):
                inside &= flags[released[start:stop]][:, codes]
            sizes[start:stop] = exact(inside @ people.n.astype(np.float64))
        return sizes
