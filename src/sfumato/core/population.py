"""Whom the classes of a release cover, of a population (k-map, delta-presence, the journalist's risk) or of the original rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from .column import IntArray
from .counts import Counts, exact, pack
from .cover import BoolArray, Domain
from .errors import Unavailable
from .noun import dataclass
from .value_sets import read_set

_BLOCK = 50_000_000
_FEW_LABELS = 5
"""Labels from which on entries are sorted once instead of being looked through for each."""
_MOST = 4_000_000_000
"""Pairs of a class and a tuple that are compared at most where each tuple's class is looked for."""


@dataclass(frozen=True, eq=False)
class Cover:
    """What a release's classes cover of a population table, in people."""

    sizes: IntArray
    """The people whom each class's released values cover."""
    nobody: int
    """The people whom no class covers."""
    several: int
    """The people whom more than one class covers."""


def covered(cover: Cover | None, why: str) -> Cover:
    """What the classes cover, or a refusal where no population is given."""
    if cover is None:
        raise Unavailable(
            f"{why} needs a table of the population; give it with --population (or Release(population=...))."
        )
    return cover


@dataclass(frozen=True, eq=False)
class _Owners:
    """Entries: an owner and a tuple of codes that the classes are compared with; `n` people behind each owner.

    An owner is a person, who may have several tuples, or all people of one tuple.
    """

    owner: IntArray
    codes: list[IntArray]
    n: IntArray

    @classmethod
    def of(cls, counts: Counts, codes: list[IntArray], sizes: list[int], person: bool) -> _Owners:
        """People who look the same to every class are counted together."""
        _, first, look = np.unique(pack(codes, sizes, len(counts)), return_index=True, return_inverse=True)
        if not person:
            n = exact(np.bincount(look, weights=counts.n, minlength=len(first)))
            return cls(np.arange(len(first)), [code[first] for code in codes], n)
        owner, look = np.divmod(np.unique(counts.codes[-1] * len(first) + look), max(len(first), 1))
        return cls(owner, [code[first[look]] for code in codes], np.ones(len(counts.columns[-1]), dtype=np.int64))

    def total(self, sizes: IntArray, times: IntArray) -> Cover:
        return Cover(sizes, int(self.n[times == 0].sum()), int(self.n[times > 1].sum()))


def cover(tuples: Counts, domains: list[Domain], counts: Counts, *, person: bool) -> Cover:
    """Whom the classes `tuples` cover of a population, counted by the same columns and, if there is one, by person last.

    Each column's values are matched once. Where no two released values of a column overlap, each person's class is looked
    up; otherwise classes and people are compared, in blocks that bound the memory.
    """
    inside = [
        [covered_codes(domain, text) for text in column.texts]
        for domain, column in zip(domains, tuples.columns, strict=True)
    ]
    homes = []
    for domain, lists in zip(domains, inside, strict=True):
        where = np.concatenate(lists)
        if len(np.unique(where)) < len(where):
            return _compare(tuples, domains, inside, counts, person)
        home = np.full(len(domain.column), len(lists), dtype=np.int64)
        home[where] = np.repeat(np.arange(len(lists)), [len(codes) for codes in lists])
        homes.append(home)
    sizes = [len(lists) + 1 for lists in inside]
    crowd = _Owners.of(counts, [home[code] for home, code in zip(homes, counts.codes, strict=False)], sizes, person)
    at = tuples.find([np.where(code < len(lists), code, -1) for code, lists in zip(crowd.codes, inside, strict=True)])
    same = at >= 0
    owner, at = np.divmod(np.unique(crowd.owner[same] * len(tuples) + at[same]), len(tuples))
    covered = exact(np.bincount(at, weights=crowd.n[owner], minlength=len(tuples)))
    return crowd.total(covered, np.bincount(owner, minlength=len(crowd.n)))


def _compare(
    tuples: Counts, domains: list[Domain], inside: list[list[IntArray]], counts: Counts, person: bool
) -> Cover:
    matches: list[BoolArray] = []
    codes = []
    for domain, lists, code in zip(domains, inside, counts.codes, strict=False):
        flags = np.zeros((len(lists), len(domain.column)), dtype=bool)
        for row, covered in zip(flags, lists, strict=True):
            row[covered] = True
        _, first, alike = np.unique(np.packbits(flags, axis=0), axis=1, return_index=True, return_inverse=True)
        order = np.argsort(first)  # as the values stand, so that a range covers neighbours
        matches.append(flags[:, first[order]])
        codes.append(np.argsort(order)[alike.ravel()[code]])
    crowd = _Owners.of(counts, codes, [match.shape[1] for match in matches], person)
    sizes, times = np.zeros(len(tuples), dtype=np.int64), np.zeros(len(crowd.n), dtype=np.int64)
    for at, entries in _meetings(matches, tuples.codes, crowd.codes):
        owners = np.unique(crowd.owner[entries]) if person else crowd.owner[entries]
        sizes[at] = crowd.n[owners].sum()
        times[owners] += 1
    return crowd.total(sizes, times)


