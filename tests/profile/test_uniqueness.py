"""Unique rows on every combination: by hand, by brute force, and the same wherever the counting happens."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.core.counts import Counts
from sfumato.core.errors import Unavailable
from sfumato.core.table import Recoding, Table
from sfumato.engines.duckdb import DuckTable
from sfumato.profile.subsets import largest_within
from sfumato.profile.uniqueness import Uniqueness, uniqueness

BY_HAND = pa.table(
    {
        "a": ["1", "1", "2", "2", None, ""],  # None and "" are one missing value
        "b": ["x", "y", "x", "x", "x", "x"],
        "c": ["k"] * 6,
    }
)


class Plain(Table):
    """The least an engine may be: it counts, and nothing else."""

    def __init__(self, table: Table) -> None:
        self.inner, self.name, self.columns, self.notes = table, table.name, table.columns, ()

    def scan(self, by: Sequence[str]) -> Counts:
        return self.inner.count(by)

    def recode(self, recoding: Recoding) -> Table:
        raise Unavailable("not here")

    def keep(self, columns: Sequence[str]) -> Table:
        raise Unavailable("not here")

    def write(self, path: Path) -> None:
        raise Unavailable("not here")


def look(table: Table, columns: Sequence[str] | None = None, **options: Any) -> Uniqueness:
    columns = table.columns if columns is None else columns
    values = table.value_counts(columns)
    about = {name: len(counts) for name, counts in values.items()}
    return uniqueness(table, columns, rows=table.rows, about=about, values=values, **options)


def drawn(rows: int, sizes: Sequence[int], seed: int = 1) -> pa.Table:
    rng = np.random.default_rng(seed)
    texts = {}
    for i, size in enumerate(sizes):
        code = np.floor(size * rng.random(rows) ** 2).astype(int)
        texts[f"c{i}"] = [None if value == 0 and i % 2 else f"v{value}" for value in code]
    return pa.table(texts)


def brute(rows: pa.Table, columns: Sequence[str]) -> tuple[int, int]:
    counted = Counter(zip(*(rows.column(name).to_pylist() for name in columns), strict=True))
    return sum(n == 1 for n in counted.values()), len(counted)


def test_by_hand() -> None:
    found = look(sf.read(BY_HAND))
    answers = {c.columns: (c.unique_rows, c.classes, c.share) for c in found.combinations}
    assert answers == {
        ("a", "b"): (2, 4, 2 / 6),
        ("a", "b", "c"): (2, 4, 2 / 6),
        ("b",): (1, 2, 1 / 6),
        ("b", "c"): (1, 2, 1 / 6),
        ("a",): (0, 3, 0.0),
        ("a", "c"): (0, 3, 0.0),
        ("c",): (0, 1, 0.0),
    }
    assert [c.columns for c in found.combinations] == [  # worst first, then the smaller, then the table's order
        ("a", "b"), ("a", "b", "c"), ("b",), ("b", "c"), ("a",), ("c",), ("a", "c"),
    ]  # fmt: skip
    adds = {a.column: (a.adds, a.unique_alone, a.unique_without, a.distinct) for a in found.adds}
    assert adds == {"a": (1, 0, 1, 3), "b": (2, 1, 0, 2), "c": (0, 0, 2, 1)}
    bits = {a.column: a.entropy for a in found.adds}
    assert bits["a"] == pytest.approx(np.log2(3))
    assert bits["c"] == 0.0


def test_extremes() -> None:
    every = look(sf.read(pa.table({"id": [str(i) for i in range(50)], "x": ["a"] * 50})))
    assert every.together.unique_rows == 50
    assert every.combinations[0].columns == ("id",)
    assert {a.column: a.adds for a in every.adds} == {"id": 50, "x": 0}
    one = look(sf.read(pa.table({"x": ["a"], "y": ["b"]})))
    assert (one.together.unique_rows, one.together.share) == (1, 1.0)
    assert {a.adds for a in one.adds} == {0}  # the only row is alone whatever is known
    none = uniqueness(sf.read(BY_HAND), (), rows=6, about={}, values={})
    assert (none.combinations, none.adds, none.together.unique_rows) == ((), (), 0)


@pytest.mark.parametrize("most", [1, 2, 3, 5])
def test_every_combination_equals_brute_force(most: int) -> None:
    rows = drawn(800, [2, 3, 40, 7, 200, 12, 5])
    found = look(sf.read(rows), most=most)
    sets = [c for size in range(1, most + 1) for c in itertools.combinations(rows.column_names, size)]
    assert {c.columns: (c.unique_rows, c.classes) for c in found.combinations} == {c: brute(rows, c) for c in sets}
    for added in found.adds:
        rest = [name for name in rows.column_names if name != added.column]
        assert added.unique_without == brute(rows, rest)[0]
    assert (found.together.unique_rows, found.together.classes) == brute(rows, rows.column_names)


def test_counting_in_place_and_by_parts_gives_the_same_as_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    table = sf.read(drawn(3000, [2, 50, 9, 300, 4, 21], seed=3))
    in_memory = look(table)
    asked: list[tuple[str, ...]] = []
    unique_rows = DuckTable.unique_rows

    def spy(self: DuckTable, by: Sequence[str]) -> tuple[int, int]:
        asked.append(tuple(by))
        return unique_rows(self, by)

    monkeypatch.setattr(DuckTable, "unique_rows", spy)
    monkeypatch.setattr(DuckTable, "part", lambda self, column, *, of, at: None)
    for tuples in (1000, 100, 1):
        asked.clear()
        assert look(table, tuples=tuples) == in_memory
        assert asked  # the path was really taken

    dealt = []

    def part(self: DuckTable, column: str, *, of: int, at: int) -> DuckTable:
        dealt.append((column, of, at))
        return DuckTable.of(self.name, f'SELECT * FROM ({self.sql}) WHERE hash("{column}") % {of} = {at}')

    monkeypatch.setattr(DuckTable, "part", part, raising=False)
    assert look(table, tuples=1000) == in_memory
    assert {at for _, _, at in dealt} >= {0, 1, 2}
    assert look(table, tuples=100) == in_memory  # a value heavier than memory allows is counted in place


def test_an_engine_that_only_counts_is_enough() -> None:
    table = sf.read(drawn(500, [2, 5, 30, 9]))
    assert look(Plain(table)) == look(table)
    assert look(Plain(table), tuples=50) == look(table)


def test_keys_beyond_64_bits() -> None:
    rng = np.random.default_rng(5)
    wide = pa.table({f"c{i}": [f"v{v}" for v in rng.integers(0, 900, 1000)] for i in range(12)})
    found = look(sf.read(wide), most=2)
    assert (found.together.unique_rows, found.together.classes) == (1000, 1000)
    assert {a.unique_without for a in found.adds} == {1000}
    pair = next(c for c in found.combinations if c.columns == ("c3", "c7"))
    assert (pair.unique_rows, pair.classes) == brute(wide, ("c3", "c7"))


def test_the_number_of_combinations_is_bounded_and_said() -> None:
    assert largest_within(16, 3, 2000) == 3  # 16 + 120 + 560
    assert largest_within(20, 3, 2000) == 3  # 1350
    assert largest_within(30, 3, 2000) == 2
    assert largest_within(500, 3, 2000) == 1
    assert largest_within(2, 3, 2000) == 2
    found = look(sf.read(drawn(200, [2] * 16)), combinations=200)
    assert (found.most, len(found.combinations)) == (2, 16 + 120)
    assert "up to 2" in found.notes[0]
    full = look(sf.read(drawn(200, [2] * 16)))
    assert (full.most, len(full.combinations), full.notes) == (3, 696, ())


def test_row_order_and_names_do_not_matter() -> None:
    rows = drawn(400, [3, 20, 8])
    found = look(sf.read(rows))
    shuffled = rows.take(pa.array(np.random.default_rng(2).permutation(400)))
    assert look(sf.read(shuffled)) == found
    odd = look(sf.read(rows.rename_columns(['a "b"', "c;d", "é"])))
    assert [(c.unique_rows, c.classes) for c in odd.combinations] == [
        (c.unique_rows, c.classes) for c in found.combinations
    ]


def test_knowing_more_never_makes_fewer_unique() -> None:
    found = look(sf.read(drawn(1000, [4, 4, 30, 9, 60])))
    alone = {frozenset(c.columns): c.unique_rows for c in found.combinations}
    for some, n in alone.items():
        assert all(n <= more for names, more in alone.items() if some < names)
    assert all(a.adds >= 0 for a in found.adds)
