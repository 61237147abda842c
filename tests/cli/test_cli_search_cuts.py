"""`search --cut`: the best ranges of an ordered column from the command line, saved as a hierarchy, and what is refused."""

from __future__ import annotations

import csv
import math
from pathlib import Path

import pytest
from cli_house import CANARY, House, Run

# Four ages of four people each; half of them are ill with one thing, half with two.
ROWS = "age,sex,town,ill\n" + "".join(
    f"{age},{'fm'[i % 2]},{CANARY},{ill}\n" for age, ills in ((20, "xxxx"), (30, "xxyy"), (40, "yyyy"), (50, "yyzz"))
    for i, ill in enumerate(ills)
)  # fmt: skip
ROLES = '[roles]\nquasi = ["age", "sex", "town"]\nsensitive = ["ill"]\n'


@pytest.fixture
def town(tmp_path: Path) -> Path:
    (tmp_path / "people.csv").write_text(ROWS, encoding="utf-8")
    (tmp_path / "roles.toml").write_text(ROLES, encoding="utf-8")
    return tmp_path


@pytest.fixture
def cuts(run: Run, town: Path):
    def call(*more: object):
        return run("search", town / "people.csv", "--roles", town / "roles.toml", "--cut", "age", *more)

    return call


def test_json_holds_the_cuts_and_the_objective(cuts) -> None:
    """By hand: 6, 8 and 2 of 16 have x, y and z; each of the two ranges has 6 and 2 of two of them."""
    asked = ("--minimise", "-mutual_information", "--require", "distinct_l_diversity >= 2")
    content = cuts(*asked, "--json").fine().json
    assert content["cuts"] == [35]  # between 30 and 40
    before = -sum(p * math.log2(p) for p in (6 / 16, 8 / 16, 2 / 16))
    assert content["objective"] == pytest.approx(before + 0.75 * math.log2(0.75) + 0.25 * math.log2(0.25))
    assert (content["measure"], content["better"], content["unit"]) == ("mutual_information", "higher", "bits")
    assert (content["ranges"], content["labels"], content["rows"]) == (2, ["<35", ">=35"], [8, 8])
    assert (content["exactness"], content["missing_rows"]) == ("exact", 0)
    (told,) = content["requirements"].values()
    assert told == {"met": True, "value": 2, "per_range": [2, 2], "missing": None}
    assert content["information_loss"] == pytest.approx(1 - content["objective"] / content["information"])
    assert content["checked"] >= content["feasible"] >= 2


def test_mutual_information_is_what_is_maximised_unless_another_is_named(cuts) -> None:
    every = cuts("--json").fine().json
    assert every["cuts"] == [25, 35, 45]
    assert every == cuts("--minimise", "-mutual_information", "--json").fine().json
    least = cuts("--minimise", "loss", "--require", "k_anonymity >= 8", "--json").fine().json
    assert (least["cuts"], least["objective"], least["measure"]) == ([35], pytest.approx(1 / 3), "loss")
    assert least["information_loss"] is None
    assert cuts("--max-ranges", "1", "--json").fine().json["cuts"] == []


def test_other_columns_are_held_or_suppressed(cuts) -> None:
    asked = ("--minimise", "loss", "--require", "k_anonymity >= 4", "--json")
    assert cuts(*asked).fine().json["cuts"] == [25, 35, 45]
    held = cuts(*asked, "--at", "sex=0", "--at", "town=1").fine().json
    assert (held["cuts"], held["at"]) == ([35], {"sex": 0, "town": 1})


def test_for_people_to_read(cuts) -> None:
    shown = cuts("--require", "distinct_l_diversity >= 2", "--require", "k_anonymity >= 4").fine().out
    lines = [line.split() for line in shown.splitlines()]
    assert shown.startswith("age in 2 ranges: mutual_information 0.5944 bits, the largest of all partitions")
    assert ["<35", "8", "2", "8"] in lines
    assert [">=35", "8", "2", "8"] in lines
    assert "age = { cuts = [35] }" in shown
    assert CANARY not in shown
    missed = cuts("--minimise", "discernibility").fine().out
    assert "age in 4 ranges: discernibility 64 pairs of rows, the smallest of all partitions" in missed


def test_missing_values_have_a_line_of_their_own(cuts, town: Path) -> None:
    (town / "people.csv").write_text(ROWS + f",f,{CANARY},x\n,m,{CANARY},y\n", encoding="utf-8")
    asked = ("--require", "distinct_l_diversity >= 2")
    assert any(line.split() == ["(missing)", "2", "2"] for line in cuts(*asked).fine().out.splitlines())
    content = cuts(*asked, "--json").fine().json
    assert content["missing_rows"] == 2
    assert content["requirements"]["distinct_l_diversity >= 2"]["missing"] == 2


