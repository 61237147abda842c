"""Releases as SPSS, Stata and Excel files: written, read again by readers that are not ours, and refused where they cannot hold it."""

from __future__ import annotations

import datetime
import gc
import resource
import sys
import time
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pyreadstat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from selection import few
from sfumato.cli.reading import Reading
from sfumato.core import table_formats as formats
from sfumato.core.errors import InputError, NotMet
from sfumato.core.release import Release
from sfumato.core.variable import Variable
from sfumato.publishing import publish, sinks
from sfumato.publishing.published_file import read_published

WRITTEN = [ending for each in formats.FORMATS for ending in each.written]
NEW = [ending for ending in WRITTEN if ending not in (".csv", ".parquet")]
ROLES = sf.Roles(quasi=["age", "sex", "zip"], sensitive=["ill"], insensitive=["born", "seen", "pay"])
WAIVED = dict.fromkeys(("ill", "born", "seen", "pay"), "made up")
REQUIRED = [sf.k_anonymity.at_least(3)]
OLD, YOUNG = datetime.date(1870, 1, 2), datetime.date(2001, 5, 6)


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    n = 40
    frame = pd.DataFrame(
        {
            "name": [f"Quixotic7741 {i}" for i in range(n)],
            "age": [20.0 + i % 3 for i in range(n)],
            "sex": [1.0 + i % 2 for i in range(n)],
            "zip": [f"00{100 + i % 2}" for i in range(n)],
            "born": [OLD if i % 2 else YOUNG for i in range(n)],
            "seen": [datetime.datetime(1899, 1, 1, 3, 4, 5)] * n,
            "pay": [1.25 + i % 2 for i in range(n)],
            "ill": [["flu", "ängste, «x»", "=1+1", ""][i % 4] for i in range(n)],
        }
    )
    frame.loc[3, "age"] = np.nan
    path = tmp_path_factory.mktemp("original") / "people.sav"
    pyreadstat.write_sav(
        frame,
        str(path),
        file_label="Quixotic7741",
        variable_value_labels={"sex": {1: "male", 2: "female", 3: "Quixotic7741"}},
        column_labels={"sex": "Sex at birth"},
        variable_measure={"sex": "nominal"},
    )
    return path


@pytest.fixture(scope="module")
def made(original: Path) -> Release:
    return sf.Mondrian(k=3)(sf.read(original), ROLES)


def out(made: Release, path: Path) -> Path:
    assert publish(made, ROLES, REQUIRED, path, waive=WAIVED).met
    return path


def counted(table: Any) -> dict[tuple[str | None, ...], int]:
    counts = table.count(table.columns)
    texts = [[c.texts[i] for i in codes] for c, codes in zip(counts.columns, counts.codes, strict=True)]
    return dict(zip(zip(*texts, strict=True), counts.n.tolist(), strict=True))


@pytest.mark.parametrize("ending", few(WRITTEN, ".csv", ".parquet", ".xlsx"))
def test_every_format_holds_the_same_release(tmp_path: Path, made: Release, ending: str) -> None:
    again = sf.read(out(made, tmp_path / f"r{ending}"))
    assert counted(again) == counted(made.table)
    assert list(tmp_path.iterdir()) == [tmp_path / f"r{ending}"]


@pytest.mark.parametrize("ending", few(WRITTEN, ".csv", ".parquet", ".xlsx"))
def test_same_bytes_and_nothing_of_the_owner(tmp_path: Path, made: Release, ending: str) -> None:
    first = out(made, tmp_path / f"a{ending}").read_bytes()
    time.sleep(1.1 if ending in NEW else 0)
    path = out(made, tmp_path / f"b{ending}")
    assert path.read_bytes() == first
    content = first
    if ending == ".xlsx":
        with zipfile.ZipFile(path) as book:
            content = b"".join(book.read(name) for name in book.namelist())
    for secret in ("Quixotic7741", "people", str(tmp_path)):
        assert secret.encode() not in content