def _meetings(
    matches: list[BoolArray], released: Sequence[IntArray], codes: Sequence[IntArray]
) -> Iterator[tuple[int, IntArray]]:
    """Each class that covers something, and the entries that it covers, in no order.

    Classes with the same label on a column are narrowed down together, the column that tells most apart first: so what is
    looked at is about what is covered, not every class beside every entry.
    """
    shares = [
        float((match @ np.bincount(code, minlength=match.shape[1]))[labels].mean()) if len(labels) else 0.0
        for match, labels, code in zip(matches, released, codes, strict=True)
    ]
    columns = np.argsort(shares).tolist()
    left = [(np.arange(len(released[0])), np.arange(len(codes[0])), 0)] if matches else []
    while left:
        classes, entries, depth = left.pop()
        if not len(entries):
            continue
        if depth == len(columns):  # no two classes have the same labels
            yield int(classes[0]), entries
            continue
        column = columns[depth]
        label, code = released[column][classes], codes[column][entries]
        by_label = np.argsort(label, kind="stable")
        starts = np.flatnonzero(np.diff(label[by_label], prepend=-1))
        sorted_entries, ends = None, None
        for group in np.split(by_label, starts[1:]):
            match = matches[column][label[group[0]]]
            if len(starts) < _FEW_LABELS:
                left.append((classes[group], entries[match[code]], depth + 1))
                continue
            if sorted_entries is None or ends is None:
                sorted_entries = entries[np.argsort(code, kind="stable")]
                ends = np.append(0, np.cumsum(np.bincount(code, minlength=len(match))))
            edges = np.flatnonzero(np.diff(match, prepend=False, append=False)).reshape(-1, 2)
            parts = [sorted_entries[ends[low] : ends[high]] for low, high in edges]
            left.append((classes[group], np.concatenate(parts) if parts else entries[:0], depth + 1))


def covered_codes(domain: Domain, text: str | None) -> IntArray:
    """The codes of the population that a released value covers; a member of a set need not occur there."""
    covered = domain.covered(text)
    if covered is None and text is not None and text[:1] + text[-1:] == "{}":
        members = [domain.covered(member or None) for member in read_set(text)]
        known = [codes for codes in members if codes is not None]
        covered = np.unique(np.concatenate(known)) if known else None
    return np.zeros(0, dtype=np.int64) if covered is None else covered.astype(np.int64)


@dataclass(frozen=True, eq=False)
class Homes:
    """The class of each original tuple, -1 where none covers it; and whether that is certain for all of them."""

    member: IntArray
    certain: bool


def homes_by_cover(classes: Counts, domains: Sequence[Domain], tuples: Counts) -> Homes:
    """The class that covers each tuple, if only one does. Both are counted by the same columns, of which `domains` know the values."""
    member, times = np.full(len(tuples), -1, dtype=np.int64), np.zeros(len(tuples), dtype=np.int64)
    if len(classes) * len(tuples) > _MOST:
        return Homes(member, certain=False)
    matches = [_matches(domain, column.texts) for domain, column in zip(domains, classes.columns, strict=True)]
    block = max(1, _BLOCK // max(len(tuples), 1))
    for start in range(0, len(classes), block):
        part = slice(start, min(start + block, len(classes)))
        fits = np.ones((part.stop - start, len(tuples)), dtype=bool)
        for match, code, released in zip(matches, tuples.codes, classes.codes, strict=True):
            fits &= match[released[part]][:, code]
        there = fits.any(axis=0)
        member[there] = start + np.argmax(fits[:, there], axis=0)
        times += fits.sum(axis=0)
    return Homes(member, certain=bool((times <= 1).all()))


def _matches(domain: Domain, texts: Sequence[str | None]) -> BoolArray:
    """Which values of a column (across) each released text (down) covers."""
    matches = np.zeros((len(texts), len(domain.column)), dtype=bool)
    for line, text in zip(matches, texts, strict=True):
        line[covered_codes(domain, text)] = True
    return matches
