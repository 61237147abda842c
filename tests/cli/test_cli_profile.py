"""`sfumato profile`: what it says of a table without quoting it, and a roles file that the other verbs take."""

from __future__ import annotations

import random
import tomllib
from pathlib import Path

import pytest
from cli_house import House, Run

import sfumato as sf

DRAW = random.Random(2)
"""For what follows from nothing else: a diagnosis that the postcode tells is not suggested as sensitive."""
TOWN = ("name,age,sex,postcode,job,diagnosis,visits\n"
        + "".join(f"Quixotic7741 {i},{20 + i % 50},{'fm'[i % 2]},{1000 + 37 * (i % 12):05d},{('cook', 'nurse', '')[i % 3]},"
                  f"{DRAW.choice(('Kuru5561', 'Yaws5562', 'Ague5563'))},{i % 4}\n" for i in range(200)))  # fmt: skip


@pytest.fixture
def town(house: House) -> Path:
    return house.text("town.csv", TOWN)


def test_json_tells_kinds_roles_and_reasons(run: Run, town: Path) -> None:
    found = run("profile", town, "--json").fine()
    assert found.err == ""
    content = found.json
    assert content["rows"] == 200
    assert content["roles_file"] is None
    columns = {column["name"]: column for column in content["columns"]}
    assert list(columns) == ["name", "age", "sex", "postcode", "job", "diagnosis", "visits"]
    assert columns["name"]["role"] == "identifiers"
    assert {columns[name]["role"] for name in ("age", "sex", "postcode")} == {"quasi"}
    assert columns["diagnosis"]["role"] == "sensitive"
    assert columns["job"]["missing"] == 66
    assert columns["age"]["distinct"] == 50
    for column in columns.values():
        assert column["kind"]
        assert column["reason"]
        assert column["role"] in ("identifiers", "quasi", "sensitive", "insensitive")


def test_combinations_come_worst_first_and_count_right(run: Run, town: Path) -> None:
    table = sf.read(town)
    combinations = run("profile", town, "--json").fine().json["combinations"]
    alone = [combination["unique_rows"] for combination in combinations]
    assert alone == sorted(alone, reverse=True)
    assert combinations
    for combination in combinations:
        n = table.count(combination["columns"]).n
        assert combination["unique_rows"] == int((n == 1).sum())
        assert combination["share"] == pytest.approx((n == 1).sum() / 200)
        assert len(combination["columns"]) <= 3


def test_larger_and_chosen_combinations(run: Run, town: Path) -> None:
    content = run("profile", town, "--json", "--max-columns", "1", "--quasi", "age", "--quasi", "job").fine().json
    assert {tuple(c["columns"]) for c in content["combinations"]} == {("age",), ("job",)}
    run("profile", town, "--quasi", "agee").refused(2, "'agee'", "did you mean 'age'?")
    run("profile", town, "--max-columns", "0").refused(2, "--max-columns")


@pytest.mark.parametrize("more", [[], ["--json"]], ids=["text", "json"])
def test_no_value_of_the_table_is_printed_or_written(run: Run, house: House, town: Path, more: list[str]) -> None:
    found = run("profile", town, "--write-roles", house / "new.toml", *more).fine()
    for text in (found.out, found.err, (house / "new.toml").read_text(encoding="utf-8")):
        for canary in ("Quixotic7741", "Kuru5561", "Yaws5562", "nurse"):
            assert canary not in text


def test_the_written_roles_sanitize_verify_and_compare(run: Run, house: House, town: Path) -> None:
    """From a raw file to a verified release without editing anything."""
    roles = house / "new.toml"
    found = run("profile", town, "--write-roles", roles).fine()
    assert str(roles) in found.out
    content = tomllib.loads(roles.read_text(encoding="utf-8"))
    assert content["roles"]["identifiers"] == ["name"]
    assert set(content["roles"]["quasi"]) >= {"age", "sex", "postcode"}
    assert content["roles"]["sensitive"] == ["diagnosis"]
    release = house / "release.csv"
    run("sanitize", town, "--roles", roles, "--mechanism", "mondrian", "--set", "k=5",
        "--require", "distinct_l_diversity >= 2", "--out", release).fine()  # fmt: skip
    assert "Quixotic7741" not in release.read_text(encoding="utf-8")
    run("verify", release, "--roles", roles, "--require", "k_anonymity >= 5").fine()
    scores = run("measure", release, "--roles", roles, "--original", town, "--json").fine().json["scores"]
    assert scores["k_anonymity"]["value"] >= 5
    assert 0 < scores["iloss"]["value"] < 1
    run("study", town, "--roles", roles, "--out", house / "report", "--require", "k_anonymity >= 5").fine()


def test_the_roles_read_back_as_the_profile_s_own(run: Run, house: House, town: Path) -> None:
    run("profile", town, "--write-roles", house / "new.toml").fine()
    found, own = sf.Roles.read(house / "new.toml"), sf.profile(sf.read(town)).roles
    for kind in ("identifiers", "quasi", "sensitive", "insensitive", "person"):
        assert getattr(found, kind) == getattr(own, kind)
    assert dict(found.hierarchies) == dict(own.hierarchies)


def test_edited_roles_are_not_overwritten_unless_forced(run: Run, house: House, town: Path) -> None:
    before = house.roles.read_bytes()
    run("profile", town, "--write-roles", house.roles).refused(2, "roles.toml", "exists", "--force")
    assert house.roles.read_bytes() == before
    run("profile", town, "--write-roles", house.roles, "--force").fine()
    assert house.roles.read_bytes() != before


@pytest.mark.parametrize("target", ["nowhere/roles.toml", "town.csv/roles.toml"])
def test_roles_that_cannot_be_written(run: Run, house: House, town: Path, target: str) -> None:
    before = house.listing()
    run("profile", town, "--write-roles", house / target).refused(2, "roles.toml", "cannot be written")
    assert house.listing() == before


def test_a_table_of_one_row_and_of_one_column(run: Run, house: House) -> None:
    one = house.text("one.csv", "a,b\nx,y\n")
    assert run("profile", one, "--json").fine().json["rows"] == 1
    run("profile", one).fine()
    narrow = house.text("narrow.csv", "a\nx\ny\nx\n")
    assert len(run("profile", narrow, "--json").fine().json["columns"]) == 1
    run("profile", narrow, "--write-roles", house / "narrow.toml").fine()
    sf.Roles.read(house / "narrow.toml")


def test_odd_names_survive_the_roles_file(run: Run, house: House) -> None:
    source = house.text(
        "odd.csv", '"first ""name""","a,b","città [x]","select"\n' + "".join(f"n{i},{i % 7},u,v\n" for i in range(30))
    )
    run("profile", source, "--write-roles", house / "odd.toml").fine()
    roles = sf.Roles.read(house / "odd.toml")
    named = {*roles.identifiers, *roles.quasi, *roles.sensitive, *roles.insensitive}
    assert named == {'first "name"', "a,b", "città [x]", "select"}
