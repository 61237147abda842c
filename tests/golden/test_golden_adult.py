"""Adult, 30,162 rows, where the data stands beside the checkout: Bezzi's experiment and counts made by other programs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.core.release import Release
from sfumato.core.roles import Roles
from sfumato.core.table import Recoding, Table

QUASI = ("age", "sex", "race", "education")
SEVEN = ("age", "sex", "race", "education", "marital-status", "native-country", "workclass")
# the fine ranges of Bezzi's sec. 4, and the two that meet l = 2.7 and t = 0.55
MARITAL = Roles(quasi=QUASI, sensitive=("marital-status",), hierarchies={"age": {"cuts": [[25, 50, 75], [50]]}})


def by_age(table: Table, level: int) -> Release:
    """Age as its hierarchy has it at a level, the other quasi-identifiers suppressed."""
    counts = table.count(QUASI)
    hierarchy = MARITAL.hierarchy(counts.column("age"))
    assert hierarchy is not None
    columns = [[c.texts[k] for k in codes] for c, codes in zip(counts.columns, counts.codes, strict=True)]
    age = [hierarchy.levels[level][k] for k in counts.codes[0]]
    stars = [["*"] * len(age)] * 3
    names = [*(f"by{i}" for i in range(4)), *(f"to{i}" for i in range(4)), "n"]
    recoding = Recoding(QUASI, QUASI, pa.table([*columns, age, *stars, counts.n.tolist()], names=names))
    return Release(table=table.recode(recoding), original=table, recoding=recoding)


@pytest.fixture(scope="module")
def four_ranges(adult: Table) -> Release:
    return by_age(adult, 1)


@pytest.fixture(scope="module")
def two_ranges(adult: Table) -> Release:
    return by_age(adult, 2)


def test_rows_and_columns(adult: Table) -> None:
    assert adult.rows == 30162
    assert len(adult.columns) == 9


@pytest.mark.parametrize(("column", "key"), [("marital-status", "adult_H_marital"), ("salary-class", "adult_H_salary")])
def test_entropy(adult: Table, golden: dict[str, Any], column: str, key: str) -> None:
    roles = Roles(quasi=("sex",), sensitive=(column,))
    sensitive = Release(table=adult).evidence(roles).classes(column).sensitive
    assert sensitive is not None
    assert sensitive.entropy == pytest.approx(golden["bezzi"][key]["value"], abs=1e-12)


def test_l_max_is_the_diversity_of_the_whole_table(adult: Table, golden: dict[str, Any]) -> None:
    everything = by_age(adult, 3)  # age is * as well
    score = sf.entropy_l_diversity(everything, MARITAL)
    assert len(score.per_class) == 1
    assert score.value == pytest.approx(golden["bezzi"]["adult_l_max"]["value"], abs=1e-12)
    assert score.value * 2**-0.55 == pytest.approx(golden["bezzi"]["adult_l_t_for_0.55"]["value"], abs=1e-12)
    assert sf.information_loss(everything, MARITAL).value == pytest.approx(1, abs=1e-12)


def test_information_of_the_full_quasi_identifiers(adult: Table, golden: dict[str, Any]) -> None:
    found = sf.mutual_information(Release(table=adult), MARITAL).value
    assert found == pytest.approx(golden["bezzi"]["adult_I_full_QI"]["value"], abs=1e-12)


def test_information_of_the_exact_age(adult: Table) -> None:
    """What makes the paper's 0.34 impossible: no grouping of ages tells more than the ages (eq. 4)."""
    found = sf.mutual_information(Release(table=adult), Roles(quasi=("age",), sensitive=("marital-status",))).value
    assert found == pytest.approx(0.3357, abs=5e-5)


def test_two_ranges(two_ranges: Release, golden: dict[str, Any]) -> None:
    bezzi = golden["bezzi"]
    assert two_ranges.evidence(MARITAL).tuples.column("age").texts == ["<50", ">=50"]
    assert sf.mutual_information(two_ranges, MARITAL).value == pytest.approx(bezzi["adult_A2_I"]["value"], abs=1e-12)
    assert sf.information_loss(two_ranges, MARITAL).value == pytest.approx(bezzi["adult_A2_loss"]["value"], abs=1e-12)
    # sec. 4: this release meets l = 2.7 and t = 0.55, in bits
    assert sf.entropy_l_diversity.at_least(2.7).check(two_ranges, MARITAL).met
    assert sf.one_symbol_i1.at_most(0.55).check(two_ranges, MARITAL).met


def test_four_ranges(four_ranges: Release, golden: dict[str, Any]) -> None:
    labels = four_ranges.evidence(MARITAL).tuples.column("age").texts
    order = [labels.index(label) for label in ("<25", "[25,50)", "[50,75)", ">=75")]
    for name, metric in (("I1", sf.one_symbol_i1), ("I2", sf.one_symbol_i2)):
        per_class = metric(four_ranges, MARITAL).per_class
        assert per_class[order] == pytest.approx(golden["bezzi"][f"adult_A1_{name}"]["value"], abs=5.1e-7)
    # the averages hold, but [0,25) and [75,100] break t, and [0,25) breaks l
    assert sf.mutual_information.at_most(0.55).check(four_ranges, MARITAL).met
    i1, l = (m(four_ranges, MARITAL).per_class[order] for m in (sf.one_symbol_i1, sf.entropy_l_diversity))
    assert (i1 > 0.55).tolist() == [True, False, False, True]
    assert (l < 2.7).tolist() == [True, False, False, False]


def test_all_nine_columns(adult: Table, golden: dict[str, Any]) -> None:
    verified = golden["outside_the_papers"]["adult_9_columns_as_QI"]
    roles = Roles(quasi=adult.columns)
    published = Release(table=adult)
    score = sf.k_anonymity(published, roles)
    size = score.per_class
    assert len(size) == verified["classes"]
    assert score.value == 1
    assert score.details["worst_classes"] == score.details["worst_rows"] == verified["uniques"]
    assert adult.unique_rows(adult.columns) == (verified["uniques"], verified["classes"])
    for k, rows in verified["rows_below_k"].items():
        assert size[size < int(k)].sum() == rows
    risk = sf.marketer_risk(published, roles).value
    assert risk == pytest.approx(verified["average_prosecutor_risk"], abs=1e-12)
    assert np.average(sf.prosecutor_risk(published, roles).per_class, weights=size) == pytest.approx(risk, abs=1e-12)


def test_seven_quasi_identifiers_and_occupation(adult: Table) -> None:
    """PEERS.md, "Adult raw, seven QIs": numbers of other programs."""
    roles = Roles(quasi=SEVEN, sensitive=("occupation",))
    published = Release(table=adult)
    score = sf.k_anonymity(published, roles)
    assert len(score.per_class) == 11089
    assert score.details["worst_rows"] == 7653
    sensitive = published.evidence(roles).classes("occupation").sensitive
    assert sensitive is not None
    assert sensitive.entropy == pytest.approx(3.3966, abs=5e-5)
    assert sensitive.prior.max() == pytest.approx(0.1339, abs=5e-5)
    assert sf.mutual_information(published, roles).value == pytest.approx(1.9075, abs=5e-5)
    assert sf.marketer_risk(published, roles).value == pytest.approx(0.36765, abs=5e-6)
    assert sf.discernibility(published, roles).value == 615_044
