"""One contract: whatever a table holds, every engine gives the counts, releases and digests that DuckDB gives, to the last row."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.core.arrow import strings, take
from sfumato.core.counts import Counts
from sfumato.core.errors import InputError
from sfumato.core.table import Recoding, Table

DAY, MOMENT = datetime.date, datetime.datetime
AWKWARD: dict[str, Any] = {
    "text": pa.array(["b", "a", "", None, "ä", "A", "b ", " b", "10", "9", "O'Neil", '"', "😀", "a\u0308", "NULL", "\\N", "*", "%_", "ß", "ss"]),
    "whole": pa.array([3, 1, None, 2, 10, -5, 0, 2**62, -(2**63), 7] * 2),
    "small": pa.array([3, 1, None, 2] * 5, pa.int16()),
    "part": pa.array([0.5, float("nan"), None, -0.0, 0.0, 1e300, 39.0, 1e16, 1e-7, 0.1, 1e15, 123456789.125, 5e-324, -1e22, 2 / 3] + [1.0] * 5),
    "single": pa.array([0.5, float("nan"), None, -0.0, 0.0, 1e30, 39.0, 16777216.0, 1e-7, 0.1] * 2, pa.float32()),
    "yes": pa.array([True, False, None, True] * 5),
    "day": pa.array([DAY(1850, 1, 1), DAY(1, 1, 1), None, DAY(2020, 2, 29), DAY(9999, 12, 31)] * 4),
    "moment": pa.array([MOMENT(1850, 1, 1, 3, 4, 5), None, MOMENT(2020, 1, 1, 0, 0, 0, 500), MOMENT(1, 1, 1)] * 5, pa.timestamp("us")),
    "select": pa.array([Decimal("1.50"), None, Decimal("-0.01"), Decimal("10.00"), Decimal("9.99")] * 4, pa.decimal128(10, 2)),
    'odd "name", 100%; --': pa.array(["x", None] * 10),
    "Grüße " + "x" * 40: pa.array(["x", "y", "z", "x"] * 5),
}  # fmt: skip
EACH = [(name,) for name in AWKWARD]
SOME = [("text", "part"), ("single", "select", "moment", "whole"), ("yes", "day"), ("part", "part"), tuple(AWKWARD)]
SHORT = {"ids": lambda names: "-".join(name[:6] for name in names)}


@pytest.fixture(scope="module")
def both(table: Callable[..., Table]) -> tuple[Table, Table]:
    """The awkward values in an engine, and in DuckDB."""
    return table(AWKWARD), sf.read(pa.table(AWKWARD))


def same(one: Counts, other: Counts) -> None:
    assert one.names == other.names
    assert [column.texts for column in one.columns] == [column.texts for column in other.columns]
    assert [codes.tolist() for codes in one.codes] == [codes.tolist() for codes in other.codes]
    assert one.n.tolist() == other.n.tolist()


@pytest.mark.parametrize("by", [*EACH, *SOME, ()], **SHORT)
def test_counts(both: tuple[Table, Table], by: tuple[str, ...]) -> None:
    one, other = both
    same(one.scan(by), other.scan(by))
    assert one.unique_rows(by) == other.unique_rows(by)
    same(one.sampled(by, 1000), other.sampled(by, 1000))


def test_columns_alone(both: tuple[Table, Table]) -> None:
    one, other = both
    theirs = other.scan_each(other.columns)
    for name, counts in one.scan_each(one.columns).items():
        same(counts, theirs[name])
    assert one.distinct() == other.distinct()
    assert one.columns == other.columns


@pytest.mark.parametrize("most", [3, 1000])
def test_counts_within(both: tuple[Table, Table], most: int) -> None:
    one, other = both
    same(one.scan_within(("yes",), ("text", "select"), most), other.scan_within(("yes",), ("text", "select"), most))


def test_digests(both: tuple[Table, Table], table: Callable[..., Table], engine: str) -> None:
    """By what is counted, the same everywhere; by a server itself, another one of another content, whatever the order of the rows."""
    one, other = both
    assert Table.digest(one) == Table.digest(other)
    if engine == "duckdb":
        return
    own = table(AWKWARD).digest()
    assert own == one.digest()
    for column in AWKWARD:
        changed = AWKWARD | {column: pa.array([*AWKWARD[column].to_pylist()[:-1], None], AWKWARD[column].type)}
        if changed[column] != AWKWARD[column]:
            assert table(changed).digest() != own, column
    turned = table({name: values.take(pa.array(range(19, -1, -1))) for name, values in AWKWARD.items()})
    assert turned.digest() == own


@pytest.mark.parametrize("divides", [False, True], ids=["strict", "dividing"])
@pytest.mark.parametrize("by", [*EACH, *SOME[:3]], **SHORT)
def test_recodings(both: tuple[Table, Table], by: tuple[str, ...], divides: bool) -> None:
    one, other = both
    counts = other.count(by)
    before = [take(column.values, codes) for column, codes in zip(counts.columns, counts.codes, strict=True)]
    after = strings([None if i % 5 == 0 else f"[{i % 4}, 'x')" for i in range(len(counts))])
    plan = Recoding.of(by, (by[0],), [*before, after], counts.n, divides=divides)
    plan = Recoding(plan.by, plan.to, plan.table.slice(1), divides)  # one tuple is suppressed
    done, theirs = one.recode(plan), other.recode(plan)
    assert Table.digest(done) == Table.digest(theirs)
    assert done.rows == plan.rows
    same(done.keep(by).scan(by), theirs.keep(by).scan(by))


def test_a_tuple_that_is_divided(both: tuple[Table, Table]) -> None:
    """Which of its rows go where hangs on their other values alone, and is the same in every engine."""
    one, other = both
    plan = Recoding.of(("yes",), ("yes",), [strings(["true", "true", "false", None]), strings(["left", "right", "*", "*"])], np.array([4, 6, 5, 5]), divides=True)  # fmt: skip
    for columns in (one.columns, ("yes", "text", "part"), ("select", "yes", "moment")):
        assert Table.digest(one.keep(columns).recode(plan)) == Table.digest(other.keep(columns).recode(plan))


def test_projections_and_copies(both: tuple[Table, Table]) -> None:
    one, other = both
    sides = [each.keep(("text", "part", "select")).copied({"original.part": "part", "x" * 80: "text"}) for each in both]
    assert sides[0].columns == sides[1].columns
    assert Table.digest(sides[0]) == Table.digest(sides[1])
    parts = [one.part("text", of=3, at=at) for at in range(3)]
    assert sum(part.rows for part in parts if part is not None) == one.rows
    assert sum(len(part.scan(("text",))) for part in parts if part is not None) == len(other.count(("text",)))


@pytest.mark.parametrize("name", ["out.csv", "out.parquet"])
def test_files_are_the_same_to_the_byte(both: tuple[Table, Table], tmp_path: Path, name: str) -> None:
    files = []
    for i, each in enumerate(both):
        (tmp_path / str(i)).mkdir()
        each.write(tmp_path / str(i) / name)
        files.append((tmp_path / str(i) / name).read_bytes())
    assert files[0] == files[1]
    assert both[0].to_arrow().equals(both[1].to_arrow())


def test_no_rows(table: Callable[..., Table], tmp_path: Path) -> None:
    empty = table({"a": pa.array([], pa.string()), "b": pa.array([], pa.float64())})
    assert empty.rows == 0
    assert len(empty.scan(("a", "b"))) == 0
    assert empty.unique_rows(("a",)) == (0, 0)
    assert {name: len(counts) for name, counts in empty.scan_each(("a", "b")).items()} == {"a": 0, "b": 0}
    empty.write(tmp_path / "none.csv")
    assert (tmp_path / "none.csv").read_text().strip() == "a,b"


# --- what only a server has


def test_types_of_postgres(database: Any, refusal: Any, canary: str) -> None:
    """Collations, domains, enumerations and padded texts count by what they hold; what is no plain value is refused with its column's name."""
    run = database.session.run
    run("CREATE COLLATION blind (provider = icu, locale = 'und-u-ks-level1', deterministic = false)")
    run("CREATE TYPE size AS ENUM ('small', 'large', '10')")
    run("CREATE DOMAIN years AS numeric(5,1) CHECK (value > 0)")
    run(
        'CREATE TABLE kinds (a text COLLATE blind, b char(5), c size, d years, e uuid, f varchar(9), g numeric, h timestamptz, i time, "user" int)'
    )
    uuid = "00000000-0000-0000-0000-00000000000{}"
    for a, b, c, d, e, g, h in (("e", "x", "small", 1, 1, "1.50", "2020-01-01 00:00+02"), ("E", "x ", "large", 1.0, 2, "1.5", "2020-01-01"), ("é", "", "10", 2.5, 1, "NaN", "1999-01-01")):  # fmt: skip
        run(f"INSERT INTO kinds VALUES ('{a}', '{b}', '{c}', {d}, '{uuid.format(e)}', '', '{g}', '{h}', '10:00', 1)")
    table = sf.read(database.server.address("kinds"))
    texts = {name: table.count((name,)).columns[0].texts for name in table.columns}
    assert texts == {
        "a": ["E", "e", "é"],
        "b": ["x", None],
        "c": ["10", "large", "small"],
        "d": ["1.0", "2.5"],
        "e": [uuid.format(1), uuid.format(2)],
        "f": [None],
        "g": ["1.5", None],
        "h": ["1999-01-01 00:00:00+00", "2019-12-31 22:00:00+00", "2020-01-01 00:00:00+00"],
        "i": ["10:00:00"],
        "user": ["1"],
    }
    assert table.recode(Recoding.of(("g", "c"), ("c",), [strings(["1.50", None]), strings(["large", "10"]), strings(["L", None])], np.array([1, 1]))).rows == 2  # fmt: skip
    for kind, value in (("json", "{}"), ("int[]", "{1}"), ("bytea", "x"), ("point", "(1,2)"), ("tsvector", canary)):
        run("DROP TABLE IF EXISTS odd")
        run("CREATE TABLE odd (plain text, strange " + kind + ")")
        run(f"INSERT INTO odd VALUES ('a', '{value}')")
        refusal(InputError, lambda: sf.read(database.server.address("odd")), "'strange'", "postgres.public.odd")


