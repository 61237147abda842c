"""Sensitive columns are limited by default where it matters, or the recommendation says first that they are not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato import metrics
from sfumato.core.errors import Infeasible
from sfumato.core.roles import Roles
from sfumato.core.table import Table
from sfumato.report.documents import write_all
from sfumato.report.package import write_package
from sfumato.study.advice import advice
from sfumato.study.context import Context
from sfumato.study.inference import leaves, limited, unprotected, with_inference
from sfumato.study.study import Candidate, Study

ROLES = sf.Roles(quasi=("age",), sensitive=("ill",))
HIGH = Context(to="public", impact="high")


def people(ill: list[str]) -> Table:
    """As many people as illnesses, ten of each age."""
    return sf.read(pa.table({"age": [20 + i // 10 for i in range(len(ill))], "ill": ill}))


MIXED = people(["flu"] * 60 + ["cold", "flu"] * 70)  # the first six ages all have the flu


def asked(*texts: str) -> list[sf.core.metric.Requirement]:
    return [metrics.require(text) for text in texts]


def test_a_public_release_of_high_impact_is_limited() -> None:
    (limit,) = with_inference(HIGH, MIXED, ROLES, waive={}).inference
    assert limit.text == "alpha_anonymity(ill) <= 0.9"
    assert "ESSnet" in limit.source
    for other in (
        Context(to="agreement", impact="high"),
        Context(to="public", impact="low"),
        Context(preset="public-use"),
    ):
        assert with_inference(other, MIXED, ROLES, waive={}).inference == ()


def test_the_owner_waives_or_limits() -> None:
    assert with_inference(HIGH, MIXED, ROLES, waive={"ill": "published anyway"}).inference == ()
    assert with_inference(HIGH, MIXED, ROLES, require=asked("t_closeness[equal](ill) <= 0.3"), waive={}).inference == ()
    assert with_inference(HIGH, MIXED, ROLES, require=asked("distinct_l_diversity >= 2"), waive={}).inference != ()


def test_what_bounds_certainty() -> None:
    assert limited("ill", asked("alpha_anonymity <= 0.5"))
    assert limited("ill", asked("entropy_l_diversity >= 1.5"))
    assert not limited("ill", asked("alpha_anonymity <= 1"))  # asks for nothing
    assert not limited("ill", asked("alpha_anonymity(job) <= 0.5"))
    assert not limited("ill", asked("k_anonymity >= 20", "distinct_l_diversity >= 2"))  # 19 of 20 may share one value


def test_a_value_that_most_people_have_leaves_room() -> None:
    often = people(["none"] * 188 + ["flu"] * 12)  # 94%
    (limit,) = with_inference(HIGH, often, ROLES, waive={}).inference
    assert limit.text == "alpha_anonymity(ill) <= 0.97"
    assert "94%" in limit.sentence
    with pytest.raises(Infeasible, match="same value of 'ill'"):
        with_inference(HIGH, people(["flu"] * 100), ROLES, waive={})


def test_the_first_line_says_what_stays_unprotected(tmp_path: Path) -> None:
    study = Study(
        table=MIXED, roles=ROLES, candidates=(Candidate.of("mondrian k=10"),), require=tuple(asked("k_anonymity >= 10"))
    )
    result = study.run(refine=0)
    (found,) = unprotected(result)
    classes = result.release(0).evidence(ROLES).classes("ill")
    certain = int(classes.size[classes.distinct == 1].sum())
    assert found.certain == certain == 60
    assert advice(result).said[0].text == (
        "Take mondrian k=10: 'ill' is not protected: 60 of 200 rows are in a group where every row has the same value."
    )
    write_all(result, tmp_path, formats=("md",))
    for name in ("report", "note", "wp29", "ema", "intruder"):
        assert "'ill' is not protected" in (tmp_path / f"{name}.md").read_text(), name
    assert "✓ meets all" not in (tmp_path / "report.md").read_text()


def test_a_waiver_stands_in_every_document(tmp_path: Path) -> None:
    study = Study(
        table=MIXED,
        roles=ROLES,
        candidates=(Candidate.of("mondrian k=10"),),
        require=tuple(asked("k_anonymity >= 10")),
        waive={"ill": "known from the register"},
    )
    result = study.run(refine=0)
    assert "(waived: known from the register)" in advice(result).said[0].text
    write_all(result, tmp_path, formats=("md",))
    for name in ("report", "note", "wp29", "ema", "intruder"):
        assert "waived: known from the register" in (tmp_path / f"{name}.md").read_text(), name
    assert result.to_dict()["waived"] == {"ill": "known from the register"}


def test_the_owners_word_on_people_stands_in_every_document(tmp_path: Path) -> None:
    study = Study(
        table=MIXED,
        roles=replace(ROLES, one_row_per_person=True),
        candidates=(Candidate.of("mondrian k=10"),),
        require=tuple(asked("k_anonymity >= 10")),
    )
    result = study.run(refine=0)
    write_all(result, tmp_path, formats=("md",))
    for name in ("report", "note", "wp29", "ema", "intruder"):
        assert "The owner states that each row is another person" in (tmp_path / f"{name}.md").read_text(), name
    write_package(result, tmp_path / "package")
    assert "The owner states that each row is another person" in (tmp_path / "package" / "README.md").read_text()
    assert Roles.read(tmp_path / "package" / "roles.toml").one_row_per_person


def test_a_limited_column_is_protected() -> None:
    text = "mondrian k=10 require='alpha_anonymity(ill) <= 0.9'"
    study = Study(
        table=MIXED, roles=ROLES, candidates=(Candidate.of(text),), require=tuple(asked("alpha_anonymity(ill) <= 0.9"))
    )
    result = study.run(refine=0)
    assert leaves(result) == ""
    assert advice(result).said[0].text.endswith("<= 0.9.")