def test_spss_by_pyreadstat(tmp_path: Path, made: Release) -> None:
    frame, meta = pyreadstat.read_sav(str(out(made, tmp_path / "r.sav")))
    assert meta.variable_value_labels == {"sex": {1.0: "male", 2.0: "female"}}  # of the codes that occur
    assert meta.column_names_to_labels["sex"] == "Sex at birth"
    assert meta.variable_measure["sex"] == "nominal"
    assert meta.original_variable_types["born"] == "SDATE10"
    assert meta.original_variable_types["pay"] == "F16.2"
    assert set(frame["sex"]) == {1.0, 2.0}
    assert set(frame["born"]) == {OLD, YOUNG}
    assert set(frame["seen"]) == {datetime.datetime(1899, 1, 1, 3, 4, 5)}
    assert set(frame["zip"]) == {"00100", "00101"}
    assert set(frame["ill"]) == {"flu", "ängste, «x»", "=1+1", ""}
    assert len(frame) == meta.number_rows == 40


def test_stata_by_pandas(tmp_path: Path, made: Release) -> None:
    path = out(made, tmp_path / "r.dta")
    with pd.read_stata(path, iterator=True) as reader:
        assert reader.value_labels() == {"labels2": {1: "male", 2: "female"}}
        assert reader.variable_labels()["sex"] == "Sex at birth"
        assert reader.time_stamp == ""
        assert reader.data_label == ""
    frame = pd.read_stata(path)
    assert set(frame["sex"]) == {"male", "female"}
    assert set(frame["born"].dt.date) == {OLD, YOUNG}
    assert set(frame["zip"]) == {"00100", "00101"}
    assert set(frame["pay"]) == {1.25, 2.25}
    assert len(frame) == 40


def test_excel_by_openpyxl(tmp_path: Path, made: Release) -> None:
    book = openpyxl.load_workbook(out(made, tmp_path / "r.xlsx"))
    header, *rows = book.active.iter_rows(values_only=True)
    assert header == made.table.columns
    cells = {name: {row[i] for row in rows} for i, name in enumerate(header)}
    assert cells["zip"] == {"00100", "00101"}
    assert cells["born"] == {"1870-01-02", "2001-05-06"}  # a sheet has no day before 1900
    assert cells["ill"] == {"flu", "ängste, «x»", "=1+1", None}
    assert cells["pay"] == {1.25, 2.25}
    assert {cell.data_type for row in book.active.iter_rows(min_row=2) for cell in row} <= {"s", "n"}  # no formula
    assert book.properties.created == datetime.datetime(2000, 1, 1)
    assert not book.properties.creator


def test_days_of_a_sheet_are_days(tmp_path: Path) -> None:
    table = sf.read(pa.table({"d": [YOUNG, datetime.date(1900, 3, 1), None], "e": ["x"] * 3}))
    table.write(tmp_path / "r.xlsx", {})
    cells = [
        row[0] for row in openpyxl.load_workbook(tmp_path / "r.xlsx").active.iter_rows(min_row=2, values_only=True)
    ]
    assert cells == [datetime.datetime(1900, 3, 1), datetime.datetime(2001, 5, 6), None]
    assert sf.read(tmp_path / "r.xlsx", header_row=1).count(("d",)).columns[0].texts == [
        "1900-03-01",
        "2001-05-06",
        None,
    ]


def test_formulas_are_neutralised_in_a_sheet(tmp_path: Path, made: Release, refusal: Any) -> None:
    path = tmp_path / "r.xlsx"
    publish(made, ROLES, REQUIRED, path, waive=WAIVED, neutralise_formulas=True)
    values = {cell for row in openpyxl.load_workbook(path).active.iter_rows(values_only=True) for cell in row}
    assert "'=1+1" in values
    refusal(
        InputError,
        lambda: publish(made, ROLES, REQUIRED, tmp_path / "r.dta", waive=WAIVED, neutralise_formulas=True),
        "CSV and Excel",
    )


# --- labels -----------------------------------------------------------------------------------------------------------

SEX = {"sex": Variable("Sex", {"1": "male", "2": "female"}, True)}


