"""What an adversary knows beside what was released: external tuples, released tuples, and which of these are whose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ...core.column import Column, IntArray
from ...core.counts import Counts, exact, pack
from ...core.errors import InputError, Unavailable
from ...core.noun import dataclass
from ...core.release import Evidence
from ...core.roles import Roles
from ...core.runs import spread
from ...core.table import Table


@dataclass(frozen=True, eq=False)
class External:
    """External entries: `n` people of known tuple `member`; each is joined to the released rows that are theirs.

    Link i says that `rows[i]` released rows of tuple `own[i]` belong to the people of entry `entry[i]`.
    """

    names: tuple[str, ...]
    """The columns that are compared; one that stands in two related tables is compared twice."""
    released: Counts
    known: Counts
    member: IntArray
    n: IntArray
    entry: IntArray
    own: IntArray
    rows: IntArray
    total: int
    """Released rows; people where the release carries them."""
    unit: str
    who: tuple[Column, IntArray] | None = None
    """The identity of each entry."""
    people: tuple[IntArray, IntArray] | None = None
    """Where the release carries people: person and tuple of each of their tuples, by person."""
    several: bool = False
    """Whether one of these has several tuples."""
    mine: IntArray | None = None
    """Where the release carries people: which of them each entry is, -1 for none."""

    @property
    def inside(self) -> IntArray:
        """How many links an entry has: none for people who are not in the release."""
        return np.bincount(self.entry, minlength=len(self.n))

    def blind(self, *, people: bool) -> float:
        """How often one guess among all that was released is right: of entries, or of people, who may have several.

        1 by all for people and for who has one row; who has more rows is found more often.
        """
        if self.unit == "people":
            return 1.0 / self.total
        own = np.bincount(self.entry, weights=self.rows, minlength=len(self.n)) / self.total
        inside = np.flatnonzero(self.inside)
        if people and self.who is not None:
            inside = inside[np.unique(self.who[1][inside], return_index=True)[1]]
            return float(own[inside].mean())
        return float(np.average(own[inside], weights=self.n[inside]))


def grouped(columns: Sequence[Column], codes: Sequence[IntArray], n: IntArray) -> tuple[Counts, IntArray]:
    """The distinct tuples, and the tuple of each entry."""
    key = pack(codes, [len(column) for column in columns], len(n))
    _, first, member = np.unique(key, return_index=True, return_inverse=True)
    weight = exact(np.bincount(member, weights=n, minlength=len(first)))
    return Counts(tuple(columns), tuple(code[first] for code in codes), weight), member.astype(np.int64)


def by_row(evidence: Evidence, known: Sequence[str], why: str) -> External:
    """The adversary knows the original; a row is attacked at a time."""
    recoding = evidence.release.recoding
    if recoding is not None and all(name in recoding.by and name in recoding.to for name in known):
        counts = evidence.pair_counts(known, why)
    else:
        counts = evidence.side_counts(known, known, why)
    width = len(known)
    theirs, member = grouped(counts.columns[:width], counts.codes[:width], counts.n)
    ours, own = grouped(counts.columns[width:], counts.codes[width:], counts.n)
    entry = np.arange(len(counts))
    return External(tuple(known), ours, theirs, member, counts.n, entry, own, np.ones_like(entry), counts.rows, "rows")


def by_identity(evidence: Evidence, external: Table, identity: str, known: Sequence[str], why: str) -> External:
    """An external table that names people, whom the original names, too."""
    counts = evidence.side_counts((identity,), known, why)
    ours, own = grouped(counts.columns[1:], counts.codes[1:], counts.n)
    return _named(external, identity, known, tuple(known), counts, ours, own, counts.n, counts.rows, "rows")


def by_people(release_tables: Sequence[Table], external: Table | None, identity: str, known: Sequence[str]) -> External:
    """A release that carries people, perhaps in several tables: who is found is a person.

    Without an external table the adversary knows of each person what the release says of them.
    """
    wide, person, columns, codes, names = _joined(release_tables, identity, known)
    ours, own = grouped(columns, codes, np.ones(len(person), dtype=np.int64))
    several = len(np.unique(person)) < len(person)
    counts = Counts((wide, *columns), (person, *codes), np.ones(len(person), dtype=np.int64))
    if external is not None:
        table = _named(external, identity, known, names, counts, ours, own, counts.n, len(wide), "people")
        return replace(table, people=(person, own), several=several)
    if several:
        raise Unavailable(
            "linkage: some people have several rows in the released tables, so it must be told what is known of each; give "
            "an external table with --external."
        )
    entry = np.arange(len(person))
    ones, people = np.ones_like(entry), (person, own)
    return External(
        names, ours, ours, own, counts.n, entry, own, ones, len(wide), "people", (wide, person), people, mine=person
    )


def _named(
    external: Table,
    identity: str,
    known: Sequence[str],
    names: tuple[str, ...],
    counts: Counts,
    ours: Counts,
    own: IntArray,
    rows: IntArray,
    total: int,
    unit: str,
) -> External:
    """`counts` are by identity first; `own` is the released tuple of each."""
    there = external.count((identity, *known))
    at = [1 + list(known).index(name) for name in names]
    theirs, member = grouped([there.columns[i] for i in at], [there.codes[i] for i in at], there.n)
    who = counts.columns[0].places(there.columns[0], missing=False)[there.codes[0]]
    first, last = (np.searchsorted(counts.codes[0], who, side=side) for side in ("left", "right"))
    first[who < 0] = last[who < 0] = 0
    link, entry = spread(first, last)
    identities = there.columns[0], there.codes[0]
    mine = who if unit == "people" else None
    return External(
        names, ours, theirs, member, there.n, entry, own[link], rows[link], total, unit, identities, mine=mine
    )


def _joined(
    tables: Sequence[Table], identity: str, known: Sequence[str]
) -> tuple[Column, IntArray, list[Column], list[IntArray], tuple[str, ...]]:
    """The released tables joined on the person: who, and for each known column of each table its values.

    A person with several rows in a table has every combination; one with none has the missing value there.
    """
    wide: Column | None = None
    person = np.zeros(0, dtype=np.int64)
    columns: list[Column] = []
    codes: list[IntArray] = []
    names: list[str] = []
    for table in tables:
        here = [name for name in known if name in table.columns]
        counts = table.count((identity, *here))
        if wide is None:
            wide, person = counts.columns[0], counts.codes[0]
            columns, codes = list(counts.columns[1:]), list(counts.codes[1:])
        else:
            wide, person, columns, codes = _beside(wide, person, columns, codes, counts)
        names += here
    assert wide is not None
    return wide, person, columns, codes, tuple(names)


def _beside(
    wide: Column, person: IntArray, columns: list[Column], codes: list[IntArray], counts: Counts
) -> tuple[Column, IntArray, list[Column], list[IntArray]]:
    """One more table; people who are only in it are added."""
    from ...core.arrow import strings
    from ...core.column import encode

    every, code = encode(wide.name, strings([*wide.texts, *counts.columns[0].texts]))
    mine, theirs = code[: len(wide)][person], code[len(wide) :][counts.codes[0]]
    order = np.argsort(mine, kind="stable")
    mine, codes = mine[order], [c[order] for c in codes]
    turn = np.argsort(theirs, kind="stable")
    theirs = theirs[turn]
    first, last = (np.searchsorted(theirs, mine, side=side) for side in ("left", "right"))
    at, whose = spread(first, last)
    alone, new = np.flatnonzero(first == last), np.flatnonzero(~np.isin(theirs, mine))
    left = np.concatenate([whose, alone, np.full(len(new), -1)]).astype(np.int64)
    right = np.concatenate([at, np.full(len(alone), -1), new]).astype(np.int64)
    who = np.where(left >= 0, mine[np.maximum(left, 0)] if len(mine) else 0, theirs[np.maximum(right, 0)])
    result = [(*_taken(column, c, left),) for column, c in zip(columns, codes, strict=True)]
    result += [
        (*_taken(column, c[turn], right),) for column, c in zip(counts.columns[1:], counts.codes[1:], strict=True)
    ]
    place = np.lexsort([c for _, c in reversed(result)] + [who]) if result else np.argsort(who, kind="stable")
    return every, who[place], [column for column, _ in result], [c[place] for _, c in result]


def _taken(column: Column, codes: IntArray, at: IntArray) -> tuple[Column, IntArray]:
    """The codes at these places, missing where there is none."""
    missing = Column(column.name, column.values, True)
    if not len(codes):
        return missing, np.full(len(at), len(column.values))
    return (missing if (at < 0).any() else column), np.where(at < 0, len(column.values), codes[np.maximum(at, 0)])


def check_columns(tables: Sequence[Table], known: Sequence[str], roles: Roles, external: Table | None) -> None:
    """Refuse what is not there."""
    if not known:
        raise Unavailable(
            f"{roles.source} names no quasi-identifier, so nothing is known of anybody; set quasi = [...]."
        )
    if len(set(known)) < len(known):
        raise InputError("known names a column twice; name each once.")
    for name in known:
        if not any(name in table.columns for table in tables):
            roles.check_column(name, tables[0].columns, where=tables[0].name, kind="quasi")
        if external is not None and name not in external.columns:
            raise InputError(
                f"{external.name}: no column {name!r}; name the columns that both have with known (--known)."
            )


def repeated(table: Table, person: str | None) -> bool:
    """Whether a table has the person column, and some people have several rows in it."""
    return person is not None and person in table.columns and len(table.count((person,))) < table.rows
