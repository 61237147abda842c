"""Adversarial gains: extremes, a plain count, and the theorems that hold whatever the release."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from mining_house import ROLES, Says, paired, people, table

import sfumato as sf
from sfumato.core.metric import Score
from sfumato.core.release import Release

Q_ROLES = sf.Roles(quasi=("q",), sensitive=("s",))


def plain(q: Sequence[Any], s: Sequence[Any]) -> tuple[float, float]:
    """Both gains from rows, as the paper's section 3 has them, weighted by class sizes."""
    n = len(s)
    overall = Counter(s)
    classes: dict[Any, list[Any]] = defaultdict(list)
    for a, b in zip(q, s, strict=True):
        classes[a].append(b)
    knowledge = accuracy = 0.0
    for members in classes.values():
        here = Counter(members)
        moved = 0.5 * sum(abs(overall[v] / n - here[v] / len(members)) for v in overall)
        knowledge += len(members) / n * moved
        accuracy += len(members) / n * max(here.values()) / len(members)
    return knowledge, accuracy - max(overall.values()) / n


def measured(q: Sequence[Any], s: Sequence[Any]) -> tuple[Score, Score]:
    release = Release(table=table({"q": q, "s": s}))
    return sf.metric("knowledge_gain")(release, Q_ROLES), sf.metric("accuracy_gain")(release, Q_ROLES)


# --- the two metrics -------------------------------------------------------------------------------------------------


def test_one_class_tells_nothing() -> None:
    for score in measured(["*"] * 6, list("aabbbc")):
        assert (score.value, score.exactness) == (pytest.approx(0, abs=1e-15), "exact")


def test_pure_classes_tell_all() -> None:
    s = list("aaabbc")
    knowledge, accuracy = measured(s, s)
    assert knowledge.value == pytest.approx(1 - (9 + 4 + 1) / 36)  # 1 - sum p^2
    assert accuracy.value == pytest.approx(1 - 3 / 6)  # 1 - max p


def test_by_hand_and_by_class_sizes() -> None:
    # overall a: 5/8. Class x has 2 of 2, class y 3 of 6.
    q, s = list("xxyyyyyy"), list("aaaaabbb")
    knowledge, accuracy = measured(q, s)
    assert knowledge.value == pytest.approx((2 * 3 / 8 + 6 * 1 / 8) / 8)  # not (3/8 + 1/8) / 2, one a class
    assert accuracy.value == pytest.approx((2 * 1 + 6 * 1 / 2) / 8 - 5 / 8)
    assert knowledge.per_class is accuracy.per_class is None  # a mean has no worst class


@pytest.mark.parametrize("seed", range(6))
def test_against_a_plain_count(seed: int) -> None:
    rng = np.random.default_rng(seed)
    q = [f"q{i}" for i in rng.integers(0, 12, 200)]
    s = [None if v == 0 else f"s{v}" for v in rng.integers(0, 7, 200)]  # missing is a value
    knowledge, accuracy = measured(q, s)
    assert (knowledge.value, accuracy.value) == pytest.approx(plain(q, s))
    assert 0 <= accuracy.value <= 1
    assert 0 <= knowledge.value <= 1


@pytest.mark.parametrize("seed", range(6))
def test_merging_classes_never_tells_more(seed: int) -> None:
    rng = np.random.default_rng(seed)
    q = rng.integers(0, 16, 150)
    s = [f"s{v}" for v in rng.integers(0, 5, 150)]
    found = [measured([f"q{v}" for v in q // width], s) for width in (1, 2, 4, 8, 16)]
    for gains in zip(*found, strict=True):
        values = [score.value for score in gains]
        assert all(a >= b - 1e-12 for a, b in pairwise(values))
        assert values[0] > values[-1]


# --- with what mining adds -------------------------------------------------------------------------------------------


def mined(release: Release, roles: sf.Roles, miners: Any, **more: Any) -> Any:
    scenario = sf.Scenario(bad=sf.Bad(field="age", miners=miners), folds=3, **more)
    return sf.mine(release, roles, scenario)["release"]


@pytest.mark.parametrize("k", [2, 5, 20])
def test_mining_shows_at_least_the_plain_gain(k: int) -> None:
    columns = people(300)
    release = sf.KMember(k=k)(table(columns), ROLES, np.random.default_rng(1))
    found = mined(release, ROLES, ["tree", "full_tree", "naive_bayes"]).gains
    assert found.sensitive == "pay"
    assert found.knowledge == pytest.approx(sf.metric("knowledge_gain")(release, ROLES).value)
    assert found.accuracy == pytest.approx(sf.metric("accuracy_gain")(release, ROLES).value)
    assert found.knowledge_mined.value >= found.knowledge - 1e-12
    assert found.accuracy_mined.value >= found.accuracy - 1e-12
    assert found.knowledge_mined.low <= found.knowledge_mined.value <= found.knowledge_mined.high


def test_nearer_predictions_split_classes() -> None:
    """One class of four; the miner's nearer intervals tell two of them, who both earn much, from the rest."""
    true = {"x": [0, 1, 2, 3, 4, 5, 6, 7], "age": [25, 25, 35, 35, 45, 55, 45, 55], "pay": list("hhllhlhl")}
    released = {**true, "x": [*range(8)], "age": ["[20,40)"] * 4 + ["[40,60)", "[40,60)", "[20,30)", "*"]}
    roles = sf.Roles(quasi=("age",), sensitive=("pay",), insensitive=("x",))
    # labels in order: *, [20,30), [20,40), [40,60); [20,30) is nearer for the first two alone
    said = [1, 1, 3, 2, 3, 2, 3, 0]  # what misses the truth, as of the third and the sixth, splits nothing
    found = mined(paired(released, true), roles, [Says(said)]).gains
    assert (found.knowledge, found.accuracy) == pytest.approx(plain(released["age"], true["pay"]))
    # the seventh was released wrongly: any interval that holds 45 is nearer, too
    split = ["[20,30) for it"] * 2 + ["[20,40)"] * 2 + ["[40,60)"] * 2 + ["[40,60) for [20,30)"] + ["*"]
    expected = plain(split, true["pay"])
    assert (found.knowledge_mined.value, found.accuracy_mined.value) == pytest.approx(expected)
    assert found.knowledge_mined.value > found.knowledge
    assert found.miner == "Says"


def test_gains_are_not_asked_where_classes_cannot_be_counted() -> None:
    columns = people(120)
    noisy = paired({**columns, "age": [a + 0.5 for a in columns["age"]]}, columns, perturbed=frozenset({"age"}))
    found = mined(noisy, ROLES, ["tree"])
    assert found.gains is None
    assert any("noise" in note for note in found.notes)
    release = sf.KMember(k=5)(table(columns), ROLES, np.random.default_rng(1))
    sample = mined(release, ROLES, ["tree"], rows=60)
    assert sample.gains is None
    assert any("sample" in note for note in sample.notes)
    assert mined(release, ROLES, ["tree"], rows=120).gains is not None  # that is everybody
    none = sf.Roles(quasi=ROLES.quasi, insensitive=("pay",))
    assert mined(release, none, ["tree"]).gains is None
