"""Writing: what is read back is what was written, the same bytes every time, a whole file or none."""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.core.errors import InputError
from sfumato.core.table import Table
from sfumato.publishing.published_file import read_published

TEXTS = {
    "plain": ["b", "a", "c"],
    "odd": ['say "hi"', "two\nlines", "a,b;c|d\te"],
    "edge": [" lead", "trail ", "'apostrophes'"],
    "holes": ["x", None, ""],
    "codes": ["007", "1e5", "0.10"],
    "ünï 中": ["é", "🙂", "\u2028"],
}
forms = pytest.mark.parametrize("form", ["csv", "parquet"])


@forms
def test_texts_read_back(tmp_path: Path, table: Callable[..., Table], rows_of: Any, form: str) -> None:
    written = table(TEXTS)
    written.write(tmp_path / f"out.{form}")
    back = read_published(tmp_path / f"out.{form}")
    assert back.columns == tuple(TEXTS)
    assert rows_of(back) == rows_of(written)


@forms
@pytest.mark.parametrize("name", list(TEXTS))
def test_a_single_column_reads_back(
    tmp_path: Path, table: Callable[..., Table], rows_of: Any, form: str, name: str
) -> None:
    """A row that is nothing but a missing value is a row."""
    written = table(TEXTS).keep((name,))
    written.write(tmp_path / f"out.{form}")
    assert rows_of(read_published(tmp_path / f"out.{form}")) == rows_of(written)


VALUES = {
    "whole": pa.array([3, None, 2**40]),
    "whole parts": pa.array([39.0, math.nan, -2.0]),
    "parts": pa.array([1.5, None, 1e-7]),
    "yes": pa.array([True, None, False]),
    "day": pa.array([datetime.date(2024, 5, 7), None, datetime.date(1999, 12, 31)]),
    "single precision": pa.array([0.1, None, 1 / 3], pa.float32()),
    "instant": pa.array([datetime.datetime(2024, 5, 7, 13, 45, 0, 500000), None, datetime.datetime(2024, 1, 1)]),
    "moment": pa.array([datetime.datetime(2024, 5, 7, 13, 45), None, datetime.datetime(2024, 1, 1)]),
}


@forms
@pytest.mark.parametrize("name", list(VALUES))
def test_values_read_back_in_the_same_spelling(
    tmp_path: Path, table: Callable[..., Table], rows_of: Any, form: str, name: str
) -> None:
    """39.0 is 39 everywhere (column.py): a release written as CSV must still match its Parquet original."""
    written = table({name: VALUES[name], "other": ["p", "q", "r"]})
    written.write(tmp_path / f"out.{form}")
    assert rows_of(sf.read(tmp_path / f"out.{form}")) == rows_of(written)


def test_missing_values_are_null_in_parquet(tmp_path: Path, table: Callable[..., Table]) -> None:
    table({"t": ["x", "", None], "f": [1.0, math.nan, None]}).write(tmp_path / "out.parquet")
    back = pq.read_table(tmp_path / "out.parquet")
    assert back.column("t").to_pylist() == ["x", None, None]
    assert back.column("f").to_pylist() == [1.0, None, None]


