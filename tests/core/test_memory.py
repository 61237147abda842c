"""What a table remembers: the same answer, fewer scans, and no more bytes than there is room for."""

from __future__ import annotations

import gc
import itertools
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from sfumato.core.arrow import strings
from sfumato.core.column import encode
from sfumato.core.counted_table import CountedTable
from sfumato.core.counts import Counts
from sfumato.core.memory import Memory, memory, size_of


class Scanned(CountedTable):
    """A table that tells how often it was scanned."""

    def __init__(self, counts: Counts) -> None:
        super().__init__(counts, name="scanned")
        self.scans: list[tuple[str, ...]] = []

    def scan(self, by: Sequence[str]) -> Counts:
        self.scans.append(tuple(by))
        return super().scan(by)


def drawn(rows: int, seed: int = 0, sizes: Sequence[int] = (3, 5, 2)) -> Counts:
    """Counts of random rows over a, b, c, some of their values missing."""
    rng = np.random.default_rng(seed)
    codes = [rng.integers(0, size, rows) for size in sizes]
    texts = [strings([None if code == 1 else f"v{code}" for code in each]) for each in codes]
    encoded = [encode(name, text) for name, text in zip("abc", texts, strict=False)]
    return Counts.of([c for c, _ in encoded], [c for _, c in encoded], np.ones(rows, dtype=np.int64))


def spelled(counts: Counts) -> list[Any]:
    return [
        counts.names,
        [(column.values.type, column.texts, column.has_missing) for column in counts.columns],
        [(codes.dtype, codes.tolist()) for codes in counts.codes],
        (counts.n.dtype, counts.n.tolist()),
    ]


def test_a_question_is_scanned_once() -> None:
    table = Scanned(drawn(200))
    assert table.count(["a", "b"]) is table.count(("a", "b"))
    assert table.scans == [("a", "b")]


def test_coarser_questions_are_rolled_up() -> None:
    table = Scanned(drawn(200))
    table.count(("a", "b"))
    table.count(("b",))
    table.value_counts(("a", "b"))
    assert table.rows == 200
    assert table.scans == [("a", "b")]
    table.value_counts(("a", "c"))
    assert table.scans == [("a", "b"), ("c",)]


@pytest.mark.parametrize("rows", [0, 1, 7, 300])
def test_what_is_rolled_up_is_what_a_scan_says(rows: int) -> None:
    for seed, size in itertools.product(range(5), range(4)):
        for by in itertools.permutations("abc", size):
            table = Scanned(drawn(rows, seed))
            table.count(("a", "b", "c"))
            assert spelled(table.count(by)) == spelled(table.scan(by))


def test_many_tuples_are_not_rolled_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sfumato.core.table._FEW", 5)
    table = Scanned(drawn(60, sizes=(9, 9, 9)))
    table.count(("a", "b", "c"))
    table.count(("c", "b", "a"))  # the same tuples in another order
    table.count(("a", "b"))
    assert table.scans == [("a", "b", "c"), ("a", "b")]


def test_nobody_changes_what_is_remembered() -> None:
    counts = Scanned(drawn(200)).count(("a",))
    for array in (*counts.codes, counts.n):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 7


def test_what_was_used_longest_ago_goes_first() -> None:
    owner, other = Scanned(drawn(1)), Scanned(drawn(1))
    value = "x" * 1000
    memory = Memory(budget=3 * size_of(value))
    for at, question in ((owner, 1), (other, 1), (owner, 2)):
        memory.keep(at, question, value)
    memory.recall(owner, 1, lambda: "used now")
    memory.keep(other, 2, value)
    assert set(memory.answers(owner)) == {1, 2}
    assert set(memory.answers(other)) == {2}
    assert memory.bytes == 3 * size_of(value)
    memory.keep(owner, 3, "x" * 4000)  # alone it is too much
    assert 3 not in memory.answers(owner)
    assert memory.bytes == 3 * size_of(value)


def test_what_belongs_to_a_table_goes_with_it() -> None:
    gc.collect()
    before = memory.bytes
    table = Scanned(drawn(500))
    assert memory.bytes == before
    table.count(("a", "b", "c"))
    assert memory.bytes > before
    del table
    gc.collect()
    assert memory.bytes == before


def test_threads_share_it() -> None:
    owner = Scanned(drawn(1))
    shared = Memory(budget=50 * size_of("x" * 100))

    def ask(i: int) -> bool:
        return shared.recall(owner, i % 70, lambda: f"{i % 70:0100d}") == f"{i % 70:0100d}"

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(ask, range(5000)))
    assert shared.bytes == sum(size_of(answer) for answer in shared.answers(owner).values()) <= shared.budget


def test_sizes_grow_with_what_is_held() -> None:
    assert size_of(drawn(500, sizes=(9, 9, 9))) > size_of(drawn(20, sizes=(9, 9, 9))) > 0
    assert size_of({"a": ["x" * 100] * 2}) > size_of({"a": ["x" * 100]}) > 100
