"""`sfumato study INPUT`: candidates in, a report and its numbers out, and an exit code that tells whether one will do."""

from __future__ import annotations

import hashlib
import html
import json
import re
import shlex
from pathlib import Path

import pytest
from cli_house import House, Outcome, Run, people

import sfumato as sf
from sfumato.cli.study_output import show
from sfumato.study.study import Study, grid


def compare(run: Run, house: House, *more: object, out: Path | None = None) -> Outcome:
    return run("study", house.people, "--roles", house.roles, "--out", out or house / "report", *more)


def test_the_default_grid(run: Run, house: House, canary: str) -> None:
    found = compare(run, house).fine()
    assert {"report.html", "report.json", "note.html", "wp29.md"} <= {p.name for p in (house / "report").iterdir()}
    content = json.loads((house / "report" / "report.json").read_text(encoding="utf-8"))
    names = [c["name"] for c in content["candidates"]]
    assert "mondrian k=5" in names
    assert "mondrian k=5, distinct_l_diversity >= 3" in names
    failed = [c["name"] for c in content["candidates"] if not c["made"]]
    assert failed == ["mondrian k=50", "mondrian k=100"]
    for name in names:
        assert name in found.out
    assert f"Recommended: {content['recommended']}" in found.out
    assert str(house / "report" / "report.html") in found.out
    assert canary not in found.out + found.err
    assert house.listing() == {"people.csv", "roles.toml", "report"}  # no release is written


def test_json_has_the_numbers_of_the_report(run: Run, house: House) -> None:
    found = compare(run, house, "--json", "--candidate", "mondrian k=2", "--candidate", "mondrian k=9").fine()
    assert found.err == ""
    content = found.json
    assert content.pop("report") == str(house / "report" / "report.html")
    assert content.pop("package") is None
    assert all(text.endswith(".") for text in content.pop("warnings"))
    written = json.loads((house / "report" / "report.json").read_text(encoding="utf-8"))
    page = (house / "report" / "report.html").read_bytes()
    assert written.pop("documents")["report.html"] == hashlib.sha256(page).hexdigest()
    assert content == written
    assert [c["candidate"] for c in content["candidates"]] == ["mondrian k=2", "mondrian k=9"]


def test_the_same_call_writes_the_same_bytes(run: Run, house: House) -> None:
    files = []
    for name in ("a", "b"):
        compare(run, house, "--candidate", "mondrian k=3 mode=relaxed", "--seed", "4", out=house / name).fine()
        files.append([(house / name / file).read_bytes() for file in ("report.html", "report.json")])
    assert files[0] == files[1]


def test_requirements_decide_and_the_recommended_command_works(run: Run, house: House) -> None:
    """What the report says makes the release does make it, and verifies."""
    text = "mondrian k=4 require='distinct_l_diversity >= 2'"
    compare(run, house, "--require", "k_anonymity >= 3", "--candidate", "mondrian k=2", "--candidate", text).fine()
    content = json.loads((house / "report" / "report.json").read_text(encoding="utf-8"))
    assert content["recommended"] == "mondrian k=4, distinct_l_diversity >= 2"
    roles = sf.Roles.read(house.roles)
    study = sf.Study(
        table=sf.read(house.people),
        roles=roles,
        candidates=sf.study.study.grid([text]),
        require=(sf.require("k_anonymity >= 3"),),
    )
    make, check = study.run(refine=0).commands(str(house / "made.csv"))
    for command in (make, check):
        run(*shlex.split(command)[1:]).fine()


def test_the_command_in_the_report_makes_the_release_that_was_measured(run: Run, house: House) -> None:
    """It reads the table as this call read it, and divides equal rows with the same seed."""
    marked = "\n".join(";".join(f or "?" for f in line.split(",")) for line in people().splitlines()) + "\n"
    source = house.text("marked file.csv", marked)
    options = ("--missing", "?", "--seed", "4")
    candidate = ("--candidate", "mondrian k=3 mode=relaxed")
    run("study", source, "--roles", house.roles, "--out", house / "report", *candidate, *options).fine()
    page = html.unescape((house / "report" / "report.html").read_text(encoding="utf-8"))
    (command,) = set(re.findall(r"sfumato sanitize .*", page))  # on the sheet, and among the evidence
    words = shlex.split(command)
    for name, value in zip(options[::2], options[1::2], strict=True):
        assert name in words, f"{name} is not in: {command}"
        assert words[words.index(name) + 1] == value
    words[words.index("--out") + 1] = str(house / "again.csv")
    run(*words[1:]).fine()
    content = json.loads((house / "report" / "report.json").read_text(encoding="utf-8"))
    arguments = ("--roles", house.roles, "--original", source, "--missing", "?", "--json")
    scores = run("measure", house / "again.csv", *arguments).fine().json["scores"]
    for name in ("k_anonymity", "iloss", "t_closeness[equal]"):
        assert scores[name]["value"] == pytest.approx(content["candidates"][0]["scores"][name]["value"])


def test_none_meets_is_1_and_the_report_is_there(run: Run, house: House) -> None:
    found = compare(run, house, "--require", "k_anonymity >= 40", "--candidate", "mondrian k=2")
    assert found.code == 1
    assert "No candidate meets every requirement" in found.out
    assert "the best reaches" in found.out
    assert (house / "report" / "report.html").exists()
    again = compare(run, house, "--require", "k_anonymity >= 40", "--candidate", "mondrian k=2", "--json")
    assert again.code == 1
    assert again.json["recommended"] is None


