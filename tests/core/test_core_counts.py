"""Counts: some of the tuples, chosen without looking at them."""

from __future__ import annotations

import numpy as np
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
