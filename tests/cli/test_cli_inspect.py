"""`leakage`, `conditions`, `utility` and `queries`: the studies of a release from the command line, against numbers worked out by hand."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from cli_house import CANARY, House, Run

from sfumato.cli.terminal import finite

# Bezzi's toy table (Table 3): classes of 4, 4, 2 and 2 rows; one Y, in the last class.
ROWS = "height,ill\n" + "a,N\n" * 4 + "b,N\n" * 4 + "c,N\n" * 2 + f"{CANARY},Y\n{CANARY},N\n"
ROLES = '[roles]\nquasi = ["height"]\nsensitive = ["ill"]\n'


@pytest.fixture
def toy(tmp_path: Path) -> Path:
    (tmp_path / "release.csv").write_text(ROWS, encoding="utf-8")
    (tmp_path / "roles.toml").write_text(ROLES, encoding="utf-8")
    return tmp_path


def test_leakage_of_the_toy_table(run: Run, toy: Path) -> None:
    found = run(
        "inspect", "leakage", toy / "release.csv", "--roles", toy / "roles.toml", "--distances", "--subsets", "--json"
    ).fine()
    content = found.json
    assert (content["classes"], content["about"], content["given"]) == (4, "ill", ["height"])
    # the last class has (1/2, 1/2) where the table has (11/12, 1/12)
    assert content["distribution_leakage"] == pytest.approx(math.sqrt(2) * 5 / 12)
    assert content["most_exposed"][0]["rows"] == 2
    assert content["vanished_pairs"] == 3  # Y is ruled out by three classes
    assert content["values_in_one_class"] == 1
    assert content["distances"]["emd"]["worst"] == pytest.approx(5 / 12)
    (choice,) = content["choices"]
    assert choice["mutual_information"] == pytest.approx(0.24715018363696695)
    assert CANARY not in found.out


def test_leakage_for_people_to_read_shows_no_value(run: Run, toy: Path) -> None:
    found = run(
        "inspect", "leakage", toy / "release.csv", "--roles", toy / "roles.toml", "--distances", "--subsets"
    ).fine()
    assert "The most exposed classes" in found.out
    assert CANARY not in found.out


def test_an_adversary_who_has_the_release_learns_nothing_from_it(run: Run, toy: Path) -> None:
    more = ("--prior", toy / "release.csv", "--json")
    content = run("inspect", "leakage", toy / "release.csv", "--roles", toy / "roles.toml", *more).fine().json
    assert content["distribution_leakage"] == pytest.approx(0, abs=1e-12)
    independent = (
        run("inspect", "leakage", toy / "release.csv", "--roles", toy / "roles.toml", "--margins", "1", "--json")
        .fine()
        .json
    )
    assert independent["distribution_leakage"] == pytest.approx(
        math.sqrt(2) * 5 / 12
    )  # the margins are the overall distribution


def test_two_priors_are_refused(run: Run, toy: Path) -> None:
    more = ("--prior", toy / "release.csv", "--margins", "1")
    run("inspect", "leakage", toy / "release.csv", "--roles", toy / "roles.toml", *more).refused(
        2, "--prior", "--margins"
    )


def test_conditions_hold_on_average_and_fail_in_a_class(run: Run, toy: Path) -> None:
    """Bezzi, sec. 3.1: the average is no good representation of the risk."""
    found = run("inspect", "conditions", toy / "release.csv", "--roles", toy / "roles.toml", "--t", "0.5", "--json")
    assert found.code == 1
    content = json.loads(found.out)
    assert content["entropy"] == pytest.approx(0.41381685030363374)
    kinds = {condition["kind"]: condition["met"] for condition in content["conditions"]}
    assert kinds == {"necessary": True, "sufficient": False}
    run("inspect", "conditions", toy / "release.csv", "--roles", toy / "roles.toml").fine()


def test_queries_by_the_even_spread(run: Run, tmp_path: Path) -> None:
    (tmp_path / "original.csv").write_text("age,sex\n20,f\n21,f\n22,m\n23,m\n", encoding="utf-8")
    (tmp_path / "release.csv").write_text(
        'age,sex\n"[20,23]",f\n"[20,23]",f\n"[20,23]",m\n"[20,23]",m\n', encoding="utf-8"
    )
    (tmp_path / "roles.toml").write_text('[roles]\nquasi = ["age", "sex"]\n', encoding="utf-8")
    (tmp_path / "q.toml").write_text(
        '[[query]]\nname = "young women"\nsex = ["f"]\nage = { from = 20, to = 21 }\n[[query]]\nsex = ["m"]\n',
        encoding="utf-8",
    )
    arguments = (
        "--roles",
        tmp_path / "roles.toml",
        "--original",
        tmp_path / "original.csv",
        "--queries",
        tmp_path / "q.toml",
    )
    content = run("inspect", "queries", tmp_path / "release.csv", *arguments, "--json").fine().json
    first, second = content["queries"]
    assert (first["query"], first["actual"], first["estimate"]) == ("young women", 2, pytest.approx(1.0))
    assert (second["actual"], second["estimate"]) == (2, pytest.approx(2.0))
    assert content["mean_relative_error"] == pytest.approx(0.25)
    assert "young women" in run("inspect", "queries", tmp_path / "release.csv", *arguments).fine().out


@pytest.mark.parametrize(
    ("text", "words"), [("", ["[[query]]"]), ("[[query]]\nage = 5\n", ["query 1", "age"]), ("[[", ["TOML"])]
)
def test_queries_that_cannot_be_read(run: Run, toy: Path, text: str, words: list[str]) -> None:
    (toy / "q.toml").write_text(text, encoding="utf-8")
    arguments = ("--roles", toy / "roles.toml", "--original", toy / "release.csv", "--queries", toy / "q.toml")
    run("inspect", "queries", toy / "release.csv", *arguments).refused(2, "q.toml", *words)


def test_a_noisy_count_tells_less_the_more_noise(run: Run, toy: Path) -> None:
    arguments = ("inspect", "conditions", toy / "release.csv", "--roles", toy / "roles.toml", "--json", "--epsilon")
    little, much = (run(*arguments, epsilon).fine().json["query_surprise"] for epsilon in ("0.1", "2"))
    assert 0 < little < much
    run(*arguments, "0").refused(2, "epsilon")


def test_utility_by_hand_and_by_what_a_user_has(run: Run, tmp_path: Path) -> None:
    """Two columns of two equally frequent values that tell each other: U_1 = 0 and U_max = 1 bit each."""
    (tmp_path / "release.csv").write_text("a,s\nx,1\nx,1\ny,2\ny,2\n", encoding="utf-8")
    (tmp_path / "blind.csv").write_text("a,s\n*,1\n*,1\n*,2\n*,2\n", encoding="utf-8")
    (tmp_path / "roles.toml").write_text('[roles]\nquasi = ["a"]\nsensitive = ["s"]\n', encoding="utf-8")
    arguments = ("--roles", tmp_path / "roles.toml", "--json")
    more = ("--original", tmp_path / "release.csv", "--user", tmp_path / "release.csv")
    content = run("inspect", "utility", tmp_path / "release.csv", *more, *arguments).fine().json
    assert content["columns"]["a"]["u_1"] == pytest.approx(0)
    assert content["columns"]["a"]["u_max"] == pytest.approx(1)
    assert (content["utility"], content["degradation"]) == (pytest.approx(1), pytest.approx(0))
    assert content["population_of_users"] == pytest.approx(0)  # who has it already gets nothing
    lost = (
        run("inspect", "utility", tmp_path / "blind.csv", "--original", tmp_path / "release.csv", *arguments)
        .fine()
        .json
    )
    assert lost["degradation"] == pytest.approx(1)
    shown = run("inspect", "utility", tmp_path / "release.csv", *more, "--roles", tmp_path / "roles.toml").fine().out
    assert "Utility of the release: 1 bits" in shown


def test_utility_needs_columns_it_knows(run: Run, toy: Path) -> None:
    (toy / "other.csv").write_text("z\n1\n2\n", encoding="utf-8")
    run("inspect", "utility", toy / "release.csv", "--roles", toy / "roles.toml", "--user", toy / "other.csv").refused(
        2, "other.csv"
    )


def test_every_class_can_be_asked_for(run: Run, toy: Path) -> None:
    """Bezzi's toy table class by class; a table measure has none."""
    names = ("--metric", "one_symbol_i2", "--metric", "negative_disclosure", "--metric", "discernibility")
    arguments = ("measure", toy / "release.csv", "--roles", toy / "roles.toml", *names, "--json")
    scores = run(*arguments, "--per-class").fine().json["scores"]
    # in the order of the released values: the canary's capital stands before a, b and c
    assert scores["one_symbol_i2"]["per_class"] == pytest.approx([-0.5861831496963663, *[0.41381685030363374] * 3])
    assert scores["negative_disclosure"]["per_class"] == [0.5, 0, 0, 0]
    assert "per_class" not in scores["discernibility"]
    assert "per_class" not in run(*arguments).fine().json["scores"]["one_symbol_i2"]


