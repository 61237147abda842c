"""Differential privacy from the first byte: whatever one row holds, nothing but noisy values tells of it.

Every mechanism that promises differential privacy is run from the command line on a file and on its neighbours, which have one
row more that is as hostile as a row can be.
"""

from __future__ import annotations

import csv
import gzip
import json
import sqlite3
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli_house import Run

import sfumato as sf
from selection import few
from sfumato.mechanisms import registry

ROLES = """[roles]
quasi = ["age", "sex"]
sensitive = ["job"]
[domains]
age = "0:9"
sex = ["F", "M"]
job = "a|b|c"
"""
CASES: dict[str, tuple[str, ...]] = {
    "dp_statistics": ("statistics=count,count(sex=F),sum(age),mean(age)",),
    "dp_marginals": ("columns=sex,job",),
    "dp_marginals ways": ("ways=2",),
    "dp_choice": ("column=job",),
    "dp_choice quantile": ("column=age", "choose=quantile", "candidates=0:9"),
    "dp_synthesis": ("structure=chain", "rows=20"),
    "dp_synthesis tree": ("columns=sex,job", "structure=tree", "rows=20"),
    "dp_sampling": ("columns=sex", "delta=0.9"),
    "dp_ranges": ("column=age", "method=tree"),
    "dp_ranges rows": ("column=age", "method=tree", "give=rows", "epsilon=50"),
    "local_noise": ("bounds=age=0:9",),
}
COUNTS_ARE_NOISY = ("dp_ranges rows", "dp_sampling")
"""Cases whose rows are drawn, so that how many there are is part of what is released."""
HOSTILE: dict[str, bytes] = {
    "a plain row": b"3,F,a",
    "a decimal comma": b'"1.234,56",F,a',
    "a German date": b"29.02.1981,F,a",
    "a non-number": b"young,F,a",
    "a huge number": b"9" * 400 + b",F,a",
    "a huge exponent": b"1e999999,F,a",
    "not a number": b"NaN,F,a",
    "infinity": b"-inf,M,b",
    "a number with leading zeros": b"007,F,a",
    "an unseen category": b"3,X,zzz",
    "an empty row": b",,",
    "an empty line": b"",
    "spaces": b"   ",
    "missing marks": b"NA,NULL,*",
    "an open quote": b'3,"F,a',
    "quotes all over": b'""",""","',
    "text behind a quote": b'"3"x,F,a',
    "apostrophes": b"'3','F','a'",
    "too few fields": b"3,F",
    "too many fields": b"3,F,a,b,c,d",
    "another delimiter": b"3;F;a",
    "a byte that is no UTF-8": b"3,\xff\xfe,a",
    "Latin-1": "3,é,a".encode("latin-1"),
    "a zero byte": b"3,F\0,a",
    "a byte order mark": b"\xef\xbb\xbf3,F,a",
    "a carriage return": b"3,F\r,a",
    "a very long cell": b"3," + b"F" * 3_000_000 + b",a",
    "a long quoted cell": b'3,"' + b"F" * 200_000 + b'",a',
    "a formula": b"=1+1,@SUM,-3",
}


def table(folder: Path, extra: bytes | None, *, instead: bool = False) -> Path:
    """Twelve rows, or these and one that stands first, where whoever guesses looks."""
    rows = [b"%d,%s,%s" % (i % 10, b"FM"[i % 2 : i % 2 + 1], b"abc"[i % 3 : i % 3 + 1]) for i in range(12)]
    if extra is not None:
        rows = [extra, *rows[instead:]]
    path = folder / "people.csv"
    path.write_bytes(b"\n".join([b"age,sex,job", *rows, b""]))
    return path


def settings(case: str) -> list[str]:
    name, given = case.split()[0], CASES[case]
    words = [word for text in ("epsilon=1", *given) for word in ("--set", text)]
    clear = ("sex", "job") if name == "local_noise" else ()
    return ["--mechanism", name, *words, *(word for column in clear for word in ("--waive", f"{column}: it is tried"))]


