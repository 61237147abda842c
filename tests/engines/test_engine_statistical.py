"""Files of SPSS, Stata and SAS, made by pyreadstat: labels, missing values, dates and damage."""

from __future__ import annotations

import datetime
import importlib.util
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pyreadstat
import pytest

import sfumato as sf
from selection import few
from sfumato.core import table_formats as formats
from sfumato.core.errors import InputError, Unavailable
from sfumato.engines import statistical_reader

OLD, NEW, MOMENT = datetime.date(1582, 10, 15), datetime.date(9999, 12, 31), datetime.datetime(1870, 1, 2, 3, 4, 5)
FRAME = pd.DataFrame(
    {
        "age": [20.0, 99.0, 31.0, np.nan],
        "sex": [1.0, 2.0, 1.0, 2.0],
        "code": [1.0, 7.0, 1.0, 7.0],
        "town": ["Köln", "", "Bonn", "Bonn"],
        "born": [OLD, NEW, None, OLD],
        "seen": [MOMENT, MOMENT, None, MOMENT],
        "up": [datetime.time(8, 30)] * 4,
    }
)
LABELS = {"sex": {1: "male", 2: "female", 3: "other"}, "code": {7: "seven or more"}}


def spss(path: Path, name: str = "t.sav", **more: Any) -> Path:
    how: dict[str, Any] = {
        "variable_value_labels": LABELS,
        "column_labels": {"age": "Age in years"},
        "missing_ranges": {"age": [{"lo": 97, "hi": 99}]},
        "variable_measure": {"sex": "nominal"},
    }
    pyreadstat.write_sav(FRAME, str(path / name), **{**how, **more})
    return path / name


def stata(path: Path) -> Path:
    pyreadstat.write_dta(FRAME.drop(columns=["born", "up"]), str(path / "t.dta"), variable_value_labels=LABELS)
    return path / "t.dta"


def test_spss(tmp_path: Path, rows_of: Any) -> None:
    table = sf.read(spss(tmp_path))
    assert rows_of(table) == [
        (("20", "male", "1", "Köln", "1582-10-15", "1870-01-02T03:04:05", "08:30:00"), 1),
        (("31", "male", "1", "Bonn", None, None, "08:30:00"), 1),
        ((None, "female", "7", "Bonn", "1582-10-15", "1870-01-02T03:04:05", "08:30:00"), 1),
        ((None, "female", "7", None, "9999-12-31", "1870-01-02T03:04:05", "08:30:00"), 1),
    ]
    assert table.types["age"] == "BIGINT"  # whole, although missing values had made it float
    assert table.variables["age"].label == "Age in years"
    assert table.variables["sex"].measure == "nominal"
    assert table.variables["code"].values == {"7": "seven or more"}
    assert "read as labels, not codes: sex; choose with --labels" in table.notes
    assert any("user-missing" in note and "age" in note for note in table.notes)
    assert table.written["labels"] == ["sex"]


@pytest.mark.parametrize("name", ["t.zsav", "t.SAV"])
def test_spss_by_other_endings(tmp_path: Path, name: str) -> None:
    made = spss(tmp_path, "made.sav", compress=name.endswith("zsav"))
    assert sf.read(made.rename(tmp_path / name)).count(("sex",)).columns[0].texts == ["female", "male"]


def test_stata(tmp_path: Path, rows_of: Any) -> None:
    assert rows_of(sf.read(stata(tmp_path)), ("age", "sex", "code", "town", "seen")) == [
        (("20", "male", "1", "Köln", "1870-01-02T03:04:05"), 1),
        (("31", "male", "1", "Bonn", None), 1),
        (("99", "female", "7", None, "1870-01-02T03:04:05"), 1),
        ((None, "female", "7", "Bonn", "1870-01-02T03:04:05"), 1),
    ]


def test_stata_single_precision(tmp_path: Path) -> None:
    pd.DataFrame({"x": np.array([1.1, 2.5], dtype="float32")}).to_stata(tmp_path / "t.dta", write_index=False)
    assert sf.read(tmp_path / "t.dta").count(("x",)).columns[0].texts == ["1.1", "2.5"]


def test_stata_marks_of_missing_values(tmp_path: Path) -> None:
    pyreadstat.write_dta(
        pd.DataFrame({"y": pd.Series([1, "a"], dtype=object)}),
        str(tmp_path / "t.dta"),
        missing_user_values={"y": ["a"]},
        variable_value_labels={"y": {"a": "refused", 1: "yes"}},
    )
    table = sf.read(tmp_path / "t.dta")
    assert table.count(("y",)).columns[0].texts == ["yes", None]
    assert any("user-missing" in note for note in table.notes)


def test_sas_transport_and_portable_files(tmp_path: Path, rows_of: Any) -> None:
    frame = FRAME[["age", "town", "born", "seen"]].rename(columns=str.upper).replace({"Köln": "Ulm"})
    pyreadstat.write_xport(frame, str(tmp_path / "t.xpt"), file_format_version=5)
    pyreadstat.write_por(frame, str(tmp_path / "t.por"))
    for path in (tmp_path / "t.xpt", tmp_path / "t.por"):
        assert rows_of(sf.read(path), ("AGE", "TOWN", "BORN")) == [
            (("20", "Ulm", "1582-10-15"), 1),
            (("31", "Bonn", None), 1),
            (("99", None, "9999-12-31"), 1),
            ((None, "Bonn", "1582-10-15"), 1),
        ]
    assert sf.read(tmp_path / "t.xpt").count(("SEEN",)).columns[0].texts == ["1870-01-02T03:04:05", None]


