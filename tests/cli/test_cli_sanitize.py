"""`sfumato sanitize` and `sfumato verify`: what is written was measured, and otherwise nothing is written."""

from __future__ import annotations

import csv
import hashlib
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from cli_house import House, Outcome, Run

import sfumato as sf


def sanitize(run: Run, house: House, *more: object, out: Path | None = None, k: int | None = 4) -> Outcome:
    setting = [] if k is None else ["--set", f"k={k}"]
    return run(
        "sanitize", house.people, "--roles", house.roles, "--mechanism", "mondrian", *setting,
        "--out", out or house / "release.csv", *more,
    )  # fmt: skip


def classes(path: Path, quasi: tuple[str, ...] = ("age", "town")) -> Counter[tuple[str, ...]]:
    with path.open(encoding="utf-8", newline="") as file:
        return Counter(tuple(row[name] for name in quasi) for row in csv.DictReader(file))


def test_a_release_is_written_and_told(run: Run, house: House, canary: str) -> None:
    before = house.people.read_bytes()
    found = sanitize(run, house, "--require", "distinct_l_diversity >= 2").fine()
    assert house.listing() == {"people.csv", "roles.toml", "release.csv"}
    assert house.people.read_bytes() == before
    sizes = classes(house / "release.csv")
    assert sum(sizes.values()) == 40
    assert min(sizes.values()) >= 4
    assert len(sizes) > 1
    assert "k_anonymity >= 4: met" in found.out
    assert "distinct_l_diversity >= 2: met" in found.out
    assert "Not released: name." in found.out
    assert "40 rows, 4 columns, written and verified" in found.out
    assert canary not in found.out
    assert found.err == ""


