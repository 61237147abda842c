"""Tables inside reports: titles, two header rows, totals and notes; the guess is told, and an option corrects it."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.core.errors import InputError
from sfumato.engines.layout import cell_range, header_rows

BODY: list[list[Any]] = [["a", 1, 2.5], ["b", 2, 3.5], ["c", 3, 999]]
ROWS = [(("a", "1", "2.5"), 1), (("b", "2", "3.5"), 1), (("c", "3", "999"), 1)]


def sheet(path: Path, rows: list[list[Any]]) -> Path:
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    book.save(path)
    return path


def text(path: Path, rows: list[list[Any]]) -> Path:
    path.write_text(
        "".join(";".join("" if c is None else str(c) for c in row) + "\n" for row in rows), encoding="utf-8"
    )
    return path


BOTH = pytest.mark.parametrize("make", [lambda p, rows: sheet(p / "t.xlsx", rows), lambda p, rows: text(p / "t.csv", rows)],
                               ids=["excel", "csv"])  # fmt: skip


@BOTH
def test_titles_above_and_totals_below(tmp_path: Path, rows_of: Any, make: Any) -> None:
    rows = [["Visits 2023", None, None], [None, None, None], ["who", "n", "mean"], *BODY, ["Summe", 6, None]]
    table = sf.read(make(tmp_path, rows))
    assert table.columns == ("who", "n", "mean")
    assert rows_of(table) == ROWS
    assert any("--header-row" in note for note in table.notes)
    assert any("--no-totals" in note for note in table.notes)
    assert sf.read(make(tmp_path, rows), totals=False).rows == 4


@BOTH
def test_two_header_rows(tmp_path: Path, rows_of: Any, make: Any) -> None:
    rows = [["who", "visits", None], [None, "number", "mean"], *BODY]
    table = sf.read(make(tmp_path, rows))
    assert table.columns == ("who", "visits number", "visits mean")
    assert rows_of(table) == ROWS
    assert any("1 and 2 name" in note for note in table.notes)


@BOTH
@pytest.mark.parametrize("marks", [("x", "NA", "*"), ("b", "unknown", "none"), ("*", "*", "*")])
def test_the_first_row_below_a_whole_header_is_data(tmp_path: Path, make: Any, marks: Any) -> None:
    """Words in a column of numbers are missing values or suppressed ones: no row may be lost to the header."""
    table = sf.read(make(tmp_path, [["who", "n", "mean"], [*marks], *BODY]))
    assert table.columns == ("who", "n", "mean")
    assert table.rows == 4


@BOTH
def test_groups_over_each_of_their_columns(tmp_path: Path, make: Any) -> None:
    table = sf.read(make(tmp_path, [["who", "visits", "visits"], ["name", "number", "mean"], *BODY]))
    assert table.columns == ("who name", "visits number", "visits mean")
    assert table.rows == 3


@BOTH
def test_marks_below_groups_are_no_names(tmp_path: Path, make: Any) -> None:
    for marks in (["a", "*", "*"], ["a", "NA", "n/a"], ["a", "number", "suppressed"]):
        with pytest.raises(InputError, match="column 3 has no name"):
            sf.read(make(tmp_path, [["who", "visits", None], marks, *BODY]))


@BOTH
def test_a_suppressed_value_is_no_note(tmp_path: Path, make: Any) -> None:
    """The last rows of a release may hold nothing but `*`."""
    rows = [["age", "zip", "ill"], *BODY, ["*", None, None]]
    assert sf.read(make(tmp_path, rows)).rows == 4
    assert sf.read(make(tmp_path, [*rows[:-1], ["* estimated", None, None]])).rows == 3


@BOTH
@pytest.mark.parametrize("marks", [("x", "NA", "NA"), ("a", "refused", "declined")])
def test_an_index_without_a_name_is_no_group(tmp_path: Path, make: Any, marks: Any) -> None:
    """As pandas writes it: the first row is data, so what is refused is the missing name, and no row is taken for names."""
    with pytest.raises(InputError, match="column 1 has no name"):
        sf.read(make(tmp_path, [[None, "n", "mean"], [*marks], *BODY]))


@BOTH
def test_the_owner_says_where_the_header_is(tmp_path: Path, make: Any) -> None:
    rows = [["x", "y", "z"], ["who", "n", "mean"], *BODY]
    assert sf.read(make(tmp_path, rows), header_row="2").columns == ("who", "n", "mean")
    assert sf.read(make(tmp_path, rows), skip=1).columns == ("who", "n", "mean")
    assert sf.read(make(tmp_path, rows), header_row="1-2").columns == ("x who", "y n", "z mean")
    assert sf.read(make(tmp_path, [*BODY]), header=False).columns == ("column1", "column2", "column3")


@BOTH
def test_a_plain_table_gets_no_note(tmp_path: Path, rows_of: Any, make: Any) -> None:
    table = sf.read(make(tmp_path, [["who", "n", "mean"], *BODY]))
    assert rows_of(table) == ROWS
    assert not any("header" in note or "totals" in note for note in table.notes)


def test_a_category_called_total_stays(tmp_path: Path) -> None:
    assert sf.read(sheet(tmp_path / "t.xlsx", [["who", "n", "mean"], *BODY, ["Total", 7, 1]])).rows == 4


def test_totals_without_an_empty_cell_are_known_by_their_sum(tmp_path: Path) -> None:
    assert sf.read(sheet(tmp_path / "t.xlsx", [["who", "n"], ["a", 1], ["b", 2], ["c", 4], ["Total", 7]])).rows == 3


def test_a_range_and_a_note_below(tmp_path: Path, rows_of: Any) -> None:
    rows = [[None, None, None, None], [None, "who", "n", "mean"], *([None, *row] for row in BODY)]
    path = sheet(tmp_path / "t.xlsx", [*rows, [], [None, "Source: register"]])
    assert rows_of(sf.read(path)) == ROWS
    assert rows_of(sf.read(path, range="B2:D5")) == ROWS
    assert sf.read(path, range="B2:C4").columns == ("who", "n")
    assert sf.read(path, range="B2:C4").rows == 2


@BOTH
@pytest.mark.parametrize(
    "end",
    [
        [["Gesamt", 6, None], ["* preliminary", None, None]],
        [[None, None, None], ["Insgesamt:", 6, None], ["made by the registry", None, None], ["Tel. 123", None, None]],
        [["Mittelwert", None, None], ["Summe aller Fälle", None, None]],
        [["Quelle: Register", None, None], ["Stand: 12.03.2024", None, None]],
        [[None, None, None], ["a note", None, None], ["that goes on", None, None]],
    ],
)
def test_totals_and_notes_below(tmp_path: Path, rows_of: Any, make: Any, end: list[list[Any]]) -> None:
    """What stands below a total, below an empty row or is called a note goes with it, however many rows it takes."""
    table = sf.read(make(tmp_path, [["who", "n", "mean"], *BODY, *end]))
    assert rows_of(table) == ROWS
    assert any("--no-totals" in note for note in table.notes)
    assert sf.read(make(tmp_path, [["who", "n", "mean"], *BODY, *end]), totals=False).rows > 3


@BOTH
@pytest.mark.parametrize("last", [["d", None, None], ["Anzahl", 4, 1], ["Mean Street", 4, 2], ["Total", 7, 1]])
def test_a_last_row_that_is_sparse_or_sounds_like_a_total_stays(tmp_path: Path, make: Any, last: list[Any]) -> None:
    assert sf.read(make(tmp_path, [["who", "n", "mean"], *BODY, last])).rows == 4


def test_a_note_of_one_field_below_lines_of_several(tmp_path: Path) -> None:
    (path := tmp_path / "t.csv").write_text("who;n;mean\na;1;2\nb;2;3\nc;3;4\n\nSource: register\n", encoding="utf-8")
    assert sf.read(path).rows == 3
    path.write_text('who;n;mean\na;1;2\nb;2;3\nc;3;"4\nSource: register\n"\n', encoding="utf-8")
    assert sf.read(path).rows == 3  # within quotes it is a value


def test_an_option_that_an_error_names_is_taken(tmp_path: Path, refusal: Any) -> None:
    path = sheet(tmp_path / "t.xlsx", [["a", None, "c"], ["x", 2, 3], ["y", 4, 5]])
    refusal(InputError, lambda: sf.read(path), path, "--no-header", "--header-row")
    assert sf.read(path, header=False).columns == ("column1", "column2", "column3")


def test_missing_codes_reach_numbers(tmp_path: Path, rows_of: Any) -> None:
    rows = [["who", "n", "mean"], ["a", 1, "k.A."], ["b", 999, 2.5]]
    table = sf.read(sheet(tmp_path / "t.xlsx", rows), missing=["999", "k.A."])
    assert rows_of(table) == [(("a", "1", None), 1), (("b", None, "2.5"), 1)]
    assert table.types["mean"] == "DOUBLE"
    frame = sf.read(pa.table({"n": [1, 999], "x": [1.5, 999.0]}), missing=["999"])
    assert rows_of(frame) == [(("1", "1.5"), 1), ((None, None), 1)]


@pytest.mark.parametrize("given", ["0", "a", "3-9", "4-3"])
def test_header_rows_that_are_none(given: str) -> None:
    with pytest.raises(InputError, match="--header-row"):
        header_rows(given)


def test_ranges() -> None:
    assert cell_range("A3:XFD") == (2, 0, 16383, None)
    assert cell_range("$B$2:D5") == (1, 1, 3, 4)
    with pytest.raises(InputError, match="--range"):
        cell_range("D5:B2")


def test_quoted_titles_and_packed_files(tmp_path: Path, rows_of: Any) -> None:
    lines = ['"Visits; 2023"', "", '"who";"n";"mean"', '"a";1;2.5', '"b";2;3.5', '"c";3;999', '"Summe";6;']
    packed = tmp_path / "t.csv.gz"
    packed.write_bytes(gzip.compress("\n".join(lines).encode()))
    table = sf.read(packed)
    assert rows_of(table) == ROWS
    assert any("line 3 names the columns" in note for note in table.notes)
    assert any("--no-totals" in note for note in table.notes)
    assert sf.read(packed, totals=False).rows == 4


def test_a_row_like_the_total_stays(tmp_path: Path, rows_of: Any) -> None:
    """Another row may hold exactly what the total holds; only one of them is the total."""
    path = text(tmp_path / "t.csv", [["who", "n", "mean"], *BODY, ["Total", 6, None], ["Total", 6, None]])
    assert rows_of(sf.read(path)) == [(("Total", "6", None), 1), *ROWS]
    path.write_text("who;n\n" + "a;1234567890123\n" * 1_200_000 + "Total;\nTotal;\nTotal;\n", encoding="utf-8")
    table = sf.read(path)
    assert table.lines is not None
    assert table.lines() is not None  # counted by its distinct lines
    assert rows_of(table) == [(("Total", None), 2), (("a", "1234567890123"), 1_200_000)]


@pytest.mark.parametrize("given", ["9", "300", "4-5"])
def test_a_header_row_is_honoured_or_refused(tmp_path: Path, refusal: Any, given: str) -> None:
    path = text(tmp_path / "t.csv", [["who", "n", "mean"], *BODY])
    refusal(InputError, lambda: sf.read(path, header_row=given), path, "--header-row")
    assert sf.read(path, header_row="3").columns == ("b", "2", "3.5")  # whatever it looks like
    refusal(InputError, lambda: sf.read(path, header_row="1", skip=2), path, "--skip")


@BOTH
def test_a_stated_reading_knows_where_the_table_lies(tmp_path: Path, rows_of: Any, make: Any) -> None:
    """Differential privacy guesses nothing: what the owner states of the layout is taken, and so is what an option said."""
    rows = [["Visits 2023", None, None], ["who", "visits", None], [None, "number", "mean"], *BODY, ["Summe", 6, None]]
    path = make(tmp_path, rows)
    said = {"header_row": "2-3", "totals": True}
    written = {"delimiter": ";"} if path.suffix == ".csv" else {}
    table = sf.read(path, stated=True, **said, **written)
    assert table.columns == ("who", "visits number", "visits mean")
    assert rows_of(table) == ROWS
    assert rows_of(sf.read(path, **said).stated(written)) == ROWS
    assert sf.read(path, stated=True, skip=3, header=False, names=("a", "b", "c"), **written).rows == 4
    seen = sf.read(path).written
    assert (seen["header_row"], seen["totals"]) == ("2-3", True)  # what its owner is offered to state


def test_a_stated_range(tmp_path: Path, rows_of: Any) -> None:
    path = sheet(tmp_path / "t.xlsx", [["title"], [None, "who", "n", "mean"], *([None, *row] for row in BODY), ["x"]])
    assert rows_of(sf.read(path, stated=True, range="B2:D5")) == ROWS


@pytest.mark.parametrize("said", [{"header_row": "0"}, {"skip": -1}, {"range": "D5:B2"}, {"totals": "yes"}])
def test_what_is_stated_of_the_layout_is_checked(said: Any) -> None:
    with pytest.raises(InputError):
        sf.Roles(quasi=("a",), reading=said)
