"""The quick suite shows every value of every parameter, a few seeds, and leaves out what is marked; the full one runs everything."""

from __future__ import annotations

import itertools
from types import SimpleNamespace
from typing import Any

import pytest

import selection
from selection import SEEDS, quick, rounds


def case(test: str, marked: bool = False, **values: Any) -> Any:
    spelled = "-".join(map(str, values.values()))
    return SimpleNamespace(
        nodeid=f"test_a.py::{test}[{spelled}]",
        callspec=SimpleNamespace(params=values),
        get_closest_marker=lambda name: name if marked else None,
        obj=case,
    )


def test_every_value_is_shown_and_spread() -> None:
    metrics, shapes = [f"m{i}" for i in range(12)], ["few", "many", "none"]
    kept = quick([case("test_bounds", shape=shape, metric=metric) for shape in shapes for metric in metrics])
    assert len(kept) == 12
    assert {each.callspec.params["metric"] for each in kept} == set(metrics)
    given = [each.callspec.params["shape"] for each in kept]
    assert [given.count(shape) for shape in shapes] == [4, 4, 4]


def test_a_few_seeds_of_each_test() -> None:
    product = itertools.product(("a", "b"), range(40))
    kept = quick([case("test_drawn", kind=kind, seed=seed) for kind, seed in product])
    assert len(kept) == SEEDS
    assert {each.callspec.params["kind"] for each in kept} == {"a", "b"}
    assert len({each.callspec.params["seed"] for each in kept}) == SEEDS
    assert len(quick([case("test_long", n=n) for n in range(399)])) == SEEDS
    assert len(quick([case("test_short", n=n) for n in range(9)])) == 9
    assert len(quick([case("test_parts", part=n) for n in range(9)])) == SEEDS


@pytest.mark.parametrize(("everything", "expected"), [(False, (5, 2, 2)), (True, (40, 6, 2))])
def test_fewer_rounds_in_the_quick_suite(
    monkeypatch: pytest.MonkeyPatch, everything: bool, expected: tuple[int, ...]
) -> None:
    monkeypatch.setattr(selection, "everything", everything)
    assert tuple(len(rounds(count)) for count in (40, 6, 2)) == expected


def test_what_is_marked_is_left_out_and_the_order_kept() -> None:
    cases = [case("test_a", True, n=1), case("test_b"), case("test_a", n=2), case("test_a", True, n=3)]
    assert quick(cases) == [cases[1], cases[2]]
    assert quick(cases[:1]) == []
