"""The three WP29 attacks as metrics: spelled, asked by name only, with an interval and the baseline beside it."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from wp29_house import ROLES, made, people, table

import sfumato as sf
from sfumato.attacks.inference import inference
from sfumato.attacks.linkability import linkability
from sfumato.attacks.singling_out import singling_out
from sfumato.core.errors import InputError, RequirementError, Unavailable
from sfumato.core.parameter import Words
from sfumato.core.release import Release
from sfumato.metrics import everything

TEXTS = {
    "singling_out_risk": "singling_out_risk[size=3]",
    "linkability_risk": "linkability_risk[first=age|sex,second=place|sick]",
    "inference_risk": "inference_risk[secret=sick]",
}
FULL = {
    "singling_out_risk": "singling_out_risk[size=2,equal,attacks=50]",
    "linkability_risk": "linkability_risk[first=age,second=place|sick,neighbours=3,attacks=50]",
    "inference_risk": "inference_risk[secret=age,tolerance=0.1,attacks=50]",
}


@pytest.mark.parametrize("name", TEXTS)
def test_spelled(name: str, refusal: Any) -> None:
    for text in (TEXTS[name], FULL[name]):
        assert str(sf.metric(text)) == text
        assert str(sf.require(f"{text} <= 0.2")) == f"{text} <= 0.2"
    refusal(RequirementError, lambda: sf.require(f"{name} <= 0.2"), "is written")
    refusal(RequirementError, lambda: sf.metric(TEXTS[name].replace("]", ",attacks=0]")), "attacks")
    refusal(RequirementError, lambda: sf.require(f"{TEXTS[name]} >= 0.2"), "better lower")


def test_a_set_of_texts_that_must_be_given(refusal: Any) -> None:
    assert Words().usual == (frozenset(),)
    assert Words(None).usual == ()
    assert Words(None).read("b|a") == {"a", "b"}
    for empty in ("", [], frozenset()):
        with pytest.raises(RequirementError):
            Words(None).read(empty)
    assert Words().read([]) == frozenset()
    refusal(RequirementError, lambda: sf.require("linkability_risk[first=age] <= 0.2"), "second=...")
    refusal(RequirementError, lambda: sf.linkability_risk(first=[], second=["age"]), "first")
    assert sf.linkability_risk.variants() == []
    assert sf.linkability_risk(first=["age"]).variants() == []
    assert len(sf.linkability_risk(first=["age"], second=["sex"]).variants()) == 1


@pytest.mark.parametrize("name", TEXTS)
def test_asked_by_name_only(name: str, refusal: Any) -> None:
    columns = people(40)
    release = made(columns, columns)
    assert not [metric for metric in everything(ROLES) if metric.card.name == name]
    scores, skipped = sf.measure(release, ROLES)
    assert not [text for text in scores if text.startswith(name)]
    assert "must be asked for" in skipped[name]
    refusal(RequirementError, lambda: sf.metric(name)(release, ROLES))


@pytest.mark.parametrize("name", TEXTS)
def test_it_is_the_attack(name: str) -> None:
    columns = people(200)
    release = sf.LocalNoise(bounds="age=18:90", epsilon=3.0)(table(columns), ROLES, np.random.default_rng(1))
    asked: Any = {
        "singling_out_risk": lambda: singling_out(release, ROLES, size=3),
        "linkability_risk": lambda: linkability(release, ROLES, first=["age", "sex"], second=["place", "sick"]),
        "inference_risk": lambda: inference(release, ROLES, sensitive="sick"),
    }
    score, attack = sf.metric(TEXTS[name])(release, ROLES), asked[name]()
    assert score.value == attack.success.value
    assert score.ci == (attack.success.low, attack.success.high)
    assert score.exactness == "estimate"
    assert score.unit == sf.metric(TEXTS[name]).card.unit
    assert score.details["baseline"] == attack.baseline.value
    json.dumps(dict(score.details))


def test_extremes() -> None:
    columns = {
        "age": list(range(60)),
        "place": [f"v{i}" for i in range(60)],
        "sex": ["F"] * 60,
        "sick": ["a", "b"] * 30,
    }
    raw, hidden = made(columns, columns), made({n: ["*"] * 60 for n in columns}, columns)
    roles = sf.Roles(quasi=("age", "place", "sex"), sensitive=("sick",))
    for text, most, least in (
        ("singling_out_risk[size=2]", 1, 0),
        ("linkability_risk[first=age,second=place]", 1, 1 / 60),
        ("inference_risk[secret=sick]", 1, 1 / 2),
    ):
        assert sf.metric(text)(raw, roles).value == most
        assert sf.metric(text)(hidden, roles).value == pytest.approx(least)
        assert sf.metric(text).sentence(least)


def test_refusals(refusal: Any) -> None:
    columns = people(30)
    alone = Release(table=table(columns))
    for text in TEXTS.values():
        refusal(Unavailable, lambda text=text: sf.metric(text)(alone, ROLES), "original")
        refusal(
            Unavailable, lambda text=text: sf.metric(text)(made(columns, columns, statistics=True), ROLES), "statistics"
        )
    release = made(columns, columns)
    refusal(InputError, lambda: sf.metric("inference_risk[secret=nope]")(release, ROLES), "nope")
    refusal(InputError, lambda: sf.metric("linkability_risk[first=age,second=nope]")(release, ROLES), "nope")


def test_usable_as_a_requirement() -> None:
    columns = people(60)
    kept = [sf.require("linkability_risk[first=age|sex,second=place|sick] <= 0.1")]
    hidden = {**columns, "age": ["*"] * 60, "sex": ["*"] * 60}
    assert sf.verify(table(hidden), ROLES, kept, original=table(columns)).met
    assert not sf.verify(table(columns), ROLES, kept, original=table(columns)).met
