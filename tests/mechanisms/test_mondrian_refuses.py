"""What Mondrian will not do, and in which words: before any row is touched, and never with a value of the table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from mondrian_tables import TAXONOMY, made

import sfumato as sf
from sfumato.core.errors import Infeasible, InputError, SfumatoError, Unavailable
from sfumato.mechanisms import mechanism, registry
from sfumato.metrics import require
from sfumato.publishing import publish

CANARY = "Quixotic7741"


def refused(kind: type[SfumatoError], match: str) -> Any:
    return pytest.raises(kind, match=match)


@pytest.fixture
def table() -> Any:
    return made({"a": [1, 2, 3, 4], "b": [CANARY, "x", "y", "z"]}, list("uvuv"))


@pytest.mark.parametrize(
    ("wanted", "reached"),
    [
        ("k_anonymity >= 5", "4"),
        ("prosecutor_risk <= 0.2", "0.25"),
        ("distinct_l_diversity >= 3", "2"),
        ("entropy_l_diversity >= 2.1", "2"),
        ("one_symbol_i2 <= -0.1", "0"),
    ],
)
@pytest.mark.parametrize("mode", ["strict", "relaxed"])
def test_what_the_whole_table_misses_is_infeasible_with_what_it_reaches(
    table: Any, wanted: str, reached: str, mode: Any
) -> None:
    with refused(Infeasible, "even the whole table as a single class") as caught:
        sf.Mondrian(mode=mode, require=(require(wanted),))(table.table, table.roles)
    text = str(caught.value)
    assert wanted in text
    assert f"reaches {reached}." in text
    assert CANARY not in text


def test_t_closeness_0_is_one_class_where_the_table_is_one() -> None:
    """A requirement that only the whole table meets is met by the whole table."""
    table = made({"a": [1, 2, 3, 4]}, list("uvwx"))
    release = sf.Mondrian(require=(require("t_closeness[equal] <= 0"),))(table.table, table.roles)
    assert release.table.count(("a",)).n.tolist() == [4]


def test_infeasible_writes_nothing(table: Any, tmp_path: Path) -> None:
    wanted = (require("k_anonymity >= 5"),)
    with refused(Infeasible, "k_anonymity >= 5"):
        publish(sf.Mondrian(require=wanted)(table.table, table.roles), table.roles, wanted, tmp_path / "out.csv")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "wanted",
    ["mutual_information_leak <= 0.5", "iloss <= 0.5", "discernibility <= 9", "rarest_combination[size=1] >= 5"],
)
def test_a_requirement_on_the_whole_table_is_refused_by_the_constructor(wanted: str) -> None:
    with refused(InputError, "whole table") as caught:
        sf.Mondrian(k=2, require=(require(wanted),))
    assert wanted in str(caught.value)


@pytest.mark.parametrize("k", [0, -3])
def test_k_below_1_is_refused(k: int) -> None:
    with refused(InputError, "k must be at least 1"):
        sf.Mondrian(k=k)


@pytest.mark.parametrize("k", ["5", 2.5, float("nan")], ids=str)
def test_a_k_that_is_no_whole_number_is_refused(k: Any) -> None:
    with refused(InputError, "k"):
        sf.Mondrian(k=k)


@pytest.mark.parametrize("wrong", [{"mode": "relaxd"}, {"bounds": "cut"}, {"choose": "x"}, {"mode": ""}], ids=str)
def test_a_mode_or_bounds_that_do_not_exist_are_refused(wrong: dict[str, Any]) -> None:
    """A misspelled mode must not silently be another one."""
    with refused(InputError, "must be one of"):
        sf.Mondrian(k=2, **wrong)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"k": "abc"}, "k must be a whole number"),
        ({"k": "2.5"}, "k must be a whole number"),
        ({"k": ""}, "k must be a whole number"),
        ({"k": "0"}, "k must be at least 1"),
        ({"mode": "relaxd"}, "mode must be one of strict, relaxed"),
        ({"bounds": "cut"}, "bounds must be one of data, cuts"),
        ({"choose": "narrow"}, "choose must be one of loss, width"),
        ({"l": "3"}, "no parameter 'l'; it takes k, mode"),
        ({"require": "k_anonymity >= 2"}, "no parameter 'require'"),
    ],
)
def test_settings_from_texts(settings: dict[str, str], words: str) -> None:
    with refused(InputError, words):
        sf.Mondrian.of(settings)


def test_settings_from_texts_give_the_same_mechanism() -> None:
    assert sf.Mondrian.of({"k": "5", "mode": "relaxed", "bounds": "cuts"}) == sf.Mondrian(
        k=5, mode="relaxed", bounds="cuts"
    )
    assert sf.Mondrian.of({}) == sf.Mondrian()


def test_requirements_it_cannot_steer_by_are_left_to_the_one_who_publishes() -> None:
    steer, check = require("k_anonymity >= 3"), require("iloss <= 0.5")
    made_of_both = sf.Mondrian.of({}, (steer, check))
    assert made_of_both.promises == (steer,)
    assert made_of_both.honours(steer)
    assert not made_of_both.honours(check)


def test_k_is_a_promise_like_the_others() -> None:
    wanted = require("distinct_l_diversity >= 2")
    assert [str(r) for r in sf.Mondrian(k=3, require=(wanted,)).promises] == [
        "k_anonymity >= 3",
        "distinct_l_diversity >= 2",
    ]


def test_nothing_to_meet_is_refused(table: Any) -> None:
    with refused(InputError, "needs something to meet"):
        sf.Mondrian()(table.table, table.roles)


def test_no_quasi_identifier_is_refused(table: Any) -> None:
    with refused(InputError, "names no quasi-identifier"):
        sf.Mondrian(k=2)(table.table, sf.Roles(sensitive=("s",), source="my.toml"))


@pytest.mark.parametrize("kind", ["identifiers", "quasi", "sensitive", "insensitive"])
def test_a_column_that_is_not_there_is_refused_with_its_role(table: Any, kind: str) -> None:
    roles = sf.Roles(**{"quasi": ("a",), kind: ("nowhere",)}, source="my.toml")
    with refused(InputError, f"'nowhere'.*my.toml names in {kind}"):
        sf.Mondrian(k=2)(table.table, roles)


def test_a_requirement_without_a_sensitive_column_is_refused(table: Any) -> None:
    mondrian = sf.Mondrian(require=(require("distinct_l_diversity >= 2"),))
    with refused(InputError, "needs a sensitive column; my.toml names none"):
        mondrian(table.table, sf.Roles(quasi=("a",), source="my.toml"))


def test_a_requirement_on_a_quasi_identifier_is_refused(table: Any) -> None:
    mondrian = sf.Mondrian(require=(require("distinct_l_diversity(a) >= 2"),))
    with refused(InputError, "column 'a' is a quasi-identifier"):
        mondrian(table.table, table.roles)


def test_a_requirement_on_a_column_that_is_not_there_is_refused(table: Any) -> None:
    mondrian = sf.Mondrian(require=(require("distinct_l_diversity(nowhere) >= 2"),))
    with refused(InputError, "column 'nowhere' is neither sensitive nor insensitive"):
        mondrian(table.table, table.roles)


def test_an_order_that_nobody_stated_is_refused() -> None:
    table = made({"a": [1, 2, 3, 4]}, list("uvwx"))
    mondrian = sf.Mondrian(require=(require("t_closeness[ordered] <= 0.2"),))
    with refused(Unavailable, r"order of the values of 's'.*\[orders\]"):
        mondrian(table.table, table.roles)


def test_a_person_with_several_rows_is_refused() -> None:
    columns = {"who": [1, 2, 3, 3], "a": [1, 2, 3, 4]}
    with refused(InputError, "some people have several rows"):
        sf.Mondrian(k=2)(sf.read(pa.table(columns)), sf.Roles(quasi=("a",), person="who"))
    columns["who"] = [1, 2, 3, 4]
    assert sf.Mondrian(k=2)(sf.read(pa.table(columns)), sf.Roles(quasi=("a",), person="who")).table.columns == ("a",)


def test_a_table_without_rows_is_refused() -> None:
    with refused(InputError, "has no rows"):
        sf.Mondrian(k=1)(sf.read(pa.table({"a": pa.array([], pa.int64())})), sf.Roles(quasi=("a",)))


def test_values_that_a_taxonomy_lacks_are_refused_without_naming_them() -> None:
    table = made({"q": ["cook", CANARY, "smith", "maid"]}, hierarchies={"q": sf.Hierarchy.of("q", TAXONOMY)})
    with refused(InputError, "1 of the values in column 'q' have no line") as caught:
        sf.Mondrian(k=2)(table.table, table.roles)
    assert CANARY not in str(caught.value)


def test_mechanisms_are_found_by_name_and_near_misses_are_named() -> None:
    assert mechanism("mondrian") is sf.Mondrian
    assert registry()["mondrian"] is sf.Mondrian
    with refused(InputError, "did you mean 'mondrian'"):
        mechanism("mondrain")
    with refused(InputError, "there are .*mondrian"):
        mechanism("zzz")


@pytest.mark.parametrize("name", sorted(registry()))
def test_every_mechanism_says_what_it_is(name: str) -> None:
    card = registry()[name].card
    assert card.name == name
    for text in (card.title, card.promise, card.against, card.cost, card.source):
        assert text.strip()
        assert "anonymous" not in text.lower()
    fields = {
        field for field in registry()[name].__dataclass_fields__ if field not in ("require", "population", "card")
    }
    assert set(card.parameters) == fields
