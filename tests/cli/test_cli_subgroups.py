"""`sfumato subgroups`: from two files, by a mechanism made here, as JSON, and what it refuses."""

from __future__ import annotations

import pytest
from cli_house import House, Run


def sanitized(run: Run, house: House) -> House:
    run("sanitize", house.people, "--roles", house.roles, "--mechanism", "mondrian", "--set", "k=4", "--out", house / "r.csv").fine()  # fmt: skip
    return house


def test_a_file_and_the_mechanism_that_made_it_say_the_same(run: Run, house: House, canary: str) -> None:
    sanitized(run, house)
    asked = ("inspect", "subgroups", "--original", house.people, "--roles", house.roles, "--json")
    file = run(*asked[:2], house / "r.csv", *asked[2:]).fine().json
    made = run(*asked, "--candidate", "mondrian k=4").fine().json
    assert file["groups"] == made["groups"]
    assert (file["people"], file["exactness"]) == (40, "exact")
    assert [group["people"] for group in file["groups"] if group["column"] == "town"] == [10, 10, 10, 10]
    assert canary in str(file)  # ten people live there: that is a group which may be named
    masked = run(*asked, "--candidate", "mondrian k=4", "--smallest", "11").fine()
    assert canary not in masked.out


def test_it_shows_sentences_and_the_worst(run: Run, house: House) -> None:
    sanitized(run, house)
    found = run(
        "inspect",
        "subgroups",
        house / "r.csv",
        "--original",
        house.people,
        "--roles",
        house.roles,
        "--by",
        "ill",
        "--most",
        "1",
    ).fine()
    assert "Everybody's mean loss is" in found.out
    assert "No row was left out" in found.out
    assert "paired by their classes" in found.err


def test_small_groups_are_named_only_when_asked(run: Run, house: House, canary: str) -> None:
    asked = (
        "inspect",
        "subgroups",
        "--original",
        house.people,
        "--roles",
        house.roles,
        "--candidate",
        "mondrian k=4",
        "--smallest",
        "20",
    )
    quiet = run(*asked).fine()
    assert canary not in quiet.out + quiet.err
    assert "--reveal names them" in quiet.err
    assert "Rome" in run(*asked, "--reveal", "--json").fine().out


@pytest.mark.parametrize(
    ("more", "word"),
    [
        ((), "--candidate"),
        (("--candidate", "mondrian k=4", "--by", "twon"), "twon"),
        (("--candidate", "mondrain"), "mondr"),
    ],
)
def test_refusals(run: Run, house: House, more: tuple[str, ...], word: str) -> None:
    run("inspect", "subgroups", "--original", house.people, "--roles", house.roles, *more).refused(2, word)
