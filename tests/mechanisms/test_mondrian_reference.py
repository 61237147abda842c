"""Mondrian against a reference of a few recursive lines over single rows: the same cuts, so the same classes.

The rules, as the docstrings state them: every open part tries its axes in the order of what a cut there saves of ILoss, or of
their width (the owner's order among equals); on an ordered axis the cut is the one that leaves the sides as equal as can be,
the first of equal ones; values without an order stand by frequency; on a taxonomy the part falls into the children of its
lowest common node; a cut stands if every piece meets every requirement.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mondrian_tables import JOBS, ROW, TAXONOMY, Made, classes_of, made, read_back

import sfumato as sf
from sfumato.metrics import require

Part = list[int]
Met = Callable[[Part], bool]
CHAINS = {line[0]: line for line in TAXONOMY}


@dataclass(frozen=True)
class Ordered:
    """An axis of numbers, missing last."""

    values: Sequence[Any]

    def order(self) -> list[Any]:
        return sorted({v for v in self.values if v is not None})

    def _codes(self, part: Part) -> list[int]:
        place = {v: i for i, v in enumerate([*self.order(), *([None] if None in self.values else [])])}
        return [place[self.values[i]] for i in part]

    def _open(self, part: Part) -> int:
        """How many values a release of this part leaves open besides the true one."""
        codes = self._codes(part)
        return max(codes) - min(codes)

    def width(self, part: Part) -> float:
        return self._open(part) / len(set(self.values))

    def saves(self, part: Part) -> float:
        left, right = self.cut(part)
        loss = (len(left) * self._open(left) + len(right) * self._open(right)) / len(part)
        return (self._open(part) - loss) / len(set(self.values))

    def cut(self, part: Part) -> list[Part]:
        codes = dict(zip(part, self._codes(part), strict=True))
        ends = sorted(set(codes.values()))[:-1]
        best = min(
            ends, key=lambda end: abs(2 * sum(c <= end for c in codes.values()) - len(part))
        )  # the first of equals
        return [[i for i in part if codes[i] <= best], [i for i in part if codes[i] > best]]


class Named(Ordered):
    """An axis of names, the most frequent first, missing last; what is released is the set of names."""

    def order(self) -> list[Any]:
        times = Counter(v for v in self.values if v is not None)
        return sorted(times, key=lambda v: (-times[v], v))

    def _open(self, part: Part) -> int:
        return len({self.values[i] for i in part}) - 1


@dataclass(frozen=True)
class Tree:
    """An axis of taxonomy values; a missing value hangs from the top."""

    values: Sequence[str | None]

    def _chain(self, value: str | None) -> list[str | None]:
        return [None, None, None, "*"] if value is None else list(CHAINS[value])

    def _level(self, part: Part) -> int:
        chains = [self._chain(self.values[i]) for i in part]
        return next(h for h in range(4) if len({chain[h] for chain in chains}) == 1)

    def _open(self, row: int, h: int) -> int:
        """The values under a row's label at a level, but for one."""
        node = self._chain(self.values[row])[h]
        return sum(self._chain(value)[h] == node for value in set(self.values)) - 1

    def width(self, part: Part) -> float:
        return self._open(part[0], self._level(part)) / len(set(self.values))

    def saves(self, part: Part) -> float:
        below = self._level(part) - 1
        return self.width(part) - sum(self._open(i, below) for i in part) / len(part) / len(set(self.values))

    def cut(self, part: Part) -> list[Part]:
        below = self._level(part) - 1
        found: dict[Any, Part] = {}
        for i in part:
            found.setdefault(self._chain(self.values[i])[below], []).append(i)
        return list(found.values())


Axis = Ordered | Tree


def reference(part: Part, axes: Sequence[Axis], met: Met, choose: str) -> list[Part]:
    wide = [axis for axis in axes if axis.width(part) > 0]
    for axis in sorted(wide, key=lambda axis: -(axis.width(part) if choose == "width" else axis.saves(part))):  # stable
        pieces = axis.cut(part)
        if all(met(piece) for piece in pieces):
            return list(itertools.chain.from_iterable(reference(piece, axes, met, choose) for piece in pieces))
    return [part]


def partition(table: Made, mechanism: sf.Mondrian, folder: Path) -> set[frozenset[int]]:
    """The rows of each class, as the written file has them."""
    path = folder / "release.csv"
    mechanism(table.table, table.roles).table.write(path)
    number = {name: i for i, name in enumerate(table.columns[ROW])}
    found = classes_of(read_back(path), table.roles.quasi).values()
    return {frozenset(number[str(row[ROW])] for row in rows) for rows in found}


numbers = st.integers(0, 7) | st.none()


CHOOSE = st.sampled_from(["loss", "width"])


