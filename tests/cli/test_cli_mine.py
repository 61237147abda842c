"""`sfumato mine` from the command line: both forms, every refusal in one sentence, JSON that machines can read."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli_house import CANARY, House, Run

ROLES = '[roles]\nidentifiers = ["name"]\nquasi = ["age", "work", "town"]\nsensitive = ["pay-class"]\n'
SCENARIO = """
table = "people.csv"
roles = "roles.toml"
folds = 2
[[candidate]]
mechanism = "k_member"
set = { k = 5 }
[[candidate]]
file = "release.csv"
pair = "position"
[good]
field = "pay-class"
miners = ["tree"]
groups = ["work"]
[bad]
field = "age"
miners = ["tree", "zero_rule"]
[bad.aims.A]
nearer = 0
"""
QUICK = ("--miners", "tree,zero_rule", "--folds", "2", "--no-cache")


def write(path: Path, columns: dict[str, list[Any]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return path


@pytest.fixture
def office(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> House:
    """A table of 120 people, a release with rounded ages, one with noise, one in another order."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    rng = np.random.default_rng(3)
    work = rng.integers(0, 3, 120)
    age = 20 + 15 * work + rng.integers(0, 20, 120)
    people: dict[str, list[Any]] = {
        "name": [f"{CANARY}{i}" for i in range(120)],
        "age": age.tolist(),
        "work": [("pupil", "clerk", CANARY)[w] for w in work],
        "town": [("Rome", "Oslo", CANARY)[i] for i in rng.integers(0, 3, 120)],
        "pay-class": [("low", "high")[int(a > 45)] for a in age],
    }
    write(tmp_path / "people.csv", people)
    published = {name: values for name, values in people.items() if name != "name"}
    write(tmp_path / "release.csv", {**published, "age": [f"[{a // 10 * 10},{a // 10 * 10 + 10})" for a in age]})
    write(tmp_path / "noisy.csv", {**published, "age": [round(a + float(e), 1) for a, e in zip(age, rng.laplace(0, 15, 120), strict=True)]})  # fmt: skip
    order = rng.permutation(120).tolist()
    write(tmp_path / "turned.csv", {name: [values[i] for i in order] for name, values in published.items()})
    (tmp_path / "roles.toml").write_text(ROLES, encoding="utf-8")
    (tmp_path / "scenario.toml").write_text(SCENARIO, encoding="utf-8")
    return House(tmp_path)


def test_the_common_case_without_a_file(run: Run, office: House) -> None:
    found = run("mine", "--original", office.people, office / "release.csv", "--target", "pay-class", "--secret", "age", "--roles", office.roles, *QUICK, "--json").fine()  # fmt: skip
    (mined,) = found.json["releases"]
    assert (mined["name"], mined["rows"], mined["suppressed"], mined["paired"], mined["folds"]) == ("release.csv", 120, 0, True, 2)  # fmt: skip
    assert mined["exactness"] == "estimate"
    good, bad, gains = mined["good"], mined["bad"], mined["gains"]
    assert (good["field"], good["task"], good["total"]) == ("pay-class", "classes", 120)
    assert [m["miner"] for m in good["miners"]] == ["tree", "zero_rule"]
    for m in good["miners"]:
        for key in ("original", "released", "decline", "release_to_original", "original_to_release"):
            assert set(m[key]) == {"value", "low", "high"}
            assert m[key]["low"] <= m[key]["value"] <= m[key]["high"]
        assert m["trained_on"] == 60
        assert m["sampled"] is False
    assert {"delta", "decided_by", "baseline", "groups", "notes"} <= set(good)
    assert [aim["aim"] for aim in bad["aims"]] == ["A", "B", "C"]
    for aim in bad["aims"]:
        assert {"average", "worst", "worst_miner", "baseline", "told", "total", "miners", "nearer"} <= set(aim)
    assert bad["aims"][1]["worst"]["value"] == 0  # nothing exact from intervals
    assert bad["aims"][2]["total"] == 6
    assert gains["sensitive"] == "pay-class"
    assert gains["knowledge_mined"]["value"] >= gains["knowledge"] - 1e-12
    assert any("by position" in note for note in mined["notes"])
    assert CANARY not in found.out + found.err


