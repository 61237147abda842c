"""What every registered metric, attack and verb must keep of people with several rows: people are counted, or rows are called rows."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pandas as pd
import pytest

import sfumato as sf
from sfumato.attacks import registry as attacks
from sfumato.core.errors import SfumatoError
from sfumato.metrics import measure_available
from sfumato.metrics import registry as metrics
from sfumato.profile.table import profile

PEOPLE = 120
QUASI = ("age", "zip")


def visits() -> pd.DataFrame:
    rng = np.random.default_rng(5)
    who = np.repeat(np.arange(PEOPLE), rng.integers(1, 8, PEOPLE))
    return pd.DataFrame(
        {
            "pid": [f"p{i}" for i in who],
            "age": rng.integers(20, 60, PEOPLE)[who],
            "zip": 1000 + rng.integers(0, 12, PEOPLE)[who],
            "dx": rng.choice(list("abcdef"), len(who)),
        }
    )


def roles(people: dict[str, Any]) -> sf.Roles:
    return sf.Roles(
        person="pid",
        quasi=QUASI,
        sensitive=("dx",),
        people=people,
        orders={"dx": tuple("abcdef")},
        hierarchies={"age": {"widths": [5, 10, 20]}, "zip": {"prefix": [1, 2, 3]}},
    )


FRAME = visits()
ROWS = len(FRAME)
UNLINKED = roles({"rows": "unlinked"})
ONE = roles({"rows": "one", "keep": "most", "by": "dx"})


@pytest.fixture(scope="module")
def table() -> sf.Table:
    return sf.read(FRAME)


@pytest.fixture(scope="module")
def unlinked(table: sf.Table) -> sf.Release:
    return sf.Mondrian(k=4)(table, UNLINKED)


@pytest.fixture(scope="module")
def one(table: sf.Table) -> sf.Release:
    return sf.Mondrian(k=4)(table, ONE)


def called(text: str) -> set[int]:
    """The numbers that a text gives of people."""
    return {int(found.replace(",", "")) for found in re.findall(r"([0-9][0-9,]*) (?:people|persons?)\b", text)}


def given(attack: Any, table: sf.Table, release: sf.Release) -> dict[str, Any]:
    everything = {
        "population": table, "previous": release, "mechanism": sf.Mondrian(k=4), "attacks": PEOPLE // 3, "runs": 50, "seed": 3,
    }  # fmt: skip
    return {name: value for name, value in everything.items() if name in attack.takes}


@pytest.mark.parametrize("name", attacks())
def test_an_attack_counts_people_or_says_rows(name: str, table: sf.Table, unlinked: sf.Release) -> None:
    attack = attacks()[name]
    refusal, outcome = "", None
    try:
        outcome = attack(unlinked, UNLINKED, **given(attack, table, unlinked))
    except SfumatoError as error:
        refusal = str(error)
    if outcome is None:
        assert re.search("people|rows|order|group", refusal)
        assert name not in ("homogeneity", "skewness", "linkage", "membership", "composition")
        return
    assert called(outcome.sentence) <= set(range(PEOPLE + 1))
    if attack.card.people:
        assert outcome.attacked <= PEOPLE
    else:
        assert not called(outcome.sentence)
        assert "a person may have several" in outcome.sentence


@pytest.mark.parametrize("name", attacks())
def test_an_attack_on_one_row_of_each_attacks_people(name: str, table: sf.Table, one: sf.Release) -> None:
    """The table of visits may be given as it is: wherever it stands, one row a person is made of it."""
    attack = attacks()[name]
    release = sf.Release(table=one.table, original=table, population=table)
    made = sf.Release(table=one.table, original=one.original, population=one.original)
    outcomes = []
    for every, each in ((table, release), (one.original, made)):
        try:
            outcome = attack(each, ONE, **given(attack, every, each))  # type: ignore[arg-type]
            assert outcome.attacked <= PEOPLE
            outcomes.append((outcome.attacked, outcome.fell, outcome.sentence))
        except SfumatoError as refusal:
            outcomes.append((type(refusal), 0, ""))
    assert outcomes[0] == outcomes[1]


def test_a_metric_counts_people_or_is_refused(unlinked: sf.Release) -> None:
    scores, skipped = measure_available(unlinked, UNLINKED, None)
    assert "k_anonymity" in scores
    for name, (metric, score) in scores.items():
        if metric.card.about == "privacy":
            assert metric.card.counts_people or metric.card.unit == "columns", name
            assert score.unit != "rows", name
            assert called(metric.card.sentence(score.value)) <= set(range(PEOPLE + 1)), name
    assert {name.split("[")[0].split("(")[0] for name in (*scores, *skipped)} >= {
        name for name, metric in metrics().items() if not metric.card.parameters and metric.card.usual is not None
    }


def test_whoever_looks_at_the_table_counts_people(table: sf.Table, unlinked: sf.Release) -> None:
    texts = [
        json.dumps(sf.raw_risk(table, UNLINKED).sentences),
        json.dumps(sf.audit(unlinked, UNLINKED).sentences),
        json.dumps(sf.subgroups(unlinked, UNLINKED, by=["age"]).sentences),
        json.dumps(profile(table, roles=UNLINKED).notes),
        json.dumps(sf.versus(unlinked, unlinked, UNLINKED).to_dict(), default=str),
    ]
    for text in texts:
        assert called(text) <= {PEOPLE} | set(range(PEOPLE))
    assert f"{PEOPLE} people" in texts[0]
    assert f"{PEOPLE} people" in texts[3]