def told(run: Run, case: str, path: Path, *, words: bool = True) -> dict[str, Any]:
    """All that is not a noisy value: exit code, streams, the columns and the number of rows of what is written."""
    folder = path.parent
    (folder / "roles.toml").write_text(ROLES, encoding="utf-8")
    out = folder / "release.csv"
    call = ("sanitize", path, "--roles", folder / "roles.toml", "--out", out, *settings(case))
    in_json = run(*call, "--json")
    in_words = run(*call) if words else in_json
    found: dict[str, Any] = {"codes": (in_json.code, in_words.code), "errors": (in_json.err, in_words.err)}
    if in_json.code:
        return found
    content = in_json.json
    assert content.pop("sha256")
    with out.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    labels = [
        [cell for cell, name in zip(row, header, strict=True) if name in ("statistic", "epsilon")] for row in rows
    ]
    counted = (len(rows), labels)
    if case in COUNTS_ARE_NOISY:
        counted = (0, [])
        content.pop("rows")
        in_words = type(in_words)(in_words.code, in_words.out.rpartition(": ")[0], in_words.err)
    return (
        found
        | {"json": json.dumps(content), "header": header, "rows": counted}
        | ({"words": in_words.out} if words else {})
    )


def test_every_mechanism_with_a_promise_is_played() -> None:
    assert {name.split()[0] for name in CASES} == {name for name, made in registry().items() if made.card.private}


@pytest.mark.parametrize("case", few(CASES, *list(CASES)[:1]))
def test_no_row_changes_anything_but_noisy_values(case: str, tmp_path: Path, run: Run) -> None:
    """Not the exit code, a stream, a note, a column or a count: whatever the row is, and whether it is there."""
    local = case == "local_noise"  # one released row for each row: how many there are is public, what they say is not
    without = {words: told(run, case, table(tmp_path, None), words=words) for words in (False, True)}
    assert without[True]["codes"] == (0, 0)
    for i, (what, row) in enumerate(HOSTILE.items()):
        words = i % 10 == 1
        if not (local and not row):
            assert told(run, case, table(tmp_path, row, instead=local), words=words) == without[words], what
    nobody = table(tmp_path, None)
    nobody.write_bytes(b"age,sex,job\n")
    if not local and case not in COUNTS_ARE_NOISY:  # without a row, noise decides whether there are any to make
        assert told(run, case, nobody) == without[True]


@pytest.mark.parametrize("case", ["dp_statistics", "dp_marginals", "local_noise"])
def test_the_number_of_rows_is_not_told(case: str, tmp_path: Path, run: Run) -> None:
    path = tmp_path / "people.csv"
    path.write_bytes(b"age,sex,job\n" + b"3,F,a\n" * 4321)
    found = told(run, case, path)
    assert "suppressed" in found["json"]
    assert json.loads(found["json"])["suppressed"] is None
    if case != "local_noise":
        assert "4321" not in found["json"] + found["words"]
        assert "4,321" not in found["words"]


def test_what_does_not_fit_is_missing_and_nothing_else_changes(tmp_path: Path) -> None:
    """With hardly any noise: the hostile row adds itself and moves nothing."""
    made = sf.DpStatistics(statistics="count,sum(age),count(age=),count(sex=F)", bounds="age=0:9", epsilon=1e6)
    roles = sf.Roles(quasi=("age", "sex"), sensitive=("job",))

    def exact(path: Path) -> dict[str, float]:
        release = made(sf.read(path, stated=True), roles)
        release.table.write(tmp_path / "out.csv")
        with (tmp_path / "out.csv").open(encoding="utf-8") as file:
            return {row["statistic"]: float(row["value"]) for row in csv.DictReader(file)}

    before = exact(table(tmp_path, None))
    assert before == {"count": 12, "sum(age)": 46, "count(age=)": 0, "count(sex=F)": 6}
    for what, row in HOSTILE.items():
        change = {name: value - before[name] for name, value in exact(table(tmp_path, row)).items()}
        assert change["count"] == (row != b""), what
        assert 0 <= change["sum(age)"] <= 9, what
        assert change["count(age=)"] in (0, 1), what
        assert change["count(sex=F)"] in (0, 1), what


