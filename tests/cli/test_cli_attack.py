"""`sfumato attack`: which attacks are played, what is printed and what is not."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_house import CANARY, Run

ROLES = '[roles]\nquasi = ["age", "town"]\nsensitive = ["ill"]\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Forty people; the release has two classes of twenty, one of them of one illness, rows in the order of the original."""
    people, released = ["age,town,ill"], ["age,town,ill"]
    for i in range(40):
        young = i < 20
        ill = CANARY if young else ("flu", "cold")[i % 2]
        people.append(f"{20 + i},{'Pisa' if young else 'Lucca'},{ill}")
        released.append(f"{'20-39' if young else '40-59'},*,{ill}")
    (tmp_path / "people.csv").write_text("\n".join(people) + "\n", encoding="utf-8")
    (tmp_path / "release.csv").write_text("\n".join(released) + "\n", encoding="utf-8")
    (tmp_path / "roles.toml").write_text(ROLES, encoding="utf-8")
    return tmp_path


def attack(run: Run, folder: Path, *more: object) -> object:
    return run("attack", folder / "release.csv", "--roles", folder / "roles.toml", *more)


def test_all_that_can_be_played_is_and_no_value_is_shown(run: Run, folder: Path) -> None:
    done = attack(run, folder, "--original", folder / "people.csv", "--pair", "position", "--json").fine()
    played = {one["name"]: one for one in done.json["attacks"]}
    assert {"linkage", "homogeneity", "skewness", "background", "singling_out"} <= set(played)
    assert played["homogeneity"]["fell"] == 20
    assert played["homogeneity"]["worked"] is True
    assert played["linkage"]["success"]["value"] == pytest.approx(1 / 20)  # one of twenty, for everybody
    for one in played.values():
        assert one["exactness"] in ("exact", "bound", "estimate")
        assert 0 <= one["success"]["low"] <= one["success"]["value"] <= one["success"]["high"] <= 1
        assert one["sentence"]
        assert one["knew"]
    assert CANARY not in done.out


def test_every_sensitive_column_is_attacked_and_the_worst_counts(run: Run, folder: Path) -> None:
    """The first sensitive column is mixed in both classes, the second gives one class away: nobody may see the first alone."""
    for name in ("people", "release"):
        lines = (folder / f"{name}.csv").read_text(encoding="utf-8").splitlines()
        mixed = [f"{line},{'party' if not i else 'red' if i % 2 else 'blue'}" for i, line in enumerate(lines)]
        (folder / f"{name}.csv").write_text("\n".join(mixed) + "\n", encoding="utf-8")
    (folder / "roles.toml").write_text(ROLES.replace('["ill"]', '["party", "ill"]'), encoding="utf-8")
    base = ["--original", folder / "people.csv", "--pair", "position"]
    done = attack(run, folder, *base, "--json").fine().json
    played = {(one["name"], one["details"].get("column", one["details"].get("secret"))): one for one in done["attacks"]}
    for name in ("homogeneity", "skewness", "background", "inference"):
        assert {column for played_name, column in played if played_name == name} == {"party", "ill"}
        assert done["worst"][name] == "ill"
    assert played["homogeneity", "party"]["verdict"] == "fails"
    assert played["homogeneity", "ill"]["verdict"] == "works"
    assert all("names 2" not in reason for reason in done["skipped"].values())
    shown = attack(run, folder, *base).fine().out
    assert "Homogeneity was played on 2 sensitive columns in turn; the worst, ill, counts." in " ".join(shown.split())
    one = attack(run, folder, "--attack", "homogeneity(party)", "--json").fine().json
    assert [each["details"]["column"] for each in one["attacks"]] == ["party"]


def test_named_attacks_alone_and_their_words(run: Run, folder: Path) -> None:
    done = attack(run, folder, "--attack", "homogeneity").fine()
    assert "Homogeneity" in done.out
    assert "Known: " in done.out
    assert "Skewness" not in done.out
    assert CANARY not in done.out
    shown = attack(run, folder, "--attack", "homogeneity", "--reveal").fine()
    assert CANARY in shown.out  # the owner asked


