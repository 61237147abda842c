"""Skewness: the survey's example, extremes, the control, and an oracle that walks through the rows."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from functools import partial
from typing import Any

import numpy as np
import pytest

from sfumato.attacks.skewness import skewness
from sfumato.core.errors import InputError
from sfumato.core.roles import Roles

Q = Roles(quasi=("q",), sensitive=("s",))


def test_the_survey_s_example_of_one_in_a_hundred(release: Any) -> None:
    """1% have a positive test, half of a class of 20 does: 50 times likelier (Manta 3.2.3)."""
    table = {"q": ["1"] * 20 + ["2"] * 980, "s": ["pos"] * 10 + ["neg"] * 990}
    found = skewness(release(table), Q, factor=10, reveal=True)
    assert (found.attacked, found.fell) == (1000, 10)
    assert found.details.largest_ratio == pytest.approx(50)
    assert found.details.largest_belief == 0.5
    assert found.details.belief_gained_fell == pytest.approx(0.49)
    assert found.details.exposed_people == 20
    assert found.details.shown == [{"class": {"q": "1"}, "value": "pos", "share": 0.5, "overall": 0.01, "rows": 10}]
    assert found.baseline is not None
    assert found.baseline.value == 0
    assert found.worked


def test_a_release_that_carries_nothing_gives_the_baseline(release: Any) -> None:
    for q in (["*"] * 6, ["1"] * 3 + ["2"] * 3):
        found = skewness(release({"q": q, "s": ["a", "b", "c"] * 2}), Q, factor=1.0001)
        assert found.success == found.baseline
        assert found.details.belief_gained == pytest.approx(0)


def test_one_value_a_class_is_m_times_likelier(release: Any) -> None:
    table = {"q": list("112233"), "s": list("aabbcc")}
    assert skewness(release(table), Q, factor=3).fell == 6
    assert skewness(release(table), Q, factor=3.001).fell == 0
    assert skewness(release(table), Q, factor=3).details.belief_gained == pytest.approx(2 / 3)


def test_values_that_may_be_told(release: Any) -> None:
    table = {"q": list("112233"), "s": list("aabbcc")}
    found = skewness(release(table), Q, dont_care={"a", "b"})
    assert found.fell == 2
    assert found.details.largest_ratio == pytest.approx(3)


def _ratio(classes: dict[str, Counter[Any]], overall: Counter[Any], a: str, b: str | None) -> float:
    here = classes.get(a)
    return 0.0 if here is None or not here[b] else here[b] / sum(here.values()) / (overall[b] / sum(overall.values()))


def test_against_rows_one_by_one(release: Any, table: Any) -> None:
    rng = np.random.default_rng(6)
    for _ in range(20):
        q = rng.integers(0, 5, 40).astype(str).tolist()
        s = [None if x == 0 else f"v{x}" for x in rng.integers(0, 5, 40)]
        others = list(zip(rng.integers(0, 7, 25).astype(str).tolist(), [f"v{x}" for x in rng.integers(1, 7, 25)], strict=True))  # fmt: skip
        overall, classes = Counter(s), defaultdict(Counter)
        for a, b in zip(q, s, strict=True):
            classes[a][b] += 1

        ratio = partial(_ratio, classes, overall)
        ratios = [ratio(a, b) for a, b in zip(q, s, strict=True)]
        control = table({"q": [a for a, _ in others], "s": [b for _, b in others]})
        for factor in (1.3, 2.0):
            found = skewness(release({"q": q, "s": s}), Q, factor=factor, control=control)
            assert found.fell == sum(r >= factor - 1e-9 for r in ratios)
            assert found.details.largest_ratio == pytest.approx(max(ratios))
            assert found.control is not None
            assert found.control.people == 25
            assert found.control.value == pytest.approx(sum(ratio(a, b) >= factor - 1e-9 for a, b in others) / 25)


def test_details_hold_no_value(release: Any, canary: str) -> None:
    published = release({"q": ["1", "1", "2"], "s": [canary, canary, "b"]})
    found = skewness(published, Q, factor=1.1)
    assert found.fell == 3
    assert canary not in json.dumps(found.details.to_dict()) + found.sentence


def test_refusals(release: Any, refusal: Any) -> None:
    published = release({"q": ["1", "2"], "s": ["a", "b"]})
    for factor in (1, 0.5, -2, float("inf"), float("nan")):
        refusal(InputError, lambda factor=factor: skewness(published, Q, factor=factor), "factor")
