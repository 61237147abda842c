"""Other kinds of tables: Parquet, Excel, Arrow, pandas, polars, DuckDB and SQLite; and the types that they bring."""

from __future__ import annotations

import datetime
import decimal
import math
import sqlite3
import zipfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import openpyxl
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.core.errors import InputError
from sfumato.core.release import Release
from sfumato.core.roles import Roles

DATA: dict[str, list[Any]] = {"n": [1, 2, None, 1], "t": ["x", "", None, "x"], "f": [1.5, math.nan, None, 1.5]}
ROWS = [(("1", "x", "1.5"), 2), (("2", None, None), 1), ((None, None, None), 1)]


# --- the same table, however it comes --------------------------------------------------------------------------------


def as_parquet(path: Path) -> Path:
    pq.write_table(pa.table(DATA), path / "t.parquet")
    return path / "t.parquet"


def as_unnamed_parquet(path: Path) -> Path:
    return as_parquet(path).rename(path / "no ending")


def as_feather(path: Path) -> Path:
    feather.write_feather(pa.table(DATA), str(path / "t.feather"))
    return path / "t.feather"


def as_csv(path: Path) -> Path:
    (path / "t.csv").write_text("n,t,f\n1,x,1.5\n2,,\n,,\n1,x,1.5\n", encoding="utf-8")
    return path / "t.csv"


def as_pandas(path: Path) -> pd.DataFrame:
    return pd.DataFrame(DATA, index=[9, 3, 3, 0])


def as_duckdb(path: Path) -> Path:
    with duckdb.connect(str(path / "t.duckdb")) as base:
        base.execute("CREATE TABLE people (n INTEGER, t VARCHAR, f DOUBLE)")
        base.execute("INSERT INTO people VALUES (1, 'x', 1.5), (2, '', 'nan'), (NULL, NULL, NULL), (1, 'x', 1.5)")
    return path / "t.duckdb"


def as_sqlite(path: Path, name: str = "t.sqlite") -> Path:
    base = sqlite3.connect(path / name)
    base.execute("CREATE TABLE people (n INTEGER, t TEXT, f REAL)")
    base.executemany("INSERT INTO people VALUES (?, ?, ?)", [(1, "x", 1.5), (2, "", None), (None,) * 3, (1, "x", 1.5)])
    base.commit()
    base.close()
    return path / name


KINDS: list[Callable[[Path], Any]] = [
    as_csv,
    as_parquet,
    as_unnamed_parquet,
    as_feather,
    as_pandas,
    lambda path: pa.table(DATA),
    lambda path: pl.DataFrame(DATA),
    lambda path: DATA,
    lambda path: pa.table(DATA).to_batches()[0],
    as_duckdb,
    as_sqlite,
]
NAMES = [
    "csv",
    "parquet",
    "parquet by content",
    "feather",
    "pandas",
    "arrow",
    "polars",
    "dict",
    "batch",
    "duckdb",
    "sqlite",
]


@pytest.mark.parametrize("kind", KINDS, ids=NAMES)
def test_the_same_rows_from_everywhere(tmp_path: Path, rows_of: Any, kind: Callable[[Path], Any]) -> None:
    table = sf.read(kind(tmp_path))
    assert table.columns == ("n", "t", "f")
    assert rows_of(table) == ROWS
    assert table.rows == 4
    assert table.unique_rows(("n",)) == (2, 3)
    assert table.unique_rows(("n", "t", "f")) == (2, 3)


@pytest.mark.parametrize("kind", KINDS, ids=NAMES)
def test_the_same_score_from_everywhere(tmp_path: Path, kind: Callable[[Path], Any]) -> None:
    published = Release(table=sf.read(kind(tmp_path)))
    roles = Roles(quasi=("n", "t"), sensitive=("f",))
    assert sf.k_anonymity(published, roles).per_class.tolist() == [2, 1, 1]
    assert sf.t_closeness(ground="ordered")(published, roles).value == pytest.approx(1 / 2)


def test_opening_twice(tmp_path: Path, rows_of: Any) -> None:
    for kind in (as_parquet, as_duckdb, as_sqlite):
        path = kind(tmp_path)
        first, second = sf.read(path), sf.read(path)
        assert rows_of(first) == rows_of(second) == ROWS


# --- types -----------------------------------------------------------------------------------------------------------

