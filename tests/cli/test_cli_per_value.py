"""`measure --json --per-class` where a measure asks about every sensitive value of a class."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_house import CANARY, Run

ASKED = ("positive_disclosure", "negative_disclosure", "uninformative_difference")


@pytest.fixture
def toy(tmp_path: Path) -> Path:
    """Class a: three flu, one missing; class b: one canary."""
    (tmp_path / "release.csv").write_text(f"q,s\na,flu\na,flu\na,flu\na,\nb,{CANARY}\n", encoding="utf-8")
    (tmp_path / "roles.toml").write_text('[roles]\nquasi = ["q"]\nsensitive = ["s"]\n', encoding="utf-8")
    return tmp_path


def test_every_class_and_value_can_be_asked_for(run: Run, toy: Path) -> None:
    names = [word for name in (*ASKED, "k_anonymity") for word in ("--metric", name)]
    arguments = ("measure", toy / "release.csv", "--roles", toy / "roles.toml", *names, "--json")
    scores = run(*arguments, "--per-class").fine().json["scores"]
    posterior = {
        "values": [CANARY, "flu", None],  # in their order, missing last
        "absent": [0, 0, 0],
        "class": [0, 0, 1],
        "value": [1, 2, 0],
        "number": [0.75, 0.25, 1],
    }
    assert scores["positive_disclosure"]["per_value"] == posterior
    assert scores["negative_disclosure"]["per_value"] == posterior
    change = scores["uninformative_difference"]["per_value"]
    assert change["absent"] == pytest.approx([0.2, 0.6, 0.2])
    assert (change["class"], change["value"]) == ([0, 0, 1], [1, 2, 0])
    assert change["number"] == pytest.approx([0.15, 0.05, 0.8])
    assert "per_value" not in scores["k_anonymity"]


def test_no_value_is_spelled_unless_asked_for(run: Run, toy: Path) -> None:
    for more in ((), ("--json",)):
        shown = run("measure", toy / "release.csv", "--roles", toy / "roles.toml", *more).fine().out
        assert "per_value" not in shown
        assert CANARY not in shown
