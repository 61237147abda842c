"""Dates and numbers as other countries spell them: read as what they are where all values say so, else left and said."""

from __future__ import annotations

import contextlib
import gzip
import itertools
import random
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.core.errors import InputError
from sfumato.core.hierarchy import Hierarchy
from sfumato.core.release import Release
from sfumato.core.spelling import decide, look, plain
from sfumato.engines import line_counts, local_spelling
from sfumato.engines.duckdb import DuckTable
from sfumato.engines.missing_codes import recognise
from sfumato.inspect.queries import given_queries
from sfumato.mechanisms import mechanism

Values = list[str | None]


def read(values: Values, **options: Any) -> tuple[Values, tuple[str, ...]]:
    """The values as they are read, in their order, and what is said of them."""
    table = sf.read(pa.table({"q": pa.array(values, pa.string()), "n": range(len(values))}), **options)
    counts = table.count(("n", "q"))
    n, q = (([column.texts[c] for c in codes]) for column, codes in zip(counts.columns, counts.codes, strict=True))
    return [text for _, text in sorted(zip(map(int, map(str, n)), q, strict=True))], table.notes


@pytest.fixture(params=["all rows are the first rows", "the engine looks at all rows"])
def both_ways(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """What Python finds among the first rows and what the engine finds among all are one."""
    if "engine" in request.param:
        monkeypatch.setattr(local_spelling, "_FIRST", 1)


# --- extremes --------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("both_ways")
@pytest.mark.parametrize(
    "values",
    [
        [None],
        [None, None, None],
        ["", None],
        ["*", "**", "NA", "NULL", None],
        ["01067", "80331", "10115"],
        ["1.234", "2.500"],
        ["1.5", "2", "-3e5"],
        ["007,5", "1,5"],
        ["1980-12-31", "1981-01-01"],
        ["a", "b"],
        ["1.2.3", "4.5.6"],
        ["123.456.789", "111.222.333"],
        ["75 001", "13 002"],
        ["12:30", "1,2;3"],
        ["31.12.1980", "x"],
        ["31.12.1980", "31/12/1980"],
        ["31.12.1980 ", "31.12.1981"],
        ["1,5", "2.5"],
        ["1,2,3", "4"],
        [",5", "5,"],
        ["1.23,5", "12.3456,7"],
        ["31.12.0980", "01.01.1980"],
        ["12,50 €", "13"],
        ["12 €", "x"],
        ["1,5 €", "2.5 €"],
        ["DRG 801", "DRG 802"],
        ["TOP 1", "ALL 2"],
        ["€", "$"],
        ["€ 007"],
    ],
    ids=str,
)
def test_what_is_no_such_spelling_stands_and_nothing_is_said(values: Values) -> None:
    assert read(values) == ([value or None for value in values], ())


def test_a_table_without_rows() -> None:
    table = sf.read(pa.table({"q": pa.array([], pa.string())}))
    assert (table.rows, table.notes) == (0, ())


READ = {
    "a dot": (["31.12.1980"], ["1980-12-31"], "DD.MM.YYYY"),
    "dots, the day first though it need not be": (["1.2.1980", "03.04.1981"], ["1980-02-01", "1981-04-03"], "DD.MM.YYYY"),
    "a leap day": (["29.02.1980", None], ["1980-02-29", None], "DD.MM.YYYY"),
    "the day first": (["31/12/1980", "01/02/1980"], ["1980-12-31", "1980-02-01"], "DD/MM/YYYY"),
    "the month first": (["12/31/1980", "01/02/1980"], ["1980-12-31", "1980-01-02"], "MM/DD/YYYY"),
    "either way the same": (["01/01/1980", "2/2/1981"], ["1980-01-01", "1981-02-02"], "/YYYY"),
    "hyphens": (["31-12-1980", "1-2-1980"], ["1980-12-31", "1980-02-01"], "DD-MM-YYYY"),
    "dates and stars": (["31.12.1980", "*", "NA", None], ["1980-12-31", "*", "NA", None], "DD.MM.YYYY"),
    "the last day of all": (["31.12.9999"], ["9999-12-31"], "DD.MM.YYYY"),
    "a decimal comma": (["1,5", "-2,25", "+0,75", "4"], ["1.5", "-2.25", "+0.75", "4"], "decimal comma"),
    "one number": (["1234,56"], ["1234.56"], "decimal comma"),
    "three decimals of nothing": (["0,125", "1,250"], ["0.125", "1.250"], "decimal comma"),
    "points between thousands": (["1.234,56", "1.234", "12"], ["1234.56", "1234", "12"], "decimal comma"),
    "spaces between thousands": (["1 234,5", "1\u00a0234,5", "1\u202f234,5"], ["1234.5"] * 3, "decimal comma"),
    "commas between thousands": (["1,234.56", "1,234", "5.5"], ["1234.56", "1234", "5.5"], "between thousands"),
    "amounts in euro": (["1.234,50 €", "12 €", "-3\u00a0€", "+1 000€"], ["1234.50", "12", "-3", "+1000"], "amounts in € with a decimal comma"),
    "amounts in dollars": (["$1,234.50", "-$5", "$ -7.5", None], ["1234.50", "-5", "-7.5", None], "amounts in $,"),
    "the sign before": (["€ 12", "€ 7"], ["12", "7"], "amounts in €,"),
    "a code": (["CHF 12.50", "SFr. 3", "1'234.50 CHF", "k.A."], ["12.50", "3", "1234.50", "k.A."], "amounts in CHF,"),
    "one currency, written in different ways": (["12 Euro", "3,5 EUR", "€4"], ["12", "3.5", "4"], "amounts in € with"),
    "numbers and stars": (["1,5", "***", None, "NULL"], ["1.5", "***", None, "NULL"], "decimal comma"),
}  # fmt: skip


@pytest.mark.usefixtures("both_ways")
@pytest.mark.parametrize("case", READ)
def test_what_all_values_settle_is_read_and_said(case: str) -> None:
    values, wanted, word = READ[case]
    found, notes = read(values)  # type: ignore[arg-type]
    assert found == wanted
    (note,) = notes
    assert note.startswith("column 'q' holds ")
    assert word in note
    assert not any(value in note for value in values if value and len(value) > 4)
    assert read(values, dates="text", decimal="text") == (values, ())  # type: ignore[arg-type]


OPEN = {
    "day or month": (["01/02/1980", "03/04/1981"], "--dates day-first"),
    "hyphens": (["01-02-1980", "12-12-1981"], "--dates month-first"),
    "no leap year": (["29.02.1981", "31.12.1980"], "calendar"),
    "two orders": (["31/12/1980", "12/31/1980"], "calendar"),
    "two digits": (["31.12.80", "01.02.81"], "two digits"),
    "several currencies": (["12,50 €", "CHF 12.50"], "amounts in CHF and €"),
    "amounts, thousands or decimals": (["1.234 €", "12 €"], "--decimal comma"),
    "thousands or decimals": (["1,234", "12,500", "7"], "--decimal comma"),
}


@pytest.mark.usefixtures("both_ways")
@pytest.mark.parametrize("case", OPEN)
def test_what_they_do_not_settle_is_left_and_said(case: str) -> None:
    values, word = OPEN[case]
    found, notes = read(values)  # type: ignore[arg-type]
    assert found == values
    (note,) = notes
    assert word in note
    assert not any(value in note for value in values if len(value) > 1)


@pytest.mark.usefixtures("both_ways")
def test_an_option_settles_what_is_open_and_nothing_else() -> None:
    assert read(["01/02/1980", None], dates="day-first")[0] == ["1980-02-01", None]
    assert read(["01/02/1980", None], dates="month-first")[0] == ["1980-01-02", None]
    assert read(["31/12/1980"], dates="month-first")[0] == ["1980-12-31"]
    assert read(["01.02.1980"], dates="month-first")[0] == ["1980-02-01"]
    assert read(["1,234", "5"], decimal="comma")[0] == ["1.234", "5"]
    assert read(["1,234", "1,234,567", "5"], decimal="point")[0] == ["1234", "1234567", "5"]
    assert read(["1.234", "2.500"], decimal="comma")[0] == ["1234", "2500"]
    assert read(["1.234 €", "5 €"], decimal="comma")[0] == ["1234", "5"]
    assert read(["1.234 €", "5 €"], decimal="point")[0] == ["1.234", "5"]
    assert read(["$1,50"], decimal="point") == (["$1,50"], ())
    assert read(["1.25", "2.5"], decimal="comma") == (["1.25", "2.5"], ())
    assert read(["1,5", "2"], decimal="point") == (["1,5", "2"], ())
    assert read(["01067", "1.5"], decimal="comma") == (["01067", "1.5"], ())


@pytest.mark.parametrize("options", [{"dates": "ymd"}, {"decimal": ";"}, {"dates": ["text"]}])
def test_a_word_that_is_none_of_an_option_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=f"^{next(iter(options))} must be .* or text\\.$"):
        read(["x"], **options)


