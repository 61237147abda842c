"""Posterior and prior: alpha, positive and negative disclosure, the uninformative difference, beta and delta."""

from __future__ import annotations

import math
import time
import tracemalloc
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from house import Make, rows
from sfumato.core.classes import Classes, Sensitive
from sfumato.core.column import encode
from sfumato.core.hierarchy import Hierarchy
from sfumato.core.release import Release
from sfumato.core.roles import Roles
from sfumato.metrics.privacy.negative_disclosure import least
from sfumato.metrics.privacy.uninformative_difference import most_frequent_absent

ROLES = Roles(quasi=("q",), sensitive=("s",))
ALL = [
    "alpha_anonymity",
    "positive_disclosure",
    "negative_disclosure",
    "uninformative_difference",
    "beta_likeness[basic]",
    "beta_likeness[enhanced]",
    "delta_disclosure",
]


def ask(published: Release, *names: str) -> list[float]:
    return [sf.metric(name)(published, ROLES).value for name in names]


# --- extremes --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("classes", [{"a": "xxyz"}, {"a": "xxyz", "b": "xxyz" * 3, "c": "xxyz" * 7}])
def test_classes_like_the_table_disclose_the_table_only(release: Make, classes: dict[str, str]) -> None:
    found = ask(release(rows(**classes)), *ALL)
    assert found == [0.5, 0.5, 0.25, 0, 0, 0, 0]


def test_thirds_are_exactly_equal_to_thirds(release: Make) -> None:
    """Differences of equal shares are 0, not a rounding rest, so that a limit of 0 can be met."""
    published = release(rows(a="xyz", b="xyz" * 7, c="xyz" * 11))
    assert ask(published, *ALL[3:]) == [0, 0, 0, 0]


def test_every_row_alone(release: Make) -> None:
    published = release({"q": list("abcdefgh"), "s": list("xxxxxxyz")})
    assert ask(published, *ALL) == [1, 1, 0, 7 / 8, 7, math.inf, math.inf]


def test_a_constant_column(release: Make) -> None:
    for published in (release(rows(a="xxx")), release(rows(a="xx", b="x"))):
        assert ask(published, *ALL) == [1, 1, 1, 0, 0, 0, 0]


def test_a_single_row(release: Make) -> None:
    assert ask(release(rows(a="x")), *ALL) == [1, 1, 1, 0, 0, 0, 0]


def test_a_class_of_one_rare_value(release: Make) -> None:
    published = release(rows(a="y", b="x" * 99))
    assert ask(published, "beta_likeness[basic]")[0] == pytest.approx(99)
    assert ask(published, "uninformative_difference")[0] == 0.99


def test_missing_is_a_value(release: Make) -> None:
    published = release({"q": ["a", "a", "a", "b"], "s": [None, None, "x", "x"]})
    assert sf.alpha_anonymity(published, ROLES).per_class.tolist() == [2 / 3, 1]
    assert sf.negative_disclosure(published, ROLES).per_class.tolist() == [1 / 3, 0]
    assert sf.delta_disclosure(published, ROLES).value == math.inf


# --- by hand ---------------------------------------------------------------------------------------------------------


def test_a_value_that_vanishes_counts_by_its_share_in_the_table(release: Make) -> None:
    """Class a holds no z, half of the table: that is the largest change, and only an absent value shows it."""
    published = release(rows(a="xy", b="xyzzzz"))
    score = sf.uninformative_difference(published, ROLES)
    assert score.per_class.tolist() == [0.5, pytest.approx(4 / 6 - 0.5)]
    assert sf.delta_disclosure(published, ROLES).per_class.tolist() == [math.inf, pytest.approx(math.log2(1.5))]


def test_what_exceeds_is_counted_in_pairs_classes_and_rows(release: Make) -> None:
    published = release(rows(a="xxxx", b="xxxxxxxxxy", c="xyz"))  # x 14, y 2, z 1 of 17
    found = sf.positive_disclosure(alpha=0.1)(published, ROLES).details
    assert found == {
        "pairs": 9,
        "pairs_above": 1,
        "classes_above": 1,
        "rows_above": 4,
        "column": "s",
    }  # 0.9 is not above
    assert sf.positive_disclosure(alpha=0.2)(published, ROLES).details["rows_above"] == 14
    found = sf.negative_disclosure(epsilon=0.1)(published, ROLES).details
    assert found == {
        "pairs": 9, "pairs_absent": 3, "pairs_below": 3, "classes_below": 2, "rows_below": 14, "column": "s",
    }  # fmt: skip
    assert sf.negative_disclosure(epsilon=0.11)(published, ROLES).details["pairs_below"] == 4
    assert sf.negative_disclosure(epsilon=0)(published, ROLES).details["pairs_below"] == 0
    found = sf.uninformative_difference(limit=0.1)(published, ROLES).details
    # a: x by 3/17 and y, absent, by 2/17; b: nothing; c: all three
    assert found == {"pairs": 9, "pairs_above": 5, "classes_above": 2, "rows_above": 7, "column": "s"}


def test_the_threshold_moves_the_count_and_not_the_value(release: Make) -> None:
    published = release(rows(a="xxy", b="xyz"))
    for name, threshold in (("positive", "alpha"), ("negative", "epsilon")):
        metric = sf.registry()[f"{name}_disclosure"]
        values = {metric.set(**{threshold: x})(published, ROLES).value for x in (0, 0.4, 1)}
        assert len(values) == 1


