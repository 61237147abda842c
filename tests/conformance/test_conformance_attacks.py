"""What every registered attack must keep: a whole card, a baseline, bounds, the seed, an untouched input, and the extremes."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.attacks import registry
from sfumato.core.attack import Attack
from sfumato.core.outcome import Outcome, worst
from sfumato.core.release import Release
from sfumato.core.roles import Roles
from sfumato.core.table import Table

NAMES = list(registry())
ROLES = Roles(quasi=("age", "zip"), sensitive=("ill",))
N = 40
PEOPLE = {
    "age": list(range(20, 20 + N)),
    "zip": [1000 + 7 * i for i in range(N)],
    "ill": [i * 3 % 17 for i in range(N)],
}
HIDDEN = {name: ["*"] * N for name in PEOPLE}


def table(columns: dict[str, list[Any]]) -> Table:
    return sf.read(pa.table({name: pa.array(map(str, values)) for name, values in columns.items()}))


def published(columns: dict[str, list[Any]], original: Table) -> Release:
    return Release(table=table(columns), original=original, pairing="position", population=original)


def played(attack: Attack[Any], release: Release, original: Table, roles: Roles = ROLES) -> Outcome:
    """With all that an attack may need, of what it takes."""
    given = {
        "population": original,
        "previous": release,
        "mechanism": sf.Mondrian(k=2),
        "attacks": 60,
        "runs": 50,
        "seed": 3,
        "by": "order",
    }
    return attack(release, roles, **{name: value for name, value in given.items() if name in attack.takes})


@pytest.fixture(scope="module")
def original() -> Table:
    return table(PEOPLE)


@pytest.fixture(scope="module")
def mondrian(original: Table) -> Release:
    release = sf.Mondrian(k=2)(original, ROLES)
    return Release(table=release.table, original=original, pairing="position", population=original, made_by="mondrian")


@pytest.mark.parametrize("name", NAMES)
def test_the_card_says_everything(name: str) -> None:
    attack = registry()[name]
    card = attack.card
    assert card.name == name
    for text in (card.title, card.question, card.how, card.knows, card.effort, card.source, card.misleads):
        assert text.strip()
    assert card.question.endswith("?")
    assert not card.knows.endswith(".")
    assert not card.effort.endswith(".")
    assert "Extremes:" in card.definition
    for word in ("baseline", "control"):
        assert word in card.definition or "control" not in attack.takes
    assert all(meaning.endswith(".") for meaning in attack.takes.values())
    sentences = {card.sentence(value) for value in (0.0, 0.001, 0.5, 1.0)}
    assert len(sentences) > 1
    assert all(sentence.endswith(".") for sentence in sentences)


@pytest.mark.parametrize("name", NAMES)
def test_the_outcome_keeps_its_bounds_and_has_a_baseline(name: str, mondrian: Release, original: Table) -> None:
    attack = registry()[name]
    outcome = played(attack, mondrian, original)
    assert (outcome.name, outcome.sentence != "") == (name, True)
    assert outcome.baseline is not None
    for rate in (outcome.success, outcome.baseline):
        assert 0 <= rate.low <= rate.value + 1e-12
        assert rate.value <= rate.high + 1e-12
        assert rate.high <= 1
    assert 0 <= outcome.fell <= outcome.attacked + 1e-9
    assert outcome.success.value == pytest.approx(outcome.fell / outcome.attacked if outcome.attacked else 0)
    assert outcome.as_dict()["verdict"] in ("works", "general", "fails", "inconclusive")


@pytest.mark.parametrize("name", NAMES)
def test_the_same_seed_says_the_same_and_the_input_is_untouched(name: str, mondrian: Release, original: Table) -> None:
    before = (mondrian.table.digest(), original.digest())
    attack = registry()[name]
    first = played(attack, mondrian, original)
    again = Release(table=mondrian.table, original=original, pairing="position", population=original)
    assert played(attack, again, original) == first
    assert (mondrian.table.digest(), original.digest()) == before


@pytest.mark.parametrize("name", [name for name in NAMES if "mechanism" not in registry()[name].card.needs])
def test_what_is_suppressed_tells_nothing_above_the_baseline(name: str, original: Table) -> None:
    outcome = played(registry()[name], published(HIDDEN, original), original)
    assert outcome.above <= 1e-9
    assert outcome.worked is not True


@pytest.mark.parametrize("name", [name for name in NAMES if "mechanism" not in registry()[name].card.needs])
def test_the_raw_table_gives_everybody_away(name: str, original: Table) -> None:
    outcome = played(registry()[name], published(PEOPLE, original), original)
    assert outcome.attacked
    assert outcome.success.value == pytest.approx(1)


@pytest.mark.parametrize("name", [name for name in NAMES if "mechanism" not in registry()[name].card.needs])
def test_several_sensitive_columns_are_attacked_in_turn(name: str, original: Table) -> None:
    attack, release = registry()[name], published(PEOPLE, original)
    two = Roles(quasi=("age",), sensitive=("ill", "zip"))
    if "sensitive" not in attack.takes:
        assert attack.columns(two) == (None,)
        return
    outcomes = [played(attack.on(column), release, original, roles=two) for column in ("ill", "zip")]
    assert [outcome.column for outcome in outcomes] == ["ill", "zip"]
    assert played(attack, release, original, roles=two) == worst(outcomes)