def test_a_table_opened_with_a_look_is_read_again_as_stated(tmp_path: Path) -> None:
    """From Python, too: the table was guessed, the release is not."""
    path = tmp_path / "people.csv"
    path.write_text("age,sex\n" + "1.234,F\n" * 1000 + '"1.234,56",F\n', encoding="utf-8")
    roles = sf.Roles(quasi=("age", "sex"))
    guessed = sf.read(path)
    assert guessed.count(("age",)).columns[0].texts == ["1234", "1234.56"]
    release = sf.DpStatistics(statistics="sum(age)", bounds="age=0.000:2.000", epsilon=1e6)(guessed, roles)
    assert float(release.table.count(("value",)).columns[0].texts[0] or 0) == pytest.approx(1234, abs=0.1)
    stated = sf.Roles(quasi=("age", "sex"), reading={"decimal": "comma"})
    release = sf.DpStatistics(statistics="sum(age)", bounds="age=0:2000", epsilon=1e6)(guessed, stated)
    assert float(release.table.count(("value",)).columns[0].texts[0] or 0) == pytest.approx(1_235_235, abs=2)


# --- other kinds of file ----------------------------------------------------------------------------------------------

CELLS = [("3", "F", "a"), ("4", "M", "b"), (None, "F", "c")] * 4
ODD_CELLS: list[Any] = ["1.234,56", "29.02.1981", "young", "1e999", "", None, 10**18, 2.5, float("inf"), "x" * 200_000]


def as_gzip(path: Path, rows: list[Any]) -> Path:
    with gzip.open(path / "t.csv.gz", "wt", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("age", "sex", "job"), *rows])
    return path / "t.csv.gz"


def as_parquet(path: Path, rows: list[Any]) -> Path:
    cells = [[None if cell is None else str(cell) for cell in column] for column in zip(*rows, strict=True)]
    pq.write_table(pa.table(dict(zip(("age", "sex", "job"), cells, strict=True))), path / "t.parquet")
    return path / "t.parquet"


def as_sqlite(path: Path, rows: list[Any]) -> Path:
    (path / "t.sqlite").unlink(missing_ok=True)
    with sqlite3.connect(path / "t.sqlite") as database:
        database.execute("CREATE TABLE t (age, sex, job)")
        database.executemany(
            "INSERT INTO t VALUES (?, ?, ?)", [(str(a) if a == 10**18 else a, b, c) for a, b, c in rows]
        )
        if any(row[0] == "29.02.1981" for row in rows):  # bytes that are no text, in a column of texts
            database.execute("INSERT INTO t VALUES (CAST(x'ff00fe' AS TEXT), x'0001', 'a')")
    database.close()
    return path / "t.sqlite"


def as_excel(path: Path, rows: list[Any]) -> Path:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.append(("age", "sex", "job"))
    for row in rows:
        extra = ("beyond",) if row[0] == "young" else ()
        book.active.append(
            tuple(
                None if cell in ("", float("inf")) else str(cell)[:999] if isinstance(cell, str) else cell
                for cell in (*row, *extra)
            )
        )
    book.save(path / "t.xlsx")
    return path / "t.xlsx"


@pytest.mark.parametrize("kind", few([as_gzip, as_parquet, as_sqlite, as_excel], as_parquet, as_excel))
@pytest.mark.parametrize("case", ["dp_statistics", "dp_synthesis"])
def test_the_same_of_every_kind_of_file(kind: Any, case: str, tmp_path: Path, run: Run) -> None:
    without = told(run, case, kind(tmp_path, CELLS), words=False)
    assert without["codes"] == (0, 0)
    for cell in ODD_CELLS:
        assert told(run, case, kind(tmp_path, [(cell, "F", "a"), *CELLS]), words=False) == without, repr(cell)[:20]


def test_a_pandas_table_with_odd_objects(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    roles = sf.Roles(quasi=("age",))
    made = sf.DpStatistics(statistics="count,sum(age)", bounds="age=0:9", epsilon=1e6)
    for odd in ([1], b"\xff", object(), float("nan"), pandas.NaT, "x"):
        release = made(sf.read(pandas.DataFrame({"age": [3, "4", odd]}, dtype=object), stated=True), roles)
        release.table.write(tmp_path / "out.csv")
        lines = (tmp_path / "out.csv").read_text(encoding="utf-8").splitlines()
        assert [line.split(",")[:2] for line in lines[1:]] == [["count", "3"], ["sum(age)", "7"]]
