"""What stands behind the metrics: counted once, checked, and the same whatever was asked before."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import sfumato as sf
from sfumato.core.errors import InputError, Unavailable
from sfumato.core.release import Release
from sfumato.core.roles import Roles

ORIGINAL = {"q": ["1", "2", "3", "4"], "s": ["a", "b", "a", "b"], "w": ["x", "x", "y", "y"]}
PUBLISHED = {**ORIGINAL, "q": ["[1,2]", "[1,2]", "[3,4]", "[3,4]"]}
ROLES = Roles(quasi=("q",), sensitive=("s",))


def test_the_classes_are_those_of_the_release_whatever_was_asked_first(release: Callable[..., Release]) -> None:
    """Measuring what was lost looks at the original; k must not be the original's afterwards."""
    published = release(PUBLISHED, ORIGINAL)
    scores, _ = sf.measure(published, ROLES, [sf.information_loss, sf.k_anonymity, sf.discernibility, sf.iloss])
    assert scores["k_anonymity"][1].value == 2
    assert scores["discernibility"][1].value == 8
    assert scores["iloss"][1].value == pytest.approx(1 / 4)


def test_one_evidence_per_roles(release: Callable[..., Release]) -> None:
    published = release(PUBLISHED)
    other = Roles(quasi=("w",), sensitive=("s",))
    assert published.evidence(ROLES) is published.evidence(ROLES)
    assert sf.k_anonymity(published, ROLES).value == 2
    assert published.evidence(other).tuples.names == ("w",)


def test_a_scan_serves_all_class_metrics(release: Callable[..., Release], monkeypatch: pytest.MonkeyPatch) -> None:
    published = release(PUBLISHED)
    scanned: list[tuple[str, ...]] = []
    real = type(published.table).scan
    monkeypatch.setattr(type(published.table), "scan", lambda self, by: scanned.append(tuple(by)) or real(self, by))
    sf.measure(published, ROLES)
    assert scanned == [("q", "s"), ("s", "w")]  # the second for the columns that no requirement limits


def test_size_metrics_need_no_sensitive_column_in_the_file(release: Callable[..., Release]) -> None:
    """A release may leave out a sensitive column; its classes are there all the same."""
    roles = Roles(quasi=("q",), sensitive=("s", "w"))
    for columns in (("q",), ("q", "s"), ("q", "w")):
        published = release({name: PUBLISHED[name] for name in columns})
        assert sf.k_anonymity(published, roles).value == 2, columns


def test_columns_that_are_not_there_are_named(release: Callable[..., Release], refusal: Callable[..., str]) -> None:
    published = release({"q": ["a"], "s": ["x"]})
    refusal(InputError, lambda: sf.k_anonymity(published, Roles(quasi=("qq",))), "'qq'", "'q'")
    missing = Roles(quasi=("q",), sensitive=("salary",))
    refusal(InputError, lambda: sf.distinct_l_diversity(published, missing), "'salary'", "sensitive")
    refusal(Unavailable, lambda: sf.metric("distinct_l_diversity(z)")(published, ROLES), "'z'")


def test_what_needs_the_original_says_so(release: Callable[..., Release], refusal: Callable[..., str]) -> None:
    for metric in (sf.iloss, sf.information_loss):
        refusal(Unavailable, lambda m=metric: m(release(PUBLISHED), ROLES), metric.card.name, "--original")
    unpaired = release(PUBLISHED, ORIGINAL)
    refusal(Unavailable, lambda: sf.minimal_distortion(unpaired, ROLES), "--pair")


def test_values_that_stand_for_nothing_known(
    release: Callable[..., Release], refusal: Callable[..., str], canary: str
) -> None:
    published = release({**PUBLISHED, "q": ["1", "2", canary, "other"]}, ORIGINAL)
    refusal(Unavailable, lambda: sf.iloss(published, ROLES), "iloss", "2 released values", "'q'")


def test_the_taxonomy_is_the_domain_even_without_the_original(release: Callable[..., Release], tmp_path: Any) -> None:
    (tmp_path / "h.csv").write_text("1;low;*\n2;low;*\n3;high;*\n4;high;*\n", encoding="utf-8")
    roles = Roles(quasi=("q",), sensitive=("s",), hierarchies={"q": "h.csv"}, folder=tmp_path)
    published = release({"q": ["low", "high", "*", "3"], "s": ["a"] * 4})
    assert sf.iloss(published, roles).value == pytest.approx((1 / 4 + 1 / 4 + 3 / 4 + 0) / 4)


def test_rows_cannot_be_paired_by_position_where_some_are_gone(
    release: Callable[..., Release], refusal: Callable[..., str]
) -> None:
    fewer = {name: values[:3] for name, values in PUBLISHED.items()}
    published = release(fewer, ORIGINAL, pairing="position")
    refusal(InputError, lambda: sf.minimal_distortion(published, ROLES), "3", "4", "position")


def test_rows_that_find_no_partner_are_not_unchanged_rows(release: Callable[..., Release]) -> None:
    """Keys that agree nowhere compare nothing; to report that nothing was changed would be false."""
    original = {**ORIGINAL, "id": ["1", "2", "3", "4"]}
    strangers = release({**PUBLISHED, "id": ["5", "6", "7", "8"]}, original, pairing="key:id")
    with pytest.raises(sf.SfumatoError, match="id"):
        sf.minimal_distortion(strangers, ROLES)
    fewer = release({name: values[:3] for name, values in {**PUBLISHED, "id": original["id"]}.items()}, original, pairing="key:id")  # fmt: skip
    assert sf.minimal_distortion(fewer, ROLES).value == 1, "rows of the original may be gone"


def test_all_weights_zero(release: Callable[..., Release], refusal: Callable[..., str]) -> None:
    roles = Roles(quasi=("q",), sensitive=("s",), weights={"q": 0}, source="my roles")
    refusal(Unavailable, lambda: sf.iloss(release(PUBLISHED, ORIGINAL), roles), "my roles", "0")


# --- a population ----------------------------------------------------------------------------------------------------


def test_every_notation_is_matched_with_the_population(release: Callable[..., Release]) -> None:
    people = {"age": [str(a) for a in range(20, 40)] * 2, "zip": ["47605", "47678"] * 20}
    published = release({"age": ["[20,30)", "3*", "25"], "zip": ["476**", "47605", "*"]}, population=people)
    score = sf.journalist_risk(published, Roles(quasi=("age", "zip")))
    # by label: 25 with any zip is 2 people; 3* with 47605 the even ages, 10 people; [20,30) with 476** is 20
    found = dict(
        zip(published.evidence(Roles(quasi=("age", "zip"))).tuples.columns[0].texts, score.per_class, strict=True)
    )
    assert found == pytest.approx({"25": 1 / 2, "3*": 1 / 10, "[20,30)": 1 / 20})


def test_masks_of_short_codes_match_the_population(release: Callable[..., Release]) -> None:
    """The prefix ladder writes 476_* for the code 476 among longer ones."""
    people = {"zip": ["476"] * 4 + ["47678"] * 2}
    published = release({"zip": ["476_*", "4767*"]}, population=people)
    score = sf.journalist_risk(published, Roles(quasi=("zip",)))
    assert sorted(score.per_class) == pytest.approx([1 / 4, 1 / 2])
