"""Every registered metric, in every variant, through every check; and metrics made wrong, which must not get through.

A new metric is tested here before its own test is written.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import metric_checks as checks
import numpy as np
import pytest

import sfumato as sf
from sfumato.core.classes import Classes
from sfumato.core.metric import Metric, measure
from sfumato.core.release import Evidence
from sfumato.core.table import Table

EVERY = [checks.asked(variant) for metric in sf.registry().values() for variant in metric.variants()]
CASES = [checks.random_case(seed) for seed in range(3)]
MERGES = [pair for seed in range(6) for pair in checks.merges(seed)]
PARTS = [checks.random_parts(seed) for seed in range(150)]
every_metric = pytest.mark.parametrize("metric", EVERY, ids=str)
every_case = pytest.mark.parametrize("case", CASES, ids=[f"case{i}" for i in range(len(CASES))])


@pytest.fixture(scope="session")
def light(weighted: Any) -> Callable[[dict[str, Any]], Table]:
    """A table that counts in memory: merging many classes many times needs no engine."""

    def make(columns: dict[str, Any]) -> Table:
        lists = {n: list(v) if isinstance(v, list) else v.to_pylist() for n, v in columns.items()}
        return weighted(lists, [1] * len(next(iter(lists.values()))))

    return make


# --- the registry ----------------------------------------------------------------------------------------------------


def test_the_registry_is_not_empty() -> None:
    assert {"k_anonymity", "t_closeness", "iloss"} <= set(sf.registry())
    assert len(EVERY) > len({variant.card.name for variant in EVERY})  # t-closeness has three grounds
    assert all(name == metric.card.name for name, metric in sf.registry().items())
    assert len({str(variant) for variant in EVERY}) == len(EVERY)


@every_metric
def test_card(metric: Metric) -> None:
    checks.check_card(metric)


@every_metric
def test_sentences(metric: Metric) -> None:
    checks.check_sentences(metric)


@every_metric
def test_round_trip(metric: Metric) -> None:
    checks.check_round_trip(metric)
    assert sf.metric(str(metric)) == metric


@every_metric
@every_case
def test_bounds(metric: Metric, case: checks.Case, table: Any) -> None:
    for each in (case, checks.identity(case), checks.suppressed(case)):
        checks.check_bounds(metric, each, table)


@every_metric
@every_case
def test_worst_class(metric: Metric, case: checks.Case, table: Any) -> None:
    checks.check_worst_class(metric, case, table)


@every_metric
@every_case
def test_direction(metric: Metric, case: checks.Case, table: Any) -> None:
    checks.check_direction(metric, case, table)


@every_metric
@every_case
def test_row_order(metric: Metric, case: checks.Case, table: Any) -> None:
    checks.check_row_order(metric, case, table)


@every_metric
@every_case
def test_labels(metric: Metric, case: checks.Case, table: Any) -> None:
    checks.check_labels(metric, case, table)


@every_metric
@every_case
def test_weights(metric: Metric, case: checks.Case, table: Any, weighted: Any) -> None:
    checks.check_weights(metric, case, table, weighted)


@every_metric
@every_case
def test_missing(metric: Metric, case: checks.Case, table: Any) -> None:
    checks.check_missing(metric, case, table)


@every_metric
def test_monotone(metric: Metric, light: Any) -> None:
    checks.check_monotone(metric, MERGES, light)


@every_metric
def test_inherited(metric: Metric) -> None:
    checks.check_inherited(metric, PARTS)


@every_metric
def test_alone(metric: Metric) -> None:
    checks.check_alone(metric, PARTS)


@every_metric
@every_case
def test_costs(metric: Metric, case: checks.Case, table: Any) -> None:
    checks.check_costs(metric, case, table)


@every_metric
def test_convex(metric: Metric) -> None:
    checks.check_convex(metric, PARTS)


def test_some_metrics_claim_more_than_monotone() -> None:
    """The checks above are about something, and the word of a card depends on its parameters."""
    assert {m.card.name for m in EVERY if m.inherited} >= {"k_anonymity", "distinct_l_diversity", "prosecutor_risk"}
    assert {str(m) for m in EVERY if m.convex} >= {"t_closeness[equal]", "t_closeness[ordered]", "one_symbol_i1"}
    assert not sf.distinct_l_diversity(dont_care="1").inherited
    assert not sf.beta_likeness(kind="enhanced").convex


@pytest.mark.full
@every_metric
def test_order_of_questions(metric: Metric, table: Any) -> None:
    checks.check_order_of_questions(metric, CASES[1], table, EVERY)


def test_the_cases_hold_what_they_should() -> None:
    """A check on the checks: missing values in every column, merged values, and both kinds of release."""
    for case in CASES:
        for at in range(3):
            assert any(row[at] < 0 for row in case.rows)
    assert any(case.merged[0] for case in CASES)
    assert any(case.merged[1] for case in CASES)
    assert {case.population for case in CASES} == {True, False}


# --- wrong on purpose ------------------------------------------------------------------------------------------------

GIVEN: dict[str, Any] = {
    "title": "wrong",
    "question": "Is it wrong?",
    "about": "privacy",
    "better": "lower",
    "unit": "bits",
    "bounds": (0, 1),
    "monotone": False,
    "source": "Nobody 2024",
    "sentence": lambda value: f"It is {value:.3g}.",
    "misleads": "Always.",
}


def wrong(kernel: Callable[..., Any], **card: Any) -> Metric:
    """A metric that claims what is not so; apart from that one claim it is complete."""
    kernel.__doc__ = "Wrong on purpose."
    return measure(**{**GIVEN, **card})(kernel)


def altered(metric: Metric, **card: Any) -> Metric:
    return dataclasses.replace(metric, card=dataclasses.replace(metric.card, **card))


def beyond(classes: Classes) -> Any:
    return 1.0 + classes.size


def first_row(evidence: Evidence, column: None) -> float:
    return {"ash": 0.1, "birch": 0.2}.get(evidence.release.table.head(1)["p"][0], 0.5)


def alphabet(evidence: Evidence, column: None) -> float:
    return len(evidence.tuples.column("p").texts[0] or "") / 100


def tuples_seen(evidence: Evidence, column: None) -> float:
    table: Any = evidence.release.table
    return len(getattr(table, "data", {"p": []})["p"]) / 1000


def empty_texts(evidence: Evidence, column: None) -> float:
    sql = evidence.release.table.sql  # type: ignore[attr-defined]
    from sfumato.engines import duckdb

    return float(duckdb.run(f"SELECT count(*) FROM ({sql}) WHERE p IS NULL", "x")[0][0]) / 1000


def questions_asked(evidence: Evidence, column: None) -> float:
    asked: list[int] = evidence.derived("asked", list)
    asked.append(1)
    return len(asked) / 10


def steep(classes: Classes) -> Any:
    """Monotone, as the distance itself is, but not convex: its root rises steeply at first."""
    return np.sqrt(sf.t_closeness(ground="equal").per_class(classes))


def every(check: Callable[..., None], metric: Metric, table: Any) -> None:
    for case in CASES:
        check(metric, case, table)


class TestAWrongMetricDoesNotGetThrough:
    def test_out_of_bounds(self, table: Any) -> None:
        with pytest.raises(AssertionError, match="not within"):
            checks.check_bounds(wrong(beyond), CASES[0], table)

    def test_not_the_worst_class(self, table: Any) -> None:
        kind = wrong(lambda evidence, column: sf.Score(0.5, "bits", per_class=np.array([0.1, 0.2])), scope="table")
        with pytest.raises(AssertionError):
            checks.check_worst_class(kind, CASES[0], table)

    @pytest.mark.parametrize("name", ["k_anonymity", "mutual_information", "iloss"])
    def test_the_other_direction(self, table: Any, name: str) -> None:
        metric = sf.registry()[name]
        other = altered(metric, better="lower" if metric.card.better == "higher" else "higher")
        with pytest.raises(AssertionError, match="is said to be better"):
            checks.check_direction(other, CASES[0], table)

    def test_the_other_side(self, table: Any) -> None:
        with pytest.raises(AssertionError, match="is said to be better"):
            checks.check_direction(altered(sf.k_anonymity, about="utility"), CASES[0], table)

    def test_it_looks_at_the_first_row(self, table: Any) -> None:
        with pytest.raises(AssertionError):
            every(checks.check_row_order, wrong(first_row, scope="table"), table)

    def test_it_looks_at_the_labels(self, table: Any) -> None:
        with pytest.raises(AssertionError):
            every(checks.check_labels, wrong(alphabet, scope="table"), table)

    def test_it_looks_at_tuples_instead_of_rows(self, table: Any, weighted: Any) -> None:
        with pytest.raises(AssertionError):
            checks.check_weights(wrong(tuples_seen, scope="table"), CASES[0], table, weighted)

    def test_it_takes_the_empty_text_for_a_value(self, table: Any) -> None:
        with pytest.raises(AssertionError):
            checks.check_missing(wrong(empty_texts, scope="table"), checks.identity(CASES[0]), table)

    def test_it_remembers_what_was_asked(self, table: Any) -> None:
        remembers = wrong(questions_asked, scope="table")
        with pytest.raises(AssertionError):
            checks.check_order_of_questions(remembers, CASES[0], table, [remembers])

    @pytest.mark.parametrize("metric", [sf.entropy_leakage, sf.average_class_size, sf.discernibility], ids=str)
    def test_monotone_only_by_its_own_word(self, light: Any, metric: Metric) -> None:
        with pytest.raises(AssertionError, match="after a merge"):
            checks.check_monotone(altered(metric, monotone=True), MERGES, light)

    @pytest.mark.parametrize(
        "metric",
        [
            sf.t_closeness(ground="equal"),
            sf.entropy_l_diversity,
            sf.recursive_diversity,
            sf.alpha_anonymity,
            sf.distinct_l_diversity(dont_care="1"),
            sf.vanishing_values,
        ],
        ids=str,
    )
    def test_inherited_only_by_its_own_word(self, metric: Metric) -> None:
        with pytest.raises(AssertionError, match="in a part and is"):
            checks.check_inherited(altered(metric, inherited=True), PARTS)

    @pytest.mark.parametrize(
        ("metric", "why"),
        [(wrong(steep, monotone=True), "more than the mean"), (sf.prosecutor_risk, "with the size of a class")],
        ids=str,
    )
    def test_convex_only_by_its_own_word(self, metric: Metric, why: str) -> None:
        with pytest.raises(AssertionError, match=why):
            checks.check_convex(altered(metric, convex=True), PARTS)

    @pytest.mark.parametrize(
        ("metric", "claim"),
        [
            (sf.k_anonymity, {"convex": True}),
            (sf.entropy_leakage, {"convex": True}),
            (sf.mutual_information, {"convex": True}),
            (sf.marketer_risk, {"inherited": True}),
        ],
        ids=str,
    )
    def test_claims_that_make_no_sense(self, metric: Metric, claim: dict[str, bool]) -> None:
        check = checks.check_convex if "convex" in claim else checks.check_inherited
        with pytest.raises(AssertionError):
            check(altered(metric, **claim), PARTS)

    @pytest.mark.parametrize(
        "card", [{"title": ""}, {"question": "Tell me."}, {"source": "somebody"}, {"misleads": " "}, {"bounds": (1, 0)}]
    )
    def test_an_incomplete_card(self, card: dict[str, Any]) -> None:
        checks.check_card(altered(sf.k_anonymity))
        with pytest.raises(AssertionError):
            checks.check_card(altered(sf.k_anonymity, **card))

    @pytest.mark.parametrize(
        "sentence",
        [
            lambda value: "",
            lambda value: "Everybody is safe.",
            lambda value: f"The table is {value:.0f}-times anonymous.",
            lambda value: "no sentence",
            lambda value: value,
            lambda value: "Fine." if value < 3 else f"It is {float('nan')}.",
        ],
    )
    def test_a_bad_sentence(self, sentence: Any) -> None:
        with pytest.raises(AssertionError):
            checks.check_sentences(altered(sf.k_anonymity, sentence=sentence))

    def test_a_name_that_cannot_be_read_back(self) -> None:
        with pytest.raises((AssertionError, sf.SfumatoError)):
            checks.check_round_trip(altered(sf.k_anonymity, name="k-anonymity"))
