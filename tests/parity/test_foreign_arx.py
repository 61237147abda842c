"""A file as ARX 3.9 writes it: semicolons, `[20, 40[`, `<20`, `>=80`, `{a, b}`, `476**`, `[1980, 1990[`, rows of `*`, NULL for missing.

What was looked at: ARXResult.getOutput(...).save(...) with its builders of intervals, sets, redaction and dates. The table here is made up.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import sfumato as sf

SCRIPT = Path(sys.executable).with_name("sfumato")
QUASI = ("age", "degree", "zip", "born")

ORIGINAL = """age;degree;zip;born;ill
12;none;47601;1984-03-01;flu
17;school;47602;1985-07-31;cold
22;bachelor;47611;1991-01-01;flu
31;master;47612;1999-12-31;gout
39;bachelor;47613;1995-05-05;cold
40;master;47621;2000-01-01;flu
58;doctor;47622;2004-02-29;gout
59;master;47623;2009-12-31;cold
80;none;47631;1975-04-04;gout
96;school;47632;1979-10-10;flu
NULL;doctor;47633;1971-06-06;gout
NULL;none;47634;1970-01-01;flu
"""
ARX = """age;degree;zip;born;ill
<20;{school, none};4760*;[1980, 1990[;flu
<20;{school, none};4760*;[1980, 1990[;cold
[20, 40[;{bachelor, master};4761*;[1990, 2000[;flu
[20, 40[;{bachelor, master};4761*;[1990, 2000[;gout
[20, 40[;{bachelor, master};4761*;[1990, 2000[;cold
[40, 80[;{doctor, master};4762*;[2000, 2010[;flu
[40, 80[;{doctor, master};4762*;[2000, 2010[;gout
[40, 80[;{doctor, master};4762*;[2000, 2010[;cold
*;*;*;*;gout
*;*;*;*;flu
NULL;{doctor, none};4763*;[1970, 1980[;gout
NULL;{doctor, none};4763*;[1970, 1980[;flu
"""
OURS = """age,degree,zip,born,ill
"[12,20)","{none, school}",4760*,1980s,flu
"[12,20)","{none, school}",4760*,1980s,cold
"[20,40)","{bachelor, master}",4761*,1990s,flu
"[20,40)","{bachelor, master}",4761*,1990s,gout
"[20,40)","{bachelor, master}",4761*,1990s,cold
"[40,80)","{doctor, master}",4762*,2000s,flu
"[40,80)","{doctor, master}",4762*,2000s,gout
"[40,80)","{doctor, master}",4762*,2000s,cold
*,*,*,*,gout
*,*,*,*,flu
,"{doctor, none}",4763*,1970s,gout
,"{doctor, none}",4763*,1970s,flu
"""
# values that each class leaves open, of 11 ages (missing is one), 5 degrees, 12 codes and 12 days; and its rows
OPEN = (((2, 2, 2, 2), 2), ((3, 2, 3, 3), 3), ((3, 2, 3, 3), 3), ((11, 5, 12, 12), 2), ((1, 2, 4, 4), 2))
SIZES = (11, 5, 12, 12)


@pytest.fixture
def files(tmp_path: Path) -> Path:
    for name, text in (("original.csv", ORIGINAL), ("arx.csv", ARX), ("ours.csv", OURS)):
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "roles.toml").write_text('[roles]\nquasi = ["age", "degree", "zip", "born"]\nsensitive = ["ill"]\n')
    return tmp_path


def sfumato(*words: object) -> tuple[str, str]:
    done = subprocess.run([SCRIPT, *map(str, words)], capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


def scores(files: Path, name: str, *more: str) -> dict[str, float]:
    out, _ = sfumato(
        "measure", files / name, "--roles", files / "roles.toml", "--original", files / "original.csv", "--json", *more
    )
    found = {metric: score["value"] for metric, score in json.loads(out)["scores"].items()}
    return {metric: float("inf") if value is None else value for metric, value in found.items()}


def test_arx_measures_as_the_same_release_in_our_notation(files: Path) -> None:
    theirs, ours = (scores(files, name, "--missing", "NULL") for name in ("arx.csv", "ours.csv"))
    assert theirs.keys() == ours.keys()
    assert len(theirs) > 30
    assert theirs == pytest.approx(ours, rel=1e-12)


def test_the_numbers_computed_plainly(files: Path) -> None:
    found = scores(files, "arx.csv", "--missing", "NULL")
    assert found["k_anonymity"] == 2
    assert found["distinct_l_diversity"] == 2
    assert found["iloss"] == pytest.approx(
        sum(rows * sum((o - 1) / size for o, size in zip(left, SIZES, strict=True)) for left, rows in OPEN) / 12 / 4
    )
    assert found["granularity"] == pytest.approx(
        sum(rows * sum((o - 1) / (size - 1) for o, size in zip(left, SIZES, strict=True)) for left, rows in OPEN)
        / 12
        / 4
    )
    assert found["arx_loss[arithmetic]"] == pytest.approx(found["granularity"])


@pytest.mark.full
def test_verify_and_compare_read_it_too(files: Path) -> None:
    out, _ = sfumato(
        "verify", files / "arx.csv", "--roles", files / "roles.toml", "--original", files / "original.csv",
        "--require", "k_anonymity >= 2", "--require", "iloss <= 0.35", "--missing", "NULL",
    )  # fmt: skip
    assert "every requirement is met" in out
    out, _ = sfumato(
        "study", files / "original.csv", "--roles", files / "roles.toml", "--release", files / "arx.csv",
        "--release", files / "ours.csv", "--out", files / "report", "--missing", "NULL", "--json",
    )  # fmt: skip
    points = [{name: score["value"] for name, score in c["scores"].items()} for c in json.loads(out)["candidates"]]
    assert len(points) == 2
    assert points[0] == pytest.approx(points[1])


def test_null_that_the_original_writes_empty_is_read_as_missing_and_said(files: Path) -> None:
    before = files / "original.csv"
    before.write_text(ORIGINAL.replace("NULL", ""), encoding="utf-8")
    out, told = sfumato(
        "measure", files / "arx.csv", "--roles", files / "roles.toml", "--original", before, "--metric", "iloss", "--json"
    )  # fmt: skip
    assert "column 'age': 2 cells are NULL, which the original does not have: read as missing" in told
    assert json.loads(out)["scores"]["iloss"]["value"] == pytest.approx(scores(files, "ours.csv")["iloss"])


def test_null_that_the_original_has_is_a_value_until_it_is_named(files: Path) -> None:
    words = ("--roles", files / "roles.toml", "--original", files / "original.csv", "--metric", "k_anonymity")
    _, told = sfumato("measure", files / "arx.csv", *words)
    assert "'age': 2 cells are NULL, which the original has too: read as a value" in told
    assert "--missing NULL" in told
    _, told = sfumato("measure", files / "arx.csv", *words, "--missing", "NULL")
    assert "NULL" not in told


def test_arx_dates_between_days_and_on_a_side(tmp_path: Path) -> None:
    days = ["1949-12-31", "1950-01-01", "1974-12-31", "1975-01-01", "1999-12-31", "2000-01-01"]
    roles = sf.Roles(quasi=("born",), hierarchies={})
    before, after = tmp_path / "a.csv", tmp_path / "b.csv"
    before.write_text("born;x\n" + "".join(f"{day};1\n" for day in days))
    shown = [
        "<1950-01-01",
        "[1950-01-01, 1975-01-01[",
        "[1950-01-01, 1975-01-01[",
        "01/1975",
        "[1975-01-01, 2000-01-01[",
    ]
    after.write_text("born;x\n" + "".join(f"{text};1\n" for text in [*shown, ">=2000-01-01"]))
    release = sf.Release(table=sf.read(after), original=sf.read(before))
    assert sf.iloss(release, roles).value == pytest.approx((0 + 1 + 1 + 0 + 1 + 0) / 6 / 6)


def test_what_only_the_order_can_tell_is_refused_in_a_sentence(files: Path) -> None:
    """ARX's bounding values of texts, `[bachelor, school]`, mean an order that the file does not have."""
    (files / "arx.csv").write_text(ARX.replace("{school, none}", "[none, school]"), encoding="utf-8")
    release = sf.Release(
        table=sf.read(files / "arx.csv", missing=["NULL"]), original=sf.read(files / "original.csv", missing=["NULL"])
    )
    with pytest.raises(sf.SfumatoError, match="cannot tell what 1 released values of 'degree' stand for"):
        sf.iloss(release, sf.Roles(quasi=QUASI, sensitive=("ill",)))
