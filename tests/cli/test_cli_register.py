"""`sfumato register`, and `--register` of what publishes."""

from __future__ import annotations

from cli_house import House, Run


def _sanitize(run: Run, house: House, out: str, *more: str, mechanism: str = "mondrian") -> object:
    return run(
        "sanitize", house.people, "--roles", house.roles, "--mechanism", mechanism, "--set", "k=4", "--out", house / out,
        "--register", house / "r.sqlite", *more,
    )  # fmt: skip


def test_from_the_first_release_to_the_list(run: Run, house: House) -> None:
    assert _sanitize(run, house, "a.csv").fine().err == ""
    second = _sanitize(run, house, "b.csv", "--json", mechanism="k_member").fine().json
    assert [each["number"] for each in second["earlier"]] == [1]
    listed = run("register", house / "r.sqlite", "--epsilon", "2", "--json").fine().json
    assert [entry["made_by"] for entry in listed["releases"]] == ["mondrian", "k_member"]
    assert (listed["epsilon"], listed["spent"]) == (2.0, 0.0)
    assert [(each["of"], each["with"]) for each in listed["together"]] == [(2, 1)]
    assert "2 of 2 is left" in run("register", house / "r.sqlite").fine().out


def test_a_requirement_finds_the_last_release(run: Run, house: House) -> None:
    _sanitize(run, house, "a.csv").fine()
    refused = _sanitize(run, house, "b.csv", "--require", "m_invariance >= 3", mechanism="k_member")
    refused.refused(1, "m_invariance")
    assert not (house / "b.csv").exists()
    assert len(run("register", house / "r.sqlite", "--json").fine().json["releases"]) == 1


def test_a_study_enters_its_package(run: Run, house: House) -> None:
    _sanitize(run, house, "a.csv").fine()
    done = run(
        "study", house.people, "--roles", house.roles, "--candidate", "k_member k=4", "--require", "k_anonymity >= 4", "--out", house / "s",
        "--package", house / "p", "--register", house / "r.sqlite", "--workers", "1", "--formats", "md", "--json",
    ).fine()  # fmt: skip
    assert len(done.json["earlier"]) == 1
    entries = run("register", house / "r.sqlite", "--json").fine().json["releases"]
    assert entries[1]["file"] == str((house / "p" / "release.csv").resolve())


def test_no_total_below_zero(run: Run, house: House) -> None:
    run("register", house / "r.sqlite", "--epsilon", "-1").refused(2)
    run("register", house / "r.sqlite", "--epsilon", "0").refused(2, "above 0")
