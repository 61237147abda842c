"""Every sentence of profile, risk, advice, attacks, audit, groups and documents is true of tables of awkward shapes, and every one is checked."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from told_sentences import SHAPES as SENTENCES
from told_sentences import check, judged
from told_tables import SHAPES, World, read, texts, tried, worlds, write

import sfumato as sf
from sfumato.attacks.background import background
from sfumato.attacks.homogeneity import homogeneity
from sfumato.attacks.inference import inference
from sfumato.attacks.linkage import linkage
from sfumato.attacks.singling_out import singling_out
from sfumato.attacks.skewness import skewness
from sfumato.cli.search import show as show_search
from sfumato.core.outcome import MARKS
from sfumato.metrics import metric, require
from sfumato.profile.table import profile
from sfumato.report.ema import ema
from sfumato.report.external import external
from sfumato.report.internal import internal
from sfumato.report.intruder import intruder
from sfumato.report.wp29 import wp29
from sfumato.search.full_domain import optimal_generalization
from sfumato.study.advice import advice
from sfumato.study.attack_findings import without_values
from sfumato.study.findings import findings
from sfumato.study.study import Study, grid

NAMES = [shape.replace(" ", "_") for shape in SHAPES]


def world(folder: Path, name: str) -> World:
    return next(each for each in worlds(folder) if each.name == name)


def all_true(told: World, said: Iterator[str] | list[str]) -> None:
    """No sentence is false, and none is left that nobody checks."""
    unknown = [rest for text in said for rest in check(told, text)]
    assert not unknown, "nobody checks: " + "\n".join(unknown)


@pytest.mark.parametrize("name", NAMES)
def test_what_profile_says(tmp_path: Path, name: str) -> None:
    told = world(tmp_path, name)
    for named in (None, told.quasi, told.quasi[:1]):
        found = profile(told.table, quasi=named)
        told.extra |= {"profiled": found.together.columns, "named": named is not None}
        reasons = {column.reason for column in found.columns}
        all_true(told, [found.sentence, *found.notes])
        assert not any("suggest" in reason for reason in reasons if named)


@pytest.mark.parametrize("name", NAMES)
def test_what_the_risk_of_a_raw_table_says(tmp_path: Path, name: str) -> None:
    told = world(tmp_path, name)
    twice = told.rows + told.rows[: len(told.rows) // 2]
    write(tmp_path / "population.csv", twice)
    told.extra |= {"population": read(tmp_path / "population.csv")}
    for how in ({}, {"fraction": 0.2}, {"fraction": 0.01}, {"population": sf.read(tmp_path / "population.csv")}):
        for minimal in (1, 2, 3):
            found = sf.raw_risk(told.table, told.roles, curve=False, minimal=minimal, **how)
            told.extra["fraction"] = how.get("fraction")
            all_true(told, found.sentences)
    for question in found.questions:
        told.extra["column"] = question.column
        all_true(told, [question.replicable, question.distinguishable])


CANDIDATES = {
    "missing": ["local_suppression require='k_anonymity >= 2'"],
    "skewed": ["generalize_full_domain suppression=0.3 require='k_anonymity >= 2'", "mondrian k=2"],
    "constants": ["generalize_full_domain suppression=0.3 require='k_anonymity >= 2'"],
}


def studied(told: World) -> Any:
    texts = CANDIDATES.get(told.name, ["mondrian k=2", "mondrian k=3"])
    asked = Study(
        table=told.table,
        roles=told.roles,
        candidates=grid(texts),
        require=(require("k_anonymity >= 2"),),
        measures=(metric("distinct_l_diversity"), metric("marketer_risk")),
    )
    return asked.run(refine=0)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "one_row"])
def test_what_advice_and_documents_say(tmp_path: Path, name: str) -> None:
    told = world(tmp_path, name)
    result = studied(told)
    chosen = result.recommended[0]
    assert chosen is not None
    result.release(chosen).table.write(tmp_path / "release.csv")
    told.released = read(tmp_path / "release.csv")
    found = findings(result).release
    assert found is not None
    assert not isinstance(found.audit, str)
    assert not isinstance(found.subgroups, str)
    told.extra |= {
        "result": result,
        "taken": result.points[chosen].candidate.name,
        "attacks": found.wp29,
        "audit": found.audit.to_dict(),
        "groups": found.subgroups.groups.to_dict(),
        "tiled": "mondrian" in result.points[chosen].candidate.name,
        "spelled": {m.sentence(s.value) for p in result.points for m, s in p.scores.values()}
        | {point.candidate.name for point in result.points},
    }
    all_true(told, [said.text for said in advice(result).said])
    for make in (internal, external, wp29, ema, intruder):
        document = tried(make, result)
        assert not isinstance(document, str), document
        all_true(told, [text for _, text in texts(document)])


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("one_row", "tiny")])
def test_what_attacks_say(tmp_path: Path, name: str) -> None:
    """On a release made by Mondrian, each attack on each sensitive column; the judgement never contradicts the rows."""
    told = world(tmp_path, name)
    release = sf.Mondrian(k=2)(told.table, told.roles, np.random.default_rng(0))
    release.table.write(tmp_path / "release.csv")
    told.released = read(tmp_path / "release.csv")
    played = {"singling_out": singling_out(release, told.roles)}
    for column in told.roles.sensitive:
        told.extra["column"] = column
        for attack in (homogeneity, skewness, background):
            all_true(told, [attack(release, told.roles, sensitive=column).sentence])
        played[f"inference({column})"] = inference(release, told.roles, sensitive=column, knows=told.quasi)
    # with missing values a released set may cover people of another class
    told.extra |= {"tiled": name != "missing", "attacks": {key: without_values(one) for key, one in played.items()}}
    all_true(told, [linkage(release, told.roles, knows=told.quasi).sentence])
    for key, one in played.items():
        all_true(told, [one.sentence])
        judged(told, key, one.verdict, MARKS[one.standing.verdict])


@pytest.mark.parametrize("name", ["plain", "constants", "heavy_repetition", "missing"])
def test_what_search_says(tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    told = world(tmp_path, name)
    for suppression in (0.0, 0.2):
        found = optimal_generalization(
            told.table, told.roles, require=[require("k_anonymity >= 2")], suppression=suppression
        )
        told.extra |= {"search": found, "heights": [ladder.height for ladder in found.problem.lattice.ladders]}
        show_search(found)
        said = capsys.readouterr().out.splitlines()
        all_true(told, [line for line in said if line.endswith(".")])
        assert sum(line.endswith(".") for line in said) == 2


def test_a_sentence_that_nobody_knows_and_one_that_is_false_are_found(tmp_path: Path) -> None:
    told = world(tmp_path, "plain")
    told.extra |= {"profiled": told.quasi, "named": True}
    with pytest.raises(AssertionError, match="nobody checks"):
        all_true(told, ["Nobody has ever found anybody in a table like this."])
    true = profile(told.table, quasi=told.quasi).sentence
    all_true(told, [true])
    with pytest.raises(AssertionError, match="is false"):
        all_true(told, [true.replace("of 70 rows", "of 71 rows")])
    with pytest.raises(AssertionError, match="is false"):
        all_true(told, [true.replace("quasi-identifiers that you named", "suggested quasi-identifiers")])
    assert len(SENTENCES) > 50
