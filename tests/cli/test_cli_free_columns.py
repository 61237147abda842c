"""Columns that no requirement limits, at the command line: refused with 1 and a sentence each, or waived with a reason."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pytest
from cli_house import Run

from house import taxpayers

ROWS = 400
REASON = "the survey office publishes the weights anyway"
WAIVED = ("--waive", f"weight: {REASON}", "--waive", "gross: agreed with the tax office")
ROLES = """[roles]
quasi = ["age", "income"]
sensitive = ["diagnosis"]
insensitive = ["weight", "gross", "tax", "ward"]
"""


@pytest.fixture
def town(tmp_path: Path) -> Path:
    pa.csv.write_csv(taxpayers(ROWS), tmp_path / "people.csv")
    (tmp_path / "roles.toml").write_text(ROLES)
    return tmp_path


def sanitize(town: Path, *more: str, out: str = "release.csv") -> list[object]:
    words = ["sanitize", town / "people.csv", "--roles", town / "roles.toml", "--out", town / out]
    return [*words, "--mechanism", "mondrian", "--set", "k=5", *more]


def test_it_refuses_with_1_and_leaves_nothing(run: Run, town: Path) -> None:
    run(*sanitize(town)).refused(
        1,
        "'weight': 400 of 400 rows (100%) are alone by it",
        "'gross' - 'tax' equals 'income'",
        "--waive 'weight: REASON'",
    )
    assert sorted(path.name for path in town.iterdir()) == ["people.csv", "roles.toml"]


def test_waivers_are_taken_and_told(run: Run, town: Path) -> None:
    assert REASON in run(*sanitize(town, *WAIVED)).fine().out
    told = run(*sanitize(town, *WAIVED, "--json", out="other.csv")).fine().json
    assert told["waived"]["weight"] == REASON
    assert {finding["column"] for finding in told["free_columns"]} >= {"weight", "gross"}


def test_verify_looks_at_them_too(run: Run, town: Path) -> None:
    run(*sanitize(town, *WAIVED)).fine()
    words = ["verify", town / "release.csv", "--roles", town / "roles.toml", "--require", "k_anonymity >= 5"]
    bad = run(*words)
    assert bad.code == 1
    assert "'weight'" in bad.out
    assert run(*words, *WAIVED).fine().out.count("Waived by the owner") == 2
    found = run(*words, "--json").json
    assert found["met"] is False
    assert found["free_columns"][0]["column"] == "weight"


@pytest.mark.parametrize(
    ("waiver", "words"), [("weight", "COLUMN: reason"), ("weight:", "say why"), ("wait: x", "no column 'wait'")]
)
def test_what_is_no_waiver_is_2(run: Run, town: Path, waiver: str, words: str) -> None:
    run(*sanitize(town, "--waive", waiver)).refused(2, words)


def test_advise_refuses_before_any_work(run: Run, town: Path) -> None:
    words = ["advise", town / "people.csv", "--roles", town / "roles.toml", "--out", town / "advice"]
    run(*words, "--to", "public", "--impact", "low").refused(1, "'weight'", "'gross'")
    assert not (town / "advice").exists()


def test_compare_tells_and_goes_on(run: Run, town: Path) -> None:
    words = ["study", town / "people.csv", "--roles", town / "roles.toml", "--out", town / "study"]
    assert "'weight'" in run(*words, "--candidate", "mondrian k=5").fine().err
