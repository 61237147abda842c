"""CSV files as people have them: read right, or refused with a sentence that holds no value of the table."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import sfumato as sf
from sfumato.core.errors import InputError

Write = Callable[..., Path]
PLAIN = [(("1", "x"), 1), (("2", "y"), 1)]


@pytest.fixture
def write(tmp_path: Path, canary: str) -> Write:
    """A file from text or bytes; CANARY in it becomes the value that no message may hold."""

    def make(content: str | bytes, name: str = "table.csv", encoding: str = "utf-8") -> Path:
        path = tmp_path / name
        raw = content if isinstance(content, bytes) else content.encode(encoding)
        path.write_bytes(raw.replace("CANARY".encode(encoding), canary.encode(encoding)))
        return path

    return make


# --- dialects --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("delimiter", "named"), [(",", None), (";", "semicolon"), ("\t", "tab"), ("|", "bar")], ids=["comma", "semicolon", "tab", "bar"]
)  # fmt: skip
def test_delimiters_are_found_and_told(write: Write, rows_of: Any, delimiter: str, named: str | None) -> None:
    table = sf.read(write(f"a{delimiter}b\n1{delimiter}x\n2{delimiter}y\n"))
    assert (table.columns, rows_of(table)) == (("a", "b"), PLAIN)
    assert [named in note for note in table.notes] == ([True] if named else [])


def test_a_delimiter_can_be_given(write: Write, rows_of: Any) -> None:
    table = sf.read(write("a~b\n1~x\n2~y\n"), delimiter="~")
    assert (table.columns, rows_of(table), table.notes) == (("a", "b"), PLAIN, ())


def test_a_decimal_comma_is_no_delimiter(write: Write, rows_of: Any) -> None:
    assert rows_of(sf.read(write("a;b\n1,5;x\n2,5;y\n"))) == [(("1.5", "x"), 1), (("2.5", "y"), 1)]


def test_a_delimiter_inside_quotes_is_none(write: Write, rows_of: Any) -> None:
    table = sf.read(write('name;note\n"x";"a, b, c"\n"y";"d, e, f"\n'))
    assert rows_of(table) == [(("x", "a, b, c"), 1), (("y", "d, e, f"), 1)]


def test_quotes_newlines_and_delimiters_inside_fields(write: Write, rows_of: Any) -> None:
    table = sf.read(write('a,b\n1,"say ""hi"""\n2,"two\nlines"\n3,"x,y"\n4,"crlf\r\nhere"\n'))
    found = dict(row for row, _ in rows_of(table))
    assert found == {"1": 'say "hi"', "2": "two\nlines", "3": "x,y", "4": "crlf\r\nhere"}


def test_apostrophes_as_quotes(write: Write, rows_of: Any) -> None:
    text = "a,b\n'x,1','y'\n'z','don''t'\n'z','y'\n"
    expected = [(("x,1", "y"), 1), (("z", "don't"), 1), (("z", "y"), 1)]
    assert rows_of(sf.read(write(text), quote="'")) == expected


def test_apostrophes_as_quotes_are_found(write: Write, rows_of: Any) -> None:
    assert rows_of(sf.read(write("a,b\n" + "'1','x'\n'2','y'\n" * 10))) == [(row, 10) for row, _ in PLAIN]


def test_apostrophes_in_texts_are_no_quotes(write: Write, rows_of: Any) -> None:
    assert rows_of(sf.read(write("a,b\n1,o'clock\n2,'tis\n"))) == [(("1", "o'clock"), 1), (("2", "'tis"), 1)]


def test_a_quote_in_the_middle_of_a_field_stays(write: Write, rows_of: Any) -> None:
    assert rows_of(sf.read(write('a,b\n1,5" pipe\n2,y\n')))[0] == (("1", '5" pipe'), 1)