def test_no_candidate_can_be_made_is_1_and_nothing_is_written(run: Run, house: House) -> None:
    compare(run, house, "--candidate", "mondrian k=41").refused(1, "No candidate could be made")
    assert not (house / "report").exists()


def test_a_release_made_elsewhere_is_a_candidate(run: Run, house: House) -> None:
    theirs = house / "theirs.csv"
    sf.Mondrian(k=6)(sf.read(house.people), sf.Roles.read(house.roles)).table.write(theirs)
    content = compare(run, house, "--release", theirs, "--candidate", "mondrian k=6", "--json").fine().json
    a, b = content["candidates"]
    assert {a["name"], b["name"]} == {str(theirs), "mondrian k=6"}
    assert a["scores"]["iloss"]["value"] == pytest.approx(b["scores"]["iloss"]["value"])
    alone = compare(run, house, "--release", theirs, "--json").fine().json
    assert [c["name"] for c in alone["candidates"]] == [str(theirs)]


def test_other_axes(run: Run, house: House) -> None:
    more = ("--risk", "t_closeness[equal](ill)", "--utility", "discernibility", "--json")
    content = compare(run, house, "--candidate", "mondrian k=3", "--candidate", "mondrian k=9", *more).fine().json
    assert (content["risk"], content["utility"]) == ("t_closeness[equal](ill)", "discernibility")


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--candidate", "mondrain k=5"], ["did you mean 'mondrian'?"]),
        (["--candidate", "mondrian k"], ["'k' is not key=value"]),
        (["--candidate", "mondrian k=5 require='iloss <= 1'"], ["cannot steer by iloss <= 1"]),
        (["--risk", "iloss"], ["privacy metric for risk"]),
        (["--utility", "k_anonymity"], ["utility metric for utility"]),
        (["--risk", "k_anonimity"], ["did you mean 'k_anonymity'?"]),
        (["--require", "k_anonymity <= 3"], ["better higher"]),
        (["--release", "nowhere.csv"], ["nowhere.csv: no such file"]),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_what_cannot_be_compared(run: Run, house: House, more: list[str], words: list[str]) -> None:
    compare(run, house, *more).refused(2, *words)
    assert not (house / "report").exists()


def test_an_axis_without_its_parameter_is_refused(run: Run, house: House) -> None:
    house.text("numbers.csv", "age,town,ill,name,note\n" + "".join(f"{i},x,{i % 3},n,o\n" for i in range(30)))
    found = run(
        "study", house / "numbers.csv", "--roles", house.roles, "--out", house / "report", "--risk", "t_closeness"
    )
    found.refused(2, "t_closeness[ordered] or t_closeness[equal]")


def test_a_limit_of_0_is_no_mistake_of_ours(run: Run, house: House) -> None:
    compare(run, house, "--require", "k_anonymity >= 0", "--candidate", "mondrian k=2").fine()


def test_out_that_is_a_file(run: Run, house: House) -> None:
    compare(run, house, out=house.people).refused(2, "people.csv", "no folder")


def test_an_earlier_folder_is_kept_and_its_report_replaced(run: Run, house: House) -> None:
    (house / "report").mkdir()
    (house / "report" / "mine.txt").write_text("kept")
    (house / "report" / "report.html").write_text("old")
    compare(run, house, "--candidate", "mondrian k=2").fine()
    assert (house / "report" / "mine.txt").read_text() == "kept"
    assert (house / "report" / "report.html").read_text(encoding="utf-8") != "old"


def test_no_sensitive_column(run: Run, house: House) -> None:
    roles = house.text("bare.toml", '[roles]\nquasi = ["age", "town"]\n')
    content = run("study", house.people, "--roles", roles, "--out", house / "report", "--json").fine().json
    assert not any("diversity" in c["name"] for c in content["candidates"])


def test_the_order_on_the_terminal_is_always_the_same(run: Run, house: House) -> None:
    """Limits met, then utility, then name; in whatever order the candidates were given, and what cannot be made last."""
    given = ["mondrian k=20", "mondrian k=2", "mondrian k=41", "mondrian k=4", "mondrian k=10"]
    for texts in (given, given[::-1]):
        more = [word for text in texts for word in ("--candidate", text)]
        shown = (
            compare(run, house, "--utility", "iloss", "--metric", "k_anonymity", "--require", "k_anonymity >= 4", *more)
            .fine()
            .out
        )
        names = re.findall(r"^(mondrian k=\d+) ", shown, re.MULTILINE)
        assert names == ["mondrian k=4", "mondrian k=10", "mondrian k=20", "mondrian k=2", "mondrian k=41"]


def test_the_recommended_one_is_shown_however_few_are(house: House, capsys: pytest.CaptureFixture[str]) -> None:
    """Without limits it is not the most useful one."""
    texts = [f"mondrian k={k}" for k in (2, 4, 10, 20)]
    study = Study(table=sf.read(house.people), roles=sf.Roles.read(house.roles), candidates=grid(texts), measures=())
    result = study.run(refine=0)
    chosen = result.recommended[0]
    assert chosen is not None
    assert chosen != result.order[0]
    show(result, most=1)
    (line,) = re.findall(r"^mondrian k=\d+ .*$", capsys.readouterr().out, re.MULTILINE)
    assert line.startswith(f"{texts[chosen]} ")