# --- files -----------------------------------------------------------------------------------------------------------

GERMAN = "Name;geboren;PLZ;Größe\n" + "".join(
    f'"N{i}";"{i % 28 + 1:02}.{i % 12 + 1}.19{50 + i % 50}";0{1000 + i % 7};{1 + i % 3}.{i % 1000:03},{i % 100:02}\n'
    for i in range(2500)
)


@pytest.mark.parametrize("encoding", ["latin-1", "utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzipped"])
def test_a_german_file(encoding: str, packed: bool, tmp_path: Path) -> None:
    path = tmp_path / ("de.csv.gz" if packed else "de.csv")
    raw = GERMAN.encode(encoding)
    path.write_bytes(gzip.compress(raw) if packed else raw)
    table = sf.read(path)
    column = {name: table.count((name,)).columns[0] for name in table.columns}
    assert column["geboren"].dates
    assert column["Größe"].numbers is not None
    assert column["Größe"].numbers.max() < 4000
    assert column["PLZ"].numbers is None
    assert [note.split(" ")[1] for note in table.notes if note.startswith("column")] == ["'geboren'", "'Größe'"]


def test_two_columns_of_one_file_may_differ(tmp_path: Path, rows_of: Any) -> None:
    (tmp_path / "in.csv").write_text("a;b\n31/12/1980;12/31/1980\n?;1/2/1980\n", encoding="utf-8")
    table = sf.read(tmp_path / "in.csv", missing=["?"])
    assert rows_of(table) == [(("1980-12-31", "1980-12-31"), 1), ((None, "1980-01-02"), 1)]