def test_for_people_to_read(run: Run, office: House) -> None:
    found = run("mine", "--original", office.people, office / "release.csv", "--target", "pay-class", "--secret", "age", "--roles", office.roles, *QUICK).fine()  # fmt: skip
    for words in (
        "Good utility",
        "delta",
        "Bad utility",
        "never saw it",
        "Adversarial gains",
        "120 people",
        "95% intervals",
    ):
        assert words in found.out, words
    assert CANARY not in found.out
    assert not (office / "cache").exists()


def test_without_roles_every_column_is_looked_at(run: Run, office: House) -> None:
    (mined,) = run("mine", "--original", office / "turned.csv", office / "turned.csv", "--target", "pay-class", *QUICK, "--json").fine().json["releases"]  # fmt: skip
    assert mined["good"]["delta"]["value"] == 0
    assert mined["bad"] is None


def test_a_scenario_file_and_its_cache(run: Run, office: House) -> None:
    first = run("mine", office / "scenario.toml", "--json").fine().json["releases"]
    assert [mined["name"] for mined in first] == ["k_member k=5", "release.csv"]
    assert [g["value"] for g in first[0]["good"]["groups"]] == [
        CANARY,
        "clerk",
        "pupil",
    ]  # groups were asked for by name
    kept = list((office / "cache" / "sfumato" / "mining").iterdir())
    assert kept
    again = run("mine", office / "scenario.toml", "--json").fine().json["releases"]
    assert again == first
    assert sorted(kept) == sorted((office / "cache" / "sfumato" / "mining").iterdir())
    elsewhere = run("mine", office / "scenario.toml", "--cache", office / "own", "--json").fine().json["releases"]
    assert elsewhere == first
    assert {file.name for file in (office / "own").iterdir()} == {file.name for file in kept}


def test_made_here(run: Run, office: House) -> None:
    found = run(
        "mine", "--original", office.people, "--roles", office.roles, "--candidate", "k_member k=5", "--candidate",
        "mondrian k=10", "--candidate", "local_noise bounds=age=17:100 epsilon=1", "--secret", "age", *QUICK, "--json",
    ).fine()  # fmt: skip
    names = [mined["name"] for mined in found.json["releases"]]
    assert [name.split()[0] for name in names] == ["k_member", "mondrian", "local_noise"]
    assert all(mined["paired"] and mined["bad"]["aims"] for mined in found.json["releases"])
    noise = found.json["releases"][2]
    assert noise["gains"] is None
    assert any("noise" in note for note in noise["notes"])


def test_two_releases_side_by_side(run: Run, office: House) -> None:
    found = run("mine", "--original", office.people, office / "release.csv", office / "noisy.csv", "--roles", office.roles, "--perturbed", "age", "--pair", "position", "--secret", "age", *QUICK, "--json").fine()  # fmt: skip
    rounded, noisy = found.json["releases"]
    assert noisy["bad"]["task"] == "numbers"
    assert rounded["bad"]["task"] == "classes"
    assert noisy["bad"]["aims"][0]["worst"]["value"] > rounded["bad"]["aims"][0]["worst"]["value"]


def test_the_medical_example_in_a_line(run: Run, office: House) -> None:
    more = (
        "--worth",
        "predicted >= true",
        "--weight",
        "age > 55 and town = 'Rome' -> 10",
        "--weight",
        "otherwise -> 0",
    )
    (mined,) = run("mine", "--original", office.people, office / "noisy.csv", "--pair", "position", "--roles", office.roles, "--target", "pay-class", *more, *QUICK, "--json").fine().json["releases"]  # fmt: skip
    assert mined["good"]["total"] % 10 == 0
    assert 0 < mined["good"]["total"] < 1200