def test_enhanced_beta_caps_every_value_by_its_own_share(release: Make) -> None:
    """y: q = 1/4, p = 1/2 in class a: a gain of 1 is within -ln q = 1.39. x: q = 3/4, all of class b: 1/3 > 0.288."""
    published = release(rows(a="yyxx", b="xxxx"))
    assert sf.beta_likeness(kind="basic")(published, ROLES).per_class.tolist() == [1, pytest.approx(1 / 3)]
    assert sf.beta_likeness(kind="enhanced")(published, ROLES).per_class.tolist() == [1, math.inf]


# --- parity with a few lines of plain Python -------------------------------------------------------------------------


def by_hand(p: list[float], q: list[float]) -> dict[str, float]:
    pairs = list(zip(p, q, strict=True))
    gains = [(a - b) / b for a, b in pairs if a > b]
    caps = [-math.log(b) for a, b in pairs if a > b]
    allowed = all(g <= c for g, c in zip(gains, caps, strict=True))
    return {
        "alpha_anonymity": max(p),
        "positive_disclosure": max(p),
        "negative_disclosure": min(p),
        "uninformative_difference": max(abs(a - b) for a, b in pairs),
        "beta_likeness[basic]": max(gains, default=0.0),
        "beta_likeness[enhanced]": max(gains, default=0.0) if allowed else math.inf,
        "delta_disclosure": max(abs(math.log2(a / b)) if a else math.inf for a, b in pairs),
    }


def tables() -> Iterator[tuple[list[int], list[int]]]:
    for seed in range(12):
        rng = np.random.default_rng(seed)
        many = int(rng.integers(1, 300))
        q = rng.integers(0, max(1, many // 12), many)
        s = np.minimum(rng.geometric(0.4, many), 1 + seed)  # ties, rare values, and for seed 0 one value only
        yield q.tolist(), s.tolist()


@pytest.mark.parametrize(("q", "s"), list(tables()))
def test_every_measure_is_its_formula(release: Make, q: list[int], s: list[int]) -> None:
    published = release({"q": [f"{c:03}" for c in q], "s": s})
    values = sorted(set(s))
    prior = [s.count(v) / len(s) for v in values]
    of_class = {c: [v for d, v in zip(q, s, strict=True) if d == c] for c in sorted(set(q))}
    expected = [by_hand([inside.count(v) / len(inside) for v in values], prior) for inside in of_class.values()]
    for name in ALL:
        found = sf.metric(name)(published, ROLES).per_class
        assert found == pytest.approx([each[name] for each in expected], abs=1e-12), name
    limit = 0.17
    above = sum(
        abs(inside.count(v) / len(inside) - a) > limit
        for inside in of_class.values()
        for v, a in zip(values, prior, strict=True)
    )
    assert sf.uninformative_difference(limit=limit)(published, ROLES).details["pairs_above"] == above


def test_how_the_measures_hang_together(release: Make) -> None:
    """ln(1 + beta) <= delta; the difference is at most beta times the share; l-diversity bounds alpha from below."""
    for q, s in tables():
        published = release({"q": q, "s": s})
        alpha, difference, beta, delta = ask(published, ALL[0], ALL[3], ALL[4], ALL[6])
        assert math.log1p(beta) <= delta + 1e-12
        assert alpha >= 1 / sf.distinct_l_diversity(published, ROLES).value
        assert difference <= alpha
        equal = sf.t_closeness(ground="equal")(published, ROLES).value
        assert difference <= equal + 1e-12


# --- size ------------------------------------------------------------------------------------------------------------


@pytest.mark.full
def test_a_million_classes_of_a_thousand_values_cost_their_entries_not_the_product() -> None:
    """Dense, each measure would need eight gigabytes."""
    rng = np.random.default_rng(0)
    classes, values, entries = 1_000_000, 1_000, 3_000_000
    column, _ = encode("s", pa.array([f"v{i:04}" for i in range(values)]))
    member = np.append(np.arange(classes), rng.integers(0, classes, entries - classes))
    value = rng.integers(0, values, entries)
    attribute = Sensitive(
        column,
        np.bincount(value, minlength=values),
        hierarchy=Hierarchy.of("s", [(f"v{i:04}", f"n{i // 50}", f"m{i // 250}", "*") for i in range(values)]),
    )
    whole = Classes.of(member, np.ones(entries), count=classes, value=value, sensitive=attribute)
    names = [
        "alpha_anonymity", "beta_likeness[basic]", "beta_likeness[enhanced]", "delta_disclosure", "t_closeness[taxonomy]",
        "recursive_diversity", "recursive_diversity[l=4,dont_care=v0001|v0002]", "p_sensitive_k_anonymity",
        "distinct_l_diversity[dont_care=v0001|v0002]", "entropy_l_diversity[dont_care=v0001|v0002]",
    ]  # fmt: skip
    tracemalloc.start()
    started = time.process_time()
    for kernel in (*(sf.metric(name).per_class for name in names), least, most_frequent_absent):
        found = kernel(whole)
        assert len(found) == classes
        assert not np.isnan(found).any()
    assert tracemalloc.get_traced_memory()[1] < 1.5e9
    tracemalloc.stop()
    assert time.process_time() - started < 120


def test_ten_thousand_values(release: Make) -> None:
    values = [f"v{i:05}" for i in range(10_000)]
    published = release({"q": ["a"] * 10_000 + ["b"] * 5_000, "s": values + values[:5_000]})
    p, q = 1 / 5_000, 2 / 15_000
    assert ask(published, *ALL) == pytest.approx(
        [p, p, 0, max(p - q, 1 / 15_000), p / q - 1, p / q - 1, math.inf], rel=1e-9
    )


def test_the_names_read_as_written() -> None:
    made: Any = sf.metric("positive_disclosure[alpha=0.25](s)")
    assert str(made) == "positive_disclosure[alpha=0.25](s)"
    assert str(sf.metric("positive_disclosure[alpha=0.1]")) == "positive_disclosure"
