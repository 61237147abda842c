"""`sfumato advise`: asks or is told, never guesses, and ends in a recommendation that meets the limits."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from cli_house import House, Outcome, Run

from sfumato.cli import advise as advise_
from sfumato.core.errors import InputError
from sfumato.study import default_candidates
from sfumato.study.candidate import grid
from sfumato.study.context import OVERALL, PRESETS, WP29, Context


@pytest.fixture(autouse=True)
def documents(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    told: list[dict[str, Any]] = []

    def write_all(result: Any, folder: Path, **more: Any) -> list[Path]:
        folder.mkdir(parents=True, exist_ok=True)
        told.append({"result": result, **more})
        return []

    monkeypatch.setattr("sfumato.report.documents.write_all", write_all)
    monkeypatch.setattr("sfumato.report.package._note", lambda *args, **more: None)
    return told


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer candidates than advise would try: the words are tested here, not the choice."""
    monkeypatch.setattr(
        default_candidates, "candidates", lambda *args, **more: grid(["mondrian k=4", "mondrian k=12", "mondrian k=20"])
    )


def advise(run: Run, house: House, *more: object) -> Outcome:
    return run("advise", house.people, "--out", house / "advice", "--workers", "1", *more)


def told(run: Run, house: House, *more: object) -> Outcome:
    return advise(run, house, "--roles", house.roles, "--refine", "0", *more)


ANSWERS = ("--to", "public", "--impact", "low")


# --- the questions ---------------------------------------------------------------------------------------------------


def test_without_answers_and_without_a_terminal_it_says_what_to_give(run: Run, house: House) -> None:
    said = told(run, house).refused(2, "--to", "public", "agreement", "onsite")
    assert "website" in said
    said = told(run, house, "--to", "public").refused(2, "--impact", "low", "medium", "high")
    assert "harm" in said
    assert not (house / "advice").exists(), "nothing is done before the questions are answered"


def test_wrong_answers(run: Run, house: House) -> None:
    told(run, house, "--to", "everyone", "--impact", "low").refused(2, "to must be one of public, agreement, onsite")
    told(run, house, "--to", "public", "--impact", "huge").refused(2, "impact must be one of")
    told(run, house, *ANSWERS, "--controls", "none").refused(2, "controls must be one of")
    told(run, house, "--preset", "public_use").refused(2, "Unknown preset", *PRESETS, *OVERALL, WP29)
    for share in ("1.5", "-1", "x"):
        found = told(run, house, *ANSWERS, "--fraction", share)
        assert found.code == 2
        assert "--fraction" in found.err


def test_the_help_names_every_preset(run: Run) -> None:
    assert {*PRESETS, *OVERALL, WP29} == set(re.findall(r"[a-z0-9]+(?:-[a-z]+)+|hipaa|wp29", advise_.PRESETS))


