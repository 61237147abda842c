"""A hospital steward's workbook goes from file to verified package with a roles file and two answers: people counted, nothing personal in it."""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import pytest

import sfumato as sf

sys.path.insert(0, str(Path(__file__).parents[1]))
import steward_workbook

PEOPLE = 120


@pytest.fixture
def workbook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return steward_workbook.write(tmp_path / "entlassungen.xlsx", steward_workbook.rows(PEOPLE))


def test_the_suggested_roles_need_no_correction(run, workbook: Path) -> None:
    table = (
        steward_workbook.rows()
    )  # with few rows nearly every laboratory value is somebody's own, and that is another suggestion
    told = run("profile", steward_workbook.write(workbook, table), "--write-roles", "roles.toml").fine()
    text, roles = Path("roles.toml").read_text(encoding="utf-8"), sf.Roles.read("roles.toml")
    assert roles.person == "Patient Nummer"
    assert set(roles.identifiers) == {"Patient Name", "Stichprobe Bemerkung"}
    assert roles.weight == "Stichprobe Hochrechnungsfaktor"
    assert set(roles.sensitive) == {"Aufenthalt ICD", "Aufenthalt Schweregrad", "Labor CRP", "Labor Kreatinin"}
    assert roles.people == {"rows": "unlinked"}
    assert f"{len(table):,} rows are of {len({row[0] for row in table})} people" in text
    assert {name for name, codes in roles.missing if codes == ("999",)} == {
        "Patient Alter",
        "Labor CRP",
        "Labor Kreatinin",
    }
    assert roles.orders == {"Aufenthalt Schweregrad": steward_workbook.SEVERITY}
    for planted in steward_workbook.planted(table):
        assert planted not in text + told.out + told.err


@pytest.mark.full
def test_from_file_to_verified_package(run, workbook: Path) -> None:
    run("profile", workbook, "--write-roles", "roles.toml").fine()
    told = run(
        "advise", workbook, "--roles", "roles.toml", "--to", "agreement", "--impact", "medium", "--package", "package"
    ).fine()
    assert "Package: package, verified." in told.out
    table = steward_workbook.rows(PEOPLE)
    names = [
        f"{above} {below}".strip()
        for above, below in zip(_filled(steward_workbook.HEADER[0]), steward_workbook.HEADER[1], strict=True)
    ]
    with Path("package/release.csv").open(encoding="utf-8", newline="") as file:
        released = list(csv.DictReader(file))
    assert 0 < len(released) <= len(table)
    assert set(released[0]) == set(names) - {
        "Patient Nummer",
        "Patient Name",
        "Stichprobe Bemerkung",
    }
    assert all(len(row["Stichprobe Hochrechnungsfaktor"].replace(".", "").strip("0")) <= 3 for row in released)
    assert not any(row["Labor CRP"] == "999" for row in released)
    files = [path for path in Path("package").rglob("*") if path.is_file()]
    assert len(files) > 5
    for path in files:
        content = path.read_bytes().decode("utf-8", errors="replace")
        for planted in steward_workbook.planted(table):
            assert planted not in content, path.name
    assert "Limits are on different people" in Path("package/README.md").read_text(encoding="utf-8")


def _filled(above: tuple[str | None, ...]) -> list[str]:
    """Names of the upper header row, each standing for the columns to its right."""
    found: list[str] = []
    for name in above:
        found.append(name or found[-1])
    return found
