"""A query is one SELECT over the tables of its database: every attack is refused, writes no file and reads none."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from typing import Any

import duckdb
import pytest

import sfumato as sf
from sfumato.core.errors import InputError

SECRET = "the-secret-of-another-file"

BOTH = [
    "SELECT 1; SELECT 2",
    "SELECT * FROM people; DROP TABLE people",
    "DELETE FROM people",
    "UPDATE people SET t = 'z'",
    "INSERT INTO people VALUES (3, 'z')",
    "WITH w AS (SELECT 1) INSERT INTO people SELECT 3, 'z'",
    "CREATE TABLE stolen AS SELECT * FROM people",
    "DROP TABLE people",
    "BEGIN",
    "VACUUM",
    "VACUUM INTO '{new}'",
    "ATTACH '{new}' AS other",
    "ATTACH DATABASE '{new}' AS other",
    "PRAGMA database_list",
    "EXPLAIN SELECT * FROM people",
    "",
    "-- nothing",
    "/* SELECT */ DELETE FROM people",
]
DUCK = [
    "COPY people TO '{new}'",
    "COPY (SELECT * FROM people) TO '{new}' (FORMAT csv)",
    "SELECT 1) TO '{new}' (FORMAT csv); COPY (SELECT 1",
    "SELECT 1) TO '{new}' --",
    "EXPORT DATABASE '{new}'",
    "SELECT * FROM read_csv('{foreign}')",
    "SELECT * FROM READ_CSV_AUTO('{foreign}')",
    "SELECT * FROM read_text('{foreign}')",
    "SELECT * FROM read_blob('{foreign}')",
    "SELECT * FROM '{foreign}'",
    "SELECT * FROM people WHERE t IN (SELECT content FROM read_text('{foreign}'))",
    "WITH f AS (SELECT * FROM read_text('{foreign}')) SELECT * FROM f",
    "SELECT * FROM glob('{folder}/*')",
    "SELECT * FROM query('SELECT * FROM read_text(''{foreign}'')')",
    "SELECT * FROM query_table('{foreign}')",
    "SELECT * FROM sniff_csv('{foreign}')",
    "SELECT * FROM duckdb_settings()",
    "SELECT * FROM duckdb_secrets()",
    "SELECT * FROM pragma_database_list()",
    "SELECT * FROM pragma_database_list",
    "SELECT * FROM pg_settings",
    "SELECT * FROM Pg_Catalog.pg_settings",
    "SELECT * FROM duckdb_databases",
    "SELECT n FROM people WHERE t IN (SELECT path FROM duckdb_databases)",
    "SELECT * FROM information_schema.tables",
    "SELECT Current_Setting('secret_directory') AS s",
    "SELECT n, (SELECT current_setting('temp_directory')) AS s FROM people",
    "SELECT getenv('HOME') AS h",
    "SELECT * FROM reads_foreign",
    "SELECT nextval('numbers') AS n",
    "SET enable_external_access = true",
    "INSTALL httpfs",
    "LOAD httpfs",
    "CALL pragma_version()",
    "SHOW TABLES",
    "DESCRIBE people",
    "SUMMARIZE people",
    "PREPARE p AS SELECT 1",
    "EXECUTE p",
    "SELECT * FROM a_variable_of_python",
    "CHECKPOINT",
    "SELECT * FROM force_checkpoint()",
]
LITE = [
    "SELECT load_extension('{new}')",
    "SELECT * FROM pragma_database_list",
    "SELECT * FROM people WHERE t = (SELECT file FROM pragma_database_list)",
    "SELECT fts3_tokenizer('simple')",
    "SELECT readfile('{foreign}')",
    "SELECT writefile('{new}', 'x')",
    "REINDEX",
    "ANALYZE",
    "SAVEPOINT s",
    "DETACH main",
]
READS = [
    ("SELECT count(*) AS c FROM people", [(("2",), 1)]),
    ("WITH w AS (SELECT n FROM people) SELECT max(n) AS m FROM w;", [(("2",), 1)]),
    ("-- a note\nSELECT sum(n) AS s FROM people -- and another", [(("3",), 1)]),
    ("SELECT n FROM people UNION SELECT 7 AS n", [(("1",), 1), (("2",), 1), (("7",), 1)]),
]


def _state(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.fixture
def house(tmp_path: Path) -> Path:
    foreign = tmp_path / "foreign.csv"
    foreign.write_text(f"who\n{SECRET}\n")
    with duckdb.connect(str(tmp_path / "people.duckdb")) as base:
        base.execute("CREATE TABLE people AS SELECT * FROM (VALUES (1, 'x'), (2, 'y')) p(n, t)")
        base.execute(f"CREATE VIEW reads_foreign AS SELECT * FROM read_csv('{foreign}')")
        base.execute("CREATE SEQUENCE numbers")
    lite = sqlite3.connect(tmp_path / "people.sqlite")
    lite.execute("CREATE TABLE people (n INTEGER, t TEXT)")
    lite.execute("INSERT INTO people VALUES (1, 'x'), (2, 'y')")
    lite.commit()
    lite.close()
    return tmp_path


ATTACKS = [("people.duckdb", q) for q in (*BOTH, *DUCK)] + [("people.sqlite", q) for q in (*BOTH, *LITE)]


@pytest.mark.parametrize(("base", "query"), ATTACKS)
def test_every_attack_is_refused_and_leaves_no_trace(house: Path, refusal: Any, base: str, query: str) -> None:
    a_variable_of_python = {"who": [SECRET]}
    assert a_variable_of_python
    before = _state(house)
    text = query.format(new=house / "stolen", foreign=house / "foreign.csv", folder=house)
    said = refusal(InputError, lambda: sf.read(house / base, query=text), house / base, "SELECT")
    assert SECRET not in str(said)
    assert _state(house) == before, "no file came, went or changed"


@pytest.mark.parametrize("base", ["people.duckdb", "people.sqlite"])
@pytest.mark.parametrize(("query", "rows"), READS)
def test_what_is_one_select_is_read(house: Path, rows_of: Any, base: str, query: str, rows: Any) -> None:
    before = _state(house)
    assert rows_of(sf.read(house / base, query=query)) == rows
    assert _state(house) == before


def test_kinds_that_arrow_spells_otherwise(house: Path, rows_of: Any) -> None:
    query = "SELECT sum(n) AS s, TIME '01:02:03' AS t, INTERVAL 2 DAY AS d, DATE '2020-01-02' AS e, 'a'::ENUM('a') AS f FROM people"
    assert rows_of(sf.read(house / "people.duckdb", query=query)) == [
        (("3", "01:02:03", "2 days", "2020-01-02", "a"), 1)
    ]


def test_a_foreign_file_is_read_by_no_system_call(house: Path) -> None:
    """The access time would be the only trace of a read; here the file cannot be opened at all, and the sentence is the same."""
    foreign = house / "foreign.csv"
    said = []
    for there in (True, False):
        if not there:
            os.unlink(foreign)
        with pytest.raises(InputError) as error:
            sf.read(house / "people.duckdb", query="SELECT * FROM reads_foreign")
        said.append(str(error.value))
    assert said[0] == said[1], "the answer does not tell whether another file exists"