def test_what_fails_leaves_a_folder_only_for_what_is_kept(
    run: Run, house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """None can be made: nothing is kept. Something was measured before it failed: it is, and is said to be."""
    monkeypatch.setattr(
        default_candidates, "candidates", lambda *args, **more: grid(["mondrian k=41", "mondrian k=42"])
    )
    said = told(run, house, *ANSWERS).refused(1, "No candidate could be made")
    assert "kept in" not in said
    assert not (house / "advice").exists()

    def failing(*args: Any, **more: Any) -> None:
        raise InputError("The documents cannot be written.")

    monkeypatch.setattr(
        default_candidates, "candidates", lambda *args, **more: grid(["mondrian k=12", "mondrian k=42"])
    )
    monkeypatch.setattr("sfumato.report.documents.write_all", failing)
    said = told(run, house, *ANSWERS).refused(2, "The documents cannot be written.")
    assert said.endswith(f" What was measured is kept in {house / 'advice' / '.kept'}.")
    assert [path.name for path in (house / "advice").iterdir()] == [".kept"]
    assert "kept in" not in told(run, house, *ANSWERS).refused(2, "cannot be written"), "nothing new was measured"

    (house / "mine").mkdir()  # a folder that was there stays
    monkeypatch.setattr(default_candidates, "candidates", lambda *args, **more: grid(["mondrian k=41"]))
    run("advise", house.people, "--out", house / "mine", "--roles", house.roles, *ANSWERS).refused(1, "could be made")
    assert list((house / "mine").iterdir()) == []


def test_on_a_terminal_it_asks(
    run: Run, house: House, few: None, monkeypatch: pytest.MonkeyPatch, documents: list[Any]
) -> None:
    answers = iter(["perhaps", "", "AGR", "h"])
    monkeypatch.setattr("sfumato.cli.advise.typer.prompt", lambda *args, **more: next(answers))
    monkeypatch.setattr("sfumato.cli.advise.sys.stdin", type("T", (), {"isatty": staticmethod(lambda: True)})())
    found = told(run, house)
    assert "Who will receive the data?" in found.err
    assert "How much harm would a disclosure do?" in found.err
    assert "one of public, agreement, onsite" in found.err
    context = documents[0]["result"].study.context
    assert (context.to, context.impact) == ("agreement", "high")
    assert "Who will" not in found.out, "what is asked is not part of the result"


# --- the recommendation ----------------------------------------------------------------------------------------------


def test_it_recommends_what_meets_the_limits(run: Run, house: House, documents: list[Any], canary: str) -> None:
    found = told(run, house, *ANSWERS, "--json").fine()
    assert canary not in found.out + found.err
    shown = found.json
    assert shown["context"]["limits"][0]["requirement"] == "prosecutor_risk <= 0.1"
    assert shown["context"]["limits"][0]["k"] == 10
    best = next(c for c in shown["candidates"] if c["name"] == shown["recommended"])
    assert best["met"]
    assert best["scores"]["k_anonymity"]["value"] >= 10
    errors = [c["scores"]["query_error[ranges]"]["value"] for c in shown["candidates"] if c["met"]]
    assert best["scores"]["query_error[ranges]"]["value"] <= 1.05 * min(errors)
    assert len(shown["candidates"]) >= 15


def test_text_prints_the_k_the_risk_and_the_source(run: Run, house: House, few: None, canary: str) -> None:
    out = told(run, house, *ANSWERS).fine().out
    (limit,) = Context(to="public", impact="low").limits
    assert limit.text in out
    assert limit.source in out
    assert "at least 10 people" in out
    assert "mondrian k=12" in out
    assert canary not in out


def test_a_preset_instead_of_the_questions(run: Run, house: House, few: None) -> None:
    shown = told(run, house, "--preset", "public-use", "--json").fine().json
    assert shown["requirements"] == ["k_anonymity >= 5"]
    best = next(c for c in shown["candidates"] if c["name"] == shown["recommended"])
    assert best["scores"]["k_anonymity"]["value"] >= 5


def test_more_requirements_and_candidates_and_axes(run: Run, house: House, few: None) -> None:
    shown = told(
        run, house, *ANSWERS, "--require", "distinct_l_diversity >= 2", "--candidate", "mondrian k=14", "--risk", "k_anonymity",
        "--utility", "discernibility", "--json",
    ).fine().json  # fmt: skip
    assert shown["requirements"] == ["prosecutor_risk <= 0.1", "distinct_l_diversity >= 2"]
    assert (shown["risk"], shown["utility"]) == ("k_anonymity", "discernibility")
    assert "mondrian k=14" in [c["candidate"] for c in shown["candidates"]]


def test_limits_that_nothing_meets(run: Run, house: House, few: None) -> None:
    found = told(run, house, *ANSWERS, "--require", "k_anonymity >= 35")
    assert found.code == 1
    assert "k_anonymity >= 35 is met by none" in found.out
    assert told(run, house, *ANSWERS, "--require", "k_anonymity >= 35", "--json").code == 1


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--utility", "ilos"), "did you mean 'iloss'"),
        (("--utility", "k_anonymity"), "utility metric for utility"),
        (("--risk", "iloss"), "privacy metric for risk"),
        (("--require", "k_anonymity >= x"), "not a number"),
        (("--candidate", "mondrain k=3"), "did you mean 'mondrian'"),
        (("--target", "nowhere"), "nowhere"),
    ],
)
def test_mistakes_are_one_sentence(run: Run, house: House, few: None, more: tuple[str, ...], words: str) -> None:
    told(run, house, *ANSWERS, *more).refused(2, words)


def test_files_that_are_not_there(run: Run, house: House) -> None:
    advise(run, house, *ANSWERS, "--roles", house / "nowhere.toml").refused(2, "nowhere.toml")
    run("advise", house / "nowhere.csv", *ANSWERS, "--out", house / "advice").refused(2, "nowhere.csv")


def test_without_roles_they_are_suggested_and_written_for_correction(
    run: Run, house: House, few: None, canary: str
) -> None:
    found = advise(run, house, *ANSWERS, "--refine", "0")
    path = house / "advice" / "roles.toml"
    assert path.exists()
    assert "correct them" in found.err
    assert canary not in path.read_text(encoding="utf-8")
    before = path.read_text(encoding="utf-8")
    again = advise(run, house, *ANSWERS, "--refine", "0")
    assert "these roles are used" in again.err
    assert path.read_text(encoding="utf-8") == before


def test_options_are_looked_at_before_the_work(
    run: Run, house: House, few: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sfumato.study import runner

    def never(*args: Any, **more: Any) -> Any:
        raise AssertionError("measured first")

    monkeypatch.setattr(runner.Bench, "measure", never)
    (house / "there").mkdir()
    told(run, house, *ANSWERS, "--formats", "docx").refused(2, "docx")
    told(run, house, *ANSWERS, "--package", house / "there").refused(2, "already there")


def test_a_package(run: Run, house: House, few: None, canary: str) -> None:
    found = told(run, house, *ANSWERS, "--package", house / "pack").fine()
    assert "verified" in found.out
    assert (house / "pack" / "README.md").exists()


def test_an_interruption_exits_130(run: Run, house: House, few: None, monkeypatch: pytest.MonkeyPatch) -> None:
    from sfumato.study import runner

    def stop(*args: Any, **more: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(runner.Bench, "measure", stop)
    found = told(run, house, *ANSWERS)
    assert found.code == 130
    assert "Traceback" not in found.err


def test_the_title_is_what_the_package_is_called(run: Run, house: House, few: None) -> None:
    given = (*ANSWERS, "--require", "k_anonymity >= 3", "--title", "Commuters *2026*", "--package", house / "out")
    told(run, house, *given).fine()
    assert (house / "out" / "README.md").read_text().startswith("# Commuters \\*2026\\*: a release\n")
