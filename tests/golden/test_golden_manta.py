"""Manta 2013: the tables of sec. 3.2.2 and 3.2.3, written out here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import sfumato as sf
from sfumato.core.release import Release
from sfumato.core.roles import Roles

ENTROPY_L = 1.7547653506033232
EMD_345 = 0.375
T_OF_TABLE_14 = 0.16666666666666666

TABLE_10 = [*[("Professional", s) for s in ("Hepatitis", "Hepatitis", "HIV")], *[("Artist", s) for s in ("HIV", "HIV", "Flu")]]  # fmt: skip
TABLE_11 = [*TABLE_10, ("Artist", "HIV")]
# Table 3.13, its third class as in Li et al. (the survey prints 2* twice), and Table 3.14
TABLE_13 = {"476** 2*": ["3k", "4k", "5k"], "4790* >=40": ["6k", "11k", "8k"], "476** 3*": ["7k", "9k", "10k"]}
TABLE_14 = {"4767* 2*": ["3k", "5k", "9k"], "4790* >=40": ["6k", "11k", "8k"], "4760* 2*": ["4k", "7k", "10k"]}
PATIENTS = Roles(quasi=("job",), sensitive=("disease",))
SALARIES = Roles(quasi=("class",), sensitive=("salary",))


def salaries(release: Callable[..., Release], table: dict[str, list[str]]) -> Release:
    return release(
        {
            "class": [c for c, values in table.items() for _ in values],
            "salary": [v for vs in table.values() for v in vs],
        }
    )


def patients(release: Callable[..., Release], rows: list[tuple[str, str]]) -> Release:
    return release({"job": [job for job, _ in rows], "disease": [disease for _, disease in rows]})


def test_what_stands_here_is_what_was_verified(golden: dict[str, Any]) -> None:
    manta = golden["manta"]
    assert manta["table_3_11_entropy_l"]["value"] == ENTROPY_L
    assert manta["emd_3k_4k_5k"]["value"] == EMD_345
    assert manta["table_3_14_t"]["value"] == T_OF_TABLE_14


def test_table_3_10_is_distinct_2_diverse(release: Callable[..., Release]) -> None:
    assert sf.distinct_l_diversity(patients(release, TABLE_10), PATIENTS).value == 2


def test_table_3_11_is_entropy_1_8_diverse(release: Callable[..., Release]) -> None:
    score = sf.entropy_l_diversity(patients(release, TABLE_11), PATIENTS)
    assert score.value == pytest.approx(ENTROPY_L, abs=1e-12)
    assert score.value == min(score.per_class)  # the minimum over the classes: of the artists, 3 HIV and 1 flu
    assert score.per_class[1] == pytest.approx(2 ** (0.9182958340544896), abs=1e-12)  # 2 to 1, of the professionals


def test_emd_of_3k_4k_5k(release: Callable[..., Release]) -> None:
    published = salaries(release, TABLE_13)
    score = sf.t_closeness(ground="ordered")(published, SALARIES)
    labels = published.evidence(SALARIES).tuples.columns[0].texts
    assert score.per_class[labels.index("476** 2*")] == pytest.approx(EMD_345, abs=1e-12)
    assert score.value == pytest.approx(EMD_345, abs=1e-12)
    assert sf.distinct_l_diversity(published, SALARIES).value == 3


def test_table_3_14_is_0_167_close(release: Callable[..., Release]) -> None:
    published = salaries(release, TABLE_14)
    assert sf.t_closeness(ground="ordered")(published, SALARIES).value == pytest.approx(T_OF_TABLE_14, abs=1e-12)
    assert sf.require("t_closeness[ordered] <= 0.16666666666666666").check(published, SALARIES).met
    assert not sf.require("t_closeness[ordered] <= 0.166").check(published, SALARIES).met