@pytest.mark.parametrize("space", [" ", "\t", "\u00a0", "  "])
def test_blanks_around_fields_are_left_out_and_told(write: Write, rows_of: Any, space: str) -> None:
    table = sf.read(write(f"a,{space}b,c\n{space}x y{space},{space}5,n\nz,6,{space}\n"))
    assert (table.columns, rows_of(table)) == (("a", "b", "c"), [(("x y", "5", "n"), 1), (("z", "6", None), 1)])
    assert table.notes == ("blanks around values left out: 'a' (1 field), 'b' (1 field), 'c' (1 field)",)
    assert sf.read(write(f"a,b\n{space}x,1\n"), dates="text", decimal="text").count(("a",)).columns[0].texts != ["x"]


def test_lines_that_repeat_are_trimmed_too(write: Write, rows_of: Any) -> None:
    table = sf.read(write("sex,place\n" + "m, Berlin\nw,Berlin\n" * 1_000_000))
    assert rows_of(table) == [(("m", "Berlin"), 1_000_000), (("w", "Berlin"), 1_000_000)]
    assert table.notes == ("blanks around values left out: 'place' (1,000,000 fields)",)


def test_blanks_inside_values_stay_and_nothing_is_said(write: Write, rows_of: Any) -> None:
    table = sf.read(write('a,b\n"x, y",1\n'))
    assert (rows_of(table), table.notes) == ([(("x, y", "1"), 1)], ())


def test_codes_keep_their_zeros(write: Write, rows_of: Any) -> None:
    assert rows_of(sf.read(write("zip,b\n00501,1.0\n00501,1e5\n"))) == [(("00501", "1.0"), 1), (("00501", "1e5"), 1)]


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"], ids=["lf", "crlf", "cr"])
@pytest.mark.parametrize("last", [True, False], ids=["closed", "open"])
def test_line_ends(write: Write, rows_of: Any, newline: str, last: bool) -> None:
    text = newline.join(["a,b", "1,x", "2,y"]) + (newline if last else "")
    table = sf.read(write(text))
    assert (table.columns, rows_of(table)) == (("a", "b"), PLAIN)


def test_mixed_line_ends_are_read_or_refused_by_name(write: Write, rows_of: Any, refusal: Any) -> None:
    """Files pieced together from two systems: the sentence must say what is wrong, not which class of the engine."""
    path = write("a,b\r\n1,x\n2,y\r\n")
    try:
        assert rows_of(sf.read(path)) == PLAIN
    except sf.SfumatoError:
        assert "Exception" not in refusal(InputError, lambda: rows_of(sf.read(path)), path)


@pytest.mark.parametrize("text", ["\na,b\n1,x\n2,y\n", "\n\n\na,b\n1,x\n2,y\n", "a,b\n\n1,x\n\n\n2,y\n\n\n", "\r\na,b\r\n1,x\r\n2,y\r\n"])  # fmt: skip
def test_blank_lines_are_no_rows_and_no_header(write: Write, rows_of: Any, text: str) -> None:
    table = sf.read(write(text))
    assert (table.columns, rows_of(table)) == (("a", "b"), PLAIN)


def test_empty_fields_are_missing(write: Write, rows_of: Any) -> None:
    table = sf.read(write('a,b\n,x\n"",x\n1,\n'))
    assert rows_of(table) == [(("1", None), 1), ((None, "x"), 2)]


def test_texts_that_mean_missing(write: Write, rows_of: Any) -> None:
    path = write("a,b\n?,2\nNA,3\nO'Neil,?\n")
    assert rows_of(sf.read(path, missing=["?", "NA"])) == [(("O'Neil", None), 1), ((None, "2"), 1), ((None, "3"), 1)]
    assert rows_of(sf.read(path, missing=["O'Neil"]))[-1] == ((None, "?"), 1)
    assert len(rows_of(sf.read(path))) == 3


# --- header ----------------------------------------------------------------------------------------------------------


