"""`sfumato profile --deep`."""

from __future__ import annotations

import json

from cli_house import House, Run


def test_the_deeper_look_is_printed_and_the_same_in_json(run: Run, house: House) -> None:
    done = run("profile", house.people, "--deep", "--fraction", "0.1")
    assert done.code == 0, done.err
    for words in ("sets of", "Minimal uniques", "least frequency", "EMA's three questions", "As columns become known"):
        assert words in done.out
    found = json.loads(run("profile", house.people, "--deep", "--fraction", "0.1", "--json").out)
    risk = found["risk"]
    assert risk["population"]["exactness"] == "estimate"
    assert len(risk["sets"]) == 2 ** len(risk["quasi"]) - 1
    assert [step["added"] for step in risk["curve"]]
    assert "risk" not in json.loads(run("profile", house.people, "--json").out)


def test_what_goes_with_risk_only_is_refused_without(run: Run, house: House) -> None:
    run("profile", house.people, "--fraction", "0.1").refused(2, "need --deep")
    run("profile", house.people, "--deep", "--fraction", "7").refused(2, "sampling fraction")


def test_thresholds_are_the_owners(run: Run, house: House) -> None:
    found = json.loads(run("profile", house.people, "--deep", "--threshold", "20", "--threshold", "2", "--json").out)
    assert {check["least"] for check in found["risk"]["checks"]} == {2, 20}


def test_nothing_is_called_suggested_that_the_owner_named(run: Run, house: House) -> None:
    suggested = run("profile", house.people).out
    assert "suggested quasi-identifier" in suggested
    names = json.loads(run("profile", house.people, "--json").out)["together"]["columns"]
    named = run("profile", house.people, "--quasi", names[0], "--quasi", names[1]).out
    assert "On all 2 quasi-identifiers that you named together" in named
    assert "suggested quasi-identifier" not in named
    roles = run("profile", house.people, "--deep", "--roles", house.roles).out
    assert "suggested" not in roles
    assert "that you named" in roles
    run("profile", house.people, "--deep", "--roles", house.roles, "--quasi", names[0]).refused(2, "only one")