@pytest.mark.parametrize("ending", [".sav", ".dta"])
def test_a_generalized_column_is_text(tmp_path: Path, ending: str) -> None:
    sf.read(pa.table({"sex": ["male", "{male, female}", None]})).write(tmp_path / f"r{ending}", SEX)
    _, meta = (
        pyreadstat.read_sav(str(tmp_path / "r.sav"))
        if ending == ".sav"
        else pyreadstat.read_dta(str(tmp_path / "r.dta"))
    )
    assert not meta.variable_value_labels
    assert meta.readstat_variable_types["sex"] == "string"
    assert meta.column_names_to_labels["sex"] == "Sex"
    assert sf.read(tmp_path / f"r{ending}").count(("sex",)).columns[0].texts == ["male", "{male, female}", None]


@pytest.mark.parametrize("ending", few([".sav", ".dta"], ".sav"))
def test_labels_are_read_as_in_the_original(tmp_path: Path, original: Path, ending: str) -> None:
    """Generalized, or its codes asked for: the file is read again as what was released."""
    coarse = sf.read(pa.table({"age": [20, 20], "sex": ["{female, male}"] * 2}))
    codes = sf.read(pa.table({"age": [20, 20], "sex": [1, 1]}))
    roles = sf.Roles(quasi=["age", "sex"])
    for table, labels in ((coarse, None), (codes, "none")):
        release = Release(table=table, original=sf.read(original, labels=labels))
        path = tmp_path / f"r{ending}"
        assert publish(release, roles, [sf.k_anonymity.at_least(2)], path).met
        assert counted(read_published(path, variables=release.original.variables)) == counted(table)
    assert counted(sf.read(path)) == {("20", "male"): 2}  # a recipient sees the label


@pytest.mark.parametrize("ending", [".sav", ".dta"])
def test_codes_keep_their_labels_where_they_are_values(tmp_path: Path, ending: str) -> None:
    known = {"age": Variable("", {"0": "below one", "97": "97 or more", "98": "no answer"})}
    path = tmp_path / f"r{ending}"
    sf.read(pa.table({"age": [0, 5, 97, None]})).write(path, known)
    assert read_published(path, variables=known).count(("age",)).columns[0].texts == ["0", "5", "97", None]
    _, meta = pyreadstat.read_sav(str(path)) if ending == ".sav" else pyreadstat.read_dta(str(path))
    assert meta.variable_value_labels == {"age": {0: "below one", 97: "97 or more"}}


def test_labels_of_texts(tmp_path: Path) -> None:
    known = {"s": Variable("", {"M": "male", "F": "female"}, True, True)}
    table = sf.read(pa.table({"s": ["male", "female", None]}))
    table.write(tmp_path / "r.sav", known)
    frame, meta = pyreadstat.read_sav(str(tmp_path / "r.sav"))
    assert frame["s"].tolist() == ["F", "M", ""]
    assert meta.variable_value_labels == {"s": {"F": "female", "M": "male"}}
    assert sf.read(tmp_path / "r.sav").count(("s",)).columns[0].texts == ["female", "male", None]
    table.write(tmp_path / "r.dta", known)  # which has no labels of texts
    assert pd.read_stata(tmp_path / "r.dta")["s"].tolist() == ["female", "male", ""]


# --- what a format cannot hold ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ending", "name"),
    [(".dta", "x" * 33), (".dta", "marital status"), (".dta", "_n"), (".dta", "str5"), (".dta", "1st"), (".sav", "ä" * 33), (".sav", "a b"),
     (".sav", "with"), (".sav", "end."), (".sav", "_x")],
)  # fmt: skip
def test_names_are_refused_before_any_work(tmp_path: Path, refusal: Any, ending: str, name: str) -> None:
    path = tmp_path / f"r{ending}"
    refusal(InputError, lambda: formats.check_out(path, [name]), path, repr(name), "rename")
    refusal(InputError, lambda: sf.read(pa.table({name: ["a"]})).write(path), path, repr(name))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["x", "marital_status", "größe", "a.b", "x1"])
def test_names_that_are_fine(tmp_path: Path, name: str) -> None:
    sf.read(pa.table({name: ["a"]})).write(tmp_path / "r.sav")
    assert pyreadstat.read_sav(str(tmp_path / "r.sav"))[0].columns == [name]
    if "." not in name:
        sf.read(pa.table({name: ["a"]})).write(tmp_path / "r.dta")
        assert pd.read_stata(tmp_path / "r.dta").columns == [name]