@pytest.mark.parametrize("decimal", [None, "comma"])
def test_a_number_of_the_file_is_what_it_is_beside_any_text(decimal: str | None, tmp_path: Path) -> None:
    """A cell that is the number 1.234 is not 1234, though the text below it has a decimal comma."""
    with contextlib.closing(sqlite3.connect(tmp_path / "in.db")) as base:
        base.execute("CREATE TABLE t (q, r REAL, s)")
        base.executemany("INSERT INTO t VALUES (?, ?, ?)", [(1.234, 2.345, 7), ("2,5", 3.456, "2,5")])
        base.commit()
    table = sf.read(tmp_path / "in.db", decimal=decimal)
    assert [table.count((name,)).columns[0].texts for name in "qrs"] == [
        ["1.234", "2,5"],
        ["2.345", "3.456"],
        ["2.5", "7"],
    ]


def test_a_number_of_a_sheet_is_what_it_is_beside_any_text(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for row in ("q", "s"), (1.234, 7), ("2,5", "2,5"):
        book.active.append(row)
    book.save(tmp_path / "in.xlsx")
    table = sf.read(tmp_path / "in.xlsx")
    assert [table.count((name,)).columns[0].texts for name in "qs"] == [["1.234", "2,5"], ["2.5", "7"]]


@pytest.mark.parametrize("at", [0, 999, 1000, 2400])
def test_one_value_anywhere_is_enough(at: int, tmp_path: Path) -> None:
    """A value that no spelling fits, a comma that first shows late, a day that settles the order."""
    rows = [["01.02.1980", "01/02/1980", "7"] for _ in range(2500)]
    rows[at] = ["30.02.1980", "31/02/1980".replace("02", "12"), "7,5"]
    (tmp_path / "in.csv").write_text("a;b;c\n" + "".join(";".join(row) + "\n" for row in rows), encoding="utf-8")
    table = sf.read(tmp_path / "in.csv")
    a, b, c = (set(table.count((name,)).columns[0].texts) for name in "abc")
    assert a == {"01.02.1980", "30.02.1980"}
    assert b == {"1980-02-01", "1980-12-31"}
    assert c == {"7", "7.5"}


@pytest.mark.parametrize("content", ["a;b\n{}1;x\n", 'a,b\n{}1,"x"\n', "a,b\n{}1,x\n", "a\n{}1\n"])
def test_numbers_without_any_comma_are_not_scanned(
    content: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing in these files can be a decimal comma, but where there are quotes it has to be looked for."""
    asked: list[str] = []
    monkeypatch.setattr(local_spelling, "_FIRST", 1)
    monkeypatch.setattr(local_spelling, "run", lambda sql, where: asked.append(sql) or [(False,)])
    path = tmp_path / "in.csv"
    path.write_text(content.format(content.split("\n")[1].format("") + "\n"), encoding="utf-8")
    assert sf.read(path, header=True).notes in ((), ("fields separated by semicolon; another: --delimiter",))
    assert len(asked) == ('"' in content)


def test_by_lines_and_record_by_record(tmp_path: Path, rows_of: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "de.csv"
    path.write_text(GERMAN, encoding="latin-1")
    record = sf.read(path, missing=["N1"])
    monkeypatch.setattr(line_counts, "_LARGE", 0)
    monkeypatch.setattr(line_counts.Lines, "_repeat", lambda self: True)
    by_line = sf.read(path, missing=["N1"])
    assert isinstance(by_line, DuckTable)
    assert by_line.lines is not None
    assert by_line.lines() is not None
    assert rows_of(record) == rows_of(by_line)
    assert record.notes == by_line.notes
    assert record.digest() == by_line.digest()
    by_line.write(tmp_path / "a.csv")
    record.write(tmp_path / "b.csv")
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    assert b"1950-01-01" in (tmp_path / "a.csv").read_bytes()


def test_a_table_for_another_process_is_not_read_twice() -> None:
    table = sf.read(pa.table({"q": ["1.234", "2.500,5"]})).keep(("q",))
    path, options, _ = table.portable()
    assert sf.read(path, **dict(options)).count(("q",)).columns[0].texts == ["1234", "2500.5"]


# --- the engine and Python agree -------------------------------------------------------------------------------------


def test_random_columns_are_decided_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(7)
    monkeypatch.setattr(local_spelling, "_FIRST", 1)
    columns, kinds = {}, set()
    for i in range(60):
        sign, most, style = rng.choice("./-"), rng.choice((12, 28, 31)), i % 4

        def value(sign: str = sign, most: int = most, style: int = style) -> str:
            if style < 2:
                parts = [rng.randint(1, 12), rng.randint(1, most)][
                    :: rng.choice((1, -1)) if most == 12 else 2 * style - 1
                ]
                return sign.join(map(str, [*parts, rng.choice((1980, 1981))]))
            head = f"{rng.randint(1, 999)}{'.,'[style - 2]}{rng.randint(100, 999)}"
            return head + rng.choice(("", f"{',.'[style - 2]}{rng.randint(0, 99)}"))

        odd = ["*", "", "NA", "5 €", "7", "0,5", f"29{sign}2{sign}1981", f"1{sign}2{sign}80", "1,234,567", "x"]
        if i % 12 > 9:  # amounts, in one currency or two
            bare, signs = value, rng.choice((("€",), ("€", "CHF"), ("$", "$")))
            value = lambda bare=bare, signs=signs: f"{bare()} {rng.choice(signs)}"  # noqa: E731
        columns[f"c{i}"] = [value(), *(value() if rng.random() < 0.9 else rng.choice(odd) for _ in range(4))]
    table = sf.read(pa.table(columns))
    read_as = table.head(5)
    for name, values in columns.items():
        found = decide(look(values))
        assert read_as[name] == [found.way.plain(v) if found.way else v for v in values if v], values
        said = [note for note in table.notes if f"'{name}'" in note]
        assert said == ([f"column '{name}' {found.said}"] if found.said else [])
        kinds.add(found.way.name if found.way else found.said)
    assert len(kinds) >= 8


def test_a_value_is_one_text_however_it_is_spelled() -> None:
    """Reading what was read changes nothing."""
    for values, wanted, _ in READ.values():
        texts = [value for value in values if value is not None]
        assert plain(plain(texts)) == plain(texts) == tuple(text for text in wanted if text is not None)


# --- beside the original ---------------------------------------------------------------------------------------------


def column(values: Values) -> DuckTable:
    return sf.read(pa.table({"q": pa.array(values, pa.string())}))  # type: ignore[return-value]


def texts(table: Any) -> list[str | None]:
    return list(table.count(("q",)).columns[0].texts)


def test_iso_and_european_spellings_are_one() -> None:
    iso, european = ["1980-12-31", "1981-02-01"], ["31.12.1980", "01.02.1981"]
    for before, after in itertools.product((iso, european), repeat=2):
        release = recognise(column(after), column(before), quasi=["q"])  # type: ignore[arg-type]
        assert texts(release) == iso
        score = sf.metric("iloss")(Release(table=release, original=column(before)), sf.Roles(quasi=("q",)))  # type: ignore[arg-type]
        assert score.value == 0


def test_what_the_release_leaves_open_is_read_as_the_original() -> None:
    original = column(["31/12/1980", "01/02/1981"])
    release = recognise(column(["01/02/1981", "*"]), original, quasi=["q"])
    assert texts(release) == ["*", "1981-02-01"]
    assert release.notes[-1] == "column 'q' is read as the original is: dates as DD/MM/YYYY"
    numbers = recognise(column(["1,234"]), column(["1,234", "2,5"]), quasi=["q"])
    assert texts(numbers) == ["1.234"]


def test_amounts_are_read_as_the_original_is() -> None:
    assert texts(recognise(column(["1.234 €"]), column(["1.234 €", "2,50 €"]), quasi=["q"])) == ["1234"]
    mixed = recognise(column(["1,50 €"]), column(["1,50 €", "2 $"]), quasi=["q"])
    assert texts(mixed) == ["1,50 €"]
    assert mixed.notes[-1] == "column 'q' is left as text, as the original is"
    ours = column(["1,50 €", "2 €"])
    assert texts(recognise(column(["1.50", "*"]), ours, quasi=["q"])) == ["*", "1.50"]


def test_what_is_text_in_the_original_is_text_in_the_release() -> None:
    """The one row that keeps the original from being dates was suppressed."""
    original = column(["31.12.1980", "30.02.1981"])
    release = recognise(column(["31.12.1980"]), original, quasi=["q"])
    assert texts(release) == ["31.12.1980"]
    assert release.notes[-1] == "column 'q' is left as text, as the original is"
    assert texts(recognise(column(["1,5"]), column(["1,5", "x"]), quasi=["q"])) == ["1,5"]


def test_numbers_that_nothing_tells_from_plain_ones_are_read_as_they_stood_in_the_original() -> None:
    """The one value with a comma was suppressed: 1.234 is what the original's 1.234 is."""
    for gap in ".", " ":
        original = column([f"1{gap}234", f"2{gap}500", "3,5", None])
        release = recognise(column([f"1{gap}234", "*", "*", None]), original, quasi=["q"])
        assert set(texts(release)) == {"1234", "*", None}
        assert release.notes[-1] == "column 'q' is read as the original is: numbers with a decimal comma"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (["1,234", "2,5"], ["1.234", "*"]),  # a release of ours
        (["1.234", "1,234", "2,5"], ["1.234", "*"]),  # it may be either
        (["1234,5"], ["1.234"]),  # noise
        (["1.234,5"], ["1.234", "x"]),  # no number at all
        (["1.234,5"], ["*", None]),
    ],
    ids=str,
)
def test_plain_numbers_stay_plain_beside_any_original(before: Values, after: Values) -> None:
    assert set(texts(recognise(column(after), column(before), quasi=["q"]))) == set(after)