@settings(max_examples=60)
@given(
    columns=st.integers(1, 24).flatmap(
        lambda n: st.lists(st.lists(numbers, min_size=n, max_size=n), min_size=1, max_size=3)
    ),
    k=st.integers(1, 5),
    choose=CHOOSE,
)
def test_numbers_are_cut_as_the_reference_cuts_them(
    columns: list[list[int | None]], k: int, choose: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    rows = list(range(len(columns[0])))
    if k > len(rows):
        return
    names = [f"q{i}" for i in range(len(columns))]
    table = made(dict(zip(names, columns, strict=True)), types=dict.fromkeys(names, pa.int64()))
    expected = reference(rows, [Ordered(column) for column in columns], lambda part: len(part) >= k, choose)
    found = partition(table, sf.Mondrian(k=k, choose=choose), tmp_path_factory.mktemp("reference"))
    assert found == {frozenset(part) for part in expected}


@settings(max_examples=50)
@given(
    rows=st.lists(
        st.tuples(
            numbers, st.sampled_from(JOBS) | st.none(), st.sampled_from("abcd") | st.none(), st.sampled_from("xyz")
        ),
        min_size=1,
        max_size=24,
    ),
    k=st.integers(1, 3),
    l=st.integers(1, 3),
    choose=CHOOSE,
)
def test_numbers_names_and_a_taxonomy_under_k_and_l(
    rows: list[tuple[Any, ...]], k: int, l: int, choose: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    number, job, name, secret = (list(column) for column in zip(*rows, strict=True))
    if not any(job):
        return  # a taxonomy over nothing has a test of its own
    if k > len(rows) or l > len(set(secret)):
        return
    table = made(
        {"n": number, "j": job, "a": name},
        secret,
        types={"n": pa.int64(), "a": pa.string()},
        hierarchies={"j": sf.Hierarchy.of("j", TAXONOMY)},
    )
    expected = reference(
        list(range(len(rows))),
        [Ordered(number), Tree(job), Named(name)],
        lambda part: len(part) >= k and len({secret[i] for i in part}) >= l,
        choose,
    )
    mechanism = sf.Mondrian(k=k, choose=choose, require=(require(f"distinct_l_diversity >= {l}"),))
    assert partition(table, mechanism, tmp_path_factory.mktemp("reference")) == {frozenset(part) for part in expected}


def halves(values: list[int], k: int) -> list[list[int]]:
    """Relaxed Mondrian on one axis: the sorted rows are halved, the smaller half first, while both halves have k."""
    if len(set(values)) < 2 or len(values) // 2 < k:
        return [values]
    middle = len(values) // 2
    return halves(values[:middle], k) + halves(values[middle:], k)


@settings(max_examples=60)
@given(values=st.lists(st.integers(0, 9), min_size=1, max_size=40), k=st.integers(1, 6))
def test_relaxed_halves_one_axis_by_rows(values: list[int], k: int) -> None:
    if k > len(values):
        return
    expected: Counter[str] = Counter()
    for part in halves(sorted(values), k):
        expected[str(part[0]) if part[0] == part[-1] else f"[{part[0]},{part[-1]}]"] += len(part)
    table = made({"q": values})
    counts = sf.Mondrian(k=k, mode="relaxed", ends="tight")(table.table, table.roles).table.count(("q",))
    found = {counts.columns[0].texts[c]: int(n) for c, n in zip(counts.codes[0], counts.n, strict=True)}
    assert found == expected


def test_the_reference_itself_on_paper() -> None:
    """Eight numbers, k = 2: 1 2 3 4 | 5 6 7 8, then halves again; two jobs of two nodes; the frequent name apart."""
    values = [1, 2, 3, 4, 5, 6, 7, 8]
    found = reference(list(range(8)), [Ordered(values)], lambda part: len(part) >= 2, "width")
    assert found == [[0, 1], [2, 3], [4, 5], [6, 7]]
    jobs = ["cook", "baker", "smith", "weaver"]
    assert reference(list(range(4)), [Tree(jobs)], lambda part: len(part) >= 2, "loss") == [[0, 1], [2, 3]]
    names = ["z", "z", "z", "a", "b", "c"]
    assert reference(list(range(6)), [Named(names)], lambda part: len(part) >= 2, "loss") == [[0, 1, 2], [3, 4, 5]]


def test_loss_and_width_choose_differently(tmp_path: Path) -> None:
    """All values of b are open, 11/12 of it against 5/6 of a; but a cut of a leaves half of its rows with one value."""
    a, b = [0, 1, 2, 3, 4, 5, 5, 5, 5, 5, 5, 5], [0, 2, 4, 6, 8, 1, 3, 5, 7, 9, 10, 11]
    table = made({"a": a, "b": b})
    found = {choose: partition(table, sf.Mondrian(k=5, choose=choose), tmp_path) for choose in ("loss", "width")}  # type: ignore[arg-type]
    assert found["loss"] == {frozenset(range(5)), frozenset(range(5, 12))}
    assert found["width"] == {frozenset({0, 1, 2, 5, 6, 7}), frozenset({3, 4, 8, 9, 10, 11})}
