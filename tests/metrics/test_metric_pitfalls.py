"""What other programs get wrong (PEERS.md), and the corners of a table: each is a test here."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd
import pytest

import sfumato as sf
from house import Make
from sfumato.core.errors import Unavailable
from sfumato.core.metric import Metric
from sfumato.core.release import Release
from sfumato.core.roles import Roles

ROLES = Roles(quasi=("q",), sensitive=("s",))
EVERY = [variant for metric in sf.registry().values() for variant in metric.variants()]


def exactly(value: Any) -> Any:
    return pytest.approx(value, rel=1e-12, abs=1e-12)


def scores(published: Release, roles: Roles = ROLES) -> dict[str, float]:
    found, _ = sf.measure(published, roles)
    return {name: score.value for name, (_, score) in found.items()}


# --- wrong answers of pyCANON ----------------------------------------------------------------------------------------


def test_entropy_l_is_not_truncated(release: Make) -> None:
    two = release({"q": ["a"] * 4, "s": ["x", "x", "y", "y"]})
    assert sf.entropy_l_diversity(two, ROLES).value == exactly(2)  # int(2^0.999...) is 1
    skewed = release({"q": ["a"] * 4, "s": ["x", "x", "x", "y"]})
    assert sf.entropy_l_diversity(skewed, ROLES).value == exactly(2 ** (2 - 0.75 * math.log2(3)))


@pytest.mark.parametrize("missing", [None, ""])
def test_rows_with_a_missing_quasi_identifier_are_counted(release: Make, missing: str | None) -> None:
    published = release({"q": ["a", "a", missing], "s": ["x", "y", "x"]})
    assert sf.k_anonymity(published, ROLES).value == 1
    assert sf.marketer_risk(published, ROLES).value == exactly(2 / 3)
    assert sf.discernibility(published, ROLES).value == 5
    assert sf.distinct_l_diversity(published, ROLES).per_class.tolist() == [2, 1]


@pytest.mark.parametrize("labels", ["shuffled", "text", "repeated"])
def test_index_labels_are_not_positions(labels: str) -> None:
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"q": rng.integers(0, 6, 200).astype(str), "s": rng.integers(0, 9, 200)})
    index = {"shuffled": rng.permutation(200), "text": [f"r{i}" for i in range(200)], "repeated": [7] * 200}[labels]
    moved = frame.set_axis(index, axis=0).sample(frac=1, random_state=1)
    plain = scores(Release(table=sf.read(frame)))
    assert {"t_closeness[ordered]", "entropy_l_diversity"} <= set(plain)
    assert scores(Release(table=sf.read(moved))) == exactly(plain)
    assert sf.read(moved).columns == ("q", "s"), "the index must not become a column"


@pytest.mark.parametrize("value", ["same", "5", 5, 5.0, None])
def test_a_constant_sensitive_column(release: Make, value: object) -> None:
    columns = {"q": ["a", "a", "b"], "s": [value] * 3}
    found = scores(release(columns, columns, pairing="position"))
    for text in ("t_closeness[ordered]", "t_closeness[equal]", "distribution_leakage", "entropy_leakage", "one_symbol_i1", "one_symbol_i2", "mutual_information"):  # fmt: skip
        assert found[text] == 0, text
    assert found["distinct_l_diversity"] == found["entropy_l_diversity"] == 1


def test_the_mean_risk_is_over_rows_not_over_classes(release: Make) -> None:
    published = release({"q": ["a"] + ["b"] * 9, "s": ["x"] * 10})
    assert sf.marketer_risk(published, ROLES).value == exactly(2 / 10)  # over classes it would be (1 + 1/9)/2


def test_values_absent_from_a_class_count(release: Make) -> None:
    """A value that a class lacks moves the belief as much as one that it has too often."""
    columns = {"q": ["a"] * 2 + ["b"] * 6, "s": ["x", "y", "x", "y", "z", "z", "z", "z"]}
    prior, first = np.array([2, 2, 4]) / 8, np.array([1, 1, 0]) / 2
    published = release(columns)
    assert sf.distribution_leakage(published, ROLES).per_class[0] == exactly(np.sqrt(((prior - first) ** 2).sum()))
    assert sf.t_closeness(ground="equal")(published, ROLES).per_class[0] == exactly(np.abs(prior - first).sum() / 2)


# --- 32-bit counts, the fault of ARX ---------------------------------------------------------------------------------


def test_billions_of_rows(weighted: Any) -> None:
    columns = {"q": ["a", "a", "b", "b", "b", "c"], "s": ["1", "2", "1", "2", "3", "3"]}
    small, times = [2, 1, 3, 5, 1, 4], 3_000_000_000
    few = scores(Release(table=weighted(columns, small)))
    many = scores(Release(table=weighted(columns, [n * times for n in small])))
    for text in ("k_anonymity", "average_class_size"):
        assert many[text] == few[text] * times
    for text in ("t_closeness[ordered]", "t_closeness[equal]", "distribution_leakage", "entropy_leakage", "entropy_l_diversity", "distinct_l_diversity", "one_symbol_i1", "one_symbol_i2", "mutual_information"):  # fmt: skip
        assert many[text] == pytest.approx(few[text], rel=1e-9), text
    assert many["prosecutor_risk"] == exactly(few["prosecutor_risk"] / times)
    assert many["discernibility"] == pytest.approx(few["discernibility"] * float(times) ** 2)


# --- missing sensitive values ----------------------------------------------------------------------------------------


def test_a_missing_sensitive_value_is_one_of_the_values(release: Make) -> None:
    published = release({"q": ["a"] * 4, "s": ["x", None, "", "y"]})
    assert sf.distinct_l_diversity(published, ROLES).value == 3
    assert sf.entropy_l_diversity(published, ROLES).value == exactly(2**1.5)


def test_a_missing_sensitive_value_stands_last_in_the_order(release: Make) -> None:
    ordered = sf.t_closeness(ground="ordered")
    given = {"q": ["a", "b", "b", "b"], "s": [None, 1, 2, 3]}
    spelled = {"q": ["a", "b", "b", "b"], "s": [4, 1, 2, 3]}
    assert ordered(release(given), ROLES).per_class == exactly(ordered(release(spelled), ROLES).per_class)


# --- no order, a stated order ----------------------------------------------------------------------------------------

GRADES = {"q": ["a", "a", "b", "b"], "s": ["low", "mid", "high", "mid"]}


def test_texts_have_no_order_of_their_own(release: Make, refusal: Callable[..., str]) -> None:
    refusal(Unavailable, lambda: sf.t_closeness(ground="ordered")(release(GRADES), ROLES), "'s'", "[orders]")


def test_a_stated_order_is_used(release: Make) -> None:
    ordered = sf.t_closeness(ground="ordered")
    stated = Roles(quasi=("q",), sensitive=("s",), orders={"s": ("low", "mid", "high")})
    numbers = {**GRADES, "s": ["1", "2", "3", "2"]}
    assert ordered(release(GRADES), stated).value == exactly(ordered(release(numbers), ROLES).value)
    other = Roles(quasi=("q",), sensitive=("s",), orders={"s": ("mid", "low", "high")})
    assert ordered(release(GRADES), other).value != pytest.approx(ordered(release(GRADES), stated).value)


def test_a_stated_order_beats_the_numbers(release: Make) -> None:
    columns = {"q": ["a", "a", "b", "b", "b"], "s": ["1", "1", "2", "3", "3"]}
    stated = Roles(quasi=("q",), sensitive=("s",), orders={"s": ("2", "1", "3")})
    by_number = {"q": columns["q"], "s": ["2", "2", "1", "3", "3"]}
    ordered = sf.t_closeness(ground="ordered")
    assert ordered(release(columns), stated).value == exactly(ordered(release(by_number), ROLES).value)


def test_an_order_that_lacks_a_value_says_so(release: Make, refusal: Callable[..., str]) -> None:
    """The owner did state an order: to be told to state one helps nobody."""
    short = Roles(quasi=("q",), sensitive=("s",), orders={"s": ("low", "mid")})
    text = refusal(Unavailable, lambda: sf.t_closeness(ground="ordered")(release(GRADES), short), "'s'")
    assert "neither numbers nor dates" not in text


def test_numbers_are_ordered_as_numbers(release: Make) -> None:
    ordered = sf.t_closeness(ground="ordered")
    texts = {"q": ["a", "b", "b"], "s": ["9", "10", "100"]}
    assert ordered(release(texts), ROLES).per_class == exactly([(2 / 3 + 1 / 3) / 2, (1 / 3 + 1 / 6) / 2])


@pytest.mark.parametrize("values", [["E11", "I10", "J45"], ["A1", "B2", "C3"], ["rm12", "ab7", "x9"]])
def test_codes_are_no_quantities(release: Make, refusal: Callable[..., str], values: list[str]) -> None:
    """ICD codes share no unit: their digits order nothing."""
    published = release({"q": ["a", "a", "b"], "s": values})
    refusal(Unavailable, lambda: sf.t_closeness(ground="ordered")(published, ROLES), "'s'")


# --- several sensitive columns ---------------------------------------------------------------------------------------

SEVERAL = {
    "q": ["a", "a", "a", "b", "b", "b"],
    "s": ["1", "2", "3", "1", "2", "3"],
    "w": ["x", "x", "x", "y", "y", "x"],
}
BOTH = Roles(quasi=("q",), sensitive=("s", "w"))
TREES = {name: sf.Hierarchy.of(name, [(v, "*") for v in sorted(set(SEVERAL[name]))]) for name in ("s", "w")}
# with tests of their own: one asks of a column with the others known, one needs each row's guarding node
APART = ("multi_attribute_l_diversity", "personalized_breach")
ONE_BY_ONE = [
    m.set(rho1=0.5)
    if m.card.name == "transfer_of_information"
    else m.set(l=0, k=0)
    if m.card.name == "privacy_skyline"
    else m  # no value of this table is as rare as its default, and who knows more than the classes is certain here
    for m in EVERY
    if "sensitive" in m.card.needs and m.card.name not in APART
]


@pytest.mark.parametrize("metric", ONE_BY_ONE, ids=str)
@pytest.mark.parametrize("order", [("s", "w"), ("w", "s")])
def test_the_worst_sensitive_column_counts(release: Make, metric: Metric, order: tuple[str, str]) -> None:
    columns = SEVERAL
    if "original" in metric.card.needs:
        columns = {**SEVERAL, "q": ["*"] * 3 + ["b"] * 3}
    published = release(columns, original={**SEVERAL, "q": list("abcdef")})
    roles = Roles(quasi=("q",), sensitive=order, hierarchies=TREES)
    each = {name: metric.on(name)(published, roles).value for name in order}
    worst = (min if metric.card.better == "higher" else max)(each.values())
    score = metric(published, roles)
    assert score.value == worst
    assert each[score.details["column"]] == worst
    assert each["s"] != each["w"], "the case must tell the columns apart"


def test_one_of_several_sensitive_columns(release: Make) -> None:
    published = release(SEVERAL)
    assert sf.metric("distinct_l_diversity(s)")(published, BOTH).value == 3
    assert sf.metric("distinct_l_diversity(w)")(published, BOTH).value == 1
    assert sf.distinct_l_diversity(published, BOTH).details["column"] == "w"


def test_without_a_sensitive_column_it_is_unavailable(release: Make, refusal: Callable[..., str]) -> None:
    published, roles = release(SEVERAL), Roles(quasi=("q",))
    refusal(Unavailable, lambda: sf.distinct_l_diversity(published, roles), "sensitive")
    assert sf.k_anonymity(published, roles).value == 3
    _, skipped = sf.measure(published, roles)
    assert {"distinct_l_diversity", "t_closeness[equal]"} <= set(skipped)


def test_a_quasi_identifier_cannot_be_asked_as_sensitive(release: Make, refusal: Callable[..., str]) -> None:
    refusal(Unavailable, lambda: sf.metric("distinct_l_diversity(q)")(release(SEVERAL), BOTH), "'q'")


# --- people and rows -------------------------------------------------------------------------------------------------


def test_people_are_counted_where_the_release_has_a_person_column(release: Make) -> None:
    columns = {
        "q": ["a", "a", "a", "b", "b", "c", "c"],
        "s": ["x", "y", "x", "x", "y", "x", "y"],
        "id": ["1", "1", "2", "3", "4", "5", "5"],
    }
    published = release(columns)
    roles = Roles(quasi=("q",), sensitive=("s",), person="id")
    assert sf.k_anonymity(published, roles).per_class.tolist() == [2, 2, 1]
    assert sf.prosecutor_risk(published, roles).per_class.tolist() == [0.5, 0.5, 1]
    assert sf.marketer_risk(published, roles).value == exactly((3 / 2 + 2 / 2 + 2) / 7)  # rows, not people
    assert sf.k_anonymity(published, ROLES).per_class.tolist() == [3, 2, 2]
    assert sf.discernibility(published, roles).value == 9 + 4 + 4, "rows, not people, are told apart"


def test_a_person_column_that_is_not_released_changes_nothing(release: Make) -> None:
    published = release({"q": ["a", "a", "b"], "s": ["x", "y", "x"]})
    roles = Roles(quasi=("q",), sensitive=("s",), person="id")
    assert sf.k_anonymity(published, roles).per_class.tolist() == [2, 1]


# --- nothing to measure ----------------------------------------------------------------------------------------------

EMPTY: Mapping[str, Any] = {"q": pd.Series([], dtype="str"), "s": pd.Series([], dtype="str")}


@pytest.mark.parametrize("metric", [m for m in EVERY if m.card.about == "privacy"], ids=str)
def test_a_release_without_rows_has_no_privacy_to_measure(
    release: Make, refusal: Callable[..., str], metric: Metric
) -> None:
    """Zero risk for an empty file is not a finding: each says that there is nothing to measure."""
    refusal(Unavailable, lambda: metric(release(EMPTY, {"q": ["a"], "s": ["x"]}), ROLES), "no rows")


@pytest.mark.parametrize("metric", [m for m in EVERY if m.card.about == "utility"], ids=str)
def test_a_release_without_rows_never_crashes(release: Make, metric: Metric) -> None:
    for original in (EMPTY, {"q": ["a", "b"], "s": ["x", "y"]}):
        try:
            value = metric(release(EMPTY, original), ROLES).value
        except sf.SfumatoError:
            continue
        assert metric.card.bounds[0] <= value <= metric.card.bounds[1]


def test_no_quasi_identifiers_is_a_clear_refusal(release: Make, refusal: Callable[..., str]) -> None:
    refusal(Unavailable, lambda: sf.k_anonymity(release(SEVERAL), Roles(sensitive=("s",))), "quasi")


# --- large integers --------------------------------------------------------------------------------------------------


def test_integers_beyond_the_exact_floats(release: Make) -> None:
    """Account numbers and hashes are 64-bit integers; they must be counted like any other value."""
    values = [2**53 + 1, 2**53 + 2, 2**62, 7]
    published = release({"q": ["a", "a", "b", "b"], "s": values})
    assert sf.k_anonymity(published, ROLES).value == 2
    assert sf.distinct_l_diversity(published, ROLES).value == 2
    assert sf.t_closeness(ground="equal")(published, ROLES).value == exactly(1 / 2)
    assert sf.t_closeness(ground="ordered")(published, ROLES).value == exactly((1 / 4 + 1 / 4) / 3)
