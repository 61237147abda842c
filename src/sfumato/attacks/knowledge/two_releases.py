"""Who is in two releases, by what an adversary knows of them in either: rows, or people with all their rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...core.column import Column, IntArray
from ...core.counts import Counts
from ...core.errors import InputError, Unavailable
from ...core.noun import dataclass
from ...core.release import Evidence
from ...core.runs import distinct
from ...core.table import Table
from ..lookup.external import grouped
from .candidate_values import Sets, candidate_sets


@dataclass(frozen=True, eq=False)
class Side:
    """What is known of entries in one release: link i says that tuple `at[i]` is one of entry `owner[i]`; owners ascend."""

    tuples: Counts
    owner: IntArray
    at: IntArray

    def sets(self, evidence: Evidence, column: str, texts: Column, entries: int) -> tuple[Sets, IntArray]:
        """Candidate values, and which of the sets each entry has: what the classes of all its tuples share."""
        sets, look = candidate_sets(evidence, self.tuples, column, texts)
        width = len(sets.size) + 1
        owner, which = np.divmod(distinct(self.owner * width + look[self.at]), width)
        if len(owner) == entries:  # one look each
            return sets, which
        return sets.shared(owner, which, entries), np.arange(entries)


@dataclass(frozen=True, eq=False)
class People:
    """Entries of `n` people: what is known of them on either side, their values, and who they are if that is asked."""

    now: Side
    before: Side
    n: IntArray
    value: Column
    code: IntArray
    """The values, by their codes; `owner` says whose each is."""
    owner: IntArray
    who: tuple[Column, IntArray] | None = None


def in_both(
    now: Evidence, before: Evidence, original: Table, earlier: Table, column: str, identity: str | None
) -> People:
    """The people of both releases, by a column that names them; without it the rows of an original that both come from."""
    ours, theirs = now.tuples.names, before.tuples.names
    for table, needed in ((original, (*ours, column)), (earlier, (*theirs, column))):
        table.require_columns(needed, "which composition needs", Unavailable)
    if identity is not None:
        for table in (original, earlier):
            if identity not in table.columns:
                raise InputError(
                    f"{table.name}: no column {identity!r}; name one that tells people apart with identity."
                )
        first = _inside(now, original, (identity, *ours, column))
        return _named(first, _inside(before, earlier, (identity, *theirs)))
    if original is not earlier:
        raise Unavailable(
            "composition cannot tell who is in both releases: their originals are two tables; name a column that tells people "
            "apart in both with identity (--identity)."
        )
    names = list(dict.fromkeys((*ours, *theirs, column)))
    every = original.count(names)
    there = []
    for evidence in (now, before):
        if evidence.release.table.rows == original.rows:
            there.append(every.n)
            continue
        some = _inside(evidence, original, names)
        n = np.zeros(len(every), dtype=np.int64)
        at = every.places(some.columns, some.codes)
        n[at[at >= 0]] = some.n[at >= 0]
        there.append(n)
    both = np.minimum(*there)
    if ((there[0] < every.n) & (there[1] < every.n) & (both > 0)).any():
        raise Unavailable(
            "composition cannot tell who is in both releases: each left out some of the people who have the same values; name a "
            "column that tells them apart with identity (--identity)."
        )
    kept = Counts(every.columns, tuple(code[both > 0] for code in every.codes), both[both > 0])
    return _rows(kept, ours, theirs, column)


def outside(now: Evidence, before: Evidence, control: Table, column: str, person: str | None) -> People:
    """People of a table, as if they were in both releases; with all their rows where it has the person column."""
    ours, theirs = now.tuples.names, before.tuples.names
    names = list(dict.fromkeys((*ours, *theirs, column)))
    control.require_columns(names, "which is known of people; give a control that has it")
    if person is None or person not in control.columns:
        return _rows(control.count(names), ours, theirs, column)
    return _named(control.count((person, *ours, column)), control.count((person, *theirs)))


def _inside(evidence: Evidence, original: Table, names: Sequence[str]) -> Counts:
    """The original rows that were released, counted by these columns."""
    if evidence.release.table.rows == original.rows:
        return original.count(names)
    return evidence.side_counts(names, (), "composition")


def _rows(every: Counts, ours: Sequence[str], theirs: Sequence[str], column: str) -> People:
    """Entries are distinct tuples; each row is somebody's only one."""
    entry = np.arange(len(every))

    def side(by: Sequence[str]) -> Side:
        return Side(*_linked([*map(every.column, by)], [*map(every.code, by)], entry))

    return People(side(ours), side(theirs), every.n, every.column(column), every.code(column), entry)


def _named(now: Counts, before: Counts) -> People:
    """Counted by identity first, the one by the sensitive value last; who has none is nobody in particular."""
    place = before.columns[0].places(now.columns[0], missing=False)
    both = np.flatnonzero(place >= 0)
    number = np.full(len(place), -1, dtype=np.int64)
    number[both] = np.arange(len(both))
    back = np.full(len(before.columns[0]), -1, dtype=np.int64)
    back[place[both]] = np.arange(len(both))
    links = []
    for counts, owner in ((now, number[now.codes[0]]), (before, back[before.codes[0]])):
        rows = np.flatnonzero(owner >= 0)
        rows = rows[np.argsort(owner[rows], kind="stable")]
        links.append((counts, rows, owner[rows]))
    (a, a_rows, a_owner), (b, b_rows, b_owner) = links
    left = Side(*_linked(a.columns[1:-1], [code[a_rows] for code in a.codes[1:-1]], a_owner))
    right = Side(*_linked(b.columns[1:], [code[b_rows] for code in b.codes[1:]], b_owner))
    n = np.ones(len(both), dtype=np.int64)
    return People(left, right, n, a.columns[-1], a.codes[-1][a_rows], a_owner, (a.columns[0], both))


def _linked(columns: Sequence[Column], codes: Sequence[IntArray], owner: IntArray) -> tuple[Counts, IntArray, IntArray]:
    tuples, at = grouped(columns, codes, np.ones(len(owner), dtype=np.int64))
    return tuples, owner, at
