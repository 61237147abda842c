"""What `sfumato explain` and the page say of a name: every card in full, without the marks of code."""

from __future__ import annotations

import re

import pytest

from sfumato import attacks, mechanisms, metrics
from sfumato.core.errors import InputError
from sfumato.report.explanation import card_dict, explanation

NAMES = {**metrics.registry(), **mechanisms.registry(), **attacks.registry()}


@pytest.mark.parametrize("name", NAMES)
def test_every_card_is_explained(name: str) -> None:
    title, content = explanation(name)
    assert title == NAMES[name].card.title
    assert re.search(r"(19|20)\d\d", content["source"])
    for key, text in content.items():
        assert text.strip(), key
        assert "`" not in text, key


def test_a_metric_says_what_its_card_says() -> None:
    _, content = explanation("k_anonymity")
    assert content["how to read it"].startswith("About the risk of a release; higher is better.")
    assert "the adversary" in content
    assert "the adversary" not in explanation("iloss")[1], "a loss has no adversary"


def test_parameters_and_columns_of_a_name_do_not_matter() -> None:
    assert explanation("t_closeness[ordered](salary)") == explanation("t_closeness")


def test_a_mechanism_says_its_promise_and_its_parameters() -> None:
    _, content = explanation("mondrian")
    card = mechanisms.mechanism("mondrian").card
    assert (content["promise"], content["cost"]) == (card.promise, card.cost)
    assert content["k"] == card.parameters["k"]


def test_a_word_is_explained_and_another_refused() -> None:
    assert set(explanation("knee")[1]) == {"means"}
    with pytest.raises(InputError, match="Nothing of this name"):
        explanation("no such thing")


def test_a_card_as_data_says_which_way_is_better() -> None:
    content = card_dict(metrics.registry()["k_anonymity"].card)
    assert (content["about"], content["better"]) == ("privacy", "higher")
    assert str(content["monotone"]).startswith("yes")
