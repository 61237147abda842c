"""`sfumato explain`: words of the glossary beside the cards."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sfumato.report.glossary import WORDS

Run = Callable[..., Any]


def test_a_word_is_explained(run: Run) -> None:
    assert run("explain", "knee").fine().out.strip() == f"knee: {WORDS['knee']}"
    assert run("explain", "Quasi-Identifiers", "--json").fine().json == {
        "word": "quasi-identifier",
        "means": WORDS["quasi-identifier"],
    }
    assert set(run("explain", "--json").fine().json["words"]) == set(WORDS)


def test_a_metric_comes_before_a_word(run: Run) -> None:
    """`k-anonymity` is a word, `k_anonymity` a metric."""
    assert "means" in run("explain", "k-anonymity", "--json").fine().json
    card = run("explain", "k_anonymity", "--json").fine().json
    assert card["name"] == "k_anonymity"
    assert "all quasi-identifiers" in card["adversary"]
    assert "adversary" not in run("explain", "iloss", "--json").fine().json
    assert run("explain", "t_closeness[equal]", "--json").fine().json["name"] == "t_closeness"
