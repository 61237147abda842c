"""The metrics that mine: spelled, asked by name only, with an interval, and at their extremes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from mining_house import ROLES, paired, people, table

import sfumato as sf
from sfumato.core.errors import InputError, RequirementError, Unavailable
from sfumato.core.release import Release
from sfumato.metrics import everything

NAMES = ("mining_utility_decline", "anti_utility_worst")
FIELD = {"mining_utility_decline": "pay", "anti_utility_worst": "age"}


@pytest.mark.parametrize("name", NAMES)
def test_spelled(name: str, refusal: Callable[..., str]) -> None:
    for text in (f"{name}[field=age]", f"{name}[field=age,paper]", f"{name}[field=age,reference,rows=500,folds=3]"):
        assert str(sf.metric(text)) == text
        assert str(sf.metric(str(sf.metric(text)))) == text
    assert str(sf.metric(f"{name}[age]")) == f"{name}[field=age]"
    assert str(sf.metric(f"{name}[field=age,quick,rows=5000,folds=5]")) == f"{name}[field=age]"  # defaults go unsaid
    assert str(sf.require(f"{name}[field=age] <= 0.2")) == f"{name}[field=age] <= 0.2"
    refusal(RequirementError, lambda: sf.require(f"{name} <= 0.2"), "field")
    refusal(RequirementError, lambda: sf.metric(f"{name}[field=]"))
    refusal(RequirementError, lambda: sf.metric(f"{name}[field=age,all]"))
    refusal(RequirementError, lambda: sf.metric(f"{name}[field=age,folds=1]"))
    refusal(RequirementError, lambda: sf.require(f"{name}[field=age] >= 0.2"), "better lower")


@pytest.mark.parametrize("name", NAMES)
def test_asked_by_name_only(name: str, monkeypatch: pytest.MonkeyPatch, refusal: Callable[..., str]) -> None:
    columns = people(60)
    release = paired(columns, columns)
    assert not [metric for metric in everything(ROLES) if metric.card.name == name]
    monkeypatch.setattr("sfumato.mining.mine.mine", None)  # a call would fail
    scores, skipped = sf.measure(release, ROLES)
    assert not [text for text in scores if text.startswith(name)]
    assert "must be asked for" in skipped[name]
    assert "knowledge_gain" in scores
    refusal(RequirementError, lambda: sf.metric(name)(release, ROLES), "field")


def test_the_identity() -> None:
    columns = people(200)
    release = paired(columns, columns)
    worst = sf.metric("anti_utility_worst[field=age,folds=2]")(release, ROLES)
    assert (worst.value, worst.ci, worst.exactness) == (1, (1, 1), "estimate")
    assert worst.details["told_exactly"] == 1
    decline = sf.metric("mining_utility_decline[field=pay,folds=2]")(release, ROLES)
    assert (decline.value, decline.ci, decline.exactness) == (0, (0, 0), "estimate")


def test_nothing_is_told() -> None:
    columns = people(200)
    constant = {**columns, "age": ["*"] * 200}
    worst = sf.metric("anti_utility_worst[field=age,folds=2]")(paired(constant, columns), ROLES)
    assert (worst.value, worst.ci) == (0, (0, 0))
    assert "nobody" in sf.metric("anti_utility_worst[field=age]").sentence(worst.value)
    blank = {**columns, "age": ["*"] * 200, "work": ["*"] * 200, "town": ["*"] * 200}
    decline = sf.metric("mining_utility_decline[field=pay,folds=2]")(paired(blank, columns), ROLES)
    assert 0.1 < decline.value < 1
    assert decline.ci is not None
    assert decline.ci[0] <= decline.value <= decline.ci[1]
    assert decline.details["baseline"] == pytest.approx(max(columns["pay"].count(v) for v in ("high", "low")) / 200)


def test_between() -> None:
    columns = people(300)
    release = sf.KMember(k=4)(table(columns), ROLES, np.random.default_rng(1))
    worst = sf.metric("anti_utility_worst[field=age,folds=3]")(release, ROLES)
    assert 0 < worst.value < 1
    assert worst.value == pytest.approx(worst.details["nearer"] + worst.details["told_exactly"])
    assert worst.ci is not None
    assert worst.ci[0] <= worst.value <= worst.ci[1]
    again = sf.metric("anti_utility_worst[field=age,folds=3]")(
        sf.KMember(k=4)(table(columns), ROLES, np.random.default_rng(1)), ROLES
    )
    assert again.value == worst.value


def test_noise_is_no_hindrance() -> None:
    columns = people(200)
    release = sf.LocalNoise(bounds="age=18:90", epsilon=0.5)(table(columns), ROLES, np.random.default_rng(1))
    assert 0.5 < sf.metric("anti_utility_worst[field=age,folds=2]")(release, ROLES).value <= 1


def test_a_sample_of_rows() -> None:
    columns = people(400)
    release = paired({**columns, "age": [a // 5 * 5 for a in columns["age"]]}, columns)
    for name in NAMES:
        score = sf.metric(f"{name}[field={FIELD[name]},rows=100,folds=2]")(release, ROLES)
        assert score.value != sf.metric(f"{name}[field={FIELD[name]},rows=400,folds=2]")(release, ROLES).value


def test_refused(refusal: Callable[..., str]) -> None:
    columns = people(60)
    order = np.random.default_rng(0).permutation(60).tolist()
    turned = Release(
        table=table({name: [values[i] for i in order] for name, values in columns.items()}), original=table(columns)
    )
    refusal(Unavailable, lambda: sf.metric("anti_utility_worst[field=age]")(turned, ROLES), "--pair")
    alone = Release(table=table(columns))
    for name in NAMES:
        refusal(Unavailable, lambda name=name: sf.metric(f"{name}[field=age]")(alone, ROLES), "original")
        refusal(InputError, lambda name=name: sf.metric(f"{name}[field=nope]")(paired(columns, columns), ROLES), "nope")


def test_a_field_that_nobody_can_predict_has_no_decline(refusal: Callable[..., str]) -> None:
    columns: dict[str, list[Any]] = {"age": [i + 0.123 for i in range(60)], "sex": ["FM"[i % 2] for i in range(60)]}
    roles = sf.Roles(quasi=("age",), sensitive=("sex",))
    asked = sf.metric("mining_utility_decline[field=age,paper,folds=2]")
    refusal(Unavailable, lambda: asked(paired(columns, columns), roles), "age")


def test_usable_as_a_requirement() -> None:
    columns = {name: values for name, values in people(200).items() if name != "number"}
    roles = sf.Roles(quasi=ROLES.quasi, sensitive=("pay",))
    original = table(columns)
    released = table({**columns, "age": ["*"] * 200})
    kept = ["mining_utility_decline[field=pay,folds=2] <= 1", "anti_utility_worst[field=age,folds=2] <= 0.1"]
    told = sf.verify(released, roles, [sf.require(text) for text in kept], original=original)
    assert told.met, told.reasons
    assert not sf.verify(original, roles, [sf.require(kept[1])], original=original).met
