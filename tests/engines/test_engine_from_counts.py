"""Rows made of counts: the same table as the rows themselves, to every question and to the byte."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.core.arrow import integers, strings
from sfumato.core.counted_table import CountedTable
from sfumato.core.errors import InputError, Unavailable

ROWS = {"age": ["30", "30", None, "41", "30"], "rows alike": ["x", "x", "y", None, "x"], "n": ["1", "1", "2", "3", "1"]}
DISTINCT = {"age": ["41", "30", None], "rows alike": [None, "x", "y"], "n": ["3", "1", "2"]}
TIMES = [1, 3, 1]


def arrow(columns: dict[str, list[Any]]) -> pa.Table:
    return pa.Table.from_arrays([strings(values) for values in columns.values()], names=list(columns))


@pytest.fixture
def pair() -> tuple[Any, Any]:
    """The rows, and the same from counts."""
    plain = sf.read(arrow(ROWS))
    return plain, plain.instead(arrow(DISTINCT), integers(np.array(TIMES)))


@pytest.mark.parametrize("by", [(), ("age",), ("age", "n"), ("rows alike", "age", "n")])
def test_counts_are_the_same(pair: tuple[Any, Any], by: tuple[str, ...]) -> None:
    plain, made = (table.count(by) for table in pair)
    assert [column.texts for column in plain.columns] == [column.texts for column in made.columns]
    assert np.array_equal(plain.n, made.n)
    assert pair[1].rows == 5


@pytest.mark.parametrize("name", ["out.csv", "out.parquet"])
def test_files_are_the_same_to_the_byte(pair: tuple[Any, Any], name: str, tmp_path: Path) -> None:
    files = []
    for i, table in enumerate(pair):
        (tmp_path / str(i)).mkdir()
        table.write(tmp_path / str(i) / name)
        files.append((tmp_path / str(i) / name).read_bytes())
    assert files[0] == files[1]
    assert sf.read(tmp_path / "1" / name).rows == 5


def test_projections_and_recodings_go_on_working(pair: tuple[Any, Any]) -> None:
    plain, made = (table.keep(("age",)) for table in pair)
    assert plain.count(("age",)).n.tolist() == made.count(("age",)).n.tolist()


def test_no_rows_are_no_rows(tmp_path: Path) -> None:
    empty = sf.read(arrow(ROWS)).instead(arrow({"age": []}), integers(np.zeros(0, dtype=np.int64)))
    assert empty.rows == 0
    assert len(empty.count(("age",))) == 0


def test_what_is_counted_along_is_dropped_when_it_is_too_much() -> None:
    table = sf.read(arrow({"q": ["a", "b"] * 50, "w": [str(i) for i in range(100)]}))
    wide = table.count_within(("q",), ("w",), 100)
    few = table.count_within(("q",), ("w",), 99)
    assert wide.names == ("q", "w")
    assert len(wide) == 100
    assert few.names == ("q",)
    assert few.n.tolist() == [50, 50]
    assert table.rows == 100


def test_a_counted_table_answers_and_refuses() -> None:
    counts = sf.read(arrow(ROWS)).count(("age", "n"))
    table = CountedTable(counts, name="people")
    assert table.rows == 5
    assert table.keep(("age",)).columns == ("age",)
    assert table.count(("n",)).n.tolist() == [3, 1, 1]
    with pytest.raises(InputError, match="no column 'x'"):
        table.count(("x",))
    with pytest.raises(Unavailable, match="only counts"):
        table.write(Path("out.csv"))
