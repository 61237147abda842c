"""What no release of the recommended one's kind loses less than: in the advice, in the JSON, and left out where it does not hold."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.search.least_loss import least_loss_beside


@pytest.fixture
def people() -> tuple[sf.Table, sf.Roles]:
    rng = np.random.default_rng(8)
    columns = {"age": rng.integers(18, 90, 200), "zip": rng.integers(100, 160, 200), "sex": rng.choice(["f", "m"], 200)}
    return sf.read(pa.table(columns)), sf.Roles(quasi=("age", "zip", "sex"))


def test_the_advice_holds_its_loss_against_the_bound(people: tuple[sf.Table, sf.Roles]) -> None:
    table, roles = people
    study = sf.Study(table, roles, ("k_member k=5 labels=plain",), require=(sf.require("k_anonymity >= 5"),))
    result = study.run(refine=0)
    told = sf.advice(result).of("bound")
    assert result.least is not None
    assert 0 < result.least.value < result.points[0].scores["iloss"][1].value
    assert result.least.value == sf.least_loss(table, roles, k=5, labels="plain").value
    assert len(told) == 1
    printed = float(told[0].split("has an ILoss below ")[1].split(",")[0])
    assert 0.999 * result.least.value < printed <= result.least.value
    assert "classes of at least 5 rows and ranges" in told[0]
    assert result.to_dict()["least_loss"]["value"] == result.least.value


def test_values_that_were_changed_have_no_bound(people: tuple[sf.Table, sf.Roles]) -> None:
    table, roles = people
    noisy = sf.RankSwapping(columns="age")(table, roles, np.random.default_rng(1))
    with pytest.raises(sf.Unavailable, match="labels stand for its values"):
        least_loss_beside(noisy, roles)
