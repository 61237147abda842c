"""`inspect utility --user FILE=WEIGHT`: a population of users of whom some count more (Askari et al. 2012, eq. 20)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from cli_house import Run

# Two columns that tell each other, 1 bit each: worth nothing to who has them, all of it to who holds them independent.
HAS = "a,s\nx,1\ny,2\n"
KNOWS_NOTHING = "a,s\nx,1\nx,2\ny,1\ny,2\n"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "roles.toml").write_text('[roles]\nquasi = ["a"]\nsensitive = ["s"]\n', encoding="utf-8")
    for name, rows in {
        "release.csv": HAS,
        "has.csv": HAS,
        "nothing.csv": KNOWS_NOTHING,
        "year=2024.csv": KNOWS_NOTHING,
    }.items():
        (tmp_path / name).write_text(rows, encoding="utf-8")
    return tmp_path


def asked(place: Path, *known: str) -> list[Any]:
    more = [word for text in known for word in ("--user", f"{place}/{text}")]
    return ["inspect", "utility", place / "release.csv", "--roles", place / "roles.toml", *more]


@pytest.mark.parametrize(
    ("known", "worth"),
    [
        (["has.csv"], 0),
        (["nothing.csv"], 1),
        (["has.csv", "nothing.csv"], 1 / 2),
        (["has.csv=3", "nothing.csv"], 1 / 4),
        (["has.csv", "nothing.csv=3"], 3 / 4),
        (["has.csv=0.5", "nothing.csv=1.5"], 3 / 4),
        (["has.csv=0", "nothing.csv"], 1),
        (["has.csv", "has.csv", "nothing.csv"], 1 / 3),  # two users may have the same table
        (["has.csv=2", "has.csv=4", "nothing.csv=3"], 1 / 3),
        (["has.csv", "year=2024.csv"], 1 / 2),  # a file whose name has the sign
        (["has.csv", "year=2024.csv=3"], 3 / 4),
    ],
)
def test_users_count_by_their_weights(run: Run, place: Path, known: list[str], worth: float) -> None:
    content = run(*asked(place, *known), "--json").fine().json
    assert content["population_of_users"] == pytest.approx(worth, abs=1e-12)
    assert set(content["users"]) == set(content["user_weights"])


def test_weights_are_shown_where_they_are_given(run: Run, place: Path) -> None:
    shown = run(*asked(place, "has.csv=3", "nothing.csv")).fine().out
    assert "has.csv (weight 3): 0 bits" in shown
    assert "nothing.csv (weight 1): 1 bits" in shown
    assert "To these users on average: 0.25 bits (eq. 20)." in shown
    assert "(weight" not in run(*asked(place, "has.csv", "nothing.csv")).fine().out


@pytest.mark.parametrize("weight", ["three", "-1", "nan", "inf", "", "2024/has.csv"])
def test_what_is_no_weight_is_refused(run: Run, place: Path, weight: str) -> None:
    run(*asked(place, f"has.csv={weight}")).refused(2, "--user", "FILE=WEIGHT", "at least 0")


def test_a_weight_needs_a_file_and_somebody_must_count(run: Run, place: Path) -> None:
    run("inspect", "utility", place / "release.csv", "--roles", place / "roles.toml", "--user", "=3").refused(
        2, "FILE=WEIGHT"
    )
    run(*asked(place, "has.csv=0", "nothing.csv=0")).refused(2, "weight", "more than 0")
    run(*asked(place, "gone.csv=3")).refused(2, "gone.csv")
