"""What never changes of a person says nothing of a rule: rows of one person agree in it, whatever it is."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.profile.free_release import free_of_table


def _visits(people: int = 300, *, follows: bool = False) -> pa.Table:
    draw = np.random.default_rng(2)
    whose = np.repeat(np.arange(people), draw.integers(1, 5, people))
    born = draw.permutation(people) // (4 if follows else 1)
    grade = born % 5 if follows else draw.integers(1, 6, people)
    return pa.table(
        {
            "patient_id": whose.astype(str),
            "born": (1000 + born[whose]).astype(str),
            "grade": grade[whose].astype(str),
            "ward": draw.choice(["a", "b", "c"], len(whose)),
        }
    )


@pytest.mark.parametrize("rows", ["unlinked", "linked"])
def test_a_constant_of_a_person_does_not_follow_from_a_fine_column(rows: str) -> None:
    roles = sf.Roles(quasi=("born", "ward"), sensitive=("grade",), person="patient_id", people={"rows": rows})
    found = free_of_table(sf.read(_visits()), roles).findings
    assert not [finding for finding in found if finding.kind == "known"]


@pytest.mark.parametrize("rows", ["unlinked", "linked"])
def test_a_rule_among_different_people_still_is_one(rows: str) -> None:
    roles = sf.Roles(quasi=("born", "ward"), sensitive=("grade",), person="patient_id", people={"rows": rows})
    found = free_of_table(sf.read(_visits(follows=True)), roles).findings
    assert [finding.column for finding in found if finding.kind == "known"] == ["grade"]


def test_the_suggested_roles_do_not_keep_it_back() -> None:
    assert "grade" not in sf.suggest_roles(_visits()).identifiers