DAY, MOMENT = datetime.date(2024, 5, 7), datetime.datetime(2024, 5, 7, 13, 45)
TYPES: dict[str, tuple[pa.Array, str]] = {
    "int8": (pa.array([5, None], pa.int8()), "5"),
    "uint64": (pa.array([2**63 + 5, None], pa.uint64()), str(2**63 + 5)),
    "int64": (pa.array([-(2**62), None]), str(-(2**62))),
    "float32": (pa.array([1.5, None], pa.float32()), "1.5"),
    "double": (pa.array([39.0, None]), "39"),
    "decimal": (pa.array([decimal.Decimal("1.25"), None]), "1.25"),
    "bool": (pa.array([True, None]), "true"),
    "date": (pa.array([DAY, None]), "2024-05-07"),
    "date64": (pa.array([DAY, None], pa.date64()), "2024-05-07"),
    "timestamp": (pa.array([MOMENT, None], pa.timestamp("us")), "2024-05-07T13:45:00"),
    "timestamp_s": (pa.array([MOMENT, None], pa.timestamp("s")), "2024-05-07T13:45:00"),
    "timestamp_ms": (pa.array([MOMENT, None], pa.timestamp("ms")), "2024-05-07T13:45:00"),
    "timestamp_ns": (pa.array([MOMENT, None], pa.timestamp("ns")), "2024-05-07T13:45:00"),
    "large": (pa.array(["x", None], pa.large_string()), "x"),
    "view": (pa.array(["x", None], pa.string_view()), "x"),
    "category": (pa.array(["x", None]).dictionary_encode(), "x"),
}


@pytest.mark.parametrize("name", list(TYPES))
def test_types(tmp_path: Path, rows_of: Any, name: str) -> None:
    values, text = TYPES[name]
    table = sf.read(pa.table({"c": values, "d": ["a", "b"]}))
    assert rows_of(table) == [((text, "a"), 1), ((None, "b"), 1)]
    assert rows_of(table.keep(("c",))) == [((text,), 1), ((None,), 1)]
    assert table.distinct()["c"] == (2, 1)
    assert table.head(2)["c"] == [text]
    assert table.value_counts(("c",))["c"].columns[0].texts == [text, None]


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_moments_are_dates_whatever_their_unit(unit: str) -> None:
    """pandas and Spark write nanoseconds; a calendar must fit them all."""
    column = sf.read(pa.table({"c": pa.array([MOMENT, None], pa.timestamp(unit))})).count(("c",)).columns[0]
    assert column.dates
    hierarchy = Roles(hierarchies={"c": {"dates": ["month", "year"]}}).hierarchy(column)
    assert hierarchy is not None
    assert hierarchy.levels[1:] == (("2024-05",), ("2024",), ("*",))


def test_a_column_without_any_value(rows_of: Any) -> None:
    table = sf.read(pa.table({"a": pa.nulls(3), "b": [1, 2, 3]}))
    assert rows_of(table, ("a",)) == [((None,), 3)]


@pytest.mark.parametrize(
    "values",
    [pa.array([[1], [2]]), pa.array([{"x": 1}, {"x": 2}]), pa.array([b"a", b"b"]), pa.array([[("k", 1)]] * 2, pa.map_(pa.string(), pa.int64()))],
    ids=["list", "struct", "bytes", "map"],
)  # fmt: skip
def test_values_that_are_not_plain(tmp_path: Path, refusal: Any, values: pa.Array) -> None:
    table = pa.table({"first": [1, 2], "odd one": values})
    refusal(InputError, lambda: sf.read(table), "'odd one'", "plain")
    pq.write_table(table, tmp_path / "t.parquet")
    refusal(InputError, lambda: sf.read(tmp_path / "t.parquet"), tmp_path / "t.parquet", "'odd one'", "plain")


def test_two_lists_in_a_parquet_file(tmp_path: Path, refusal: Any) -> None:
    """Their inner names are alike; that is not what is wrong."""
    pq.write_table(pa.table({"one": [[1]], "two": [["x"]]}), tmp_path / "t.parquet")
    text = refusal(InputError, lambda: sf.read(tmp_path / "t.parquet"), tmp_path / "t.parquet", "plain")
    assert "twice" not in text


# --- Arrow, pandas, polars -------------------------------------------------------------------------------------------


