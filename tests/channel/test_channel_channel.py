"""A channel is what it says or is refused; its compositions are products of matrices, dense or sparse."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from channel_examples import APPENDIX, channels
from hypothesis import given
from hypothesis import strategies as st

from house import Refusal
from sfumato.channel.channel import Channel, constant, identity
from sfumato.channel.exact import ExactChannel
from sfumato.core.errors import InputError

HALF = [[0.5, 0.5], [0.0, 1.0]]


def test_names_are_numbers_unless_given() -> None:
    channel = Channel(matrix=HALF)
    assert list(channel.input_names) == [0, 1]
    assert list(Channel(matrix=HALF, inputs=("a", "b")).input_names) == ["a", "b"]
    assert channel.shape == (2, 2)


def test_the_matrix_is_its_own_copy() -> None:
    mine = np.array(HALF)
    channel = Channel(matrix=mine)
    mine[0] = [9, 9]
    assert channel.matrix[0, 0] == 0.5
    with pytest.raises(ValueError, match="read-only"):
        channel.matrix[0, 0] = 0


@pytest.mark.parametrize(
    "make", [np.array, scipy.sparse.csr_array, scipy.sparse.coo_matrix], ids=["dense", "csr", "coo"]
)
@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([[1, 0], [0.5, 0.4]], "Row 2"),
        ([[1, 0], [0.5, 0.6]], "Row 2"),
        ([[1.5, -0.5], [0, 1]], "negative"),
        ([[np.nan, 1], [0, 1]], "finite"),
        ([[0, 1], [np.inf, 1]], "Row 2"),
        ([[0.5, 0.5 + 2e-9]], "Row 1"),
    ],
)
def test_what_is_no_channel_is_refused(make: Any, rows: Any, words: str, refusal: Refusal) -> None:
    matrix = make(np.array(rows, dtype=float))
    refusal(InputError, lambda: Channel(matrix=matrix), words)


def test_other_refusals(refusal: Refusal) -> None:
    refusal(InputError, lambda: Channel(matrix=np.zeros((0, 2))), "at least one input")
    refusal(InputError, lambda: Channel(matrix=[0.5, 0.5]), "two dimensions")
    refusal(InputError, lambda: Channel(matrix=[[1], [0.5, 0.5]]), "same length")
    refusal(InputError, lambda: Channel(matrix=[["x"]]), "numbers")
    refusal(InputError, lambda: Channel(matrix=HALF, inputs=("a",)), "2 inputs")
    refusal(InputError, lambda: Channel(matrix=HALF).then(constant(3)), "cascade")
    refusal(InputError, lambda: Channel(matrix=HALF).beside(constant(3)), "same inputs")


def test_rounding_within_the_tolerance_is_accepted() -> None:
    assert Channel(matrix=[[0.5, 0.5 + 5e-10]]).shape == (1, 2)
    assert Channel(matrix=np.full((3, 7), 1 / 7)).shape == (3, 7)


def test_sparse_entries_that_are_given_twice_are_one() -> None:
    twice = scipy.sparse.coo_array(([0.25, 0.75, 1.0], ([0, 0, 1], [1, 1, 0])), shape=(2, 2))
    channel = Channel(matrix=twice)
    assert channel.is_sparse
    assert channel.dense().tolist() == [[0, 1], [1, 0]]
    assert len(channel.entries[0]) == 2


@given(channels(), st.data())
def test_largest_dense_and_sparse(channel: ExactChannel, data: st.DataObject) -> None:
    dense = channel.floats()
    sparse = Channel(matrix=scipy.sparse.csr_array(dense.matrix))
    weight = np.array(data.draw(st.lists(st.floats(0, 1), min_size=dense.shape[0], max_size=dense.shape[0])))
    assert sparse.largest(weight) == pytest.approx(dense.largest(weight))
    assert sparse.largest() == pytest.approx(dense.largest())
    assert sparse.outputs_under(weight) == pytest.approx(dense.outputs_under(weight))
    for one, other in zip(sparse.entries, dense.entries, strict=True):
        assert one.tolist() == pytest.approx(other.tolist())


@given(st.data())
def test_a_cascade_is_a_product(data: st.DataObject) -> None:
    first = data.draw(channels())
    second = data.draw(channels(inputs=len(first.cells[0])))
    exact = np.array(first.then(second).cells, dtype=float)
    assert first.floats().then(second.floats()).dense() == pytest.approx(exact, abs=1e-12)
    thin = Channel(matrix=scipy.sparse.csr_array(first.floats().matrix))
    assert thin.then(second.floats()).dense() == pytest.approx(exact, abs=1e-12)


@given(st.data())
def test_parallel_and_product_by_their_definitions(data: st.DataObject) -> None:
    a = data.draw(channels(most=3))
    b = data.draw(channels(inputs=len(a.cells), most=3))
    both = [[p * q for p in r for q in s] for r, s in zip(a.cells, b.cells, strict=True)]
    each = [[p * q for p in r for q in s] for r in a.cells for s in b.cells]
    for kind in (np.array, scipy.sparse.csr_array):
        one, other = (Channel(matrix=kind(np.array(c.cells, dtype=float))) for c in (a, b))
        assert one.beside(other).dense() == pytest.approx(np.array(both, dtype=float), abs=1e-12)
        assert one.times(other).dense() == pytest.approx(np.array(each, dtype=float), abs=1e-12)
    assert list(one.times(other).input_names)[:2] == [(0, 0), (0, 1)][: len(each)]


def test_identity_and_constant_are_neutral_and_absorbing() -> None:
    channel = APPENDIX.floats()
    assert identity(4).then(channel).dense() == pytest.approx(channel.dense())
    assert channel.then(identity(4)).dense() == pytest.approx(channel.dense())
    assert channel.then(constant(4)).dense().tolist() == [[1.0]] * 4
    assert identity(2000).is_sparse


def test_parts() -> None:
    channel = Channel(matrix=[[1, 0, 0], [0, 0.5, 0.5], [1, 0, 0]])
    part, of_output = channel.parts
    assert part.tolist() == [0, 1, 0]
    assert of_output.tolist() == [0, 1, 1]


# --- files -----------------------------------------------------------------------------------------------------------


def test_written_and_read_again(tmp_path: Path) -> None:
    channel = Channel(matrix=APPENDIX.floats().matrix, inputs=("a", "b,", 'c"', ""), outputs=("x", "y", "z", "*"))
    channel.write(tmp_path / "channel.csv")
    again = Channel.read(tmp_path / "channel.csv")
    assert (again.input_names, again.output_names) == (channel.input_names, channel.output_names)
    assert np.array_equal(again.matrix, channel.matrix)


def test_fractions_may_be_written(tmp_path: Path) -> None:
    (tmp_path / "c.csv").write_text("T,x,y\na,1/3,2/3\nb,0,1\n", encoding="utf-8")
    assert Channel.read(tmp_path / "c.csv").matrix == pytest.approx(np.array([[1 / 3, 2 / 3], [0, 1]]))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "first line"),
        (",x\n", "a line for each row"),
        (",x,y\na,1\n", "row 1 has 1 numbers"),
        (",x,y\na,1,Quixotic7741\n", "row 1"),
        (",x,y\na,1/0,0\n", "row 1"),
        (",x,y\na,0.5,0.6\n", "Row 1"),
        (",x,y\na,1,0\na,1,0\n", "once in the first column"),
        (",x,x\na,1,0\n", "once in the first line"),
    ],
)
def test_files_that_are_no_channel(text: str, words: str, tmp_path: Path, refusal: Refusal) -> None:
    (tmp_path / "c.csv").write_text(text, encoding="utf-8")
    refusal(InputError, lambda: Channel.read(tmp_path / "c.csv"), "c.csv", words)


def test_a_file_that_is_not_there(tmp_path: Path, refusal: Refusal) -> None:
    refusal(InputError, lambda: Channel.read(tmp_path / "none.csv"), "none.csv")


# --- exact -----------------------------------------------------------------------------------------------------------


def test_exact_channels_refuse_what_is_not_exact(refusal: Refusal) -> None:
    refusal(InputError, lambda: ExactChannel(rows=[[0.5, 0.5]]), "not of floating-point")  # type: ignore[list-item]
    refusal(InputError, lambda: ExactChannel(rows=[["1/3", "1/3"]]), "Row 1", "exactly 1")
    refusal(InputError, lambda: ExactChannel(rows=[["3/2", "-1/2"]]), "negative")
    refusal(InputError, lambda: ExactChannel(rows=[["1/0"]]), "fractions")
    refusal(InputError, lambda: ExactChannel(rows=[]), "at least one")
    refusal(InputError, lambda: ExactChannel(rows=[[1], ["1/2", "1/2"]]), "Row 2")
    refusal(InputError, lambda: APPENDIX.error([1, 0, 0]), "prior")


def test_the_exact_numbers_of_the_appendix() -> None:
    right = Fraction(1, 4) * (Fraction(15, 28) + Fraction(20, 35) + Fraction(5, 35) + Fraction(10, 17))
    assert APPENDIX.error() == 1 - right == Fraction(147, 272)
    assert APPENDIX.bayes_capacity() == 4 * right
    assert sum(APPENDIX.posterior(0)) == 1
