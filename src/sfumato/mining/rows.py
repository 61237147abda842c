"""Original and released rows side by side: what the miners learn from, and what their predictions are held against.

Rows stand in the order of their values, never in that of a file, so that the same tables give the same folds. Original rows that
a release leaves out have no S(x), and nothing is predicted for them (sec. 2.2 of the paper assumes that there are none).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from ..core.arrow import integers
from ..core.column import Column, FloatArray, IntArray, encode, text_of
from ..core.counts import Counts, pack
from ..core.cover import Domain
from ..core.errors import InputError, Unavailable
from ..core.noun import dataclass
from ..core.release import Release
from ..core.roles import Roles
from ..core.table import Table

Pairs = tuple["Frame", "Frame", IntArray | None]
MOST = 5_000_000
"""Rows that are held in memory; of more, a sample is taken."""


@dataclass(frozen=True, eq=False)
class Frame:
    """Rows in memory: a column of distinct values, and a code per row, for each name."""

    columns: Mapping[str, Column]
    codes: Mapping[str, IntArray]
    count: int

    def __len__(self) -> int:
        return self.count

    @property
    def names(self) -> tuple[str, ...]:
        """The columns, in order."""
        return tuple(self.columns)

    @classmethod
    def of(cls, counts: Counts, names: Mapping[str, str], times: IntArray | None = None) -> Frame:
        """From counts: each tuple as often as it occurs (or `times`). `names` maps counted names to ours."""
        at = np.repeat(np.arange(len(counts)), counts.n if times is None else times)
        columns, codes = {}, {}
        for counted, name in names.items():
            columns[name], codes[name] = counts.column(counted), counts.code(counted)[at]
        return cls(columns, codes, len(at))

    def key(self, names: Sequence[str]) -> IntArray:
        """One integer for each row, the same where these columns are the same."""
        return pack([self.codes[name] for name in names], [len(self.columns[name]) for name in names], len(self))

    def take(self, rows: IntArray) -> Frame:
        """Some of the rows."""
        return Frame(self.columns, {name: code[rows] for name, code in self.codes.items()}, len(rows))

    def texts(self, name: str) -> list[str | None]:
        """The distinct values of a column as they are spelled."""
        return self.columns[name].texts

    def numbers(self, name: str) -> FloatArray | None:
        """A column as a number a row, NaN where it is missing; None if it is not all numbers."""
        numbers = self.columns[name].numbers
        return None if numbers is None else numbers[self.codes[name]]


@dataclass(frozen=True, eq=False)
class Aligned:
    """The release and its original; where it is known, released row i comes from original row `place[i]`."""

    original: Frame
    released: Frame
    place: IntArray | None
    perturbed: frozenset[str]
    notes: tuple[str, ...] = ()
    sampled: bool = False
    """Whether only some of the people are here."""

    @property
    def suppressed(self) -> int:
        """The original rows that have no released row."""
        return 0 if self.place is None else len(self.original) - len(self.released)


def align(release: Release, roles: Roles, *, rows: int | None = None, seed: int = 0) -> Aligned:
    """Read a release and its original as rows, paired where that is known; at most `rows` people, drawn by the seed."""
    if release.statistics:
        raise Unavailable(
            f"{release.table.name} holds statistics, not rows, so no miner can learn from it; mine a release of rows."
        )
    if release.original is None:
        raise Unavailable("Mining needs the original table to know what is true; give it (Release(original=...)).")
    release = release.one_row_each(roles)
    original = release.original
    assert original is not None
    roles.check(original.columns, where=original.name)
    names = tuple(roles.released(original.columns))
    if len(names) < 2:
        raise InputError(f"{roles.source} releases fewer than two columns, so there is nothing to predict one from.")
    joined = release.joined_by is not None
    notes: list[str] = []
    pairs: Pairs | None
    if (release.recoding is not None and not joined) or release.pairing != "none":
        pairs = _paired(release, roles, original, names)
    else:
        pairs = _by_position(release, roles, original, names) if not joined else None
        if pairs is not None:
            notes.append("rows were paired by position: every released row agrees with the original row in its place")
        else:
            released = _joined(release, names, seed) if joined else _frame(release.table, names)
            pairs = _frame(original, names), released, None
    first, second, place = pairs
    if not len(second):
        raise InputError(f"{release.table.name} has no rows.")
    whole = Aligned(first, second, place, release.perturbed, tuple(notes))
    return _sample(whole, min(rows or MOST, MOST), seed)


def _frame(table: Table, names: Sequence[str]) -> Frame:
    here = [name for name in names if name in table.columns]
    return Frame.of(table.count(here), {name: name for name in here})


def _paired(release: Release, roles: Roles, original: Table, names: tuple[str, ...]) -> Pairs:
    """Pairs that a mechanism of ours left, or that the owner states."""
    both, released = release.evidence(roles).sides(names, "mining")
    before = {f"original.{name}": name for name in names}
    after = {released[name]: name for name in names if name in released}
    counts = both.count((*before, *after))
    return _placed(counts, before, original, Frame.of(counts, after))


def _placed(counts: Counts, before: Mapping[str, str], original: Table, released: Frame) -> Pairs:
    """All original rows, and where among them each released row comes from."""
    if original.rows == len(released):
        return Frame.of(counts, before), released, np.arange(len(released))
    whole = original.count(tuple(before.values()))
    tuple_of = whole.places([*map(counts.column, before)], [*map(counts.code, before)])
    start = np.cumsum(whole.n) - whole.n
    # the released rows of an original tuple follow one another from its first row on
    taken = np.cumsum(counts.n) - counts.n
    first = np.flatnonzero(np.diff(tuple_of, prepend=-1))
    since = np.repeat(taken[first], np.diff(np.append(first, len(counts))))
    at = start[tuple_of] + taken - since
    place = np.repeat(at - taken, counts.n) + np.arange(counts.rows)
    return Frame.of(whole, {name: name for name in before.values()}), released, place


def merged(first: Column, second: Column) -> tuple[Column, IntArray, IntArray]:
    """One column for two, and where the codes of each went."""
    if first.values.type == second.values.type:
        values: pa.Array = pa.concat_arrays([first.values, second.values])
    else:
        spelled = [text_of(v) for v in [*first.values.to_pylist(), *second.values.to_pylist()]]
        values = pa.array(spelled, pa.string())
    column, codes = encode(first.name, values)
    missing = first.has_missing or second.has_missing
    column = Column(first.name, column.values, missing)
    last = np.array([len(column.values)])
    a, b = codes[: len(first.values)], codes[len(first.values) :]
    if first.has_missing:
        a = np.concatenate([a, last])
    if second.has_missing:
        b = np.concatenate([b, last])
    return column, a, b


def _by_position(release: Release, roles: Roles, original: Table, names: tuple[str, ...]) -> Pairs | None:
    """Rows paired by their places, if that is no guess: each released value is the original one there or covers it.

    A column of one value, or one that says nothing in most rows, would agree with any order; so would few rows. Columns that
    were perturbed are not asked; where there are any, files that look sorted by the others are not paired.
    """
    table = release.table
    if table.rows != original.rows or table.rows < 20:
        return None
    here = tuple(name for name in names if name in table.columns)
    both = table.beside(original, None)
    surprise = 0.0  # bits: how surprising the agreement would be for rows in another order
    agreed = []
    for name in here:
        if name in release.perturbed:
            continue
        counts = both.count((f"original.{name}", f"released.{name}"))
        domain = Domain(counts.columns[0], roles.taxonomy(name))
        masks = [domain.mask(text) for text in counts.columns[1].texts]
        agrees = np.array([masks[b][a] for a, b in zip(*counts.codes, strict=True)], dtype=bool)
        if not agrees.all():
            if counts.columns[0].numbers is not None and counts.columns[1].numbers is not None:
                continue  # numbers may carry noise
            return None
        agreed.append(name)
        rows = counts.n.sum()
        share = np.bincount(counts.codes[0], weights=counts.n) / rows
        chance = np.array([share[mask].sum() for mask in masks])
        surprise += float(-(counts.n * np.log2(np.maximum(chance[counts.codes[1]], 1e-300))).sum())
    if surprise < 40:  # one chance in 2^40
        return None
    if len(agreed) < len(here) and not _mixed(table, agreed):
        return None
    return _paired(Release(table=table, original=original, pairing="position"), roles, original, names)


def _mixed(table: Table, names: Sequence[str]) -> bool:
    """Whether rows that share these columns stand apart in the file, or none share them.

    Files that were both sorted by them agree in them whoever is who; what was not asked, such as noise, is then anybody's.
    """
    from ..engines import read

    numbered = table.beside(read(pa.table({"row": integers(np.arange(table.rows))})), None)
    counts = numbered.count(("original.row", *(f"released.{name}" for name in names)))
    key = counts.key(counts.names[1:])
    runs, distinct = int((np.diff(key) != 0).sum()) + 1, len(np.unique(key))
    return distinct == len(key) or runs - distinct >= 40


def _joined(release: Release, names: tuple[str, ...], seed: int) -> Frame:
    """A release whose columns only groups join: within a group the values are dealt out at random, as a user would."""
    by = str(release.joined_by)
    rng = np.random.default_rng(seed)
    columns: dict[str, Column] = {}
    codes: dict[str, IntArray] = {}
    groups: list[list[str | None]] = []
    for table in (release.table, *release.companions.values()):
        if by not in table.columns:
            continue
        counts = table.count((by, *(n for n in names if n in table.columns and n not in columns)))
        at = np.repeat(np.arange(len(counts)), counts.n)
        if columns:
            at = at[rng.permutation(len(at))]
        at = at[np.argsort(counts.codes[0][at], kind="stable")]
        groups.append([counts.columns[0].texts[c] for c in np.sort(counts.codes[0][at])])
        for name, column, code in zip(counts.names[1:], counts.columns[1:], counts.codes[1:], strict=True):
            columns[name], codes[name] = column, code[at]
    if any(other != groups[0] for other in groups):
        raise InputError(f"{release.table.name}: its companions have other groups; give those published with it.")
    return Frame(columns, codes, len(groups[0]))


def _sample(whole: Aligned, most: int, seed: int) -> Aligned:
    """At most so many people of both sides."""
    first, second, place = whole.original, whole.released, whole.place
    if len(first) <= most and (place is not None or len(second) <= most):
        return whole
    rng = np.random.default_rng(seed)
    chosen = np.sort(rng.permutation(len(first))[:most])
    note = f"a sample of {len(chosen):,} of {len(first):,} rows was mined"
    if place is None:
        there = np.sort(rng.permutation(len(second))[:most])
    else:
        there = np.flatnonzero(np.isin(place, chosen))
        place = np.searchsorted(chosen, place[there])
    return Aligned(first.take(chosen), second.take(there), place, whole.perturbed, (*whole.notes, note), sampled=True)
