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
    plain = run("measure", house / "release.csv", "--roles", house.roles, *companion(house), *JOINED, "--all").fine()
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


# --- the studies of a release take the same options ---------------------------------------------------------------------

GROUPED = "age,town,group\n20,Rome,1\n21,Oslo,1\n22,Rome,1\n23,Oslo,1\n30,Rome,2\n31,Oslo,2\n"
ILLS = "group,ill\n1,flu\n1,flu\n1,cold\n1,gout\n2,cold\n2,gout\n"
WHOLE = "age,town,ill\n20,Rome,flu\n21,Oslo,flu\n22,Rome,cold\n23,Oslo,gout\n30,Rome,cold\n31,Oslo,gout\n"
PERMUTED = (
    "age,town,group,ill\n20,Rome,1,cold\n21,Oslo,1,flu\n22,Rome,1,gout\n23,Oslo,1,flu\n30,Rome,2,gout\n31,Oslo,2,cold\n"
)
TWO = '[roles]\nquasi = ["age", "town"]\nsensitive = ["ill"]\n'


@pytest.fixture(params=["anatomy", "permuted"])
def joined(request: pytest.FixtureRequest, house: House) -> tuple[object, ...]:
    """Two groups, (flu, flu, cold, gout) and (cold, gout), as two files or permuted in one: the same to an adversary."""
    house.text("two.toml", TWO)
    house.text("whole.csv", WHOLE)
    beside = house.text("ills.csv", ILLS)
    release = house.text("release.csv", GROUPED if request.param == "anatomy" else PERMUTED)
    more = ("--companion", f"sensitive={beside}") if request.param == "anatomy" else ("--perturbed", "ill")
    return (release, "--roles", house / "two.toml", *more, *JOINED, "--json")


def test_leakage_is_what_the_groups_tell(run: Run, joined: tuple[object, ...]) -> None:
    found = run("inspect", "leakage", *joined, "--distances").fine().json
    # of the table 1/3 each; of the groups (1/2, 1/4, 1/4) and (0, 1/2, 1/2)
    assert found["classes"] == 2
    assert found["distribution_leakage"] == pytest.approx((1 / 9 + 2 / 36) ** 0.5)
    assert found["vanished_pairs"] == 1
    assert found["values_in_one_class"] == 1
    assert [line["rows"] for line in found["most_exposed"]] == [2, 4]
    assert found["distances"]["emd"]["worst"] == pytest.approx(1 / 3)
    measured = run("measure", *joined, "--metric", "distribution_leakage").fine().json
    assert measured["scores"]["distribution_leakage"]["value"] == pytest.approx(found["distribution_leakage"])


def test_conditions_are_those_of_the_groups(run: Run, joined: tuple[object, ...]) -> None:
    found = run("inspect", "conditions", *joined, "--l", "2").fine().json
    assert found["met"]
    assert found["entropy"] == pytest.approx(1.5849625007211562)
    # the worst group has one bit of 1.585
    assert found["conditions"][-1]["left"] == pytest.approx(0.5849625007211562)
    assert run("inspect", "conditions", *joined, "--l", "2.1").code == 1


def test_queries_expect_the_group_s_share(run: Run, joined: tuple[object, ...], house: House) -> None:
    asked = house.text("q.toml", '[[query]]\ntown = ["Rome"]\nill = ["flu"]\n[[query]]\nill = ["cold"]\n')
    found = (
        run("inspect", "queries", *joined, "--original", house / "whole.csv", "--queries", asked).fine().json["queries"]
    )
    assert [(q["actual"], q["estimate"]) for q in found] == [(1, pytest.approx(2 * 2 / 4)), (2, pytest.approx(2))]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--knows", "town"), ("Only the groups in 'group' join 'ill'", "all quasi-identifiers")),
        (("--knows", "ill", "--sensitive", "town"), ("Only the groups in 'group' join 'ill'",)),
        (("--margins", "1"), ("Only the groups in 'group' link 'ill'", "prior")),
        (("--subsets",), ("nothing to choose",)),
        (("--sensitive", "height"), ("'height'",)),
    ],
)
def test_leakage_that_groups_cannot_tell_is_refused(
    run: Run, joined: tuple[object, ...], more: tuple[str, ...], words: tuple[str, ...]
) -> None:
    found = run("inspect", "leakage", *joined, *more)
    assert found.code == 2
    assert all(word in found.out for word in words), found.out


def test_leakage_between_columns_of_one_side_is_as_ever(run: Run, joined: tuple[object, ...], house: House) -> None:
    more = ("--knows", "town", "--sensitive", "age")
    plain = run("inspect", "leakage", house / "whole.csv", "--roles", house / "two.toml", *more, "--json").fine().json
    found = run("inspect", "leakage", *joined, *more).fine().json
    assert {**found, "release": 0} == {**plain, "release": 0}


@pytest.mark.parametrize("verb", ["leakage", "conditions"])
def test_a_perturbed_column_is_not_read_as_true(run: Run, house: House, verb: str) -> None:
    house.text("two.toml", TWO)
    release = house.text("release.csv", PERMUTED)
    call = ("inspect", verb, release, "--roles", house / "two.toml")
    run(*call, "--perturbed", "ill").refused(2, "'ill'", "was perturbed", "--joined-by")
    run(*call, "--perturbed", "age").refused(2, "'age'", "was perturbed")
    run(*call, "--companion", f"sensitive={release}").refused(2, "--companion needs --joined-by")
    run(*call).fine()


@pytest.mark.parametrize("verb", ["leakage", "conditions", "queries"])
def test_a_companion_that_is_another_s_is_refused(run: Run, house: House, verb: str) -> None:
    house.text("two.toml", TWO)
    house.text("whole.csv", WHOLE)
    asked = house.text("q.toml", '[[query]]\nill = ["cold"]\n')
    release, other = house.text("release.csv", GROUPED), house.text("other.csv", ILLS + "2,flu\n")
    more = ("--original", house / "whole.csv", "--queries", asked) if verb == "queries" else ()
    call = ("inspect", verb, release, "--roles", house / "two.toml", *more, *JOINED)
    run(*call, "--companion", f"sensitive={other}").refused(2, "other rows")
    run(*call).refused(2, "'ill'")