def test_missing_values_are_empty_in_csv(tmp_path: Path, table: Callable[..., Table]) -> None:
    table({"a": ["x", "", None], "b": ["1", "2", "3"]}).write(tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text(encoding="utf-8") == "a,b\nx,1\n,2\n,3\n"


@forms
def test_row_order_leaves_no_trace(tmp_path: Path, table: Callable[..., Table], form: str) -> None:
    """Enough rows for several threads and row groups."""
    rows = 200_000
    rng = np.random.default_rng(6)
    data = {
        "a": rng.integers(0, 500, rows),
        "b": rng.choice(["x", "y", "", None], rows),
        "c": np.round(rng.random(rows), 2),
    }
    found = set()
    for seed in (None, 1, 2, None):
        turn = np.arange(rows) if seed is None else np.random.default_rng(seed).permutation(rows)
        table({name: pa.array(values[turn]) for name, values in data.items()}).write(tmp_path / f"out.{form}")
        found.add((tmp_path / f"out.{form}").read_bytes())
    assert len(found) == 1
    assert [path.name for path in tmp_path.iterdir()] == [f"out.{form}"]


def test_rows_are_sorted_by_all_columns(tmp_path: Path, table: Callable[..., Table]) -> None:
    table({"a": ["2", "1", None, "1"], "b": ["x", "z", "y", None]}).write(tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text(encoding="utf-8").splitlines()[1:] == ["1,z", "1,", "2,x", ",y"]


# --- whole or not at all ---------------------------------------------------------------------------------------------


@forms
def test_a_failure_leaves_no_file(tmp_path: Path, refusal: Any, canary: str, form: str) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "out").mkdir()
    source = tmp_path / "in" / "broken.csv"
    source.write_text("a,b\n" + "1,2\n" * 1000 + f"1,{canary},3\n", encoding="utf-8")
    text = refusal(InputError, lambda: sf.read(source).write(tmp_path / "out" / f"out.{form}"), "line 1002")
    assert list((tmp_path / "out").iterdir()) == []
    assert str(source) in text, "it is the input that has such a line"


@forms
def test_a_failure_leaves_the_old_file(tmp_path: Path, refusal: Any, form: str) -> None:
    source, target = tmp_path / "broken.csv", tmp_path / f"out.{form}"
    source.write_text("a,b\n1,2\n3\n", encoding="utf-8")
    target.write_text("what was there", encoding="utf-8")
    refusal(InputError, lambda: sf.read(source).write(target))
    assert target.read_text(encoding="utf-8") == "what was there"
    assert {path.name for path in tmp_path.iterdir()} == {"broken.csv", f"out.{form}"}


@forms
def test_an_older_file_is_replaced(tmp_path: Path, table: Callable[..., Table], rows_of: Any, form: str) -> None:
    for value in ("old", "new"):
        table({"a": [value], "b": ["x"]}).write(tmp_path / f"out.{form}")
    assert rows_of(sf.read(tmp_path / f"out.{form}")) == [(("new", "x"), 1)]
    assert len(list(tmp_path.iterdir())) == 1


def test_over_the_file_it_comes_from(tmp_path: Path, rows_of: Any) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b\n2,y\n1,x\n", encoding="utf-8")
    sf.read(path).write(path)
    assert path.read_text(encoding="utf-8") == "a,b\n1,x\n2,y\n"


def test_where_it_cannot_be_written(tmp_path: Path, table: Callable[..., Table], refusal: Any, canary: str) -> None:
    small = table({"a": [canary]})
    refusal(InputError, lambda: small.write(tmp_path / "out.txt"), tmp_path / "out.txt", ".parquet")
    refusal(InputError, lambda: small.write(tmp_path / "out"), tmp_path / "out", ".csv")
    refusal(InputError, lambda: small.write(tmp_path / "no" / "out.csv"), tmp_path / "no" / "out.csv", "folder")
    assert list(tmp_path.iterdir()) == []


def test_onto_a_folder(tmp_path: Path, table: Callable[..., Table], refusal: Any) -> None:
    (tmp_path / "out.csv").mkdir()
    refusal(InputError, lambda: table({"a": ["x"]}).write(tmp_path / "out.csv"), tmp_path / "out.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["out.csv"]


@pytest.mark.parametrize("name", ["it's.csv", "a b.csv", "x;y.parquet", "ünï.csv", "UPPER.CSV", "a[1].csv"])
def test_file_names(tmp_path: Path, table: Callable[..., Table], rows_of: Any, name: str) -> None:
    table({"a": ["x"], "b": ["y"]}).write(tmp_path / name)
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert rows_of(sf.read(tmp_path / name)) == [(("x", "y"), 1)]


def test_a_recoded_table_is_written(tmp_path: Path, table: Callable[..., Table], rows_of: Any) -> None:
    """What a mechanism made is re-read from disk as it was counted in memory."""
    rng = np.random.default_rng(4)
    data = {"age": rng.integers(20, 60, 400), "sex": rng.choice(["M", "F", ""], 400), "s": rng.integers(0, 5, 400)}
    roles = sf.Roles(quasi=("age", "sex"), sensitive=("s",))
    made = sf.Mondrian(k=7)(table({name: pa.array(values) for name, values in data.items()}), roles)
    for form in ("csv", "parquet"):
        path = tmp_path / f"out.{form}"
        made.table.write(path)
        again = sf.Release(table=sf.read(path))
        assert rows_of(again.table) == rows_of(made.table)
        assert sf.k_anonymity(again, roles).value == sf.k_anonymity(made, roles).value >= 7


def test_what_is_spilled_is_for_its_owner_alone() -> None:
    from sfumato.engines.duckdb import folder

    assert folder().stat().st_mode & 0o077 == 0
