"""No sentence of a card is false for a value it can be shown with: its numbers, its absolute words, its order, its grammar."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sentence_checks import CLAIMS, check_true, numbers, sweep

import sfumato as sf
from sfumato.core import words
from sfumato.core.metric import Metric
from sfumato.metrics import registry


def test_every_metric_has_its_claim() -> None:
    assert set(CLAIMS) == set(registry())


@pytest.mark.parametrize("name", CLAIMS)
def test_sentences_are_true_over_the_range(name: str) -> None:
    base = registry()[name]
    for metric in base.variants() or [base]:
        assert len(sweep(metric)) > 20
        check_true(metric)


@pytest.mark.parametrize("name", CLAIMS)
def test_sentences_are_true_between_the_edges(name: str) -> None:
    metric = registry()[name]
    low, high = (max(metric.card.bounds[0], -40.0), min(metric.card.bounds[1], 40.0))
    check_true(metric, [low + (high - low) * i / 293 for i in range(294)])


def wrong(name: str, sentence: Callable[[float], str]) -> Metric:
    metric = registry()[name]
    return dataclasses.replace(metric, card=dataclasses.replace(metric.card, sentence=sentence))


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        # an upper bound that is rounded down, a lower one up, a count up
        ("uninformative_difference", lambda v: f"It is at most {v:.3g}." if v > 0 else "No change."),
        ("delta_presence_min", lambda v: f"It is at least {v:.3g}." if v > 0 else "Somebody is out."),
        ("isolation", lambda v: f"There are at least {v:,.0f} of them." if v >= 2 else "One is alone."),
        # nearly all people shown as all, hardly any as none
        ("knowledge_gain", lambda v: f"On average {100 * v:.3g}%." if v > 0 else "No change."),
        ("knowledge_gain", lambda v: f"On average {100 * v:.2f}%." if v > 0 else "No change."),
        # the wrong unit, an absolute word that no value makes true, a number at an extreme, none elsewhere
        ("knowledge_gain", lambda v: f"On average {words.percent(v / 100)}." if v > 0 else "No change."),
        ("knowledge_gain", lambda v: f"For everybody it is {words.percent(v)}." if v > 0 else "No change."),
        ("knowledge_gain", lambda v: f"On average {words.percent(v)}."),
        ("knowledge_gain", lambda v: "It is some." if v > 0 else "No change."),
        # grammar
        ("mutual_information", lambda v: f"It tells {words.about(v)} bits." if v > 0 else "It tells nothing."),
        ("mutual_information", lambda v: f"It tells {words.about(v)} bit." if v > 0 else "It tells nothing."),
    ],
)
def test_false_sentences_are_found(name: str, sentence: Callable[[float], str]) -> None:
    with pytest.raises(AssertionError):
        check_true(wrong(name, sentence))


SHARES = st.one_of(st.floats(0, 1), st.fractions(0, 1, max_denominator=10**6).map(float))


@given(x=st.one_of(SHARES, st.floats(1, 1e9)), digits=st.integers(1, 6))
def test_bounds_are_rounded_away_from_the_claim(x: float, digits: int) -> None:
    above, below = (float(of(x, digits).replace(",", "")) for of in (words.up, words.down))
    assert below * (1 - 1e-11) <= x <= above * (1 + 1e-11)
    assert above <= max(x * (1 + 10.0 ** (1 - digits)) * (1 + 1e-9), 1e-9)
    assert below >= x * (1 - 10.0 ** (1 - digits)) * (1 - 1e-9)


@given(a=SHARES, b=SHARES)
def test_more_never_reads_as_less(a: float, b: float) -> None:
    a, b = min(a, b), max(a, b)
    for of in (words.up, words.down, words.about, words.percent, words.percent_up, words.bits):
        (first,), (second,) = (numbers(of(x)) for x in (a, b))
        assert first.key <= second.key


@given(x=SHARES)
def test_a_share_reads_as_none_or_all_only_if_it_is(x: float) -> None:
    assert (words.percent(x) == "0%") == (x == 0)
    assert (words.percent(x) == "100%") == (x == 1)


def test_numbers_in_words() -> None:
    assert [words.up(1 / k) for k in (1, 3, 5, 14)] == ["1", "0.334", "0.2", "0.0715"]
    assert words.up(0.30000000000000004) == "0.3"  # noise of floating point is not more
    assert words.up(0.99996, short_of=1) == "0.99996"
    assert words.down(1.00004, beyond=1) == "1.00004"
    assert words.about(123456.0) == "123,000"
    assert words.percent(0.9996) == "more than 99.9%"
    assert words.percent(4e-7) == "less than 0.0001%"
    assert words.bits(1.0) == "1 bit"
    assert [words.counted(n, "class", "classes") for n in (0, 1, 1200)] == ["0 classes", "1 class", "1,200 classes"]
    assert [words.whole(x) for x in (4.0, 5 - 1e-12, 4.9)] == [4, 5, 4]


@pytest.mark.parametrize("k", [2, 3, 6, 7, 14, 15, 300])
def test_a_risk_of_one_in_k_is_never_printed_below_it(k: int) -> None:
    for metric in (sf.prosecutor_risk, sf.journalist_risk):
        (printed,) = numbers(metric.sentence(1 / k))
        assert Fraction(str(printed.value)) >= Fraction(1, k)