def test_scale_is_the_librarys_and_draws_a_page(run: Run, house: House, canary: str) -> None:
    import sfumato as sf

    page = house / "scale.html"
    more = ("--original", house.people, "--roles", house.roles)
    shown = run("inspect", "scale", "mondrian k=3", "mondrian k=9", *more, "--figure", page, "--json").fine()
    table, roles = sf.read(house.people), sf.Roles.read(house.roles)
    made = {f"mondrian k={k}": sf.Mondrian(k=k)(table, roles) for k in (3, 9)}
    wanted = json.loads(json.dumps(finite(sf.one_scale(made, roles).to_dict())))
    assert {key: shown.json[key] for key in wanted} == wanted
    drawn = page.read_text(encoding="utf-8")
    assert "One scale" in drawn
    assert canary not in shown.out + drawn
    text = run("inspect", "scale", "mondrian k=3", *more).fine().out
    assert "a best guess at" in text
    assert "certainty at most" in text
    assert "ends in .html" in run("inspect", "scale", *more, "--figure", house / "scale.png").err


def test_knowledge_is_the_librarys_and_its_exit_says_whether_more_is_needed(run: Run, toy: Path) -> None:
    import sfumato as sf

    page = toy / "knowledge.html"
    call = ("inspect", "knowledge", toy / "release.csv", "--roles", toy / "roles.toml")
    shown = run(*call, "--limit", "0.6", "--figure", page, "--json").fine()
    release = sf.Release(table=sf.read(toy / "release.csv"))
    wanted = sf.knowledge_needed(release, sf.Roles.read(toy / "roles.toml"), limit=0.6).to_dict()
    assert {key: shown.json[key] for key in wanted} == json.loads(json.dumps(wanted))
    assert CANARY not in shown.out + page.read_text(encoding="utf-8")
    text = run(*call, "--limit", "0.4")  # Y makes up half of the last class, and a twelfth of the table
    assert text.code == 1
    assert "without knowing anything else" in text.out