def test_without_a_header_columns_are_numbered_and_it_is_told(write: Write, rows_of: Any) -> None:
    table = sf.read(write("1,x\n2,y\n"))
    assert (table.columns, rows_of(table)) == (("column1", "column2"), PLAIN)
    assert any("--header" in note for note in table.notes)


def test_the_owner_knows_better(write: Write, rows_of: Any) -> None:
    path, headed = write("1,x\n2,y\n"), write("a,b\n1,x\n2,y\n", "headed.csv")
    assert sf.read(path, header=True).columns == ("1", "x")
    assert sf.read(headed, header=False).rows == 3
    named = sf.read(path, names=("n", "t"))
    assert (named.columns, rows_of(named)) == (("n", "t"), PLAIN)
    replaced = sf.read(headed, names=("n", "t"), header=True)
    assert (replaced.columns, rows_of(replaced)) == (("n", "t"), PLAIN)


ODD = ["select", "n", "k0", "k1", "s", "t", "m", "m0", "__row", "__to", "rowid", "a b", 'qu"ote', "semi;colon", "com,ma", "apos'trophe", "ünï", "中文", "a.b", "(x)", "[y]", "%s", "{z}", "🙂", "back\\slash", "count(*)", "--", "1st"]  # fmt: skip


def test_odd_column_names(write: Write, rows_of: Any, tmp_path: Path) -> None:
    text = io.StringIO()
    csv.writer(text).writerows([ODD, [f"v{i}" for i in range(len(ODD))], [f"w{i}" for i in range(len(ODD))]])
    table = sf.read(write(text.getvalue()), delimiter=",")
    assert table.columns == tuple(ODD)
    for i, name in enumerate(ODD):
        assert rows_of(table, (name,)) == [((f"v{i}",), 1), ((f"w{i}",), 1)]
        assert table.keep((name,)).columns == (name,)
    assert rows_of(table, ODD[::-1])[0][0] == tuple(f"v{i}" for i in range(len(ODD)))[::-1]
    found = table.scan_each(ODD)
    assert {name: counts.columns[0].texts for name, counts in found.items()} == {n: [f"v{i}", f"w{i}"] for i, n in enumerate(ODD)}  # fmt: skip
    assert table.unique_rows(ODD) == (2, 2)
    assert set(table.distinct()) == set(table.head(1)) == set(ODD)
    table.write(tmp_path / "out.csv")
    table.write(tmp_path / "out.parquet")
    for name in ("out.csv", "out.parquet"):
        assert rows_of(sf.read(tmp_path / name)) == rows_of(table)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a,a\nCANARY,2\n", ["columns 1 and 2", "the same name"]),
        ("a,b,A\nCANARY,2,3\n", ["columns 1 and 3", "upper and lower case"]),
        ("CANARY,CANARY\nx,y\n", ["columns 1 and 2", "--no-header"]),  # no header: the names would be values
        ("a,\nCANARY,2\n", ["column 2 has no name"]),
        ("a,  \nCANARY,2\n", ["column 2 has no name"]),
        (",b\nCANARY,2\n", ["column 1 has no name"]),
    ],
)
def test_names_that_cannot_be_used(write: Write, refusal: Any, text: str, names: list[str]) -> None:
    path = write(text)
    refusal(InputError, lambda: sf.read(path), path, *names)


@pytest.mark.parametrize("newline", ["\n", "\r\n"], ids=["lf", "crlf"])
@pytest.mark.parametrize("inner", ["\n", "\r\n"], ids=["lf", "crlf"])
def test_a_header_cell_of_two_lines(write: Write, rows_of: Any, refusal: Any, newline: str, inner: str) -> None:
    """Spreadsheets write a newline typed into a cell as LF, and rows as CRLF: all rows, or a refusal, but never none."""
    path = write(newline.join([f'a,"b{inner}c"', "1,x", "2,y", ""]))
    try:
        table = sf.read(path)
        found = (table.columns, rows_of(table))
    except sf.SfumatoError:
        refusal(InputError, lambda: rows_of(sf.read(path)), path)
    else:
        assert found == (("a", f"b{inner}c"), PLAIN)


