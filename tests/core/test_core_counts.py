"""Counts: some of the tuples, chosen without looking at them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from sfumato.core.arrow import strings
from sfumato.core.column import encode
from sfumato.core.counts import Counts, shuffled


@pytest.mark.parametrize("length", [0, 1, 2, 1000])
def test_shuffled_numbers_are_all_of_them(length: int) -> None:
    assert sorted(shuffled(length).tolist()) == list(range(length))


def test_shuffled_numbers_are_the_same_everywhere_and_in_no_order() -> None:
    assert shuffled(8).tolist() == [2, 4, 6, 5, 1, 7, 0, 3]
    first = shuffled(10_000)[:1000]
    assert abs(first.mean() - 5000) < 4 * 10_000 / np.sqrt(12 * 1000)
    for period in (2, 3, 5, 8, 13, 21, 34):  # numbers of a regular step would favour some remainders
        shares = np.bincount(first % period, minlength=period) / 1000
        assert np.abs(shares - 1 / period).max() < 5 * np.sqrt(1 / period / 1000)


def test_some_tuples_keep_their_rows_and_only_their_values() -> None:
    column, codes = encode("a", strings([f"v{i:03}" for i in range(500)]))
    counts = Counts.of([column], [codes], np.arange(1, 501))
    assert counts.some(500) is counts
    few = counts.some(40)
    assert len(few) == len(few.columns[0]) == 40
    assert [int(text[1:]) + 1 for text in few.columns[0].texts if text] == few.n.tolist()


def test_values_are_found_by_spelling_and_missing_is_one_of_them() -> None:
    numbers, _ = encode("x", pa.array([1, 2, None]))
    texts, _ = encode("x", strings(["2", "3", None]))
    assert numbers.places(texts).tolist() == [1, -1, 2]  # 2 is 2, nothing is 3, and missing is missing
    assert numbers.places(texts, missing=False).tolist() == [1, -1, -1]
    assert texts.places(texts).tolist() == [0, 1, 2]
    without, _ = encode("x", strings(["2"]))
    assert without.places(texts).tolist() == [0, -1, -1]


def test_tuples_are_found_by_spelling_and_spelled_again() -> None:
    a, x = encode("a", pa.array([1, 1, 2]))
    b, y = encode("b", strings(["p", None, "p"]))
    counts = Counts.of([a, b], [x, y], np.array([1, 2, 3]))
    assert counts.spelled() == [("1", "p"), ("1", None), ("2", "p")]
    assert counts.spelled(["b"]) == [("p",), (None,), ("p",)]
    assert counts.key(["b"]).tolist() == [0, 1, 0]
    other, codes = encode("a", strings(["2", "1", "9"]))
    missing, none = encode("b", strings(["p", None, "p"]))
    assert counts.places([other, missing], [codes, none]).tolist() == [2, 1, -1]
    assert counts.find([np.array([0, 0, -1]), np.array([0, 1, 0])]).tolist() == [0, 1, -1]
    empty = counts.only(np.zeros(len(counts), dtype=bool))
    assert empty.places([other, missing], [codes, none]).tolist() == [-1, -1, -1]
