"""The bars of a column: they add up to its rows, whatever stands in it."""

from __future__ import annotations

import numpy as np
import pytest

from house import in_memory
from sfumato.profile.histogram import MOST, Bar, bars


def of(values: list[object]) -> tuple[Bar, ...]:
    return bars(in_memory({"c": values}).count(("c",)))


def test_extremes() -> None:
    assert of(["a"]) == (Bar("a", 1),)
    assert of([None, None]) == (Bar("missing", 2),)
    assert of([1, 1, 2, None]) == (Bar("1", 2), Bar("2", 1), Bar("missing", 1))


def test_numbers_go_into_round_ranges() -> None:
    assert of(list(range(100)))[0] == Bar("0 to 9", 10)
    assert len(of(list(range(100)))) == 10
    assert of([i / 100 for i in range(100)])[-1] == Bar("0.9 to below 1", 10)


def test_of_texts_the_most_frequent_stand_by_themselves() -> None:
    made = of([f"v{i}" for i in range(20) for _ in range(20 - i)])
    assert made[0] == Bar("v0", 20)
    assert made[-1] == Bar("12 other values", 78)


@pytest.mark.parametrize("seed", range(6))
def test_no_row_is_lost(seed: int) -> None:
    rng = np.random.default_rng(seed)
    scale = 10.0 ** rng.integers(-6, 7)
    for column in (
        rng.normal(size=500) * scale,
        rng.integers(-50, 10_000, 500),
        rng.choice([*"abcdefghijklmnop"], 500),
    ):
        made = of([value if rng.random() > 0.05 else None for value in column.tolist()])
        assert sum(bar.rows for bar in made) == 500
        assert len(made) <= MOST + 1


def test_a_bar_does_not_print_its_label() -> None:
    assert "secret" not in repr(Bar("secret", 3))
