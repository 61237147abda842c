"""Cells that a spreadsheet would run: found, neutralised so that no two become equal, and given back."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.core.errors import InputError
from sfumato.core.formulas import apostrophes, formula_cells, neutralised_text, plain_text, runs
from sfumato.engines.formula_escapes import neutralised, plain

RUNNING = ["=1+1", "+31 6", "-", "@SUM(A1)", "\tx", "\r=1", "-1,5", "+", "-5-5", "=-5", "-5\n", "\n", "\n=1"]
QUIET = ["a", "-5", "+5.25", "-1e-3", "-.5", "+7.", "5=5", " =1", "'a", "''", "'"]
NATIVE = ["'=1+1", "''=1+1", "'-5", "''-5", "'@", "'+"]
TEXTS = st.text(alphabet="'=+-@\t\r\n5.ae ", max_size=6)


@pytest.mark.parametrize("text", RUNNING)
def test_what_runs_gets_an_apostrophe(text: str) -> None:
    assert runs(text)
    assert neutralised_text(text) == f"'{text}"


@pytest.mark.parametrize("text", QUIET)
def test_numbers_and_plain_texts_stay(text: str) -> None:
    assert not runs(text)
    assert neutralised_text(text) == plain_text(text) == text


@pytest.mark.parametrize("text", NATIVE)
def test_what_looks_neutralised_gets_one_more(text: str) -> None:
    assert neutralised_text(text) == f"'{text}"


@given(TEXTS, TEXTS)
@example("=1", "'=1")
@example("-5", "'-5")
def test_different_texts_stay_different_and_come_back(one: str, other: str) -> None:
    assert plain_text(neutralised_text(one)) == one
    assert not runs(neutralised_text(one))
    assert (neutralised_text(one) == neutralised_text(other)) == (one == other)


@given(st.lists(TEXTS, min_size=1, max_size=8))
@example([*RUNNING, *QUIET, *NATIVE])
def test_the_engine_does_the_same_to_cells_and_names(texts: list[str]) -> None:
    table = sf.read(
        pa.table({"=a": texts, "'=a": texts, "-5": list(range(-1, len(texts) - 1))}), dates="text", decimal="text"
    )
    made = neutralised(table)
    assert made.columns == ("'=a", "''=a", "-5")
    expected = {neutralised_text(text) for text in texts if text}
    assert {text for text in made.count(("'=a",)).columns[0].texts if text} == expected
    assert formula_cells(made) == {}
    again = plain(made)
    assert again.columns == table.columns
    assert {text for text in again.count(("=a",)).columns[0].texts if text} == {text for text in texts if text}


def test_what_was_not_neutralised_is_not_taken_for_it() -> None:
    table = sf.read(pa.table({"a": ["=1", "'=1"]}))
    with pytest.raises(InputError, match=r"'a'.*not written with --neutralise-formulas") as refused:
        plain(table)
    assert "=1" not in str(refused.value)
    assert formula_cells(table) == {"a": 1}
    assert apostrophes(table) == {"a": 1}


def test_categories_are_looked_at_too() -> None:
    table = sf.read(pa.table({"a": pa.array(["=1", "x", "=1"]).dictionary_encode()}))
    assert formula_cells(table) == {"a": 2}
    assert formula_cells(neutralised(table)) == {}