def test_nested_levels_are_saved_and_used(cuts, run: Run, town: Path) -> None:
    """[25, 45] and [35, 45] tell as much as [25, 35]: the earliest cuts are taken, and of those 35 is the one to keep."""
    saved = town / "age.csv"
    content = cuts("--levels", "3,2", "--save", saved, "--json").fine().json
    assert content["saved"] == str(saved)
    assert content["cuts"] == [25, 35]
    assert [(level["most"], level["cuts"]) for level in content["levels"]] == [(3, [25, 35]), (2, [35])]
    assert saved.read_text("utf-8") == "20;<25;<35;*\n30;[25,35);<35;*\n40;>=35;>=35;*\n50;>=35;>=35;*\n"
    (town / "roles.toml").write_text(ROLES + '[hierarchies]\nage = "age.csv"\n', encoding="utf-8")
    out = town / "release.csv"
    mondrian = ("--mechanism", "mondrian", "--set", "k=6", "--out", out)
    run("sanitize", town / "people.csv", "--roles", town / "roles.toml", *mondrian).fine()
    with out.open(encoding="utf-8", newline="") as file:
        assert {row["age"] for row in csv.DictReader(file)} == {"<35", ">=35"}
    shown = cuts("--levels", "3,2", "--save", saved).fine().out
    assert "Merged into 2: <35, >=35" in shown
    assert "age = { cuts = [[25, 35], [35]] }" in shown
    assert f'Saved: {saved}. In the roles file, under [hierarchies]: age = "age.csv"' in shown
    assert {path.name for path in town.iterdir()} == {"people.csv", "roles.toml", "age.csv", "release.csv"}


def test_a_column_whose_name_toml_must_quote(run: Run, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text('"the ""age",w\n1,x\n2,y\n', encoding="utf-8")
    (tmp_path / "r.toml").write_text('[roles]\nquasi = ["the \\"age"]\nsensitive = ["w"]\n', encoding="utf-8")
    shown = run("search", tmp_path / "t.csv", "--roles", tmp_path / "r.toml", "--cut", 'the "age').fine().out
    assert '"the \\"age" = { cuts = [2] }' in shown


def test_what_cannot_be_met_exits_1_and_saves_nothing(cuts, town: Path) -> None:
    cuts("--require", "k_anonymity >= 17", "--save", town / "age.csv").refused(1, "k_anonymity >= 17", "16", "'age'")
    cuts("--require", "entropy_l_diversity >= 4").refused(1, "even a single range")
    assert not (town / "age.csv").exists()
    # not monotone: what a single range misses finer ones could meet
    said = cuts("--require", "one_symbol_i4 <= -1").refused(1, "one_symbol_i4 <= -1", "looked at")
    assert "even a single range" not in said


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--minimise", "mutual_information"], ["--minimise -mutual_information"]),
        (["--minimise", "information"], ["'information'"]),
        (["--minimise", "-loss"], ["'-loss'"]),
        (["--subsets"], ["--cut", "--subsets"]),
        (["--metric", "k_anonymity", "--out", "x.csv"], ["--metric, --out", "--cut"]),
        (["--suppression", "0.1"], ["--suppression", "--cut"]),
        (["--require", "marketer_risk <= 0.2"], ["marketer_risk <= 0.2", "whole table"]),
        (["--require", "k_anonimity >= 2"], ["k_anonymity"]),
        (["--at", "sex"], ["--at sex", "sex=0"]),
        (["--at", "sex=high"], ["--at sex=high"]),
        (["--at", "sex=0", "--at", "sex=1"], ["--at sex=1", "already"]),
        (["--at", "sex=9"], ["'sex'", "0 to 1"]),
        (["--at", "ill=0"], ["'ill'", "quasi-identifier"]),
        (["--at", "age=0"], ["'age'"]),
        (["--levels", "2,4"], ["--levels 2,4", "8,4,2"]),
        (["--levels", "4,four"], ["--levels 4,four"]),
        (["--levels", "4,0"], ["--levels 4,0"]),
        (["--levels", "4,2", "--max-ranges", "4"], ["--levels", "--max-ranges"]),
        (["--max-ranges", "0"], ["--max-ranges"]),
        (["--minimise", "-mutual_information(sex)"], ["'sex'", "quasi-identifier"]),
        (["--minimise", "-mutual_information(income)"], ["'income'"]),
        (["--save", "nowhere/age.csv"], ["nowhere", "folder"]),
        (["--cut", "ill"], ["'ill'", "quasi-identifier"]),
        (["--cut", "height"], ["'height'", "quasi-identifier"]),
    ],
    ids=lambda given: " ".join(given) if isinstance(given, list) else None,
)
def test_calls_that_cannot_be(cuts, arguments: list[str], words: list[str]) -> None:
    cuts(*arguments).refused(2, *words)


def test_texts_without_an_order_are_refused_without_a_value(run: Run, house: House) -> None:
    run("search", house.people, "--roles", house.roles, "--cut", "town").refused(2, "'town'", "[orders]")


def test_a_folder_is_no_file_to_save_in(cuts, town: Path) -> None:
    (town / "age").mkdir()
    cuts("--save", town / "age").refused(2, "cannot be written")
    assert {path.name for path in town.iterdir()} == {"people.csv", "roles.toml", "age"}


@pytest.mark.parametrize("option", ["--max-ranges", "--max-columns", "--most"])
def test_options_of_another_search_are_refused(run: Run, house: House, option: str) -> None:
    call = ("search", house.people, "--roles", house.roles, "--require", "k_anonymity >= 2", option, "3")
    run(*call).refused(2, option, "without --cut or --subsets")


def test_help_names_what_it_takes(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    found = run("search", "--help").fine()
    for option in (
        "INPUT",
        "--roles",
        "--cut",
        "--minimise",
        "--require",
        "--max-ranges",
        "--at",
        "--levels",
        "--save",
    ):
        assert option in found.out
