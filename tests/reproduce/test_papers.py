"""The page of all papers is what the computation says, and a printed number is judged by its own digits."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sfumato.core.errors import InputError
from sfumato.reproduce import papers
from sfumato.reproduce.check import Erratum, Paper, Part, ShapeCheck, beside, only, stated
from sfumato.reproduce.sramka import BY_CLASS

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.mark.parametrize(
    ("printed", "value", "verdict"),
    [
        ("0.57", 0.5732, "agrees"),
        ("0.57", 0.5651, "agrees"),
        ("0.73", 0.7375, "cut off"),
        ("0.73", 0.7401, "differs"),
        ("0.73", 0.7249, "differs"),
        ("88%", 0.8784, "agrees"),
        ("88%", 0.8901, "differs"),
        ("2/3", 2 / 3, "agrees"),
        ("2/3", 0.6667, "differs"),
        ("√8/12", 8**0.5 / 12, "agrees"),
        ("√26/12", 32**0.5 / 12, "differs"),
        ("98", 98.0, "agrees"),
        ("-0.59", -0.5862, "agrees"),
    ],
)
def test_a_printed_number_is_judged_by_its_digits(printed: str, value: float, verdict: str) -> None:
    assert beside("x", printed, value).verdict == verdict
    named = "erratum" if verdict == "differs" else "differs"  # an erratum that agrees is none
    assert beside("x", printed, value, wrong=[0]).verdict == named


def test_a_line_is_as_good_as_its_worst_number() -> None:
    assert beside("x", "0.1, 0.2", [0.1, 0.3]).verdict == "differs"
    assert beside("x", "0.1, 0.2", [0.1, 0.3], wrong=[1]).verdict == "erratum"
    assert beside("x", "0.1, 0.2", [0.1, 0.3], open=[1]).verdict == "open"
    with pytest.raises(ValueError, match="2 numbers are printed and 1 given"):
        beside("x", "0.1, 0.2", 0.1)
    assert only("x", [0.25, 3.0]).ours == "0.2500, 3"


def test_a_paper_holds_only_if_all_of_it_does() -> None:
    good = Paper("k", "K", (Part("t", (stated("a", "yes", "yes", True),)),), (ShapeCheck("c", True, ""),), (), ())
    assert good.holds
    assert not dataclasses.replace(good, checks=(ShapeCheck("c", False, ""),)).holds
    assert not dataclasses.replace(good, parts=(Part("t", (stated("a", "yes", "no", False),)),)).holds
    assert not dataclasses.replace(good, errata=(Erratum("w", "p", "r", "because", False),)).holds


@pytest.mark.parametrize("name", ["manta", "bezzi", "afifi"])
def test_a_machine_can_read_it(paper: Callable[[str], Paper], name: str) -> None:
    content = json.loads(json.dumps(paper(name).to_dict(), allow_nan=False))
    assert content["holds"] is True
    assert len(content["errata"]) == len(paper(name).errata)
    assert content["checks"][-1]["text"].startswith("every printed number agrees")


@pytest.mark.parametrize(("lacking", "code"), [("", 1), ("No data.", 1)])
def test_a_check_that_fails_is_the_exit_code(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], lacking: str, code: int
) -> None:
    import typer

    from sfumato.cli.reproduce import run
    from sfumato.reproduce import manta

    failed = Paper("manta", "Manta 2013", (), (ShapeCheck("c", False, "seen"),), (), (), (), lacking)
    monkeypatch.setattr(manta, "reproduce", lambda data, progress: failed)
    with pytest.raises(typer.Exit) as stopped:
        run("manta", data=None, json=True)
    assert stopped.value.exit_code == code
    told_ = capsys.readouterr()
    assert json.loads(told_.out)["holds"] is False
    assert bool(lacking) == ("were not run: No data." in told_.err)


@pytest.mark.usefixtures("adult_folder")
def test_the_page_is_what_the_papers_say(paper: Callable[[str], Paper]) -> None:
    made = papers.page([paper(name) for name in ("manta", "bezzi", "afifi", "askari")], papers.kept(DOCS))
    assert (DOCS / "papers.md").read_text("utf-8") == made, "run: sfumato reproduce papers --out docs"


def test_the_figures_of_the_page_are_there_and_small(paper: Callable[[str], Paper]) -> None:
    from sfumato.report.paper_figures import svg

    named = re.findall(r"\]\(papers/([\w-]+\.svg)\)", (DOCS / "papers.md").read_text("utf-8"))
    assert len(named) == 11
    assert {path.name for path in (DOCS / "papers").glob("*.svg")} == set(named)
    assert all((DOCS / "papers" / name).stat().st_size < 60_000 for name in named)
    [figure] = [figure for figure in paper("bezzi").figures if figure.name == "bezzi-fig1"]
    drawn = svg(figure.kind, figure.title, figure.rows, figure.more)
    assert drawn == svg(figure.kind, figure.title, figure.rows, figure.more)
    assert drawn == (DOCS / "papers" / "bezzi-fig1.svg").read_text("utf-8")


def _run() -> dict[str, Any]:
    """The shape of what `reproduce sramka --json` prints, with numbers of no meaning."""

    def one(x: float) -> dict[str, float]:
        return {"value": x, "low": x, "high": x}

    miners = [{"miner": m, "original": one(10), "released": one(9)} for m in ("naive_bayes", "tree", "random_forest")]
    aims = [
        {"aim": f"{aim}{suffix}", "average": one(1), "worst": one(2), "baseline": one(3), "worst_miner": "tree"}
        for suffix in ("", BY_CLASS)
        for aim in "ABC"
    ]
    gains = {"accuracy": 0.1, "knowledge": 0.2, "accuracy_mined": one(0.3), "knowledge_mined": one(0.4)}
    release = {"good": {"miners": miners, "delta": one(0.0123)}, "bad": {"aims": aims}, "gains": gains, "folds": 2}
    names = [*(f"k = {k}" for k in (2, 10, 50, 100)), *(f"eps = {e}" for e in (0.5, 0.1, 0.05, 0.01))]
    checks = [{"text": "a shape", "holds": False, "seen": "nothing"}]
    errata = [{"where": "sec. 4.2", "printed": "one", "right": "two", "proof": "counted", "shown": True}]
    whole = {"checks": checks, "errata": errata, "differences": ["none"]}
    return {"rows": 45_222, "releases": dict.fromkeys(names, release), **whole}


def test_a_recorded_mining_run_is_told_and_its_absence_too() -> None:
    told_ = "\n".join(papers._sramka(papers.record(_run())))
    assert "all 45,222 people, 2 folds" in told_
    assert "1.23% (1.24%)" in told_
    assert "| knowledge, with predictions | 0.4000 (0.2775) |" in told_
    assert "✗ a shape: nothing" in told_
    assert "| A, the worst miner | tree (LWL) |" in told_
    assert "Printed: one. Right: two. counted" in told_
    assert papers.HOW in "\n".join(papers._sramka(None))


def test_a_file_that_is_no_run(tmp_path: Path) -> None:
    wrong = tmp_path / "other.json"
    wrong.write_text(json.dumps({"rows": 1, "releases": {}}))
    with pytest.raises(InputError, match="not what `sfumato reproduce sramka --json` prints"):
        papers.record(json.loads(wrong.read_text()))
    with pytest.raises(InputError, match="not the JSON"):
        papers._read(tmp_path / "none.json")


def test_no_page_without_adult(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"No adult_48842.csv .*--data"):
        papers.write(tmp_path / "docs", tmp_path)
    assert not (tmp_path / "docs").exists()


def test_releases_stand_in_the_order_that_the_paper_prints() -> None:
    """A digest on disk is sorted by name; the printed numbers beside ours are not."""
    digest = json.loads(json.dumps(papers.record(_run()), sort_keys=True))
    told = "\n".join(papers._sramka(digest))
    assert "| k = 2 | k = 10 | k = 50 | k = 100 | eps = 0.5 | eps = 0.1 | eps = 0.05 | eps = 0.01 |" in told