def test_a_setting_is_not_dropped_where_no_mechanism_takes_it(run: Run, folder: Path) -> None:
    for option in (["--set", "k=3"], ["--require", "k_anonymity >= 2"]):
        refused = attack(run, folder, "--attack", "background", *option)
        assert refused.code == 2
        assert "--mechanism" in refused.err
        assert "background[k=2]" in refused.err


def test_facts_in_words(run: Run, folder: Path) -> None:
    facts = ["--fact", "Bob: age=45", "--fact", "Bob is not flu"]
    found = attack(run, folder, "--attack", "background", *facts, "--json").fine().json["attacks"][0]
    assert found["name"] == "background"
    assert found["success"]["value"] == 1  # what is not flu in that class is cold


def test_inference_and_linkability_know_their_columns(run: Run, folder: Path) -> None:
    base = ["--original", folder / "people.csv", "--pair", "position", "--json"]
    found = attack(run, folder, "--attack", "inference[attacks=40](ill)", *base).fine().json["attacks"][0]
    assert found["attacked"] == 40
    assert found["success"]["value"] >= 0.5
    unnamed = attack(run, folder, "--attack", "inference[attacks=40]", *base).fine().json["attacks"]
    assert unnamed == [found]  # the sensitive column is what nobody may learn
    halves = attack(run, folder, "--attack", "linkability", *base).fine().json["attacks"][0]["details"]
    assert {*halves["first"], *halves["second"]} == {"age", "town"}
    named = attack(run, folder, "--attack", "linkability[first=town,second=age|ill]", *base).fine().json["attacks"][0]
    assert (named["details"]["first"], named["details"]["second"]) == (["town"], ["age", "ill"])
    attack(run, folder, "--attack", "linkability[first=town]", *base).refused(2, "first and second")
    (folder / "roles.toml").write_text('[roles]\nquasi = ["age", "town"]\ninsensitive = ["ill"]\n', encoding="utf-8")
    attack(run, folder, "--attack", "inference", *base).refused(2, "inference(COLUMN)")
    attack(run, folder, "--attack", "inference(ill)", *base).fine()
    attack(run, folder, "--attack", "linkability", "--json").refused(2, "original")
    attack(run, folder, "--attack", "composition", *base).refused(2, "--previous")


def test_an_earlier_release_tells_more(run: Run, folder: Path) -> None:
    """The earlier release splits otherwise; together with it, some values are certain that no release tells alone."""
    lines = (folder / "people.csv").read_text(encoding="utf-8").splitlines()[1:]
    cut = [f"{'20-49' if i < 30 else '50-59'},*,{line.split(',')[2]}" for i, line in enumerate(lines)]
    (folder / "earlier.csv").write_text("\n".join(["age,town,ill", *cut]) + "\n", encoding="utf-8")
    found = attack(
        run, folder, "--attack", "composition", "--previous", folder / "earlier.csv", "--original", folder / "people.csv",
        "--pair", "position", "--json",
    ).fine().json["attacks"][0]  # fmt: skip
    assert found["name"] == "composition"
    assert found["fell"] >= found["baseline"]["value"] * found["attacked"] - 1e-9


def test_one_sentence_for_what_is_wrong(run: Run, folder: Path) -> None:
    attack(run, folder, "--attack", "magic").refused(2, "No attack 'magic'", "linkage")
    attack(run, folder, "--attack", "linkage").refused(2, "original")
    attack(run, folder, "--attack", "membership").refused(2, "population")
    attack(run, folder, "--attack", "homogenity").refused(2, "did you mean 'homogeneity'?")
    attack(run, folder, "--attack", "homogeneity[share]").refused(2, "key=value")
    attack(run, folder, "--attack", "homogeneity[share=much]").refused(2, "homogeneity: share must be a number")
    attack(run, folder, "--attack", "homogeneity[many=1]").refused(2, "no parameter 'many'", "share")
    attack(run, folder, "--attack", "homogeneity[control=x]").refused(2, "control cannot be set from a text")
    attack(run, folder, "--attack", "singling_out(ill)").refused(2, "does not attack a single column")
    attack(run, folder, "--attack", "homogeneity >= 1").refused(2, "Cannot read")