def test_pandas_and_its_dtypes(rows_of: Any) -> None:
    frame = pd.DataFrame(
        {
            "cat": pd.Categorical(["x", None]),
            "Int": pd.array([1, None], dtype="Int64"),
            "when": pd.to_datetime(["2024-05-07", None]),
            "yes": pd.array([True, None], dtype="boolean"),
            5: ["five", np.nan],
        },
        index=["r1", "r2"],
    )
    table = sf.read(frame)
    assert table.columns == ("cat", "Int", "when", "yes", "5")
    assert rows_of(table) == [(("x", "1", "2024-05-07T00:00:00", "true", "five"), 1), ((None,) * 5, 1)]


def test_the_frame_is_left_as_it_was() -> None:
    frame = as_pandas(Path())
    before = frame.copy(deep=True)
    table = sf.read(frame)
    table.count(("n",))
    table.keep(("t",)).count(("t",))
    pd.testing.assert_frame_equal(frame, before)


def test_mixed_types_in_a_frame_are_refused_without_a_value(refusal: Any, canary: str) -> None:
    refusal(InputError, lambda: sf.read(pd.DataFrame({"ok": [1, 2], "mixed": [1, canary]})), "mixed")


def test_names_in_memory_that_cannot_be_used(refusal: Any) -> None:
    refusal(InputError, lambda: sf.read(pd.DataFrame([[1, 2]], columns=["a", "a"])), "the same name")
    refusal(InputError, lambda: sf.read(pd.DataFrame([[1, 2]], columns=["1", 1])), "the same name")
    refusal(InputError, lambda: sf.read(pa.table([[1], [2]], names=["a", "A"])), "upper and lower case")
    refusal(InputError, lambda: sf.read(pa.table([[1], [2]], names=["a", ""])), "no name")


@pytest.mark.parametrize("source", [5, [1, 2], object(), None], ids=lambda source: type(source).__name__)
def test_what_is_no_table(refusal: Any, source: Any) -> None:
    refusal(InputError, lambda: sf.read(source), type(source).__name__)


def test_polars_and_its_types(rows_of: Any) -> None:
    frame = pl.DataFrame(
        {"c": pl.Series(["x", None], dtype=pl.Categorical), "e": pl.Series(["y", None], dtype=pl.Enum(["y"])), "d": [DAY, None], "m": [MOMENT, None]}
    )  # fmt: skip
    assert rows_of(sf.read(frame)) == [(("x", "y", "2024-05-07", "2024-05-07T13:45:00"), 1), ((None,) * 4, 1)]


@pytest.mark.parametrize("name", ["t.arrow", "t.feather", "t.ipc"])
def test_arrow_files_that_cannot_be_read(tmp_path: Path, refusal: Any, canary: str, name: str) -> None:
    (tmp_path / name).write_text(f"a,b\n{canary},2\n", encoding="utf-8")
    refusal(InputError, lambda: sf.read(tmp_path / name), tmp_path / name)


def test_an_arrow_stream_is_read_or_refused(tmp_path: Path, rows_of: Any, refusal: Any) -> None:
    path = tmp_path / "t.arrow"
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, pa.table(DATA).schema) as writer:
        writer.write_table(pa.table(DATA))
    try:
        assert rows_of(sf.read(path)) == ROWS
    except sf.SfumatoError:
        refusal(InputError, lambda: sf.read(path), path)


# --- Parquet ---------------------------------------------------------------------------------------------------------


