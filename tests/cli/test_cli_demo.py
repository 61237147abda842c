"""`sfumato demo`: the whole path in one call, and commands that do the same when typed."""

from __future__ import annotations

import hashlib
import json
import shlex
import shutil
from pathlib import Path

import pytest
from cli_house import Outcome, Run

import sfumato as sf

FILES = {
    "people.csv",
    "roles.toml",
    "queries.toml",
    "hierarchies",
    "study.toml",
    "study",
    "package",
    "package.house",
}


def test_everything_is_in_the_folder(shown: tuple[Outcome, Path]) -> None:
    assert {path.name for path in (shown[1] / "my town").iterdir()} == FILES
    assert {path.name for path in shown[1].iterdir()} == {"my town"}


def test_it_says_where_the_report_is_and_only_progress_on_standard_error(shown: tuple[Outcome, Path]) -> None:
    assert "my town/study/report.html" in shown[0].out
    assert "my town/study/sheet.html" in shown[0].out
    assert [line for line in shown[0].err.splitlines() if not line.startswith("candidates: ")] == []
    for step in ("1.", "2.", "3.", "4."):
        assert f"\n{step} " in shown[0].out


def test_the_release_is_what_the_report_recommends_and_meets_what_was_asked(shown: tuple[Outcome, Path]) -> None:
    folder = shown[1] / "my town"
    content = json.loads((folder / "study" / "report.json").read_text(encoding="utf-8"))
    assert len({text.split()[0] for text in (each["name"] for each in content["candidates"])}) >= 4
    roles, file = sf.Roles.read(folder / "roles.toml"), folder / "package" / "release.csv"
    waived = dict.fromkeys(("income", "household_size"), "made up")
    found = sf.verify(sf.read(file), roles, [sf.require(text) for text in content["requirements"]], waive=waived)
    assert found.met
    assert len(found.verdicts) == 3
    (chosen,) = [c for c in content["candidates"] if c["name"] == content["recommended"]]
    k = sf.measure(sf.Release(table=sf.read(file)), roles, [sf.metric("k_anonymity")])[0]["k_anonymity"][1]
    assert k.value == chosen["scores"]["k_anonymity"]["value"] >= 20
    columns = sf.read(file).columns
    assert "person_id" not in columns
    assert "name" not in columns


@pytest.mark.full
def test_the_printed_commands_work_when_typed(
    shown: tuple[Outcome, Path], run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(shown[1])
    before = (shown[1] / "my town" / "package" / "release.csv").read_bytes()
    commands = [line.strip().removeprefix("$ ") for line in shown[0].out.splitlines() if line.strip().startswith("$ ")]
    assert [shlex.split(command)[:2] for command in commands] == [
        ["sfumato", verb] for verb in ("profile", "advise", "verify")
    ]
    for folder in ("package", "package.house"):
        shutil.move(shown[1] / "my town" / folder, shown[1] / f"kept-{folder}")
    for command in commands:
        run(*shlex.split(command)[1:]).fine()
    assert (shown[1] / "my town" / "package" / "release.csv").read_bytes() == before
    for folder in ("package", "package.house"):
        shutil.rmtree(shown[1] / f"kept-{folder}")
    (shown[1] / "my-roles.toml").unlink()


def test_the_sheet_says_which_file_it_is_about(shown: tuple[Outcome, Path]) -> None:
    folder = shown[1] / "my town"
    digest = hashlib.sha256((folder / "package" / "release.csv").read_bytes()).hexdigest()
    assert f"SHA-256 of release.csv: {digest}" in (folder / "study" / "sheet.md").read_text(encoding="utf-8")
    decided = json.loads((folder / "study" / "report.json").read_text(encoding="utf-8"))["decision"]
    assert decided["answer"] in ("yes", "accept")
    assert decided["checksums"]["release.csv"] == digest


def test_no_person_of_the_town_is_in_the_report_or_on_the_screen(shown: tuple[Outcome, Path]) -> None:
    folder = shown[1] / "my town"
    name, number = (
        {line.split(",")[i] for line in (folder / "people.csv").read_text(encoding="utf-8").splitlines()[1:]}
        for i in (1, 0)
    )
    for text in (shown[0].out, (folder / "study" / "report.json").read_text(encoding="utf-8")):
        assert not [value for value in (*name, *number) if value in text]


@pytest.mark.full
def test_json(run: Run, tmp_path: Path) -> None:
    found = run("demo", "--rows", "600", "--seed", "7", "--out", tmp_path / "town", "--json").fine()
    assert [line for line in found.err.splitlines() if not line.startswith("candidates: ")] == []
    content = found.json
    assert content["met"] is True
    assert content["recommended"]
    assert content["answer"] in ("yes", "accept")
    for key in ("people", "roles", "release", "report", "sheet"):
        assert Path(content[key]).is_file()


@pytest.mark.full
def test_the_same_seed_gives_the_same_town_and_release(run: Run, tmp_path: Path) -> None:
    files = {}
    for name in ("a", "b"):
        for _ in range(2):  # the second time in the same folder
            run("demo", "--rows", "400", "--seed", "7", "--out", tmp_path / name, "--json").fine()
        files[name] = [(tmp_path / name / file).read_bytes() for file in ("people.csv", "package/release.csv")]
    assert files["a"] == files["b"]


def test_out_that_is_a_file(run: Run, tmp_path: Path) -> None:
    (tmp_path / "town").write_text("kept")
    run("demo", "--rows", "200", "--out", tmp_path / "town").refused(2, "town", "folder")
    assert (tmp_path / "town").read_text() == "kept"