def test_labels_are_chosen(tmp_path: Path, refusal: Any) -> None:
    path = spss(tmp_path)
    assert sf.read(path, labels="none").count(("sex",)).columns[0].texts == ["1", "2"]
    both = sf.read(path, labels="sex, code")
    assert both.count(("code",)).columns[0].texts == ["1", "seven or more"]
    assert both.count(("sex",)).columns[0].texts == ["female", "male"]
    refusal(InputError, lambda: sf.read(path, labels="town"), path, "'town'")
    refusal(InputError, lambda: sf.read(path, sheet="x"), path, "sheet")


def test_a_label_of_two_codes_is_not_taken_for_the_code(tmp_path: Path) -> None:
    path = spss(tmp_path, variable_value_labels={"sex": {1: "given", 2: "given"}})
    assert sf.read(path).count(("sex",)).columns[0].texts == ["1", "2"]


def test_stated_values_decide_nothing(tmp_path: Path) -> None:
    """For differential privacy: with one row more the others are read as before."""
    path = spss(tmp_path)
    table = sf.read(path, stated=True, labels=["sex"])
    assert table.types == {**table.types, "age": "DOUBLE", "sex": "VARCHAR", "born": "DATE"}
    assert table.count(("sex",)).columns[0].texts == ["female", "male"]
    assert sf.read(path, stated=True).count(("sex",)).columns[0].texts == ["1", "2"]
    assert table.variables["sex"].labelled


def test_dates_beyond_the_calendar_are_left_and_told(tmp_path: Path) -> None:
    frame = pd.DataFrame({"d": [9e11, 0.0, np.nan]})
    pyreadstat.write_sav(frame, str(tmp_path / "t.sav"), variable_format={"d": "DATE11"})
    table = sf.read(tmp_path / "t.sav")
    assert table.count(("d",)).columns[0].texts == ["0", "900000000000", None]
    assert any("'d'" in note and "9999" in note for note in table.notes)


def test_read_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that does not fit into one part, and one that ends with it."""
    monkeypatch.setattr(statistical_reader, "_CELLS", 2000)
    for rows in (1999, 2000, 2001):
        frame = pd.DataFrame({"x": np.arange(rows, dtype=float), "y": [f"t{i % 7}" for i in range(rows)]})
        pyreadstat.write_sav(frame, str(tmp_path / "t.sav"))
        found = statistical_reader.copy(str(tmp_path / "t.sav"), str(tmp_path / "t.parquet"), ".sav", None)
        assert isinstance(found, dict)
        assert found["rows"] == rows
        assert pq.read_table(tmp_path / "t.parquet").to_pydict() == frame.to_dict("list")


@pytest.mark.parametrize("ending", few([".sav", ".dta", ".xpt", ".sas7bdat", ".por", ".zsav"], ".sav", ".dta"))
def test_damage_ends_in_one_sentence(tmp_path: Path, refusal: Any, canary: str, ending: str) -> None:
    path = tmp_path / f"t{ending}"
    path.write_text(f"a,b\n{canary},2\n", encoding="utf-8")
    refusal(InputError, lambda: sf.read(path), path, "that can be read")
    path.write_bytes(b"")
    refusal(InputError, lambda: sf.read(path), path)


@pytest.mark.parametrize("make", [spss, stata])
def test_cut_files_end_in_one_sentence(tmp_path: Path, refusal: Any, make: Any) -> None:
    whole = make(tmp_path).read_bytes()
    path = tmp_path / f"cut{make(tmp_path).suffix}"
    for at in (20, 200, len(whole) // 2, len(whole) - 30):
        path.write_bytes(whole[:at])
        refusal(InputError, lambda: sf.read(path), path)


@pytest.mark.full
def test_flipped_bytes_never_escape(tmp_path: Path) -> None:
    whole, draw = bytearray(spss(tmp_path).read_bytes()), np.random.default_rng(0)
    for _ in range(20):
        bad = whole.copy()
        for at in draw.integers(0, len(whole), 8):
            bad[at] = draw.integers(0, 256)
        (tmp_path / "bad.sav").write_bytes(bad)
        with suppress(InputError):
            sf.read(tmp_path / "bad.sav").count(("sex",))


def test_a_missing_package_says_how_to_install_it(
    tmp_path: Path, refusal: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = spss(tmp_path)
    find = importlib.util.find_spec
    monkeypatch.setattr(formats, "find_spec", lambda name: None if name == "pyreadstat" else find(name))
    refusal(Unavailable, lambda: sf.read(path), path, "pip install 'sfumato[formats]'")


def test_the_digest_tells_labels_from_codes(tmp_path: Path) -> None:
    path = spss(tmp_path)
    assert sf.read(path).digest() == sf.read(path).digest() != sf.read(path, labels="none").digest()
