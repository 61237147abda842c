"""`search --subsets`: the sets of quasi-identifiers compared from the command line, against numbers worked out by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_house import CANARY, House, Run

# a: x three times, y twice, the canary alone; b: two u, four v
ROWS = f"a,b,s\nx,u,p\nx,u,p\nx,v,q\ny,v,q\ny,v,p\n{CANARY},v,p\n"
ROLES = '[roles]\nquasi = ["a", "b"]\nsensitive = ["s"]\n'


@pytest.fixture
def six(tmp_path: Path) -> tuple[object, ...]:
    (tmp_path / "six.csv").write_text(ROWS, encoding="utf-8")
    (tmp_path / "roles.toml").write_text(ROLES, encoding="utf-8")
    return ("search", "--subsets", tmp_path / "six.csv", "--roles", tmp_path / "roles.toml")


def test_by_hand(run: Run, six: tuple[object, ...]) -> None:
    content = run(*six, "--require", "k_anonymity >= 2", "--json").fine().json
    assert content["candidates"] == ["a", "b"]
    assert (content["rows"], content["nodes"], content["status"]) == (6, 4, "optimal")
    first, second, both = content["sets"]
    assert (first["columns"], first["levels"], first["released"], first["loss"]) == (["a"], {"a": 1}, [], 1)
    assert (second["levels"], second["loss"], second["loss_all"], second["classes"]) == ({"b": 0}, 0, 0.5, 2)
    assert (both["levels"], both["released"], both["loss_all"]) == ({"a": 1, "b": 0}, ["b"], 0.5)
    assert both["scores"]["k_anonymity"] == {"value": 2, "exactness": "exact"}
    assert content["metrics"]["entropy_leakage"] == {"unit": "bits", "better": "lower"}
    # b leaks, nothing does not: a alone, which is all `*`, has no leakage and loses everything
    assert content["frontiers"]["distribution_leakage"] == [["b"], ["a"]]


def test_a_row_may_be_left_out(run: Run, six: tuple[object, ...]) -> None:
    arguments = (*six, "--require", "k_anonymity >= 2", "--suppression", "0.17", "--quasi", "a", "--json")
    (only,) = run(*arguments).fine().json["sets"]
    assert (only["levels"], only["suppressed"], only["loss"]) == ({"a": 0}, 1, pytest.approx(1 / 6))


def test_for_people_to_read(run: Run, six: tuple[object, ...]) -> None:
    shown = run(*six, "--require", "k_anonymity >= 2", "--most", "2").fine().out
    words = " ".join(shown.split())
    assert "3 sets of 2 candidates; k_anonymity >= 2" in words
    assert "b 0" in words
    assert "a *, b 0" in words  # in the set, and still not released
    assert "1 more sets are listed" in words
    assert "frontier" in words
    assert CANARY not in shown


def test_metrics_and_losses_by_name(run: Run, six: tuple[object, ...]) -> None:
    more = ("--metric", "t_closeness[equal](s)", "--metric", "k_anonymity", "--minimise", "discernibility", "--json")
    content = run(*six, *more).fine().json
    assert content["minimise"] == "discernibility"
    assert list(content["sets"][0]["scores"]) == ["t_closeness[equal](s)", "k_anonymity"]
    assert [s["loss"] for s in content["sets"]] == [9 + 4 + 1, 4 + 16, 4 + 1 + 4 + 1]


def test_where_no_set_can_meet_it(run: Run, six: tuple[object, ...]) -> None:
    outcome = run(*six, "--require", "k_anonymity >= 7", "--json")
    assert outcome.code == 1
    assert [s["feasible"] for s in outcome.json["sets"]] == [False] * 3
    shown = run(*six, "--require", "k_anonymity >= 7")
    assert shown.code == 1
    assert "3 sets have no release that meets the requirements" in " ".join(shown.out.split())


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--quasi", "a", "--quasi", "zip"), ("zip",)),
        (("--quasi", "a", "--quasi", "a"), ("twice",)),
        (("--quasi", "s"), ("'s'", "sensitive")),
        (("--quasi", ""), ("no column",)),
        (("--max-columns", "0"), ("at least one column",)),
        (("--suppression", "1.5"), ("suppression",)),
        (("--minimise", "nothing"), ("nothing",)),
        (("--require", "k_anonymity"), ("k_anonymity",)),
        (("--metric", "k_anonimity"), ("did you mean 'k_anonymity'",)),
    ],
)
def test_refusals(run: Run, six: tuple[object, ...], more: tuple[str, ...], words: tuple[str, ...]) -> None:
    run(*six, *more).refused(2, *words)


def test_many_candidates_need_a_limit(run: Run, house: House) -> None:
    names = [f"c{i}" for i in range(13)]
    lines = [",".join(names), *(",".join(str((i * j) % 2) for i in range(13)) for j in range(8))]
    house.text("wide.csv", "\n".join(lines) + "\n")
    house.text("wide.toml", f"[roles]\nquasi = {names}\n".replace("'", '"'))
    call = ("search", "--subsets", house / "wide.csv", "--roles", house / "wide.toml", "--require", "k_anonymity >= 2")
    run(*call).refused(2, "13 candidates", "8,191", "at most")
    assert len(run(*call, "--max-columns", "2", "--json").fine().json["sets"]) == 13 + 78