def test_json_tells_all_that_a_script_needs(run: Run, house: House) -> None:
    found = sanitize(run, house, "--require", "distinct_l_diversity >= 2", "--seed", "5", "--json").fine()
    content, path = found.json, house / "release.csv"
    assert found.err == ""
    assert content["release"] == str(path)
    assert content["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
    assert content["rows"] == 40
    assert content["columns"] == ["age", "town", "ill", "note"]
    assert content["dropped"] == ["name"]
    assert content["mechanism"] == "mondrian"
    assert content["parameters"] == {"k": 4, "require": ["distinct_l_diversity >= 2"]}
    assert content["seed"] == 5
    assert content["requirements"]["k_anonymity >= 4"] == {
        "met": True,
        "value": min(classes(path).values()),
        "exactness": "exact",
    }
    assert set(content["requirements"]) == {"k_anonymity >= 4", "distinct_l_diversity >= 2"}


def test_cells_that_a_spreadsheet_would_run_are_warned_of(run: Run, house: House) -> None:
    """Count and columns, never the values; negative numbers are no formulas."""
    lines = "".join(f"{-i % 3 - 1},{'=cmd()' if i % 2 else 'x'},-b\n" for i in range(20))
    table = house.text("cells.csv", f"debt,ill,note\n{lines}")
    roles = house.text("cells.toml", '[roles]\nquasi = ["debt"]\nsensitive = ["ill"]\ninsensitive = ["note"]\n')
    words = ("sanitize", table, "--roles", roles, "--mechanism", "mondrian", "--set", "k=2", "--json")
    found = run(*words, "--out", house / "cells-out.csv").fine()
    assert found.json["formula_cells"] == {"ill": 10, "note": 20}
    assert "30 cells begin with" in found.err
    assert "cmd" not in found.err
    assert run(*words, "--out", house / "cells.parquet").fine().json["formula_cells"] == {}


def test_what_a_seed_means_is_said(run: Run, house: House) -> None:
    """In the output and in JSON: whether something was drawn, and what whoever finds the seed can do."""
    for more, words in ((("--set", "mode=relaxed"), "finds it by trying"), ((), "Nothing was drawn at random")):
        found = sanitize(run, house, *more, "--seed", "3", out=house / "seeded.csv").fine()
        assert words in found.out
        found = sanitize(run, house, *more, "--seed", "3", "--json", out=house / "seeded.csv").fine()
        assert words in found.json["seed_means"]
    assert sanitize(run, house, "--json", out=house / "free.csv").fine().json["seed_means"] is None


def test_the_same_seed_writes_the_same_bytes(run: Run, house: House) -> None:
    for name in ("a.csv", "b.csv"):
        sanitize(run, house, "--set", "mode=relaxed", "--seed", "3", out=house / name).fine()
    assert (house / "a.csv").read_bytes() == (house / "b.csv").read_bytes()


def test_parquet_in_and_out(run: Run, house: House) -> None:
    sf.read(house.people).write(house / "people.parquet")
    found = run(
        "sanitize", house / "people.parquet", "--roles", house.roles, "--mechanism", "mondrian", "--set", "k=4",
        "--out", house / "release.parquet",
    )  # fmt: skip
    found.fine()
    sanitize(run, house).fine()
    table = pq.read_table(house / "release.parquet")
    rows = zip(*(table[name].to_pylist() for name in ("age", "town")), strict=True)
    assert Counter(tuple(v or "" for v in row) for row in rows) == classes(house / "release.csv")
    run("verify", house / "release.parquet", "--roles", house.roles, "--require", "k_anonymity >= 4").fine()


def test_a_requirement_that_the_mechanism_cannot_steer_by_is_checked_on_the_file(run: Run, house: House) -> None:
    sanitize(run, house, "--require", "iloss <= 0.99").fine()
    (house / "release.csv").unlink()
    sanitize(run, house, "--require", "iloss <= 0.0001").refused(1, "not written", "iloss <= 0.0001: not met, measured")
    assert house.listing() == {"people.csv", "roles.toml"}


def test_the_mechanism_s_own_promise_is_verified_too(run: Run, house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only k was given, as a setting; a file that misses it is not released."""
    from sfumato.engines.duckdb import DuckTable

    real = DuckTable.write

    def tampering(self: Any, path: Path, variables: Any = None) -> None:
        real(self, path, variables)
        path.write_text(path.read_text().replace("\n", "\n999,Paris,flu,x\n", 1).rsplit("\n", 2)[0] + "\n")

    monkeypatch.setattr(DuckTable, "write", tampering)
    sanitize(run, house).refused(1, "not written", "k_anonymity >= 4: not met, measured 1")
    assert house.listing() == {"people.csv", "roles.toml"}


@pytest.mark.parametrize("more", [[], ["--json"]], ids=["text", "json"])
def test_infeasible_exits_1_with_the_reason_and_nothing_written(run: Run, house: House, more: list[str]) -> None:
    found = sanitize(run, house, *more, k=41)
    found.refused(1, "cannot meet k_anonymity >= 41", "only reaches 40")
    assert house.listing() == {"people.csv", "roles.toml"}
    if more:
        assert found.json["exit_code"] == 1


def test_an_earlier_release_survives_a_failure(run: Run, house: House) -> None:
    sanitize(run, house).fine()
    before = (house / "release.csv").read_bytes()
    sanitize(run, house, k=41).refused(1)
    sanitize(run, house, "--require", "iloss <= 0").refused(1)
    assert (house / "release.csv").read_bytes() == before
    assert house.listing() == {"people.csv", "roles.toml", "release.csv"}


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--set", "k=abc"], ["mondrian: k must be a whole number"]),
        (["--set", "k=0"], ["k must be at least 1"]),
        (["--set", "k"], ["--set k", "key=value"]),
        (["--set", "depth=3"], ["no parameter 'depth'", "it takes k"]),
        (["--set", "mode=loose"], ["mode must be one of strict, relaxed"]),
        (["--require", "k_anonymity <= 5"], ["better higher", "k_anonymity >= 5"]),
        (["--require", "iloss >= 0.5"], ["better lower", "iloss <= 0.5"]),
        (["--require", "k_anonimity >= 5"], ["No metric 'k_anonimity'", "did you mean 'k_anonymity'"]),
        (["--require", "k_anonymity"], ["no limit", "k_anonymity >="]),
        (["--require", "k_anonymity >= many"], ["not a number"]),
        (["--require", "k_anonymity > 5"], [">= or <="]),
        (["--require", "t_closeness <= 0.2"], ["t_closeness[ordered] or t_closeness[equal]"]),
        (["--require", "t_closeness[semantic] <= 0.2"], ["t_closeness[ordered] or t_closeness[equal]"]),
        (["--require", "k_anonymity(ill) >= 5"], ["k_anonymity", "sensitive column"]),
        (["--require", "distinct_l_diversity(town) >= 2"], ["'town' is a quasi-identifier"]),
        (["--require", "distinct_l_diversity(nowhere) >= 2"], ["'nowhere'"]),
        (["--require", "t_closeness[ordered] <= 0.2"], ["order", "'ill'", "[orders]"]),
        (["--require", "???"], ["Cannot read '???'"]),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_settings_and_requirements_that_cannot_be(run: Run, house: House, more: list[str], words: list[str]) -> None:
    sanitize(run, house, *more).refused(2, *words)
    assert house.listing() == {"people.csv", "roles.toml"}


def test_an_unknown_mechanism_is_named_with_a_near_one(run: Run, house: House) -> None:
    arguments = ("sanitize", house.people, "--roles", house.roles, "--out", house / "o.csv", "--mechanism")
    run(*arguments, "mondrain").refused(2, "No mechanism 'mondrain'", "did you mean 'mondrian'?")
    run(*arguments, "zzz").refused(2, "No mechanism 'zzz'", "mondrian")


def test_nothing_to_meet_is_refused(run: Run, house: House) -> None:
    sanitize(run, house, k=None).refused(2, "needs something to meet")


@pytest.mark.parametrize(
    ("out", "words"),
    [
        ("nowhere/release.csv", ["nowhere/release.csv", "folder does not exist"]),
        ("release.txt", [".csv, .parquet, .xlsx, .sav or .dta"]),
        ("release", [".csv, .parquet, .xlsx, .sav or .dta"]),
        ("people.csv", ["this is the input"]),
        ("there.csv", ["there.csv"]),
    ],
)
def test_where_a_release_cannot_go(run: Run, house: House, out: str, words: list[str]) -> None:
    (house / "there.csv").mkdir()
    before = house.people.read_bytes()
    sanitize(run, house, out=house / out).refused(2, *words)
    assert house.people.read_bytes() == before
    assert house.listing() == {"people.csv", "roles.toml", "there.csv"}


def test_several_rows_of_one_person_are_refused(run: Run, house: House, canary: str) -> None:
    house.text("twice.csv", f"who,age,ill\n{canary},20,flu\n{canary},21,flu\nb,22,flu\n")
    roles = house.text("who.toml", '[roles]\nquasi = ["age"]\nsensitive = ["ill"]\nperson = "who"\n')
    found = run(
        "sanitize", house / "twice.csv", "--roles", roles, "--mechanism", "mondrian", "--set", "k=1",
        "--out", house / "o.csv",
    )  # fmt: skip
    found.refused(2, "several rows", "by 'who'")


# --- verify ---------------------------------------------------------------------------------------------------------


def verify(run: Run, house: House, *more: object, release: Path | None = None) -> Outcome:
    return run("verify", release or house / "release.csv", "--roles", house.roles, *more)


@pytest.fixture
def released(run: Run, house: House) -> House:
    sanitize(run, house).fine()
    return house


def test_met_is_0_and_says_so(run: Run, released: House) -> None:
    found = verify(run, released, "--require", "k_anonymity >= 4", "--require", "prosecutor_risk <= 0.25").fine()
    assert "k_anonymity >= 4: met" in found.out
    assert "prosecutor_risk <= 0.25: met" in found.out
    assert "every requirement is met" in found.out
    assert found.err == ""


def test_not_met_is_1_with_the_reason(run: Run, released: House) -> None:
    smallest = min(classes(released / "release.csv").values())
    found = verify(run, released, "--require", "k_anonymity >= 30", "--require", "k_anonymity >= 2")
    assert found.code == 1
    assert f"k_anonymity >= 30: not met, measured {smallest}" in found.out
    assert "k_anonymity >= 2: met" in found.out
    assert "not met." in found.out.splitlines()[-1]


def test_json_of_a_verdict(run: Run, released: House) -> None:
    smallest = min(classes(released / "release.csv").values())
    good = verify(run, released, "--require", "k_anonymity >= 4", "--json").fine()
    assert good.json == {
        "release": str(released / "release.csv"),
        "met": True,
        "requirements": {"k_anonymity >= 4": {"met": True, "value": smallest, "exactness": "exact"}},
        "problems": [],
        "counted": f"Each class has at least {smallest} rows. Rows are counted, and nothing says that each is of another person; "
        "one_row_per_person = true in [roles] does.",
        "people": None,
        "free_columns": [],
        "waived": {},
    }
    bad = verify(run, released, "--require", "k_anonymity >= 30", "--json")
    assert bad.code == 1
    assert bad.json["met"] is False
    assert bad.json["requirements"]["k_anonymity >= 30"]["met"] is False


def test_one_edited_row_is_found(run: Run, released: House) -> None:
    path = released / "release.csv"
    lines = path.read_text(encoding="utf-8").splitlines()
    age, rest = lines[1].rsplit(",", 3)[0], ",".join(lines[1].rsplit(",", 3)[1:])
    lines[1] = f"33,{rest}"
    assert age != "33"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    found = verify(run, released, "--require", "k_anonymity >= 4")
    assert found.code == 1
    assert "k_anonymity >= 4: not met, measured 1" in found.out


def test_identifiers_left_in_the_file_are_1(run: Run, house: House, canary: str) -> None:
    for more in ([], ["--json"]):
        found = verify(run, house, "--require", "k_anonymity >= 1", *more, release=house.people)
        assert found.code == 1
        assert "'name' is an identifier" in found.out
        assert canary not in found.out + found.err


def test_without_a_requirement_there_is_nothing_to_verify(run: Run, released: House) -> None:
    verify(run, released).refused(2, "nothing to verify", "--require")


def test_a_requirement_against_the_original(run: Run, released: House) -> None:
    verify(run, released, "--require", "iloss <= 0.9").refused(2, "iloss needs the original", "--original")
    verify(run, released, "--require", "iloss <= 0.9", "--original", released.people).fine()
    found = verify(run, released, "--require", "iloss <= 0.0001", "--original", released.people)
    assert found.code == 1


def test_a_release_without_its_columns_cannot_be_verified(run: Run, house: House) -> None:
    house.text("short.csv", "age,ill\n20,flu\n20,cold\n")
    found = verify(run, house, "--require", "k_anonymity >= 1", release=house / "short.csv")
    found.refused(2, "no column 'town'", "quasi")


@pytest.mark.full  # three processes
def test_the_exit_code_of_the_real_script(spawn: Run, released: House) -> None:
    arguments = ("verify", released / "release.csv", "--roles", released.roles, "--require")
    assert spawn(*arguments, "k_anonymity >= 4").code == 0
    bad = spawn(*arguments, "k_anonymity >= 40", "--json")
    assert bad.code == 1
    assert json.loads(bad.out)["met"] is False
    assert spawn(*arguments, "k >= 40").code == 2


def test_a_mechanism_takes_its_parameters_in_its_text_too(run: Run, house: House) -> None:
    sanitize(run, house, out=house / "by_set.csv").fine()
    found = run(
        "sanitize", house.people, "--roles", house.roles, "--mechanism", "mondrian k=4", "--out", house / "by_text.csv"
    ).fine()
    assert "k_anonymity >= 4: met" in found.out
    assert (house / "by_text.csv").read_bytes() == (house / "by_set.csv").read_bytes()
    both = ("--mechanism", "mondrian k=4", "--set", "k=5", "--out", house / "both.csv")
    run("sanitize", house.people, "--roles", house.roles, *both).refused(2, "not both")
    twice = ("--mechanism", "mondrian k=4 k=5", "--out", house / "twice.csv")
    run("sanitize", house.people, "--roles", house.roles, *twice).refused(2, "k is given twice")