@pytest.mark.parametrize(
    ("ending", "text", "word"),
    [(".sav", "x" * 256, "255 in SPSS"), (".sav", "x ", "blanks"), (".dta", "ä" * 1023, "2,045 in Stata"), (".dta", "a\0b", "zero byte"),
     (".xlsx", "x" * 32_768, "32,767 in Excel"), (".xlsx", "a\rb", "control"), (".xlsx", "_x0041_", "control"), (".xlsx", "  ", "blanks")],
)  # fmt: skip
def test_texts_are_refused_without_being_told(tmp_path: Path, refusal: Any, canary: str, ending: str, text: str, word: str) -> None:  # fmt: skip
    path = tmp_path / f"r{ending}"
    message = refusal(InputError, lambda: sf.read(pa.table({"c": [text, canary]})).write(path), path, "'c'", word)
    assert text.strip() == "" or text not in message
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("ending", "size"), [(".sav", 255), (".sav", 8), (".dta", 2045), (".xlsx", 32_767)])
def test_texts_at_the_edge(tmp_path: Path, ending: str, size: int) -> None:
    path = tmp_path / f"r{ending}"
    sf.read(pa.table({"c": ["x" * size, "y"], "d": ["a", "b"]})).write(path)
    assert sf.read(path).count(("c",)).columns[0].texts == ["x" * size, "y"]


def test_a_sheet_has_so_many_rows(tmp_path: Path, refusal: Any) -> None:
    refusal(InputError, lambda: formats.check_out(tmp_path / "r.xlsx", ["a"], 1_048_576), "1,048,575", "CSV or Parquet")
    formats.check_out(tmp_path / "r.xlsx", ["a"], 1_048_575)
    empty = sf.read(pa.table({"a": ["x", None], "b": ["y", None]}))
    refusal(InputError, lambda: empty.write(tmp_path / "r.xlsx"), "no value at all")


def test_other_endings_are_refused_with_the_list(tmp_path: Path, made: Release, refusal: Any) -> None:
    path = tmp_path / "r.sas7bdat"
    refusal(InputError, lambda: publish(made, ROLES, REQUIRED, path, waive=WAIVED), path, formats.WRITABLE)
    refusal(
        InputError, lambda: publish(made, ROLES, REQUIRED, "s3://bucket/r.csv?key=1", waive=WAIVED), "s3", "address"
    )


@pytest.mark.parametrize("ending", few(NEW, *NEW[:2]))
def test_what_is_not_met_leaves_nothing(tmp_path: Path, made: Release, ending: str) -> None:
    with pytest.raises(NotMet, match="k_anonymity"):
        publish(made, ROLES, [sf.k_anonymity.at_least(39)], tmp_path / f"r{ending}", waive=WAIVED)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("ending", few(NEW, *NEW[:2]))
