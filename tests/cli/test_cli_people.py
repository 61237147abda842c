"""Rows are not people, at the command line: both counts where a column repeats like a person's number, and no promise on rows alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_house import Run

ROLES = '[roles]\nquasi = ["age"]\nsensitive = ["ill"]\n'
NAMED = ROLES + 'person = "patient_id"\n'
BOTH = "repeats like a person's number: 120 rows may be of 40 people"


@pytest.fixture
def ward(tmp_path: Path) -> Path:
    """40 patients with three visits each; in the release six visits share an age, and two patients made them."""
    rows = [(f"p{i // 3:03d}", 20 + i // 6, ("flu", "cold", "gout")[i % 3]) for i in range(120)]
    (tmp_path / "visits.csv").write_text("patient_id,age,ill\n" + "".join(f"{p},{a},{d}\n" for p, a, d in rows))
    (tmp_path / "release.csv").write_text("age,ill\n" + "".join(f"{a},{d}\n" for _, a, d in rows))
    (tmp_path / "roles.toml").write_text(ROLES)
    (tmp_path / "named.toml").write_text(NAMED)
    return tmp_path


def verify(ward: Path, roles: str, *more: object) -> list[object]:
    words = ["verify", ward / "release.csv", "--roles", ward / roles, "--require", "k_anonymity >= 6"]
    return [*words, *more]


@pytest.mark.parametrize("roles", ["roles.toml", "named.toml"])
def test_a_k_that_people_break_exits_1(run: Run, ward: Path, roles: str) -> None:
    found = run(*verify(ward, roles, "--original", ward / "visits.csv", "--pair", "position"))
    assert found.code == 1
    assert "does not hold of people in 20 of 20 classes: by 'patient_id', measured 2 (exact)" in found.out
    found = run(*verify(ward, roles, "--original", ward / "visits.csv"))
    assert found.code == 1
    assert "may not hold of people" in found.out
    content = run(*verify(ward, roles, "--original", ward / "visits.csv", "--json")).json
    assert content["people"]["fewest_people_of_a_class"] == 2
    assert content["people"]["exactness"] == "bound"


def test_without_people_it_says_rows(run: Run, ward: Path) -> None:
    found = run(*verify(ward, "roles.toml")).fine()
    assert "Each class has at least 6 rows. Rows are counted" in found.out
    assert "people" not in found.out.replace(str(ward), "")
    (ward / "stated.toml").write_text(ROLES + "one_row_per_person = true\n")
    found = run(*verify(ward, "stated.toml", "--original", ward / "visits.csv")).fine()
    assert "each of another person, as" in found.out


@pytest.mark.parametrize(
    "words",
    [
        ["measure", "release.csv", "--original", "visits.csv", "--metric", "k_anonymity"],
        ["attack", "release.csv", "--original", "visits.csv", "--attack", "homogeneity"],
        ["audit", "release.csv", "--original", "visits.csv"],
        ["inspect", "subgroups", "release.csv", "--original", "visits.csv", "--pair", "position"],
        ["profile", "visits.csv", "--deep"],
    ],
    ids=lambda words: words[0],
)
def test_both_counts_stand_wherever_a_table_is_looked_at(run: Run, ward: Path, words: list[str]) -> None:
    files = [ward / word if word.endswith(".csv") else word for word in words]
    for roles in ("roles.toml", "named.toml"):
        found = run(*files, "--roles", ward / roles)
        said = " ".join(found.out.split())
        assert (BOTH if roles == "roles.toml" else "120 rows are of 40 people") in said, said
    content = run(*files, "--roles", ward / "roles.toml", "--json").json
    assert BOTH in (content.get("people_note") or " ".join(content["notes"]))


def test_subgroups_calls_rows_rows(run: Run, ward: Path) -> None:
    words = [
        "inspect",
        "subgroups",
        ward / "release.csv",
        "--original",
        ward / "visits.csv",
        "--pair",
        "position",
        "--roles",
    ]
    content = run(*words, ward / "named.toml", "--json").fine().json
    assert not any("people" in text or "person" in text for text in content["sentences"])


def test_sanitize_says_both_counts(run: Run, ward: Path) -> None:
    (ward / "unlinked.toml").write_text(NAMED + '[people]\nrows = "unlinked"\n')
    words = ["sanitize", ward / "visits.csv", "--roles", ward / "unlinked.toml", "--mechanism", "mondrian k=3"]
    found = run(*words, "--out", ward / "out.csv").fine()
    assert "120 rows are of 40 people" in found.out
    assert "the one with fewest people holds" in found.out
    people = run(*words, "--out", ward / "out.csv", "--json").json["people"]
    assert people["people"] == 40
    assert people["fewest_people_of_a_class"] >= 3
