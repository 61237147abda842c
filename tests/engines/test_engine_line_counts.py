"""A CSV file counted by its lines gives what it gives record by record, and where a line is no record it is left alone."""

from __future__ import annotations

import gc
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.core.errors import InputError
from sfumato.engines import duckdb, line_counts

ROWS = "".join(f"{i % 3},{'x' if i % 2 else 'y'},\n" for i in range(60))


@pytest.fixture
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every file is large, and its lines repeat."""
    monkeypatch.setattr(line_counts, "_LARGE", 0)
    monkeypatch.setattr(line_counts.Lines, "_repeat", lambda self: True)


def both(path: Path, **options: Any) -> tuple[Any, Any]:
    """By lines, and record by record."""
    table = sf.read(path, **options)
    assert isinstance(table, duckdb.DuckTable)
    return table, replace(table, lines=None)


FILES = {
    "plain": ("a,b,c\n" + ROWS, True),
    "no line end at the end": ("a,b,c\n" + ROWS.rstrip("\n"), True),
    "quotes": ('a,b\n"1,5",x\n"1,5",x\n"say ""hi""",y\n"",z\n', True),
    "a value of two lines": ('a,b\n"one\ntwo",x\n"one\ntwo",x\n1,y\n', False),
    "two values of two lines each": ('a,b\n"one\ntwo","three\nfour"\n1,y\n', False),
    "line ends of Windows": ("a,b,c\r\n" + ROWS.replace("\n", "\r\n"), True),
    "a mark at the beginning": ("\ufeffa,b,c\n" + ROWS, True),
    "blank lines above": ("\n\na,b,c\n" + ROWS, True),
    "our own names": ("rows alike,line,rows alike_\n" + ROWS, True),
    "one column": ("a\nx\ny\nx\n", True),
    "one column with a missing value": ('a\nx\n""\nx\n', True),
    "what we took for absent": ("a,b\nx\x01y,1\nx\x01y,1\n", False),
    "spaces": ("a,b\n x , y\n x , y\nx,y\n", True),
    "letters of all kinds": ("ä,中\né,🙂\né,🙂\n\u2028,x\n", True),
}


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("case", FILES)
def test_the_same_counts(case: str, tmp_path: Path, rows_of: Any) -> None:
    content, by_lines = FILES[case]
    (tmp_path / "in.csv").write_bytes(content.encode())
    table, plain = both(tmp_path / "in.csv", header=True)
    assert (table.lines() is not None) == by_lines
    assert rows_of(table) == rows_of(plain)
    assert table.rows == plain.rows
    for column in table.columns:
        assert rows_of(table, (column,)) == rows_of(plain, (column,))
    assert table.count(()).n.tolist() == plain.count(()).n.tolist()


@pytest.mark.usefixtures("always")
def test_other_questions_have_the_same_answers(tmp_path: Path) -> None:
    """A sample, rows that are alone, and columns one by one: none of them reads the file again."""
    rng = random.Random(5)
    rows = [f"{rng.randrange(40)},{rng.choice('xyz')},{rng.choice(['', '7'])}" for _ in range(900)]
    path = tmp_path / "in.csv"
    path.write_text("a,b,c\n" + "\n".join(rows) + "\n", encoding="utf-8")
    answers = []
    for table in both(path):
        sample = table.sampled(("a", "b", "c"), 20)
        assert 0 < len(sample) < 60 < len(table.count(("a", "b", "c")))
        each = table.scan_each(table.columns)
        answers.append(
            [
                [codes.tolist() for codes in (*sample.codes, sample.n)],
                [sample.columns[i].texts for i in range(3)],
                [(each[name].columns[0].texts, each[name].n.tolist()) for name in table.columns],
                replace(table, name="again").unique_rows(("a", "b")),
                table.rows,
            ]
        )
    assert answers[0] == answers[1]
    assert answers[0][4] == 900