def test_parquet_that_is_none(tmp_path: Path, refusal: Any, canary: str) -> None:
    for name, content in (("text.parquet", f"a,b\n{canary},2\n".encode()), ("cut.parquet", b"PAR1" + canary.encode())):
        (tmp_path / name).write_bytes(content)
        refusal(InputError, lambda path=tmp_path / name: sf.read(path), tmp_path / name)
    whole = as_parquet(tmp_path).read_bytes()
    (tmp_path / "short.parquet").write_bytes(whole[: len(whole) // 2])
    refusal(InputError, lambda: sf.read(tmp_path / "short.parquet"), tmp_path / "short.parquet")


def test_names_in_parquet_that_differ_in_case(tmp_path: Path, refusal: Any) -> None:
    pq.write_table(pa.table([[1], [2]], names=["a", "A"]), tmp_path / "t.parquet")
    refusal(InputError, lambda: sf.read(tmp_path / "t.parquet"), tmp_path / "t.parquet", "upper and lower case")


@pytest.mark.parametrize(("name", "other"), [("t*.parquet", "tax.parquet"), ("t[1].parquet", "t1.parquet")])
def test_a_parquet_name_is_no_pattern(tmp_path: Path, rows_of: Any, name: str, other: str) -> None:
    pq.write_table(pa.table({"a": ["neighbour"]}), tmp_path / other)
    pq.write_table(pa.table({"a": ["mine"]}), tmp_path / name)
    assert rows_of(sf.read(tmp_path / name)) == [(("mine",), 1)]


# --- Excel -----------------------------------------------------------------------------------------------------------


def workbook(path: Path, **sheets: list[list[Any]]) -> Path:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for title, rows in sheets.items():
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


def test_excel(tmp_path: Path, rows_of: Any) -> None:
    head = ["whole", "part", "text", "day", "moment", "yes", "mixed"]
    rows = [
        [1, 1.5, "x", DAY, MOMENT, True, 3],
        [2, None, "", None, None, False, "three"],
        [None] * 7,
        [None, 2, "y", DAY, None, None, None],
    ]
    table = sf.read(workbook(tmp_path / "t.xlsx", people=[head, *rows]))
    assert table.columns == tuple(head)
    assert rows_of(table) == [
        (("1", "1.5", "x", "2024-05-07", "2024-05-07T13:45:00", "true", "3"), 1),
        (("2", None, None, None, None, "false", "three"), 1),
        ((None, "2", "y", "2024-05-07", None, None, None), 1),
    ]  # fmt: skip
    assert table.notes == ()


def test_excel_sheets(tmp_path: Path, rows_of: Any, refusal: Any) -> None:
    path = workbook(tmp_path / "t.xlsx", first=[["a"], ["x"]], second=[["b"], ["y"]], bare=[["c"]], void=[])
    table = sf.read(path)
    assert (table.columns, rows_of(table)) == (("a",), [(("x",), 1)])
    assert any("'first' of 4" in note and "--sheet" in note for note in table.notes)
    assert rows_of(sf.read(path, sheet="second")) == [(("y",), 1)]
    refusal(InputError, lambda: sf.read(path, sheet="third"), path, "'third'", "second")
    refusal(InputError, lambda: sf.read(path, sheet="bare"), path, "'bare'", "no row")
    refusal(InputError, lambda: sf.read(path, sheet="void"), path, "'void'", "empty")


def test_the_table_is_found_behind_a_cover(tmp_path: Path, rows_of: Any) -> None:
    rows = [["age", "sex"], *([str(20 + i), "f"] for i in range(30))]
    cover = [["Clinic"], [None], ["made on", "2024-12-31"], ["by", "registry"], ["pages", "2"]]
    path = workbook(
        tmp_path / "t.xlsx", cover=cover, list=rows, codes=[["code", "text"], *([str(i), "x"] for i in range(50))]
    )
    table = sf.read(path)
    assert (table.columns, table.rows) == (("age", "sex"), 30)
    assert any("'list' of 3" in note and "--sheet" in note for note in table.notes)
    small = workbook(tmp_path / "small.xlsx", cover=[["Clinic"]], list=rows[:4], more=rows[:5])
    assert sf.read(small).rows == 3


def test_excel_names(tmp_path: Path, refusal: Any, canary: str) -> None:
    path = workbook(tmp_path / "t.xlsx", s=[["a", None, "c"], [canary, 2, 3]])
    refusal(InputError, lambda: sf.read(path), path, "column 2 has no name")
    twice = workbook(tmp_path / "twice.xlsx", s=[["a", "A"], [canary, 2]])
    refusal(InputError, lambda: sf.read(twice), twice, "upper and lower case")


def test_excel_with_numbers_beyond_64_bits(tmp_path: Path, rows_of: Any) -> None:
    path = workbook(tmp_path / "t.xlsx", s=[["id"], [12345678901234567890], [1e300]])
    assert sum(n for _, n in rows_of(sf.read(path))) == 2


@pytest.mark.parametrize("name", ["t.xlsx", "t.xls", "t.xlsb", "t.ods"])
def test_excel_that_is_none(tmp_path: Path, refusal: Any, canary: str, name: str) -> None:
    (tmp_path / name).write_text(f"a,b\n{canary},2\n", encoding="utf-8")
    refusal(InputError, lambda: sf.read(tmp_path / name), tmp_path / name, "Excel")


def test_a_zip_that_is_no_workbook(tmp_path: Path, refusal: Any) -> None:
    with zipfile.ZipFile(tmp_path / "t.xlsx", "w") as file:
        file.writestr("a.txt", "x")
    refusal(InputError, lambda: sf.read(tmp_path / "t.xlsx"), tmp_path / "t.xlsx")


# --- databases -------------------------------------------------------------------------------------------------------


@pytest.fixture(params=["duckdb", "sqlite"])
def base(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A database of two tables."""
    path = tmp_path / f"two.{request.param}"
    statements = [
        "CREATE TABLE people (n INTEGER, t VARCHAR)",
        "INSERT INTO people VALUES (1, 'x'), (2, 'y')",
        'CREATE TABLE "odd one" (z VARCHAR)',
        "INSERT INTO \"odd one\" VALUES ('q')",
    ]
    connection: Any = duckdb.connect(str(path)) if request.param == "duckdb" else sqlite3.connect(path)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()
    return path


def test_a_query_chooses_rows(base: Path, rows_of: Any) -> None:
    table = sf.read(base, query="SELECT n, t AS name FROM people WHERE n > 1;")
    assert (table.columns, rows_of(table)) == (("n", "name"), [(("2", "y"), 1)])
    assert rows_of(sf.read(base, query='SELECT z FROM "odd one"')) == [(("q",), 1)]
    joined = sf.read(base, query='SELECT * FROM people CROSS JOIN "odd one"')
    assert rows_of(joined) == [(("1", "x", "q"), 1), (("2", "y", "q"), 1)]


def test_several_tables_need_a_query(base: Path, refusal: Any) -> None:
    refusal(InputError, lambda: sf.read(base), base, "2 tables", "--query")


@pytest.mark.parametrize("query", ["SELECT nothing FROM people", "SELECT * FROM nowhere", "DELETE FROM people", "BEGIN", "", "not SQL"])  # fmt: skip
def test_queries_that_cannot_be_run(base: Path, refusal: Any, rows_of: Any, query: str) -> None:
    refusal(InputError, lambda: rows_of(sf.read(base, query=query)), base)
    assert rows_of(sf.read(base, query="SELECT count(*) AS c FROM people")) == [(("2",), 1)], "nothing was changed"


@pytest.mark.full  # many threads
def test_queries_on_several_databases_at_once(tmp_path: Path, rows_of: Any) -> None:
    """The rows of one owner's database must not come out of another's."""
    for i in range(4):
        with duckdb.connect(str(tmp_path / f"{i}.duckdb")) as base:
            base.execute(f"CREATE TABLE t AS SELECT {i} AS x")

    def ask(i: int) -> Any:
        return rows_of(sf.read(tmp_path / f"{i % 4}.duckdb", query="SELECT x FROM t"))

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(ask, range(80))) == [[((str(i % 4),), 1)] for i in range(80)]


def test_one_table_with_an_odd_name(tmp_path: Path, rows_of: Any) -> None:
    with duckdb.connect(str(tmp_path / "one.duckdb")) as one:
        one.execute('CREATE SCHEMA "my schema"')
        one.execute('CREATE TABLE "my schema"."the ""table""" AS SELECT 1 AS x')
    assert rows_of(sf.read(tmp_path / "one.duckdb")) == [(("1",), 1)]


@pytest.mark.parametrize("name", ["a b.sqlite", "a#1.sqlite", "a?b.sqlite", "a%20b.sqlite", "it's.sqlite"])
def test_sqlite_file_names(tmp_path: Path, rows_of: Any, name: str) -> None:
    path = as_sqlite(tmp_path, name)
    assert rows_of(sf.read(path)) == ROWS
    assert [file.name for file in tmp_path.iterdir()] == [name], "nothing else may appear beside it"


@pytest.mark.parametrize(("name", "start"), [("t.sqlite", b"SQLite format 3\x00"), ("t.duckdb", b"12345678DUCK")])
def test_databases_that_are_none(tmp_path: Path, refusal: Any, canary: str, name: str, start: bytes) -> None:
    (tmp_path / name).write_bytes(start + canary.encode() * 100)
    refusal(InputError, lambda: sf.read(tmp_path / name), tmp_path / name)


def test_sqlite_text_that_is_no_utf_8(tmp_path: Path, refusal: Any, rows_of: Any, canary: str) -> None:
    base = sqlite3.connect(tmp_path / "t.sqlite")
    base.execute("CREATE TABLE t (x TEXT)")
    base.execute("INSERT INTO t VALUES (CAST(? AS TEXT))", (canary.encode() + b"\xe9",))
    base.commit()
    base.close()
    refusal(InputError, lambda: rows_of(sf.read(tmp_path / "t.sqlite")), tmp_path / "t.sqlite")