# --- encodings -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1", "cp1252"])
@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gz"])
def test_encodings_are_found(write: Write, rows_of: Any, encoding: str, packed: bool) -> None:
    # an apostrophe of Windows, not in Latin-1, tells cp1252 apart
    value = "l’été" if encoding == "cp1252" else "été"
    raw = f"née,b\n{value},x\n".encode(encoding)
    table = sf.read(write(gzip.compress(raw) if packed else raw, "t.csv.gz" if packed else "t.csv"))
    assert (table.columns, rows_of(table)) == (("née", "b"), [((value, "x"), 1)])
    assert any(encoding in note for note in table.notes) is (not encoding.startswith("utf-8"))


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16-le", "utf-16-be", "cp850", "UTF-8"])
def test_an_encoding_can_be_given(write: Write, rows_of: Any, encoding: str) -> None:
    table = sf.read(write("née,b\nété,x\n".encode(encoding)), encoding=encoding)
    assert (table.columns, rows_of(table)) == (("née", "b"), [(("été", "x"), 1)])


def test_utf_8_said_of_a_file_with_a_mark(write: Write) -> None:
    assert sf.read(write("a,b\n1,x\n", encoding="utf-8-sig"), encoding="utf-8").columns == ("a", "b")


def test_a_wrong_encoding_is_refused(write: Write, refusal: Any, rows_of: Any) -> None:
    path = write("a,b\nCANARY,né\n".encode("latin-1"))
    refusal(InputError, lambda: sf.read(path, encoding="utf-8"), path, "--encoding")
    refusal(InputError, lambda: sf.read(path, encoding="klingon"), "'klingon'", "utf-8")
    refusal(InputError, lambda: sf.read(write(b"a,b\nCANARY,\x81\n")), "--encoding")


def test_an_encoding_that_only_shows_late(write: Write, refusal: Any, rows_of: Any) -> None:
    path = write(b"a,b\n" + b"1,2\n" * 100_000 + b"CANARY,\xe9\n")
    refusal(InputError, lambda: rows_of(sf.read(path)), path, "line 100002", "--encoding")
    late = write(b"a,b\n" + b"\xe9,2\n" * 100_000 + b"CANARY,\x81\n", "late.csv")
    refusal(InputError, lambda: sf.read(late, encoding="cp1252"), late, "--encoding")


# --- packed ----------------------------------------------------------------------------------------------------------


def test_gzip(write: Write, rows_of: Any) -> None:
    assert rows_of(sf.read(write(gzip.compress(b"a,b\n1,x\n2,y\n"), "t.csv.gz"))) == PLAIN


def test_gzip_that_is_not_whole(write: Write, refusal: Any) -> None:
    packed = gzip.compress(b"a,b\n" + b"1,CANARY\n" * 1000)
    path = write(packed[:-12], "cut.csv.gz")
    refusal(InputError, lambda: sf.read(path), path)
    other = write("a,b\nCANARY,2\n", "not.csv.gz")
    refusal(InputError, lambda: sf.read(other), other)


# --- what cannot be read ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a,b\n1,x\nCANARY\n2,y\n", ["line 3", "1 field", "2"]),
        ("a,b\n1,x\n2,CANARY,z\n", ["line 3", "3 fields", "2"]),
        ("a,b,c\n1,x\nCANARY,2\n", ["line 2", "2 fields", "3"]),
        ('a,b\n1,"CANARY\n2,y\n', ["line 2", "quote"]),
        ('a,b\n1,"CANARY"z\n2,y\n', ["line 2", "quote"]),
        ("a,b\n" + "1,x\n" * 300_000 + "2,CANARY,z\n", ["line 300002", "3 fields"]),
        ('a,b\n1,"x\ny"\n2,CANARY,z\n', ["3 fields"]),
        ('a,"b\nCANARY,2\n', []),
        ("", ["empty"]),
        ("   \n \n", ["empty"]),
        ("\ufeff", ["empty"]),
        ("a,b\n", ["header", "no row"]),
        ("a,b", ["header", "no row"]),
        ("a,b\n1,\x00CANARY\n", ["zero bytes"]),
    ],
    ids=["short", "long", "all short", "unclosed", "behind the quote", "long, late", "long behind a newline", "unclosed header", "empty", "blank", "mark only", "header only", "header only, open", "zero bytes"],
)  # fmt: skip
def test_broken_files(write: Write, refusal: Any, rows_of: Any, text: str, names: list[str]) -> None:
    path = write(text)
    refusal(InputError, lambda: rows_of(sf.read(path)), path, *names)


