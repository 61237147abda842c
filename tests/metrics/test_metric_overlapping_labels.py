"""Overlapping labels: extremes, each way to overlap, and a count of pairs of labels in plain Python."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.core.release import Release

ROLES = sf.Roles(quasi=("age",))
AGES = [20, 25, 28, 30, 35, 40]


def share(labels: list[str], ages: list[int] = AGES) -> float:
    original = sf.read(pa.table({"age": ages}))
    release = Release(table=sf.read(pa.table({"age": labels})), original=original)
    return sf.overlapping_labels(release, ROLES).value


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ([str(age) for age in AGES], 0),
        (["[20,30)"] * 3 + ["[30,41)"] * 3, 0),
        (["*"] * 6, 0),
        (["[20,35)"] * 3 + ["[28,41)"] * 3, 1),
        (["[20,30)", "[20,30)", "28", "[30,41)", "[30,41)", "[30,41)"], 3 / 6),  # a range and one of its members
        (["{20, 30}", "{25, 28}", "{25, 28}", "{20, 30}", "35", "40"], 0),  # sets without a value in common
        (["{20, 30}", "{20, 25}", "28", "{20, 30}", "35", "40"], 3 / 6),
        (["*", "25", "28", "30", "35", "40"], 0),  # suppressed, not overlapping
        (["[0,100)", "25", "28", "30", "35", "40"], 0),  # covers the column, which is the same
    ],
)
def test_ways_to_overlap(labels: list[str], expected: float) -> None:
    assert share(labels) == pytest.approx(expected)


def test_the_worst_column_counts_and_details_name_each() -> None:
    zips = ["1", "1", "2", "2", "3", "3"]
    original = sf.read(pa.table({"age": AGES, "zip": zips}))
    release = Release(
        table=sf.read(pa.table({"age": ["[20,35)"] * 3 + ["[28,41)"] * 3, "zip": zips})), original=original
    )
    score = sf.overlapping_labels(release, sf.Roles(quasi=("age", "zip")))
    assert score.details == {"worst": "age", "columns": {"age": 1.0, "zip": 0.0}}
    assert score.exactness == "exact"


def test_full_domain_never_overlaps_and_local_recoding_may() -> None:
    rng = np.random.default_rng(2)
    table = sf.read(pa.table({"age": rng.integers(20, 60, 300), "zip": rng.choice(["501", "502", "611", "612"], 300)}))
    roles = sf.Roles(quasi=("age", "zip"), hierarchies={"age": {"widths": [5, 10, 20]}, "zip": {"prefix": [1, 2]}})
    levels = sf.GeneralizeFullDomain(k=5, suppression=0.1)(table, roles)
    assert sf.overlapping_labels(levels, roles).value == 0
    assert sf.overlapping_labels(sf.Mondrian(k=5)(table, roles), roles).value > 0


@pytest.mark.parametrize("seed", range(20))
def test_a_count_of_pairs_in_plain_python_agrees(seed: int) -> None:
    rng = np.random.default_rng(seed)
    ages = rng.integers(0, 12, 30)
    members = [sorted({int(age), *rng.choice(ages, rng.integers(0, 4)).tolist()}) for age in ages]
    labels = ["{" + ", ".join(map(str, group)) + "}" if len(group) > 1 else str(group[0]) for group in members]
    domain = set(ages.tolist())
    covered = [set(group) & domain for group in members]
    tells = [values != domain for values in covered]
    hit = sum(
        tells[i] and any(labels[j] != labels[i] and tells[j] and covered[i] & covered[j] for j in range(30)) > 0
        for i in range(30)
    )
    assert share(labels, ages.tolist()) == pytest.approx(hit / 30)
