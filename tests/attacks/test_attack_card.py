"""An attack as a noun: parameters from texts, several sensitive columns in turn, and the library's names."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

import sfumato as sf
from sfumato.attacks import attack, registry, wp29_tests
from sfumato.attacks.homogeneity import homogeneity
from sfumato.core.errors import InputError
from sfumato.core.outcome import Outcome, Rate, worst
from sfumato.core.roles import Roles

TWO = Roles(quasi=("q",), sensitive=("mixed", "same"))
COLUMNS = {"q": ["1", "1", "2", "2"], "mixed": ["a", "b", "a", "b"], "same": ["x", "x", "y", "y"]}


def test_each_sensitive_column_is_attacked_and_the_worst_counts(release: Any) -> None:
    published = release(COLUMNS)
    assert homogeneity(published, TWO).column == "same"
    assert homogeneity(published, TWO).fell == 4
    assert homogeneity(published, TWO, sensitive="mixed").fell == 0
    assert homogeneity.on("mixed")(published, TWO).fell == 0
    turned = Roles(quasi=("q",), sensitive=("same", "mixed"))
    assert homogeneity(published, turned) == homogeneity(published, TWO)
    assert homogeneity(release=published, roles=TWO) == homogeneity(published, TWO)
    assert attack("skewness")(published, TWO).column == "same"


def test_an_outcome_names_the_column_that_was_attacked_although_the_attack_does_not(release: Any) -> None:
    def silent(release: Any, roles: Roles, *, sensitive: str | None = None) -> Outcome:
        return Outcome(attacked=4, fell=1, success=Rate.of(1, 4), baseline=Rate.of(0, 4))

    published = release(COLUMNS)
    assert dataclasses.replace(homogeneity, play=silent).on("mixed")(published, TWO).column == "mixed"
    assert dataclasses.replace(homogeneity, play=silent)(published, TWO).column == "mixed"


def test_an_outcome_that_works_is_worse_than_a_larger_one_that_does_not() -> None:
    def outcome(fell: int, base: int) -> Outcome:
        return Outcome(attacked=100, fell=fell, success=Rate.of(fell, 100), baseline=Rate.of(base, 100))

    works, larger, further = outcome(30, 5), outcome(90, 90), outcome(60, 5)
    assert worst([larger, works]) is works
    assert worst([works, further, larger]) is further
    assert worst([outcome(5, 5), larger]) is larger  # neither works: the larger success


def test_parameters_come_from_texts_by_their_types(release: Any) -> None:
    published = release(COLUMNS)
    half = attack("homogeneity[share=0.5](mixed)")
    assert dict(half.settings) == {"share": 0.5, "sensitive": "mixed"}
    assert half(published, TWO) == homogeneity(published, TWO, share=0.5, sensitive="mixed")
    assert attack("homogeneity[dont_care=x|y]").settings["dont_care"] == frozenset({"x", "y"})
    assert attack("linkability[first=a|b,second=c]").settings == {"first": ("a", "b"), "second": ("c",)}
    assert attack("similarity[by=order,level=2]").settings == {"by": "order", "level": 2}
    assert attack('homogeneity("a (b)")').settings == {"sensitive": "a (b)"}
    with pytest.raises(InputError, match="by must be one of taxonomy, order"):
        attack("similarity[by=chance]")


def test_the_library_has_every_attack_by_name() -> None:
    for name, each in registry().items():
        assert getattr(sf, name) is each
        assert name in dir(sf)
    assert repr(homogeneity) == "Attack(homogeneity)"


def test_the_opinion_asks_three_questions_in_its_order() -> None:
    assert [each.card.name for each in wp29_tests()] == ["singling_out", "linkability", "inference"]


def test_metrics_of_attacks_have_the_attacks_words() -> None:
    for each in registry().values():
        for metric in each.metrics:
            assert metric is getattr(sf, metric.card.name)
            if metric.card.name != "m_invariance":  # asks of the releases what composition asks of the people in them
                assert metric.card.question == each.card.question
                assert metric.card.misleads == each.card.misleads