@pytest.mark.parametrize("day", ["infinity", "0044-01-01 BC", "10000-01-01"])
def test_days_that_no_calendar_here_has(database: Any, refusal: Any, day: str) -> None:
    database.session.run("DROP TABLE IF EXISTS days")
    database.session.run(f"CREATE TABLE days AS SELECT date '{day}' AS born, timestamp '{day}' AS seen")
    table = sf.read(database.server.address("days"))
    for column in ("born", "seen"):
        text = refusal(InputError, lambda column=column: table.count((column,)), repr(column))
        assert day not in text.replace("infinity; make", "")


def test_what_means_missing_may_be_said(database: Any) -> None:
    address = database.bring({"a": ["?", "x", None], "b": [99, 1, 2], "c": [99.0, 1.5, 2.0]})
    table = sf.read(address, missing=["?", "99"])
    assert [table.count((name,)).columns[0].texts for name in "abc"] == [
        ["x", None],
        ["1", "2", None],
        ["1.5", "2", None],
    ]
    path, options, name = table.portable()
    again = sf.read(path, **dict(options))
    assert (again.digest(), again.name) == (table.digest(), name)
    assert again.digest() != sf.read(address).digest()


@pytest.mark.parametrize("engine", ["postgres", pytest.param("spark", marks=pytest.mark.full)])
def test_what_is_held_on_the_server_goes(engine: str, request: pytest.FixtureRequest) -> None:
    """Replacements last as long as the table that is made of them, and a table made of that one."""
    place = request.getfixturevalue("database" if engine == "postgres" else "lake")
    small = place.table({"a": ["1", "2"], "b": ["x", "y"]})
    plan = Recoding.of(("a",), ("a",), [strings(["1", "2"]), strings(["*", "*"])], np.array([1, 1]))
    kept = small.recode(plan).keep(("a",))
    assert kept.scan(("a",)).n.tolist() == [2]

    def held() -> int:
        if engine == "postgres":
            asked = "SELECT count(*) FROM pg_class WHERE relname LIKE 'sfumato%' AND relpersistence = 't'"
            return int(place.session.rows(asked)[0][0])
        return len(place.session.rows("SHOW VIEWS LIKE 'sfumato_*'"))

    before = held()
    del kept
    place.session.rows("SELECT 1 AS a")
    assert held() < before
