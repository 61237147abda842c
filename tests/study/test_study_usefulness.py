"""Deciding by use: labels can be gamed, so what users do with a release counts, and labels that overlap are told of."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.core.release import Release
from sfumato.metrics import metric, require
from sfumato.study.advice import advice
from sfumato.study.study import Candidate, Study
from study_house import memory, result, study

USE, LABELS, OVERLAP, R = "query_error[ranges]", "iloss", "overlapping_labels", "prosecutor_risk"
steps = st.integers(1, 30).map(lambda i: i / 100)


def by_use(points: list[dict[str, float]], **more: Any) -> Any:
    return result(points, ["prosecutor_risk <= 1"], utility=metric(USE), **more)


def test_a_study_decides_by_use_and_measures_labels_beside_it() -> None:
    held = Study(memory(), sf.Roles(quasi=("age", "zip"), sensitive=("ill",)), measures=()).run(refine=0)
    assert str(held.study.utility) == USE
    for i in held.made:
        assert {USE, LABELS, OVERLAP} <= held.points[i].scores.keys()


def test_whoever_decides_by_labels_sees_use_beside_them() -> None:
    held = study(memory(), "mondrian k=3", "k_member k=3", utility=metric("arx_loss[arithmetic]")).run(refine=0)
    assert {USE, LABELS, OVERLAP, "arx_loss[arithmetic]"} <= held.points[0].scores.keys()


def test_sets_of_exact_values_win_by_labels_and_lose_by_use() -> None:
    """Each label is five exact values of two hundred, far apart: ILoss 2%, and a range of pay cannot be counted."""
    rng = np.random.default_rng(4)
    pay = np.repeat(np.arange(200) * 100, 5)
    town = np.where(pay < 10_000, "low", "high")
    shuffled = rng.permutation(200).reshape(-1, 5)
    label = {
        v * 100: "{" + ", ".join(str(x * 100) for x in sorted(group)) + "}"
        for group in shuffled.tolist()
        for v in group
    }
    original = sf.read(pa.table({"pay": pay, "town": town}))
    roles = sf.Roles(quasi=("pay",), sensitive=("town",))
    sets = sf.read(pa.table({"pay": [label[v] for v in pay.tolist()], "town": town}))
    ranges = sf.read(
        pa.table({"pay": [f"[{v // 2000 * 2000}, {v // 2000 * 2000 + 2000})" for v in pay.tolist()], "town": town})
    )
    candidates = (
        Candidate("sets", release=Release(table=sets, original=original)),
        Candidate("ranges", release=Release(table=ranges, original=original)),
    )
    asked = {"table": original, "roles": roles, "candidates": candidates, "require": (require("k_anonymity >= 5"),)}
    by_labels = Study(**asked, utility=metric(LABELS), measures=()).run(refine=0)
    assert by_labels.points[by_labels.recommended[0]].candidate.name == "sets"
    used = Study(**asked, measures=()).run(refine=0)
    assert used.points[used.recommended[0]].candidate.name == "ranges"
    (said,) = [text for text in advice(used).of("beside") if "By ILoss alone it would be sets" in text]
    assert "query error" in said


def test_of_near_equals_the_one_that_can_be_tabulated_is_taken() -> None:
    points = [{R: 0.2, USE: 0.40, LABELS: 0.10, OVERLAP: 1.0}, {R: 0.2, USE: 0.41, LABELS: 0.20, OVERLAP: 0.0}]
    chosen, why = by_use(points).recommended
    assert chosen == 1
    assert "within 5%" in why
    assert "do not overlap" in why
    points[1][USE] = 0.43
    assert by_use(points).recommended[0] == 0


def test_overlapping_labels_are_told_and_can_be_required() -> None:
    held = by_use([{R: 0.2, USE: 0.4, LABELS: 0.1, OVERLAP: 0.75}])
    assert any("75% of the rows" in text for text in advice(held).of("beside"))
    points = [{R: 0.2, USE: 0.4, LABELS: 0.1, OVERLAP: 0.75}, {R: 0.2, USE: 0.9, LABELS: 0.2, OVERLAP: 0.0}]
    assert result(points, ["overlapping_labels <= 0"], utility=metric(USE)).recommended[0] == 1


@pytest.mark.parametrize(("labels", "told"), [(0.10, False), (0.124, False), (0.126, True)])
def test_strong_disagreement_is_told_and_weak_is_not(labels: float, told: bool) -> None:
    held = by_use([{R: 0.2, USE: 0.4, LABELS: labels}, {R: 0.2, USE: 0.6, LABELS: 0.10}])
    assert held.recommended[0] == 0
    assert any("alone it would be P1" in text for text in advice(held).of("beside")) == told


@given(
    points=st.lists(
        st.fixed_dictionaries({R: steps, USE: steps, LABELS: steps, OVERLAP: st.sampled_from([0.0, 0.5, 1.0])}),
        min_size=1,
        max_size=8,
    )
)
@settings(max_examples=200)
def test_nothing_beats_the_choice_on_both_utilities_unless_it_overlaps(points: list[dict[str, float]]) -> None:
    held = by_use(points)
    chosen, _ = held.recommended
    least = min(p[USE] for p in points)
    assert points[chosen][USE] <= least * 1.05 + 1e-12
    if points[chosen][USE] > least:
        assert points[chosen][OVERLAP] == 0
    for p in points:
        better = all(p[m] <= points[chosen][m] for m in (USE, LABELS, R)) and any(
            p[m] < points[chosen][m] for m in (USE, LABELS, R)
        )
        assert not better or p[OVERLAP] > points[chosen][OVERLAP]