def test_what_the_owner_says_of_the_original_is_not_said_of_a_release_of_ours() -> None:
    """Both are read with --decimal comma, which the original needs: the release spells 1,234 as 1.234, and that is what it is."""
    original = sf.read(pa.table({"q": ["1,234", "2,500"]}), decimal="comma")
    ours = sf.read(pa.table({"q": ["1.234", "*"]}), decimal="comma")
    release = recognise(ours, original, quasi=["q"])
    assert set(texts(release)) == {"1.234", "*"}
    assert release.notes[-1].endswith("left as they are")
    theirs = sf.read(pa.table({"q": ["1,234", "*"]}), decimal="comma")
    assert set(texts(recognise(theirs, original, quasi=["q"]))) == {"1.234", "*"}


def test_what_the_owner_says_of_a_point_holds_of_both_or_of_none() -> None:
    """1.5 keeps the original from being read with a decimal comma; its row was suppressed."""
    before, after = (sf.read(pa.table({"q": values}), decimal="comma") for values in (["1.234", "1.5"], ["1.234", "*"]))
    assert texts(before) == ["1.234", "1.5"]
    assert set(texts(recognise(after, before, quasi=["q"]))) == {"1.234", "*"}
    european = sf.read(pa.table({"q": ["1.234,5", "*"]}), decimal="comma")
    assert set(texts(recognise(european, column(["1234.5", "1.5"]), quasi=["q"]))) == {"1234.5", "*"}