def test_a_file_that_holds_something_else_is_not_published(
    tmp_path: Path, made: Release, ending: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is measured is the file: a reader that finds another value in it stops the release."""
    read = sinks.read_published

    def other(path: Path, **how: Any) -> Any:
        table = read(path, **how)
        return table.each({"zip": "'00100'"})

    monkeypatch.setattr(sinks, "read_published", other)
    with pytest.raises(NotMet, match="'zip'"):
        publish(made, ROLES, [], tmp_path / f"r{ending}", waive={**WAIVED, "zip": "made up", "age": "x", "sex": "x"})
    assert not list(tmp_path.iterdir())


# --- any table ----------------------------------------------------------------------------------------------------------

SHOWN = st.sampled_from(
    ["*", "NA", "unknown", "-", "x", "Total", "sum", "[20, 30)", "90+", "20-29", "13***", "{NA, x}", "{a|b}", "007", "1.5", "a;b", "'a'",
     '"q"', "x,y", "line\nbreak", "=1+1", "number", "# c", "{\"a\": 1}", "[1]", "2020-01-02"]
)  # fmt: skip
TEXTS = st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S", "Zs")), max_size=12).map(str.strip)
CELLS = {
    "text": TEXTS,
    "shown": SHOWN,
    "number": st.integers(-(10**9), 10**9).map(str),
    "decimal": st.floats(-1e6, 1e6).map(lambda x: repr(round(x, 4))),
    "day": st.dates(datetime.date(1583, 1, 1)).map(str),
    "moment": st.datetimes(datetime.datetime(1583, 1, 1)).map(lambda m: m.replace(microsecond=0).isoformat()),
    "code": st.sampled_from(
        ["007", "7", "1e5", "+1", "1.50", "true", "NaN", "inf", "1_000", "12345678901234567", "2024-13-01"]
    ),
}


@pytest.mark.parametrize("ending", few(WRITTEN, ".csv", ".parquet", ".xlsx"))
@settings(max_examples=10)
@given(data=st.data())
def test_any_table_is_counted_the_same_from_every_format(tmp_path_factory: pytest.TempPathFactory, ending: str, data: st.DataObject) -> None:  # fmt: skip
    kinds = data.draw(st.lists(st.sampled_from(sorted(CELLS)), min_size=1, max_size=3))
    rows = data.draw(st.integers(1, 6))
    columns = {
        f"c{i}": data.draw(st.lists(st.none() | CELLS[kind], min_size=rows, max_size=rows))
        for i, kind in enumerate(kinds)
    }
    columns["last"] = ["x"] * rows  # no row is empty
    table = sf.read(pa.table({name: pa.array(cells, pa.string()) for name, cells in columns.items()}), dates="text", decimal="text")  # fmt: skip
    path = tmp_path_factory.mktemp("any") / f"t{ending}"
    table.write(path)
    assert counted(read_published(path)) == counted(table)


@pytest.mark.parametrize("ending", [".csv", ".xlsx"])
@settings(max_examples=30)
@given(data=st.data())
def test_no_release_loses_a_row_or_gains_a_header(tmp_path_factory: pytest.TempPathFactory, ending: str, data: st.DataObject) -> None:  # fmt: skip
    """Whatever the first rows and the last ones hold: a release is no report, with titles above it, two headers and a total."""
    names = data.draw(st.lists(st.sampled_from(["age", "zip", "who", "Total", "mean", "NA_", "ä", "code"]), min_size=2, max_size=4, unique=True))  # fmt: skip
    shown, rest = (
        data.draw(st.integers(0, 3)),
        data.draw(st.sampled_from(["7", "2.5", "*", "text", "[20, 30)", "Total"])),
    )
    columns = {name: [*data.draw(st.lists(st.none() | SHOWN, min_size=shown, max_size=shown)), *[rest] * 4, *data.draw(st.lists(st.none() | SHOWN, max_size=1, min_size=1))]
               for name in names}  # fmt: skip
    columns["last"] = ["y"] * (shown + 5)  # no row is empty
    table = sf.read(pa.table({name: pa.array(cells, pa.string()) for name, cells in columns.items()}), dates="text", decimal="text")  # fmt: skip
    path = tmp_path_factory.mktemp("first") / f"t{ending}"
    table.write(path)
    reading, roles = Reading(quiet=True, memory=None, options={}), sf.Roles(quasi=names)
    for again in (read_published(path), reading.release(path, roles, None)):
        assert (again.columns, again.rows) == (table.columns, table.rows)
    assert sf.read(path).columns == table.columns


@pytest.mark.skipif(sys.platform != "linux", reason="limits as Linux has them")
@pytest.mark.filterwarnings("ignore::ResourceWarning")  # the writer of workbooks leaves its temporary files to Python
@pytest.mark.parametrize("ending", few(WRITTEN, ".csv", ".parquet", ".xlsx"))
@pytest.mark.parametrize("most", [0, 300, 4096])
def test_a_full_disk_is_the_systems_refusal_and_leaves_nothing(
    made: Release, tmp_path: Path, ending: str, most: int
) -> None:
    path = tmp_path / f"release{ending}"
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, before[1]))
        publish(made, ROLES, REQUIRED, path, waive=WAIVED)
    except (OSError, InputError, NotMet):
        assert not list(tmp_path.iterdir())
    else:
        assert path.stat().st_size <= most
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        gc.collect()  # what failed to close must not fail again, unraisable, when it is cleaned up