def test_aims_in_a_line(run: Run, office: House) -> None:
    more = ("--nearer", "50", "--secret-weight", "age > 50 -> 3", "--secret", "age", "--pair", "position")
    (mined,) = run("mine", "--original", office.people, office / "noisy.csv", "--roles", office.roles, *more, *QUICK, "--json").fine().json["releases"]  # fmt: skip
    (aim,) = mined["bad"]["aims"]
    assert aim["nearer"] == 50
    assert aim["total"] > 120


def test_a_sample_and_a_seed(run: Run, office: House) -> None:
    more = ("--sample", "60", "--seed", "4", "--target", "pay-class", "--by", "work", "--roles", office.roles)
    (mined,) = (
        run("mine", "--original", office.people, office / "release.csv", *more, *QUICK, "--json")
        .fine()
        .json["releases"]
    )
    assert (mined["rows"], mined["seed"]) == (60, 4)
    assert any("sample" in note for note in mined["notes"])


def test_whose_rows_are_not_known(run: Run, office: House) -> None:
    more = ("--roles", office.roles, "--secret", "age")
    run("mine", "--original", office.people, office / "turned.csv", *more, *QUICK).refused(2, "--pair")
    both = run(
        "mine", "--original", office.people, office / "turned.csv", *more, "--target", "pay-class", *QUICK
    ).fine()
    assert "--pair" in both.out
    assert "Bad utility" not in both.out


def test_numbers_that_json_lacks(run: Run, office: House) -> None:
    """A utility of nothing has no decline; that is null, and the sentence for people does not say NaN."""
    more = ("--worth", "-1", "--target", "pay-class", "--roles", office.roles)
    (mined,) = (
        run("mine", "--original", office.people, office / "release.csv", *more, *QUICK, "--json")
        .fine()
        .json["releases"]
    )
    assert mined["good"]["delta"]["value"] is None
    shown = run("mine", "--original", office.people, office / "release.csv", *more, *QUICK).fine()
    assert "nan" not in shown.out.lower()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--original", "people.csv", "release.csv"), ("--target", "--secret")),
        (("--original", "people.csv", "--target", "pay-class"), ("--candidate",)),
        (("--original", "people.csv", "release.csv", "--target", "pay"), ("pay", "good")),
        (("--original", "people.csv", "release.csv", "--secret", "years"), ("years", "bad")),
        (("--original", "people.csv", "release.csv", "--target", "pay-class", "--miners", "naive_bias"), ("naive_bias",)),
        (("--original", "people.csv", "release.csv", "--secret", "age", "--miners", "linear"), ("linear",)),
        (("--original", "people.csv", "gone.csv", "--target", "pay-class"), ("gone.csv",)),
        (("--original", "gone.csv", "release.csv", "--target", "pay-class"), ("gone.csv",)),
        (("gone.toml",), ("gone.toml",)),
        (("scenario.toml", "--target", "pay-class"), ("scenario.toml", "--target")),
        (("scenario.toml", "--sample", "60"), ("scenario.toml", "--sample")),
        (("scenario.toml", "--folds", "3"), ("scenario.toml", "--folds")),
        (("scenario.toml", "--miners", "tree"), ("scenario.toml", "--miners")),
        (("scenario.toml", "release.csv"), ("scenario.toml", "alone")),
        (("--original", "people.csv", "release.csv", "--target", "pay-class", "--folds", "1"), ("folds",)),
        (("--original", "people.csv", "release.csv", "--target", "pay-class", "--sample", "1"), ("rows",)),
        (("--original", "people.csv", "release.csv", "--target", "pay-class", "--seed", "-1"), ("seed",)),
        (("--original", "people.csv", "release.csv", "--secret", "age", "--nearer", "101"), ("nearer",)),
        (("--original", "people.csv", "release.csv", "--target", "pay-class", "--weight", "age > 5"), ("->",)),
        (("--original", "people.csv", "release.csv", "--target", "pay-class", "--weight", "nope > 5 -> 2"), ("nope",)),
        (("--original", "people.csv", "release.csv", "--target", "pay-class", "--worth", "predicted >"), ("predicted >",)),
        (("--original", "people.csv", "release.csv", "--target", "pay-class", "--worth", "(select 1 from read_csv('/etc/passwd'))"), ("cannot be read",)),
        (("--original", "people.csv", "release.csv", "--target", "pay-class", "--by", "nope"), ("nope",)),
        (("--original", "people.csv", "release.csv", "--target", "pay-class", "--pair", "somehow"), ("somehow",)),
        (("--original", "people.csv", "release.csv", "--target", "pay-class", "--pair", "key:name"), ("name",)),
        (("--original", "people.csv", "--candidate", "k_membre k=5", "--target", "pay-class"), ("k_membre",)),
        (("--original", "people.csv", "release.csv", "--target", "pay-class", "--roles", "gone.toml"), ("gone.toml",)),
        (("--original", "people.csv", "release.csv", "--target", "pay-class", "--cache", "people.csv"), ("people.csv",)),
    ],
)  # fmt: skip
def test_refused_in_one_sentence(
    run: Run, office: House, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], words: tuple[str, ...]
) -> None:
    monkeypatch.chdir(office.folder)
    roles = () if "--roles" in arguments or arguments[0].endswith(".toml") else ("--roles", "roles.toml")
    run("mine", *arguments, *roles).refused(2, *words)