@pytest.mark.usefixtures("always")
def test_random_files_give_the_same_counts(tmp_path: Path, rows_of: Any) -> None:
    rng, taken = random.Random(4), 0
    pieces = ["1", "22", "x", "", " ", '"', '""', '"a"', '"a,b"', '"a""b"', '"\n"', "'", "5'", "é"]
    for i in range(150):
        kinds = pieces if i % 2 else [piece for piece in pieces if piece.count('"') % 2 == 0 and "\n" not in piece]
        made = [",".join("".join(rng.choices(kinds, k=rng.choice((1, 1, 1, 2)))) for _ in "abc") for _ in range(4)]
        content = "a,b,c\n" + "\n".join(rng.choices(made, k=9)) + "\n" * rng.randrange(2)
        path = tmp_path / f"{i}.csv"
        path.write_text(content, encoding="utf-8")
        table, plain = both(path, delimiter=",", quote='"', header=True)
        answers: list[Any] = []
        for one in (table, plain):
            try:
                answers.append(rows_of(one))
            except InputError as error:
                answers.append(str(error))
        assert answers[0] == answers[1], content
        taken += table.lines() is not None
    assert 30 < taken < 120  # both ways were gone


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("content", ["a,b\n1,2\n1,2\n1,2,3\n", 'a,b\n1,2\n1,2\n1,"2\n', "a,b\n1,2\n\n1,2\n"])
def test_what_is_wrong_is_told_with_its_line(content: str, tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text(content, encoding="utf-8")
    said = []
    for table in both(tmp_path / "in.csv", delimiter=",", quote='"', header=True):
        try:
            said.append(table.count(("a",)).n.tolist())
        except InputError as error:
            said.append(str(error))
            assert "line" in said[-1]
    assert said[0] == said[1]


@pytest.mark.usefixtures("always")
def test_texts_that_mean_missing(tmp_path: Path, rows_of: Any) -> None:
    (tmp_path / "in.csv").write_text("a,b\n?,x\n?,x\n1,?\n", encoding="utf-8")
    table = sf.read(tmp_path / "in.csv", missing=("?",))
    assert isinstance(table, duckdb.DuckTable)
    assert table.lines is not None
    assert table.lines() is not None
    assert rows_of(table) == [(("1", None), 1), ((None, "x"), 2)]


def test_only_where_lines_repeat_in_a_large_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    few, many = tmp_path / "few.csv", tmp_path / "many.csv"
    few.write_text("a,b\n" + "".join(f"{i % 50},x\n" for i in range(40_000)), encoding="utf-8")
    many.write_text("a,b\n" + "".join(f"{i},x\n" for i in range(40_000)), encoding="utf-8")
    assert both(few)[0].lines() is None
    monkeypatch.setattr(line_counts, "_LARGE", 1 << 17)
    monkeypatch.setattr(line_counts, "_BLOCKS", 2)  # which do not overlap
    assert both(few)[0].lines() is not None
    assert both(many)[0].lines() is None
    assert both(few)[0].rows == both(many)[0].rows == 40_000


@pytest.mark.usefixtures("always")
def test_too_many_lines_are_not_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line_counts, "_MOST", 5)
    for distinct in (5, 6):
        path = tmp_path / f"{distinct}.csv"
        path.write_text("a,b\n" + "".join(f"{i % distinct},x\n" for i in range(60)), encoding="utf-8")
        table = both(path)[0]
        assert (table.lines() is not None) == (distinct == 5)
        assert table.count(("a",)).n.tolist() == [60 // distinct] * distinct


@pytest.mark.usefixtures("always")
def test_what_is_held_is_let_go(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("a,b\n" + "1,2\n" * 9, encoding="utf-8")
    files = set(duckdb.folder().glob("*"))
    table = both(tmp_path / "in.csv")[0]
    assert table.lines is not None
    name = str(table.lines()).split()[3].rstrip("',")

    def held() -> int:
        return int(duckdb.run(f"SELECT count(*) FROM duckdb_tables() WHERE table_name = '{name}'", "engine")[0][0])

    assert held() == 1
    del table
    gc.collect()
    sf.read({"a": ["1", "2"]}).write(tmp_path / "other.csv")
    assert held() == 0
    assert set(duckdb.folder().glob("*")) == files


@pytest.mark.parametrize("at_once", [1, 3, 1 << 14])
def test_records_written_once_and_repeated_are_the_same_bytes(
    tmp_path: Path, table: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    monkeypatch.setattr(duckdb, "_ROWS_AT_ONCE", at_once)
    repeated: list[bool] = []
    repeat = duckdb._repeat_lines
    monkeypatch.setattr(duckdb, "_repeat_lines", lambda *a: (repeated.append(True), repeat(*a))[1])
    odd = ['say "hi"', "two\nlines", "a,b;c|d\te", None, " lead", "é", "", "\r", '"', "\n\n"]
    rng = random.Random(at_once)
    columns = {name: rng.choices(odd, k=400) for name in ('na"me', "other\nname")}
    columns["few"] = ["x"] * 400
    for names in (tuple(columns), ('na"me',), ("few",)):
        written = table(columns).keep(names)
        with monkeypatch.context() as slow:
            written.write(tmp_path / "fast.csv")
            slow.setattr(duckdb, "_MOST_FIELDS", 0)
            written.write(tmp_path / "slow.csv")
        assert (tmp_path / "fast.csv").read_bytes() == (tmp_path / "slow.csv").read_bytes()
    assert len(repeated) == 3


def test_no_rows_are_a_header(tmp_path: Path, table: Callable[..., Any]) -> None:
    none = pa.table({"few": pa.array([], pa.string())}), pa.array([], pa.int64())
    table({"few": ["x"]}).instead(*none).write(tmp_path / "none.csv")
    assert (tmp_path / "none.csv").read_text(encoding="utf-8") == "few\n"
