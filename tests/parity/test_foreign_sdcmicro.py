"""Files as R and sdcMicro 5.8 write them: `(20,40]` and `[11,31]` by globalRecode (R's cut), `(65,Inf]`, labels such as 61+, `1e+05`, NA.

Its local suppression sets NA, which write.csv writes bare; its own export (writeSafeFile) is write.table, whose header has no field for
the row names. What was looked at: R 4.2 with sdcMicro's globalRecode and topBotCoding. The tables here are made up.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import sfumato as sf
from sfumato.engines.missing_codes import recognise

SCRIPT = Path(sys.executable).with_name("sfumato")
ROLES = '[roles]\nquasi = ["age", "sex", "income"]\nsensitive = ["ill"]\n'
ORIGINAL = """"age","sex","income","ill"
12,"m",100000,"flu"
19,"m",100000,"cold"
20,"m",100000,"gout"
21,"f",2500,"flu"
40,"f",2500,"cold"
35,"f",7000,"gout"
66,"m",7000,"flu"
71,"f",7000,"cold"
"""
SDC = """"age","sex","income","ill"
"(0,20]","m",1e+05,"flu"
"(0,20]","m",1e+05,"cold"
"(0,20]","m",1e+05,"gout"
"(20,65]","f",NA,"flu"
"(20,65]","f",NA,"cold"
"(20,65]","f",NA,"gout"
"(65,Inf]",NA,7000,"flu"
"(65,Inf]",NA,7000,"cold"
"""
OURS = """age,sex,income,ill
"[12,21)",m,100000,flu
"[12,21)",m,100000,cold
"[12,21)",m,100000,gout
"[21,66)",f,*,flu
"[21,66)",f,*,cold
"[21,66)",f,*,gout
>=66,*,7000,flu
>=66,*,7000,cold
"""
# values that each class leaves open, of 8 ages, 2 sexes and 3 incomes; and its rows
OPEN = (((3, 1, 1), 3), ((3, 1, 3), 3), ((2, 2, 1), 2))
SIZES = (8, 2, 3)


@pytest.fixture
def files(tmp_path: Path) -> Path:
    for name, text in (("original.csv", ORIGINAL), ("sdc.csv", SDC), ("ours.csv", OURS), ("roles.toml", ROLES)):
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def sfumato(*words: object) -> tuple[str, str]:
    done = subprocess.run([SCRIPT, *map(str, words)], capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


def scores(files: Path, name: str, *more: str) -> tuple[dict[str, float], str]:
    out, told = sfumato(
        "measure", files / name, "--roles", files / "roles.toml", "--original", files / "original.csv", "--json", *more
    )
    found = {metric: score["value"] for metric, score in json.loads(out)["scores"].items()}
    return {metric: float("inf") if value is None else value for metric, value in found.items()}, told


def test_it_measures_as_the_same_release_in_our_notation(files: Path) -> None:
    (theirs, told), (ours, nothing) = (scores(files, name) for name in ("sdc.csv", "ours.csv"))
    assert theirs.keys() == ours.keys()
    assert len(theirs) > 30
    assert theirs == pytest.approx(ours, rel=1e-12)
    assert "'income': 3 cells are NA, where the original has none missing: read as suppressed (*)" in told
    assert "'sex': 2 cells are NA" in told
    assert nothing == ""


@pytest.mark.full
def test_the_numbers_computed_plainly(files: Path) -> None:
    found, _ = scores(files, "sdc.csv")
    assert found["k_anonymity"] == 2
    assert found["distinct_l_diversity"] == 2
    assert found["iloss"] == pytest.approx(
        sum(rows * sum((o - 1) / size for o, size in zip(left, SIZES, strict=True)) for left, rows in OPEN) / 8 / 3
    )
    assert found["granularity"] == pytest.approx(
        sum(rows * sum((o - 1) / (size - 1) for o, size in zip(left, SIZES, strict=True)) for left, rows in OPEN)
        / 8
        / 3
    )


@pytest.mark.full
def test_verify_compare_and_queries_read_it_too(files: Path) -> None:
    words = ("--roles", files / "roles.toml", "--original", files / "original.csv")
    out, told = sfumato(
        "verify", files / "sdc.csv", *words, "--require", "k_anonymity >= 2", "--require", "iloss <= 0.25"
    )  # fmt: skip
    assert "every requirement is met" in out
    assert "read as suppressed" in told
    out, told = sfumato(
        "study", files / "original.csv", "--roles", files / "roles.toml", "--release", files / "sdc.csv",
        "--release", files / "ours.csv", "--out", files / "report", "--json",
    )  # fmt: skip
    points = [{name: score["value"] for name, score in c["scores"].items()} for c in json.loads(out)["candidates"]]
    assert points[0] == pytest.approx(points[1])
    assert "read as suppressed" in told
    (files / "q.toml").write_text('[[query]]\nsex = ["f"]\n')
    out, _ = sfumato("inspect", "queries", files / "sdc.csv", *words, "--queries", files / "q.toml", "--json")
    (asked,) = json.loads(out)["queries"]
    assert (asked["actual"], asked["estimate"]) == (4, 3 + 2 / 2)


def test_without_the_original_na_is_a_value_and_said(files: Path) -> None:
    out, told = sfumato("measure", files / "sdc.csv", "--roles", files / "roles.toml", "--json")
    assert "column 'income': 3 cells are NA, read as a value like any other" in told
    assert "--missing NA" in told
    assert json.loads(out)["scores"]["k_anonymity"]["value"] == 2
    _, told = sfumato("measure", files / "sdc.csv", "--roles", files / "roles.toml", "--missing", "NA")
    assert "NA" not in told.replace("Not measured", "")


def read_na(tmp_path: Path, before: str, after: str) -> sf.Release:
    """A release of one column `q` beside `s`, NA recognised."""
    for name, text in (("before.csv", before), ("after.csv", after)):
        (tmp_path / name).write_text("q,s\n" + "".join(f"{value},x\n" for value in text.split("|")))
    original = sf.read(tmp_path / "before.csv")
    return sf.Release(
        table=recognise(sf.read(tmp_path / "after.csv"), original, quasi=["q"], others=["s"]), original=original
    )


@pytest.mark.parametrize(
    ("before", "after", "values", "note"),
    [
        ("a|b|c", "a|b|c", {"a": 1, "b": 1, "c": 1}, None),
        ("a|b|c", "a|NA|NA", {"a": 1, "*": 2}, "none missing: read as suppressed (*)"),
        ("a|b|", "a|b|NA", {"a": 1, "b": 1, None: 1}, "which the original does not have: read as missing"),
        ("a|b|", "a|NA|NA", {"a": 1, "*": 2}, "only 1 missing: read as suppressed (*)"),
        ("a||", "a|NA", {"a": 1, None: 1}, "read as missing"),
        ("a|NA|c", "a|NA|NA", {"a": 1, "NA": 2}, "which the original has too: read as a value"),
        ("a|b|c", "a|*|NA", {"a": 1, "*": 1, None: 1}, "read as missing"),
        ("a|b|", "a|NA|", {"a": 1, "NA": 1, None: 1}, "left apart"),
        ("a|b|", "a|NA|NULL", {"a": 1, "NA": 1, "NULL": 1}, "left apart"),
        ("a|b|c", "a|b|", {"a": 1, "b": 1, "*": 1}, "1 cell is empty, where the original has none missing"),
        ("a||c", "a||c", {"a": 1, "c": 1, None: 1}, None),
        ("a|b|c", "a|na|nap", {"a": 1, "na": 1, "nap": 1}, None),
    ],
)  # fmt: skip
def test_what_na_is_read_as(
    tmp_path: Path, before: str, after: str, values: dict[str | None, int], note: str | None
) -> None:
    release = read_na(tmp_path, before, after)
    counts = release.table.count(("q",))
    assert {counts.columns[0].texts[c]: n for c, n in zip(counts.codes[0], counts.n, strict=True)} == values
    if note is None:
        assert release.table.notes == ()
    else:
        (said,) = release.table.notes
        assert note in said
        assert "'q'" in said


def test_a_sensitive_column_is_missing_never_suppressed(tmp_path: Path) -> None:
    for name, text in (("before.csv", "q,s\n1,a\n2,b\n"), ("after.csv", "q,s\n1,a\n2,NA\n")):
        (tmp_path / name).write_text(text)
    table = recognise(sf.read(tmp_path / "after.csv"), sf.read(tmp_path / "before.csv"), quasi=["q"], others=["s"])
    assert table.count(("s",)).columns[0].texts == ["a", None]
    assert "column 's': 1 cell is NA, which the original does not have: read as missing" in table.notes[-1]


def test_numbers_of_a_typed_table_are_suppressed_as_text(tmp_path: Path) -> None:
    import pyarrow as pa

    original = sf.read(pa.table({"q": [1.0, 2.5, 3.0]}))
    table = recognise(sf.read(pa.table({"q": [1.0, 2.5, None]})), original, quasi=["q"])
    assert set(table.count(("q",)).columns[0].texts) == {"1", "2.5", "*"}
    assert sf.iloss(sf.Release(table=table, original=original), sf.Roles(quasi=("q",))).value == pytest.approx(
        2 / 3 / 3
    )


@pytest.mark.parametrize("header", ['"","age","sex","ill"', '"age","sex","ill"'], ids=["write.csv", "write.table"])
def test_row_names_are_read_and_told(tmp_path: Path, header: str) -> None:
    (tmp_path / "r.csv").write_text(f'{header}\n"1","(0,20]","m","flu"\n"12",NA,"f","cold"\n')
    table = sf.read(tmp_path / "r.csv")
    assert table.columns == ("column1", "age", "sex", "ill")
    assert table.rows == 2
    assert table.count(("age",)).columns[0].texts == ["(0,20]", "NA"]
    (note,) = table.notes
    assert "row.names = FALSE" in note


@pytest.mark.parametrize(
    "text",
    ['"","age"\n"x","1"\n', '"age",""\n"1","2"\n', "age,sex\n1,2,3\nx,2,3\n"],
    ids=["not numbers", "not the first", "not every line"],
)
def test_other_columns_without_a_name_are_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "r.csv").write_text(text)
    with pytest.raises(sf.SfumatoError, match=r"has no name|fields where the header"):
        _ = sf.read(tmp_path / "r.csv").rows
