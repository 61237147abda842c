"""Similarity: the taxonomy's branches and narrow ranges, Tables 3.13 and 3.14, and an oracle."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato.attacks.similarity import similarity
from sfumato.core.errors import InputError, Unavailable
from sfumato.core.hierarchy import Hierarchy
from sfumato.core.roles import Roles

TREE = Hierarchy.of(
    "s",
    [
        ("flu", "lung", "breathing", "*"),
        ("asthma", "lung", "breathing", "*"),
        ("cold", "nose", "breathing", "*"),
        ("ulcer", "stomach", "digestion", "*"),
        ("gastritis", "stomach", "digestion", "*"),
        ("odd", "*", "*", "*"),
        ("odder", "*", "*", "*"),
    ],
)
Q = Roles(quasi=("q",), sensitive=("s",), hierarchies={"s": TREE})
NUMBERS = Roles(quasi=("q",), sensitive=("s",))


def test_a_class_of_different_lung_diseases(release: Any) -> None:
    table = {"q": list("1112233"), "s": ["flu", "asthma", "cold", "ulcer", "gastritis", "flu", "ulcer"]}
    found = similarity(release(table), Q, reveal=True)
    assert (found.attacked, found.fell) == (7, 5)
    assert found.details.of_several_close_values == 5
    assert found.details.shown[0] == {"class": {"q": "1"}, "values": ["asthma", "cold", "flu"]}
    assert found.baseline is not None
    assert found.baseline.value == 0
    assert similarity(release(table), Q, level=1).fell == 2  # lung and nose are apart
    assert similarity(release(table), Q, level=0).fell == 0
    assert sf.similarity_exposed(by="taxonomy")(release(table), Q).value == pytest.approx(5 / 7)


def test_tables_3_13_and_3_14(release: Any) -> None:
    """3k, 4k, 5k of 3k to 11k: all low, within a quarter of the range; after t-closeness no class is."""
    before = {"q": list("111222333"), "s": ["3k", "4k", "5k", "6k", "11k", "8k", "7k", "9k", "10k"]}
    after = {"q": list("111222333"), "s": ["3k", "5k", "9k", "6k", "11k", "8k", "4k", "7k", "10k"]}
    assert similarity(release(before), NUMBERS, width=0.25).fell == 3
    assert similarity(release(before), NUMBERS, width=0.24).fell == 0
    assert similarity(release(after), NUMBERS, width=0.5).fell == 0
    assert sf.similarity_exposed(by="order", width=0.25)(release(before), NUMBERS).value == pytest.approx(1 / 3)


def test_a_stated_order_goes_by_places(release: Any) -> None:
    stated = Roles(quasi=("q",), sensitive=("s",), orders={"s": ("low", "mid", "high")})
    table = {"q": list("112233"), "s": ["low", "mid", "mid", "high", "low", "high"]}
    assert similarity(release(table), stated, width=0.5).fell == 4


def test_a_release_that_carries_nothing_gives_the_baseline(release: Any) -> None:
    for values in (["flu", "asthma", "cold"], ["flu", "ulcer", "cold"]):
        found = similarity(release({"q": ["*"] * 3, "s": values}), Q)
        assert found.success == found.baseline
    everybody = similarity(release({"q": list("123"), "s": ["flu", "asthma", "cold"]}), Q)
    assert everybody.above == 0  # the whole table is under one node: nothing is the release's fault


def test_missing_and_values_under_the_top_are_close_to_nothing_else(release: Any) -> None:
    table = {"q": list("11223344"), "s": ["odd", "odder", "flu", None, None, "", "odd", "odd"]}
    assert similarity(release(table), Q).fell == 4
    numbers = {"q": list("1122"), "s": [1.0, None, None, None]}
    assert similarity(release(numbers), NUMBERS, width=0.9).fell == 2


def test_against_rows_one_by_one(release: Any, table: Any) -> None:
    rng = np.random.default_rng(4)
    branch = {row[0]: row[2] if row[2] != "*" else row[0] for row in zip(*TREE.levels, strict=True)}
    names = list(TREE.levels[0])
    for _ in range(20):
        q, s = rng.integers(0, 12, 30).astype(str).tolist(), [names[i] for i in rng.integers(0, 5, 30)]
        classes = defaultdict(set)
        for a, b in zip(q, s, strict=True):
            classes[a].add(branch[b])
        fell = sum(len(classes[a]) == 1 for a in q)
        other = list(zip(rng.integers(0, 14, 20).astype(str).tolist(), [names[i] for i in rng.integers(0, 5, 20)], strict=True))  # fmt: skip
        found = similarity(release({"q": q, "s": s}), Q, control=table({"q": [a for a, _ in other], "s": [b for _, b in other]}))  # fmt: skip
        assert found.fell == fell
        assert found.control is not None
        held = {a: next(iter(branches)) for a, branches in classes.items() if len(branches) == 1}
        # what is not a value of the release cannot be placed, so it counts as wrong
        right = sum(held.get(a) == branch[b] and b in s for a, b in other)
        assert found.control.value == pytest.approx(right / 20)
        numbers = [int(x) for x in rng.integers(0, 101, 30)]
        ends = defaultdict(list)
        for a, b in zip(q, numbers, strict=True):
            ends[a].append(b)
        span = max(numbers) - min(numbers)
        fell = sum(max(ends[a]) - min(ends[a]) <= 0.3 * span for a in q)
        assert similarity(release({"q": q, "s": numbers}), NUMBERS, width=0.3).fell == fell


def test_refusals_and_no_value_in_the_details(release: Any, refusal: Any, canary: str) -> None:
    texts = release({"q": list("1122"), "s": [canary, "b", "c", "c"]})
    refusal(Unavailable, lambda: similarity(texts, NUMBERS), "order")
    refusal(Unavailable, lambda: similarity(texts, NUMBERS, by="taxonomy"), "taxonomy")
    refusal(Unavailable, lambda: similarity(texts, Q), "lacks 3")
    numbers = release({"q": list("1122"), "s": [1, 2, 3, 4]})
    refusal(InputError, lambda: similarity(numbers, NUMBERS, width=1), "width")
    refusal(InputError, lambda: similarity(numbers, NUMBERS, by="magic"), "order")
    sick = release({"q": list("11"), "s": ["flu", "cold"]})
    for level in (3, -1):
        refusal(InputError, lambda level=level: similarity(sick, Q, level=level), "levels 0 to 2")
    assert "flu" not in json.dumps(similarity(sick, Q).details.to_dict())