def test_help(run: Run) -> None:
    found = run("mine", "--help").fine()
    for words in (
        "SCENARIO.toml",
        "--target",
        "--secret",
        "--candidate",
        "--pair",
        "--miners",
        "--json",
        "never saw the release",
    ):
        assert words in found.out, words
    assert "mine" in run("--help").fine().out


def test_verify_asks_them(run: Run, office: House) -> None:
    waived = ("--waive", "pay-class: this test is about mining, and its pay follows from the age")
    more = ("--roles", office.roles, "--original", office.people, *waived)
    met = "mining_utility_decline[field=pay-class,folds=2] <= 0.5"
    run("verify", office / "release.csv", *more, "--require", met).fine()
    told = run(
        "verify", office / "release.csv", *more, "--require", "anti_utility_worst[field=age,folds=2] <= 0.9"
    ).fine()
    assert CANARY not in told.out
    missed = run("verify", office / "release.csv", *more, "--require", "knowledge_gain <= 0.001")
    assert missed.code == 1
    run("verify", office / "turned.csv", *more, "--require", "anti_utility_worst[field=age] <= 0.9").refused(
        2, "--pair"
    )
    run("verify", office / "release.csv", *more, "--require", "anti_utility_worst <= 0.9").refused(2, "field")


def test_a_release_of_two_files_is_joined_by_its_groups(run: Run, tmp_path: Path) -> None:
    """Anatomy: within a group values are dealt out at random, as a user would; whose row is whose is not known, and that is said."""
    lines = ["age,town,ill", *(f"{20 + i % 30},{'Pisa' if i % 2 else 'Lucca'},{'abc'[i % 3]}" for i in range(90))]
    (tmp_path / "people.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (tmp_path / "roles.toml").write_text('[roles]\nquasi = ["age", "town"]\nsensitive = ["ill"]\n', encoding="utf-8")
    base = [tmp_path / "people.csv", "--roles", tmp_path / "roles.toml"]
    run("sanitize", *base, "--mechanism", "anatomy", "--set", "l=3", "--out", tmp_path / "a.csv").fine()
    joined = ["--companion", f"sensitive={tmp_path / 'a.sensitive.csv'}", "--joined-by", "group"]
    asked = ["--target", "ill", "--miners", "zero_rule,naive_bayes", "--folds", "2", "--no-cache", "--json"]
    found = (
        run("mine", "--original", base[0], tmp_path / "a.csv", *base[1:], *joined, *asked).fine().json["releases"][0]
    )
    assert found["paired"] is False
    assert [m["miner"] for m in found["good"]["miners"]] == ["zero_rule", "naive_bayes"]
    run("mine", "--original", base[0], tmp_path / "a.csv", *base[1:], *joined[:2], *asked).refused(2, "--joined-by")