def test_a_release_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    """Left as text, since one day is none; without its row the values that are left would be dates."""
    table = sf.read(pa.table({"q": ["31.12.1980"] * 3 + ["30.02.1981"], "s": ["a", "b", "c", "d"]}))
    roles = sf.Roles(quasi=("q",), sensitive=("s",))
    release = mechanism("generalize_full_domain").of({"k": "3", "suppression": "0.5"}, ())(table, roles, None)
    sf.publish(release, roles, [sf.require("k_anonymity >= 3")], tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text(encoding="utf-8").count("31.12.1980") == 3


# --- what others spell -----------------------------------------------------------------------------------------------


@pytest.fixture
def taxonomy(tmp_path: Path) -> Callable[..., Hierarchy]:
    """A hierarchy file read."""

    def make(*rows: str, **options: Any) -> Hierarchy:
        (tmp_path / "h.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
        return Hierarchy.read("q", tmp_path / "h.csv", **options)

    return make


def test_a_hierarchy_is_read_as_a_table_is(taxonomy: Callable[..., Hierarchy]) -> None:
    rows = ("31.12.1980;1980;*", "1.2.1981;1981;*")
    assert taxonomy(*rows).fit(texts(column(["31.12.1980"]))).levels[1] == ("1980",)
    assert taxonomy("1.234,5;a;*", "2,0;b;*").fit(["1234.5"]).levels[1] == ("a",)
    assert taxonomy(*rows, as_text=True).levels[0] == ("31.12.1980", "1.2.1981")


@pytest.mark.parametrize(
    ("rows", "value", "word"),
    [
        (("31.12.1980;1980;*",), "31.12.1980", "text = true"),
        (("01/02/1980;1980;*",), "1980-01-02", "YYYY-MM-DD"),
        (("1,234;a;*",), "1234", "numbers with a point"),
    ],
)
def test_a_hierarchy_that_does_not_fit_says_why(
    taxonomy: Callable[..., Hierarchy], rows: tuple[str, ...], value: str, word: str
) -> None:
    with pytest.raises(InputError, match=word) as refused:
        taxonomy(*rows).fit([value])
    assert value not in str(refused.value)


def test_a_hierarchy_given_in_python_that_does_not_fit_says_why() -> None:
    with pytest.raises(InputError, match="YYYY-MM-DD"):
        Hierarchy.of("q", [("31.12.1980", "x", "*")]).fit(["1980-12-31"])


def test_roles_may_leave_a_hierarchy_as_it_stands(tmp_path: Path) -> None:
    (tmp_path / "h.csv").write_text("31.12.1980;1980;*\n", encoding="utf-8")
    rule = {"file": "h.csv", "text": True}
    roles = sf.Roles.of({"roles": {"quasi": ["q"]}, "hierarchies": {"q": rule}}, folder=tmp_path)
    table = sf.read(pa.table({"q": ["31.12.1980"]}), dates="text")
    found = roles.hierarchy(table.count(("q",)).columns[0])
    assert found is not None
    assert found.levels[0] == ("31.12.1980",)


def test_a_stated_order_may_be_spelled_as_the_file() -> None:
    found = column(["10,5", "2,5", "1,25"]).count(("q",)).columns[0].rank(["10,5", "2,5", "1,25"])
    assert found is not None
    assert found.tolist() == [2, 0, 1]  # 1.25, 10.5, 2.5


def test_queries_may_be_spelled_as_the_file() -> None:
    table = sf.read(pa.table({"q": ["31.12.1980", "01.02.1981", "*"], "n": ["1,5", "2,5", "10,25"]}))
    released = Release(table=table, original=table)
    asked: list[Any] = [{"q": ["31.12.1980", "*"]}, {"n": ["1,5"]}, {"n": ("1,5", "3,5")}, {"n": (1.5, 3.5)}]
    found = given_queries(released, sf.Roles(quasi=("q", "n")), asked)
    assert found.actual.tolist() == [2, 1, 2, 2]
    days = sf.read(pa.table({"q": ["31.12.1980", "01.02.1981"]}))
    found = given_queries(
        Release(table=days, original=days), sf.Roles(quasi=("q",)), [{"q": ("1.1.1981", "31.12.1981")}]
    )
    assert found.actual.tolist() == [1]


@pytest.mark.usefixtures("both_ways")
@pytest.mark.parametrize("word", ["k.A.", "n.b.", "unknown", "-", ".", "nicht bestimmt", "N/A"])
def test_a_word_for_missing_keeps_no_column_from_being_numbers_or_dates(word: str) -> None:
    """It stays as it stands, since it is missing only once the owner says so; a word that says something keeps the column a text."""
    assert read(["6,5", word, "1.007,25", None, word])[0] == ["6.5", word, "1007.25", None, word]
    assert read(["31.12.1980", word, "01.02.1990"])[0] == ["1980-12-31", word, "1990-02-01"]
    assert read(["1,234.5", word, "2"])[0] == ["1234.5", word, "2"]
    assert read(["6,5", word, "high"])[0] == ["6,5", word, "high"]
    assert read([word, word])[0] == [word, word]
    table = sf.read(pa.table({"q": ["6,5", word, "7,25"] * 20}), missing=word)
    assert table.count(("q",)).columns[0].numbers is not None
