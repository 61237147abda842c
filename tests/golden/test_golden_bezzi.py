"""Bezzi 2010: the toy table (Tables 2 and 3), written out here, through rows, counting and kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import sfumato as sf
from sfumato.core.release import Release
from sfumato.core.roles import Roles

# Table 2, and the height of Table 3 that each row has there
TOY = [
    (166, "[160-170]", "N"),
    (163, "[160-170]", "N"),
    (161, "[160-170]", "N"),
    (167, "[160-170]", "N"),
    (175, "[170-180]", "N"),
    (170, "[170-180]", "N"),
    (170, "[170-180]", "N"),
    (171, "[170-180]", "N"),
    (181, "[180-190]", "N"),
    (183, "[180-190]", "N"),
    (195, "[190-200]", "Y"),
    (191, "[190-200]", "N"),
]
CLASSES = {"[160-170]": 4, "[170-180]": 4, "[180-190]": 2, "[190-200]": 2}
H_W = 0.41381685030363374
I1 = [0.12553088208385882, 0.12553088208385882, 0.12553088208385882, 0.8552466914025076]
I2 = [0.41381685030363374, 0.41381685030363374, 0.41381685030363374, -0.5861831496963663]
INFORMATION = 0.24715018363696695
ROLES = Roles(quasi=("height",), sensitive=("diagnosis",))


@pytest.fixture(scope="module")
def toy(release: Callable[..., Release]) -> Release:
    heights, ranges, diagnoses = zip(*TOY, strict=True)
    return release(
        {"height": list(ranges), "diagnosis": list(diagnoses)},
        original={"height": list(heights), "diagnosis": list(diagnoses)},
        pairing="position",
    )


def test_what_stands_here_is_what_was_verified(golden: dict[str, Any]) -> None:
    bezzi = golden["bezzi"]
    assert bezzi["toy_table_classes"] == CLASSES
    assert bezzi["toy_H_W"]["value"] == H_W
    assert bezzi["toy_I1"]["value"] == I1
    assert bezzi["toy_I2"]["value"] == I2
    assert bezzi["toy_mutual_information"]["value"] == INFORMATION


def test_classes(toy: Release) -> None:
    evidence = toy.evidence(ROLES)
    assert dict(zip(evidence.tuples.columns[0].texts, evidence.tuples.n.tolist(), strict=True)) == CLASSES


def test_entropy_of_the_diagnosis(toy: Release) -> None:
    sensitive = toy.evidence(ROLES).classes("diagnosis").sensitive
    assert sensitive is not None
    assert sensitive.entropy == pytest.approx(H_W, abs=1e-12)


@pytest.mark.parametrize(("metric", "values"), [(sf.one_symbol_i1, I1), (sf.one_symbol_i2, I2)], ids=["I1", "I2"])
def test_one_symbol_information(toy: Release, metric: Any, values: list[float]) -> None:
    score = metric(toy, ROLES)
    assert score.per_class == pytest.approx(values, abs=1e-12)
    assert score.value == pytest.approx(max(values), abs=1e-12)


def test_mutual_information(toy: Release) -> None:
    assert sf.mutual_information(toy, ROLES).value == pytest.approx(INFORMATION, abs=1e-12)


def test_information_loss(toy: Release) -> None:
    # every original height has one diagnosis, so I(W;X) = H(W)
    assert sf.information_loss(toy, ROLES).value == pytest.approx(1 - INFORMATION / H_W, abs=1e-12)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("k_anonymity", 2),
        ("prosecutor_risk", 1 / 2),
        ("marketer_risk", 4 / 12),
        ("discernibility", 4**2 + 4**2 + 2**2 + 2**2),
        ("average_class_size", 3),
        ("distinct_l_diversity", 1),
        ("entropy_l_diversity", 1),
        ("minimal_distortion", 1),
        ("t_closeness[equal]", 1 / 2 - 1 / 12),
        ("t_closeness[ordered]", 1 / 2 - 1 / 12),
    ],
)
def test_the_other_measures_by_hand(toy: Release, text: str, value: float) -> None:
    assert sf.metric(text)(toy, ROLES).value == pytest.approx(value, abs=1e-12)