def test_no_file_and_a_folder(tmp_path: Path, refusal: Any) -> None:
    refusal(InputError, lambda: sf.read(tmp_path / "none.csv"), tmp_path / "none.csv", "no such file")
    refusal(InputError, lambda: sf.read(str(tmp_path / "none.parquet")), tmp_path / "none.parquet", "no such file")
    refusal(InputError, lambda: sf.read(tmp_path), tmp_path, "folder")


@pytest.mark.parametrize(
    "options",
    [{"delimiter": "::"}, {"delimiter": ""}, {"delimiter": "\\t"}, {"quote": "<<"}, {"delimiter": ",", "quote": ","}],
    ids=str,
)
def test_options_that_cannot_be(write: Write, refusal: Any, rows_of: Any, options: dict[str, str]) -> None:
    path = write("a,b\nCANARY,2\n")
    refusal(InputError, lambda: rows_of(sf.read(path, **options)))


def test_quoting_can_be_switched_off_or_is_refused(write: Write, refusal: Any, rows_of: Any) -> None:
    path = write('a,b\n1,"x\n2,y\n')
    try:
        assert rows_of(sf.read(path, quote=""))[0] == (("1", '"x'), 1)
    except sf.SfumatoError:
        refusal(InputError, lambda: rows_of(sf.read(path, quote="")), "quote")


def test_too_few_names(write: Write, refusal: Any, rows_of: Any) -> None:
    path = write("CANARY,2\n3,4\n")
    refusal(InputError, lambda: rows_of(sf.read(path, names=("a",))), path, "2 fields", "1")


@pytest.mark.parametrize("options", [{"sheet": "x"}, {"query": "SELECT 1"}, {"colour": "red"}], ids=str)
def test_options_for_other_kinds_of_tables(write: Write, refusal: Any, options: dict[str, str]) -> None:
    path = write("a,b\nCANARY,2\n")
    refusal(InputError, lambda: sf.read(path, **options), path, next(iter(options)), "does not apply")


# --- file names ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["with space.csv", "it's.csv", 'qu"ote.csv', "ünï.csv", "a#b?c%20.csv", "data[1].csv", "UPPER.CSV", "noending", "x;y.csv"])  # fmt: skip
def test_file_names(write: Write, rows_of: Any, name: str) -> None:
    table = sf.read(write("a,b\n1,x\n2,y\n", name))
    assert rows_of(table) == PLAIN
    assert table.name.endswith(name)


@pytest.mark.parametrize(("name", "other"), [("t*.csv", "tax.csv"), ("t?.csv", "ta.csv"), ("t[1].csv", "t1.csv")])
def test_a_file_name_is_no_pattern(write: Write, rows_of: Any, name: str, other: str) -> None:
    """Rows of a neighbouring file must never slip in."""
    write("a,b\n8,CANARY\n9,CANARY\n", other)
    assert rows_of(sf.read(write("a,b\n1,x\n2,y\n", name))) == PLAIN


def test_marks_of_encodings_are_no_part_of_a_name(write: Write) -> None:
    for mark, encoding in ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be")):  # fmt: skip
        assert sf.read(write(mark + "a,b\n1,x\n".encode(encoding))).columns == ("a", "b")
