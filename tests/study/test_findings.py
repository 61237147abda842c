"""What documents tell besides the scores: counted right, masked, kept, and made once."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.attacks.linkage import LookedUp
from sfumato.core.outcome import Outcome
from sfumato.core.release import Release
from sfumato.inspect import changes
from sfumato.inspect.default_metrics import halves
from sfumato.metrics import metric, require
from sfumato.study import findings as module
from sfumato.study.findings import MASK, findings, riskiest, sizes
from sfumato.study.study import Candidate, Study, grid

ROLES = sf.Roles(quasi=("age", "town", "job"), sensitive=("ill",), identifiers=("name",), source="roles.toml")
SECRETS = ("Quixotic", "Zanzibar77", "Smith88", "Kuru5561")


def columns(rows: int = 200) -> dict[str, Any]:
    rng = np.random.default_rng(4)
    return {
        "name": [f"Quixotic{i}" for i in range(rows)],
        "age": rng.integers(20, 60, rows).astype(str),
        "town": rng.choice(["Zanzibar77", "Timbuktu88", "Vaduz99"], rows),
        "job": rng.choice(["Smith88", "Baker", "Clerk", "Cook"], rows),
        "ill": rng.choice(["Kuru5561", "Yaws", "Ague"], rows),
    }


def study(**more: Any) -> Study:
    given: dict[str, Any] = {
        "table": sf.read(pa.table(columns())),
        "roles": ROLES,
        "candidates": grid(["mondrian k=4"]),
        "measures": (metric("k_anonymity"),),
    }
    return Study(**{**given, **more})


def brute(rows: list[tuple[str, ...]], most: int) -> list[tuple[float, int]]:
    """For each record its SUDA score and how many minimal uniques it has."""
    width, found = len(rows[0]), []
    for row in rows:
        minimal: list[tuple[int, ...]] = []
        for size in range(1, most + 1):
            for at in itertools.combinations(range(width), size):
                same = sum(all(other[i] == row[i] for i in at) for other in rows)
                if same == 1 and not any(set(part) <= set(at) for part in minimal):
                    minimal.append(at)
        worth = {
            size: float(np.prod([max(width - i, 1) for i in range(size, most + 1)])) for size in range(1, most + 1)
        }
        found.append((sum(worth[len(part)] for part in minimal), len(minimal)))
    return found


def test_the_riskiest_are_those_of_a_count_by_hand() -> None:
    table = columns(120)
    rows = list(zip(table["age"], table["town"], table["job"], strict=True))
    expected = sorted((pair for pair in brute(rows, 3) if pair[0] > 0), reverse=True)[:10]
    found = riskiest(sf.read(pa.table(table)), ROLES, reveal=True)
    assert found.by == "score"
    assert [each.score for each in found.each] == [score for score, _ in expected]
    assert Counter(each.ways for each in found.each) <= Counter(ways for _, ways in brute(rows, 3))
    for each in found.each:
        at = [ROLES.quasi.index(name) for name in each.columns]
        assert sum(tuple(row[i] for i in at) == tuple(each.values) for row in rows) == 1


def test_where_nobody_is_alone_the_rarest_come_first() -> None:
    table = pa.table({"age": ["1"] * 5 + ["2"] * 2, "town": ["a"] * 7, "job": ["b"] * 7, "ill": ["x"] * 7})
    found = riskiest(sf.read(table), ROLES)
    assert found.by == "frequency"
    assert [each.rows for each in found.each] == [2, 5]
    assert found.each[0].values == (MASK,) * 3


def test_of_a_person_with_several_rows_one_stands_out_once() -> None:
    table = pa.table({"age": ["1", "1", "2", "2"], "town": ["a"] * 4, "job": ["b"] * 4, "id": ["p", "q", "r", "r"]})
    roles = sf.Roles(quasi=("age", "town", "job"), person="id")
    found = riskiest(sf.read(table), roles)
    assert [(each.columns, each.ways) for each in found.each] == [(("age",), 1)]  # r, by two rows


def test_sizes_before_and_after() -> None:
    found = findings(study().run(refine=0))
    rows = list(zip(*(columns()[name] for name in ROLES.quasi), strict=True))
    classes = Counter(rows)
    assert found.before.classes == len(classes)
    assert found.before.alone == sum(n == 1 for n in classes.values())
    assert found.before.below["3"] == sum(n for n in classes.values() if n < 3)
    assert found.before.marketer == pytest.approx(len(classes) / len(rows))
    after = found.release.after
    assert after.smallest >= 4
    assert after.alone == 0
    assert after.prosecutor <= 0.25


def test_one_class_has_the_least_risk() -> None:
    table = sf.read(pa.table({"age": ["*"] * 8, "town": ["*"] * 8, "job": ["*"] * 8, "ill": ["x"] * 8}))
    found = sizes(Release(table=table).evidence(ROLES))
    assert (found.classes, found.prosecutor, found.marketer) == (1, 1 / 8, 1 / 8)


def test_what_became_of_each_column() -> None:
    found = findings(study().run(refine=0)).release.columns
    how = {each.name: each.how for each in found}
    assert how["name"] == "removed"
    assert how["ill"] == "unchanged"
    assert how["age"] == "generalized"
    for each in found:
        if each.share:
            assert sum(each.share.values()) == pytest.approx(1)


def test_suppressed_rows_are_counted() -> None:
    held = study(
        candidates=grid(["generalize_full_domain k=4 suppression=1.0"]), require=(require("k_anonymity >= 4"),)
    )
    result = held.run(refine=0)
    release = result.release(0)
    found = findings(result).release.suppressed
    assert found.left_out == 200 - release.table.rows
    assert 0 <= found.share <= 1


def test_three_tests_with_baseline_and_control() -> None:
    found = findings(study().run(seed=2, refine=0)).release
    assert set(found.wp29) == {"singling_out", "linkability", "inference(ill)"}
    for attack in found.wp29.values():
        assert attack.success.low <= attack.success.value <= attack.success.high
        assert attack.baseline is not None
    assert (found.held_out.inside, found.held_out.outside) == (100, 100)
    assert all(attack.control is not None for attack in found.held_out.each.values())


def test_two_sources_share_the_columns() -> None:
    table = sf.read(pa.table(columns()))
    one, two = halves(ROLES, table, table.columns)
    assert sorted(one + two) == sorted(ROLES.quasi)
    assert one
    assert two


def test_nothing_kept_holds_a_value(tmp_path: Path) -> None:
    result = study().run(cache=tmp_path, refine=0)
    shown = str(asdict(findings(result, reveal=True).riskiest))
    assert any(secret in shown for secret in SECRETS)
    for file in tmp_path.iterdir():
        text = file.read_text(encoding="utf-8")
        assert not any(secret in text for secret in SECRETS), file.name
    assert not any(secret in str(asdict(findings(result))) for secret in SECRETS)


def test_it_is_found_once_and_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = findings(study().run(cache=tmp_path, refine=0))
    monkeypatch.setattr(module, "_measured", lambda result: pytest.fail("it was made again"))
    again = findings(study().run(cache=tmp_path, refine=0))
    assert again == first
    assert again.release is not None
    looked_up = again.release.linkage[0]
    assert isinstance(looked_up, Outcome)
    assert isinstance(looked_up.details, LookedUp)
    assert looked_up.details.found is None


def test_another_seed_is_another_name(tmp_path: Path) -> None:
    findings(study().run(cache=tmp_path, seed=1, refine=0))
    before = len(list(tmp_path.iterdir()))
    findings(study().run(cache=tmp_path, seed=2, refine=0))
    assert len(list(tmp_path.iterdir())) == before + 2  # scores and findings


def test_without_a_recommendation_only_the_table_is_told() -> None:
    found = findings(study(require=(require("k_anonymity >= 190"),)).run(refine=0))
    assert found.release is None
    assert found.before.rows == 200


def test_a_release_from_elsewhere_has_no_control() -> None:
    made = columns()
    original = sf.read(pa.table(made))
    theirs = pa.table({**{name: ["*"] * 200 for name in ROLES.quasi}, "ill": made["ill"]})
    held = study(
        table=original,
        candidates=(
            Candidate("theirs", release=Release(table=sf.read(theirs), original=original, pairing="position")),
        ),
    )
    found = findings(held.run(refine=0)).release
    assert "made elsewhere" in found.held_out
    assert {each.how for each in found.columns if each.role == "quasi"} == {"suppressed"}
    assert found.suppressed.blank == 200
    assert found.linkage[-1].success.value == pytest.approx(1 / 200)


def test_perturbed_columns_have_no_classes() -> None:
    held = study(
        candidates=grid(["rank_swapping columns=age p=10"]),
        risk=metric("linkage_distance_risk"),
        utility=metric("column_distance"),
        measures=(),
    )
    found = findings(held.run(seed=1, refine=0)).release
    assert "perturbed" in found.after
    assert {each.name: each.how for each in found.columns}["age"] == "perturbed"


def test_small_groups_are_mined_where_there_is_a_field() -> None:
    """The first sensitive column unless a measure of mining names another; the report shows the decline with its interval."""
    from sfumato.report.internal import internal
    from sfumato.report.markdown import written

    result = study().run(refine=0)
    groups = findings(result).release.subgroups
    assert groups.field == result.study.roles.sensitive[0]
    mined = [group.mined for group in groups.groups.groups if group.mined is not None]
    assert mined
    for each in mined:
        low, high = each.interval
        assert low is None or low <= each.decline <= high
    assert "mining loss" in written(internal(result))


def test_a_mask_that_one_value_fits_is_not_that_value() -> None:
    """Each area has one code in this table, and yet 021** is coarser than 02139; 30.0 is 30 in another spelling."""
    original = sf.read({"zip": ["02139", "10001", "60614", "60614"], "age": [30, 40, 50, 60]})
    released = sf.read({"zip": ["021**", "100**", "*", "60614"], "age": [30.0, 40.0, 50.0, 60.5]})
    roles = sf.Roles(quasi=("zip", "age"), hierarchies={"zip": {"prefix": [2, 3]}})
    zips, ages = changes.columns(Release(table=released, original=original), roles)
    assert zips.share == {"same": 0.25, "suppressed": 0.25, "replaced": 0.0, "generalized": 0.5}
    assert zips.how == "generalized"
    assert ages.share["same"] == 0.75
