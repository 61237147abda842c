"""`sfumato sanitize` with mechanisms that dissociate, and `measure` and `verify` of what they write: two files, or groups."""

from __future__ import annotations

import hashlib

import pytest
from cli_house import House, Outcome, Run


def sanitize(run: Run, house: House, mechanism: str, *more: object) -> Outcome:
    return run(
        "sanitize", house.people, "--roles", house.roles, "--mechanism", mechanism, "--out", house / "release.csv",
        "--seed", "1", *more,
    )  # fmt: skip


JOINED = ("--joined-by", "group")


def companion(house: House) -> tuple[str, str]:
    return "--companion", f"sensitive={house / 'release.sensitive.csv'}"


def test_anatomy_writes_two_files_and_verify_reads_both(run: Run, house: House, canary: str) -> None:
    found = sanitize(run, house, "anatomy", "--set", "l=2").fine()
    assert house.listing() == {"people.csv", "roles.toml", "release.csv", "release.sensitive.csv"}
    assert "distinct_l_diversity >= 2: met" in found.out
    assert "alpha_anonymity <= 0.5: met" in found.out
    assert "Not released: name." in found.out
    assert "release.sensitive.csv: its companion 'sensitive'" in found.out
    assert canary not in found.out
    release = house / "release.csv"
    wanted = ("--require", "alpha_anonymity <= 0.5", "--require", "distinct_l_diversity >= 2")
    good = run("verify", release, "--roles", house.roles, *wanted, *companion(house), *JOINED).fine()
    assert "every requirement is met" in good.out
    bad = run("verify", release, "--roles", house.roles, "--require", "k_anonymity >= 2", *companion(house), *JOINED)
    assert bad.code == 1
    assert "k_anonymity >= 2: not met" in bad.out
    json = run("verify", release, "--roles", house.roles, *wanted, *companion(house), *JOINED, "--json").fine().json
    assert json["met"] is True
    assert json["requirements"]["alpha_anonymity <= 0.5"]["value"] == 0.5


def test_measure_takes_the_companion(run: Run, house: House) -> None:
    sanitize(run, house, "anatomy", "--set", "l=2").fine()
    found = run(
        "measure", house / "release.csv", "--roles", house.roles, "--original", house.people, *companion(house), *JOINED, "--json"
    ).fine().json  # fmt: skip
    assert found["scores"]["distinct_l_diversity"]["value"] == 2
    assert found["scores"]["iloss"]["value"] == 0
    assert found["scores"]["query_error"]["value"] > 0
    assert "side by side" in found["skipped"]["information_loss"]
    plain = run("measure", house / "release.csv", "--roles", house.roles, *companion(house), *JOINED).fine()
    assert "alpha_anonymity" in plain.out


def test_permutation_is_measured_by_its_groups(run: Run, house: House) -> None:
    sanitize(run, house, "permute_within_groups", "--set", "l=2").fine()
    release = house / "release.csv"
    asked = ("verify", release, "--roles", house.roles, "--require", "alpha_anonymity <= 0.5")
    assert run(*asked, *JOINED, "--perturbed", "ill").fine()
    assert run(*asked).code == 1, "row by row nothing is promised"


def test_json_names_every_file(run: Run, house: House) -> None:
    found = sanitize(run, house, "anatomy", "--set", "l=2", "--json").fine().json
    apart = house / "release.sensitive.csv"
    assert found["columns"] == ["age", "town", "note", "group"]
    assert found["companions"] == {
        "sensitive": {"file": str(apart), "sha256": hashlib.sha256(apart.read_bytes()).hexdigest(), "columns": ["group", "ill"]}
    }  # fmt: skip
    assert found["joined_by"] == "group"
    assert found["dropped"] == ["name"]
    assert found["perturbed"] == []


def test_infeasible_writes_nothing(run: Run, house: House) -> None:
    sanitize(run, house, "anatomy", "--set", "l=40").refused(1, "l can be at most")
    assert house.listing() == {"people.csv", "roles.toml"}


@pytest.mark.parametrize(
    ("mechanism", "settings"),
    [("rank_swapping", ("columns=age", "p=20")), ("pram", ("columns=town", "keep=0.8", "invariant=true"))],
)
def test_the_others_run_from_settings(mechanism: str, settings: tuple[str, ...], run: Run, house: House) -> None:
    given = [word for setting in settings for word in ("--set", setting)]
    found = sanitize(run, house, mechanism, *given, "--json").fine().json
    assert found["mechanism"] == mechanism
    assert found["perturbed"] == [settings[0].partition("=")[2]]
    assert found["rows"] == 40


@pytest.mark.parametrize("verb", ["measure", "verify"])
def test_calls_that_cannot_be_used(verb: str, run: Run, house: House) -> None:
    sanitize(run, house, "anatomy", "--set", "l=2").fine()
    call = (verb, house / "release.csv", "--roles", house.roles)
    asked = ("--metric", "alpha_anonymity") if verb == "measure" else ("--require", "alpha_anonymity <= 0.5")
    run(*call, *asked, *companion(house)).refused(2, "--companion needs --joined-by")
    run(*call, *asked, "--companion", "sensitive", *JOINED).refused(2, "write NAME=FILE")
    run(*call, *asked, *companion(house), *companion(house), *JOINED).refused(2, "given already")
    run(*call, *asked, *JOINED).refused(2, "'ill'", "--companion")
    run(*call, *asked, *companion(house), "--joined-by", "part").refused(2, "no column 'part'")
    other = house.text("other.csv", "group,ill\n1,a\n")
    run(*call, *asked, "--companion", f"sensitive={other}", *JOINED).refused(2, "other rows")


def test_an_identifier_in_the_companion_is_found(run: Run, house: House) -> None:
    sanitize(run, house, "anatomy", "--set", "l=2").fine()
    lines = (house / "release.sensitive.csv").read_text(encoding="utf-8").splitlines()
    house.text("named.csv", "\n".join([lines[0] + ",name", *(line + ",x" for line in lines[1:])]) + "\n")
    found = run(
        "verify", house / "release.csv", "--roles", house.roles, "--require", "alpha_anonymity <= 0.5",
        "--companion", f"sensitive={house / 'named.csv'}", *JOINED,
    )  # fmt: skip
    assert found.code == 1
    assert "'name' is an identifier" in found.out
