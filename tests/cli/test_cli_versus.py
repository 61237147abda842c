"""`sfumato versus`: two releases side by side, from files and from mechanisms."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from cli_house import House, Outcome, Run

import sfumato as sf
from sfumato.cli.terminal import finite
from sfumato.inspect.versus import versus


def compare(run: Run, house: House, a: object, b: object, *more: object) -> Outcome:
    return run("versus", a, b, "--original", house.people, "--roles", house.roles, *more)


@pytest.fixture
def theirs(run: Run, house: House) -> Path:
    run(
        "sanitize", house.people, "--roles", house.roles, "--mechanism", "mondrian", "--set", "k=5", "--out", house / "theirs.csv",
    ).fine()  # fmt: skip
    return house / "theirs.csv"


def test_json_is_the_librarys(run: Run, house: House, canary: str) -> None:
    found = compare(run, house, "mondrian k=3", "mondrian k=9", "--json").fine()
    assert canary not in found.out + found.err
    table, roles = sf.read(house.people), sf.Roles.read(house.roles)
    both = [sf.Mondrian(k=k)(table, roles, np.random.default_rng(0)) for k in (3, 9)]
    wanted = versus(*both, roles, names=("mondrian k=3", "mondrian k=9")).to_dict()
    shown = found.json
    assert shown.pop("input") == str(house.people)
    assert shown == json.loads(json.dumps(finite(wanted)))


def test_text_names_both_and_says_which_is_better(run: Run, house: House, canary: str) -> None:
    found = compare(run, house, "mondrian k=3", "mondrian k=9").fine()
    for words in (
        "classes",
        "ILoss by column",
        "measures",
        "mondrian k=3",
        "mondrian k=9",
        "people are described more precisely",
    ):
        assert words in found.out
    assert canary not in found.out + found.err


def test_a_file_against_the_mechanism_that_made_it(run: Run, house: House, theirs: Path) -> None:
    shown = compare(run, house, theirs, "mondrian k=5", "--json").fine().json
    assert shown["better"]["a"] == shown["better"]["b"] == 0
    assert shown["dominates"] is None
    assert "people" in shown["skipped"], "rows of a file are not paired unless it is said"


def test_a_seed_repeats(run: Run, house: House) -> None:
    first, second = (
        compare(run, house, "mondrian k=3 mode=relaxed", "mondrian k=3", "--seed", "4", "--json").fine().json
        for _ in range(2)
    )
    assert first == second


@pytest.mark.parametrize(
    ("a", "words"),
    [
        ("mondrain k=5", "did you mean 'mondrian'"),
        ("mondrian k=x", "whole number"),
        ("", "empty"),
        ("nowhere.csv", "nowhere.csv"),
        ("mondrian k=5 require='iloss <= 0.5'", "cannot steer by"),
    ],
)
def test_what_is_neither_a_file_nor_a_mechanism(run: Run, house: House, a: str, words: str) -> None:
    compare(run, house, a, "mondrian k=3").refused(2, words)


def test_infeasible_is_1(run: Run, house: House) -> None:
    compare(run, house, "mondrian k=500", "mondrian k=3").refused(1, "k_anonymity >= 500")


def test_pairing_that_does_not_fit(run: Run, house: House, theirs: Path) -> None:
    compare(run, house, theirs, theirs, "--pair", "rows").refused(2, "position, none or key:COLUMN")
    shown = compare(run, house, theirs, "mondrian k=5", "--pair", "position", "--json").fine().json
    assert sum(shown["people"]["precision"].values()) == 40


def test_files_that_are_not_there(run: Run, house: House) -> None:
    run("versus", "mondrian k=2", "mondrian k=3", "--original", house / "nowhere.csv", "--roles", house.roles).refused(
        2, "nowhere.csv"
    )
    run(
        "versus", "mondrian k=2", "mondrian k=3", "--original", house.people, "--roles", house / "nowhere.toml"
    ).refused(2, "nowhere.toml")
    run("versus", "mondrian k=2", "--original", house.people, "--roles", house.roles).refused(2, "B")


def test_a_file_without_the_quasi_identifiers(run: Run, house: House) -> None:
    path = house.text("bad.csv", "age,ill\n1,flu\n2,cold\n")
    compare(run, house, path, "mondrian k=3").refused(2, "town")


def test_an_interruption_exits_130(run: Run, house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*args: object, **more: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("sfumato.inspect.versus.versus", stop)
    compare(run, house, "mondrian k=3", "mondrian k=4").refused(130, "interrupted")
