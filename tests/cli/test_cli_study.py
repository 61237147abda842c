"""`sfumato study`: exit codes, what is written where, and JSON that is the library's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cli_house import House, Outcome, Run

from selection import few
from sfumato.cli.terminal import finite
from sfumato.study import runner
from sfumato.study.decision import decision
from sfumato.study.study_file import read_study as read

STUDY = """table = "people.csv"
roles = "roles.toml"
measures = ["k_anonymity"]
require = ["k_anonymity >= 4"]
refine = 0

[[candidate]]
mechanism = "mondrian"
k = [4, 8]
"""


@pytest.fixture(autouse=True)
def documents(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """The documents are tested elsewhere: here it counts what they are told."""
    told: list[dict[str, Any]] = []

    def write_all(result: Any, folder: Path, **more: Any) -> list[Path]:
        folder.mkdir(parents=True, exist_ok=True)
        told.append({"result": result, "folder": folder, **more})
        return []

    monkeypatch.setattr("sfumato.report.documents.write_all", write_all)
    monkeypatch.setattr("sfumato.report.package._note", lambda *args, **more: None)
    return told


def study(run: Run, house: House, *more: object, text: str = STUDY) -> Outcome:
    path = house.text("study.toml", text)
    return run("study", path, "--out", house / "out", "--workers", "1", *more)


def test_json_is_the_librarys(run: Run, house: House, canary: str) -> None:
    found = study(run, house, "--json").fine()
    assert canary not in found.out + found.err
    asked = read(house / "study.toml")
    result = asked.study.run(refine=asked.refine)
    wanted = json.loads(json.dumps(finite({**result.to_dict(), "decision": decision(result).to_dict()})))
    shown = found.json
    assert shown.pop("report") == str(house / "out" / "report.html")
    assert shown.pop("package") is None
    assert isinstance(shown.pop("warnings"), list)
    assert shown == wanted
    assert study(run, house, "--json").json["recommended"] == wanted["recommended"]


def test_text_says_what_to_take_and_how(run: Run, house: House, canary: str) -> None:
    found = study(run, house).fine()
    assert canary not in found.out + found.err
    assert "mondrian k=4" in found.out
    assert "recommended" in found.out
    assert "$ sfumato sanitize" in found.out
    assert "Traceback" not in found.err


def test_the_printed_commands_work(run: Run, house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    import shlex

    monkeypatch.chdir(house.folder)
    text = STUDY.replace('"k_anonymity >= 4"', '"k_anonymity >= 4", "marketer_risk <= 0.25"') + 'choose = "width"\n'
    out = study(run, house, text=text).fine().out
    commands = [line.strip()[2:] for line in out.splitlines() if line.strip().startswith("$ ")]
    assert len(commands) == 2
    for command in commands:
        words = shlex.split(command)
        assert words[0] == "sfumato"
        run(*words[1:]).fine()
    assert (house / "release.csv").exists()


def test_a_second_run_measures_nothing(run: Run, house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    first = study(run, house, "--json").fine()

    def never(*args: Any, **more: Any) -> Any:
        raise AssertionError("measured again")

    monkeypatch.setattr(runner.Bench, "measure", never)
    second = study(run, house, "--json").fine()
    assert first.json == second.json
    assert (house / "out" / ".kept").is_dir()


def test_the_cache_can_be_elsewhere(run: Run, house: House) -> None:
    study(run, house, "--cache", house / "mine").fine()
    assert (house / "mine").is_dir()
    assert not (house / "out" / ".kept").exists()


def test_nothing_meets_the_requirements(run: Run, house: House) -> None:
    text = STUDY.replace("k_anonymity >= 4", "k_anonymity >= 30").replace("k = [4, 8]", "k = [4, 8]\nsteer = false")
    found = study(run, house, text=text)
    assert found.code == 1
    assert "k_anonymity >= 30 is met by none" in found.out
    shown = study(run, house, "--json", text=text)
    assert shown.code == 1
    assert shown.json["recommended"] is None


def test_no_candidate_can_be_made(run: Run, house: House) -> None:
    study(run, house, text=STUDY.replace("[4, 8]", "500")).refused(1, "No candidate could be made")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (STUDY + "kk = 3\n", "no parameter 'kk'"),
        (STUDY.replace("measures", "mesures"), "did you mean 'measures'"),
        (STUDY.replace('"people.csv"', '"nowhere.csv"'), "nowhere.csv"),
        (STUDY.replace('["k_anonymity"]', "5"), "list of texts"),
        ("table = \n", "not a TOML file"),
    ],
)
def test_mistakes_in_the_file(run: Run, house: House, text: str, words: str) -> None:
    study(run, house, text=text).refused(2, words)


def test_a_study_that_is_not_there(run: Run, house: House) -> None:
    run("study", house / "nowhere.toml", "--out", house / "out").refused(2, "no such study file")


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--formats", "html,docx"), "docx"),
        (("--package", "there"), "already there"),
        (("--package", "nowhere/out"), "does not exist"),
        (("--workers", "0"), "--workers"),
        (("--refine", "-1"), "--refine"),
    ],
)
def test_options_are_looked_at_before_the_work(
    run: Run, house: House, monkeypatch: pytest.MonkeyPatch, more: tuple[str, str], words: str
) -> None:
    """Nobody waits a quarter of an hour to be told of a typing mistake."""
    (house / "there").mkdir()

    def never(*args: Any, **options: Any) -> Any:
        raise AssertionError("measured first")

    monkeypatch.setattr(runner.Bench, "measure", never)
    if more[0] == "--package":
        more = (more[0], str(house / more[1]))
    found = study(run, house, *more)
    assert found.code == 2, found
    assert words in found.err


def test_formats_and_reveal_reach_the_documents(run: Run, house: House, documents: list[dict[str, Any]]) -> None:
    study(run, house, "--formats", " html, md,html", "--reveal").fine()
    assert documents[0]["formats"] == ("html", "md")
    assert documents[0]["reveal"] is True
    assert documents[0]["folder"] == house / "out"
    study(run, house).fine()
    assert documents[1]["reveal"] is False


def test_a_package_is_written_and_verifies(
    run: Run, house: House, monkeypatch: pytest.MonkeyPatch, canary: str
) -> None:
    found = study(run, house, "--package", house / "pack", "--json").fine()
    assert found.json["package"] == str(house / "pack")
    assert (house / "pack" / "SHA256SUMS").exists()
    assert (house / "pack.house").exists()
    monkeypatch.chdir(house / "pack")
    run("verify", "release.csv", "--roles", "roles.toml", "--require", "k_anonymity >= 4").fine()
    study(run, house, "--package", house / "pack").refused(2, "already there")


def test_a_package_may_stand_among_the_documents(run: Run, house: House) -> None:
    study(run, house, "--package", house / "out" / "pack").fine()
    assert (house / "out" / "pack" / "SHA256SUMS").exists()


def test_no_package_where_nothing_is_recommended(run: Run, house: House) -> None:
    text = STUDY.replace("k_anonymity >= 4", "k_anonymity >= 30").replace("k = [4, 8]", "k = [4, 8]\nsteer = false")
    found = study(run, house, "--package", house / "pack", text=text)
    assert found.code == 1
    assert not (house / "pack").exists()
    assert not (house / "pack.house").exists()


@pytest.mark.parametrize("more", few([(), ("--json",)], ("--json",)))
def test_an_interruption_exits_130(
    run: Run, house: House, monkeypatch: pytest.MonkeyPatch, more: tuple[str, ...]
) -> None:
    real, seen = runner.Bench.measure, []

    def stop(self: Any, *args: Any, **options: Any) -> Any:
        seen.append(1)
        if len(seen) > 1:
            raise KeyboardInterrupt
        return real(self, *args, **options)

    monkeypatch.setattr(runner.Bench, "measure", stop)
    found = study(run, house, *more)
    assert found.code == 130
    assert "Traceback" not in found.err
    assert found.err.startswith("sfumato: interrupted")
    monkeypatch.setattr(runner.Bench, "measure", real)
    study(run, house).fine()


def test_a_seeded_draw_is_packaged_only_if_the_owner_insists(run: Run, house: House) -> None:
    text = (
        "seed = 5\n"
        + STUDY.split("[[candidate]]")[0]
        + '[[candidate]]\nmechanism = "mondrian"\nmode = "relaxed"\nk = 2\n'
    )
    package = ("--package", house / "pack")
    said = study(run, house, *package, text=text).refused(1, "made its random choices with your seed", "--allow-seeded")
    assert "Traceback" not in said
    assert not (house / "pack").exists()
    study(run, house, *package, "--allow-seeded", text=text).fine()
    assert "finds it by trying" in (house / "pack" / "README.md").read_text()
    (house / "pack").rename(house / "first")
    (house / "pack.house").rename(house / "first.house")
    study(run, house, *package, text="allow_seeded = true\n" + text).fine()
    assert "finds it by trying" in (house / "pack" / "README.md").read_text()
    study(run, house, text="allow_seeded = 1\n" + text).refused(2, "allow_seeded must be true or false")


def test_seed_and_refine_of_the_file_count(run: Run, house: House, documents: list[dict[str, Any]]) -> None:
    study(run, house, text="seed = 5\n" + STUDY.replace("refine = 0", "refine = 1")).fine()
    assert documents[0]["result"].seed == 5
    assert documents[0]["result"].looked > 0
    study(run, house, "--refine", "0", text=STUDY.replace("refine = 0", "refine = 1")).fine()
    assert documents[1]["result"].looked == 0


def test_an_audit_that_fails_is_said_and_no_package_is_written(run: Run, tmp_path: Path) -> None:
    """What the file says the release must keep is held like a limit: one sentence, exit 1, nothing published."""
    (tmp_path / "people.csv").write_text(
        "age,sex,ill\n" + "".join(f"{30 + i % 4},f,{'ab'[i % 2]}\n" for i in range(12))
    )
    (tmp_path / "roles.toml").write_text('[roles]\nquasi = ["age", "sex"]\nsensitive = ["ill"]\n')
    text = (
        'table = "people.csv"\nroles = "roles.toml"\naudit = "audit.toml"\nmeasures = []\nrefine = 0\n'
        'require = ["k_anonymity >= 3"]\n[[candidate]]\nmechanism = "mondrian"\nk = 3\n'
    )
    (tmp_path / "study.toml").write_text(text)
    for value, code in ((99, 1), (6, 0)):
        (tmp_path / "audit.toml").write_text(f"[[aggregate]]\nquery = \"count where ill = 'a'\"\nvalue = {value}\n")
        package = tmp_path / f"package{value}"
        found = run(
            "study",
            str(tmp_path / "study.toml"),
            "--out",
            str(tmp_path / "out"),
            "--workers",
            "1",
            "--package",
            str(package),
        )
        assert found.code == code, found
        assert package.exists() == (code == 0)
        assert ("Audit: 1 of" in found.out) == (code == 1)


@pytest.mark.full  # four studies
def test_formulas_are_neutralised_where_the_study_file_or_the_command_says_so(run: Run, house: House) -> None:
    lines = "".join(f"{i % 4},{'-a' if i % 3 else '=b'}\n" for i in range(48))
    house.text("cells.csv", f"age,ill\n{lines}")
    house.text("cells.toml", "[roles]\nquasi = ['age']\nsensitive = ['ill']\n")
    text = 'table = "cells.csv"\nroles = "cells.toml"\nmeasures = []\n{}[[candidate]]\nmechanism = "mondrian"\nk = 3\n'
    for i, (key, more) in enumerate([("", ()), ("neutralise_formulas = true\n", ()), ("", ("--neutralise-formulas",))]):
        file = house.text(f"study{i}.toml", text.format(key))
        folder = house / f"package{i}"
        run("study", file, "--out", house / f"out{i}", "--package", folder, "--workers", "1", *more).fine()
        assert ("'=b" in (folder / "release.csv").read_text()) == (i > 0)
    file = house.text("study.toml", text.format("neutralise_formulas = 1\n"))
    run("study", file, "--out", house / "out").refused(2, "neutralise_formulas must be true or false")
