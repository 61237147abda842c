"""A column as a design problem, and a designed channel as a square matrix."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from house import MakeTable
from sfumato.channel.channel import Channel
from sfumato.channel.column import MOST, column_problem, transition
from sfumato.core.errors import InputError, Unavailable


def test_numbers_have_distances(table: MakeTable) -> None:
    found = column_problem(table({"age": [9, 10, 10, 19, None]}), "age")
    assert (found.names, found.kind) == (("9", "10", "19", ""), "distance")
    assert found.prior == pytest.approx([0.2, 0.4, 0.2, 0.2])
    assert found.cost == pytest.approx(np.array([[0, 0.1, 1, 1], [0.1, 0, 0.9, 1], [1, 0.9, 0, 1], [1, 1, 1, 0]]))


def test_texts_differ_or_have_a_stated_order(table: MakeTable) -> None:
    people = table({"size": ["S", "L", "M", "M"]})
    plain = column_problem(people, "size")
    assert plain.kind == "differ"
    assert plain.cost == pytest.approx(1 - np.eye(3))
    stated = column_problem(people, "size", order=("S", "M", "L"))
    assert stated.names == ("S", "M", "L")
    assert stated.prior == pytest.approx([0.25, 0.5, 0.25])
    assert stated.cost == pytest.approx(np.array([[0, 0.5, 1], [0.5, 0, 0.5], [1, 0.5, 0]]))


def test_extremes(table: MakeTable) -> None:
    one = column_problem(table({"age": [7, 7]}), "age")
    assert (one.names, one.cost.tolist()) == (("7",), [[0.0]])
    gone = column_problem(table({"age": ["", None]}), "age")
    assert (gone.names, gone.cost.tolist()) == (("",), [[0.0]])


def test_a_transition_over_values_and_groups() -> None:
    channel = Channel(matrix=[[0.5, 0.5], [0, 1]], inputs=("a", "b"), outputs=("ab", "b"))
    found = transition(channel)
    assert list(found.input_names) == list(found.output_names) == ["a", "b", "ab"]
    assert found.dense().tolist() == [[0, 0.5, 0.5], [0, 1, 0], [0, 0, 1]]
    square = Channel(matrix=np.eye(2), inputs=("a", "b"), outputs=("b", "a"))
    assert transition(square).dense().tolist() == [[0, 1], [1, 0]]


def test_refusals(table: MakeTable, refusal: Callable[..., str]) -> None:
    people = table({"size": ["S", "L", "M"]})
    refusal(InputError, lambda: column_problem(people, "age"), "'age'")
    refusal(Unavailable, lambda: column_problem(people, "size", cost="distance"), "no order")
    many = table({"n": list(range(MOST + 1))})
    refusal(InputError, lambda: column_problem(many, "n"), f"{MOST + 1}")
