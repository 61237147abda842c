"""Suggested hierarchies follow the data: no level that changes nothing, a class of its own for zero, cuts where rows pile up."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.core import ladders

DRAW = np.random.default_rng(3)
PAID = np.where(DRAW.random(2000) < 0.6, 0, DRAW.lognormal(8, 1, 2000).astype(int)).tolist()
CENTS = np.round(np.where(DRAW.random(2000) < 0.5, 0, 0.35 + DRAW.gamma(2, 100, 2000)), 2).tolist()
HEAVY = (DRAW.pareto(0.8, 3000) * 100).astype(int).tolist()


def suggested(values: list[Any], kind: str = "numeric") -> tuple[dict[str, Any], list[dict[str, int]]]:
    """The rule, and at each level how many rows have which label."""
    counts = sf.read(pa.table({"x": values})).count(("x",))
    column, n = counts.columns[0], counts.margin("x")
    rule = ladders.suggest(column, kind, n)
    labels: list[dict[str, int]] = []
    for level in ladders.build(column, rule).levels:
        labels.append({})
        for label, rows in zip(level, n.tolist(), strict=False):
            labels[-1][label] = labels[-1].get(label, 0) + rows
    return rule, labels


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1, 2, 3, 4, 5] * 9, "numeric"), ([0, 1, 2, 3] * 9, "numeric"), ([0, 1, 2] * 9, "numeric"), (list(range(18, 95)) * 3, "numeric"),
        (PAID, "numeric"), (CENTS, "numeric"), (HEAVY, "numeric"), ([5] * 9 + [7] * 4, "numeric"),
        ([f"2020-01-{i % 28 + 1:02d}" for i in range(100)], "date"), ([f"20{20 + i % 3}-0{1 + i % 9}-11" for i in range(100)], "date"),
        ([f"101{i}" for i in range(10, 16)] * 3, "code"), (["E11.9", "E11.4", "I10.0", "I21.4"] * 5, "code"),
    ],
)  # fmt: skip
def test_every_level_merges_something_and_none_merges_all(values: list[Any], kind: str) -> None:
    _, levels = suggested(values, kind)
    sizes = [len(level) for level in levels]
    assert sizes == sorted(set(sizes), reverse=True)
    assert sizes[-1] == 1


@pytest.mark.parametrize("values", [PAID, CENTS])
def test_a_zero_that_many_have_is_a_class_of_its_own_to_the_last(values: list[Any]) -> None:
    rule, levels = suggested(values)
    zeros = values.count(0)
    assert "cuts" in rule
    for level in levels[1:-1]:
        assert zeros in level.values()
    others = [n for n in levels[1].values() if n != zeros]
    assert max(others) < 3 * min(others)


def test_rows_are_spread_evenly_where_round_widths_would_hold_most_of_them() -> None:
    rule, levels = suggested(HEAVY)
    assert "cuts" in rule
    assert max(levels[1].values()) < 0.25 * len(HEAVY)
    assert "widths" in suggested(list(range(18, 95)) * 3)[0]
