"""A study where the rules of HIPAA are what is required: its candidates, what is recommended, and what an owner is told first."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import sfumato as sf
from sfumato.core.table import Table
from sfumato.metrics import require
from sfumato.publishing import publish
from sfumato.study.context import Context
from sfumato.study.default_candidates import candidates, overlooked
from sfumato.study.study import Candidate, Study

ROLES = sf.Roles(quasi=("zip", "birth_date", "age"), sensitive=("illness",), insensitive=("admitted",))


def hospital(rows: int = 60, **more: Any) -> Table:
    rng = np.random.default_rng(5)
    age = rng.integers(3, 99, rows)
    columns = {
        "zip": rng.choice(["02139", "02140", "60601", "03601"], rows),
        "birth_date": [f"{2022 - a}-{1 + a % 12:02d}-{1 + a % 28:02d}" for a in age.tolist()],
        "age": age,
        "admitted": [f"2022-{1 + i % 12:02d}-07" for i in range(rows)],
        "illness": rng.choice(["flu", "gout"], rows),
    }
    return sf.read(pa.table({**columns, **more}))


def test_the_rules_themselves_are_a_candidate_and_meet_the_preset(tmp_path: Path) -> None:
    table, context = hospital(), Context(preset="hipaa")
    made = candidates(table, ROLES, context.require, sf.metric("iloss"))
    assert made[0].text == "hipaa"
    assert overlooked(table, ROLES, made[:1]) == []
    few = (made[0], next(each for each in made if each.family == "mondrian"))
    study = Study(
        table=table, roles=ROLES, candidates=few, risk=sf.metric(context.axis), require=context.require, measures=()
    )
    result = study.run(refine=0)
    assert [point.met for point in result.points] == [True, False]
    chosen, _ = result.recommended
    assert chosen == 0
    told = publish(study.release(few[0]), ROLES, context.require, tmp_path / "out.csv")
    assert told.met


def test_it_is_told_of_the_same_columns_and_year() -> None:
    table = hospital(kind=["a", "b", "c"] * 20)
    wanted = require("hipaa_rules[age=age|kind,year=2022] <= 0")
    made = candidates(table, ROLES, [wanted], sf.metric("iloss"))
    assert made[0].mechanism is not None
    assert made[0].mechanism.promises == (wanted,)
    assert not any("hipaa_rules" in str(each.text) for each in made)  # nothing else is steered by rules alone


def test_with_a_class_size_besides_full_domain_search_looks_for_both() -> None:
    asked = [require("hipaa_rules <= 0"), require("k_anonymity >= 3")]
    made = candidates(hospital(), ROLES, asked, sf.metric("iloss"))
    steered = [each.name for each in made if "hipaa_rules" in each.name]
    assert steered
    assert all(name.startswith("generalize_full_domain") for name in steered)
    chains = [each for each in made if each.text.startswith("hipaa | ")]
    assert {each.text.split()[2] for each in chains} >= {"mondrian", "k_member", "local_suppression"}
    assert not any("hipaa_rules" in each.text for each in chains)  # the first link has seen to it
    assert not any("hipaa" in each.family for each in candidates(hospital(), ROLES, asked[1:], sf.metric("iloss")))


def test_the_command_of_a_chain_makes_it_again() -> None:
    table = hospital()
    chained = Candidate.of("hipaa | mondrian k=3")
    study = Study(table=table, roles=ROLES, candidates=(chained,), require=(require("k_anonymity >= 3"),), measures=())
    command, _ = study.run(refine=0).commands()
    words = shlex.split(command)
    assert words[words.index("--mechanism") + 1] == "hipaa | mondrian k=3"
    assert "--set" not in words


def test_what_it_refuses_is_told_before_anything_is_made() -> None:
    table = hospital(city=["Salem", "Troy", "Rome"] * 20)
    roles = sf.Roles(quasi=("zip", "city"), sensitive=("illness",))
    made = candidates(table, roles, Context(preset="hipaa").require, sf.metric("iloss"))
    (text,) = overlooked(table, roles, made)
    assert "'city'" in text
    assert "role identifiers" in text
    assert "Salem" not in text
