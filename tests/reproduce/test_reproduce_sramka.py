"""Sramka et al. 2010 on a sample of Adult with quick miners: the whole way, and shapes that hold even there."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from sfumato.core.errors import InputError
from sfumato.mining.rows import align
from sfumato.reproduce.sramka import (
    EPSILON,
    FIELD,
    PRINTED,
    QUASI,
    WIDTHS,
    K,
    checks,
    releases,
    reproduce,
    years_within,
)
from sfumato.reproduce.tables import complete_rows, folder

ROOT = Path(__file__).parents[2]
DATA = ROOT.parent / "shared" / "data" / "adult"
needs_adult = pytest.mark.skipif(
    not (DATA / "adult_48842.csv").is_file(), reason="needs ../shared/data/adult, which a fresh clone lacks"
)


@needs_adult
def test_the_rows_of_the_paper() -> None:
    assert complete_rows(DATA, (*QUASI, FIELD)).rows == 45_222


@pytest.mark.full
@needs_adult
def test_no_age_stays_exact_and_classes_keep_their_k() -> None:
    import sfumato as sf

    (made, roles), (noised, _) = releases(DATA)
    assert list(made) == [f"k = {k}" for k in K]
    assert list(noised) == [f"eps = {e:g}" for e in EPSILON]
    for k, release in zip(K, made.values(), strict=True):
        assert sf.k_anonymity(release, roles).value >= k
        ages = release.table.count(("age",)).columns[0].texts
        ends = [tuple(map(int, str(age).split("-"))) for age in ages]
        assert all(last - first + 1 in WIDTHS and first % (last - first + 1) == 0 for first, last in ends)
        assert release.table.rows == 45_222
        sides = align(release, roles)
        assert sides.place is not None
        true = sides.original.numbers("age")
        assert true is not None
        low, high = (np.array(side)[sides.released.codes["age"]] for side in zip(*ends, strict=True))
        assert ((low <= true[sides.place]) & (true[sides.place] <= high)).all()


def test_ages_stand_in_the_smallest_interval_of_the_list() -> None:
    wanted = {(37, 37): "35-39", (35, 39): "35-39", (34, 35): "30-39", (29, 39): "20-39", (38, 41): "0-49", (45, 52): "40-59",
              (45, 61): "0-99", (50, 90): "50-99", (17, 90): "0-99"}  # fmt: skip
    assert {ages: years_within(*ages) for ages in wanted} == wanted


@pytest.mark.full
@needs_adult
def test_a_sample_goes_the_whole_way() -> None:
    found = reproduce(DATA, rows=1500, folds=2, miners="quick")
    assert len(found.mined) == 8
    seen = {check.text: check.holds for check in found.checks}
    assert seen["no exact disclosure where ages are intervals"]
    bad = found.mined["eps = 0.5"].bad
    assert bad is not None
    assert bad.aim("A").worst.value > 0.8 * 1500
    # a shape that does not come out is said
    worse = dict(found.mined)
    attacked = worse["k = 2"].bad
    assert attacked is not None
    exact = dataclasses.replace(attacked.aim("B"), worst=attacked.aim("A").baseline)
    aims = tuple(exact if aim.aim == "B" else aim for aim in attacked.aims)
    worse["k = 2"] = dataclasses.replace(worse["k = 2"], bad=dataclasses.replace(attacked, aims=aims))
    again = {check.text: check.holds for check in checks(worse, 1500)}
    assert not again["no exact disclosure where ages are intervals"]


def test_printed_tables_have_a_number_for_every_release() -> None:
    assert all(len(row) == 9 for row in PRINTED["good"].values())
    for name in ("average", "worst", "worst_miner"):
        assert all(len(row) == 8 for row in PRINTED[name].values())
    # Table 1's declines follow from its utilities: the largest of the three miners
    for i in range(8):
        declines = [100 * (1 - row[i + 1] / row[0]) for row in PRINTED["good"].values()]
        assert max(declines) == pytest.approx(PRINTED["decline"][i], abs=0.01)


def test_without_the_data_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"No adult_48842.csv in .*--data"):
        folder(tmp_path)
